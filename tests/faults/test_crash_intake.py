"""SIGKILL at every durable step of an intake: each ends exactly once (spec 1.6, 5.4)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from core.evidence import intake
from core.operations.confirm import confirm, recover
from core.ports import Desk
from core.verify import verify
from schemas.operations import OperationState, Preview
from tests.conftest import make_desk, write
from tests.faults import child
from tests.making import files, sha

EACH = ["temporary", "staged", "exchanged", "displaced-removed", "synced"]
STEPS = [
    "locked",
    "planned",
    "copying-0",
    "copied-0",
    "prepared",
    *[f"{s}-{n}" for n in (0, 1) for s in EACH],
    "written",
    "recorded",
]
BEGUN = STEPS[STEPS.index("prepared") :]
BYTES = b"What a meeting decided.\n" * 1000


def shown(desk: Desk) -> Preview:
    """The preview of a file that was just laid."""
    path = write(desk.workspace.root / "notes" / "meeting.md", BYTES)
    return intake.preview(desk, path).preview


def run(desk: Desk, operation: str, die_at: str) -> tuple[int, list[str]]:
    """The exit status of a process that confirms, and the steps it reached."""
    return child.run(desk.workspace.root, operation, die_at)


def settled(desk: Desk, preview: Preview) -> None:
    """Both files are as previewed, nothing else is there, one receipt, a sound ledger."""
    root = desk.workspace.root
    assert {p: sha(d) for p, d in files(root).items()} == {
        t.path: t.after_digest for t in preview.targets
    }
    assert list((desk.workspace.folder / "staged").iterdir()) == []
    with desk.store.read() as view:
        assert view.operations.receipt_count() == 1
        assert view.operations.prepared(desk.workspace.checkout) == []
        assert view.operations.outbox(preview.operation_id) == []
    report = verify(desk)
    assert (report.ok, report.drift) == (True, ()), report


def test_the_steps_are_the_ones_named_here(workspace: Path) -> None:
    """One undisturbed run reaches every step in order, so the matrix leaves none out."""
    desk = make_desk(workspace)
    assert run(desk, shown(desk).operation_id, "none") == (0, STEPS)
    desk.store.close()


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_it_is_applied_exactly_once(step: str, workspace: Path) -> None:
    """Another process confirms the same id: one copy, one receipt, nothing left over."""
    desk = make_desk(workspace)
    preview = shown(desk)
    status, reached = run(desk, preview.operation_id, step)
    assert (status, reached[-1]) == (-signal.SIGKILL, step)
    if step not in BEGUN:
        assert not (workspace / ".aiwg").exists()
    receipt = confirm(desk, preview.operation_id)
    assert receipt.state is OperationState.APPLIED
    recover(desk)
    settled(desk, preview)
    again = confirm(desk, preview.operation_id)
    assert again == receipt.model_copy(update={"replayed": True})
    desk.store.close()


@pytest.mark.parametrize("step", BEGUN)
def test_a_source_lost_after_the_crash_is_no_loss(step: str, workspace: Path) -> None:
    """Once prepared, its bytes are held: a retry finishes without the source."""
    desk = make_desk(workspace)
    preview = shown(desk)
    run(desk, preview.operation_id, step)
    (workspace / "notes" / "meeting.md").unlink()
    recover(desk)
    assert recover(desk) == []
    settled(desk, preview)
    desk.store.close()


@pytest.mark.parametrize("step", ["prepared", "temporary-0", "staged-0"])
def test_a_file_put_there_after_the_crash_is_never_overwritten(step: str, workspace: Path) -> None:
    """The owner's bytes stay; the operation diverged; no receipt, nothing of ours left behind."""
    desk = make_desk(workspace)
    preview = shown(desk)
    run(desk, preview.operation_id, step)
    copy = preview.targets[0].path
    write(workspace / copy, b"by hand\n")
    assert recover(desk) == [(preview.operation_id, "operation.diverged")]
    assert files(workspace) == {copy: b"by hand\n"}
    assert list((desk.workspace.folder / "staged").iterdir()) == []
    with desk.store.read() as view:
        assert view.operations.receipt_count() == 0
    assert verify(desk).ok
    desk.store.close()
