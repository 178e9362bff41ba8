"""The import alone, without interpreter start and imports. ROOT FILE..."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from core import desk as desks
from core.evidence.import_ import import_paths
from schemas.common import Actor, Door


def main(root: str, paths: list[str]) -> None:
    Path(root).mkdir(parents=True, exist_ok=True)
    desk, _new = desks.init(Path(root), Actor(reviewer="bench", door=Door.COMMAND))
    start = time.perf_counter()
    report = import_paths(desk, paths)
    seconds = time.perf_counter() - start
    desk.store.close()
    print(json.dumps({"seconds": seconds, "events": report.new, "bytes": report.bytes}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
