"""A preview being read: one side or two, what stays read when it moved, and who moved it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from core.candidates import review
from core.candidates.review import CandidateRef
from core.operations import confirm
from core.ports import Desk
from core.promotion import preview
from core.textdiff import compare
from schemas.operations import OperationState
from tests.tui.conftest import STATEMENTS, Driver, opened, other
from tests.tui.test_promoting import TEXT, accept, digests, files, promote, ready, receipts, row_of
from tui import theme
from tui.widgets.diff import DiffText, View
from tui.widgets.document import lay
from tui.widgets.lines import safe

LEFT, RIGHT = "left_square_bracket", "right_square_bracket"


def unread(desk: Driver) -> set[str]:
    """The words of every line that was not on screen yet."""
    document = desk.promotion.detail
    lines = document._unseen
    return {key[2] for i in lines for key in document._laid.lines[i].keys}  # type: ignore[index]


async def test_two_sides_from_120_columns_and_one_below(laid: Desk, workspace: Path) -> None:
    """s shows both sides; a narrower terminal shows one and says why; what was read stays read."""
    (workspace / ".aiwg/memory").mkdir(parents=True)
    (workspace / TEXT).write_text("Kept.\n")
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("s")
        assert "Unified [Split]" in desk.rows()[1]
        assert any(r.count("Kept.") == 2 and " │ " in r for r in desk.rows())
        assert "READY" in desk.rows()[-2]
        await desk.resize(90, 24)
        assert "[Unified] Split" in desk.rows()[1] and "READY" in desk.rows()[-2]
        await desk.resize(120, 40)
        assert "Unified [Split]" in desk.rows()[1]
        await desk.press("s")
        await desk.resize(90, 24)
        await desk.press("s")
        assert "split needs 120 columns, there are 90" in desk.rows()[-2]
        assert desk.widths() == {90} and receipts(laid) == 0


async def test_whitespace_and_context_change_nothing_that_was_read(
    laid: Desk, workspace: Path
) -> None:
    """w leaves spaces between words blank; { and } hide and show the lines around."""
    (workspace / ".aiwg/memory").mkdir(parents=True)
    (workspace / TEXT).write_text("".join(f"line {n}\n" for n in range(20)))
    async with opened(workspace) as desk:
        await ready(desk)
        assert "Refunds·above·500" in desk.text() and "line 17" in desk.text()
        await desk.press("w")
        assert "Refunds above 500 EUR need a second approver." in desk.row_in_diff("+")
        await desk.press("left_curly_bracket", "left_curly_bracket")
        assert "context 0" in desk.rows()[1] and "line 19" not in desk.text()
        await desk.press(*["right_curly_bracket"] * 3)
        assert "context 10" in desk.rows()[1] and "line 10" in desk.text()
        assert "READY" in desk.rows()[-2]
        await desk.press("c", "w")
        assert "READY" in desk.rows()[-2] and "Refunds above" in desk.row_in_diff("+")


def drawn(text: str, view: View) -> list[tuple[str, str]]:
    """The cells of one added line, as they reach the terminal."""
    (line,) = DiffText("a", theme.glyphs(), view).lines(compare(b"", text.encode() + b"\n"))
    assert line.draw is not None
    cells = safe(line.draw(line.what))
    assert lay([line], 400).rows == 1
    return cells


def test_a_dot_of_the_file_does_not_look_like_a_space() -> None:
    """In both modes a space shown is another role than the words, and `·` itself has its number."""
    for plain, dot, escaped in ((False, "·", "‹00B7›"), (True, ".", "[00B7]")):
        theme.choose(plain)
        cells = drawn("a.b c·d", View())
        assert (dot, "space") in cells
        assert ("a.b", "add") in cells and (f"c{escaped}d", "add") in cells
        assert [text for text, role in cells if role == "space"] == [dot]


def test_rows_are_counted_as_they_are_drawn() -> None:
    """Counted by arithmetic or by drawing, a long line has the rows that it then fills."""
    long = ("plain words " * 20, "決済バッチ " * 20, "tab\tand tail  ", "é" * 90)
    for text in long:
        (line,) = DiffText("a", theme.glyphs(), View()).lines(compare(b"", text.encode()))
        for width in (24, 37, 60, 61):
            laid = lay([line], width)
            from tui.widgets.document import _broken

            rows = _broken(line, width)
            assert laid.rows == len(rows)
            assert all(sum(len(t) for t, _ in r) <= width for r in rows)


async def wiki(desk: Driver) -> None:
    """The first row's wiki page, read to its end."""
    await desk.press("2", "P")
    assert "goes to wiki" in desk.rows()[-2] and "wiki" in desk.row_of(STATEMENTS[0][:20])
    await desk.press("p")
    await desk.until(lambda: desk.promotion.preview is not None)
    for _ in range(10):
        if "READY" in desk.rows()[-2]:
            break
        await desk.press("c")
        assert "ARMED" not in desk.text()


