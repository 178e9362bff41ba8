"""Statements that are compiled once and run by the driver.

A confirm runs some forty small statements; SQLAlchemy's own work on each (looking the compiled form
up, binding, wrapping rows) costs several times what SQLite does for it. They stay SQLAlchemy
expressions over the tables, so that names are checked where they are written.
"""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import registry

_PLAIN = (sa.Integer, sa.String, sa.LargeBinary, sa.types.NullType)
"""Types that every driver takes and gives as they are; none is what a function answers."""


class Prepared:
    """One statement with all its parameters named; no lists of varying length in it."""

    def __init__(self, statement: sa.Executable, *columns: str) -> None:
        """`columns` are those an UPDATE sets; an INSERT gives values for all."""
        self._statement: Any = statement
        self._columns = list(columns) or None
        self._forms: dict[str, _Form] = {}

    def all(self, connection: sa.Connection, **values: object) -> list[Any]:
        """All rows, as named tuples."""
        form = self._form(connection.dialect.name)
        return list(map(form.row, _rows(connection, form.text, form.bound(values))))

    def first(self, connection: sa.Connection, **values: object) -> Any:
        """The first row as a named tuple, or None."""
        return next(iter(self.all(connection, **values)), None)

    def value(self, connection: sa.Connection, **values: object) -> Any:
        """The first column of the first row, or None."""
        row = self.first(connection, **values)
        return None if row is None else row[0]

    def run(self, connection: sa.Connection, **values: object) -> int:
        """Run it for its effect; how many rows it changed."""
        form = self._form(connection.dialect.name)
        return _changed(connection, form.text, form.bound(values))

    def _form(self, dialect: str) -> _Form:
        form = self._forms.get(dialect)
        if form is None:
            form = self._forms[dialect] = _Form(self._statement, dialect, self._columns)
        return form


def _dialect(name: str) -> sa.Dialect:
    """How a database's driver is spoken to; the same forms as its engine uses."""
    known: Any = registry.load("postgresql.psycopg" if name == "postgresql" else name)
    dialect: sa.Dialect = known()
    return dialect


class _Form:
    """A statement in one database's words."""

    def __init__(self, statement: Any, dialect: str, columns: list[str] | None) -> None:
        compiled = statement.compile(dialect=_dialect(dialect), column_keys=columns)
        self.text = str(compiled)
        self._order: Sequence[str] | None = compiled.positiontup
        self._given: dict[str, object] = {
            name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required
        }
        columns_out = list(getattr(statement, "selected_columns", ()))
        odd = [c.name for c in columns_out if not isinstance(c.type, _PLAIN)]
        assert not odd, f"{odd} need a conversion that no driver makes"
        names = [c.name for c in columns_out]
        row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
        self.row: Callable[[Iterable[Any]], Any] = row._make

    def bound(self, values: Mapping[str, object]) -> Any:
        """Parameters as the driver takes them; one that is missing is an error, here or there."""
        given = {**self._given, **values}
        return given if self._order is None else tuple([given[n] for n in self._order])


def insert(table: sa.Table) -> str:
    """An INSERT over all columns in their order, for `many`."""
    columns = ", ".join(c.name for c in table.columns)
    return f"INSERT INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(table.columns))})"


def listed(connection: sa.Connection, values: Sequence[object]) -> object:
    """A list as one parameter: JSON for SQLite's `json_each`, an array for PostgreSQL."""
    return orjson.dumps(values).decode() if connection.dialect.name == "sqlite" else values


def rows(connection: sa.Connection, statement: str, values: tuple[object, ...]) -> list[Any]:
    """Rows of a statement written for the driver, with `?` for its parameters."""
    return _rows(connection, _marked(statement, connection.dialect.name), values)


def many(connection: sa.Connection, statement: str, values: Sequence[tuple[Any, ...]]) -> None:
    """A statement with `?` for its parameters over many rows; the driver runs the loop."""
    if values:
        connection.exec_driver_sql(_marked(statement, connection.dialect.name), values)


@functools.cache
def _marked(statement: str, dialect: str) -> str:
    return statement if dialect == "sqlite" else statement.replace("?", "%s")


def _rows(connection: sa.Connection, text: str, values: Any) -> list[Any]:
    if connection.dialect.name == "sqlite":
        raw: Any = connection.connection.dbapi_connection
        found: list[Any] = raw.execute(text, values).fetchall()
        return found
    cursor = connection.exec_driver_sql(text, values).cursor
    assert cursor is not None
    found = list(cursor.fetchall())
    cursor.close()
    return found


def _changed(connection: sa.Connection, text: str, values: Any) -> int:
    if connection.dialect.name == "sqlite":
        raw: Any = connection.connection.dbapi_connection
        return int(raw.execute(text, values).rowcount)
    return int(connection.exec_driver_sql(text, values).rowcount)
