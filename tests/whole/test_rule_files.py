"""Rule files are read as prose with lines, bounded, inside the workspace, and never written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import prose, rule_files
from core.ports import Desk
from core.rule_files import RuleFiles
from tests.conftest import write


def read(desk: Desk, **files: str) -> RuleFiles:
    """Lay files by their paths and find them."""
    for name, text in files.items():
        write(desk.workspace.root / name, text.encode())
    return rule_files.find(desk.workspace)


def stated(found: RuleFiles, path: str) -> list[tuple[int, str]]:
    """Line and words of every statement of a file."""
    (file,) = [f for f in found.files if f.path == path]
    return [(r.line, r.text) for r in file.rules]


def test_each_item_and_sentence_is_a_rule_with_its_line(sqlite_desk: Desk) -> None:
    """Headings, fences, tables, quotes, indented code and comments are what they are: no rules."""
    text = """# Never ever trust headings

Always run the tests first. Never push to main
on a Friday.

- **Use** uv, not pip.
- [ ] Commit subjects are imperative. At most
  60 characters each.
1. Keep migrations reversible.

```sh
never run this inside a fence
```

    never run indented code here

> Never take a quote for a rule.

| never | take | a table |
|---|---|---|

<!-- Never take a comment
- for a rule either.
-->
Amounts are <!-- never --> minor units.
Short:
"""
    found = read(sqlite_desk, **{"CLAUDE.md": text})
    assert stated(found, "CLAUDE.md") == [
        (3, "Always run the tests first."),
        (3, "Never push to main on a Friday."),
        (6, "Use uv, not pip."),
        (7, "Commit subjects are imperative. At most 60 characters each."),
        (7, "Commit subjects are imperative."),
        (7, "At most 60 characters each."),
        (9, "Keep migrations reversible."),
        (25, "Amounts are minor units."),
    ]
    assert found.files[0].stated == 6


def test_files_hold_where_they_stand_or_say(sqlite_desk: Desk) -> None:
    """The root's for the project, a folder's for the folder, Cursor's as its front matter says."""
    rule = "- Use uv, not pip.\n"
    found = read(
        sqlite_desk,
        **{
            "AGENTS.md": rule,
            "packages/api/CLAUDE.md": rule,
            ".cursorrules": rule,
            ".github/copilot-instructions.md": rule,
            ".cursor/rules/always.mdc": f"---\nalwaysApply: true\nglobs:\n---\n{rule}",
            ".cursor/rules/some.mdc": f"---\nglobs: src/**/*.ts\nalwaysApply: false\n---\n{rule}",
            ".cursor/rules/asked.mdc": f"---\ndescription: x\nalwaysApply: false\n---\n{rule}",
            ".claude/rules/api.md": f'---\npaths:\n  - "api/**"\n---\n{rule}',
            "packages/api/.cursor/rules/near.mdc": f"---\nalwaysApply: true\n---\n{rule}",
            "docs/notes.md": rule,
            "node_modules/x/CLAUDE.md": rule,
        },
    )
    assert {f.path: f.scope for f in found.files} == {
        "AGENTS.md": "project",
        "packages/api/CLAUDE.md": "project/packages/api",
        ".cursorrules": "project",
        ".github/copilot-instructions.md": "project",
        ".cursor/rules/always.mdc": "project",
        ".cursor/rules/some.mdc": "project:src/**/*.ts",
        ".cursor/rules/asked.mdc": "project:on request",
        ".claude/rules/api.md": "project:api/**",
        "packages/api/.cursor/rules/near.mdc": "project/packages/api",
    }
    assert stated(found, ".cursor/rules/some.mdc") == [(5, "Use uv, not pip.")]


