"""One walk over the chain: every link, and each entry handed to what it answers for (spec 1.4)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import orjson

from core.identity import digest_text
from core.ports import Reader
from core.verify.anchors import Watch
from core.verify.events import Events
from core.verify.findings import Findings
from core.verify.sealed_rows import SealedRows
from schemas.evidence import LedgerEntry, LedgerHead

_PAGE = 500
ZERO = digest_text(bytes(32))


def walk(
    view: Reader, findings: Findings, events: Events, rows: SealedRows, watch: Watch
) -> LedgerHead:
    """Check every entry and what it commits to; answers the head the store states."""
    previous, seq = ZERO, 0
    for entry in entries(view):
        findings.checked["ledger"] += 1
        _link(findings, entry, previous, seq)
        if entry.kind == "events":
            events.batch(entry)
        else:
            rows.check(entry)
        previous, seq = entry.digest, entry.seq
        watch.met(entry.seq, entry.digest)
    head = view.ledger.head()
    if (head.seq, head.digest) != (seq, previous):
        findings.broken(f"head {head.seq}", f"the last entry is {seq}")
    return head


def entries(view: Reader) -> Iterator[LedgerEntry]:
    """Every entry of the chain, a page at a time."""
    seq = 0
    while batch := view.ledger.entries(seq, _PAGE):
        yield from batch
        seq = batch[-1].seq


def _link(findings: Findings, entry: LedgerEntry, previous: str, seq: int) -> None:
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
        findings.broken(f"entry {seq + 1}", "is missing")
    if entry.previous != previous:
        findings.broken(f"entry {entry.seq}", "does not follow the one before it")
    if digest_text(sha256(orjson.dumps(document)).digest()) != entry.digest:
        findings.broken(f"entry {entry.seq}", "was altered")
