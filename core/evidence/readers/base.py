"""The seam every reader is built on: lines with their exact places in, records with parts out.

A record is a stretch of the file's bytes; its parts are the events it holds, nearly always one.
Records and the bytes between them rebuild the file (spec 1.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from schemas.evidence import Author, EventKind

CHUNK = 1 << 20


@dataclass(slots=True)
class Part:
    """One event a record holds. `text` is derived; the record's bytes stay as they are."""

    kind: EventKind
    author: Author
    text: str = ""
    native_id: str | None = None
    parent: str | None = None
    session: str | None = None
    scope: str | None = None
    time: int | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """A stretch of the file: `[start, start + len(raw))`, its 1-based line, its parts."""

    start: int
    raw: bytes
    line: int
    parts: list[Part]


@dataclass(slots=True)
class Waiting:
    """An incomplete last record: nothing from `start` on is committed."""

    start: int
    size: int


@dataclass(frozen=True)
class Sample:
    """The beginning of a file, for detection: its bytes and its first complete lines."""

    head: bytes
    lines: tuple[bytes, ...]
    name: str
    records: tuple[dict[str, Any], ...] = ()
    """The objects those lines hold, at most one a line."""
    document: dict[str, Any] | None = None
    """Members of the one JSON document the file is, its arrays as far as they are sampled;
    a document that is a list is its member ""."""
    deep: bool = False
    """True where something is nested deeper than it can be read."""

    @property
    def binary(self) -> bool:
        """True when the sample holds NUL or mostly control bytes."""
        bad = sum(b < 9 or 13 < b < 27 or 27 < b < 32 for b in self.head[:8192])
        return b"\0" in self.head[:8192] or bad * 10 > len(self.head[:8192])


@dataclass(slots=True)
class Source:
    """What a reader reads: an open file from a committed place on, and what is known of it."""

    file: BinaryIO
    offset: int
    line: int
    end: int
    """Where reading ends, even when the file has grown since: what is past it comes next time."""
    session: str
    """Session to use until a record names one: the file's stem."""
    max_record: int
    known: Callable[[], set[str]] = set
    """Native ids already read from this file."""
    continued: bool = False
    """True when the committed bytes before `offset` end inside a line."""


@dataclass(frozen=True, slots=True)
class Format:
    """A reader with its name and how it recognises its files."""

    name: str
    detect: Callable[[Sample], bool]
    read: Callable[[Source], Iterator[Record | Waiting]]
    log: bool = False
    """A log only ever grows by whole records, so its beginning identifies it anywhere; of two
    documents that begin alike each is its own."""
    foreign: bool = False
    """True for an installed reader of others: its places are checked against the file."""
    dated: bool = False
    """True where a record that a resumed session repeats keeps its time: repeats are then looked
    for among the records of that time only."""


@dataclass(slots=True)
class Line:
    """One line without its terminator: place, number, and whether LF ended it."""

    start: int
    data: bytes
    number: int
    ended: bool
    size: int
    """Bytes including the terminator."""
    continued: bool = False
    """True when the line's beginning was committed by an earlier import."""
    cut: bool = False
    """True when the line is too long to be a record, and this is a piece of it."""


def lines(source: Source) -> Iterator[Line]:
    """Lines of a source, split on LF bytes only, one CR before it dropped, blank ones skipped.

    A line longer than a record may be comes in pieces of 1 MiB, each marked `cut`, so that no
    line is ever held whole; while its end is not there it comes as one empty, unended line.
    """
    start, number = source.offset, source.line
    continued = source.continued
    pieces: list[bytes] = []
    held = 0
    while chunk := source.file.read(min(CHUNK, source.end - source.file.tell())):
        if b"\n" not in chunk:
            pieces.append(chunk)
            held += len(chunk)
            if held <= source.max_record:
                continue
            pieces, held = [], 0
            number += 1
            size = _line_size(source, start)
            if size is None:
                yield Line(start, b"", number, False, source.end - start, continued, True)
                return
            yield from _cut(source, start, size - 1, number)
            start += size
            continued = False
            source.file.seek(start)
            continue
        block = b"".join([*pieces, chunk])
        *whole, rest = block.split(b"\n")
        for data in whole:
            number += 1
            if data.strip():
                bare = data.removesuffix(b"\r")
                yield Line(start, bare, number, True, len(data) + 1, continued)
            start += len(data) + 1
            continued = False
        pieces, held = [rest], len(rest)
    rest = b"".join(pieces)
    if rest.strip():
        yield Line(start, rest.removesuffix(b"\r"), number + 1, False, len(rest), continued)


def _line_size(source: Source, start: int) -> int | None:
    """Bytes of the line at `start` with its LF; None when the source ends inside it."""
    source.file.seek(start)
    at = start
    while chunk := source.file.read(min(CHUNK, source.end - at)):
        if (found := chunk.find(b"\n")) >= 0:
            return at + found + 1 - start
        at += len(chunk)
    return None


def _cut(source: Source, start: int, size: int, number: int) -> Iterator[Line]:
    at = start
    while at < start + size:
        source.file.seek(at)
        data = source.file.read(min(CHUNK, start + size - at))
        if not data:
            return
        yield Line(at, data, number, True, len(data), cut=True)
        at += len(data)
