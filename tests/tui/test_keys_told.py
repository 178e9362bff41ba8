"""What the footer, the bar and the detail say a key does is what the key does."""

from __future__ import annotations

from pathlib import Path

from core.ports import Desk
from tests.tui.conftest import STATEMENTS, Driver, lay, opened
from tests.tui.test_asking import add_task
from tests.tui.test_triage import PERSONAL, stored
from tui.keys import ACTIONS, shown

SECRET = "The sandbox key for payments is sk_test_" + "51HGfE2kZ8qvbN since May."


def hints(desk: Driver) -> str:
    """The last row."""
    return desk.rows()[-1]


def detail(desk: Driver) -> str:
    """The right half of a wide screen as running words."""
    return " ".join(" ".join(r[61:].split()) for r in desk.rows())


async def fold(desk: Driver) -> None:
    """Fold the first group; the cursor stays on its header."""
    await desk.press("g", "left_parenthesis", "enter")


async def unfold_tasks(desk: Driver) -> None:
    """Show the rows of the second group, which starts folded."""
    await desk.press("right_parenthesis", "enter")


async def test_marks_in_a_folded_group_are_counted_as_hidden(laid: Desk, workspace: Path) -> None:
    """Six rows are marked, their group is folded: the bar names all six as folded away, and where."""
    add_task(laid)
    async with opened(workspace) as desk:
        await unfold_tasks(desk)
        await desk.press("asterisk")
        assert len(desk.candidates.marks) == 7
        await fold(desk)
        await desk.press("r")
        bar = desk.rows()[-2]
        assert "REJECT 7 marked" in bar and "6 hidden folded away in asked to remember" in bar
        await desk.press("escape")
        assert {r.state.value for r in stored(laid)} == {"pending"}
        await desk.press("slash", *"rounding", "enter", "r")
        bar = desk.rows()[-2]
        assert "7 marked" in bar and "6 hidden by the filter" in bar
        await desk.press("escape", "escape", "f", "r")
        assert "7 hidden in another list" in desk.rows()[-2]


async def test_marking_all_passes_over_what_is_decided(laid: Desk, workspace: Path) -> None:
    """Decided rows stay on the list; neither `*` nor space marks what no key could decide."""
    async with opened(workspace) as desk:
        await desk.press("a", "r", "asterisk")
        assert len(desk.candidates.marks) == 4
        assert "4 marked, 2 decided passed over" in desk.rows()[-2]
        await desk.press("d")
        assert "DEFER 4 marked" in desk.rows()[-2]
        await desk.press("escape", "asterisk", "g", "space")
        assert not desk.candidates.marks and "accepted: nothing to decide" in desk.rows()[-2]
        await desk.press("j", "f", "f", "asterisk")
        assert not desk.candidates.marks and "1 row, all decided" in desk.rows()[-2]


async def test_accept_and_preview_is_for_one_row(laid: Desk, workspace: Path) -> None:
    """On a header or with marks `A` arms nothing and says so; `a` names the whole group first."""
    async with opened(workspace, size=(80, 24)) as desk:
        await desk.press("g", "k", "A")
        assert "A accepts one row" in desk.rows()[-2] and "enter  record" not in desk.text()
        await desk.press("a")
        assert "ACCEPT 6: the whole group asked to remember · 0 hidden" in desk.rows()[-2]
        await desk.press("escape", "j", "space", "A")
        assert "a accepts the marks" in desk.rows()[-2]
        assert {r.state.value for r in stored(laid)} == {"pending"}


async def test_marking_all_takes_what_is_shown(laid: Desk, workspace: Path) -> None:
    """Rows folded away are not marked by `*`; with everything folded it says so."""
    add_task(laid)
    async with opened(workspace) as desk:
        await unfold_tasks(desk)
        await fold(desk)
        await desk.press("asterisk")
        assert [i for i, _ in desk.candidates.marks.values()] == [stored(laid)[6].id]
        await desk.press("r")
        assert "REJECT 1 marked · 0 hidden" in desk.rows()[-2]
        await desk.press("escape", "asterisk", "right_parenthesis", "enter", "asterisk")
        assert not desk.candidates.marks and "folded away" in desk.rows()[-2]


