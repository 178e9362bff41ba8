"""Pictures of the candidates pane in its states, at three sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tui.test_snapshots import LAID, StillDesk, keys, still

__all__ = ["still"]

NEAR = (*LAID, "The webhook secret rotates on the first of each month.")
STATES = [
    pytest.param(("G",), id="near"),
    pytest.param(("R", *"old", "enter", "a", "s", *"2027-01-04", "enter", "r"), id="asked"),
    pytest.param(("space", "space", "s", *"2027-01-04", "enter"), id="marks"),
]


@pytest.mark.parametrize(
    "size", [(80, 24), (120, 40), (200, 60)], ids=["80x24", "120x40", "200x60"]
)
@pytest.mark.parametrize("pressed", STATES)
def test_a_state_at_three_sizes(
    snap_compare: Any, still: Callable[..., StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """What is beside the decision, decisions with words, a decision on many."""
    assert snap_compare(still(NEAR), terminal_size=size, run_before=keys(*pressed))


@pytest.mark.parametrize(
    ("size", "pressed"),
    [
        pytest.param((200, 60), (), id="list-200x60"),
        pytest.param((120, 40), ("G", "right_square_bracket"), id="near-tab"),
        pytest.param((120, 40), ("S", "S"), id="by-kind"),
        pytest.param((80, 24), ("s", *"mon"), id="asking"),
        pytest.param((80, 24), ("k",), id="group"),
    ],
)
def test_a_state_once(
    snap_compare: Any, still: Callable[..., StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """The others where they show most."""
    assert snap_compare(still(NEAR), terminal_size=size, run_before=keys(*pressed))
