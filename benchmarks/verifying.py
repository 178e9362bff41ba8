"""`verify` against a bare loop over the same rows, artifacts against plain SHA-256, a range read.

Processor time is compared, so that the figures mean something on a machine with other work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import corpus
from benchmarks.report import Row, alternate, median

_FLOOR = str(Path(__file__).parent / "floors" / "verify_floor.py")
_LOG_MB = 256
_GIGABYTE = 1_000_000_000


def run(work: Path, rounds: int) -> list[Row]:
    paths = [str(p) for p in corpus.build(work / "sessions", 100)]
    ledger, kept = work / "ledger", work / "kept"
    events = _ours("import", str(ledger), *paths)["found"]
    log = _log(work / "big.log", _LOG_MB * 1_000_000)
    _ours("add", str(kept), log)
    database = str(ledger / ".memdesk" / "memdesk.db")

    def rows() -> float:
        return _ours("verify", str(ledger))["cpu"]

    def rows_floor() -> float:
        return _run(_FLOOR, database)["cpu"]

    def bytes_() -> float:
        return _ours("verify", str(kept))["cpu"]

    def bytes_floor() -> float:
        return _run(_FLOOR, "-", log)["cpu"]

    a, b, c, d = (
        median(v) for v in alternate(rounds, rows, rows_floor, bytes_, bytes_floor, warm=False)
    )
    huge = _ours("range", str(work / "huge"), _log(work / "huge.log", _GIGABYTE))
    return [
        Row(f"verify {events:,.0f} events, 100 MB", a, b, "cpu s", 2.0),
        Row("  of it the database's own integrity check", _ours("integrity", str(ledger))["cpu"],
            None, "cpu s"),
        Row(f"verify an artifact of {_LOG_MB} MB", c, d, "cpu s", 2.0),
        Row("100 lines of 1 GB: bytes read of it", huge["found"] / 1e6, None, "MB"),
        Row("100 lines of 1 GB: time", huge["seconds"] * 1000, None, "ms"),
    ]  # fmt: skip


def _log(path: Path, size: int) -> str:
    """Numbered lines, `size` bytes of them at least."""
    block = b"".join(b"%07d %s\n" % (n, b"x" * 92) for n in range(10_000))
    with path.open("wb") as out:
        while out.tell() < size:
            out.write(block)
    return str(path)


def _ours(*arguments: str) -> dict[str, float]:
    return _run("-m", "benchmarks.verify_run", *arguments)


def _run(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer
