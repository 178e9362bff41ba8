"""Rows of the one table: what is compared, as ratios, with the aim beside each."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `aim` is the greatest ratio wanted; None where a number is only reported."""

    name: str
    ours: float
    floor: float | None
    unit: str
    aim: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None


def alternate(
    rounds: int, *calls: Callable[[], float], warm: bool = True
) -> tuple[list[float], ...]:
    """Run the calls in turn, `rounds` times; a first turn only warms caches."""
    if warm:
        for call in calls:
            call()
    found: tuple[list[float], ...] = tuple([] for _ in calls)
    for _ in range(rounds):
        for values, call in zip(found, calls, strict=True):
            values.append(call())
    return found


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


def table(rows: Sequence[Row]) -> str:
    lines = [f"{'':<58}{'ours':>10}{'against':>10}  {'':<9}{'ratio':>7}{'aim':>7}"]
    for r in rows:
        against = f"{r.floor:,.2f}" if r.floor is not None else ""
        ratio = f"{r.ratio:.2f}" if r.ratio is not None else ""
        aim = f"{r.aim:.1f}" if r.aim is not None else ""
        miss = " over" if r.aim is not None and r.ratio is not None and r.ratio > r.aim else ""
        lines.append(
            f"{r.name:<58}{r.ours:>10,.2f}{against:>10}  {r.unit:<9}{ratio:>7}{aim:>7}{miss}"
        )
    return "\n".join(lines)


def save(rows: Sequence[Row]) -> Path:
    """Write the results with what they were measured on."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / time.strftime("%Y%m%d-%H%M%S.json")
    machine = {
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    rows_ = [{**asdict(r), "ratio": r.ratio} for r in rows]
    path.write_text(json.dumps({"machine": machine, "rows": rows_}, indent=2) + "\n")
    return path