def test_imports_are_read_under_their_own_path_and_lead_nowhere_else(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """`@path` outside code, inside the workspace, prose only, each file once, circles end."""
    (tmp_path / "secret.md").write_text("- Never read what lies outside.\n")
    found = read(
        sqlite_desk,
        **{
            "CLAUDE.md": "See @docs/rules.md and @AGENTS.md for more.\n"
            "@../secret.md\n@/etc/passwd\n@~/x.md\nmail me@docs/other.md\n"
            "`@docs/code.md` is code.\n\n```\n@docs/code.md\n```\n@package.json\n",
            "docs/rules.md": "- Rules live in docs.\n\n@more.md\n@../CLAUDE.md\n",
            "docs/more.md": "- More rules live here.\n",
            "docs/other.md": "- Never imported by a mail address.\n",
            "docs/code.md": "- Never imported by code.\n",
            "package.json": "{}",
            "AGENTS.md": "- Agents read this file too.\n\n@docs/deep.md\n",
            "docs/deep.md": "- Imported by what is imported.\n",
        },
    )
    assert [f.path for f in found.files] == [
        "AGENTS.md",
        "CLAUDE.md",
        "docs/deep.md",
        "docs/more.md",
        "docs/rules.md",
    ]
    assert {f.scope for f in found.files} == {"project"}
    assert stated(found, "docs/more.md") == [(1, "More rules live here.")]
    assert not [t for _, t in stated(found, "CLAUDE.md") if "@" in t]


def test_a_link_inside_is_read_once_and_one_that_leads_out_is_not(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """CLAUDE.md may be a link to AGENTS.md; a link out of the workspace is named, not read."""
    root = sqlite_desk.workspace.root
    (tmp_path / "secret.md").write_text("- Never read what lies outside.\n")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (root / "GEMINI.md").symlink_to(tmp_path / "secret.md")
    (root / ".cursorrules").symlink_to(".memdesk/config.toml")
    found = read(sqlite_desk, **{"AGENTS.md": "- Use uv, not pip.\n"})
    assert [f.path for f in found.files] == ["AGENTS.md"]
    assert [(x.path, x.code) for x in found.left_out] == [
        (".cursorrules", "path.outside-workspace"),
        ("GEMINI.md", "path.outside-workspace"),
    ]


def test_files_no_person_wrote_are_named_and_not_read(sqlite_desk: Desk) -> None:
    """Binary, another encoding, 50 MB, a pipe: refused by a code, in no time, the rest is read."""
    root = sqlite_desk.workspace.root
    write(root / "AGENTS.md", b"\x00\x01binary")
    write(root / "GEMINI.md", "- Umlaute wie ä.\n".encode("latin-1"))
    with (root / "CLAUDE.local.md").open("wb") as file:
        file.truncate(50 << 20)
    os.mkfifo(root / ".windsurfrules")
    found = read(sqlite_desk, **{"CLAUDE.md": "- Use uv, not pip.\r\n- Never\ttabs here.\r\n"})
    assert stated(found, "CLAUDE.md") == [(1, "Use uv, not pip."), (2, "Never tabs here.")]
    assert [(x.path, x.code) for x in found.left_out] == [
        (".windsurfrules", "path.not-regular"),
        ("AGENTS.md", "evidence.binary"),
        ("CLAUDE.local.md", "rules.too-long"),
        ("GEMINI.md", "evidence.binary"),
    ]


def test_a_repository_inside_keeps_its_rules(sqlite_desk: Desk) -> None:
    """A submodule's or a vendored repository's rules are not the project's."""
    (sqlite_desk.workspace.root / "vendored/.git").mkdir(parents=True)
    found = read(sqlite_desk, **{"vendored/CLAUDE.md": "- Use uv, not pip.\n"})
    assert found.files == ()


@pytest.mark.parametrize(
    ("text", "blanked"),
    [
        ("a <!-- b --> c", "a            c"),
        ("<!-- a\nb -->c", "      \n     c"),
        ("a <!-- b\nc", "a       \n "),
        ("```\n<!-- code\n```\nb", "```\n<!-- code\n```\nb"),
        ("<!-- ``` --> a\n<!-- b -->", "             a\n          "),
        ("<!-- a --><!-- b -->c<!---->", "                    c       "),
    ],
)
def test_comments_are_blanked_in_their_places(text: str, blanked: str) -> None:
    """Every place stays; a fence is code; one that is never closed runs to the end."""
    assert prose.without_comments(text) == blanked


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Decisions", "Decisions"),
        ("## Key decisions ##  ", "Key decisions"),
        ("#No heading", None),
        ("####### No heading", None),
        ("# ", None),
        ("# a" + " " * 200_000 + "x", "a" + " " * 200_000 + "x"),
        ("# a" + " #" * 100_000 + "x", "a" + " #" * 100_000 + "x"),
    ],
    ids=range(7),
)
def test_a_heading_of_any_length_is_known_at_once(line: str, title: str | None) -> None:
    """A stranger's line of blanks once took as many steps as the cube of its length."""
    assert prose.heading(line) == title


def test_what_moved_is_seen_without_reading(sqlite_desk: Desk) -> None:
    """A signature moves with any write to a known file, and with a new one at the root."""
    root = sqlite_desk.workspace.root
    read(sqlite_desk, **{"CLAUDE.md": "- Use uv.\n", "sub/AGENTS.md": "- Use npm.\n"})
    paths = ("CLAUDE.md", "sub/AGENTS.md")
    seen = [rule_files.signature(root, paths)]
    write(root / "sub/AGENTS.md", b"- Use pnpm.\n")
    seen.append(rule_files.signature(root, paths))
    write(root / ".cursor/rules/a.mdc", b"- Use bun.\n")
    seen.append(rule_files.signature(root, paths))
    (root / "CLAUDE.md").unlink()
    seen.append(rule_files.signature(root, paths))
    assert len(set(seen)) == 4
    assert rule_files.signature(root, paths) == seen[-1]
