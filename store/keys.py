"""Cursors and id ranges: how lists continue and prefixes are found (contract: lists)."""

from __future__ import annotations

import sqlalchemy as sa

from schemas.errors import NotFound

WS: sa.BindParameter[int] = sa.bindparam("ws_")
ID: sa.BindParameter[str] = sa.bindparam("id_")
"""Parameters of statements made once: building one anew costs four times its execution. Their
names end in `_`, so that they are no columns of an UPDATE."""
_LOCKS = {
    "workspace": 1,
    "writes": 2,
    "source_file": 3,
    "label": 4,
    "candidate": 5,
    "artifact": 6,
    "artifact_revision": 7,
    "compaction_mark": 8,
}


def hold(connection: sa.Connection, ws: int, what: str) -> None:
    """Let one transaction at a time do `what` in a workspace, until it commits.

    SQLite has one writer anyway. On PostgreSQL "the greatest number plus one" is a race without it.
    """
    if connection.dialect.name == "postgresql":
        key = sa.func.pg_advisory_xact_lock(_LOCKS[what], ws)
        connection.execute(sa.select(sa.cast(key, sa.Text)))


def next_number(connection: sa.Connection, ws: int, column: sa.Column[int]) -> int:
    """The next number of a numbered table, held until the commit."""
    hold(connection, ws, column.table.name)
    query = sa.select(sa.func.max(column)).where(column.table.c.ws == ws)
    return int(connection.execute(query).scalar() or 0) + 1


def cursor_of(*parts: int) -> str:
    """An opaque cursor from integer keys."""
    return ".".join(str(p) for p in parts)


def parse_cursor(text: str | None, count: int, first: int) -> tuple[int, ...]:
    """The keys of a cursor, or `first` for each at the start of a list.

    Raises NotFound `id.malformed` for a cursor that no list gave out.
    """
    if text is None:
        return (first,) * count
    try:
        parts = tuple(int(p) for p in text.split("."))
    except ValueError:
        parts = ()
    if len(parts) != count or any(abs(p) >= 1 << 63 for p in parts):
        raise NotFound("id.malformed", "The cursor is not one a list gave out.", given=text)
    return parts


def hex_range(prefix: str) -> tuple[bytes, bytes]:
    """The least and greatest 16-byte value whose hex begins with `prefix`."""
    return bytes.fromhex(prefix.ljust(32, "0")), bytes.fromhex(prefix.ljust(32, "f"))


def text_range(prefix: str) -> tuple[str, str]:
    """Bounds `[low, high)` of texts that begin with a hex-ended `prefix`."""
    return prefix, prefix + "g"
