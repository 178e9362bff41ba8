"""What a stored session says of itself, from as little of it as tells (spec 4.9).

The folder its records name is read from its beginning, when it was last spoken in from its end;
neither needs the rest, however long it is. File times say nothing: a copied session keeps its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

from core.evidence.readers.base import Format, Record, Source

HEADS = (1 << 16, 1 << 20, 1 << 24)
"""How much of a file's beginning is read, step by step, until a record names its folder."""
TAIL = 1 << 18
"""Records of this much of a file's end are looked at for the newest time."""
_DOCUMENT = 1 << 26
"""A longer document, which can only be read whole, has no time for us."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a file's records say: the first folder they name, the newest time of the last ones."""

    scope: str | None
    newest: int | None


def look(file: BinaryIO, format_: Format) -> Look:
    """Read as little of an open session as tells its folder and its newest time."""
    size = os.fstat(file.fileno()).st_size
    if size <= TAIL or not format_.log:
        if size > _DOCUMENT:
            return Look(None, None)
        scope, newest = read(file, format_, 0, size)
        return Look(scope, newest)
    scope = None
    for head in HEADS:
        scope, _ = read(file, format_, 0, min(size, head), until_scope=True)
        if scope is not None or head >= size:
            break
    return Look(scope, _newest(file, format_, size))


def _newest(file: BinaryIO, format_: Format, size: int) -> int | None:
    """The greatest time among the last records, further back where none of them has one."""
    tail = TAIL
    while True:
        start = max(0, size - tail)
        if start:
            start += os.pread(file.fileno(), tail, start).find(b"\n") + 1
        _, newest = read(file, format_, start, size)
        if newest is not None or start == 0 or tail >= HEADS[-1]:
            return newest
        tail *= 8


def read(
    file: BinaryIO, format_: Format, start: int, end: int, *, until_scope: bool = False
) -> tuple[str | None, int | None]:
    """The first folder and the greatest time of the records in a stretch of a file."""
    scope: str | None = None
    newest: int | None = None
    file.seek(start)
    source = Source(file, start, 1, end, "", HEADS[-1])
    for item in format_.read(source):
        if not isinstance(item, Record):
            break
        for part in item.parts:
            scope = scope or part.scope
            if part.time is not None:
                newest = part.time if newest is None else max(newest, part.time)
        if until_scope and scope is not None:
            break
    return scope, newest
