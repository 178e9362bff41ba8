"""A process that confirms one operation and kills itself at a named step, or lists the steps."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from pathlib import Path

import core.promotion  # noqa: F401  (registers the handlers)
from core import desk as desks
from core.operations.confirm import confirm
from schemas.common import Actor, Door


def main(root: str, operation: str, die_at: str) -> None:
    """Confirm `operation`; at the step `die_at` the process gets SIGKILL."""

    def step(name: str) -> None:
        print(name, flush=True)
        if name == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    who = Actor(reviewer="Ana <ana@example.org>", door=Door.COMMAND)
    desk = dataclasses.replace(desks.open_(Path(root), who), on_step=step)
    print(confirm(desk, operation).receipt_id)


if __name__ == "__main__":
    main(*sys.argv[1:])
