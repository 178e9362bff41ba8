"""Pictures of the evidence pane in its main states."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.candidates.extract import extract
from tests.conftest import REVIEWER, make_desk
from tests.tui.talks import everything, lay_talk, many, owner
from tests.tui.test_snapshots import StillDesk, keys

SIZES = ((80, 24), (120, 40), (200, 60))
IDS = ["80x24", "120x40", "200x60"]
ASKED = "Remember: refunds above 500 EUR need a second approver."


@pytest.fixture
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], StillDesk]:
    """A desk on three sessions and one candidate, equal in every run."""
    monkeypatch.setattr(os, "urandom", lambda size: b"\x07" * size)
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "truecolor")
    root = tmp_path / "payments-api"

    def make() -> StillDesk:
        desk = make_desk(root)
        asked = owner("u8", ASKED, timestamp="2026-01-02T03:05:00.000Z")
        lay_talk(desk, *everything(), asked)
        lay_talk(desk, *many(120, "ffff0000-b"), name="b.jsonl")
        extract(desk)
        desk.store.close()
        return StillDesk(root, reviewer=REVIEWER)

    return make


@pytest.mark.parametrize("size", SIZES, ids=IDS)
@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param(("7",), id="sessions"),
        pytest.param(("7", "j", "enter"), id="conversation"),
        pytest.param(("o", "d"), id="depends"),
        pytest.param(
            ("7", "F", *("n", "u", "m", "b", "e", "r", "space", "1"), "enter"), id="search"
        ),
    ],
)
def test_a_state_at_each_size(
    snap_compare: Any, still: Callable[[], StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """What a reader of evidence sees."""
    assert snap_compare(still(), terminal_size=size, run_before=keys(*pressed))


@pytest.mark.parametrize(
    ("size", "pressed"),
    [
        pytest.param((120, 40), ("7", "j", "enter", "j", "enter", *"jjj", "enter"), id="unfolded"),
        pytest.param((80, 24), ("7", "j", "enter", "j", "j", "tab"), id="detail-80x24"),
        pytest.param((80, 24), ("o",), id="source-80x24"),
        pytest.param((120, 40), ("7", "j", "enter", "v"), id="whole"),
        pytest.param((120, 40), ("7", "slash", "z", "z"), id="nothing-found"),
        pytest.param((80, 24), ("7", "j", "enter", "m"), id="ask-80x24"),
    ],
)
def test_more_of_evidence(
    snap_compare: Any, still: Callable[[], StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """The others once."""
    assert snap_compare(still(), terminal_size=size, run_before=keys(*pressed))


@pytest.mark.parametrize("look", ["ascii", "light"])
def test_other_looks(snap_compare: Any, still: Callable[[], StillDesk], look: str) -> None:
    """Without Unicode, and on a light ground."""
    app = still()
    if look == "ascii":
        app._draw_ascii(True)
    else:
        app.theme = "memdesk-light"
    assert snap_compare(app, terminal_size=(120, 40), run_before=keys("7", "j", "enter"))
