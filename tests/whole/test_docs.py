"""Docs are tested: keys, codes and commands they name exist (and the other way round)."""

from __future__ import annotations

import re
from pathlib import Path

from core.contracts import DOCUMENTS, schema_of
from schemas.reasons import REASONS
from tests.conftest import Cli
from tui import keys

ROOT = Path(__file__).parent.parent.parent


def keys_page() -> str:
    """docs/keys.md as the key table says it."""
    out = [
        "# Keys",
        "",
        "Made from `tui/keys.py`. Remap under `[desk.keys]` in `.memdesk/config.toml` by id.",
        "",
    ]
    for pane in dict.fromkeys(a.pane for a in keys.ACTIONS):
        out += [f"## {pane}", "", "| key | id | does |", "|---|---|---|"]
        for a in keys.of(pane):
            shown = " ".join(f"`{keys.shown(k)}`" for k in a.keys.split(","))
            out.append(f"| {shown} | `{a.id}` | {a.help} |")
        out.append("")
    return "\n".join(out)


def test_the_key_page_is_the_key_table() -> None:
    """docs/keys.md lists exactly the actions there are; the failure prints the page to store."""
    assert (ROOT / "docs/keys.md").read_text("utf-8") == keys_page()


def test_schemas_checked_in_are_the_contracts() -> None:
    """schemas/json is what `memdesk schemas export` writes."""
    stored = {p.name: p.read_text("utf-8") for p in (ROOT / "schemas/json").glob("*.json")}
    assert stored == {f"{n}.schema.json": schema_of(m) for n, m in DOCUMENTS.items()}


def test_every_code_raised_is_registered() -> None:
    """Each quoted reason code in the code is in the registry, and each registered code is used."""
    quoted: set[str] = set()
    for folder in ("core", "store", "tui", "schemas"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "reasons.py":
                quoted |= set(re.findall(r'"([a-z-]+\.[a-z0-9-]+)"', path.read_text("utf-8")))
    prefixes = {c.split(".")[0] for c in REASONS}
    files = (".py", ".toml", ".json", ".txt", ".lock", ".jsonl", ".db")
    raised = {q for q in quoted if q.split(".")[0] in prefixes and not q.endswith(files)}
    known_others = {a.id for a in keys.ACTIONS} | {"belief.new", "line-memory.lines"}
    assert raised - known_others - set(REASONS) == set()
    assert set(REASONS) - quoted == set()


def test_commands_the_readme_names_exist(cli: Cli) -> None:
    """Every `memdesk …` line of the README names a command that has help."""
    text = (ROOT / "README.md").read_text("utf-8")
    named = set(
        re.findall(r"memdesk ((?:evidence|candidates|promotion) [a-z]+|init|verify|explain)", text)
    )
    assert len(named) >= 8
    for command in named:
        assert cli.run(*command.split(), "--help").returncode == 0
