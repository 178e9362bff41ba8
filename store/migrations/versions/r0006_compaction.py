"""Compaction: what reviewers said about items, and where sessions were cut (spec 7.7)."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from store.migrations import making, planner

revision = "0006"
down_revision: str | None = "0005"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TABLES: dict[str, tuple[str, str]] = {
    "compaction_mark": ("ws:i number:i", "session:t item:t boundary:t? document:b"),
}
INDEXES: tuple[tuple[str, str, str, bool], ...] = (
    ("compaction_mark", "compaction_mark_session", "ws session number", True),
)
CUTS = "kind IN ('compact_boundary', 'summary')"
"""The few events the partial index holds; a query must say the same words to be served by it."""


def upgrade() -> None:
    """Create the table of marks, and the index that finds cuts without reading every event."""
    making.create(TABLES, INDEXES, {"compaction_mark"})
    op.create_index(
        "event_cut",
        "event",
        ["ws", "session", "file", "ordinal"],
        sqlite_where=sa.text(CUTS),
        postgresql_where=sa.text(CUTS),
        if_not_exists=True,
    )
    if op.get_bind().dialect.name == "sqlite":
        for statement in planner.sqlite([("event", "event_cut", 4, False)]):
            op.execute(statement)
