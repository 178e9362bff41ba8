"""Artifacts and their extracts as they are kept, against the seals of the chain (spec 1.4, 1.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core import sealed
from core.evidence import artifacts, commitments, extracts
from core.ports import Desk, Reader
from schemas.errors import MemdeskError, Unusable
from schemas.evidence import LedgerEntry
from schemas.storage import StoredArtifact


@dataclass(frozen=True, slots=True)
class _Bytes:
    """What was found of one artifact's bytes: the root of its chunk digests, and what is wrong."""

    tree: bytes
    chunks: int
    fault: str


class Kept:
    """Checks each artifact's bytes once, however many revisions have them."""

    def __init__(self, desk: Desk, view: Reader, told: Callable[[int], None]) -> None:
        self._desk = desk
        self._view = view
        self._told = told
        self._known: dict[int, _Bytes] = {}
        self._revisions = 0

    @property
    def numbers(self) -> set[int]:
        """Numbers of the artifacts that revisions have led to."""
        return set(self._known)

    @property
    def chunks(self) -> int:
        """How many chunk digests those artifacts have."""
        return sum(b.chunks for b in self._known.values())

    def check(self, entry: LedgerEntry) -> tuple[str, int]:
        """What is wrong with what an entry seals (empty when sound), and bytes looked at."""
        return self._extract(entry) if entry.kind == "extract" else self._revision(entry)

    def _revision(self, entry: LedgerEntry) -> tuple[str, int]:
        self._revisions += 1
        found = self._view.artifacts.stored_revision(entry.subject)
        stored = self._view.artifacts.by_number(found.artifact) if found else None
        if found is None or stored is None:
            return "is missing", 0
        first = stored.number not in self._known
        bytes_ = self._known.get(stored.number) or self._bytes(stored)
        self._known[stored.number] = bytes_
        seal = sealed.artifact(
            self._desk.secret,
            found.id,
            found.path,
            found.revision,
            stored.digest,
            stored.size,
            bytes_.tree,
        )
        sound = (found.number, found.time) == (self._revisions, entry.time)
        if seal != entry.root or not sound or (first and stored.created != entry.time):
            return "was altered", 0
        return bytes_.fault, stored.size if first and not bytes_.fault else 0

    def _bytes(self, stored: StoredArtifact) -> _Bytes:
        chunks = self._view.artifacts.chunks(stored.number, 0, (1 << 62) - 1)
        tree = commitments.root([c.digest for c in chunks])
        size = lines = 0
        last, fault = b"\n", ""
        try:
            for n, chunk in enumerate(chunks):
                data = artifacts.sound(self._desk, stored, chunk)
                if (chunk.number, chunk.lines) != (n, lines):
                    fault = f"chunk {chunk.number} states another place"
                size, lines, last = size + len(data), lines + data.count(b"\n"), data[-1:]
                self._told(len(data))
        except Unusable as err:
            return _Bytes(tree, len(chunks), err.message)
        there = (size, lines + (last != b"\n"), self._desk.store.blobs.size(stored.digest))
        if there != (stored.size, stored.lines, stored.size):
            fault = fault or "has another size"
        return _Bytes(tree, len(chunks), fault)

    def _extract(self, entry: LedgerEntry) -> tuple[str, int]:
        name, _, lines = entry.subject.partition("#l")
        found = self._view.artifacts.revision(name)
        stored = self._view.artifacts.extract(name, lines)
        if found is None or stored is None:
            return "is missing", 0
        seal = sealed.extract(self._desk.secret, entry.subject, stored.digest, stored.time)
        if seal != entry.root:
            return "was altered", 0
        try:
            there = extracts.digest_of(self._desk, found, extracts.ranges_of(lines))
        except MemdeskError as err:
            return err.message, 0
        return ("" if there == stored.digest else "is not what its source says"), 0
