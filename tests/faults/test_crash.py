"""SIGKILL at every durable step: each operation ends exactly once (spec 5.4)."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path

import pytest

from core.operations.confirm import confirm, recover
from core.ports import Desk
from core.promotion import preview
from core.verify import verify
from schemas.operations import OperationState
from tests.conftest import Command, make_desk
from tests.faults import child
from tests.making import JOURNALS, META, TEXT, files, previewed, sha

COMMON = ["locked", "planned", "prepared", "journalled"]
EACH = ["temporary", "staged", "exchanged", "displaced-removed", "synced"]
STEPS = [
    *COMMON,
    *[f"{s}-{n}" for n in (0, 1) for s in EACH],
    "journal-removed",
    "written",
    "recorded",
]
NOT_BEGUN = ("locked", "planned")
"""Steps before the outbox is committed: a crash there leaves a preview, nothing to recover."""


def run(desk: Desk, operation: str, die_at: str) -> tuple[int, list[str]]:
    """The exit status of a process that confirms, and the steps it reached."""
    return child.run(desk.workspace.root, operation, die_at)


def lay(root: Path, kind: str) -> None:
    """The destination before: nothing, or a file with a neighbour's line and CRLF ends."""
    if kind == "existing":
        path = root / TEXT
        path.parent.mkdir(parents=True)
        path.write_bytes(b"A neighbour's line.\r\n\r\nAnother one.\r\n")
        path.chmod(0o640)


def leftovers(root: Path) -> list[str]:
    """Anything under `.aiwg/` that is not one of the two files."""
    return [name for name in files(root) if name not in (TEXT, META)]


def outbox(root: Path) -> int:
    """Rows in the outbox, by plain sqlite3."""
    connection = sqlite3.connect(root / ".memdesk" / "memdesk.db")
    (count,) = connection.execute("SELECT count(*) FROM outbox").fetchone()
    connection.close()
    return int(count)


def receipts(desk: Desk) -> int:
    """How many receipts there are."""
    with desk.store.read() as view:
        return view.operations.receipt_count()


@pytest.mark.parametrize("kind", ["empty", "existing"])
def test_the_steps_are_the_ones_named_here(kind: str, workspace: Path) -> None:
    """One undisturbed run reaches every step in order, so the matrix leaves none out."""
    desk = make_desk(workspace)
    lay(workspace, kind)
    status, steps = run(desk, previewed(desk).operation_id, "none")
    assert (status, steps) == (0, STEPS)
    desk.store.close()


