"""SQLite or PostgreSQL: connections, transactions, migrations, and the errors they become.

SQLite: one writer a process, every write BEGIN IMMEDIATE, readers query_only; `synchronous=FULL`
for decisions and confirms, NORMAL for import. The rules are those of house.md, "Writers".
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import event as sa_event
from sqlalchemy.exc import DBAPIError

from schemas.errors import Unusable
from store import frozen
from store.migrations import HEAD

_WAIT_S = 30


class Database:
    """Engines of one store. `read` and `write` hand out connections inside a transaction."""

    def __init__(self, url: str, *, wait: float = _WAIT_S) -> None:
        self.url = url
        self._lock = threading.RLock()
        self._full: bool | None = None
        self._file: tuple[int, int] | None = None
        self._watch: sqlite3.Connection | None = None
        self._watch_lock = threading.Lock()
        parsed = _parse_url(url)
        self.sqlite = parsed.get_backend_name() == "sqlite"
        if self.sqlite:
            self.path: Path | None = Path(parsed.database or "")
            self.frozen = frozen.is_frozen(self.path)
            self.writer = _sqlite(parsed, wait, writer=True)
            self.readers = _sqlite(parsed, wait, writer=False, frozen_=self.frozen)
        elif parsed.get_backend_name() != "postgresql":
            raise Unusable("store.unusable", "The store is SQLite or PostgreSQL, nothing else.")
        else:
            self.path, self.frozen = None, False
            self.writer = _postgresql(parsed, wait, pool=1, read_only=False)
            self.readers = _postgresql(parsed, wait, pool=6, read_only=True)

    def close(self) -> None:
        """Close all connections."""
        self.readers.dispose()
        self.writer.dispose()
        with self._watch_lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None

    @contextlib.contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close all connections when the block ends with an error."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A consistent, read-only view. Raises Unusable as `write` does."""
        self._check_file()
        still = frozen.unmoved(self.path) if self.frozen and self.path else nullcontext()
        with (
            still,
            translated(self.path),
            self.readers.connect() as connection,
            connection.begin(),
        ):
            yield connection

    @contextlib.contextmanager
    def write(self, *, durable: bool) -> Iterator[sa.Connection]:
        """One write transaction; commits at the block's end, rolls back on any error.

        Raises Unusable `store.full`, `store.read-only`, `store.busy`, `store.unusable`.
        """
        self._check_file()
        if self.frozen:
            raise Unusable("store.read-only")
        with self._lock, translated(self.path), self.writer.connect() as connection:
            if self.sqlite and self._full is not durable:
                raw: Any = connection.connection.dbapi_connection
                raw.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._full = durable
            with connection.begin():
                yield connection

    def change_mark(self) -> int:
        """A number that moves when another connection commits (7 us on SQLite)."""
        self._check_file()
        if self.frozen and self.path:
            return hash(frozen.mark(self.path))
        if self.sqlite:
            return self._data_version()
        with translated(self.path), self.readers.connect() as connection:
            found = connection.exec_driver_sql(
                "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint "
                "FROM pg_stat_user_tables"
            ).scalar_one()
        return int(found)

    def _data_version(self) -> int:
        """Always asked on the same connection: other connections count otherwise."""
        with self._watch_lock, translated(self.path):
            if self._watch is None:
                self._watch = sqlite3.connect(
                    f"file:{quote(str(self.path))}?mode=ro", uri=True, check_same_thread=False
                )
            return int(self._watch.execute("PRAGMA data_version").fetchone()[0])

    def prepare(self) -> None:
        """Create or migrate the store to HEAD, backing a SQLite file up before a migration.

        Raises Unusable `store.newer` for a revision this memdesk does not know.
        """
        with translated(self.path):
            current = self._revision()
            if current is not None and current > HEAD:
                raise Unusable("store.newer", f"The store has revision {current}.")
            if self.frozen and current != HEAD:
                message = f"The store has revision {current} and can't be migrated here."
                raise Unusable("store.read-only", message)
            if current is not None and current != HEAD and self.path is not None:
                self._backup(current)
            if current != HEAD:
                self._migrate()
        self._file = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except OSError as err:
            raise Unusable("store.unusable", "The database file is gone.") from err
        return found.st_dev, found.st_ino

    def _check_file(self) -> None:
        """Refuse to go on in a SQLite file that was deleted or replaced: what is written to it
        would be lost, and a new connection would make an empty one in its place."""
        if self._file is not None and self._identity() != self._file:
            raise Unusable("store.unusable", "The database file was replaced by another.")

    def _revision(self) -> str | None:
        """Asked as a reader asks: a writer may hold the store for longer than one waits."""
        with self.readers.connect() as connection, connection.begin():
            if not sa.inspect(connection).has_table("alembic_version"):
                return None
            found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
            return None if found is None else str(found)

    def _backup(self, revision: str) -> None:
        assert self.path is not None
        target = sqlite3.connect(self.path.with_suffix(f".before-{revision}.db"))
        with contextlib.closing(target), contextlib.closing(sqlite3.connect(self.path)) as source:
            source.backup(target)

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.write(durable=True) as connection:
            if not self.sqlite:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7246021)")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _parse_url(url: str) -> sa.URL:
    try:
        return sa.make_url(url)
    except sa.exc.ArgumentError as err:
        raise Unusable("store.unusable", "The store URL is not understood.") from err


