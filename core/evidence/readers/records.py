"""The pass every reader of JSON lines makes: a format says only what one record holds.

What a format must remember of the committed part of a file that grew (its header, its last
records) is read again from there, bounded on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.evidence.readers.base import Line, Part, Record, Source, Waiting, lines
from core.evidence.readers.jsonl import Value, clean, padding, values, whole
from schemas.evidence import Author, EventKind

_HEAD = 1 << 20
_TAIL = 1 << 18
_SHOWN = 4096


class Reading:
    """State over one file. A format overrides `parts`; `recalls` when that keeps state."""

    recalls = True

    def __init__(self, source: Source) -> None:
        self.source = source
        self.session = source.session
        self.seen = source.known()
        self.line = 0
        """Number of the line `parts` is called for."""

    def parts(self, document: dict[str, Any], notes: list[str]) -> list[Part]:
        """The events of one record, in order; at least one."""
        raise NotImplementedError

    def read(self) -> Iterator[Record | Waiting]:
        """Yield every record in file order; an incomplete last line waits."""
        source = self.source
        if source.offset and self.recalls:
            self._recall()
        for line in lines(source):
            if not line.ended and (line.cut or not whole(line.data)):
                if not (line.continued and padding(line.data)):
                    yield Waiting(line.start, line.size)
                return
            for value in values(line, source.max_record):
                yield self.record(value)

    def record(self, value: Value) -> Record:
        """A record of a value; what is no object is unparsed, whole."""
        if value.broken or not isinstance(value.value, dict):
            notes = value.notes if value.broken else [*value.notes, "not-an-object"]
            return unparsed(value.start, value.raw, value.line, self.session, notes)
        self.line = value.line
        parts = self.parts(value.value, value.notes)
        finish(parts, self.session, value.notes)
        return Record(value.start, value.raw, value.line, parts)

    def _recall(self) -> None:
        """Run the committed head and tail of the file through `parts` once more."""
        for line in _committed(self.source):
            for value in values(line, self.source.max_record):
                if not value.broken and isinstance(value.value, dict):
                    self.line = value.line
                    self.parts(value.value, [])


def unparsed(start: int, raw: bytes, line: int, session: str, notes: list[str]) -> Record:
    """A stretch nobody could read, kept whole; its text is the beginning, as far as it is text."""
    text = raw[:_SHOWN].decode("utf-8", "replace")
    part = Part(EventKind.UNPARSED, Author.UNKNOWN, text, session=session, notes=notes)
    return Record(start, raw, line, [part])


def finish(parts: list[Part], session: str, notes: list[str]) -> None:
    """What all parts of a record share: notes, a session where none is set, text made safe."""
    for part in parts:
        if part.session is None:
            part.session = session
        part.notes = notes if not part.notes else [*notes, *part.notes]
        part.text = clean(part.text)


def _committed(source: Source) -> Iterator[Line]:
    """Lines of the first MiB and the last 256 KiB before the place reading begins at."""
    place = source.file.tell()
    source.file.seek(0)
    head = source.file.read(min(_HEAD, source.offset))
    rest = max(len(head), source.offset - _TAIL)
    source.file.seek(rest)
    tail = source.file.read(source.offset - rest)
    source.file.seek(place)
    if rest == len(head):
        yield from _split(head + tail, 1)
        return
    yield from _split(head[: head.rfind(b"\n") + 1], 1)
    tail = tail[tail.find(b"\n") + 1 :]
    yield from _split(tail, source.line - tail.count(b"\n") + 1)


def _split(data: bytes, number: int) -> Iterator[Line]:
    at = 0
    for n, raw in enumerate(data.split(b"\n"), number):
        if raw.strip():
            yield Line(at, raw.removesuffix(b"\r"), n, True, len(raw) + 1)
        at += len(raw) + 1
