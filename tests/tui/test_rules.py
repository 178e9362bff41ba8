"""What a rule file says already is marked and out of the queue, and follows the file on screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ports import Desk
from tests.conftest import write
from tests.tui.conftest import STATEMENTS, opened

RULE = STATEMENTS[3]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_rules_words_stand_outside_needs_you(
    laid: Desk, workspace: Path, size: tuple[int, int]
) -> None:
    """Counted apart; its own view shows `=`, file and line; `enter` says what the mark means."""
    write(workspace / "CLAUDE.md", f"# Rules\n\n- {RULE}\n".encode())
    async with opened(workspace, size) as desk:
        await desk.sees("needs you 5")
        assert "1 Candidates 5" in desk.rows()[0] and "in rules 1" in desk.rows()[1]
        assert not desk.row_of("Commit subjects")
        await desk.press(*"fffff")
        await desk.until(lambda: "Commit subjects" in desk.row_of("Commit subjects"))
        row = next(r for r in desk.rows()[2:] if "Commit subjects" in r)
        assert " = " in row[:8] and "CLAUDE.md:3" in row
        assert "= duplicate.rule   CLAUDE.md:3" in desk.text()
        await desk.press("enter")
        await desk.sees("A rule file of the repository says the same")
        assert {w for w in desk.widths() if w != size[0]} == set()


async def test_the_mark_follows_the_file_while_the_desk_is_open(
    laid: Desk, workspace: Path
) -> None:
    """Written, changed and removed in an editor beside the desk: the queue and the count move."""
    async with opened(workspace) as desk:
        await desk.sees("needs you 6")
        write(workspace / "AGENTS.md", f"- {RULE}\n".encode())
        await desk.sees("needs you 5")
        write(workspace / "AGENTS.md", b"- Refunds above 250 EUR need a second approver.\n")
        await desk.sees("needs you 6")
        await desk.sees("conflicts 1")
        await desk.press("g")
        await desk.sees("conflict.rule   AGENTS.md:1")
        (workspace / "AGENTS.md").unlink()
        await desk.until(lambda: "conflicts" not in desk.text())


async def test_nothing_said_by_rules_is_said_in_one_sentence(laid: Desk, workspace: Path) -> None:
    """The view that lost its last row says so, and `f` goes round without it."""
    path = write(workspace / "CLAUDE.md", f"- {RULE}\n".encode())
    async with opened(workspace) as desk:
        await desk.sees("in rules 1")
        await desk.press(*"fffff")
        await desk.sees("CLAUDE.md:1")
        path.unlink()
        await desk.sees("No pending candidate says what a rule file says already.")
        await desk.press("f", "f")
        assert "needs you 6" in desk.rows()[1] and "in rules" not in desk.rows()[1]
        await desk.press(*"ffffff")
        assert desk.candidates.view == 0
