"""The exact preview: seen, armed, confirmed once; stale in every way it can be."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from textual import events

from core.candidates import review
from core.candidates.review import CandidateRef
from core.operations import confirm
from core.ports import Desk
from core.promotion import preview
from schemas.candidates import CandidateRow, Verdict
from schemas.storage import CandidateFilter
from tests.tui.conftest import STATEMENTS, Driver, lay, opened, other

TEXT = ".aiwg/memory/line-memory.txt"
META = ".aiwg/memory/line-memory.meta.json"


def row_of(desk: Desk, n: int = 0) -> CandidateRow:
    """The n-th candidate as the store has it."""
    with desk.store.read() as view:
        return view.candidates.window(CandidateFilter(()), 0, 1000)[n]


def accept(desk: Desk, n: int = 0) -> CandidateRow:
    """Accept the n-th candidate by a core call."""
    row = row_of(desk, n)
    review.decide(desk, CandidateRef(row.id, row.version), Verdict.ACCEPT)
    return row


def promote(desk: Desk, n: int) -> None:
    """Accept and promote the n-th candidate from another desk."""
    row = accept(desk, n)
    made = preview.build(desk, CandidateRef(row.id, row.version), "line-memory")
    confirm.confirm(desk, made.operation_id)


def files(root: Path) -> dict[str, bytes]:
    """Every byte of the project outside .memdesk/ and the sessions."""
    apart = {".memdesk", ".sessions"}
    found = (p for p in root.rglob("*") if p.is_file() and not apart & set(p.parts))
    return {str(p.relative_to(root)): p.read_bytes() for p in found if not p.name.endswith(".lock")}


def digests(root: Path) -> dict[str, str]:
    """SHA-256 of each file, computed here."""
    return {n: "sha256:" + sha256(data).hexdigest() for n, data in files(root).items()}


def receipts(desk: Desk) -> int:
    with desk.store.read() as view:
        return view.operations.receipt_count()


async def ready(desk: Driver) -> None:
    """A accepts the row and opens its preview; wait until all of it was seen."""
    await desk.press("A")
    await desk.sees("READY")


async def test_a_promotion_takes_four_keys_and_writes_the_previewed_bytes(
    laid: Desk, workspace: Path
) -> None:
    """A space c enter: both files have the after-digests of the preview; one receipt."""
    async with opened(workspace) as desk:
        await desk.press("A", "space")
        shown = desk.promotion.preview
        assert shown is not None and not (workspace / TEXT).exists()
        await desk.press("c")
        assert "ARMED  write 2 files to line-memory" in desk.rows()[-2]
        assert shown.operation_id[3:11] in desk.rows()[-1]
        assert files(workspace) == {}
        await desk.press("enter")
        wanted = {t.path: t.after_digest for t in shown.targets}
        assert digests(workspace) == wanted
        assert (workspace / TEXT).read_text() == STATEMENTS[0] + "\n"
        assert "WRITTEN rcpt_" in desk.rows()[-2]
        assert receipts(laid) == 1
        before = files(workspace)
        await desk.press("enter", "enter")
        assert files(workspace) == before and receipts(laid) == 1
        await desk.press("1", "u")
        assert "undo.promoted" in desk.told()


async def test_any_other_key_disarms(laid: Desk, workspace: Path) -> None:
    """j, q, a digit, esc, c, space: each only disarms, and nothing is written."""
    async with opened(workspace) as desk:
        await ready(desk)
        for key in ("j", "q", "1", "escape", "c", "space", "question_mark", "tab", "ctrl+c"):
            await desk.press("c")
            assert "ARMED" in desk.rows()[-2], key
            await desk.press(key)
            assert "READY" in desk.rows()[-2], key
            assert desk.app.active == 2 and len(desk.app.screen_stack) == 1
        assert files(workspace) == {} and receipts(laid) == 0


async def test_the_palette_a_click_and_another_focus_disarm(laid: Desk, workspace: Path) -> None:
    """Whatever takes the keys away disarms; enter in the palette confirms nothing."""
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c", "ctrl+p")
        await desk.press("escape")
        assert "READY" in desk.rows()[-2]
        await desk.press("c")
        await desk.pilot.click("#promotions")
        await desk.settle()
        assert "READY" in desk.rows()[-2]
        await desk.press("enter")
        assert receipts(laid) == 0


async def test_an_enter_before_the_bar_was_painted_does_not_count(
    laid: Desk, workspace: Path
) -> None:
    """c and enter in one burst: armed at most, never written."""
    async with opened(workspace) as desk:
        await ready(desk)
        for key, char in (("c", "c"), ("enter", "\r"), ("enter", "\r")):
            desk.app.post_message(events.Key(key, char))
        await desk.settle()
        assert receipts(laid) == 0 and files(workspace) == {}
        assert "ARMED" in desk.rows()[-2]


async def test_a_paste_with_newlines_confirms_nothing(laid: Desk, workspace: Path) -> None:
    """A paste is no key: it disarms."""
    async with opened(workspace) as desk:
        await ready(desk)
        desk.app.post_message(events.Paste("c\n\n"))
        await desk.settle()
        assert "READY" in desk.rows()[-2]
        await desk.press("c")
        desk.app.post_message(events.Paste("\n\r\n"))
        await desk.settle()
        assert receipts(laid) == 0 and "READY" in desk.rows()[-2]


async def test_nothing_is_armed_before_its_end_was_seen(workspace: Path) -> None:
    """On a small screen c jumps to the first unseen line instead; space goes on to the end."""
    long = "The settlement job " + "reads every ledger entry of the day and " * 11 + "stops."
    made = lay(workspace, [long[:390]])
    async with opened(workspace, (40, 10)) as desk:
        await desk.press("A")
        await desk.until(lambda: desk.promotion.preview is not None)
        assert "seen 0 of 1" in desk.rows()[-2]
        await desk.press("c")
        assert "ARMED" not in desk.text() and "not armed" in desk.told()
        assert any(r.startswith(" +") for r in desk.rows()), desk.text()
        seen = 0
        while "READY" not in desk.rows()[-2]:
            await desk.press("space")
            seen += 1
            assert seen < 20
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text() == long[:390].strip() + "\n"
    made.store.close()


async def stale_then_again(desk: Driver, laid: Desk, workspace: Path, name: str) -> None:
    """The screen names what moved, enter writes nothing, p shows a fresh preview."""
    await desk.sees("STALE")
    assert f"preview.stale: {name} changed" in desk.rows()[-2]
    before = files(workspace)
    await desk.press("c")
    assert "ARMED" not in desk.text()
    await desk.press("enter")
    assert "preview.stale" in desk.text()
    await desk.press("escape")
    assert files(workspace) == before
    await desk.press("p")
    await desk.sees("READY")


async def test_stale_by_hand_edit(laid: Desk, workspace: Path) -> None:
    """The target edited by hand while armed: named, disarmed; both lines afterwards."""
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c")
        (workspace / ".aiwg/memory").mkdir(parents=True)
        (workspace / TEXT).write_text("By hand.\n")
        await stale_then_again(desk, laid, workspace, "target")
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text() == f"By hand.\n{STATEMENTS[0]}\n"


async def test_stale_by_anothers_promotion(laid: Desk, workspace: Path) -> None:
    """Priya promotes another line: named; after p both lines stand once, with two receipts."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c")
        promote(priya, 3)
        await stale_then_again(desk, laid, workspace, "target")
        await desk.press("c", "enter")
        assert (workspace / TEXT).read_text().splitlines() == [STATEMENTS[3], STATEMENTS[0]]
        entries = json.loads((workspace / META).read_text())["entries"].values()
        assert sorted(e["value"] for e in entries) == sorted([STATEMENTS[3], STATEMENTS[0]])
        assert receipts(laid) == 2
    priya.store.close()


