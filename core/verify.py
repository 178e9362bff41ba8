"""Verification: the chain, what it commits to, receipts against files (spec 1.4, 8.3).

Faults end with exit status 1; drift by hand edits is listed and is no fault. Rows are read as they
stand, so that an altered one is named and never ends the check.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from core import sealed
from core.candidates.lanes import lane_of
from core.compaction import marks
from core.evidence import artifacts, commitments
from core.identity import digest, digest_text
from core.ports import Desk, Reader
from schemas.candidates import (
    Attention,
    CandidateRow,
    CandidateState,
    CandidateVersion,
    HazardGate,
)
from schemas.errors import MemdeskError, Refused
from schemas.evidence import LedgerEntry
from schemas.operations import Receipt
from schemas.status import Finding, VerifyReport
from schemas.storage import StoredLeaf, StoredVersion

_PAGE = 500
_ZERO = bytes(32)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SPAN = re.compile(r"(file_[0-9a-f]{32}):(\d+)-(\d+)")
_LAST = (1 << 62) - 1


def verify(desk: Desk, anchor: str | None = None) -> VerifyReport:
    """Check everything. `anchor` is a head digest, or a file that holds a receipt or a head.

    Raises Refused `usage.invalid` for an anchor that is neither.
    """
    wanted = _anchor(anchor) if anchor else None
    faults = [
        Finding(code="store.unusable", what="store", detail=d) for d in desk.store.integrity()
    ]
    with desk.store.read() as view:
        check = _Check(desk, view)
        check.chain()
        check.coverage()
        faults += check.faults + _unfinished(desk, view)
        head = view.ledger.head()
    if wanted and wanted not in check.seen:
        detail = f"{wanted} is not in this chain: it was shortened, rewritten, or is another's."
        faults.append(Finding(code="ledger.broken", what="anchor", detail=detail))
    drift = _drift(desk, check.receipts)
    return VerifyReport(
        ok=not faults,
        head=head,
        checked=dict(check.checked),
        faults=tuple(faults),
        drift=tuple(drift),
    )


def _anchor(given: str) -> str:
    if given.startswith("sha256:"):
        if not _DIGEST.fullmatch(given):
            raise Refused("usage.invalid", f"--head: {given} is no SHA-256 digest.")
        return given
    try:
        document = orjson.loads(Path(given).read_bytes())
    except (OSError, ValueError) as err:
        raise Refused(
            "usage.invalid", f"--head: {given} is no digest and no readable file."
        ) from err
    for key in ("ledger_head", "digest", "head"):
        value = document.get(key) if isinstance(document, dict) else None
        value = value.get("digest") if isinstance(value, dict) else value
        if isinstance(value, str) and _DIGEST.fullmatch(value):
            return value
    raise Refused("usage.invalid", f"--head: {given} holds no ledger head.")


class _Check:
    """One walk over the chain and every row it answers for."""

    def __init__(self, desk: Desk, view: Reader) -> None:
        self.desk = desk
        self.view = view
        self.faults: list[Finding] = []
        self.seen = {digest_text(_ZERO)}
        self.checked: Counter[str] = Counter()
        self.covers: dict[str, Counter[str]] = {}
        """Per kind: how many rows of each subject the chain answers for."""
        self.files: dict[str, _FileBytes] = {}
        self.stored_receipts = view.operations.stored_receipts()
        self.receipts: list[Receipt] = []

    def altered(self, what: str, detail: str) -> None:
        """Note a row that is not what the chain committed to."""
        self.faults.append(Finding(code="evidence.altered", what=what, detail=detail))

    def broken(self, what: str, detail: str) -> None:
        """Note a fault of the chain itself."""
        self.faults.append(Finding(code="ledger.broken", what=what, detail=detail))

    def chain(self) -> None:
        """Walk every entry and what it commits to."""
        previous, seq = digest_text(_ZERO), 0
        while batch := self.view.ledger.entries(seq, _PAGE):
            for entry in batch:
                self.checked["ledger"] += 1
                self._link(entry, previous, seq)
                if entry.kind == "events":
                    self._events(entry)
                else:
                    self._sealed(entry)
                previous, seq = entry.digest, entry.seq
                self.seen.add(entry.digest)
        head = self.view.ledger.head()
        if (head.seq, head.digest) != (seq, previous):
            self.broken(f"head {head.seq}", f"the last entry is {seq}")

    def _link(self, entry: LedgerEntry, previous: str, seq: int) -> None:
        document = [
            entry.seq,
            entry.kind,
            entry.subject,
            entry.time,
            entry.count,
            entry.root.removeprefix("sha256:"),
            entry.previous.removeprefix("sha256:"),
        ]
        if entry.seq != seq + 1:
            self.broken(f"entry {seq + 1}", "is missing")
        if entry.previous != previous:
            self.broken(f"entry {entry.seq}", "does not follow the one before it")
        if digest_text(sha256(orjson.dumps(document)).digest()) != entry.digest:
            self.broken(f"entry {entry.seq}", "was altered")

    def _events(self, entry: LedgerEntry) -> None:
        span = _SPAN.fullmatch(entry.subject)
        if span is None:
            self.broken(f"entry {entry.seq}", "names no events")
            return
        file, first, last = span[1], int(span[2]), int(span[3])
        bytes_ = self.files.setdefault(file, _FileBytes())
        before, expected = len(self.faults), first
        leaves = self.view.evidence.leaves(file, first, last)
        for leaf in leaves:
            if leaf.event.ordinal > expected:
                self._missing(file, expected, leaf.event.ordinal - 1)
            expected = leaf.event.ordinal + 1
            self._leaf(file, leaf)
            bytes_.add(leaf)
        if expected <= last:
            self._missing(file, expected, last)
        root = digest_text(commitments.root([x.event.commitment for x in leaves]))
        if len(self.faults) == before and root != entry.root:
            self.altered(f"batch {entry.subject}", "was reordered")
        self.checked["events"] += len(leaves)

    def _missing(self, file: str, first: int, last: int) -> None:
        some = f"event {first}" if first == last else f"events {first} to {last}"
        self.altered(f"{some} of {file}", "is missing" if first == last else "are missing")

    def _leaf(self, file: str, leaf: StoredLeaf) -> None:
        event = leaf.event
        name, place = f"ev_{event.id.hex()}", f"event {event.ordinal} of {file}"
        if not leaf.present:
            self.altered(name, f"its content is missing: {place}")
            return
        sound = commitments.leaf(file, event) == event.commitment
        # The first part of a record holds the record's bytes, and only the first.
        raw_sound = event.part > 0 if event.raw is None else event.part == 0
        if event.raw is not None:
            raw_sound &= sha256(event.raw).digest() == event.digest
        if not (sound and raw_sound):
            self.altered(name, f"was altered: {place}")

    def _sealed(self, entry: LedgerEntry) -> None:
        """A candidate version, decision or receipt against the seal the chain holds."""
        self.covers.setdefault(entry.kind, Counter())[entry.subject] += 1
        self.checked[entry.kind] += 1
        name = f"{entry.kind} {entry.subject}"
        try:
            if entry.kind == "receipt":
                state = self._receipt(entry)
            elif entry.kind == "artifact":
                state, size = artifacts.faults(self.desk, self.view, entry.subject, entry.root)
                self.checked["artifact bytes"] += size
            elif entry.kind == marks.ENTRY:
                state = marks.fault(self.desk, self.view, entry.subject, entry.root)
            else:
                state = self._version(entry)
        except (ValueError, TypeError, KeyError, MemdeskError):
            state = "was altered"
        if state:
            self.altered(name, state)

    def _receipt(self, entry: LedgerEntry) -> str:
        stored = self.stored_receipts.get(entry.seq)
        if stored is None or stored.id != entry.subject:
            return "is missing"
        if sealed.receipt(self.desk.secret, stored.document) != entry.root:
            return "was altered"
        receipt = Receipt.model_validate_json(stored.document)
        self.receipts.append(receipt)
        names = (receipt.receipt_id, receipt.operation_id, receipt.consumer)
        return "" if names == (stored.id, stored.operation, stored.consumer) else "was altered"

    def _version(self, entry: LedgerEntry) -> str:
        id_, _, number = entry.subject.partition("@")
        stored = self.view.candidates.stored(id_, int(number))
        secret = self.desk.secret
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
        return self._listed(id_, int(number))

    def _decision(self, entry: LedgerEntry, stored: StoredVersion) -> str:
        """One of a version's decisions: a deferral, or what ended it."""
        for n, (document, time, turn, batch) in enumerate(stored.decisions, 1):
            found = sealed.decision(self.desk.secret, entry.subject, document)
            if found == entry.root:
                said = orjson.loads(document)
                sound = (said["time"], n, said["batch"]) == (time, turn, batch)
                return "" if sound else "was altered"
        return "was altered"

    def _listed(self, id_: str, number: int) -> str:
        """What lists show of a version, and its state, against its document and decision."""
        version, row = self.view.candidates.version(id_, number), self.view.candidates.row(id_)
        if version is None or row is None:
            return "is missing"
        verdict = None if version.decision is None else version.decision.verdict.value
        allowed = _STATES[verdict]
        if version.state.value == "promoted":
            allowed = allowed if self.view.promotion.belief_of(id_, number) else set()
        if version.state.value not in allowed:
            return f"is {version.state.value} without the decision for it"
        if number != row.version:
            newer = number < row.version and self.view.candidates.stored(id_, row.version)
            return "" if newer else f"is listed as version {row.version}"
        shown = (row.state, row.kind, row.key, row.statement, row.author)
        wanted = (version.state, version.kind, version.key, version.statement, version.author)
        codes = tuple(h.code for h in version.hazards)
        if shown != wanted or row.hazards != codes:
            return "is listed with other words"
        blocked = any(h.gate is HazardGate.BLOCK for h in version.hazards)
        if (row.attention is Attention.BLOCKED) is not blocked or row.due != _due(version):
            return "is listed with other signs"
        return "" if _grouped(row, version) else "is listed in another place"

    # rows that no entry answers for were added behind the chain's back

    def coverage(self) -> None:
        """Name every row that no ledger entry answers for, and files with other bytes."""
        for kind, names in self.view.candidates.names().items():
            for name in sorted(names - self.covers.get(kind, Counter())):
                self.altered(f"{kind} {name}", "was added")
        known = self.covers.get("receipt", Counter())
        for stored in self.stored_receipts.values():
            if stored.id not in known:
                self.altered(f"receipt {stored.id}", "was added")
        sealed_ = self.covers.get("artifact", Counter())
        for name in self.view.artifacts.find("", _LAST):
            if name not in sealed_:
                self.altered(f"artifact {name}", "was added")
        said = self.covers.get(marks.ENTRY, Counter())
        for number in self.view.compaction.mark_numbers():
            if str(number) not in said:
                self.altered(f"{marks.ENTRY} {number}", "was added")
        for file, count in self.view.evidence.extent().items():
            self._file(file, count)

    def _file(self, file: str, count: int) -> None:
        bytes_ = self.files.get(file, _FileBytes())
        if count > bytes_.events:
            self._added(file, count - bytes_.events, bytes_.after)
        stored = self.view.evidence.file_by_id(file)
        if stored is None or not bytes_.whole or count != bytes_.events:
            return
        if bytes_.digest(stored.tail) != (stored.digest, stored.size):
            self.altered(file, "its bytes are not those its digest names")

    def _added(self, file: str, count: int, after: int) -> None:
        """Name events beyond the last one the chain knows."""
        leaves = self.view.evidence.leaves(file, after, _LAST)
        for leaf in leaves:
            self.altered(f"ev_{leaf.event.id.hex()}", f"was added to {file}")
        if not leaves:
            self.altered(file, f"{count} events were added")


