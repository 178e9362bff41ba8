"""Beliefs at the desk: superseded by a promotion, kept beside it, revoked, archived, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ports import Desk
from core.promotion import preview
from schemas.common import Page
from tests.making import ref
from tests.promotion.test_lifecycle import NEW, OLD, accepted, lines, promoted, state
from tests.tui.conftest import Driver, opened


async def whole(desk: Driver) -> None:
    """Read the preview on screen to its end."""
    await desk.until(lambda: desk.promotion.preview is not None)
    while "READY" not in desk.text():
        await desk.press("space")


async def test_a_promotion_names_what_it_supersedes_and_closes(laid: Desk, workspace: Path) -> None:
    """In the effects, in the armed bar and, once written, in the list of what is in memory."""
    _, first = promoted(laid, OLD)
    new = accepted(laid, NEW)
    async with opened(workspace, size=(120, 40)) as desk:
        await desk.press("2", "p")
        await whole(desk)
        assert "» supersedes  bel_" in desk.text() and "⊘ closes for good  session:" in desk.text()
        assert "keep both" in desk.rows()[-1]
        await desk.press("c")
        assert "supersede 1 belief" in desk.text() and "close 1 source for good" in desk.text()
        await desk.press("enter")
        await desk.sees("WRITTEN")
        await desk.sees("as written")
        await desk.press("escape", "left_square_bracket")
        await desk.sees("1 ended")
        assert "superseded line-memory" in desk.row_of(OLD[:20])
    assert (lines(laid), state(laid, first.belief)) == ([NEW], "superseded")
    with laid.store.read() as view:
        assert view.sources.fence_count() == 1
    assert new.version == 1


async def test_b_keeps_both_and_back(laid: Desk, workspace: Path) -> None:
    """One key to keep what is contradicted, the same key to supersede it after all."""
    promoted(laid, OLD)
    shown = preview.exact(laid, ref(accepted(laid, NEW)), "line-memory").preview
    async with opened(workspace, size=(120, 40)) as desk:
        await desk.press("2", "p")
        await whole(desk)
        await desk.press("b")
        await desk.until(lambda: "supersede it" in desk.rows()[-1])
        assert desk.promotion.preview is not None and desk.promotion.preview.supersedes == ()
        await desk.press("b")
        await desk.until(lambda: "keep both" in desk.rows()[-1])
        assert desk.promotion.preview.operation_id == shown.operation_id
        await desk.press("b")
        await desk.until(lambda: "supersede it" in desk.rows()[-1])
        await whole(desk)
        await desk.press("c", "enter")
        await desk.sees("WRITTEN")
    assert lines(laid) == [OLD, NEW]


@pytest.mark.parametrize(
    ("key", "action", "ended"),
    [("r", "revoke", "revoked"), ("a", "archive", "archived"), ("x", "remove", "removed")],
)
async def test_a_belief_ends_from_its_row(
    laid: Desk, workspace: Path, key: str, action: str, ended: str
) -> None:
    """Why, the exact preview, armed and entered; the row stays with its state and its receipts."""
    _, first = promoted(laid, OLD)
    async with opened(workspace) as desk:
        await desk.press("2", "left_square_bracket")
        await desk.sees(OLD[:20])
        assert f"{key} {action}" in desk.rows()[-1]
        await desk.press(key, "escape")
        assert desk.promotion.preview is None
        await desk.press(key, *"moved", "enter")
        await whole(desk)
        shown = desk.promotion.preview
        assert shown is not None and (shown.reason, shown.action) == ("moved", action)
        await desk.press("c")
        assert f"{action} 1 belief" in desk.text() and "close 1 source for good" in desk.text()
        assert state(laid, first.belief) == "active"
        await desk.press("enter")
        await desk.sees("WRITTEN")
        await desk.press("escape")
        await desk.sees("1 ended")
        assert f"{ended} line-memory" in desk.row_of(OLD[:20])
        await desk.press(key)
        assert f"it is {ended} already" in desk.text()
    assert (lines(laid), state(laid, first.belief)) == ([], ended)


async def test_an_owners_change_is_seen_in_the_list(laid: Desk, workspace: Path) -> None:
    """The row says drifted and its detail that nothing overwrites it; its message is closed."""
    version, _ = promoted(laid, OLD)
    (workspace / ".aiwg/memory/line-memory.txt").write_text("Other words.\n")
    async with opened(workspace, size=(120, 40)) as desk:
        await desk.press("2", "left_square_bracket")
        await desk.sees("drifted line-memory")
        assert "never overwritten" in desk.text()
    with laid.store.read() as view:
        fences, _ = view.sources.fences(Page(limit=9))
    assert [(f.event, f.cause) for f in fences] == [(version.sources[0].event, "belief.drifted")]
