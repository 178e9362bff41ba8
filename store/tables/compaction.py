"""What reviewers said of compactions."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import bytes_, int_, table, text_


class CompactionMarkRow(SQLModel, table=True):
    """What a reviewer said about an item that a compaction kept or lost; never updated."""

    __tablename__ = "compaction_mark"
    ws: int = int_(primary_key=True)
    number: int = int_(primary_key=True)
    session: str = text_()
    item: str = text_()
    boundary: str | None = text_(nullable=True)
    document: bytes = bytes_()


COMPACTION_MARK = table(CompactionMarkRow)
