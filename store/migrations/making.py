"""Tables and indexes from short specifications, as every revision makes them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from store.migrations import planner

INT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")
BYTES = sa.LargeBinary()
_TYPES: dict[str, sa.types.TypeEngine[Any]] = {"i": INT, "t": TEXT, "b": BYTES}

Tables = Mapping[str, tuple[str, str]]
"""Name -> (primary key, other columns), each `name:type`; a `?` marks one that may be null."""
Indexes = Sequence[tuple[str, str, str, bool]]
"""Table, name, columns, uniqueness."""


def create(tables: Tables, indexes: Indexes, rowid: Container[str]) -> None:
    """Create tables and indexes; those in `rowid` keep SQLite's rowid, for their large rows.

    All others are clustered by their key. On SQLite the planner's statistics are set with them.
    """
    for name, (keys, columns) in tables.items():
        parts: list[sa.Column[Any]] = []
        for spec in f"{keys} {columns}".split():
            column, kind = spec.split(":")
            parts.append(
                sa.Column(
                    column,
                    _TYPES[kind[0]],
                    primary_key=spec in keys.split(),
                    nullable=kind.endswith("?"),
                    autoincrement=False,
                )
            )
        op.create_table(name, *parts, sqlite_strict=True, sqlite_with_rowid=name in rowid)
    for table, name, names, unique in indexes:
        op.create_index(name, table, names.split(), unique=unique)
    if op.get_bind().dialect.name == "sqlite":
        for statement in planner.sqlite(_all(tables, indexes, rowid)):
            op.execute(statement)


def _all(
    tables: Tables, indexes: Indexes, rowid: Container[str]
) -> Iterator[tuple[str, str, int, bool]]:
    """Every index, primary keys included: table, SQLite's name for it, columns, uniqueness."""
    for table, (keys, _columns) in tables.items():
        name = f"sqlite_autoindex_{table}_1" if table in rowid else table
        yield table, name, len(keys.split()), True
    for table, name, columns, unique in indexes:
        yield table, name, len(columns.split()), unique
