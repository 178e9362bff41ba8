"""Deciding at the desk: one key a decision, the row stays, undo, hazards, edits."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from core.candidates import review
from core.candidates.review import CandidateRef
from core.ports import Desk
from schemas.candidates import CandidateRow, Verdict
from schemas.storage import CandidateFilter
from tests.tui.conftest import STATEMENTS, lay, opened, other


def stored(desk: Desk) -> list[CandidateRow]:
    """All candidates as the store has them."""
    with desk.store.read() as view:
        return view.candidates.window(CandidateFilter(()), 0, 1000)


async def test_it_opens_with_what_needs_a_decision(laid: Desk, workspace: Path) -> None:
    """The first screen: the six pending statements, the first one in its surroundings."""
    async with opened(workspace) as desk:
        assert "[1 Candidates 6]" in desk.rows()[0]
        assert "needs you 6" in desk.rows()[1]
        assert all(s[:20] in desk.text() for s in STATEMENTS)
        assert f"‹{STATEMENTS[0]}›" in " ".join(desk.text().split()) or "‹Refunds" in desk.text()
        assert desk.app.title == "memdesk 6"


async def test_keys_move_the_cursor(laid: Desk, workspace: Path) -> None:
    """j k G g and the arrows move; the cursor stops at the ends."""
    async with opened(workspace) as desk:
        at = lambda: desk.candidates.list.index  # noqa: E731
        await desk.press("j", "down", "j")
        assert at() == 3
        await desk.press("k", "up")
        assert at() == 1
        await desk.press("G")
        assert at() == 5
        await desk.press("j")
        assert at() == 5
        await desk.press("g", "k")
        assert at() is None, "the first row is its group's header"
        await desk.press("j")
        assert at() == 0


async def test_each_decision_is_one_key_and_goes_on(laid: Desk, workspace: Path) -> None:
    """a, r, d record three decisions; each row stays where it is with its new sign."""
    async with opened(workspace) as desk:
        await desk.press("a", "r", "d")
        assert [r.state.value for r in stored(laid)][:4] == [
            "accepted",
            "rejected",
            "deferred",
            "pending",
        ]
        assert desk.candidates.list.index == 3
        shown = [r[:60] for r in desk.rows()[3:6]]
        for sign, words, row in zip("✓✗⧖", STATEMENTS, shown, strict=False):
            assert sign in row and words[:20] in row
        assert "needs you 3" in desk.rows()[1]
        assert "deferred" in desk.rows()[-2] and "u undoes" in desk.rows()[-2]


async def test_a_decided_row_leaves_when_the_view_changes(laid: Desk, workspace: Path) -> None:
    """Round the states and back: only what still needs a decision is there."""
    async with opened(workspace) as desk:
        await desk.press("a", "f")
        assert "deferred" in desk.text()
        await desk.press("f")
        assert desk.candidates.list.total == 1
        await desk.press("f", "f", "f", "f")
        assert desk.candidates.list.total == 5


async def test_an_undo_makes_the_row_pending_again_and_returns_to_it(
    laid: Desk, workspace: Path
) -> None:
    """u appends a new pending version and puts the cursor back on it."""
    async with opened(workspace) as desk:
        await desk.press("a", "r", "u")
        second = stored(laid)[1]
        assert (second.state.value, second.version) == ("pending", 2)
        assert stored(laid)[0].state.value == "accepted"
        assert desk.candidates.list.index == 1
        await desk.press("u", "u")
        assert stored(laid)[0].state.value == "pending"
        assert "undo.nothing" in desk.told()


async def test_a_key_pressed_before_the_next_row_is_shown_decides_nothing(
    laid: Desk, workspace: Path
) -> None:
    """Ten accepts in one burst: each recorded one was on a row under the cursor at its key."""
    async with opened(workspace) as desk:
        for _ in range(10):
            desk.candidates.action_accept()
        await desk.settle()
        assert [r.state.value for r in stored(laid)].count("accepted") == 1


async def test_a_blocking_hazard_is_refused(workspace: Path) -> None:
    """A secret can't be accepted; its value is on no row."""
    secret = "sk_test_" + "51HGfE2kZ8qvbN"
    made = lay(workspace, [f"The sandbox key for payments is {secret} since May."])
    async with opened(workspace) as desk:
        assert "#" in desk.row_of("The sandbox key") and secret not in desk.text()
        await desk.press("a")
        assert "hazard.secret" in desk.told()
        assert stored(made)[0].state.value == "pending"
        await desk.press("enter")
        assert "hazard.secret" in desk.text() and "Why" in desk.text()
        await desk.press("escape")
        await desk.press("r")
        assert stored(made)[0].state.value == "rejected"
    made.store.close()


