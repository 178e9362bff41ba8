"""`python -m benchmarks [--rounds N] [NAME...]`: run the measurements, print one table."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import report

NAMES = (
    "importing",
    "scaling",
    "readers",
    "screen",
    "confirming",
    "decisions",
    "previewing",
    "blocking",
    "verifying",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each pair (default 3)")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    for name in ("MEMDESK_WORKSPACE", "MEMDESK_STORE", "MEMDESK_REVIEWER"):
        os.environ.pop(name, None)
    rows: list[report.Row] = []
    for name in given.names or NAMES:
        start = time.monotonic()
        work = Path(tempfile.mkdtemp(prefix=f"memdesk-bench-{name}-"))
        try:
            rows += importlib.import_module(f"benchmarks.{name}").run(work, given.rounds)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        took = time.monotonic() - start
        load = os.getloadavg()[0]
        print(f"{name}: {took:.0f} s, load {load:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    print(report.table(rows))
    print(f"\nwritten to benchmarks/results/{report.save(rows).name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
