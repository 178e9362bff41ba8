"""A thousand kills, four thousand racing confirms: long, by `make soak`; short in every run."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.operations import preview as operations
from core.operations.confirm import recover
from core.operations.preview import Exact
from core.operations.together import confirm
from core.ports import Desk
from core.promotion import context, lifecycle, preview
from core.promotion.preview import Going
from core.verify import verify
from schemas.common import Page
from schemas.errors import MemdeskError
from schemas.promotion import Belief, BeliefState
from tests.conftest import make_desk
from tests.faults import child
from tests.faults.test_crash import outbox, receipts
from tests.faults.test_races import EDITOR
from tests.making import CONFIG, TEXT, accepted, files, ref

CONSUMERS = ("line-memory", "wiki", "canonical-context")
STEPS = [
    *("planned", "prepared", "journalled", "journal-removed", "written", "recorded", "settled"),
    *[f"{s}-{n}" for n in range(3) for s in ("temporary", "staged", "exchanged", "synced")],
]


def room(desk: Desk) -> Desk:
    """A desk whose line memory is never full and whose canonical context is on."""
    path = desk.workspace.root / CONFIG
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"maxLines": 1000000}')
    confirm(desk, context.preview_init(desk).preview.operation_id)
    return desk


def living(desk: Desk) -> list[tuple[Belief, str]]:
    """Beliefs that stand, with where they do."""
    with desk.store.read() as view:
        found, _ = view.promotion.beliefs(Page(limit=10_000))
    return [(b, c.consumer) for b in found for c in b.consumers if c.state is BeliefState.ACTIVE]


def anything(desk: Desk, chosen: random.Random, n: int) -> Exact:
    """A promotion of one or several, over one consumer or all, or the end of a belief."""
    held = living(desk)
    what = chosen.choice(["one", "one", "several", "end", "supersede"])
    if what == "end" and held:
        old, at = chosen.choice(held)
        return lifecycle.preview(desk, chosen.choice(["revoke", "archive", "remove"]), old, at=at)
    words = f"Service {n} listens on port {chosen.randrange(1024, 9999)}."
    if what == "supersede":
        words = f"The gateway waits {n} seconds."
    if what == "several":
        going = [
            Going(ref(accepted(desk, f"Job {n} of {c} runs at {n % 24}:00.")), c) for c in CONSUMERS
        ]
        return preview.together(desk, going[: chosen.randrange(2, 4)])
    return preview.exact(desk, ref(accepted(desk, words)), chosen.choice(CONSUMERS))


@pytest.mark.parametrize(
    "kills", [10, pytest.param(1000, marks=pytest.mark.soak)], ids=["short", "soak"]
)
def test_killed_at_random_every_operation_ends_exactly_once(kills: int, workspace: Path) -> None:
    """Whatever it writes, wherever it dies: all of its bytes or none, its receipts or none."""
    desk = room(make_desk(workspace))
    chosen = random.Random(20261201)
    done: Counter[int] = Counter()
    for n in itertools.count():
        shown = anything(desk, chosen, n)
        operation, before, had = shown.preview.operation_id, files(workspace), receipts(desk)
        sinks = max(1, len(shown.preview.sinks))
        wanted = before | {t.path: t.after for t in operations.look(desk, operation).targets}
        step = f"{chosen.choice(STEPS)}#{chosen.randrange(1, 3)}"
        status, reached = child.run(workspace, operation, step)
        recover(desk)
        begun = "prepared" in reached
        assert files(workspace) == (wanted if begun else before), (n, step)
        assert receipts(desk) == had + (sinks if begun else 0), (n, step)
        assert outbox(workspace) == 0
        confirm(desk, operation)
        assert (files(workspace), receipts(desk)) == (wanted, had + sinks), (n, step)
        done[status] += 1
        if done[-signal.SIGKILL] == kills:
            break
    assert set(done) <= {0, -signal.SIGKILL}
    assert verify(desk).ok
    desk.store.close()


@pytest.mark.parametrize(
    "count", [12, pytest.param(4000, marks=pytest.mark.soak)], ids=["short", "soak"]
)
def test_no_racing_hand_edit_is_lost_by_confirms(count: int, workspace: Path) -> None:
    """An editor saves by rename as fast as it can: each line it wrote is in a file or in hand."""
    desk = room(make_desk(workspace))
    path, stop = workspace / TEXT, workspace.parent / "stop"
    log = workspace.parent / "log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"first\n")
    versions = [accepted(desk, f"Service {n} is up.") for n in range(min(count, 200))]
    editor = subprocess.Popen([sys.executable, "-c", EDITOR, str(path), str(stop), str(log)])
    while not log.exists():
        assert editor.poll() is None
    outcomes: Counter[str] = Counter()
    refused: list[bytes] = []
    for n in range(count):
        version = versions[n % len(versions)]
        try:
            shown = preview.exact(desk, ref(version), "line-memory").preview
            outcomes[confirm(desk, shown.operation_id).state.value] += 1
        except MemdeskError as err:
            outcomes[err.code] += 1
            with desk.store.read() as view:
                refused += [found for _, found, _ in view.operations.divergence(shown.operation_id)]
    stop.touch()
    assert editor.wait(timeout=30) == 0
    made = log.read_bytes().splitlines()
    held = [p.read_bytes() for p in path.parent.glob(f"{path.name}*")] + refused
    kept = {line for data in held for line in data.splitlines()}
    assert [line for line in made if line not in kept] == []
    assert sum(outcomes.values()) == count and len(made) > count // 4
    assert verify(desk).ok
    desk.store.close()
