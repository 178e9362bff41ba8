"""Fences, and how beliefs changed at their consumers (spec 2.2, 5.5)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from store.migrations import making

revision = "0008"
down_revision: str | None = "0007"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TABLES: dict[str, tuple[str, str]] = {
    "fence": ("ws:i event:t", "cause:t subject:t cut:t time:i"),
    "belief_change": (
        "ws:i belief:t consumer:t turn:i",
        "state:t time:i receipt:t? replacement:t?",
    ),
}
INDEXES: tuple[tuple[str, str, str, bool], ...] = (
    ("fence", "fence_cut", "ws cut", False),
    ("fence", "fence_time", "ws time event", False),
)


def upgrade() -> None:
    """Create both tables; what was promoted before was active from its receipt on.

    Decisions that were changed before leave no fence: no source could be read then, and no event
    of that time can be admitted later (spec 2.1).
    """
    making.create(TABLES, INDEXES, ())
    connection = op.get_bind()
    held = connection.execute(
        sa.text(
            "SELECT b.ws, b.belief, b.consumer, b.receipt, r.document FROM belief_consumer b "
            "JOIN receipt r ON r.ws = b.ws AND r.id = b.receipt"
        )
    )
    insert = sa.text(
        "INSERT INTO belief_change (ws, belief, consumer, turn, state, time, receipt, replacement) "
        "VALUES (:ws, :belief, :consumer, 1, 'active', :time, :receipt, NULL)"
    )
    for ws, belief, consumer, receipt, document in held.fetchall():
        time = json.loads(bytes(document))["time"]
        row = {"ws": ws, "belief": belief, "consumer": consumer, "time": time, "receipt": receipt}
        connection.execute(insert, row)
