"""Source files, sessions and events."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import bytes_, int_, table, text_


class SourceFileRow(SQLModel, table=True):
    """A file whose records are evidence, and how far it is committed."""

    __tablename__ = "source_file"
    ws: int = int_(primary_key=True)
    file: int = int_(primary_key=True)
    id: str = text_()
    path: str = text_()
    format: str = text_()
    head: str = text_()
    digest: str = text_()
    size: int = int_()
    lines: int = int_()
    events: int = int_()
    revision: int = int_()
    tail: bytes = bytes_()
    notes: str = text_()
    created: int = int_()


class SourcePathRow(SQLModel, table=True):
    """A path under which a file was met; the newest meaning of a path wins."""

    __tablename__ = "source_path"
    ws: int = int_(primary_key=True)
    path: str = text_(primary_key=True)
    file: int = int_()


class SessionFileRow(SQLModel, table=True):
    """Which files hold events of a session, and between which ordinals."""

    __tablename__ = "session_file"
    ws: int = int_(primary_key=True)
    session: int = int_(primary_key=True)
    file: int = int_(primary_key=True)
    low: int = int_()
    high: int = int_()


class SessionTotalRow(SQLModel, table=True):
    """What a session holds, counted as its events are appended."""

    __tablename__ = "session_total"
    ws: int = int_(primary_key=True)
    session: int = int_(primary_key=True)
    seen: int = int_()
    first_time: int | None = int_(nullable=True)
    last_time: int | None = int_(nullable=True)
    scope: int | None = int_(nullable=True)
    file: int = int_()
    events: int = int_()
    bytes: int = int_()
    by_owner: int = int_()
    by_agent: int = int_()
    by_subagent: int = int_()
    by_tool: int = int_()
    by_system: int = int_()
    by_external: int = int_()
    by_unknown: int = int_()
    unparsed: int = int_()
    partial: int = int_()
    boundaries: int = int_()


class EventRow(SQLModel, table=True):
    """An event's place and the salted commitment to its content; never updated or deleted."""

    __tablename__ = "event"
    ws: int = int_(primary_key=True)
    file: int = int_(primary_key=True)
    ordinal: int = int_(primary_key=True)
    id: bytes = bytes_()
    part: int = int_()
    kind: str = text_()
    author: str = text_()
    session: int = int_()
    time: int | None = int_(nullable=True)
    native_id: str | None = text_(nullable=True)
    parent: str | None = text_(nullable=True)
    scope: int | None = int_(nullable=True)
    line: int = int_()
    byte_start: int = int_()
    byte_length: int = int_()
    notes: str = text_()
    twin: int | None = int_(nullable=True)
    commitment: bytes = bytes_()


class EventBodyRow(SQLModel, table=True):
    """An event's content and salt, stored beside the chain; only erasure deletes it."""

    __tablename__ = "event_body"
    ws: int = int_(primary_key=True)
    file: int = int_(primary_key=True)
    ordinal: int = int_(primary_key=True)
    salt: bytes = bytes_()
    digest: bytes = bytes_()
    text: bytes = bytes_()
    lead: bytes | None = bytes_(nullable=True)
    raw: bytes | None = bytes_(nullable=True)


SOURCE_FILE = table(SourceFileRow)
SOURCE_PATH = table(SourcePathRow)
SESSION_FILE = table(SessionFileRow)
SESSION_TOTAL = table(SessionTotalRow)
EVENT = table(EventRow)
EVENT_BODY = table(EventBodyRow)
