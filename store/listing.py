"""What lists share: words that narrow them, and lists that run backwards, paged by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSON

Column = sa.ColumnElement[Any]
Rows = sa.Select[tuple[object, ...]]


def matches(
    text: str, words: Sequence[Column], names: Sequence[Column] = ()
) -> sa.ColumnElement[bool]:
    """True where one of the columns holds `text` as a substring, its wild cards taken literally.

    Both databases lower ASCII alone, so in `words` other letters are also found as written.
    """
    exact = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    as_written = [c.like(f"%{exact}%", escape="\\") for c in words]
    lowered = f"%{exact.lower()}%"
    return sa.or_(
        *as_written, *(sa.func.lower(c).like(lowered, escape="\\") for c in (*words, *names))
    )


def member(connection: sa.Connection, document: Column, name: str) -> Column:
    """A member of a JSON document that is stored as bytes, as text."""
    if connection.dialect.name == "postgresql":
        text = sa.func.convert_from(document, "UTF8")
        found: Column = sa.cast(text, JSON)[name].astext
        return found
    return sa.func.json_extract(sa.cast(document, sa.Text), f"$.{name}")


@dataclass(frozen=True, slots=True)
class Backwards:
    """Newest first: a list by the columns it is ordered and paged by, all descending."""

    keys: tuple[Column, ...]

    def anchors(
        self, connection: sa.Connection, rows: Rows, stride: int
    ) -> tuple[list[tuple[Any, ...]], int]:
        """Every `stride`-th place of a list, and its length: what a scroll bar needs."""
        named = [k.label(f"k{i}") for i, k in enumerate(self.keys)]
        nth = sa.func.row_number().over(order_by=[k.desc() for k in self.keys]).label("nth")
        inner = rows.with_only_columns(*named, nth, maintain_column_froms=True).subquery()
        query = sa.select(*(inner.c[k.name] for k in named)).where((inner.c.nth - 1) % stride == 0)
        found = [tuple(r) for r in connection.execute(query.order_by(inner.c.nth))]
        whole = rows.with_only_columns(named[0], maintain_column_froms=True).subquery()
        count = sa.select(sa.func.count()).select_from(whole)
        return found, int(connection.execute(count).scalar_one())

    def window(self, rows: Rows, start: Sequence[Any], limit: int) -> Rows:
        """At most `limit` rows from place `start` on, by key, never by offset."""
        # The first key alone as well: that is what an index on it answers on both databases.
        here = sa.and_(self.keys[0] <= start[0], sa.tuple_(*self.keys) <= sa.tuple_(*start))
        return rows.where(here).order_by(*(k.desc() for k in self.keys)).limit(limit)
