"""One measured step of `verifying` in a process of its own. STEP ROOT [FILE...]"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from core import desk as desks
from core.evidence import artifacts
from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.common import Actor, Door, Page


def main(step: str, root: str, files: list[str]) -> None:
    who = Actor(reviewer="bench", door=Door.COMMAND)
    Path(root).mkdir(parents=True, exist_ok=True)
    desk, _new = desks.init(Path(root), who)
    if step == "range":
        artifacts.add(desk, Path(files[0]))
    cpu, clock = time.process_time(), time.perf_counter()
    found = _step(desk, step, files)
    out = {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
    desk.store.close()
    print(json.dumps(out | {"found": found}))


def _step(desk: Desk, step: str, files: list[str]) -> int:
    if step == "import":
        return import_paths(desk, files).new
    if step == "add":
        return artifacts.add(desk, Path(files[0]))[0].size
    if step == "integrity":
        return len(desk.store.integrity())
    if step == "verify":
        report = verify(desk)
        assert report.ok
        return sum(report.checked.values())
    with desk.store.read() as view:
        (kept,) = view.artifacts.list(Page(limit=1))[0]
    before = _read()
    lines = f"{kept.lines // 2}:{kept.lines // 2 + 99}"
    part = artifacts.part(desk, kept.id, lines=lines)
    assert sum(map(len, artifacts.read(desk, part))) == 100 * 101
    return _read() - before


def _read() -> int:
    """Bytes this process has read from files so far."""
    found = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())
    assert found
    return int(found[1])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
