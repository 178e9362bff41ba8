"""Confirm of a promotion into line memory against the same durable steps bare."""

from __future__ import annotations

import time
from pathlib import Path

import core.promotion  # noqa: F401  (registers the handlers)
from benchmarks import stores
from benchmarks.floors.confirm_floor import Bare
from benchmarks.report import Row, median, p95
from core.candidates import review
from core.candidates.review import CandidateRef
from core.operations import confirm
from core.promotion import preview
from schemas.candidates import Verdict
from schemas.storage import CandidateFilter

_FILES = ("line-memory.txt", "line-memory.meta.json")
_EACH = 20


def run(work: Path, rounds: int) -> list[Row]:
    count = _EACH * rounds
    root = stores.make(work / "confirming", count)
    desk = stores.open_desk(root)
    bare = Bare(work / "confirm-floor", _FILES)
    with desk.store.read() as view:
        rows = view.candidates.window(CandidateFilter(), 0, count)
    ours, floor = [], []
    for row in rows:
        ref = CandidateRef(row.id, row.version)
        review.decide(desk, ref, Verdict.ACCEPT)
        shown = preview.build(desk, ref, "line-memory")
        start = time.perf_counter()
        receipt = confirm.confirm(desk, shown.operation_id)
        ours.append((time.perf_counter() - start) * 1000)
        written = [(root / ".aiwg" / "memory" / name).read_bytes() for name in _FILES]
        document = receipt.model_dump_json().encode()
        start = time.perf_counter()
        bare.confirm((written[0], written[1]), document)
        floor.append((time.perf_counter() - start) * 1000)
    desk.store.close()
    return [
        Row("confirm, p50", median(ours), median(floor), "ms", 2.5),
        Row("  p95", p95(ours), p95(floor), "ms"),
        Row("  confirms a second", 1000 / median(ours), 1000 / median(floor), "1/s"),
    ]
