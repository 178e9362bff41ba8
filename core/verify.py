"""Verification: the chain, what it commits to, receipts against files (spec 1.4, 8.3).

Faults end with exit status 1; drift by hand edits is listed and is no fault.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

import orjson

from core.candidates import propose, review
from core.evidence import commitments
from core.identity import digest, digest_text, parse_locator
from core.operations import confirm
from core.ports import Desk, Reader
from schemas.common import Page
from schemas.errors import MemdeskError, Refused
from schemas.evidence import LedgerEntry
from schemas.status import Finding, VerifyReport
from schemas.storage import StoredLeaf

_PAGE = 500
_ZERO = bytes(32)


def verify(desk: Desk, anchor: str | None = None) -> VerifyReport:
    """Check everything. `anchor` is a head digest, or a file that holds a receipt or a head.

    Raises Refused `usage.invalid` for an anchor that is neither.
    """
    wanted = _anchor(anchor) if anchor else None
    faults = [
        Finding(code="store.unusable", what="store", detail=d) for d in desk.store.integrity()
    ]
    checked: Counter[str] = Counter()
    with desk.store.read() as view:
        found, seen, kinds = _chain(desk, view, checked)
        faults += found
        faults += _coverage(view, kinds)
        head = view.ledger.head()
        faults += _unfinished(desk, view)
        drift, receipts = _receipts(desk, view)
    checked["receipts"] = receipts
    if wanted and wanted not in seen:
        detail = f"{wanted} is not in this chain: it was shortened, rewritten, or is another's."
        faults.append(Finding(code="ledger.broken", what="anchor", detail=detail))
    return VerifyReport(
        ok=not faults, head=head, checked=dict(checked), faults=tuple(faults), drift=tuple(drift)
    )


def _anchor(given: str) -> str:
    if given.startswith("sha256:"):
        return given
    try:
        document = orjson.loads(Path(given).read_bytes())
    except (OSError, orjson.JSONDecodeError) as err:
        raise Refused(
            "usage.invalid", f"--head: {given} is no digest and no readable file."
        ) from err
    for key in ("ledger_head", "digest", "head"):
        value = document.get(key) if isinstance(document, dict) else None
        value = value.get("digest") if isinstance(value, dict) else value
        if isinstance(value, str) and value.startswith("sha256:"):
            return value
    raise Refused("usage.invalid", f"--head: {given} holds no ledger head.")


def _chain(
    desk: Desk, view: Reader, checked: Counter[str]
) -> tuple[list[Finding], set[str], dict[str, Counter[str]]]:
    """Walk the chain and every commitment; findings, digests seen, what each kind covers."""
    faults: list[Finding] = []
    seen = {digest_text(_ZERO)}
    covers: dict[str, Counter[str]] = {}
    previous, seq = digest_text(_ZERO), 0
    while batch := view.ledger.entries(seq, _PAGE):
        for entry in batch:
            checked["ledger"] += 1
            faults += _link(entry, previous, seq)
            found, count = _content(desk, view, entry)
            faults += found
            checked[entry.kind] += count
            subject = entry.subject.split(":")[0] if entry.kind == "events" else entry.subject
            covers.setdefault(entry.kind, Counter())[subject] += entry.count
            previous, seq = entry.digest, entry.seq
            seen.add(entry.digest)
    head = view.ledger.head()
    if (head.seq, head.digest) != (seq, previous):
        faults.append(_broken(f"head {head.seq}", f"the last entry is {seq}"))
    return faults, seen, covers


def _link(entry: LedgerEntry, previous: str, seq: int) -> list[Finding]:
    document = [
        entry.seq,
        entry.kind,
        entry.subject,
        entry.time,
        entry.count,
        entry.root.removeprefix("sha256:"),
        entry.previous.removeprefix("sha256:"),
    ]
    out = []
    if entry.seq != seq + 1:
        out.append(_broken(f"entry {seq + 1}", "is missing"))
    if entry.previous != previous:
        out.append(_broken(f"entry {entry.seq}", "does not follow the one before it"))
    if digest_text(sha256(orjson.dumps(document)).digest()) != entry.digest:
        out.append(_broken(f"entry {entry.seq}", "was altered"))
    return out


def _broken(what: str, detail: str) -> Finding:
    return Finding(code="ledger.broken", what=what, detail=detail)


def _content(desk: Desk, view: Reader, entry: LedgerEntry) -> tuple[list[Finding], int]:
    """Recompute what an entry commits to from the rows themselves."""
    if entry.kind == "events":
        return _events(view, entry)
    root = _sealed(desk, view, entry)
    if root == entry.root:
        return [], 1
    detail = "is missing" if root is None else "was altered"
    return [
        Finding(code="evidence.altered", what=f"{entry.kind} {entry.subject}", detail=detail)
    ], 1


def _sealed(desk: Desk, view: Reader, entry: LedgerEntry) -> str | None:
    try:
        if entry.kind == "receipt":
            return _sealed_receipt(desk, view, entry)
        locator = parse_locator(entry.subject, "cand")
        version = view.candidates.version(locator.id, locator.version)
        if version is None:
            return None
        if entry.kind == "candidate":
            return propose.sealed(desk.secret, version)
        ref = review.CandidateRef(version.id, version.version)
        made = view.candidates.decisions(version.id, version.version)
        roots = [review.sealed(desk.secret, ref, d) for d in made]
        return entry.root if entry.root in roots else roots[-1] if roots else None
    except (ValueError, MemdeskError):
        return "unreadable"


def _sealed_receipt(desk: Desk, view: Reader, entry: LedgerEntry) -> str | None:
    page = Page(limit=1, after=str(entry.seq - 1))
    receipts, _ = view.operations.receipts(page)
    same = [r for r in receipts if r.receipt_id == entry.subject]
    return confirm.sealed(desk.secret, same[0]) if same else None


def _events(view: Reader, entry: LedgerEntry) -> tuple[list[Finding], int]:
    file, _, span = entry.subject.partition(":")
    first, _, last = span.partition("-")
    leaves = view.evidence.leaves(file, int(first), int(last))
    faults = [f for leaf in leaves for f in _leaf(file, leaf)]
    there = {x.event.ordinal for x in leaves}
    faults += [
        Finding(code="evidence.altered", what=f"event {n} of {file}", detail="is missing")
        for n in range(int(first), int(last) + 1)
        if n not in there
    ]
    root = digest_text(commitments.root([x.event.commitment for x in leaves]))
    if not faults and root != entry.root:
        faults.append(
            Finding(code="evidence.altered", what=f"batch {entry.subject}", detail="was reordered")
        )
    return faults, len(leaves)


def _leaf(file: str, leaf: StoredLeaf) -> list[Finding]:
    event = leaf.event
    name = f"ev_{event.id.hex()}"
    if not leaf.present:
        return []
    sound = commitments.leaf(file, event) == event.commitment
    raw_sound = event.raw is None or sha256(event.raw).digest() == event.digest
    if sound and raw_sound:
        return []
    return [Finding(code="evidence.altered", what=name, detail="was altered")]


def _coverage(view: Reader, covers: dict[str, Counter[str]]) -> list[Finding]:
    """Rows that no ledger entry answers for were added behind its back."""
    out = []
    events = covers.get("events", Counter())
    for file, count in view.evidence.extent().items():
        if count > events[file]:
            detail = f"{count - events[file]} events were added"
            out.append(Finding(code="evidence.altered", what=file, detail=detail))
    for kind, count in view.candidates.totals().items():
        known = sum(covers.get(kind, Counter()).values())
        if count > known:
            detail = f"{count - known} {kind} rows were added"
            out.append(Finding(code="evidence.altered", what=kind, detail=detail))
    receipts = sum(covers.get("receipt", Counter()).values())
    if view.operations.receipt_count() > receipts:
        out.append(Finding(code="evidence.altered", what="receipt", detail="rows were added"))
    return out


def _unfinished(desk: Desk, view: Reader) -> list[Finding]:
    return [
        Finding(code="operation.unfinished", what=o.operation_id, detail=o.envelope.consumer)
        for o in view.operations.prepared(desk.workspace.checkout)
    ]


def _receipts(desk: Desk, view: Reader) -> tuple[list[Finding], int]:
    """Compare each promoted file with the newest receipt that wrote it."""
    newest: dict[str, tuple[str, str]] = {}
    count, page = 0, Page(limit=_PAGE)
    while True:
        receipts, after = view.operations.receipts(page)
        for receipt in receipts:
            count += 1
            if receipt.checkout == desk.workspace.checkout:
                for target in receipt.targets:
                    newest[target.path] = (receipt.receipt_id, target.after_digest)
        if after is None:
            break
        page = Page(limit=_PAGE, after=after)
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
    return drift, count
