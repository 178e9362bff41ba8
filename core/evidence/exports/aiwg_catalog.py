"""AIWG's session catalog as streams: its events, and what was proposed and decided from them.

Formats of AIWG, section 1.7. Tables are read in the order rows were added; each is a stream of
its own, so a candidate whose state changed leaves the events' stream as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import orjson

from core.evidence.exports.database import rows

TABLES = frozenset({"sessions", "session_events", "intelligence_candidates"})
INDEXES: tuple[str, ...] = ()
_STREAMS = (
    "session_events",
    "intelligence_candidates",
    "candidate_review_receipts",
    "promotion_receipts",
)


def streams(
    database: sqlite3.Connection, there: frozenset[str], limit: int
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Each table that holds rows, with their lines; data longer than `limit` is left out."""
    for table in _STREAMS:
        if table in there and next(rows(database, f"SELECT 1 FROM {table} LIMIT 1"), None):
            yield table, _lines(database, table, limit)


def _lines(database: sqlite3.Connection, table: str, limit: int) -> Iterator[bytes]:
    state = ", review_state" if table == "intelligence_candidates" else ""
    data = "CASE WHEN length(data) <= ? THEN data END AS data"
    for row in rows(database, f"SELECT {data}{state} FROM {table} ORDER BY rowid", limit):
        yield orjson.dumps({"table": table, "row": row})
