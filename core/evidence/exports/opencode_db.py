"""OpenCode's database as one stream a session: its messages with their parts, by time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import orjson

from core.evidence.exports.database import rows
from core.evidence.readers.opencode import message_data, role_of

TABLES = frozenset({"message", "part"})
_STEADY = {"id", "project_id", "parent_id", "directory", "version", "time_created"}
"""What never changes of a session: the rest would make every old one look rewritten."""
_COLUMNS = "id, session_id, time_created, CASE WHEN length(data) <= ?2 THEN data END AS data"
_MESSAGES = f"SELECT {_COLUMNS} FROM message WHERE session_id = ?1 ORDER BY time_created, id"
_PARTS = f"SELECT message_id, {_COLUMNS} FROM part WHERE message_id = ?1 ORDER BY time_created, id"

INDEXES = (
    "CREATE INDEX IF NOT EXISTS memdesk_message ON message (session_id, time_created, id)",
    "CREATE INDEX IF NOT EXISTS memdesk_part ON part (message_id, time_created, id)",
)
"""Made in the copy, so that no message searches all parts where OpenCode has no index."""


def streams(
    database: sqlite3.Connection, there: frozenset[str], limit: int
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Sessions with the lines of their rows; data longer than `limit` bytes is left out."""
    sql = "SELECT DISTINCT session_id AS id FROM message ORDER BY session_id"
    for id_ in [row["id"] for row in rows(database, sql)]:
        session = None
        if "session" in there:
            session = next(rows(database, "SELECT * FROM session WHERE id = ?", id_), None)
        yield str(id_), _lines(database, id_, session or {}, limit)


def _lines(
    database: sqlite3.Connection, id_: object, session: dict[str, Any], limit: int
) -> Iterator[bytes]:
    facts: dict[str, Any] = {}
    if session:
        facts = {"child": bool(session.get("parent_id")), "cwd": session.get("directory")}
        steady = {k: v for k, v in session.items() if k in _STEADY}
        yield orjson.dumps({"table": "session", **facts, "row": steady})
    for message in rows(database, _MESSAGES, id_, limit):
        yield orjson.dumps({"table": "message", **facts, "row": message})
        role = role_of(message_data(message))
        for part in rows(database, _PARTS, message["id"], limit):
            yield orjson.dumps({"table": "part", "role": role, **facts, "row": part})
