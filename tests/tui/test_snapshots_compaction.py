"""Pictures of the compaction pane: a cut by segment, its items, one item, the way back."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.evidence.import_ import import_paths
from tests.compaction import sessions
from tests.compaction.sessions import agent, boundary, call, owner, result, summary
from tests.conftest import REVIEWER, make_desk, write
from tests.tui.test_snapshots import SIZES, StillDesk, keys

RULE = "Mask IBANs in logs, all but the last 4 digits. Never log a full IBAN."
KEPT = "Always ask me before adding a dependency to pyproject.toml."
TASK = "Add the missing index on payouts.batch_id."


def lines() -> list[bytes]:
    """A session that lost a rule and a task, reworded one, kept one, and acted against one."""
    return [
        owner("rename the batch class to Settlement"),
        agent("Done in src/payouts/batch.py."),
        owner(RULE),
        agent("Logging the full payload for now."),
        owner(KEPT),
        owner("Always get a second approver for refunds above 500 EUR."),
        owner(TASK),
        call("t1", "Read", {"file_path": "/p/src/export.py"}),
        result("t1", "x" * 40_000),
        boundary(155_461),
        summary(f'All user messages: "{KEPT}"\nRefunds above 500 EUR got an approver.'),
        call(
            "t2",
            "Write",
            {"file_path": "/p/src/export.py", "content": "log.info('full IBAN', iban)"},
        ),
    ]


@pytest.fixture
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], StillDesk]:
    """A desk on two compacted sessions, equal in every run."""
    monkeypatch.setattr(os, "urandom", lambda size: b"\x07" * size)
    monkeypatch.setattr(sessions, "_UUIDS", itertools.count(1))
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "truecolor")
    root = tmp_path / "payments-api"

    def make() -> StillDesk:
        desk = make_desk(root)
        cut = [x.replace(b'"sessionId": "S"', b'"sessionId": "7acd37a8-0001"') for x in lines()]
        fine = [owner("Remember: tabs are four spaces wide."), boundary(90_000)]
        fine.append(summary("tabs are four spaces wide"))
        fine = [x.replace(b'"sessionId": "S"', b'"sessionId": "44c1e0a9-0002"') for x in fine]
        folder = root / ".sessions"
        import_paths(desk, [write(folder / "a.jsonl", *cut), write(folder / "b.jsonl", *fine)])
        desk.store.close()
        return StillDesk(root, reviewer=REVIEWER)

    return make


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param(("4",), id="cuts"),
        pytest.param(("4", "enter"), id="item"),
        pytest.param(("4", "enter", "right_square_bracket"), id="window"),
    ],
)
def test_a_state_at_each_size(
    snap_compare: Any, still: Callable[[], StillDesk], size: tuple[int, int], pressed: tuple[str]
) -> None:
    """What a reader of compactions sees."""
    assert snap_compare(still(), terminal_size=size, run_before=keys(*pressed))
