"""Arguments nobody can mean: empty, not UTF-8, past every bound. Each is refused by its code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.ports import Desk
from tests.conftest import record
from tests.making import accepted, pending

HUGE = "9" * 23
BAD = b"\xff"


def call(root: Path, *args: str | bytes) -> tuple[int, dict[str, object]]:
    """The status and the error of one `--json` call in a process of its own."""
    command = [str(Path(sys.executable).parent / "memdesk"), "--json", *args]
    env = {**os.environ, "MEMDESK_REVIEWER": "Ana <ana@example.org>"}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, timeout=120)
    text = done.stdout if done.returncode == 0 else done.stderr
    document = json.loads(text)
    return done.returncode, document.get("error", document)


@pytest.mark.parametrize(
    "args",
    [
        ("verify", "--head", ""),
        ("verify", "--head="),
        ("evidence", "import", ""),
        ("evidence", "import", ".", "--format", ""),
        ("promotion", "receipts", "--export", ""),
        ("candidates", "defer", "REF", "--until", ""),
        ("candidates", "defer", "REF", "--until", "0001-01-01"),
        ("--workspace", "", "status"),
        ("--store", "", "status"),
        ("--reviewer", "", "candidates", "reject", "REF"),
        ("explain", ""),
        ("candidates", "list", "--filter", BAD),
        ("candidates", "accept", "REF", "--reason", BAD),
        ("candidates", "edit", "REF", "--text", BAD),
        ("candidates", "edit", "REF"),
        ("--reviewer", BAD, "candidates", "reject", "REF"),
        ("candidates", "list", "--after", HUGE),
        ("candidates", "accept", "REF" + HUGE),
        ("candidates", "diff", "REF", "1", HUGE),
        ("evidence", "show", f"session:1#L{HUGE}"),
        (),
    ],
)
def test_what_nobody_can_mean_is_refused_and_nothing_is_done(
    args: tuple[str | bytes, ...], sqlite_desk: Desk
) -> None:
    """Wrong usage or a malformed id, as JSON; no decision, no import, no file."""
    version = pending(sqlite_desk)
    root = sqlite_desk.workspace.root
    name = f"{version.id}@1"
    given = [a.replace("REF", name) if isinstance(a, str) else a for a in args]
    before = sorted(p.name for p in root.iterdir())
    with sqlite_desk.store.read() as view:
        head = view.ledger.head()
    status, error = call(root, *given)
    assert status == 2 and error["code"] in ("usage.invalid", "id.malformed", "defer.date"), error
    assert sorted(p.name for p in root.iterdir()) == before
    with sqlite_desk.store.read() as view:
        assert view.ledger.head() == head


def test_a_file_name_that_is_no_text_does_not_stop_a_folder(sqlite_desk: Desk) -> None:
    """Any bytes may name a file; what is stored of the name is inert text."""
    root = sqlite_desk.workspace.root
    folder = os.fsencode(root / "logs")
    os.mkdir(folder)
    for name in (b"e\x1b[31m\xff.md", b"plain.md", b"\xfe.jsonl"):
        with open(folder + b"/" + name, "wb") as file:
            file.write(b"A note.\n" if name.endswith(b"md") else record("A message.", "u1"))
    status, report = call(root, "evidence", "import", b"logs")
    assert (status, report["sources"], report["refused"]) == (0, 3, [])
    status, one = call(root, "evidence", "import", b"logs/\xfe.jsonl")
    assert (status, one["new"]) == (0, 0)


@pytest.mark.parametrize("what", ["file", "workspace"])
def test_the_sample_is_laid_on_nothing_that_stands(what: str, tmp_path: Path) -> None:
    """A file or another workspace stays as it is, and the answer is JSON."""
    if what == "file":
        (tmp_path / "x").write_text("mine")
        status, error = call(tmp_path, "demo", "x", "--no-ui")
        assert (status, error["code"]) == (3, "path.not-regular")
        assert (tmp_path / "x").read_text() == "mine"
    else:
        (tmp_path / "x" / ".memdesk").mkdir(parents=True)
        status, answer = call(tmp_path, "demo", "x", "--no-ui")
        assert (status, answer["laid"]) == (0, False)
        assert not any((tmp_path / "x" / ".memdesk").iterdir())


def test_a_link_at_the_target_is_named_as_what_moved(sqlite_desk: Desk, tmp_path: Path) -> None:
    """The path and the rule, not the candidate, which did not move."""
    from core.operations import preview as operations
    from core.promotion import preview
    from tests.making import TEXT, ref

    shown = preview.build(sqlite_desk, ref(accepted(sqlite_desk)), "line-memory")
    path = sqlite_desk.workspace.root / TEXT
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "elsewhere.txt")
    (moved,) = operations.show(sqlite_desk, shown.operation_id).moved
    assert (moved.what, moved.name, moved.detail) == ("target", TEXT, "destination.link")