@pytest.mark.parametrize("kind", ["empty", "existing"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_it_is_applied_exactly_once(
    step: str, kind: str, workspace: Path
) -> None:
    """Another process confirms the same id: one receipt, the previewed bytes, nothing left over."""
    lay(workspace, kind)
    desk = make_desk(workspace)
    shown = previewed(desk)
    before = files(workspace) if kind == "existing" else {}
    status, reached = run(desk, shown.operation_id, step)
    assert status == -signal.SIGKILL
    assert reached[-1] == step
    if step in (*NOT_BEGUN, "prepared", "journalled"):
        assert {k: v for k, v in files(workspace).items() if k in before} == before
    receipt = confirm(desk, shown.operation_id)
    assert receipt.state is OperationState.APPLIED
    recover(desk)
    wanted = {t.path: t.after_digest for t in shown.targets}
    assert {p: sha((workspace / p).read_bytes()) for p in wanted} == wanted
    assert {t.path: t.after_digest for t in receipt.targets} == wanted
    assert leftovers(workspace) == []
    assert (outbox(workspace), receipts(desk)) == (0, 1)
    report = verify(desk)
    assert (report.ok, report.drift) == (True, ()), report
    again = confirm(desk, shown.operation_id)
    assert again == receipt.model_copy(update={"replayed": True})
    if kind == "existing":
        assert (workspace / TEXT).stat().st_mode & 0o777 == 0o640
    json.loads((workspace / META).read_bytes())
    desk.store.close()


@pytest.mark.parametrize("step", [s for s in STEPS if s not in NOT_BEGUN])
def test_a_retry_finishes_what_was_begun_without_naming_it(step: str, workspace: Path) -> None:
    """`promotion retry` finds the prepared operation by itself, and a second one nothing."""
    lay(workspace, "existing")
    desk = make_desk(workspace)
    shown = previewed(desk)
    run(desk, shown.operation_id, step)
    wanted = [] if step == "recorded" else [(shown.operation_id, "applied")]
    assert recover(desk) == wanted
    assert recover(desk) == []
    assert leftovers(workspace) == []
    assert (outbox(workspace), receipts(desk), verify(desk).ok) == (0, 1, True)
    desk.store.close()


def test_a_retry_that_names_it_says_its_outcome_once(workspace: Path) -> None:
    """It finishes the operation as it finishes any, and then confirms it: that is one outcome."""
    desk = make_desk(workspace)
    shown = previewed(desk)
    run(desk, shown.operation_id, "prepared")
    desk.store.close()
    status, out, _ = Command(workspace).run("promotion", "retry", shown.operation_id)
    assert (status, out.split()) == (0, [shown.operation_id, "applied"])


@pytest.mark.parametrize("kind", ["empty", "existing"])
@pytest.mark.parametrize(
    "step", [s for s in STEPS if s not in (*NOT_BEGUN, "written", "recorded", "journal-removed")]
)
def test_a_hand_edit_after_the_crash_is_never_overwritten(
    step: str, kind: str, workspace: Path
) -> None:
    """The owner's bytes stay to the byte; the operation is diverged and both versions are kept."""
    lay(workspace, kind)
    desk = make_desk(workspace)
    shown = previewed(desk)
    run(desk, shown.operation_id, step)
    edit = b"Written by hand after the crash.\n"
    path = workspace / TEXT
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "hand").write_bytes(edit)
    (path.parent / "hand").rename(path)
    assert recover(desk) == [(shown.operation_id, "operation.diverged")]
    assert path.read_bytes() == edit
    assert (workspace / JOURNALS).exists() is False or list((workspace / JOURNALS).iterdir()) == []
    assert leftovers(workspace) == []
    assert (outbox(workspace), receipts(desk)) == (0, 0)
    with desk.store.read() as view:
        ((where, found, kept),) = view.operations.divergence(shown.operation_id)
    assert (where, found) == (TEXT, edit)
    assert sha(kept) == shown.targets[0].after_digest
    assert verify(desk).ok
    again = preview.build(desk, _ref(shown.candidate, shown.version), "line-memory")
    assert confirm(desk, again.operation_id).state is OperationState.APPLIED
    assert path.read_bytes().startswith(edit)
    desk.store.close()


def _ref(id_: str, version: int):  # type: ignore[no-untyped-def]
    from core.candidates.review import CandidateRef

    return CandidateRef(id_, version)


def test_a_diverged_operation_may_be_previewed_again_when_its_bytes_are_back(
    sqlite_desk: Desk,
) -> None:
    """The same before-bytes give the same id; a new preview of it can be confirmed."""
    root = sqlite_desk.workspace.root
    lay(root, "existing")
    shown = previewed(sqlite_desk)
    original = (root / TEXT).read_bytes()
    run(sqlite_desk, shown.operation_id, "prepared")
    (root / TEXT).write_bytes(b"by hand\n")
    recover(sqlite_desk)
    (root / TEXT).write_bytes(original)
    again = preview.build(sqlite_desk, _ref(shown.candidate, 1), "line-memory")
    assert again.operation_id == shown.operation_id
    assert again.state is OperationState.PREVIEWED
    assert confirm(sqlite_desk, again.operation_id).state is OperationState.APPLIED


def test_a_crash_between_two_kills_still_ends_once(workspace: Path) -> None:
    """Killed, recovered by a process that is killed as well, and again: one receipt."""
    lay(workspace, "existing")
    desk = make_desk(workspace)
    shown = previewed(desk)
    for step in ("exchanged-0", "temporary-1", "exchanged-1", "displaced-removed-1", "written"):
        status, _ = run(desk, shown.operation_id, step)
        assert status in (0, -signal.SIGKILL)
    confirm(desk, shown.operation_id)
    assert (outbox(workspace), receipts(desk), leftovers(workspace)) == (0, 1, [])
    assert (workspace / TEXT).read_bytes().count(b"Tuesdays") == 1
    desk.store.close()
