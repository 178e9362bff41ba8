"""The first row and the last two: labels that fit, messages that end with their moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.candidates import review
from core.candidates.review import CandidateRef
from core.ports import Desk
from tests.tui.conftest import STATEMENTS, lay, opened, other
from tests.tui.test_keys_told import SECRET
from tests.tui.test_promoting import accept, promote, ready, row_of
from tui.widgets.lines import width_of
from tui.widgets.tabs import NAMES, tabs


@pytest.mark.parametrize("active", sorted(NAMES))
@pytest.mark.parametrize("width", [30, 60, 80, 100, 120, 200])
def test_every_width_has_as_many_labels_as_fit(active: int, width: int) -> None:
    """All digits, the pane in front by name, and no label left out that had room."""
    counts = {1: 40, 2: 7}
    cells = tabs(counts, active, width)
    text = "".join(t for t, _ in cells)
    assert width_of(cells) <= width or width == 30
    assert f"[{active} {NAMES[active]}" in text and all(str(n) in text for n in NAMES)
    if width >= 80:
        named = [n for n in (1, 2, 3, 4, active) if NAMES[n] in text]
        assert named == [1, 2, 3, 4, active], text
    if width >= 120:
        assert all(name in text for name in NAMES.values())


async def test_labels_follow_the_width(laid: Desk, workspace: Path) -> None:
    """Wide, narrow and wide again: the row is laid for the width it has now."""
    async with opened(workspace) as desk:
        wide = desk.rows()[0].rstrip()
        await desk.press("0")
        await desk.resize(80, 24)
        assert "1 Candidates" in desk.rows()[0] and "[0 Status]" in desk.rows()[0]
        await desk.press("7")
        assert "[7 Evidence]" in desk.rows()[0] and "4 Compaction" in desk.rows()[0]
        await desk.press("1")
        await desk.resize(120, 40)
        assert desk.rows()[0].rstrip() == wide


async def test_a_message_ends_with_its_moment(laid: Desk, workspace: Path) -> None:
    """A refused answer goes with its question, a choice with its pane; a decision stays."""
    async with opened(workspace) as desk:
        await desk.press("s", *"blursday", "enter")
        assert "defer.date" in desk.rows()[-2]
        await desk.press("escape")
        assert "defer.date" not in desk.rows()[-2] and "Ana" in desk.rows()[-2]
        await desk.press("a", "j", "k")
        assert "accepted" in desk.rows()[-2], (
            "what was decided is said until something else happens"
        )
        await desk.press("2", "P")
        assert "goes to wiki" in desk.rows()[-2]
        await desk.press("1")
        assert "goes to" not in desk.rows()[-2]


async def test_a_refusal_stays_with_its_row(workspace: Path) -> None:
    """Refused on one row: on the next one the sentence is gone, and the reviewer is named again."""
    made = lay(workspace, [SECRET, *STATEMENTS[:2]])
    async with opened(workspace, (80, 24)) as desk:
        await desk.press("a")
        assert "hazard.secret" in desk.rows()[-2]
        await desk.press("j")
        assert "hazard.secret" not in desk.rows()[-2]
        assert "project" in desk.rows()[-2] and "Ana" in desk.rows()[-2]
        await desk.press("a")
        assert "accepted" in desk.rows()[-2] and "Ana" in desk.rows()[-2]
    made.store.close()


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_the_bar_of_a_stale_preview_is_cut_nowhere(
    laid: Desk, workspace: Path, width: int
) -> None:
    """Whatever moved, and by whomever: whole sentences and whole keys at every width."""
    priya = other(workspace, "Priya Raghunathan-Montgomery <priya@example.org>")
    async with opened(workspace, (width, 24)) as desk:
        await ready(desk)
        promote(priya, 3)
        await desk.sees("STALE")
        await desk.settle()
        assert "…" not in desk.rows()[-2] + desk.rows()[-1]
        assert "p  preview again" in desk.rows()[-1]
        review.edit(priya, CandidateRef(row_of(laid).id, 1), STATEMENTS[0] + " (finance)")
        await desk.until(lambda: "candidate" in desk.rows()[-2])
        await desk.settle()
        assert "…" not in desk.rows()[-2] + desk.rows()[-1]
    priya.store.close()


async def test_the_bar_offers_to_unfold_where_something_is_folded(
    laid: Desk, workspace: Path
) -> None:
    """Line memory has a sidecar, a wiki page has none; unfolded, the key folds."""
    accept(laid, 1)
    async with opened(workspace, (120, 60)) as desk:
        await ready(desk)
        assert "z  unfold" in desk.rows()[-1]
        await desk.press("z")
        await desk.until(lambda: "z  fold" in desk.rows()[-1])
        await desk.press("P")
        await desk.until(lambda: desk.promotion.preview is not None)
        await desk.until(lambda: "wiki" in desk.rows()[2] or "wiki" in desk.text())
        await desk.settle()
        assert desk.promotion.preview is not None and desk.promotion.preview.consumer == "wiki"
        assert "z  " not in desk.rows()[-1]