async def test_a_group_that_was_refused_whole_offers_no_undo(workspace: Path) -> None:
    """Nothing was recorded: no undo is offered for it, and the cursor stays on the group."""
    secret = "sk_test_" + "51HGfE2kZ8qvbN"
    made = lay(workspace, [f"The sandbox key for payments is {secret} since May."])
    async with opened(workspace) as desk:
        await desk.press("g", "left_parenthesis", "k")
        at = desk.candidates.list.cursor
        assert desk.candidates.list.group is not None
        await desk.press("a")
        assert "ACCEPT 1" in desk.rows()[-2]
        await desk.press("enter")
        assert "accepted 0" in desk.told() and "hazard.secret" in desk.told()
        assert "undoes" not in desk.rows()[-2] and desk.candidates.list.cursor == at
        assert stored(made)[0].state.value == "pending"
    made.store.close()


PERSONAL = "Write to j.lindqvist@example.org when the export fails."


async def test_a_hazard_is_acknowledged_in_the_bar(workspace: Path) -> None:
    """The first key arms, enter records the acknowledgement, any other key leaves it."""
    made = lay(workspace, [PERSONAL, *STATEMENTS[:2]])
    async with opened(workspace) as desk:
        await desk.press("a")
        assert "acknowledge hazard.personal-data" in desk.rows()[-2]
        await desk.press("j")
        assert "acknowledge" not in desk.rows()[-2] and desk.candidates.list.index == 0
        assert stored(made)[0].state.value == "pending"
        await desk.press("a", "a")
        assert stored(made)[0].state.value == "pending"
        await desk.press("a", "enter")
        with made.store.read() as view:
            version = view.candidates.version(stored(made)[0].id)
        assert version and version.decision
        assert version.decision.acknowledged == ("hazard.personal-data",)
        assert desk.candidates.list.index == 1
    made.store.close()


async def test_an_armed_acknowledgement_does_not_survive_the_palette_or_another_pane(
    workspace: Path,
) -> None:
    """Whatever takes the keys away disarms: enter afterwards accepts nothing."""
    made = lay(workspace, [PERSONAL])
    async with opened(workspace) as desk:
        await desk.press("a", "ctrl+p", "escape", "enter")
        assert stored(made)[0].state.value == "pending"
        await desk.press("escape", "a")
        await desk.app.show_pane(0)
        await desk.app.show_pane(1)
        await desk.press("enter")
        assert stored(made)[0].state.value == "pending"
    made.store.close()


async def test_letters_typed_in_the_filter_are_no_keys(laid: Desk, workspace: Path) -> None:
    """Every key of the pane typed into the filter changes the words and nothing else."""
    async with opened(workspace) as desk:
        await desk.press("slash", *"ardeuq", "question_mark", "1")
        assert desk.candidates.words == "ardeuq?1"
        assert {r.state.value for r in stored(laid)} == {"pending"}
        assert "esc clears" in desk.text()
        await desk.press("escape")
        assert desk.candidates.words == "" and desk.candidates.list.total == 6
        await desk.press("slash", *"webhook", "enter")
        assert desk.candidates.list.total == 1 and "“webhook” 1" in desk.rows()[1]
        await desk.press("a")
        assert stored(laid)[5].state.value == "accepted"


