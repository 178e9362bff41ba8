"""What is loaded before the first frame and for `--help`: guarded by names, never by the clock."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from core.ports import Desk
from tests.conftest import Cli

HEAVY = {"sqlalchemy", "sqlmodel", "pydantic", "alembic", "watchfiles"}
UNTIL_PAINTED = """
import json, os, sys
from textual.drivers.linux_driver import LinuxDriver

write = LinuxDriver.write

def first(driver, data):
    write(driver, data)
    if "Candidates" in data:
        with open(sys.argv.pop(), "w") as file:
            json.dump(sorted(sys.modules), file)
        os._exit(0)

LinuxDriver.write = first
from tui.__main__ import open_ui
from core.commands.entry import main
main(open_ui, sys.argv[1:-1])
"""


def roots(modules: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def on_terminal(command: list[str]) -> None:
    """Run a command on a pty of its own until it ends."""
    ours, theirs = os.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        end, said = time.monotonic() + 60, b""
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            while time.monotonic() < end and select.select([ours], [], [], 60)[0]:
                said += os.read(ours, 65_536)
        if time.monotonic() >= end:
            process.kill()
        assert process.wait(60) == 0, said
    os.close(ours)


def test_the_first_frame_is_painted_before_the_store_is_loaded(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """When the tabs reach the terminal, neither ORM nor contracts nor parser were imported."""
    found = tmp_path / "modules.json"
    root = sqlite_desk.workspace.root
    on_terminal([sys.executable, "-c", UNTIL_PAINTED, "--workspace", str(root), str(found)])
    loaded = roots(json.loads(found.read_text()))
    assert "textual" in loaded
    assert not loaded & (HEAVY | {"typer", "click", "store"})


def test_help_loads_neither_the_store_nor_the_screen(cli: Cli) -> None:
    """`memdesk --help` imports the parser and nothing heavy beside it."""
    command = [sys.executable, "-X", "importtime", str(cli.script), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    lines = [x for x in done.stderr.splitlines() if x.startswith("import time:")]
    loaded = roots([x.rpartition("|")[2].strip() for x in lines])
    assert "typer" in loaded
    assert "evidence" in done.stdout
    assert not loaded & (HEAVY | {"textual", "store"})
