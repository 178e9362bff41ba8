"""The workspace, its interned strings and its hash chain."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import bytes_, int_, table, text_


class WorkspaceRow(SQLModel, table=True):
    """A workspace: its random id and the secret that keys content-free names."""

    __tablename__ = "workspace"
    ws: int = int_(primary_key=True)
    id: str = text_()
    secret: bytes = bytes_()
    created: int = int_()


class LabelRow(SQLModel, table=True):
    """An interned string: a session id, a project scope."""

    __tablename__ = "label"
    ws: int = int_(primary_key=True)
    label: int = int_(primary_key=True)
    text: str = text_()


class LedgerRow(SQLModel, table=True):
    """One entry of the hash chain; never updated or deleted."""

    __tablename__ = "ledger"
    ws: int = int_(primary_key=True)
    seq: int = int_(primary_key=True)
    kind: str = text_()
    subject: str = text_()
    time: int = int_()
    count: int = int_()
    root: bytes = bytes_()
    previous: bytes = bytes_()
    digest: bytes = bytes_()


class LedgerHeadRow(SQLModel, table=True):
    """The end of the chain; locked as the last statement before a commit."""

    __tablename__ = "ledger_head"
    ws: int = int_(primary_key=True)
    seq: int = int_()
    digest: bytes = bytes_()


WORKSPACE = table(WorkspaceRow)
LABEL = table(LabelRow)
LEDGER = table(LedgerRow)
LEDGER_HEAD = table(LedgerHeadRow)
