"""Rows that one entry each answers for, against the seal the chain holds (spec 1.4).

Files as they were registered, artifacts and their extracts, candidate versions, decisions,
receipts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

from core import sealed
from core.candidates.lanes import Lane, lane_of
from core.compaction import marks
from core.evidence.kept import Kept
from core.ports import Desk, Reader
from core.promotion import drift
from core.sources import fences
from core.verify.claims import Claims
from core.verify.derived import Derived
from core.verify.findings import Findings
from schemas.candidates import (
    Attention,
    CandidateKind,
    CandidateRow,
    CandidateState,
    CandidateVersion,
    HazardGate,
)
from schemas.errors import MemdeskError
from schemas.evidence import LedgerEntry
from schemas.operations import Receipt
from schemas.storage import StoredVersion

_STATES = {
    None: {"pending", "superseded", "lapsed"},
    "accept": {"accepted", "promoted"},
    "reject": {"rejected"},
    "defer": {"deferred", "superseded", "lapsed"},
}
"""States a version may have after a verdict."""


class SealedRows:
    """What the entries of every kind but `events` answer for."""

    def __init__(
        self, desk: Desk, view: Reader, findings: Findings, told: Callable[[int], None]
    ) -> None:
        self._desk = desk
        self._view = view
        self._findings = findings
        self.kept = Kept(desk, view, told)
        self.derived = Derived(desk, view, findings)
        self.claims = Claims(desk, view, findings)
        self.entries: Counter[str] = Counter()
        """Entries of each kind."""
        self.amiss: set[str] = set()
        """Kinds of which a row is not as it was sealed."""
        self.paths: dict[str, str] = {}
        """What each path means by the newest entry about it: a file's id."""
        self.registered: set[str] = set()
        self.first_registered = 0
        """The first entry that registers a file; stores made before such entries have none."""
        self.newest_writes: dict[str, tuple[str, str]] = {}
        """Per path, the newest receipt of this checkout that wrote it, and the digest it left."""

    def check(self, entry: LedgerEntry) -> None:
        """Check what one entry seals."""
        self.entries[entry.kind] += 1
        self._findings.checked[entry.kind] += 1
        try:
            state = self._state(entry)
        except (ValueError, TypeError, KeyError, MemdeskError):
            state = "was altered"
        if state:
            self.amiss.add(entry.kind)
            self._findings.altered(f"{entry.kind} {entry.subject}", state)

    def _state(self, entry: LedgerEntry) -> str:
        """What is wrong with what an entry seals; empty when it is sound."""
        if entry.kind == "receipt":
            return self._receipt(entry)
        if entry.kind in ("source", "path"):
            return self._source(entry)
        if entry.kind in ("artifact", "extract"):
            state, size = self.kept.check(entry)
            self._findings.checked["artifact bytes"] += size
            return state
        if entry.kind == marks.ENTRY:
            return marks.fault(self._desk, self._view, entry.subject, entry.root)
        if entry.kind == fences.ENTRY:
            return fences.fault(self._desk, self._view, entry.subject, entry.root)
        if entry.kind == drift.ENTRY:
            return self.derived.drift(entry.subject, entry.root)
        return self._version(entry)

    def _source(self, entry: LedgerEntry) -> str:
        """A file as it was registered, or a path that means it since (`path`)."""
        id_, _, path = entry.subject.partition(" ")
        if entry.kind == "source":
            self.first_registered = self.first_registered or entry.seq
            self.registered.add(id_)
        self.paths[path] = id_
        stored = self._view.evidence.file_by_id(id_)
        if stored is None:
            return "is missing"
        sound = sealed.source(self._desk.secret, stored, path) == entry.root
        return "" if sound and (stored.path == path or entry.kind == "path") else "was altered"

    def _receipt(self, entry: LedgerEntry) -> str:
        stored = self._view.operations.stored_receipt(entry.seq)
        if stored is None or stored.id != entry.subject:
            return "is missing"
        if sealed.receipt(self._desk.secret, stored.document) != entry.root:
            return "was altered"
        receipt = Receipt.model_validate_json(stored.document)
        if receipt.checkout == self._desk.workspace.checkout:
            for target in receipt.targets:
                self.newest_writes[target.path] = (receipt.receipt_id, target.after_digest)
        self.derived.receipt(receipt)
        self.claims.receipt(entry, receipt)
        names = (receipt.receipt_id, receipt.operation_id, receipt.consumer)
        return "" if names == (stored.id, stored.operation, stored.consumer) else "was altered"

    def _version(self, entry: LedgerEntry) -> str:
        id_, _, number = entry.subject.partition("@")
        self.claims.entry(entry)
        stored = self._view.candidates.stored(id_, int(number))
        secret = self._desk.secret
        if stored is None or (entry.kind == "decision" and not stored.decisions):
            return "is missing"
        if entry.kind == "decision":
            return self._decision(entry, stored)
        if entry.kind != "candidate":
            return "is of a kind this memdesk does not know"
        document: dict[str, Any] = orjson.loads(stored.document)
        same = (document["digest"], document["created"]) == (stored.digest, stored.created)
        if not same or sealed.version(secret, stored.document) != entry.root:
            return "was altered"
        self.derived.version(id_, int(number), [s["event"] for s in document["sources"]])
        return self._listed(id_, int(number))

    def _decision(self, entry: LedgerEntry, stored: StoredVersion) -> str:
        """One of a version's decisions: a deferral, or what ended it."""
        for n, (document, time, turn, batch) in enumerate(stored.decisions, 1):
            found = sealed.decision(self._desk.secret, entry.subject, document)
            if found == entry.root:
                said = orjson.loads(document)
                sound = (said["time"], n, said["batch"]) == (time, turn, batch)
                return "" if sound else "was altered"
        return "was altered"

    def _listed(self, id_: str, number: int) -> str:
        """What lists show of a version, and its state, against its document and decision."""
        view = self._view
        version, row = view.candidates.version(id_, number), view.candidates.row(id_)
        if version is None or row is None:
            return "is missing"
        verdict = None if version.decision is None else version.decision.verdict.value
        allowed = _STATES[verdict]
        if version.state.value == "promoted":
            allowed = allowed if view.promotion.belief_of(id_, number) else set()
        if version.state.value not in allowed:
            return f"is {version.state.value} without the decision for it"
        if number != row.version:
            newer = number < row.version and view.candidates.stored(id_, row.version)
            return "" if newer else f"is listed as version {row.version}"
        first = view.candidates.version(id_, 1)
        if first is None or first.created != row.created:
            return "is listed with another time"
        return _shown(row, version)


