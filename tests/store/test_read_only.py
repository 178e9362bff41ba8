"""A store that can only be read: reads work and leave nothing, writes are refused by name."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from schemas.errors import Unusable
from store.engine import Database
from tests.conftest import Command, make_desk
from tests.desks import events, lived_in


@pytest.fixture
def frozen(command: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a filled store that can't be written to: what the kernel says to a user."""
    made = make_desk(workspace)
    lived_in(made, workspace / "sessions")
    made.store.close()
    folder, asked = made.workspace.folder, os.access
    monkeypatch.setattr(os, "access", lambda p, how: Path(p) != folder and asked(p, how))
    folder.chmod(0o500)
    yield folder
    folder.chmod(0o700)


def standing(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_commands_that_read_work_and_leave_nothing(frozen: Path, command: Command) -> None:
    """Lists, verification and status; a write is refused and says that nothing is broken."""
    before = standing(frozen)
    (frozen.parent / "CLAUDE.md").write_text("- A new rule that nothing could enter.\n")
    assert len(command.json("evidence", "list")["items"]) > 5
    assert len(command.json("candidates", "list")["items"]) == 3
    assert command.json("verify")["ok"]
    rows = command.json("status")["degraded"]
    assert [r["state"] for r in rows] == ["store.read-only"]
    listed = command.json("candidates", "list", "--state", "pending")["items"][0]
    answer = command.json("candidates", "accept", f"{listed['id']}@1", status=6)
    assert answer["error"]["code"] == "store.read-only" and "backup" not in str(answer)
    assert standing(frozen) == before


def test_what_stands_in_the_log_is_read_with_it(frozen: Path) -> None:
    """A committed row that no checkpoint has moved is seen; without the log's index nothing is."""
    path = frozen / "memdesk.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("UPDATE workspace SET created = 4711")
        writer.commit()
        with closing(Database(f"sqlite:///{path}")) as database:
            assert database.frozen
            database.prepare()
            with database.read() as connection:
                found = connection.exec_driver_sql("SELECT created FROM workspace").scalar()
            assert found == 4711
        log = (frozen / "memdesk.db-wal").read_bytes()
    assert log
    (frozen / "memdesk.db-wal").write_bytes(log)
    with closing(Database(f"sqlite:///{path}")) as database:
        with pytest.raises(Unusable) as refused:
            database.prepare()
        assert refused.value.code == "store.read-only"


def test_a_read_during_which_somebody_writes_is_not_believed(frozen: Path) -> None:
    """Without a log SQLite does not notice: the file is looked at before and after."""
    path = frozen / "memdesk.db"
    with closing(Database(f"sqlite:///{path}")) as database:
        database.prepare()
        with (
            pytest.raises(Unusable) as refused,
            database.read(),
            closing(sqlite3.connect(path)) as writer,
        ):
            writer.execute("UPDATE workspace SET created = 4711")
            writer.commit()
        assert refused.value.code == "store.read-only" and "moved" in refused.value.message


def test_opening_waits_for_no_writer(workspace: Path) -> None:
    """A long import of another process holds the write lock; looking at the revision needs none."""
    made = make_desk(workspace)
    made.store.close()
    path = made.workspace.folder / "memdesk.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with closing(Database(f"sqlite:///{path}", wait=0)) as database:
            database.prepare()
            with database.read() as connection:
                assert connection.exec_driver_sql("SELECT count(*) FROM workspace").scalar() == 1
    assert events(make_desk(workspace)) == []
