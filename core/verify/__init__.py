"""Verification: the chain, what it commits to, receipts against files (spec 1.4, 8.3).

Faults end with exit status 1; drift by hand edits is listed and is no fault. Rows are read as they
stand, so that an altered one is named and never ends the check. Rows stream by key: what is held
grows with the number of files, sessions and paths, never with that of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from core.operations import confirm
from core.ports import Desk, Reader
from core.verify import anchors
from core.verify.coverage import Coverage
from core.verify.events import Events
from core.verify.findings import Findings
from core.verify.sealed_rows import SealedRows
from core.verify.walk import walk
from schemas.errors import MemdeskError
from schemas.status import Finding, VerifyReport

_ALTERED = "what it would write was altered"
Progress = Callable[[str, int, int], None]
"""Told what is checked, bytes done and bytes in all, now and then."""


def silent(_what: str, _done: int, _all: int) -> None:
    """The default progress: none."""


def verify(
    desk: Desk,
    anchor: str | None = None,
    *,
    signers: Path | None = None,
    progress: Progress = silent,
) -> VerifyReport:
    """Check everything. `anchor` is a head digest, or a file that holds a receipt or checkpoint;
    `signers` names who may have signed that file (ssh's `allowed_signers`).

    Raises Refused `usage.invalid` for an anchor that is neither.
    """
    wanted = anchors.parse(anchor) if anchor else None
    findings = Findings()
    for detail in desk.store.integrity():
        findings.fault("store.unusable", "store", detail)
    with desk.store.read() as view:
        told = _told(view, progress)
        events, rows = Events(view, findings, told), SealedRows(desk, view, findings, told)
        watch = anchors.Watch(wanted)
        head = walk(view, findings, events, rows, watch)
        Coverage(desk, view, findings, events, rows).check()
        findings.faults += _unfinished(desk, view)
    signature = anchors.judge(desk, watch, signers, findings) if wanted else None
    return VerifyReport(
        ok=not findings.faults,
        head=head,
        anchor=signature,
        checked=dict(findings.checked),
        faults=tuple(findings.faults),
        drift=tuple(_drift(desk, rows.newest_writes)),
    )


def _told(view: Reader, progress: Progress) -> Callable[[int], None]:
    """Adds up bytes that were checked."""
    whole = view.evidence.counts()["bytes"] + view.artifacts.total_bytes()
    done = 0

    def more(size: int) -> None:
        nonlocal done
        done += size
        progress("verify", done, whole)

    return more


def _unfinished(desk: Desk, view: Reader) -> Iterable[Finding]:
    try:
        found = view.operations.prepared(desk.workspace.checkout)
    except ValueError:
        return [Finding(code="evidence.altered", what="operation", detail="can't be read")]
    out = [
        Finding(code="operation.unfinished", what=o.operation_id, detail=o.envelope.consumer)
        for o in found
    ]
    for o in found:
        if not confirm.sound(desk, o, view.operations.outbox(o.operation_id)):
            out.append(Finding(code="evidence.altered", what=o.operation_id, detail=_ALTERED))
    return out


def _drift(desk: Desk, newest: Mapping[str, tuple[str, str]]) -> list[Finding]:
    """Compare each promoted file with the newest receipt that wrote it."""
    drift = []
    for path, (receipt_id, wanted) in sorted(newest.items()):
        try:
            now = desk.workspace.digest(path)
            state = "is gone" if now is None else "" if now == wanted else "was edited"
        except MemdeskError as err:
            state = err.message
        if state:
            drift.append(
                Finding(code="receipt.drift", what=path, detail=f"{state} after {receipt_id}")
            )
    return drift
