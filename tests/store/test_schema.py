"""A store is made by migrations only, and they make what the models say (spec 0.6, 8.1, 8.5)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlmodel import SQLModel

import store.tables  # noqa: F401  (fills the metadata)
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.errors import Unusable
from schemas.storage import SessionFilter
from store.copies import COPIES, Role
from store.engine import Database
from store.migrations import HEAD
from tests.conftest import REVIEWER, Command, make_desk, record, write
from tests.desks import events, proposed

LARGE_ROWS = {"event_body", "candidate_version", "outbox", "divergence", "receipt", "operation"}
LARGE_ROWS |= {"artifact_bytes", "compaction_mark"}


@pytest.fixture(params=["sqlite", "postgresql"])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> sa.Connection:
    """A connection to a migrated store of each kind."""
    url = f"sqlite:///{tmp_path / 'm.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    database = Database(url)
    database.prepare()
    request.addfinalizer(database.close)
    opened = database.readers.connect()
    request.addfinalizer(opened.close)
    return opened


def test_the_models_equal_the_migrated_schema(connection: sa.Connection) -> None:
    """Alembic finds no difference in tables, columns, types and nullability."""
    context = MigrationContext.configure(
        connection, opts={"compare_type": True, "target_metadata": SQLModel.metadata}
    )
    found = compare_metadata(context, SQLModel.metadata)
    # Indexes are the migration's alone: models carry what queries need.
    assert [d for d in found if d[0] != "remove_index"] == []


def test_primary_keys_begin_with_the_workspace(connection: sa.Connection) -> None:
    """So that a cluster can distribute by it; read from the database, not from the models."""
    inspector = sa.inspect(connection)
    for name in SQLModel.metadata.tables:
        keys = inspector.get_pk_constraint(name)["constrained_columns"]
        assert keys[0] == "ws", name
        wanted = [c.name for c in SQLModel.metadata.tables[name].primary_key.columns]
        assert keys == wanted, name


def test_sqlite_tables_are_strict_and_clustered_by_their_key(tmp_path: Path) -> None:
    """STRICT everywhere; WITHOUT ROWID but for tables with large rows."""
    database = Database(f"sqlite:///{tmp_path / 'm.db'}")
    database.prepare()
    database.close()
    with closing(sqlite3.connect(tmp_path / "m.db")) as db:
        found = {r[1]: (r[4], r[5]) for r in db.execute("PRAGMA table_list") if r[0] == "main"}
        mode = db.execute("PRAGMA journal_mode").fetchone()
    for name in SQLModel.metadata.tables:
        without_rowid, strict = found[name]
        assert strict == 1, name
        assert without_rowid == (name not in LARGE_ROWS), name
    assert mode == ("wal",)


def test_identity_text_collates_by_bytes_on_postgresql(postgres_url: str, workspace: Path) -> None:
    """Every text column has collation "C", so orders and ranges equal SQLite's."""
    make_desk(workspace, postgres_url).store.close()
    query = (
        "SELECT table_name, column_name, collation_name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND data_type = 'text' AND table_name = ANY(%s)"
    )
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as db:
        rows = db.execute(query, [list(SQLModel.metadata.tables)]).fetchall()
    assert rows
    assert {r[2] for r in rows} == {"C"}


def test_every_text_bearing_column_declares_what_erasure_does_with_it(
    connection: sa.Connection,
) -> None:
    """A new column that may hold words fails here until store/copies.py names its role."""
    inspector = sa.inspect(connection)
    there = {
        (table, column["name"])
        for table in inspector.get_table_names()
        if table != "alembic_version"
        for column in inspector.get_columns(table)
        if isinstance(column["type"], (sa.String, sa.LargeBinary))
    }
    assert there == set(COPIES)
    assert set(COPIES.values()) <= set(Role)