def _shown(row: CandidateRow, version: CandidateVersion) -> str:
    """How a candidate's row in lists differs from its newest version."""
    shown = (row.state, row.kind, row.key, row.statement, row.author, row.session)
    session = version.sources[0].session if version.sources else ""
    said = (version.state, version.kind, version.key, version.statement, version.author)
    wanted = (*said, session)
    codes = tuple(h.code for h in version.hazards)
    if shown != wanted or row.hazards != codes:
        return "is listed with other words"
    if row.attention not in _signs(version) or row.due != _due(version):
        return "is listed with other signs"
    return "" if _grouped(row, version) else "is listed in another place"


def _signs(version: CandidateVersion) -> set[Attention]:
    """What a list may mark; how many sources a procedure lacks hangs on the policy of its day."""
    if any(h.gate is HazardGate.BLOCK for h in version.hazards):
        return {Attention.BLOCKED}
    if version.hazards:
        return {Attention.LOOK}
    procedure = version.kind is CandidateKind.PROCEDURE
    return {Attention.LOOK, Attention.NONE} if procedure else {Attention.NONE}


def _due(version: CandidateVersion) -> int | None:
    """When a deferral ends; None for every other state."""
    deferred = version.state is CandidateState.DEFERRED
    return version.decision.until if deferred and version.decision else None


def _grouped(row: CandidateRow, version: CandidateVersion) -> bool:
    """True when a row's place in the queue follows from how the version was found, or from a rule."""
    lanes = {lane_of(version.method, version.author, conflict=c) for c in (False, True)}
    lanes |= {Lane.RULED} if row.rule else set()
    own = row.place == (row.lane << 40) + row.number
    return row.method == version.method and own and row.lane in lanes
