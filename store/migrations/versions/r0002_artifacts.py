"""Artifacts: bytes kept whole, their chunk digests, the revisions of a path (spec 1.5)."""

from __future__ import annotations

from collections.abc import Sequence

from store.migrations import making

revision = "0002"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TABLES: dict[str, tuple[str, str]] = {
    "artifact": ("ws:i artifact:i", "digest:b size:i lines:i created:i"),
    "artifact_chunk": ("ws:i artifact:i chunk:i", "digest:b lines:i"),
    "artifact_revision": ("ws:i number:i", "id:t path:t revision:i artifact:i time:i"),
    "artifact_bytes": ("ws:i digest:b chunk:i", "data:b"),
}
INDEXES: tuple[tuple[str, str, str, bool], ...] = (
    ("artifact", "artifact_digest", "ws digest", True),
    ("artifact_revision", "artifact_revision_id", "ws id", True),
    ("artifact_revision", "artifact_revision_path", "ws path revision", True),
    ("artifact_revision", "artifact_revision_artifact", "ws artifact number", True),
)
ROWID = {"artifact_bytes"}


def upgrade() -> None:
    """Create the tables and indexes of revision 0002."""
    making.create(TABLES, INDEXES, ROWID)
