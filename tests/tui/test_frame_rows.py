"""The first row and the last two: labels that fit, messages that end with their moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.candidates import review
from core.candidates.review import CandidateRef
from core.ports import Desk
from schemas.errors import Unusable
from tests.tui.conftest import STATEMENTS, lay, opened, other
from tests.tui.test_keys_told import SECRET
from tests.tui.test_promoting import accept, promote, ready, row_of
from tui.widgets.lines import width_of
from tui.widgets.tabs import BRIEF, NAMES, tabs


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
        assert all(f"{n} {NAMES[n]}" in text or f"{n} {BRIEF[n]}" in text for n in NAMES), text
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
        assert "[7 Evidence]" in desk.rows()[0] and "6 Out" in desk.rows()[0]
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
        assert "hazard.secret" in desk.told()
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


async def test_what_is_said_is_told_to_its_end_at_80_columns(laid: Desk, workspace: Path) -> None:
    """A refusal with its remedy takes the rows it needs over the pane; nothing above moves."""
    async with opened(workspace, size=(80, 24)) as desk:
        above = desk.rows()[:12]
        for code in ("store.read-only", "candidate.second-source", "preview.stale"):
            err = Unusable(code)
            desk.app.pane.refused(err)
            await desk.settle()
            assert desk.told() == f"{code}: {err.message} {err.remedy}"
            assert desk.rows()[:12] == above and "? help" in desk.rows()[-1]
        await desk.press("j")
        assert "preview.stale" not in desk.text()
        assert len(desk.rows()) == 24 and "project" in desk.rows()[-2]


async def test_a_long_message_covers_no_change_that_must_be_seen(workspace: Path) -> None:
    """Over a preview the message takes its rows from the text: what it hides is not seen."""
    made = lay(
        workspace, ["The settlement job " + "reads every entry of the day and " * 9 + "stops."]
    )
    async with opened(workspace, (60, 20)) as desk:
        await desk.press("A")
        await desk.until(lambda: desk.promotion.preview is not None)
        before = desk.promotion.detail.size.height
        desk.promotion.refused(Unusable("store.read-only"))
        await desk.settle()
        taken = len(desk.told()) // 60
        assert taken >= 2 and desk.promotion.detail.size.height <= before - taken
        assert "nothing is wrong with the store." in desk.told()
        while not desk.promotion.detail.seen_all:
            await desk.press("space")
        desk.promotion.refused(Unusable("store.read-only"))
        await desk.settle()
        await desk.press("c")
        assert "ARMED" in desk.told() and desk.promotion.detail.size.height == before
        await desk.press("c")
        assert "READY" in desk.told()
    made.store.close()


@pytest.mark.parametrize("size", [(20, 4), (20, 6), (40, 7)])
async def test_the_smallest_screen_shows_rows(
    laid: Desk, workspace: Path, size: tuple[int, int]
) -> None:
    """Where there is hardly room the list has it, and says what a key did."""
    async with opened(workspace, size) as desk:
        assert "❯" in desk.text() and len(desk.rows()) == size[1]
        await desk.press("j")
        assert any("❯" in r and "◦" in r for r in desk.rows())
        await desk.press("a")
        assert "accepted" in desk.rows()[-1] or "✓" in desk.rows()[-1]
        assert desk.widths() == {size[0]}
        await desk.resize(80, 24)
        assert "needs you 5" in desk.rows()[1]
