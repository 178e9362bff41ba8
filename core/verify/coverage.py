"""Rows that no ledger entry answers for, and what only follows from others (spec 1.4).

An honest store has as many rows as entries; only where it has not are they named one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from core.compaction import marks
from core.ports import Desk, Reader
from core.sources import fences
from core.verify.events import Events, FileBytes
from core.verify.findings import Findings
from core.verify.sealed_rows import SealedRows
from core.verify.walk import entries
from core.wording import some
from schemas.storage import Extent

_LAST = (1 << 62) - 1


class Coverage:
    """The way back: from the rows to the chain that was walked."""

    def __init__(
        self, desk: Desk, view: Reader, findings: Findings, events: Events, rows: SealedRows
    ) -> None:
        self._desk = desk
        self._view = view
        self._findings = findings
        self._events = events
        self._rows = rows

    def check(self) -> None:
        """Name every row that was added, and every derived row that does not follow."""
        self._sealed()
        self._artifacts()
        for extent in self._view.proving.extent():
            self._file(extent)
        self._paths()
        self._indexes()
        self._rows.derived.check()
        self._rows.claims.check()

    # rows with an entry each

    def _sealed(self) -> None:
        view, rows = self._view, self._rows
        counts = view.candidates.row_counts() | view.artifacts.row_counts()
        counts[marks.ENTRY] = len(view.compaction.mark_numbers())
        odd = {k for k, n in counts.items() if n != rows.entries[k]} | (rows.amiss & set(counts))
        if odd:
            answered = self._answered(odd)
            for kind, name in self._names(odd):
                if answered[kind][name] <= 0:
                    self._findings.altered(f"{kind} {name}", "was added")
                answered[kind][name] -= 1
        self._fences()
        for name in view.operations.unanswered():
            self._findings.altered(f"receipt {name}", "was added")

    def _fences(self) -> None:
        """Fences are told by what cut them: each cut has its entry."""
        cuts = self._view.sources.cuts()
        if len(cuts) == self._rows.entries[fences.ENTRY] and fences.ENTRY not in self._rows.amiss:
            return
        answered = self._answered({fences.ENTRY})[fences.ENTRY]
        for name in cuts:
            if not answered[name]:
                self._findings.altered(f"{fences.ENTRY} {name}", "was added")

    def _answered(self, kinds: set[str]) -> dict[str, Counter[str]]:
        """How many entries of each kind there are for each subject."""
        found: dict[str, Counter[str]] = {k: Counter() for k in kinds}
        for entry in entries(self._view):
            if entry.kind in kinds:
                found[entry.kind][entry.subject] += 1
        return found

    def _names(self, kinds: set[str]) -> Iterator[tuple[str, str]]:
        for kind in sorted(kinds & {"candidate", "decision"}):
            for name, count in sorted(self._view.candidates.names()[kind].items()):
                yield from [(kind, name)] * count
        if marks.ENTRY in kinds:
            yield from ((marks.ENTRY, str(n)) for n in self._view.compaction.mark_numbers())
        for kind in sorted(kinds & {"artifact", "extract"}):
            for name in self._view.artifacts.row_names(kind):
                yield kind, name

    def _artifacts(self) -> None:
        view, kept = self._view.artifacts, self._rows.kept
        for number in view.numbers():
            if number not in kept.numbers:
                self._findings.altered(f"artifact number {number}", "was added")
        for number in view.stray_chunks():
            self._findings.altered(f"artifact_chunk of artifact number {number}", "was added")

    # files and their events

    def _file(self, extent: Extent) -> None:
        if extent.id is None:
            what = f"file number {extent.number}"
            rows = max(extent.events, extent.bodies)
            self._findings.altered(what, f"has {rows} rows of events and is no file")
            return
        file, bytes_ = extent.id, self._events.files.get(extent.id)
        if not self._is_registered(file, bytes_):
            self._findings.altered(f"source {file}", "was added")
        bytes_ = bytes_ or FileBytes(0)
        if extent.events > bytes_.events:
            self._added(file, extent.events - bytes_.events, bytes_.after)
        if extent.bodies > bytes_.bodies:
            more = extent.bodies - bytes_.bodies
            self._findings.altered(file, f"{more} contents of no event were added")
        stored = self._view.evidence.file_by_id(file)
        comparable = bytes_.whole and extent.events == bytes_.events
        if stored and comparable and (detail := bytes_.differs(stored)):
            self._findings.altered(file, detail)

    def _is_registered(self, file: str, bytes_: FileBytes | None) -> bool:
        """True for a file an entry registers, or one of a store made before such entries were."""
        first = self._rows.first_registered
        before = bytes_ is not None and (not first or bytes_.seq < first)
        return file in self._rows.registered or before

    def _added(self, file: str, count: int, after: int) -> None:
        """Name events beyond the last one the chain knows."""
        known = len(self._findings.faults)
        for event, _present in self._view.proving.leaves(file, after, _LAST):
            self._findings.altered(f"ev_{event.id.hex()}", f"was added to {file}")
        if len(self._findings.faults) == known:
            self._findings.altered(file, f"{some(count, 'event')} added")

    # what follows from files and events

    def _paths(self) -> None:
        """Each path means the file that the newest entry about it names."""
        wanted = dict(self._rows.paths)
        for path, file in self._view.proving.paths():
            meant = wanted.pop(path, None)
            legacy = meant is None and file not in self._rows.registered and file is not None
            if meant != file and not legacy:
                self._findings.altered(f"source_path {path}", "names another file")
        for path in wanted:
            self._findings.altered(f"source_path {path}", "is missing")

    def _indexes(self) -> None:
        """Which files hold which sessions, and the names that events use."""
        files = self._events.files
        wanted = {(s, file) for file, b in files.items() for s in b.sessions if s is not None}
        for session, file in self._view.proving.session_files():
            if (session, file) in wanted:
                wanted.discard((session, file))
            else:
                what = f"session_file {session} {file}"
                self._findings.altered(what, "is of a session the file does not hold")
        for session, file in sorted(wanted):
            self._findings.altered(f"session_file {session} {file}", "is missing")
        for table, session in self._view.proving.odd_sessions():
            self._findings.altered(f"{table} {session}", "does not follow from its events")
        used = self._events.scopes.union(*(b.sessions for b in files.values()))
        for number, text in self._view.proving.labels():
            if text not in used:
                self._findings.altered(f"label {number}", "names nothing")