def _due(version: CandidateVersion) -> int | None:
    """When a deferral ends; None for every other state."""
    deferred = version.state is CandidateState.DEFERRED
    return version.decision.until if deferred and version.decision else None


def _grouped(row: CandidateRow, version: CandidateVersion) -> bool:
    """True when a row's place in the queue follows from how the version was found."""
    lanes = {lane_of(version.method, version.author, conflict=c) for c in (False, True)}
    own = row.place == (row.lane << 40) + row.number
    return row.method == version.method and own and row.lane in lanes


_STATES = {
    None: {"pending", "superseded", "lapsed"},
    "accept": {"accepted", "promoted"},
    "reject": {"rejected"},
    "defer": {"deferred", "superseded", "lapsed"},
}
"""States a version may have after a verdict."""


class _FileBytes:
    """A file's bytes as its events rebuild them, in the order the chain committed to."""

    def __init__(self) -> None:
        self.hash = sha256()
        self.size = 0
        self.events = 0
        self.after = 0
        self.whole = True

    def add(self, leaf: StoredLeaf) -> None:
        """Take one event's bytes."""
        self.events += 1
        self.after = max(self.after, leaf.event.ordinal + 1)
        self.whole &= leaf.present
        if leaf.event.raw is not None:
            lead = b"\n" if leaf.event.lead is None else leaf.event.lead
            self._take(lead)
            self._take(leaf.event.raw)

    def _take(self, data: bytes) -> None:
        self.hash.update(data)
        self.size += len(data)

    def digest(self, tail: bytes) -> tuple[str, int]:
        """Digest and size with the bytes after the last record."""
        self._take(tail)
        return digest_text(self.hash.digest()), self.size


def _unfinished(desk: Desk, view: Reader) -> list[Finding]:
    try:
        found = view.operations.prepared(desk.workspace.checkout)
    except ValueError:
        return [Finding(code="evidence.altered", what="operation", detail="can't be read")]
    return [
        Finding(code="operation.unfinished", what=o.operation_id, detail=o.envelope.consumer)
        for o in found
    ]


def _drift(desk: Desk, receipts: list[Receipt]) -> list[Finding]:
    """Compare each promoted file with the newest receipt that wrote it."""
    newest: dict[str, tuple[str, str]] = {}
    for receipt in receipts:
        if receipt.checkout == desk.workspace.checkout:
            for target in receipt.targets:
                newest[target.path] = (receipt.receipt_id, target.after_digest)
    drift = []
    for path, (receipt_id, wanted) in sorted(newest.items()):
        try:
            data = desk.workspace.read(path)
            state = "is gone" if data is None else "" if digest(data) == wanted else "was edited"
        except MemdeskError as err:
            state = err.message
        if state:
            drift.append(
                Finding(code="receipt.drift", what=path, detail=f"{state} after {receipt_id}")
            )
    return drift
