"""Triggers refuse to change rows that are history, whoever holds the connection (spec 1.4)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from core.evidence import artifacts, extracts
from core.ports import Desk
from core.verify import verify
from store.migrations import triggers
from tests.conftest import make_desk, write
from tests.desks import lived_in

TABLES = {
    "ledger": "kind",
    "event": "kind",
    "decision": "document",
    "receipt": "consumer",
    "event_body": "text",
    "artifact": "size",
    "artifact_chunk": "lines",
    "artifact_revision": "path",
    "artifact_extract": "time",
}
ERASABLE = ("event_body", "artifact", "artifact_chunk", "artifact_extract")
"""Content: erasure may delete it, nothing may rewrite it."""


def full(desk: Desk, folder: Path) -> None:
    """A lived-in desk with an artifact and an extract of it."""
    lived_in(desk, folder)
    kept, _new = artifacts.add(desk, write(folder / "run.log", b"one\ntwo\n"))
    extracts.make(desk, kept.id, ["2:2"])


def statements(table: str, column: str) -> list[str]:
    """Ways to change or remove a row that both databases know."""
    out = [f"UPDATE {table} SET {column} = {column}"]
    return out if table in ERASABLE else [*out, f"DELETE FROM {table}"]


def test_a_foreign_sqlite_connection_changes_no_history(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A plain connection with SQLite's defaults: no recursive triggers, no setting of ours."""
    full(sqlite_desk, tmp_path)
    database = sqlite_desk.workspace.folder / "memdesk.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        assert db.execute("PRAGMA recursive_triggers").fetchone() == (0,)
        for table, column in TABLES.items():
            again = f"INTO {table} SELECT * FROM {table}"
            ways = [*statements(table, column), f"INSERT OR REPLACE {again}", f"REPLACE {again}"]
            for statement in ways:
                with pytest.raises(sqlite3.IntegrityError, match=f"immutable: {table}"):
                    db.execute(statement)
    assert verify(sqlite_desk).ok


def test_our_own_sqlite_connection_changes_no_history(sqlite_desk: Desk, tmp_path: Path) -> None:
    """The store's writer is held by the same triggers."""
    full(sqlite_desk, tmp_path)
    for table, column in TABLES.items():
        for statement in statements(table, column):
            with (
                pytest.raises(Exception, match=f"immutable: {table}"),
                sqlite_desk.store.write() as unit,
            ):
                unit._c.exec_driver_sql(statement)  # type: ignore[attr-defined]


def test_postgresql_changes_no_history_and_truncates_none(
    postgres_url: str, workspace: Path, tmp_path: Path
) -> None:
    """Even the owner of the tables, with TRUNCATE and ON CONFLICT."""
    desk = make_desk(workspace, postgres_url)
    full(desk, tmp_path)
    url = postgres_url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as db:
        for table, column in TABLES.items():
            key = triggers.KEYS[table].replace(" ", ", ")
            ways = [
                *statements(table, column),
                f"TRUNCATE {table} CASCADE",
                f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({key}) "
                f"DO UPDATE SET {column} = excluded.{column}",
            ]
            for statement in ways:
                with pytest.raises(psycopg.errors.RaiseException, match=f"immutable: {table}"):
                    db.execute(statement)
    assert verify(desk).ok
    desk.store.close()


def test_a_trigger_switched_off_on_postgresql_is_named(postgres_url: str, workspace: Path) -> None:
    """Disabled, dropped, or pointed at a function that refuses nothing."""
    desk = make_desk(workspace, postgres_url)
    url = postgres_url.replace("+psycopg", "")
    with psycopg.connect(url) as db:
        try:
            db.execute("ALTER TABLE event DISABLE TRIGGER event_no_update")
            db.execute("DROP TRIGGER ledger_no_delete ON ledger")
            db.commit()
            said = " | ".join(f.detail for f in verify(desk).faults)
        finally:
            db.execute("ALTER TABLE event ENABLE TRIGGER event_no_update")
            db.execute(
                "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger "
                "FOR EACH ROW EXECUTE FUNCTION memdesk_immutable()"
            )
            db.commit()
    assert "trigger event_no_update is missing" in said
    assert "trigger ledger_no_delete is missing" in said
    assert verify(desk).ok
    desk.store.close()
