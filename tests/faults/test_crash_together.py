"""SIGKILL at every step of one operation over two consumers: each ends exactly once (spec 5.4)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from core.operations import preview as operations
from core.operations.confirm import recover
from core.operations.together import confirm
from core.promotion import preview
from core.promotion.preview import Going
from core.verify import verify
from schemas.operations import OperationState
from tests.conftest import make_desk
from tests.faults import child
from tests.faults.test_crash import outbox, receipts
from tests.making import accepted, files, ref

EACH = ["temporary", "staged", "exchanged", "displaced-removed", "synced"]
LINE = ["journalled", *[f"{s}-{n}" for n in (0, 1) for s in EACH], "journal-removed", "written"]
WIKI = [f"{s}-0" for s in EACH]
STEPS = [
    "locked",
    "planned",
    "prepared",
    *LINE,
    "recorded",
    *WIKI,
    "written",
    "recorded",
    "settled",
]


def named() -> list[str]:
    """Each step by its name and which time it comes."""
    out: list[str] = []
    for n, step in enumerate(STEPS):
        turn = STEPS[:n].count(step) + 1
        out.append(step if turn == 1 else f"{step}#{turn}")
    return out


def test_the_steps_are_the_ones_named_here(workspace: Path) -> None:
    """One undisturbed run reaches every step in order, so the matrix leaves none out."""
    desk = make_desk(workspace)
    going = [Going(ref(accepted(desk, "One.")), "line-memory")]
    going.append(Going(ref(accepted(desk, "Two.")), "wiki"))
    shown = preview.together(desk, going).preview
    assert child.run(workspace, shown.operation_id, "none") == (0, STEPS)
    desk.store.close()


@pytest.mark.parametrize("step", named())
def test_killed_at_any_step_both_consumers_are_written_exactly_once(
    step: str, workspace: Path
) -> None:
    """By a retry that names nothing and by another confirm: the previewed bytes, two receipts."""
    desk = make_desk(workspace)
    going = [Going(ref(accepted(desk, "One.")), "line-memory")]
    going.append(Going(ref(accepted(desk, "Two.")), "wiki"))
    shown = preview.together(desk, going).preview
    wanted = {t.path: t.after for t in operations.look(desk, shown.operation_id).targets}
    status, reached = child.run(workspace, shown.operation_id, step)
    assert (status, reached[-1]) == (-signal.SIGKILL, step.partition("#")[0])
    recover(desk)
    begun = step not in ("locked", "planned")
    assert receipts(desk) == (2 if begun else 0)
    assert (files(workspace) if begun else {}) == (wanted if begun else {})
    written = confirm(desk, shown.operation_id)
    assert (written.state, len(written.receipts)) == (OperationState.APPLIED, 2)
    assert files(workspace) == wanted
    assert recover(desk) == []
    assert (outbox(workspace), receipts(desk), verify(desk).ok) == (0, 2, True)
    desk.store.close()
