"""Words with a decision: until a day, for a reason, the last one again; other orders of the list."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.candidates import review
from core.candidates.propose import propose
from core.candidates.review import CandidateRef
from core.ports import Desk
from schemas.candidates import CandidateKind, CandidateVersion, Verdict
from schemas.common import Page
from tests.conftest import START
from tests.tui.conftest import STATEMENTS, Driver, lay, opened, other
from tests.tui.test_triage import PERSONAL, stored
from tui.client import Client

DAY = 86_400_000_000


def decided(desk: Desk, n: int) -> CandidateVersion:
    """The newest version of the n-th candidate."""
    with desk.store.read() as view:
        found = view.candidates.version(stored(desk)[n].id)
    assert found is not None
    return found


async def test_s_puts_off_until_a_day_that_core_understands(laid: Desk, workspace: Path) -> None:
    """A wrong day is refused in place and can be mended; the day is on the row's last decisions."""
    async with opened(workspace) as desk:
        await desk.press("s", *"soon", "enter")
        assert "defer.date" in desk.told() and stored(laid)[0].state.value == "pending"
        assert "esc leave it" in desk.rows()[-1]
        await desk.press(*["backspace"] * 4, *"2 weeks", "enter")
        made = decided(laid, 0).decision
        assert made and made.until and made.until > made.time and made.until % DAY == 0
        assert "until" in desk.rows()[-2] and "u undoes" in desk.rows()[-2]
        assert desk.candidates.list.index == 1
        assert "until" in next(r for r in desk.rows() if "⧖ cand_" in r)
        await desk.press("s", "escape", "s", "enter")
        assert stored(laid)[1].state.value == "pending"
        await desk.press("space", "space", "s", *"3d", "enter")
        assert "DEFER 2 marked" in desk.rows()[-2] and "until" in desk.rows()[-2]
        await desk.press("escape", "asterisk")
        await desk.press("u")
        assert stored(laid)[0].state.value == "pending"


async def test_what_was_put_off_needs_you_again_on_its_day(
    workspace: Path,
) -> None:
    """It comes back among the pending, says so, and can be put off again."""
    made = lay(workspace)
    for n, until in ((2, START + DAY), (3, START + 9 * DAY)):
        review.decide(made, CandidateRef(stored(made)[n].id, 1), Verdict.DEFER, until=until)
    async with opened(workspace) as desk:
        client = desk.app.client
        assert isinstance(client, Client)
        client.desk = replace(client.desk, clock=lambda: START + 2 * DAY)
        await desk.press("f", "f", "f", "f", "f", "f")
        await desk.until(lambda: "[1 Candidates 5]" in desk.rows()[0])
        assert "needs you 5" in desk.rows()[1] and "deferred 1" in desk.rows()[1]
        await desk.press("j", "j")
        assert "that is now" in desk.text() and "⧖" in desk.row_of("Ask me before")
        await desk.press("d")
        row = stored(made)[2]
        assert (row.version, row.state.value, row.due) == (2, "deferred", None)
        assert desk.candidates.list.index == 3 and "needs you 4" in desk.rows()[1]
        await desk.press("a", "a", "g", "a", "a", "f", "f", "f", "f", "f", "f")
        assert "2 deferred, the next returns Wed" in desk.text() and "2026-12-09" in desk.text()
    made.store.close()


async def test_r_with_a_reason_and_again(laid: Desk, workspace: Path) -> None:
    """R gives the next decision its reason, once; `.` makes the last one again with it."""
    async with opened(workspace) as desk:
        await desk.press("full_stop")
        assert "no decision yet" in desk.rows()[-2]
        await desk.press("R", *"one-off", "enter", "r", "full_stop", "a")
        made = [d for n in range(3) if (d := decided(laid, n).decision)]
        assert [d.verdict for d in made] == [Verdict.REJECT, Verdict.REJECT, Verdict.ACCEPT]
        assert [d.reason for d in made] == ["one-off", "one-off", ""]
        await desk.press("space", "k", "R", *"not mine", "enter", "r")
        assert "REJECT 1 marked" in desk.rows()[-2]
        await desk.press("enter")
        last = decided(laid, 3).decision
        assert last and last.reason == "not mine" and last.batch


async def test_again_asks_again_before_it_acknowledges(workspace: Path) -> None:
    """`.` after an accept doesn't acknowledge a hazard by itself."""
    made = lay(workspace, [STATEMENTS[0], PERSONAL])
    async with opened(workspace) as desk:
        assert "!" in desk.row_of("Write to")[:8] and "#" not in desk.row_of("Write to")[:8]
        await desk.press("a", "full_stop")
        assert "acknowledge hazard.personal-data" in desk.rows()[-2]
        assert stored(made)[1].state.value == "pending"
    made.store.close()


