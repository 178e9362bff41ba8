"""Pictures of both panes in their states; a change of looks is a change somebody agreed to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from schemas.operations import OperationState
from tests.conftest import REVIEWER, START, make_desk
from tests.tui.conftest import STATEMENTS, Driver, lay
from tests.tui.test_promoting import TEXT
from tui.app import DeskApp
from tui.client import Client

LAID = (
    *STATEMENTS,
    "The sandbox key for payments is sk_test_" + "51HGfE2kZ8qvbN since May.",
    "Write to j.lindqvist@example.org when the export fails.",
    "Refunds above 250 EUR need a second approver.",
    "決済バッチは銀行営業日の17時に締め切られる、と決まっている。",
)
TWO_HOURS = 7_200_000_000
SIZES = ((80, 24), (120, 40))


class StillDesk(DeskApp):
    """The desk with a clock that stands still and a root that has no random part."""

    # Textual looks for a relative path beside the subclass.
    CSS_PATH = DeskApp.CSS_PATH

    def _make_client(self) -> Client:
        client = super()._make_client()
        client.desk = replace(client.desk, clock=lambda: START + TWO_HOURS)
        found = client.status()
        client.status = lambda: found.model_copy(  # type: ignore[method-assign]
            update={"root": "/srv/payments-api"}
        )
        return client


@pytest.fixture
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., StillDesk]:
    """A desk on a workspace with equal ids, secret and times in every run."""
    monkeypatch.setattr(os, "urandom", lambda size: b"\x07" * size)
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "truecolor")
    root = tmp_path / "payments-api"

    def make(statements: tuple[str, ...] = LAID) -> StillDesk:
        (lay(root, statements) if statements else make_desk(root)).store.close()
        return StillDesk(root, reviewer=REVIEWER)

    return make


def keys(*names: str) -> Callable[[Pilot[int]], Any]:
    """Press these keys once the desk is open."""

    async def run(pilot: Pilot[int]) -> None:
        desk = Driver(pilot.app, pilot)  # type: ignore[arg-type]
        await desk.until(lambda: desk.app.client is not None)
        await desk.settle()
        await desk.press(*names)

    return run


def stale(*names: str) -> Callable[[Pilot[int]], Any]:
    """The same, then the target is edited by hand."""

    async def run(pilot: Pilot[int]) -> None:
        await keys(*names)(pilot)
        desk = Driver(pilot.app, pilot)  # type: ignore[arg-type]
        memory = desk.app._root / TEXT
        memory.parent.mkdir(parents=True)
        memory.write_text("By hand.\n")
        await desk.sees("STALE")
        await desk.settle()

    return run


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param((), id="list"),
        pytest.param(("a", "r", "d"), id="decided"),
        pytest.param(("G", "k", "k", "k", "a"), id="hazard"),
        pytest.param(("A",), id="ready"),
        pytest.param(("A", "c"), id="armed"),
        pytest.param(("A", "c", "enter"), id="written"),
        pytest.param(("question_mark",), id="help"),
    ],
)
def test_a_state_at_both_sizes(
    snap_compare: Any, still: Callable[..., StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """What most people see most of the time."""
    assert snap_compare(still(), terminal_size=size, run_before=keys(*pressed))


@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param(("r", "u", "right_square_bracket"), id="diff"),
        pytest.param(("r", "u", "left_square_bracket"), id="history"),
        pytest.param(("G", "k", "k", "a"), id="acknowledge"),
        pytest.param(("slash", "z", "z"), id="nothing-found"),
        pytest.param(("A", "z", "G"), id="unfolded"),
        pytest.param(("A", "c", "enter", "left_square_bracket"), id="receipts"),
        pytest.param(("0",), id="status"),
    ],
)
def test_a_state_on_the_wide_screen(
    snap_compare: Any, still: Callable[..., StillDesk], pressed: tuple[str]
) -> None:
    """The others once."""
    assert snap_compare(still(), terminal_size=(120, 40), run_before=keys(*pressed))


@pytest.mark.parametrize(
    ("size", "pressed"),
    [
        pytest.param((120, 40), ("A", "s", "z", "G"), id="split-120x40"),
        pytest.param((200, 60), ("A", "s", "z"), id="split-200x60"),
        pytest.param((80, 24), ("a", "2", "P", "p"), id="wiki-80x24"),
        pytest.param((120, 40), ("A", "c", "enter", "right_square_bracket"), id="outbox-120x40"),
        pytest.param((120, 40), ("A", "c", "enter", "left_square_bracket"), id="memory-120x40"),
    ],
)
def test_more_of_promotion(
    snap_compare: Any, still: Callable[..., StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """Two sides, a page of the wiki, what was written and what is held."""
    assert snap_compare(still(), terminal_size=size, run_before=keys(*pressed))


def test_a_diverged_write(snap_compare: Any, still: Callable[..., StillDesk]) -> None:
    """Both versions stand below each other."""

    async def run(pilot: Pilot[int]) -> None:
        await keys("A")(pilot)
        desk = Driver(pilot.app, pilot)  # type: ignore[arg-type]
        shown, client = desk.promotion.preview, desk.app.client
        assert shown is not None and client is not None
        with client.desk.store.write() as unit:
            unit.operations.keep_divergence(shown.operation_id, TEXT, b"Theirs.\n", b"Ours.\n")
            ended = OperationState.DIVERGED
            unit.operations.finish(shown.operation_id, ended, "operation.diverged")
        await desk.press("escape", "right_square_bracket")
        await desk.sees("DIVERGED")
        await desk.settle()

    assert snap_compare(still(), terminal_size=(120, 40), run_before=run)


def test_an_empty_desk(snap_compare: Any, still: Callable[..., StillDesk]) -> None:
    """Nothing imported yet: what fills it."""
    assert snap_compare(still(()), terminal_size=(80, 24), run_before=keys())


@pytest.mark.parametrize("size", [*SIZES, (200, 60)], ids=["80x24", "120x40", "200x60"])
def test_a_stale_preview(
    snap_compare: Any, still: Callable[..., StillDesk], size: tuple[int, int]
) -> None:
    """Changed under the reader."""
    assert snap_compare(still(), terminal_size=size, run_before=stale("A", "c"))


def test_an_unseen_preview(snap_compare: Any, still: Callable[..., StillDesk]) -> None:
    """On a small screen there is more to see."""
    long = "The settlement job " + "reads every ledger entry of the day and " * 8 + "stops."
    assert snap_compare(still((long,)), terminal_size=(40, 10), run_before=keys("A"))


def test_a_blocked_preview(
    snap_compare: Any, still: Callable[..., StillDesk], tmp_path: Path
) -> None:
    """A full line memory."""
    memory = tmp_path / "payments-api" / TEXT
    memory.parent.mkdir(parents=True)
    memory.write_text("".join(f"line {n}\n" for n in range(200)))
    assert snap_compare(still(), terminal_size=(120, 40), run_before=keys("A"))
