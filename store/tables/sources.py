"""What closes sources for good."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import int_, table, text_


class FenceRow(SQLModel, table=True):
    """A message that is closed for good; never updated or deleted."""

    __tablename__ = "fence"
    ws: int = int_(primary_key=True)
    event: str = text_(primary_key=True)
    cause: str = text_()
    subject: str = text_()
    cut: str = text_()
    time: int = int_()


FENCE = table(FenceRow)