async def test_on_a_header_marks_come_before_the_group_and_that_is_said(
    laid: Desk, workspace: Path
) -> None:
    """Footer and detail name the marks, the key decides on them, and the group stays as it is."""
    async with opened(workspace) as desk:
        await desk.press("space", "space", "left_parenthesis")
        assert desk.candidates.list.group is not None
        assert "reject 2 marked" in hints(desk) and "reject all" not in hints(desk)
        assert "decide on the 2 marked rows, one decision each, not on this group" in detail(desk)
        await desk.press("j")
        assert "decide on the 2 marked rows" in detail(desk) and "records your" not in detail(desk)
        await desk.press("k", "r", "enter")
        assert [r.state.value for r in stored(laid)] == ["rejected"] * 2 + ["pending"] * 4
        assert "reject all" in hints(desk) and "exactly these 4" in detail(desk)


async def test_the_top_is_the_first_candidate(laid: Desk, workspace: Path) -> None:
    """g goes to the first row that can be decided, its header above it; a folded one is skipped."""
    add_task(laid)
    async with opened(workspace, (80, 24)) as desk:
        await desk.press("G", "g")
        assert desk.candidates.list.index == 0 and desk.candidates.list.scroll_offset.y == 0
        await desk.press("a")
        assert [r.state.value for r in stored(laid)][:2] == ["accepted", "pending"]
        await unfold_tasks(desk)
        await fold(desk)
        await desk.press("G", "g")
        row = desk.candidates.current
        assert row is not None and row.id == stored(laid)[6].id


async def test_a_key_that_only_disarmed_says_so(workspace: Path) -> None:
    """On a group and on a hazard: the bar names the key, and pressed again it does its work."""
    made = lay(workspace, [PERSONAL, *STATEMENTS[:2]])
    async with opened(workspace) as desk:
        await desk.press("a", "j")
        assert "left undecided" in desk.rows()[-2] and "j only took it back" in desk.rows()[-2]
        await desk.press("j")
        assert desk.candidates.list.index == 1 and "left undecided" not in desk.rows()[-2]
        await desk.press("left_parenthesis", "r", "g")
        assert "g only took it back" in desk.rows()[-2]
        await desk.press("g")
        assert desk.candidates.list.index == 0
        assert {r.state.value for r in stored(made)} == {"pending"}
    made.store.close()


async def test_no_key_is_offered_that_would_be_refused(workspace: Path) -> None:
    """Accepting what a hazard blocks, deferring what is deferred, undoing when nothing was decided."""
    made = lay(workspace, [SECRET, *STATEMENTS[:2]])
    async with opened(workspace) as desk:
        assert "a accept" not in hints(desk) and "r reject" in hints(desk)
        assert "records your decision" not in desk.text()
        await desk.press("j")
        assert "a accept" in hints(desk) and "records your decision on @1" in desk.text()
        await desk.press("f", "f", "f", "f", "f")
        assert "undo" not in hints(desk)
        await desk.press("f", "d", "r")
        await desk.press("f")
        assert "r reject" in hints(desk) and "d defer" not in hints(desk)
        await desk.press("f", "f")
        assert "u undo last" in hints(desk)
        await desk.press("u")
        assert "are pending again" in desk.rows()[-2] or "is pending again" in desk.rows()[-2]
    made.store.close()


async def test_counts_agree_with_each_other(laid: Desk, workspace: Path) -> None:
    """Decided rows that stay are told apart; a group of one has one; nothing left is no number."""
    add_task(laid)
    async with opened(workspace, (160, 40)) as desk:
        await desk.press("a")
        assert "needs you 6" in desk.rows()[1] and "pending · 2 of 7, 1 decided" in desk.text()
        await desk.press("right_parenthesis")
        assert "exactly this one" in desk.text()
        await desk.press("r", "enter")
        assert "one-off requests · all decided" in desk.text()
        assert "one-off requests 0" not in desk.text()


async def test_every_offered_key_is_a_key(laid: Desk, workspace: Path) -> None:
    """What the footer calls a key is bound to something, on a row, a header, marks and nothing."""
    bound = {shown(k) for a in ACTIONS for k in a.keys.split(",")} | {"J/K", "j/k", "1", "2"}
    async with opened(workspace) as desk:
        for keys in ((), ("left_parenthesis",), ("j", "space"), ("f",), ("2",)):
            await desk.press(*keys)
            offered = {key for key, _ in desk.app.pane.hints()}
            assert offered and offered <= bound, offered - bound


async def test_p_on_what_is_not_accepted_stays_and_says_so(laid: Desk, workspace: Path) -> None:
    """No empty preview beside a list the row does not belong to."""
    async with opened(workspace) as desk:
        await desk.press("p")
        assert "[1 Candidates" in desk.rows()[0]
        assert "pending: only what is accepted is promoted; A does both" in desk.rows()[-2]