def test_a_newer_store_is_refused(desk: Desk, command: Command, postgres_url: str) -> None:
    """A revision this memdesk does not know is never guessed at; nothing is written."""
    backend = desk.store.describe()["backend"]
    options = ["--store", postgres_url] if backend == "postgresql" else []

    def revision(value: str) -> None:
        if backend == "postgresql":
            with psycopg.connect(postgres_url.replace("+psycopg", "")) as db:
                db.execute("UPDATE alembic_version SET version_num = %s", [value])
        else:
            with closing(sqlite3.connect(desk.workspace.folder / "memdesk.db")) as lite:
                lite.execute("UPDATE alembic_version SET version_num = ?", [value])
                lite.commit()

    revision("9999")
    try:
        found = command.json(*options, "status", status=6)
    finally:
        revision(HEAD)
    assert found["error"]["code"] == "store.newer"
    assert "9999" in found["error"]["message"]
    assert command.json(*options, "status")["reviewer"] == REVIEWER


def test_a_store_of_the_first_revision_is_brought_forward(desk: Desk, tmp_path: Path) -> None:
    """What it held stays, the planner's statistics with it; SQLite is backed up before."""
    url = desk.store._db.url  # type: ignore[attr-defined]
    sqlite = desk.store.describe()["backend"] == "sqlite"
    write(tmp_path / "s.jsonl", record("one"), record("two", "u2", "u1"))
    import_paths(desk, [tmp_path / "s.jsonl"])
    (said,) = [e for e in events(desk) if e.text == "one"]
    cited = proposed(desk, "One holds.", said.id)
    with desk.store.read() as view:
        held = view.evidence.sessions(SessionFilter(), None, 10)
    later = [t for t in SQLModel.metadata.tables if t.startswith(("artifact", "compaction"))]
    later += ["session_total", "candidate_source", "operation_about", "fence", "belief_change"]
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        for name in later:
            connection.exec_driver_sql(f"DROP TABLE {name}")
        connection.exec_driver_sql("DROP INDEX belief_recorded")
        for name in ("low", "high"):
            connection.exec_driver_sql(f"ALTER TABLE session_file DROP COLUMN {name}")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    desk.store.close()
    with engine.connect() as connection:
        kept = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY 1, 2"
        before = connection.exec_driver_sql(kept).all() if sqlite else []
    again = make_desk(desk.workspace.root, url)
    assert again.workspace.id == desk.workspace.id and again.secret == desk.secret
    with again.store.read() as view:
        assert view.evidence.sessions(SessionFilter(), None, 10) == held and held[0].events == 2
        assert view.candidates.citing(said.id, 5) == [(cited.id, 1)]
        assert [t.event.text for t in view.evidence.turns(["S"], None, 9)] == ["one", "two"]
    again.store.close()
    with engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        assert found == HEAD and set(later) <= set(sa.inspect(connection).get_table_names())
        if sqlite:
            after = connection.exec_driver_sql(kept).all()
            assert set(before) <= set(after) and len(after) > len(before)
            assert (desk.workspace.folder / "memdesk.before-0001.db").exists()
    engine.dispose()


@pytest.mark.parametrize(
    "content", [b"not a database, only some text " * 40, b"\0" * 8192], ids=["text", "nul"]
)
def test_a_file_that_is_no_database_is_refused(
    workspace: Path, command: Command, content: bytes
) -> None:
    """The driver's words become one code; the file stays as it is."""
    make_desk(workspace).store.close()
    database = workspace / ".memdesk" / "memdesk.db"
    for name in ("memdesk.db-wal", "memdesk.db-shm"):
        database.with_name(name).unlink(missing_ok=True)
    database.write_bytes(content)
    found = command.json("status", status=6)
    assert found["error"]["code"] == "store.unusable"
    assert database.read_bytes() == content


def test_an_url_nobody_understands_is_refused(workspace: Path) -> None:
    """Neither a bad URL nor a server that is not there shows a driver's traceback."""
    with pytest.raises(Unusable, match=r"store\.unusable"):
        make_desk(workspace, "no url at all")
    with pytest.raises(Unusable, match=r"store\.unusable"):
        make_desk(workspace, "postgresql+psycopg://localhost:1/none")
    with pytest.raises(Unusable, match=r"store\.unusable"):
        make_desk(workspace, "oracle://localhost/none")
