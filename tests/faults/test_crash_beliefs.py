"""SIGKILL at every step of what changes beliefs: once applied, or nothing of it (spec 5.4, 5.5).

A fence stands from the moment the operation is prepared, whatever becomes of it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from core.operations import preview as operations
from core.operations.confirm import recover
from core.operations.preview import Exact
from core.operations.together import confirm
from core.ports import Desk
from core.promotion import context, lifecycle, preview
from core.verify import verify
from schemas.promotion import Belief
from tests.conftest import make_desk
from tests.faults import child
from tests.faults.test_crash import outbox, receipts
from tests.making import accepted, files, ref

OLD, NEW = "The API listens on port 8443.", "The API listens on port 9443."
EACH = ["temporary", "staged", "exchanged", "displaced-removed", "synced"]
BEGIN, END = ["locked", "planned", "prepared"], ["written", "recorded"]
FILES = [[f"{step}-{n}" for step in EACH] for n in range(3)]


def promoted(desk: Desk, words: str, to: str) -> Belief:
    """A statement that stands at a consumer."""
    shown = preview.exact(desk, ref(accepted(desk, words)), to).preview
    (receipt,) = confirm(desk, shown.operation_id).receipts
    with desk.store.read() as view:
        found = view.promotion.belief(receipt.belief or "")
    assert found is not None
    return found


def supersede(desk: Desk) -> Exact:
    """A promotion that ends what it contradicts."""
    promoted(desk, OLD, "line-memory")
    return preview.exact(desk, ref(accepted(desk, NEW)), "line-memory")


def revoke(desk: Desk) -> Exact:
    """A page that is marked."""
    return lifecycle.preview(desk, "revoke", promoted(desk, OLD, "wiki"), reason="no")


def entry(desk: Desk) -> Exact:
    """An entry of canonical context that takes another's place."""
    confirm(desk, context.preview_init(desk).preview.operation_id)
    promoted(desk, OLD, "canonical-context")
    return preview.exact(desk, ref(accepted(desk, NEW)), "canonical-context")


CASES: dict[str, tuple[Callable[[Desk], Exact], list[str], bool]] = {
    "supersede": (
        supersede,
        [*BEGIN, "journalled", *FILES[0], *FILES[1], "journal-removed", *END],
        True,
    ),
    "revoke": (revoke, [*BEGIN, *FILES[0], *END], True),
    "entry": (entry, [*BEGIN, *FILES[0], *FILES[1], *END], True),
}


@pytest.mark.parametrize("case", CASES)
def test_the_steps_are_the_ones_named_here(case: str, workspace: Path) -> None:
    """One undisturbed run reaches every step in order, so the matrix leaves none out."""
    make, steps, _ = CASES[case]
    desk = make_desk(workspace)
    shown = make(desk)
    assert child.run(workspace, shown.preview.operation_id, "none") == (0, steps)
    desk.store.close()


@pytest.mark.parametrize(
    ("case", "step"), [(case, step) for case, (_, steps, _) in CASES.items() for step in steps]
)
def test_killed_at_any_step_it_ends_exactly_once(case: str, step: str, workspace: Path) -> None:
    """The previewed bytes, one receipt, the fence from the first commit on, nothing left over."""
    make, _, closes = CASES[case]
    desk = make_desk(workspace)
    shown = make(desk)
    before, had = files(workspace), receipts(desk)
    operation = shown.preview.operation_id
    wanted = before | {t.path: t.after for t in operations.look(desk, operation).targets}
    status, reached = child.run(workspace, operation, step)
    assert (status, reached[-1]) == (-signal.SIGKILL, step)
    begun = step not in ("locked", "planned")
    with desk.store.read() as view:
        assert (view.sources.fence_count() > 0) is (begun and closes)
    recover(desk)
    assert files(workspace) == (wanted if begun else before)
    assert receipts(desk) == had + begun
    confirm(desk, operation)
    assert files(workspace) == wanted
    assert recover(desk) == []
    assert (outbox(workspace), receipts(desk), verify(desk).ok) == (0, had + 1, True)
    desk.store.close()