async def test_s_asks_about_the_row_it_was_pressed_on(laid: Desk, workspace: Path) -> None:
    """The row became another while the day was typed: nothing is put off."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await desk.press("s", *"3d")
        review.edit(priya, CandidateRef(stored(laid)[0].id, 1), "Refunds above 600 EUR need two.")
        desk.candidates.store_changed()
        await desk.settle()
        await desk.press("enter")
        assert "is another now" in desk.rows()[-2]
        assert {r.state.value for r in stored(laid)} == {"pending"}
    priya.store.close()


async def test_no_letter_typed_as_an_answer_is_a_key(laid: Desk, workspace: Path) -> None:
    """Every key of the pane, typed as a reason, decides and moves nothing."""
    async with opened(workspace) as desk:
        await desk.press("R", *"ardejkxSRq", "full_stop", "1", "asterisk", "space", "escape")
        assert {r.state.value for r in stored(laid)} == {"pending"}
        assert desk.candidates.list.index == 0 and not desk.candidates.marks
        assert desk.candidates.order == "group" and desk.candidates.reason == ""


async def test_the_headers_count_what_is_still_to_be_decided(laid: Desk, workspace: Path) -> None:
    """Decided rows stay under their header and leave its count; the cursor goes to the next group."""
    add_task(laid)
    async with opened(workspace) as desk:
        assert "asked to remember 6" in desk.text() and "one-off requests 1" in desk.text()
        await desk.press("a", "r", "d")
        assert "asked to remember 3" in desk.text() and desk.candidates.list.total == 7
        await desk.press("a", "a", "a")
        assert "asked to remember · all decided" in desk.text()
        assert desk.candidates.list.group is not None
        assert desk.candidates.list.group.title == "one-off requests"


def add_task(desk: Desk) -> None:
    """One agent-said task beside the six."""
    from core.candidates.extract import extract
    from core.evidence.import_ import import_paths
    from tests.conftest import record, write

    file = write(
        desk.workspace.root / ".sessions/more.jsonl",
        record("fix the failing rounding test", "m1", sessionId="0b11"),
    )
    import_paths(desk, [file])
    extract(desk)


async def test_the_list_can_be_grouped_by_session_kind_and_author(
    laid: Desk, workspace: Path
) -> None:
    """S goes round; headers count and fold, decisions on a header are exact, marks stay."""
    add_task(laid)
    async with opened(workspace) as desk:
        await desk.press("space", "S")
        assert "by session" in desk.rows()[1]
        assert "session 0b11 1" in desk.text() and "session 7acd37a8 6" in desk.text()
        assert desk.candidates.list.index == 0 and len(desk.candidates.marks) == 1
        await desk.press("space", "k", "k", "S")
        assert "by kind" in desk.rows()[1] and "goal 1" in desk.text()
        await desk.press("asterisk")
        assert not desk.candidates.marks
        await desk.press("k", "r")
        assert "REJECT 1" in desk.rows()[-2] and "goal" in desk.rows()[-2]
        await desk.press("enter")
        assert [r.state.value for r in stored(laid)].count("rejected") == 1
        await desk.press("S", "f", "f")
        assert "by author" in desk.rows()[1]
        await desk.press("S")
        assert "by group" in desk.rows()[1]


async def test_the_last_decisions_stand_under_the_list(laid: Desk, workspace: Path) -> None:
    """Newest first, a batch as one, others' too; undone ones leave; narrow screens have no room."""
    priya = other(workspace)
    review.decide(priya, CandidateRef(stored(laid)[5].id, 1), Verdict.REJECT, reason="old news")
    async with opened(workspace) as desk:
        below = lambda: [r[:60] for r in desk.rows()[-6:-2]]  # noqa: E731
        assert (
            "last decisions ─" in below()[0] and "old news" in below()[1] and "Priya" in below()[1]
        )
        await desk.press("a", "space", "space", "r", "enter")
        assert "u undoes the first" in below()[0]
        assert "2 at once" in below()[1] and "✓ cand_" in below()[2] and "old news" in below()[3]
        await desk.press("u")
        assert "✓ cand_" in below()[1] and "old news" in below()[2]
    priya.store.close()
    async with opened(workspace, (80, 24)) as desk:
        assert "last decisions" not in desk.text()


async def test_near_duplicates_stand_beside_the_decision(laid: Desk, workspace: Path) -> None:
    """`~` on the row, the difference in the detail, a tab that counts, enter says what it means."""
    with laid.store.read() as view:
        event = view.evidence.events(Page(limit=10))[0][0]
    propose(
        laid,
        text="The webhook secret rotates on the first of each month.",
        kind=CandidateKind.PROJECT_FACT,
        key=None,
        sources=[event.id],
    )
    async with opened(workspace) as desk:
        assert "~" in desk.row_of("The webhook secret")[:8]
        await desk.press("G")
        assert "Near 1" in desk.text() and "duplicate.near   pending" in desk.text()
        await desk.press("right_square_bracket")
        assert "[Near 1]" in desk.text() and "‹" in desk.text()
        await desk.press("enter")
        assert "nearly the same" in desk.text()


