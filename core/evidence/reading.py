"""From a file's bytes to batches of events ready to be committed; no store is needed for it.

So it can run beside the commits: in this process, or in one of its own (`ahead`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from core.evidence import commitments, own
from core.evidence.readers import named
from core.evidence.readers.base import Format, Record, Source, Waiting
from core.identity import EventNamer
from schemas.errors import MemdeskError, Refused
from schemas.evidence import Author
from schemas.storage import NewEvent

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

BATCH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Request:
    """What of a file is to be read: from a committed place to where it ended when opened."""

    format: str
    file_id: str
    secret: bytes
    stem: str
    offset: int
    tail: int
    """Bytes before `offset` that follow the last record."""
    line: int
    end: int
    ordinal: int
    continued: bool
    known: frozenset[str]
    copied: bool
    """True for a raw copy: whoever it says was the owner is somebody outside."""
    max_record: int
    batch_events: int


@dataclass(slots=True)
class Batch:
    """Events of at most one transaction; `end` is where their last record ends."""

    events: list[NewEvent]
    end: int
    digest: bytes
    """SHA-256 of all committed bytes up to `end`."""
    last: bool = False
    waiting: int = 0
    tail: bytes = b""
    """With the last batch: bytes after its last record that are committed with it."""
    whole: bytes = b""
    """With the last batch: SHA-256 with the tail."""


def batches(request: Request, file: BinaryIO, hasher: Hash) -> Iterator[Batch]:
    """Read a file to its end. `hasher` is over its bytes up to the last committed record."""
    return _Reading(request, file, hasher).batches()


class _Reading:
    def __init__(self, request: Request, file: BinaryIO, hasher: Hash) -> None:
        self.request = request
        self.file = file
        self.hasher = hasher
        self.ids = EventNamer(request.secret, request.file_id)
        self.dated = named(request.format).dated
        self.salts = commitments.salts()
        self.pieces: list[bytes] = []
        """Read since the last batch and not yet hashed: a call for each would cost as much."""

    def batches(self) -> Iterator[Batch]:
        r = self.request
        self.file.seek(r.offset)
        source = Source(
            file=self.file,
            offset=r.offset,
            line=r.line,
            end=r.end,
            session=r.stem,
            max_record=r.max_record,
            known=lambda: set(r.known),
            continued=r.continued,
        )
        end, ordinal, line, weight = r.offset - r.tail, r.ordinal, 0, 0
        events: list[NewEvent] = []
        stop, waiting = r.end, 0
        format_ = named(r.format)
        for item in _items(format_, source):
            if isinstance(item, Waiting):
                stop, waiting = item.start, 1
                break
            if format_.foreign:
                self._check(item, end)
            events += self._events(item, self._lead(item, end, line), ordinal)
            end, line = item.start + len(item.raw), item.line + item.raw.count(b"\n")
            ordinal = events[-1].ordinal + 1
            weight += len(item.raw)
            if len(events) >= r.batch_events or weight >= BATCH_BYTES:
                yield Batch(events, end, self._hashed())
                events, weight = [], 0
        tail = os.pread(self.file.fileno(), max(0, stop - end), end)
        digest, whole = self._hashed(), self.hasher.copy()
        whole.update(tail)
        yield Batch(events, end, digest, True, waiting, tail, whole.digest())

    def _hashed(self) -> bytes:
        """SHA-256 of everything up to here."""
        # Small pieces in one call; a long line is not copied for it.
        large = any(len(p) > BATCH_BYTES for p in self.pieces)
        for piece in self.pieces if large else (b"".join(self.pieces),):
            self.hasher.update(piece)
        self.pieces = []
        return self.hasher.digest()

    def _check(self, record: Record, end: int) -> None:
        """A reader of others states its places truly, or its file is refused."""
        there = os.pread(self.file.fileno(), len(record.raw), record.start)
        if record.start < end or not record.parts or there != record.raw:
            text = f"The reader {self.request.format} states places its records do not have."
            raise Refused("evidence.reader-failed", text)

    def _lead(self, record: Record, end: int, line: int) -> bytes | None:
        """Bytes since the record before; None for one newline, the usual case."""
        gap = record.start - end
        if gap == 1 and line and record.line != line:
            # Between two lines there is their newline, so one byte is that.
            return None
        lead = os.pread(self.file.fileno(), gap, end) if gap else b""
        return None if lead == b"\n" else lead

    def _events(self, record: Record, lead: bytes | None, ordinal: int) -> list[NewEvent]:
        raw = record.raw
        digest = sha256(raw).digest()
        self.pieces += (b"\n" if lead is None else lead, raw)
        events = []
        for n, part in enumerate(record.parts):
            if own.is_run(part.scope):
                part.notes = [*part.notes, own.NOTE]
            text = part.text.encode()
            twin = None
            if part.native_id is not None and text:
                words = (part.native_id.encode(), part.kind.encode(), text)
                twin = self.ids.twin(part.time if self.dated else None, *words)
            # By place, not by name: that costs a third, and there are hundreds of thousands.
            event = NewEvent(
                self.ids.event(ordinal + n, record.start, digest, n),
                ordinal + n,
                n,
                str(part.kind),
                self._author(part.author),
                part.session or self.request.stem,
                part.time,
                part.native_id,
                part.parent,
                part.scope,
                record.line,
                record.start,
                len(raw),
                "\n".join(part.notes),
                twin,
                text,
                b"" if n else lead,
                None if n else raw,
                digest,
                next(self.salts),
                b"",
            )
            events.append(event.committed(commitments.leaf(self.request.file_id, event)))
        return events

    def _author(self, said: Author) -> str:
        """Who a part is by; in a raw copy nobody is the owner (spec 1.6)."""
        owner = self.request.copied and said is Author.OWNER
        return str(Author.EXTERNAL if owner else said)


def _items(format_: Format, source: Source) -> Iterator[Record | Waiting]:
    """What a reader yields; whatever a reader of others raises is a refusal of the file."""
    try:
        yield from format_.read(source)
    except Exception as err:
        if not format_.foreign or isinstance(err, MemdeskError):
            raise
        text = f"The reader {format_.name} failed: {type(err).__name__}: {err}"
        raise Refused("evidence.reader-failed", text) from err
