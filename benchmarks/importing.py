"""Import of at least 100 MB of sessions against reading, parsing, hashing and inserting them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpus
from benchmarks.report import Row, alternate, median

_FLOOR = str(Path(__file__).parent / "floors" / "import_floor.py")
_MEMDESK = str(Path(sys.executable).parent / "memdesk")


def run(work: Path, rounds: int) -> list[Row]:
    paths = [str(p) for p in corpus.build(work / "sessions", 100)]
    size = sum(Path(p).stat().st_size for p in paths) / 1e6
    events = 0

    def whole_floor() -> float:
        return _timed([sys.executable, _FLOOR, str(_fresh(work, "floor") / "floor.db"), *paths])

    def whole() -> float:
        root = _fresh(work, "ws")
        _timed([_MEMDESK, "--workspace", str(root), "init", "--json"])
        return _timed([_MEMDESK, "--workspace", str(root), "evidence", "import", *paths])

    def inner(command: Callable[[], list[str]]) -> Callable[[], float]:
        def call() -> float:
            nonlocal events
            done = subprocess.run(
                [sys.executable, *command(), *paths], capture_output=True, check=True
            )
            answer = json.loads(done.stdout)
            events = answer.get("events", events)
            return float(answer["seconds"])

        return call

    floor_in = inner(lambda: [_FLOOR, str(_fresh(work, "floor") / "floor.db")])
    ours_in = inner(lambda: ["-m", "benchmarks.import_run", str(_fresh(work, "ws"))])
    a, b, c, d = (
        median(v) for v in alternate(rounds, whole, whole_floor, ours_in, floor_in, warm=False)
    )
    name = f"import {size:.0f} MB"
    return [
        Row(f"{name}, whole process", a, b, "s", 2.5),
        Row(f"{name}, import_paths alone", c, d, "s", 2.5),
        Row("  events a second, import_paths", events / c, None, "1/s"),
        Row("  MB a second, import_paths", size / c, None, "MB/s"),
    ]


def _timed(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def _fresh(work: Path, name: str) -> Path:
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
