"""Processes that confirm an operation and kill themselves at a named step.

One server imports everything once and forks for each request, so the matrix stays fast; what it
forks opens the desk anew, and what dies is a process of its own, by SIGKILL.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@functools.cache
def _server() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.child"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen(command, cwd=ROOT, **pipes)
    atexit.register(server.kill)
    return server


def run(root: Path, operation: str, die_at: str, store: str | None = None) -> tuple[int, list[str]]:
    """Confirm in a new process: its exit status (negative: the signal) and the steps it reached.

    `die_at` names a step, with `#2` the second time it is reached.
    """
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps([str(root), operation, die_at, store]) + "\n")
    server.stdin.flush()
    status, steps = json.loads(server.stdout.readline())
    return status, steps


def _confirm(root: str, operation: str, die_at: str, store: str | None, out: int) -> None:
    from core import desk as desks
    from core.operations.together import confirm
    from schemas.common import Actor, Door

    wanted, _, turn = die_at.partition("#")
    reached: Counter[str] = Counter()

    def step(name: str) -> None:
        os.write(out, name.encode() + b"\n")
        reached[name] += 1
        if name == wanted and reached[name] == int(turn or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    who = Actor(reviewer="Ana <ana@example.org>", door=Door.COMMAND)
    desk = dataclasses.replace(desks.open_(Path(root), who, store_url=store), on_step=step)
    confirm(desk, operation)


def _serve() -> None:
    import core.promotion
    import store.unit

    assert core.promotion and store.unit

    for line in sys.stdin:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            try:
                _confirm(*json.loads(line), write)
            except BaseException as err:
                os.write(write, f"{type(err).__name__}:{err}\n".encode())
                os._exit(1)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            steps = pipe.read().splitlines()
        _, status = os.waitpid(pid, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), steps]), flush=True)


if __name__ == "__main__":
    _serve()