async def test_what_a_key_does_here_where_there_is_room(laid: Desk, workspace: Path) -> None:
    """On a tall wide screen: versions with the shown one marked, and the keys for its state."""
    async with opened(workspace) as desk:
        text = desk.text()
        assert "◂ shown" in text and "records your decision on @1" in text
        await desk.press("r", "u")
        assert "records your decision on @2" in desk.text()
        assert "✗ rejected" in desk.text()
    async with opened(workspace, (80, 24)) as desk:
        assert "what a key does" not in desk.text()
        assert "‹Refunds above 500 EUR need a second" in desk.text(), "the message is on screen"


async def test_the_wiki_line_that_says_the_old_value_is_named(
    sqlite_desk: Desk, workspace: Path
) -> None:
    """A conflict's leftovers, from the place where promotion finds them."""
    from tests.making import pending

    page = workspace / ".aiwg/wiki/refunds.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Refunds\n\nRefunds above 250 EUR need a second approver.\n")
    pending(sqlite_desk, "Refunds above 250 EUR need a second approver.")
    pending(sqlite_desk, "Refunds above 500 EUR need a second approver.")
    async with opened(workspace) as desk:
        await desk.press("j")
        assert "conflict.same-key" in desk.text() and "‹250›" in desk.text()
        assert "wiki/refunds.md:3" in desk.text()


async def test_another_reviewers_decision_shows_within_a_second(
    laid: Desk, workspace: Path
) -> None:
    """A second connection decides; the row stands in place, `a` names her and her reason."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await desk.press("j", "j")
        review.decide(priya, CandidateRef(stored(laid)[2].id, 1), Verdict.REJECT, reason="one-off")
        await desk.until(lambda: "✗" in desk.row_of("Ask me before"), seconds=5)
        await desk.settle()
        await desk.press("a")
        assert "is rejected by Priya" in desk.told() and "“one-off”" in desk.told()
        assert desk.candidates.list.index == 2
        assert "asked to remember 5" in desk.text()
    priya.store.close()


async def test_keys_mashed_while_work_runs_decide_only_what_was_shown(
    laid: Desk, workspace: Path
) -> None:
    """Bursts without waiting: every decision is on a version that stood under the cursor, once."""
    async with opened(workspace) as desk:
        for key in "ajrjdkAu.sSfJKa)(r".replace("A", "a"):
            desk.app.post_message(_key(key))
        await desk.settle()
        await desk.press("escape", "escape")
        states = [r.state.value for r in stored(laid)]
        assert set(states) <= {"pending", "accepted", "rejected", "deferred"}
        assert desk.widths() == {120}
        made = sum(s != "pending" for s in states)
        assert len(desk.rows()) == 40 and made <= 6


def _key(char: str) -> object:
    from textual import events

    names = {".": "full_stop", ")": "right_parenthesis", "(": "left_parenthesis"}
    return events.Key(names.get(char, char), char)


async def test_a_resize_storm_leaves_every_row_whole(laid: Desk, workspace: Path) -> None:
    """Down to a handful of cells and back, with an answer half typed: the cursor keeps its row."""
    async with opened(workspace) as desk:
        await desk.press("j", "j", "s", *"mon")
        for size in ((79, 23), (20, 6), (300, 100), (1, 1), (99, 33), (100, 34), (8, 3), (120, 40)):
            await desk.resize(*size)
            assert desk.widths() <= {size[0]}, size
        await desk.settle()
        assert desk.candidates.list.index == 2 and desk.widths() == {120}
        await desk.press("escape", "a")
        assert stored(laid)[2].state.value == "accepted"


async def two(first: Driver, second: Driver) -> None:
    """Let both desks see what the other did."""
    for desk in (first, second):
        desk.candidates.store_changed()
        await desk.settle()


async def test_two_desks_on_one_store_decide_each_version_once(laid: Desk, workspace: Path) -> None:
    """Turn and turn about on the same rows: the second to press is told, counts agree."""
    async with opened(workspace) as mara, opened(workspace, reviewer="Priya <p@x.org>") as priya:
        await mara.press("a")
        await priya.press("r")
        assert "candidate.decided" in priya.told()
        await two(mara, priya)
        await priya.press("j", "R", *"twice", "enter", "r")
        await two(mara, priya)
        await mara.press("d")
        assert "candidate.decided" in mara.told() and "“twice”" in mara.told()
        assert [r.state.value for r in stored(laid)][:3] == ["accepted", "rejected", "pending"]
        assert "needs you 4" in mara.rows()[1] and "needs you 4" in priya.rows()[1]
        await mara.press("u", "u")
        assert [r.state.value for r in stored(laid)][:2] == ["pending", "rejected"]
