"""How long a decision takes alone, and beside one and two importers."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import corpus, stores
from benchmarks.report import Row, median, p95
from core.candidates import review
from core.candidates.review import CandidateRef
from core.ports import Desk
from schemas.candidates import CandidateRow, Verdict
from schemas.storage import CandidateFilter

_EACH = 40
_PAUSE = 0.05


def run(work: Path, rounds: int) -> list[Row]:
    root = stores.make(work / "deciding", 3 * _EACH * rounds)
    heaps = [work / f"heap-{n}" for n in range(2 * rounds)]
    for n, heap in enumerate(heaps):
        # Other ids in each heap: an import of known bytes would be no load.
        corpus.build(heap, 40, copies=100_000 * (n + 1))
    desk = stores.open_desk(root)
    with desk.store.read() as view:
        waiting = iter(view.candidates.window(CandidateFilter(), 0, 1_000_000))
    found: list[list[float]] = [[], [], []]
    for turn in range(rounds):
        for importers in range(3):
            mine = heaps[2 * turn : 2 * turn + 2]
            with _importing(desk, root, mine[:importers]):
                found[importers] += _decide(desk, waiting)
    desk.store.close()
    rows = []
    for name, values in zip(("alone", "one importer", "two importers"), found, strict=True):
        rows.append(Row(f"decision, {name}, p50", median(values), median(found[0]), "ms"))
        rows.append(Row(f"decision, {name}, p95", p95(values), p95(found[0]), "ms"))
    return rows


def _decide(desk: Desk, waiting: Iterator[CandidateRow]) -> list[float]:
    times = []
    for _ in range(_EACH):
        row = next(waiting)
        start = time.perf_counter()
        review.decide(desk, CandidateRef(row.id, row.version), Verdict.ACCEPT)
        times.append((time.perf_counter() - start) * 1000)
        time.sleep(_PAUSE)
    return times


def _sessions(desk: Desk) -> int:
    """How many files hold events: one more for every importer that has committed."""
    with desk.store.read() as view:
        return sum(1 for e in view.proving.extent() if e.events)


@contextlib.contextmanager
def _importing(desk: Desk, root: Path, heaps: list[Path]) -> Iterator[None]:
    """One importer a heap, all writing; whatever is left is stopped afterwards."""
    before = _sessions(desk)
    command = [sys.executable, "-m", "benchmarks.import_run", str(root)]
    running = [
        subprocess.Popen([*command, *map(str, sorted(h.iterdir()))], stdout=subprocess.DEVNULL)
        for h in heaps
    ]
    try:
        while _sessions(desk) < before + len(heaps):
            if any(p.poll() is not None for p in running):
                raise SystemExit("an importer ended before it wrote anything")
            time.sleep(_PAUSE)
        yield
        over = [p for p in running if p.poll() is not None]
        if over:
            print("  (an importer ended before the decisions did)", file=sys.stderr)
    finally:
        for process in running:
            process.terminate()
            process.wait()
