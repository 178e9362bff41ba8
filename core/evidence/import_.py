"""Import: files in, events in the ledger, counts that add up (spec 1.3).

Idempotent by content, incremental for files that grow, nothing dropped silently. Parsing happens
outside transactions; a transaction holds at most one batch, then yields the writer.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.evidence import commitments, known, places, raw
from core.evidence.ahead import Ahead, Lost, reading_ahead
from core.evidence.exports import streams
from core.evidence.readers import named
from core.evidence.readers.base import Format
from core.evidence.readers.registry import problems
from core.evidence.reading import Batch, Request, batches
from core.identity import digest_text
from core.ports import Desk
from schemas.errors import MemdeskError, Refused, Stale
from schemas.evidence import EventKind, FileReport, ImportReport, RefusedFile
from schemas.storage import NewEvent, StoredFile

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

Progress = Callable[[str, int, int], None]
"""Told path, bytes read and size, now and then."""

_NO_EVIDENCE = tuple(
    f"evidence.{code}" for code in ("unknown-format", "binary", "encoding", "too-deep")
)


def silent(_path: str, _read: int, _size: int) -> None:
    """The default progress: none."""


@dataclass(slots=True)
class _Tally:
    """Counts of one file, and of all."""

    records: int = 0
    new: int = 0
    known: int = 0
    unparsed: int = 0
    waiting: int = 0
    linked: int = 0
    bytes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)

    def add(self, other: _Tally) -> None:
        for name in ("records", "new", "known", "unparsed", "waiting", "linked", "bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.kinds.update(other.kinds)
        self.authors.update(other.authors)


def import_paths(
    desk: Desk,
    paths: Iterable[str | Path],
    *,
    format_: str | None = None,
    progress: Progress = silent,
    searched: bool = False,
) -> ImportReport:
    """Import files and folders; what is not read is named in the report and the rest goes on.

    `refused` is what says it is evidence or was named; `skipped` what a folder holds beside it.
    Raises the refusal itself when the one path named is refused; of files that were `searched`
    nobody named any.
    """
    wanted = named(format_) if format_ else None
    total, files = _Tally(), []
    refused: list[RefusedFile] = []
    given = [Path(p) for p in paths]
    met = places.Met(given) if searched else places.gather(given)
    skipped = [_left(desk, link, Refused("path.link")) for link in met.links]
    with reading_ahead(places.size_of(met.files)) as ahead:
        for path in met.files:
            try:
                for report, tally in import_file(desk, path, wanted, progress, ahead):
                    files.append(report)
                    total.add(tally)
            except MemdeskError as err:
                alone = met.files == given[:1] and not searched
                if err.code.startswith(("store.", "workspace.")) or alone:
                    raise
                maybe = path not in given and places.only_maybe(path)
                left = skipped if maybe and err.code in _NO_EVIDENCE else refused
                left.append(_left(desk, path, err))
    events = total.new + total.known
    return ImportReport(
        sources=len(files),
        different=len({f.id for f in files}),
        records=total.records,
        events=events,
        new=total.new,
        duplicate=total.known,
        unparsed=total.unparsed,
        waiting=total.waiting,
        read=events + total.waiting,
        linked=total.linked,
        rewritten=sum(f.rewritten for f in files),
        bytes=total.bytes,
        by_kind=dict(sorted(total.kinds.items())),
        by_author=dict(sorted(total.authors.items())),
        files=tuple(files),
        refused=tuple(refused),
        skipped=tuple(skipped),
        others=dict(sorted(met.others.items())),
        notes=problems(),
    )


def _left(desk: Desk, path: Path, why: MemdeskError) -> RefusedFile:
    return RefusedFile(path=places.stored_path(desk, path), code=why.code, message=why.message)


def import_file(
    desk: Desk,
    path: Path,
    wanted: Format | None,
    progress: Progress,
    ahead: Ahead | None = None,
) -> Iterator[tuple[FileReport, _Tally]]:
    """Import one file, or every stream of a database or tree, each reported by itself.

    Raises Refused for paths and formats, Stale for a racing importer.
    """
    with places.open_evidence(path) as file:
        for label, stream in streams(desk, path, file):
            where, stem = places.stored_path(desk, path), places.session_name(desk, path)
            if label:
                stem = places.readable(label, desk)
                where = f"{where}#{stem}"
            with contextlib.closing(stream):
                place = _Place(where, stem, places.bare(path))
                yield _import_stream(desk, place, stream, wanted, progress, ahead)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a stream stands: its inert path, the session it has by default, its file's name."""

    where: str
    stem: str
    name: str


