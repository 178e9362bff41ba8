"""Beliefs newest first, paged by key (spec 5.5)."""

from __future__ import annotations

from collections.abc import Sequence

from store.migrations import making

revision = "0003"
down_revision: str | None = "0002"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TABLES: dict[str, tuple[str, str]] = {}
INDEXES: tuple[tuple[str, str, str, bool], ...] = (
    ("belief", "belief_recorded", "ws recorded id", False),
)
ROWID: set[str] = set()


def upgrade() -> None:
    """Create the index of revision 0003."""
    making.create(TABLES, INDEXES, ROWID)
