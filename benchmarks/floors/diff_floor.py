"""What the standard library's own diff costs on two texts: `diff_floor.py BEFORE AFTER`."""

from __future__ import annotations

import difflib
import sys
import time
from pathlib import Path


def main() -> None:
    before, after = (Path(p).read_text().splitlines(keepends=True) for p in sys.argv[1:3])
    start = time.perf_counter()
    difflib.SequenceMatcher(None, before, after).get_opcodes()
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
