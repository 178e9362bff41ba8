"""A huge file in a preview: key to first paint against the diff library alone, and the loop.

The consumer is one of this measurement: a file of 50,000 lines, 30 % of them changed. All the
rest is the desk's own: store, plan, compare, lay out, paint.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from benchmarks import stores
from benchmarks.report import Row, alternate, median

LINES, CHANGED = 50_000, 0.30
TARGET = ".aiwg/big.txt"
_FLOOR = Path(__file__).parent / "floors" / "diff_floor.py"
_BEAT_S = 0.001


def texts() -> tuple[bytes, bytes]:
    """Before and after, the same in every run."""
    some = random.Random(50)
    words = ["ledger", "export", "refund", "batch", "webhook", "amount", "settlement", "payout"]
    old = [f"{n} {' '.join(some.choices(words, k=some.randint(3, 9)))}" for n in range(LINES)]
    new = list(old)
    for n in some.sample(range(LINES), int(LINES * CHANGED)):
        new[n] = new[n].replace(" ", " other ", 1)
    return "\n".join(old).encode() + b"\n", "\n".join(new).encode() + b"\n"


def run(work: Path, rounds: int) -> list[Row]:
    before, after = texts()
    work.mkdir(parents=True, exist_ok=True)
    (work / "before").write_bytes(before)
    (work / "after").write_bytes(after)
    os.environ |= {"TEXTUAL_ANIMATIONS": "none", "LC_ALL": "C.UTF-8"}
    blocks: list[float] = []
    folders = iter(range(1_000))

    def ours() -> float:
        root = work / f"desk-{next(folders)}"
        first, block = asyncio.run(_measured(root, before, after))
        blocks.append(block * 1000)
        return first

    def floor() -> float:
        args = [sys.executable, str(_FLOOR), str(work / "before"), str(work / "after")]
        return float(subprocess.run(args, capture_output=True, check=True, text=True).stdout)

    mine, theirs = (median(v) for v in alternate(rounds, ours, floor))
    name = f"preview of {LINES:,} lines, {CHANGED:.0%} changed: "
    return [
        Row(f"{name}first paint", mine, theirs, "s", 2.0),
        Row("  longest block of the event loop against 50 ms", median(blocks[1:]), 50, "ms", 1.0),
    ]


def _lay(root: Path, before: bytes) -> None:
    """A workspace with one accepted candidate, and the file it would go to."""
    from core.candidates import review
    from core.candidates.review import CandidateRef
    from schemas.candidates import Verdict
    from schemas.storage import CandidateFilter

    stores.make(root, 1)
    (root / TARGET).parent.mkdir(exist_ok=True)
    (root / TARGET).write_bytes(before)
    desk = stores.open_desk(root)
    with desk.store.read() as view:
        (row,) = view.candidates.window(CandidateFilter(()), 0, 1)
    review.decide(desk, CandidateRef(row.id, row.version), Verdict.ACCEPT)
    desk.store.close()


@contextlib.asynccontextmanager
async def _beats(gaps: list[float]) -> AsyncIterator[None]:
    """Notes how long each turn of the event loop kept a 1 ms timer waiting."""

    async def beat() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(_BEAT_S)
            gaps.append(time.perf_counter() - start - _BEAT_S)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()


async def _measured(root: Path, before: bytes, after: bytes) -> tuple[float, float]:
    """Seconds from `p` to the first painted row of the diff, and the longest block until then."""
    from core.operations.envelope import Target
    from core.promotion.consumers import line_memory, reviewed
    from tui.app import DeskApp

    _lay(root, before)
    big = Target(TARGET, before, after)

    def plan(_self: object, desk: object, subject: str, request: dict[str, str]) -> object:
        found = reviewed.reviewed(desk, subject)  # type: ignore[arg-type]
        return reviewed.plan(
            desk, found, line_memory.NAME, request, (big,), duplicate=False, blocked=(), affects=()
        )  # fmt: skip

    usual, line_memory.LineMemory.plan = line_memory.LineMemory.plan, plan  # type: ignore
    try:
        app = DeskApp(root, reviewer="Ana")
        async with app.run_test(size=(120, 40)) as pilot:
            while app.client is None:
                await pilot.pause()
            await pilot.press("2")
            pane = app.pane
            while pane.query_one("#promotions").row is None:  # type: ignore[attr-defined]
                await pilot.pause()
            gaps: list[float] = []
            async with _beats(gaps):
                start = time.perf_counter()
                pane.action_preview()  # type: ignore[attr-defined]
                while not _painted(app):
                    await asyncio.sleep(0.005)
                first = time.perf_counter() - start
                for key in ("ctrl+d", "G", "g"):
                    await pilot.press(key)
            return first, max(gaps)
    finally:
        line_memory.LineMemory.plan = usual  # type: ignore[method-assign]


def _painted(app: object) -> bool:
    """True once a changed row has been drawn: drawing it is what marks it seen."""
    detail = app.pane.detail  # type: ignore[attr-defined]
    must = detail._laid.must_see
    return bool(must) and must[0] not in detail._unseen
