"""Operations about several candidate versions, found by each of them (spec 5.4)."""

from __future__ import annotations

from collections.abc import Sequence

from store.migrations import making

revision = "0007"
down_revision: str | None = "0006"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TABLES: dict[str, tuple[str, str]] = {
    "operation_about": ("ws:i subject:t operation:t", ""),
}


def upgrade() -> None:
    """Create the table of revision 0007; operations made before are about one thing each."""
    making.create(TABLES, (), ())