@pytest.mark.parametrize("words", ["[", "[/]", "[/", "[bold]", "%", "\\"])
async def test_brackets_and_wild_cards_in_the_filter_are_words(
    laid: Desk, workspace: Path, words: str
) -> None:
    """No markup, no pattern: nothing matches, nothing breaks."""
    names = {"[": "left_square_bracket", "]": "right_square_bracket", "/": "slash"}
    names |= {"%": "percent_sign", "_": "underscore", "\\": "backslash"}
    async with opened(workspace) as desk:
        await desk.press("slash", *(names.get(c, c) for c in words))
        assert desk.candidates.words == words and desk.candidates.list.total == 0
        assert f"“{words}”" in desk.text()


async def test_f_goes_round_the_states(laid: Desk, workspace: Path) -> None:
    """Each press shows the next state, with what is in it."""
    async with opened(workspace) as desk:
        await desk.press("a", "r", "d")
        seen = []
        for _ in range(6):
            await desk.press("f")
            seen.append(desk.candidates.list.total)
        assert seen == [1, 1, 1, 0, 6, 3]


async def test_tabs_show_evidence_change_and_history(laid: Desk, workspace: Path) -> None:
    """] and [ turn the detail; Diff is there once there is something to compare."""
    async with opened(workspace) as desk:
        assert "[Evidence]" in desk.text()
        await desk.press("right_square_bracket")
        assert "[History]" in desk.text()
        await desk.press("right_square_bracket")
        assert "[Evidence]" in desk.text()
        await desk.press("r", "u", "right_square_bracket")
        assert "[Diff]" in desk.text() and "rejected by Ana" in desk.text()


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that adds " (finance)" to the statement."""
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nsed -i "1s/$/ (finance)/" "$1"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(script))
    # A terminal has room for an editor; the headless driver only says it has none.
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)
    return script


async def test_an_edit_is_a_new_version_that_is_pending_and_shows_what_changed(
    laid: Desk, workspace: Path, editor: Path
) -> None:
    """e saves @2, pending, with the change marked; a accepts @2 and @1 can't be decided any more."""
    async with opened(workspace) as desk:
        await desk.press("e")
        row = stored(laid)[0]
        assert (row.version, row.state.value) == (2, "pending")
        assert row.statement == STATEMENTS[0] + " (finance)"
        await desk.sees("[Diff]")
        await desk.sees("edited by Ana")
        assert "finance" in desk.text()
        assert desk.candidates.list.index == 0
        await desk.press("a")
        assert stored(laid)[0].state.value == "accepted"
    with pytest.raises(Exception, match="stale-version"):
        review.decide(laid, CandidateRef(row.id, 1), Verdict.ACCEPT)
    assert not list((workspace / ".memdesk").glob("statement-*"))


async def test_an_editor_that_fails_changes_nothing(
    laid: Desk, workspace: Path, editor: Path
) -> None:
    """A status other than zero is a line with its code."""
    editor.write_text("#!/bin/sh\nexit 3\n")
    async with opened(workspace) as desk:
        await desk.press("e")
        assert "editor.failed" in desk.told()
        assert stored(laid)[0].version == 1


async def test_anothers_decision_stands_in_place(laid: Desk, workspace: Path) -> None:
    """Priya rejects row 3 in another process: it shows within a second, and a is refused."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await desk.press("j", "j")
        row = stored(laid)[2]
        review.decide(priya, CandidateRef(row.id, 1), Verdict.REJECT, reason="one-off")
        await desk.until(lambda: "✗" in desk.row_of("Ask me before"), seconds=3)
        await desk.settle()
        assert desk.candidates.list.index == 2 and desk.candidates.list.total == 6
        await desk.press("a")
        assert "candidate.decided" in desk.told() and "Priya" in desk.told()
        await desk.press("u")
        assert "undo.nothing" in desk.told()
        assert stored(laid)[2].state.value == "rejected"
    priya.store.close()


async def test_the_desk_opens_again_where_the_store_is(laid: Desk, workspace: Path) -> None:
    """Quit and open: decisions are there, and undo still works."""
    async with opened(workspace) as desk:
        await desk.press("a", "q")
        assert desk.app.return_code == 0
    async with opened(workspace) as desk:
        assert desk.candidates.list.total == 5
        await desk.press("u")
        assert stored(laid)[0].state.value == "pending"
