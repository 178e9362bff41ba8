"""Extracts of artifacts; triggers for artifacts come with every migration (spec 1.4, 1.5)."""

from __future__ import annotations

from collections.abc import Sequence

from store.migrations import making

revision = "0005"
down_revision: str | None = "0004"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TABLES: dict[str, tuple[str, str]] = {
    "artifact_extract": ("ws:i number:i lines:t", "digest:b time:i"),
}


def upgrade() -> None:
    """Create the table of revision 0005."""
    making.create(TABLES, (), ())