async def test_a_wiki_page_from_preview_to_receipt(laid: Desk, workspace: Path) -> None:
    """P p, read to the end, c enter: the page has the previewed bytes; then to line memory too."""
    accept(laid, 0)
    async with opened(workspace, (100, 24)) as desk:
        await wiki(desk)
        shown = desk.promotion.preview
        assert shown is not None and shown.consumer == "wiki"
        await desk.press("c")
        assert "ARMED  write 1 file to wiki" in desk.rows()[-2]
        await desk.press("enter")
        assert digests(workspace) == {t.path: t.after_digest for t in shown.targets}
        await desk.press(LEFT)
        assert "In memory 1" in desk.rows()[1] and "wiki" in desk.row_of(STATEMENTS[0][:20])
        assert "held elsewhere as well" in desk.text()
        await desk.press("p")
        await desk.sees("READY")
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text() == STATEMENTS[0] + "\n" and receipts(laid) == 2
        await desk.sees("In memory 2")


async def test_a_refused_consumer_says_why(laid: Desk, workspace: Path) -> None:
    """The wiki is a link out of the workspace: the code and the remedy, and no preview."""
    accept(laid, 0)
    (workspace / ".aiwg").mkdir()
    os.symlink("/tmp", workspace / ".aiwg/wiki")
    async with opened(workspace) as desk:
        await desk.press("2", "P", "p")
        assert "destination.link" in desk.told()
        assert desk.promotion.preview is None


async def test_a_stale_preview_names_who_and_what(laid: Desk, workspace: Path) -> None:
    """Another reviewer's write: her name, operation, receipt, line; what is left to read."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await ready(desk)
        promote(priya, 3)
        await desk.sees("STALE")
        await desk.settle()
        with priya.store.read() as view:
            (receipt,) = view.operations.newest_receipts(5)
        text = desk.text()
        assert "target changed by Priya" in desk.rows()[-2]
        assert f"{receipt.operation_id[:9]} · {receipt.receipt_id[:11]}" in text
        assert STATEMENTS[3][:30].replace(" ", "·") in text
        assert "1 hunk you have read stays marked as seen, 1 line is new" in text
        assert "candidate" in text and "same" in text and "line-memory.meta.json" in text
    priya.store.close()


async def test_after_p_only_what_others_wrote_is_unread(laid: Desk, workspace: Path) -> None:
    """Sixty lines by hand: they must be read, the reviewer's own line need not be again."""
    async with opened(workspace, (80, 24)) as desk:
        await ready(desk)
        (workspace / ".aiwg/memory").mkdir(parents=True)
        theirs = [f"Theirs {n}." for n in range(60)]
        (workspace / TEXT).write_text("\n".join(theirs) + "\n")
        await desk.sees("STALE")
        assert "60 lines are new to read" in desk.text() or await seen_below(desk, "60 lines are")
        await desk.press("p")
        await desk.until(lambda: desk.promotion.stale is None)
        await desk.settle()
        left = unread(desk)
        assert left and left <= set(theirs) and STATEMENTS[0] not in left
        await desk.press("c")
        assert "not armed" in desk.rows()[-2]
        # Moved once more before all of it was read: nothing unread is forgotten.
        (workspace / TEXT).write_text("\n".join([*theirs, "One more."]) + "\n")
        await desk.sees("STALE")
        await desk.press("p")
        await desk.until(lambda: desk.promotion.stale is None)
        await desk.settle()
        assert left - {"Theirs 0."} <= unread(desk) | desk_seen(desk) and "One more." in unread(
            desk
        )
        for _ in range(10):
            if "READY" in desk.rows()[-2]:
                break
            await desk.press("space")
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text().splitlines() == [*theirs, "One more.", STATEMENTS[0]]


def desk_seen(desk: Driver) -> set[str]:
    """The words of every line that was on screen."""
    return {key[2] for key in desk.promotion.detail.read_keys()}  # type: ignore[index]


async def seen_below(desk: Driver, words: str) -> bool:
    """Scroll the detail until words are on screen."""
    for _ in range(12):
        if words in desk.text():
            return True
        await desk.press("ctrl+d")
    return False


