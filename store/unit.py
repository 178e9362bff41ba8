"""The store as the rules see it: read views and write transactions over one workspace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import sqlalchemy as sa

from schemas.errors import Unusable
from store.artifacts import Artifacts, FileBlobs, RowBlobs
from store.candidates import Candidates
from store.claims import Claims
from store.compaction import Compaction
from store.engine import Database
from store.evidence import Evidence
from store.keys import hold
from store.ledger import ZERO, Ledger
from store.migrations import HEAD, triggers
from store.operations import Operations
from store.promotion import Promotion
from store.proving import Proving
from store.sources import Sources
from store.tables import LEDGER_HEAD, WORKSPACE


class Unit:
    """One connection's view of every column; satisfies both Reader and Writer."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    @cached_property
    def evidence(self) -> Evidence:
        """Files and events."""
        return Evidence(self._c, self._ws)

    @cached_property
    def proving(self) -> Proving:
        """Evidence as its rows stand, for verification."""
        return Proving(self._c, self._ws)

    @cached_property
    def artifacts(self) -> Artifacts:
        """Bytes kept whole, and revisions of paths."""
        return Artifacts(self._c, self._ws)

    @cached_property
    def ledger(self) -> Ledger:
        """The hash chain."""
        return Ledger(self._c, self._ws)

    @cached_property
    def candidates(self) -> Candidates:
        """Candidates and decisions."""
        return Candidates(self._c, self._ws)

    @cached_property
    def claims(self) -> Claims:
        """Normalised claims."""
        return Claims(self._c, self._ws)

    @cached_property
    def operations(self) -> Operations:
        """Operations and receipts."""
        return Operations(self._c, self._ws)

    @cached_property
    def promotion(self) -> Promotion:
        """Beliefs."""
        return Promotion(self._c, self._ws)

    @cached_property
    def sources(self) -> Sources:
        """What closes messages for good."""
        return Sources(self._c, self._ws)

    @cached_property
    def compaction(self) -> Compaction:
        """Cuts and what was said about them."""
        return Compaction(self._c, self._ws)


class SqlStore:
    """One workspace in one database."""

    def __init__(self, database: Database, workspace_id: str, artifacts: Path) -> None:
        self._db = database
        self._ws, self.secret = self._bind(workspace_id)
        self.blobs: FileBlobs | RowBlobs = (
            FileBlobs(artifacts) if database.sqlite else RowBlobs(database, self._ws)
        )

    def _bind(self, workspace_id: str) -> tuple[int, bytes]:
        w = WORKSPACE.c
        with self._db.read() as connection:
            row = connection.execute(sa.select(w.ws, w.secret).where(w.id == workspace_id)).first()
            others = connection.execute(sa.select(w.ws).limit(1)).first()
        if row is None:
            code = "workspace.foreign-store" if others else "workspace.damaged"
            raise Unusable(code)
        return int(row.ws), bytes(row.secret)

    @contextlib.contextmanager
    def read(self) -> Iterator[Unit]:
        """A consistent, read-only view of every column."""
        with self._db.read() as connection:
            yield Unit(connection, self._ws)

    @contextlib.contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Unit]:
        """One transaction over every column; rolls back on any error."""
        with self._db.write(durable=durable) as connection:
            if durable:
                # Reviewers and extractors look before they write; importers hold only numbers.
                hold(connection, self._ws, "writes")
            yield Unit(connection, self._ws)

    def change_mark(self) -> int:
        """Moves when another connection commits."""
        return self._db.change_mark()

    @property
    def read_only(self) -> bool:
        """True where the store's folder can't be written to: it is read, and every write refused."""
        return self._db.frozen

    def integrity(self) -> list[str]:
        """What the database itself finds wrong, and immutability triggers that are missing."""
        with self._db.read() as connection:
            faults = []
            if self._db.sqlite:
                answers = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
                faults = [a for a in answers if a != "ok"]
            wanted, found = triggers.expected(connection), triggers.found(connection)
        faults += [f"trigger {n} is missing" for n in wanted if n not in found]
        altered = [n for n in wanted if n in found and found[n] != wanted[n]]
        return faults + [f"trigger {n} was altered" for n in altered]

    def describe(self) -> Mapping[str, str]:
        """What kind of store this is."""
        backend = "sqlite" if self._db.sqlite else "postgresql"
        return {"backend": backend, "revision": HEAD}

    def close(self) -> None:
        """Close all connections."""
        self._db.close()


def open_store(url: str, workspace_id: str, *, artifacts: Path, wait: float) -> SqlStore:
    """The store at `url`, migrated to HEAD, bound to a workspace it holds; SQLite keeps the bytes
    of artifacts in the folder `artifacts`.

    Raises Unusable `workspace.foreign-store` when it holds only others.
    """
    database = Database(url, wait=wait)
    with database.closed_on_error():
        database.prepare()
        return SqlStore(database, workspace_id, artifacts)


def create_workspace(url: str, workspace_id: str, secret: bytes, time: int, *, wait: float) -> None:
    """Make the store if need be and enter the workspace in it; a second call changes nothing.

    Raises Unusable `workspace.foreign-store` for a SQLite file that holds another workspace.
    """
    database = Database(url, wait=wait)
    with database.closed_on_error():
        _enter(database, workspace_id, secret, time)
    database.close()


def _enter(database: Database, workspace_id: str, secret: bytes, time: int) -> None:
    database.prepare()
    w = WORKSPACE.c
    with database.write(durable=True) as connection:
        hold(connection, 0, "workspace")
        known = {r.id: r.ws for r in connection.execute(sa.select(w.id, w.ws))}
        if workspace_id not in known:
            if known and database.sqlite:
                raise Unusable("workspace.foreign-store")
            ws = max(known.values(), default=0) + 1
            connection.execute(
                sa.insert(WORKSPACE).values(ws=ws, id=workspace_id, secret=secret, created=time)
            )
            connection.execute(sa.insert(LEDGER_HEAD).values(ws=ws, seq=0, digest=ZERO))
