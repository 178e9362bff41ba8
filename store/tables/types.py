"""The types every column has, and the table of a model."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Integer, LargeBinary, Table, Text
from sqlmodel import Field, SQLModel

INT = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text(collation="C").with_variant(Text(), "sqlite")
BYTES = LargeBinary()


def int_(**kw: Any) -> Any:
    """A whole number of up to 64 bits."""
    return Field(sa_type=INT, **kw)


def text_(**kw: Any) -> Any:
    """Identity text: ids, paths, states."""
    return Field(sa_type=TEXT, **kw)


def bytes_(**kw: Any) -> Any:
    """Bytes, outside text among them."""
    return Field(sa_type=BYTES, **kw)


def table(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a model, for Core statements."""
    found: Table = model.__table__  # type: ignore[attr-defined]
    return found
