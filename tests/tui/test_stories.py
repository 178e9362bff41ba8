"""Acceptance stories of the screen, played by keys on the sample workspace that `demo` lays."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from core.commands import demo
from core.commands.entry import main
from core.verify import verify
from schemas.common import Page
from schemas.storage import CandidateFilter
from tests.tui.conftest import opened, other


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample workspace, laid by public commands."""
    folder = tmp_path / "payments-api"
    assert main(lambda *_: 0, ["demo", str(folder), "--no-ui"]) == 0
    return folder


def outside(folder: Path) -> dict[str, str]:
    """Digests of every file that is not the desk's own."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file() and ".memdesk" not in p.parts
    }


async def test_forty_in_twelve_keys(sample: Path) -> None:
    """Story 2: forty candidates, twelve keys, no file outside `.memdesk/` changed."""
    before = outside(sample)
    async with opened(sample, reviewer=demo.MARA) as desk:
        await desk.sees("1 Candidates 40")
        keys = ["a", "d", "a", "a", "r", "d", "a", "r", "r", "enter", "r", "enter"]
        await desk.press(*keys[:9])
        assert "REJECT 11" in desk.rows()[-2] and "0 hidden" in desk.rows()[-2]
        await desk.press(*keys[9:11])
        assert "REJECT 21" in desk.rows()[-2] and "0 hidden" in desk.rows()[-2]
        await desk.press(keys[11])
        await desk.sees("1 Candidates 0")
        await desk.sees("2 Promotion 10")
    seen = other(sample)
    with seen.store.read() as view:
        counts = view.candidates.counts()
        named = [v for v in view.candidates.last_decisions(40) if v.decision and v.decision.batch]
    assert counts == {"accepted": 10, "deferred": 11, "promoted": 7, "rejected": 36}
    assert {v.decision.reason for v in named if v.decision} == {
        "one-off requests",
        "restated by agents",
    }
    assert len(keys) <= 0.4 * 40, "keys a decision"
    assert len(named) == 32 and verify(seen).ok and outside(sample) == before
    seen.store.close()


async def test_a_group_is_undone_with_one_key(sample: Path) -> None:
    """What one key decided on a group, one key takes back, and nothing else."""
    async with opened(sample, reviewer=demo.MARA) as desk:
        await desk.sees("1 Candidates 40")
        await desk.press("G", "r", "enter")
        await desk.sees("1 Candidates 19")
        await desk.press("u")
        await desk.sees("1 Candidates 40")
        assert "21 are pending again" in desk.rows()[-2]


async def test_hidden_marks_are_counted_before_anything_happens(sample: Path) -> None:
    """Story 7: marks that a filter hides are named in the bar; undo marks them again."""
    async with opened(sample, reviewer=demo.MARA) as desk:
        await desk.sees("1 Candidates 40")
        await desk.press("space", "space", "slash", *"webhook", "enter", "r")
        assert "REJECT 2 marked" in desk.rows()[-2] and "2 hidden" in desk.rows()[-2]
        await desk.press("escape")
        assert len(desk.candidates.marks) == 2
        await desk.press("escape", "r", "enter")
        await desk.sees("1 Candidates 38")
        await desk.press("u")
        await desk.sees("1 Candidates 40")
        assert len(desk.candidates.marks) == 2
    async with opened(sample, reviewer=demo.MARA) as desk:
        await desk.sees("1 Candidates 40")
        await desk.press("space", "space", "r", "enter")
        await desk.sees("1 Candidates 38")
    async with opened(sample, reviewer=demo.MARA) as desk:
        await desk.sees("1 Candidates 38")
        await desk.press("u")
        await desk.sees("1 Candidates 40")
        assert len(desk.candidates.marks) == 2


def test_the_sample_is_what_the_drawings_show(sample: Path) -> None:
    """Groups of 2, 4, 2, 11 and 21; six accepted, nine deferred; it verifies."""
    seen = other(sample)
    with seen.store.read() as view:
        assert view.candidates.groups(CandidateFilter()) == {0: 2, 1: 4, 2: 2, 3: 11, 4: 21}
        assert view.candidates.counts()["accepted"] == 6
        assert view.candidates.counts()["deferred"] == 9
    assert verify(seen).ok
    seen.store.close()


async def test_from_candidate_to_receipt_in_four_keys(sample: Path) -> None:
    """Story 3: accept and preview, see the rest, arm, confirm. Counted as a person presses them."""
    pressed: list[str] = []
    async with opened(sample, reviewer=demo.MARA) as desk:
        await desk.sees("1 Candidates 40")
        for key in ("A", "space", "c", "enter"):
            if key == "space" and "READY" in desk.rows()[-2]:
                continue
            pressed.append(key)
            await desk.press(key)
            if key == "A":
                await desk.until(lambda: desk.promotion.preview is not None)
                shown = desk.promotion.preview
        await desk.until(lambda: "WRITTEN" in desk.text() or "rcpt_" in desk.text())
        written = outside(sample)
        await desk.press("enter")
        assert outside(sample) == written, "a second enter writes nothing"
        await desk.press("1", "u")
        assert "undo.promoted" in desk.text()
    assert shown is not None
    assert {t.path: t.after_digest for t in shown.targets} == {
        t.path: "sha256:" + written[t.path] for t in shown.targets
    }
    seen = other(sample)
    with seen.store.read() as view:
        assert view.operations.receipt_count() == len(demo.PROMOTED) + 1
        (ended,) = shown.supersedes
        belief = view.promotion.belief(ended)
        fences, _ = view.sources.fences(Page(limit=10))
    assert belief is not None and "250 EUR" in belief.statement
    assert [at.state.value for at in belief.consumers] == ["superseded"]
    assert [f.event for f in fences] == list(shown.closes)
    assert [f.cut for f in fences] == [shown.operation_id]
    assert len(pressed) <= 4 and verify(seen).ok
    seen.store.close()