async def test_a_policy_change_asks_for_nothing_twice(laid: Desk, workspace: Path) -> None:
    """A long page read to its end, the policy edited: named, and after p it is ready at once."""
    accept(laid, 0)
    async with opened(workspace, (100, 24)) as desk:
        await wiki(desk)
        config = workspace / ".memdesk/config.toml"
        config.write_text(config.read_text().replace("_bytes = 500", "_bytes = 400"))
        await desk.sees("STALE")
        assert "policy changed by hand" in desk.rows()[-2]
        await desk.press("p")
        await desk.sees("READY")


async def test_an_edited_candidate_says_that_p_is_refused(laid: Desk, workspace: Path) -> None:
    """Another desk makes @2: who, what it is now, and the code that p would meet."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await ready(desk)
        review.edit(priya, CandidateRef(row_of(laid).id, 1), STATEMENTS[0] + " (finance)")
        await desk.sees("STALE")
        assert "candidate changed by Priya" in desk.rows()[-2]
        await desk.settle()
        assert "@2 is pending" in desk.text()
        assert "p is refused: candidate.stale-version" in desk.text()
    priya.store.close()


async def test_a_diverged_write_shows_both_versions(laid: Desk, workspace: Path) -> None:
    """In the outbox: what was found and what would have been written; p previews again."""
    row = accept(laid, 0)
    made = preview.build(laid, CandidateRef(row.id, row.version), "line-memory")
    with laid.store.write() as unit:
        unit.operations.keep_divergence(made.operation_id, TEXT, b"Theirs.\n", b"Ours.\n")
        unit.operations.finish(made.operation_id, OperationState.DIVERGED, "operation.diverged")
    async with opened(workspace) as desk:
        await desk.press("2", RIGHT)
        assert "Outbox 1" in desk.rows()[1]
        await desk.sees("DIVERGED")
        assert "Theirs." in desk.row_in_diff("-") and "Ours." in desk.row_in_diff("+")
        await desk.press("c", "enter", "escape")
        assert files(workspace) == {}
        await desk.press("p")
        await desk.sees("READY")
        await desk.press(LEFT)
        assert desk.promotion.read is None


async def mash(desk: Driver, keys: Sequence[tuple[str, str | None]]) -> None:
    """Keys faster than anything can follow."""
    for key, char in keys:
        desk.app.post_message(events.Key(key, char))


async def test_keys_mashed_while_work_runs_write_once_at_most(laid: Desk, workspace: Path) -> None:
    """Preview, arm, enter, other rows and lists at once: only what was armed on screen is written."""
    accept(laid, 1)
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c")
        shown = desk.promotion.preview
        assert shown is not None
        burst = [("enter", "\r"), ("enter", "\r"), ("p", "p"), ("P", "P"), ("s", "s"), ("w", "w")]
        await mash(
            desk, [*burst, ("j", "j"), ("right_square_bracket", "]"), ("c", "c"), ("enter", "\r")]
        )
        await desk.settle()
        assert digests(workspace) == {t.path: t.after_digest for t in shown.targets}
        assert receipts(laid) == 1


async def test_a_storm_of_resizes_keeps_the_preview_whole(laid: Desk, workspace: Path) -> None:
    """Split and stale while the terminal changes size again and again: one screen, nothing lost."""
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("s")
        for width, height in ((60, 12), (200, 60), (119, 24), (120, 40), (40, 10), (140, 30)):
            await desk.resize(width, height)
        (workspace / ".aiwg/memory").mkdir(parents=True)
        (workspace / TEXT).write_text("By hand.\n")
        await desk.sees("STALE")
        for width, height in ((80, 24), (121, 40)):
            await desk.resize(width, height)
        assert desk.widths() == {121} and "STALE" in desk.rows()[-2]
        await desk.press("p")
        await desk.sees("READY")
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text() == f"By hand.\n{STATEMENTS[0]}\n"


class Killed(BaseException):
    """Ends a confirm as SIGKILL would: nothing after it runs but what Python must."""


@pytest.mark.parametrize("step", ["prepared", "exchanged-0", "synced-0", "exchanged-1", "written"])
async def test_a_write_that_another_desk_left_half_done_is_shown_whole(
    laid: Desk, workspace: Path, step: str
) -> None:
    """Looked at in the middle of it: no state between preview and receipt breaks the screen."""

    def die(name: str) -> None:
        if name == step:
            raise Killed

    priya = other(workspace)
    async with opened(workspace) as desk:
        await ready(desk)
        shown = desk.promotion.preview
        assert shown is not None
        with pytest.raises(Killed):
            confirm.confirm(replace(priya, on_step=die), shown.operation_id)
        for _ in range(2):
            desk.promotion.check()
            await desk.settle()
        assert desk.widths() == {120}
        await desk.press("c", "enter", "escape", "p", "space", "c", "enter")
        confirm.recover(priya)
        await desk.sees("rcpt_")
        assert receipts(laid) == 1
    priya.store.close()


async def test_after_p_one_place_says_what_is_read(laid: Desk, workspace: Path) -> None:
    """The line another wrote is on screen and seen: no header still says that it is to be read."""
    async with opened(workspace) as desk:
        await ready(desk)
        (workspace / ".aiwg/memory").mkdir(parents=True)
        (workspace / TEXT).write_text("By hand.\n")
        await desk.sees("STALE")
        await desk.press("p")
        await desk.sees("READY")
        header = next(r for r in desk.rows() if "moved under you since" in r)
        assert "seen all" in desk.rows()[-2] and "to be read" not in desk.text()
        assert "1 line ─" in header


async def test_an_enter_meant_for_the_write_opens_nothing_over_what_moved(
    laid: Desk, workspace: Path
) -> None:
    """Armed, stale, enter: a sentence, and p works at once; so it does over the meaning of the code."""
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c")
        (workspace / ".aiwg/memory").mkdir(parents=True)
        (workspace / TEXT).write_text("By hand.\n")
        await desk.sees("STALE")
        await desk.settle()
        await desk.press("enter")
        assert "nothing was written" in desk.rows()[-2] and len(desk.app.screen_stack) == 1
        await desk.press("enter")
        assert len(desk.app.screen_stack) == 2 and "p  preview again" in desk.text()
        await desk.press("p")
        await desk.sees("READY")
        assert len(desk.app.screen_stack) == 1 and receipts(laid) == 0


async def test_the_receipt_stands_beside_its_own_row(laid: Desk, workspace: Path) -> None:
    """Written: the row stays, dimmed, under the cursor; moving on leaves the receipt behind."""
    accept(laid, 1)
    accept(laid, 2)
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c", "enter")
        await desk.sees("WRITTEN")
        await desk.settle()
        row = desk.promotion.waiting
        assert row is not None and row.id == row_of(laid, 0).id
        assert "◉" in desk.row_of(STATEMENTS[0][:20]) and "To promote 2" in desk.rows()[1]
        assert desk.promotion.receipts[0].subject.startswith(row.id)
        await desk.press("j")
        assert not desk.promotion.receipts and "p shows the exact bytes" in desk.text()
        await desk.press("p")
        await desk.sees("READY")
        shown, row = desk.promotion.preview, desk.promotion.waiting
        assert shown is not None and row is not None and shown.candidate == row.id
        # What was written has left with its receipt.
        await desk.until(lambda: desk.promotion.list.total == 2)
        await desk.press("tab", "j")
        assert desk.promotion.preview is None and desk.promotion.list.index == 1


async def test_the_row_under_the_cursor_keeps_its_preview_whoever_writes(
    laid: Desk, workspace: Path
) -> None:
    """The previewed candidate is edited elsewhere: it leaves the queue, its row stays with the stale
    preview."""
    priya = other(workspace)
    accept(laid, 1)
    async with opened(workspace) as desk:
        await ready(desk)
        review.edit(priya, CandidateRef(row_of(laid).id, 1), STATEMENTS[0] + " (finance)")
        await desk.sees("STALE")
        await desk.settle()
        row, shown = desk.promotion.waiting, desk.promotion.preview
        assert row is not None and shown is not None and row.id == shown.candidate
    priya.store.close()


async def test_a_write_that_stopped_halfway_is_named_and_finished_by_p(
    laid: Desk, workspace: Path
) -> None:
    """Priya's confirm dies after the first file: not plain stale but unfinished, hers; p finishes it."""

    def die(name: str) -> None:
        if name == "exchanged-0":
            raise Killed

    priya = other(workspace)
    row = accept(priya, 3)
    hers = preview.build(priya, CandidateRef(row.id, row.version), "line-memory")
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c")
        with pytest.raises(Killed):
            confirm.confirm(replace(priya, on_step=die), hers.operation_id)
        await desk.sees("UNFINISHED")
        await desk.settle()
        bar = desk.rows()[-2]
        assert "operation.unfinished" in bar and hers.operation_id[3:11] in bar and "Priya" in bar
        assert "p  finish exactly that, then preview again" in desk.rows()[-1]
        await desk.press("c", "enter")
        assert "memdesk promotion retry" in " ".join(desk.text().split()) and receipts(laid) == 0
        await desk.press("p")
        await desk.sees("READY")
        assert receipts(laid) == 1
        assert (workspace / TEXT).read_text() == STATEMENTS[3] + "\n"
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text().splitlines() == [STATEMENTS[3], STATEMENTS[0]]
    priya.store.close()
