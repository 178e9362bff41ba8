"""`B`: one preview for all that wait, each to its consumer, and how it ends."""

from __future__ import annotations

from pathlib import Path

from core.candidates import propose, review
from core.candidates.review import CandidateRef
from core.ports import Desk
from schemas.candidates import CandidateKind, Verdict
from schemas.common import Classification, Page
from tests.tui.conftest import STATEMENTS, opened, other
from tests.tui.test_promoting import TEXT, accept, files, receipts


async def test_all_that_wait_are_read_and_written_at_once(laid: Desk, workspace: Path) -> None:
    """P sends one to the wiki; the preview shows every diff, the write leaves a receipt for each."""
    rows = [accept(laid, n) for n in range(3)]
    async with opened(workspace, size=(120, 40)) as desk:
        await desk.press("2", "P")
        assert "goes to wiki" in desk.text()
        await desk.press("B")
        await desk.until(lambda: desk.promotion.preview is not None)
        shown = desk.promotion.preview
        assert shown is not None
        assert sorted(v.consumer for v in shown.versions) == ["line-memory", "line-memory", "wiki"]
        assert "3 candidates" in desk.text() and "line-memory+wiki" in desk.text()
        assert files(workspace) == {}
        while "READY" not in desk.text():
            await desk.press("space")
        await desk.press("c")
        assert "write 3 files to line-memory+wiki" in desk.text()
        assert "3 statements" in desk.text()
        await desk.press("enter")
        await desk.until(lambda: "WRITTEN" in desk.text())
        assert receipts(laid) == 2
        assert desk.promotion.list.total == 0
        assert sum(f"rcpt_{r.receipt_id[5:]}" in desk.text() for r in desk.promotion.receipts)
    lines = (workspace / TEXT).read_text().splitlines()
    (page,) = (workspace / ".aiwg/wiki/summaries").iterdir()
    assert len(lines) == 2
    assert sorted(lines) == sorted(r.statement for r in rows if r.statement in lines)
    assert any(r.statement in page.read_text().replace("\\", "") for r in rows)


async def test_a_stale_whole_is_read_on_where_it_was_left(laid: Desk, workspace: Path) -> None:
    """Another desk edits one of them: p leaves that one out, what was read of the others stays."""
    rows = [accept(laid, n) for n in range(3)]
    async with opened(workspace, size=(120, 40)) as desk:
        await desk.press("2", "B")
        while "READY" not in desk.text():
            await desk.press("space")
        priya = other(workspace)
        review.edit(priya, CandidateRef(rows[0].id, rows[0].version), "Other words now.")
        await desk.sees("STALE")
        assert "candidate" in desk.text()
        assert "p leaves out what can't be written any more" in desk.text()
        await desk.press("p")
        await desk.sees("2 candidates")
        assert "READY" not in desk.text() or "seen all" in desk.text()
        assert files(workspace) == {}
        priya.store.close()


async def test_what_can_not_be_promoted_is_left_out_and_named(laid: Desk, workspace: Path) -> None:
    """With nothing that waits, with nothing that may go, and with some that may, B says so."""
    with laid.store.read() as view:
        (source, *_), _ = view.evidence.events(Page(limit=1), author="owner")
    kept = propose.propose(
        laid, text="Customer names are on staging.", kind=CandidateKind.PROJECT_FACT, key=None,
        sources=[source.id], classification=Classification.RESTRICTED,
    )  # fmt: skip
    async with opened(workspace) as desk:
        await desk.press("2", "B")
        assert "nothing is accepted" in desk.text()
        review.decide(laid, CandidateRef(kept.id, 1), Verdict.ACCEPT)
        await desk.until(lambda: desk.promotion.list.total == 1)
        await desk.press("B")
        assert "promotion.none-free" in desk.text()
        accept(laid, 0)
        await desk.until(lambda: desk.promotion.list.total == 2)
        await desk.press("B")
        await desk.sees("1 candidate left out: promotion.classification")
        shown = desk.promotion.preview
        assert shown is not None and [v.statement for v in shown.versions] == [STATEMENTS[0]]
