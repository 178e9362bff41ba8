"""What sessions hold, counted as they are imported, and which candidates cite an event (spec 1.2).

A list of ten thousand sessions can't count ten million events, and an event can't be looked for in
every candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import orjson
import sqlalchemy as sa
from alembic import op

from store.migrations import making

revision = "0004"
down_revision: str | None = "0003"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_AUTHORS = ("owner", "agent", "subagent", "tool", "system", "external", "unknown")
TABLES: dict[str, tuple[str, str]] = {
    "session_total": (
        "ws:i session:i",
        "seen:i first_time:i? last_time:i? scope:i? file:i events:i bytes:i "
        + " ".join(f"by_{a}:i" for a in _AUTHORS)
        + " unparsed:i partial:i boundaries:i",
    ),
    "candidate_source": ("ws:i event:b number:i version:i", ""),
}
INDEXES: tuple[tuple[str, str, str, bool], ...] = (
    ("session_total", "session_total_seen", "ws seen session", True),
)


def upgrade() -> None:
    """Create the tables, and fill them from what the store holds."""
    making.create(TABLES, INDEXES, set())
    for name in ("low", "high"):
        op.add_column(
            "session_file", sa.Column(name, making.INT, nullable=False, server_default="0")
        )
    op.execute("DELETE FROM session_file")
    op.execute(
        "INSERT INTO session_file (ws, session, file, low, high) SELECT ws, session, file, "
        "min(ordinal), max(ordinal) FROM event GROUP BY ws, session, file"
    )
    by_author = ", ".join(_sum(f"author = '{a}'") for a in _AUTHORS)
    partial = "'\n' || notes || '\n' LIKE '%\npartial\n%'"
    unparsed, boundaries = _sum("kind = 'unparsed'"), _sum("kind = 'compact_boundary'")
    op.execute(
        "INSERT INTO session_total SELECT ws, session, "
        "CASE WHEN max(time) > 0 THEN max(time) ELSE 0 END, min(time), "
        "max(time), min(scope), min(file), count(*), "
        "sum(CASE WHEN part = 0 THEN byte_length ELSE 0 END), "
        f"{by_author}, {unparsed}, {_sum(partial)}, {boundaries} FROM event GROUP BY ws, session"
    )
    connection = op.get_bind()
    table = sa.table(
        "candidate_source", *(sa.column(c) for c in ("ws", "event", "number", "version"))
    )
    found = _citations(connection)
    while rows := list(islice(found, 500)):
        connection.execute(sa.insert(table), rows)


def _sum(condition: str) -> str:
    return f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def _citations(connection: sa.Connection) -> Iterator[dict[str, object]]:
    query = "SELECT ws, number, version, document FROM candidate_version"
    for row in connection.exec_driver_sql(query).all():
        sources = orjson.loads(bytes(row.document)).get("sources", ())
        for event in dict.fromkeys(s["event"] for s in sources):
            named = bytes.fromhex(event.removeprefix("ev_"))
            yield {"ws": row.ws, "event": named, "number": row.number, "version": row.version}