def _sqlite(url: sa.URL, wait: float, *, writer: bool, frozen_: bool = False) -> sa.Engine:
    if frozen_:
        path = Path(url.database or "")
        # A connection of its own for each read: an immutable one never looks at its file again.
        engine = sa.create_engine(
            url, poolclass=sa.NullPool, creator=lambda: frozen.connect(path, wait)
        )
    else:
        engine = sa.create_engine(
            url,
            pool_size=1 if writer else 6,
            connect_args={"timeout": wait, "check_same_thread": False},
        )

    @sa_event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        settings = ["trusted_schema=OFF", "cell_size_check=ON", "foreign_keys=ON"]
        if writer:
            settings += ["journal_mode=WAL", "recursive_triggers=ON", "secure_delete=ON"]
            settings += [
                "wal_autocheckpoint=4000",
                "journal_size_limit=67108864",
                "cache_size=-32768",
            ]
        else:
            settings += ["query_only=ON"]
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")

    @sa_event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # By the driver itself: a tenth of what a statement through the engine costs.
        raw: Any = connection.connection.dbapi_connection
        raw.execute("BEGIN IMMEDIATE" if writer else "BEGIN")

    return engine


def _postgresql(url: sa.URL, wait: float, *, pool: int, read_only: bool) -> sa.Engine:
    options = f"-c lock_timeout={int(wait * 1000)} -c timezone=UTC"
    if read_only:
        options += " -c default_transaction_read_only=on"
    try:
        return sa.create_engine(
            url,
            pool_size=pool,
            connect_args={"options": options},
            isolation_level="REPEATABLE READ" if read_only else "READ COMMITTED",
        )
    except ModuleNotFoundError as err:
        raise Unusable(
            "store.unusable", "PostgreSQL needs the extra: pip install 'memdesk[postgres]'."
        ) from err


_UNWRITTEN = ("unable to open database file", "disk i/o error", "readonly database")


@contextlib.contextmanager
def translated(path: Path | None = None) -> Iterator[None]:
    """Database errors as Unusable with a code; no driver's text reaches a user as a traceback."""
    try:
        yield
    except DBAPIError as err:
        raise _unusable(str(err.orig), path) from err
    except sqlite3.DatabaseError as err:
        raise _unusable(str(err), path) from err


def _unusable(text: str, path: Path | None) -> Unusable:
    low = text.lower()
    if path is not None and any(t in low for t in _UNWRITTEN) and path.exists():
        # SQLite says neither why it can't open a file nor why it can't make its log beside it.
        if not (os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)):
            return Unusable("store.read-only")
        if os.statvfs(path.parent).f_bavail == 0:
            return Unusable("store.full")
    first = re.split(r"[\n]", text.strip())[0][:200]
    if "disk is full" in low or "no space left" in low:
        return Unusable("store.full")
    if "is locked" in low or "lock timeout" in low or "deadlock detected" in low:
        return Unusable("store.busy")
    return Unusable("store.unusable", f"The store answered: {first}")
