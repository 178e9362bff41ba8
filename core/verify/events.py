"""Events against their commitments, and the files they rebuild (spec 1.3, 1.4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256

from core.evidence import commitments
from core.identity import digest_text
from core.ports import Reader
from core.verify.findings import Findings
from core.wording import some
from schemas.evidence import LedgerEntry
from schemas.storage import NewEvent, StoredFile

_SPAN = re.compile(r"(file_[0-9a-f]{32}):(\d+)-(\d+)")


class Events:
    """The batches of a chain; `files` says what of each file they answer for."""

    def __init__(self, view: Reader, findings: Findings, told: Callable[[int], None]) -> None:
        self._view = view
        self._findings = findings
        self._told = told
        self.files: dict[str, FileBytes] = {}
        self.scopes: set[str | None] = {None}

    def batch(self, entry: LedgerEntry) -> None:
        """Check the events one entry commits to."""
        span = _SPAN.fullmatch(entry.subject)
        if span is None:
            self._findings.broken(f"entry {entry.seq}", "names no events")
            return
        file, first, last = span[1], int(span[2]), int(span[3])
        bytes_ = self.files.setdefault(file, FileBytes(entry.seq))
        faults, size, expected = self._findings.faults, bytes_.size, first
        before = len(faults)
        roots: list[bytes] = []
        scope = None
        for event, present in self._view.proving.leaves(file, first, last):
            if event.ordinal > expected:
                self._missing(file, expected, event.ordinal - 1)
            expected = event.ordinal + 1
            if not (present and _sound(file, event)):
                self._name(file, event, present)
            bytes_.add(event, present)
            if event.scope != scope:
                scope = event.scope
                self.scopes.add(scope)
            roots.append(event.commitment)
        bytes_.settle()
        if expected <= last:
            self._missing(file, expected, last)
        if len(faults) == before:
            self._whole(entry, roots)
        self._findings.checked["events"] += len(roots)
        self._told(bytes_.size - size)

    def _whole(self, entry: LedgerEntry, roots: list[bytes]) -> None:
        if digest_text(commitments.root(roots)) != entry.root:
            self._findings.altered(f"batch {entry.subject}", "was reordered")
        elif len(roots) != entry.count:
            self._findings.broken(f"entry {entry.seq}", "states another count")

    def _missing(self, file: str, first: int, last: int) -> None:
        some = f"event {first}" if first == last else f"events {first} to {last}"
        self._findings.altered(
            f"{some} of {file}", "is missing" if first == last else "are missing"
        )

    def _name(self, file: str, event: NewEvent, present: bool) -> None:
        place = f"event {event.ordinal} of {file}"
        detail = f"was altered: {place}" if present else f"its content is missing: {place}"
        self._findings.altered(f"ev_{event.id.hex()}", detail)


def _sound(file: str, event: NewEvent) -> bool:
    """True for an event that is what was committed to."""
    if event.raw is None:
        # The first part of a record holds the record's bytes, and only the first.
        return event.part > 0 and commitments.leaf(file, event) == event.commitment
    return (
        event.part == 0
        and sha256(event.raw).digest() == event.digest
        and commitments.leaf(file, event) == event.commitment
    )


class FileBytes:
    """A file's bytes as its events rebuild them, in the order the chain committed to."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        """The first entry that answers for events of it."""
        self.hash = sha256()
        self.size = 0
        self.lines = 0
        """Line ends before the end of the last record."""
        self.events = 0
        self.bodies = 0
        self.after = 0
        self.sessions: set[str] = set()
        self._session: str | None = None
        self._pieces: list[bytes] = []

    @property
    def whole(self) -> bool:
        """True while no event's bytes are missing."""
        return self.events == self.bodies

    def add(self, event: NewEvent, present: bool) -> None:
        """Take one event's bytes."""
        self.events += 1
        self.bodies += present
        self.after = max(self.after, event.ordinal + 1)
        if event.session != self._session:
            self._session = event.session
            self.sessions.add(event.session)
        if event.raw is not None:
            self._pieces += (b"\n" if event.lead is None else event.lead, event.raw)
            # Every record states its line, and the chain answers for that.
            self.lines = event.line - 1

    def settle(self, tail: bytes = b"") -> None:
        """Hash what was taken: few calls over much, not two for each record."""
        if self._pieces:
            self.lines += self._pieces[-1].count(b"\n")
        data = b"".join([*self._pieces, tail])
        self._pieces = []
        self.hash.update(data)
        self.size += len(data)

    def differs(self, stored: StoredFile) -> str:
        """How a file's row differs from the bytes its events rebuild; empty when it does not."""
        self.settle(stored.tail)
        if (digest_text(self.hash.digest()), self.size) != (stored.digest, stored.size):
            return "its bytes are not those its digest names"
        lines = self.lines + stored.tail.count(b"\n")
        if stored.lines != lines:
            return f"it has {lines} line ends, not {stored.lines}"
        return "" if stored.events == self.events else f"it has {some(self.events, 'event')}"