def _import_stream(
    desk: Desk,
    place: _Place,
    file: BinaryIO,
    wanted: Format | None,
    progress: Progress,
    ahead: Ahead | None,
) -> tuple[FileReport, _Tally]:
    # The file may grow while it is read; this import ends where the file ended now.
    size = os.fstat(file.fileno()).st_size
    where = place.where
    tally, rewritten = _Tally(), False
    for race in range(1, known.RACES + 1):
        met = known.entered(desk, where, file, size, wanted, place.name)
        stored, rewritten = met.file, rewritten or met.rewritten
        format_ = wanted or named(stored.format)
        tally.known = known.events_in(desk, stored, size) - tally.new
        tally.waiting = 0
        run = _Run(desk, stored, tally)
        found = _batches(desk, file, size, stored, met.hasher, place.stem, format_, ahead)
        try:
            stored = run.run(found, lambda end: progress(where, end, size))
            break
        except Lost:
            # What it had sent is committed; the rest is read here.
            ahead = None
        except Stale:
            # Another import of this file was faster; what it committed is known now.
            if race == known.RACES:
                raise
    return (
        FileReport(
            id=stored.id,
            path=where,
            format=format_.name,
            events=tally.new + tally.known,
            new=tally.new,
            duplicate=tally.known,
            unparsed=tally.unparsed,
            waiting=tally.waiting,
            rewritten=rewritten,
            notes=tuple(stored.notes.split("\n")) if stored.notes else (),
        ),
        tally,
    )


def _batches(
    desk: Desk,
    file: BinaryIO,
    size: int,
    stored: StoredFile,
    hasher: Hash,
    stem: str,
    format_: Format,
    ahead: Ahead | None,
) -> Iterator[Batch]:
    """What is still to be committed of a file; nothing of an older, shorter copy."""
    if size < stored.size:
        return iter(())
    with desk.store.read() as view:
        read = view.evidence.native_ids(stored) if stored.events else set()
    request = Request(
        format=format_.name,
        file_id=stored.id,
        secret=desk.secret,
        stem=stem,
        offset=stored.size,
        tail=len(stored.tail),
        line=stored.lines,
        end=size,
        ordinal=stored.events,
        continued=stored.events > 0 and b"\n" not in stored.tail,
        known=frozenset(read),
        copied=raw.is_raw(stored.path),
        max_record=desk.policy.evidence.record_bytes,
        batch_events=desk.policy.evidence.batch_events,
    )
    # A hash that has begun can't be handed over: the rest of a file that grew is read here.
    if ahead is not None and stored.size == 0 and ahead.pays(size):
        return ahead.read(request, file)
    return batches(request, file, hasher)


@dataclass(slots=True)
class _Run:
    """One pass over the uncommitted rest of one file."""

    desk: Desk
    stored: StoredFile
    tally: _Tally

    def run(self, found: Iterator[Batch], progress: Callable[[int], None]) -> StoredFile:
        """Commit batch by batch to the end; returns the file as it stands then."""
        for batch in found:
            self.tally.waiting += batch.waiting
            self._commit(batch)
            progress(batch.end)
        return self.stored

    def _commit(self, batch: Batch) -> None:
        """Append one batch with its ledger entry, and how far the file is read by it."""
        desk, old, events = self.desk, self.stored, batch.events
        if not events and batch.end + len(batch.tail) == old.size:
            return
        with desk.store.write(durable=batch.last) as unit:
            twins = unit.evidence.twins([e.twin for e in events if e.twin is not None])
            events, linked = self._link(events, twins)
            new = replace(
                old,
                digest=digest_text(batch.whole if batch.last else batch.digest),
                size=batch.end + len(batch.tail),
                lines=self._lines(events, batch.tail),
                events=events[-1].ordinal + 1 if events else old.events,
                tail=batch.tail,
            )
            if not unit.evidence.advance(old, new):
                raise Stale("store.busy", "Another import is reading this file.")
            if events:
                unit.evidence.append(old, events)
                root = digest_text(commitments.root([e.commitment for e in events]))
                subject = f"{old.id}:{events[0].ordinal}-{events[-1].ordinal}"
                unit.ledger.append("events", subject, root, len(events), desk.clock())
        self.stored = new
        self._count(events, linked)
        self.tally.bytes += new.size - old.size

    def _link(self, batch: list[NewEvent], twins: dict[int, str]) -> tuple[list[NewEvent], int]:
        """The batch with a note on each event that repeats an earlier one's native id and words,
        and how many do."""
        out, linked, copied = [], 0, raw.is_raw(self.stored.path)
        for event in batch:
            if event.twin is not None:
                own = "ev_" + event.id.hex()
                earlier = twins.setdefault(event.twin, own)
                if earlier != own:
                    linked += 1
                    notes = (event.notes, f"same:{earlier}")
                    event = event._replace(notes="\n".join(filter(None, notes)))
                if copied:
                    # The session it was copied from is no repeat of its copy.
                    event = event._replace(twin=None)
                if copied or earlier != own:
                    event = event.committed(commitments.leaf(self.stored.id, event))
            out.append(event)
        return out, linked

    def _lines(self, batch: list[NewEvent], tail: bytes) -> int:
        """Newlines in the committed bytes."""
        if not batch:
            return self.stored.lines + tail.count(b"\n") - self.stored.tail.count(b"\n")
        last = next(e for e in reversed(batch) if e.raw is not None)
        inside = last.raw.count(b"\n") if last.raw else 0
        return last.line - 1 + inside + tail.count(b"\n")

    def _count(self, batch: list[NewEvent], linked: int) -> None:
        kinds = Counter([e.kind for e in batch])
        self.tally.new += len(batch)
        self.tally.linked += linked
        self.tally.records += sum([e.part == 0 for e in batch])
        self.tally.kinds.update(kinds)
        self.tally.authors.update([e.author for e in batch])
        self.tally.unparsed += kinds[EventKind.UNPARSED]