async def test_a_confirm_that_comes_after_the_change_writes_nothing(
    laid: Desk, workspace: Path
) -> None:
    """Changed between the last look and enter: core refuses, the bar says stale."""
    async with opened(workspace) as desk:
        await ready(desk)
        await desk.press("c")
        (workspace / ".aiwg/memory").mkdir(parents=True)
        (workspace / TEXT).write_text("By hand.\n")
        await desk.pilot.press("enter")
        await desk.sees("STALE")
        assert (workspace / TEXT).read_text() == "By hand.\n" and receipts(laid) == 0


async def test_stale_by_candidate_edit(laid: Desk, workspace: Path) -> None:
    """Another desk edits the candidate: named, and p says that the old version is gone."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await ready(desk)
        review.edit(priya, CandidateRef(row_of(laid).id, 1), STATEMENTS[0] + " (finance)")
        await desk.sees("STALE")
        assert "candidate changed" in desk.rows()[-2]
        assert "candidate.stale-version" in desk.text()
        await desk.press("c", "enter", "escape", "p")
        assert "candidate.stale-version" in desk.told()
        assert receipts(laid) == 0
    priya.store.close()


async def test_stale_by_policy_change(laid: Desk, workspace: Path) -> None:
    """The policy edited on disk under the open desk: named."""
    async with opened(workspace) as desk:
        await ready(desk)
        config = workspace / ".memdesk/config.toml"
        config.write_text(
            config.read_text().replace("statement_bytes = 500", "statement_bytes = 400")
        )
        await stale_then_again(desk, laid, workspace, "policy")
        await desk.press("c", "enter")
        assert receipts(laid) == 1


async def test_a_target_put_back_is_fresh_again(laid: Desk, workspace: Path) -> None:
    """Stale ends when the bytes are what they were; everything must be seen anew."""
    async with opened(workspace) as desk:
        await ready(desk)
        (workspace / ".aiwg/memory").mkdir(parents=True)
        (workspace / TEXT).write_text("By hand.\n")
        await desk.sees("STALE")
        (workspace / TEXT).unlink()
        await desk.sees("READY")


async def test_a_write_by_another_desk_shows_its_receipt(laid: Desk, workspace: Path) -> None:
    """The operation on screen confirmed elsewhere: the receipt stands in its place."""
    priya = other(workspace)
    async with opened(workspace) as desk:
        await ready(desk)
        shown = desk.promotion.preview
        assert shown is not None
        confirm.confirm(priya, shown.operation_id)
        await desk.sees("rcpt_")
        await desk.settle()
        assert "another desk" in desk.text()
        await desk.press("c", "enter")
        assert receipts(laid) == 1
    priya.store.close()


async def test_a_refused_destination_is_a_line_with_its_code(laid: Desk, workspace: Path) -> None:
    """The confirm fails: the code is on screen though the bar is held, and c arms again."""
    async with opened(workspace) as desk:
        await ready(desk)
        (workspace / ".aiwg/memory").mkdir(parents=True)
        await desk.settle()
        lock = workspace / ".aiwg/memory/line-memory.lock"
        lock.write_text('{"pid": 1}')
        await desk.press("c", "enter")
        assert ".busy" in desk.told() or "locked" in desk.told(), desk.text()
        assert receipts(laid) == 0
        lock.unlink()
        await desk.press("c", "enter")
        assert receipts(laid) == 1


async def test_lists_of_writes_and_receipts_keep_their_place(laid: Desk, workspace: Path) -> None:
    """] shows writes and receipts; a newer one comes on top and the cursor stays on its row."""
    priya = other(workspace)
    promote(priya, 1)
    promote(priya, 2)
    async with opened(workspace) as desk:
        await desk.press("2", "right_square_bracket", "right_square_bracket")
        assert "Receipts 2" in desk.rows()[1] and desk.promotion.list.total == 2
        assert "ledger" in desk.text() and TEXT in desk.text()
        await desk.press("j")
        named = desk.promotion.receipts
        promote(priya, 3)
        await desk.until(lambda: desk.promotion.list.total == 3)
        await desk.settle()
        assert desk.promotion.receipts == named and desk.promotion.list.index == 2
    priya.store.close()


async def test_a_blocked_preview_says_why(laid: Desk, workspace: Path) -> None:
    """A full line memory blocks: code in the bar, meaning on enter, nothing to arm."""
    (workspace / ".aiwg/memory").mkdir(parents=True)
    (workspace / TEXT).write_text("".join(f"line {n}\n" for n in range(200)))
    before = files(workspace)
    async with opened(workspace) as desk:
        await desk.press("A")
        await desk.sees("BLOCKED")
        assert "line-memory.full" in desk.told()
        await desk.press("c", "enter")
        assert "Why" in desk.text()
        assert files(workspace) == before


@pytest.mark.parametrize("tab", [1, 2])
async def test_a_preview_from_pane_one_comes_to_the_first_list(
    laid: Desk, workspace: Path, tab: int
) -> None:
    """Whatever list was in front, A shows the preview beside what waits, cursor on its row."""
    accept(laid, 0)
    async with opened(workspace) as desk:
        await desk.press("2", *["right_square_bracket"] * tab, "1", "j", "A")
        await desk.sees("READY")
        assert desk.promotion.tab == 0
        assert STATEMENTS[2] in desk.text().replace("·", " ")
        assert desk.promotion.list.index == 1
