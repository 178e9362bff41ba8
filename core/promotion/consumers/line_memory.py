"""The line-memory consumer: one reviewed fact becomes one line and one sidecar entry (5.1, 5.2).

Every time inside the written bytes is the stored decision time of the candidate version, so equal
state gives equal bytes and equal operation ids.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from core import claims
from core.aiwg_identity import (
    iso_ms,
    js_digest,
    normalised_line,
    nul_digest,
    pretty,
    promotion_handle,
    source_ref,
)
from core.evidence.lookup import current
from core.identity import digest, keyed_id, parse_locator
from core.operations.envelope import Plan, Target, bound_source
from core.ports import Desk, Reader, Writer
from core.promotion.consumers import line_memory_files as files
from schemas.candidates import CandidateState, CandidateVersion
from schemas.common import Classification
from schemas.errors import Refused, Stale
from schemas.operations import BoundTarget, Effect, Envelope, Receipt
from schemas.promotion import Belief
from schemas.storage import Claim, StoredOperation

NAME = "line-memory"
_PROMOTABLE = (Classification.PUBLIC, Classification.INTERNAL)


class LineMemory:
    """`promote` for `.aiwg/memory/line-memory.txt` and its sidecar."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """AIWG's line-memory lock."""
        return files.lock(desk)

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The exact bytes of both files with the fact promoted.

        Raises Refused `candidate.not-accepted`, `line-memory.*`, `destination.link`; Stale
        `candidate.stale-version`.
        """
        with desk.store.read() as view:
            version = accepted(view, subject)
            claim = claims.claim_of(desk, version.statement)
            conflicts, duplicates = claims.relations(
                view.claims, claim, version.key, version.scope, version.id
            )
            missing = [s.locator for s in version.sources if not current(view, s)]
        found = files.settings(desk.workspace)
        before_text = desk.workspace.read(found.path)
        before_meta = desk.workspace.read(found.metadata)
        text = files.read_text(before_text)
        sidecar = files.read_sidecar(before_meta, found)
        journals = files.pending_journals(desk.workspace)
        fact = normalised_line(version.statement)
        after_text, count = files.with_fact(text, fact, dedupe=found.dedupe)
        duplicate = fact in text.lines
        after_meta = pretty(_promoted(sidecar, text, fact, version))
        targets = (
            Target(found.path, before_text, after_text),
            Target(found.metadata, before_meta, after_meta, derived=True),
        )
        blocked = []
        if version.classification not in _PROMOTABLE:
            blocked.append("promotion.classification")
        if count > found.max_lines:
            blocked.append("line-memory.full")
        if journals:
            blocked.append("line-memory.journal-pending")
        if missing:
            blocked.append("candidate.source-missing")
        envelope = Envelope(
            action="promote",
            workspace=desk.workspace.id,
            checkout=desk.workspace.checkout,
            subject=subject,
            subject_digest=version.digest,
            consumer=NAME,
            request=request,
            targets=tuple(
                BoundTarget(
                    path=t.path,
                    before_digest=None if t.before is None else digest(t.before),
                    after_digest=digest(t.after),
                )
                for t in targets
            ),
            sources=tuple(
                bound_source(s.locator, s.digest, version.classification) for s in version.sources
            ),
            policy_digest=desk.policy.digest,
            conflicts=tuple(c.ref for c in conflicts),
            duplicate=duplicate or bool([d for d in duplicates if d.layer == NAME]),
            blocked_by=tuple(blocked),
        )
        return Plan(
            envelope=envelope,
            targets=targets,
            classification=version.classification,
            conflicts=conflicts,
            affects=_effects(version, count, found.max_lines, duplicate, len(conflicts)),
            checks=_checks(version, missing),
            facts={
                "statement": version.statement,
                "reason": version.decision.reason if version.decision else "",
            },
        )

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """The version is still accepted and the newest, and nobody can change that meanwhile."""
        unit.candidates.hold()
        version = accepted(unit, envelope.subject)
        if version.digest != envelope.subject_digest:
            raise Stale("candidate.stale-version", f"{envelope.subject} was altered.")

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """AIWG's redo journal: should we die now, its next command completes both files."""
        found = files.settings(desk.workspace)
        memory, metadata = (t.after for t in plan.targets)
        files.write_journal(desk.workspace, _journal_key(plan.envelope), found, memory, metadata)
        desk.on_step("journalled")

    def after_write(self, desk: Desk, operation: StoredOperation) -> None:
        """Remove our journal; the outbox still holds the bytes that name it."""
        with desk.store.read() as view:
            targets = view.operations.outbox(operation.operation_id)
        if len(targets) == 2:
            memory, metadata = (t.after for t in targets)
            key = _journal_key(operation.envelope)
            files.remove_journal(desk.workspace, key, memory, metadata)
            desk.on_step("journal-removed")

    def tidy(self, desk: Desk) -> None:
        """Remove a lock whose owner is dead."""
        files.remove_dead_lock(desk.workspace)

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """Form the belief, move the version to promoted, enter the claim under its new layer."""
        locator = parse_locator(operation.envelope.subject, "cand")
        version = unit.candidates.version(locator.id, locator.version)
        if version is None:
            raise Stale("preview.stale", f"{operation.envelope.subject} is gone.")
        name = keyed_id("bel", desk.secret, operation.envelope.subject.encode())
        belief = Belief(
            id=name,
            statement=version.statement,
            candidate=version.id,
            version=version.version,
            consumers=(),
            valid_from=version.valid_from,
            valid_until=version.valid_until,
            recorded=receipt.time,
        )
        unit.promotion.add_belief(belief, NAME, receipt.receipt_id)
        unit.candidates.promoted(version.id, version.version)
        unit.claims.withdraw(version.id)
        claim = claims.claim_of(desk, version.statement)
        unit.claims.put(Claim(claim, version.key, version.scope, NAME, name, version.statement))
        return receipt.model_copy(update={"belief": name})


def accepted(view: Reader, subject: str) -> CandidateVersion:
    """The accepted, newest version a promotion is about (spec 5.2).

    Raises Refused `candidate.not-accepted`; Stale `candidate.stale-version`.
    """
    locator = parse_locator(subject, "cand")
    version = view.candidates.version(locator.id, locator.version)
    if version is None:
        raise Refused("candidate.not-accepted", f"There is no {subject}.")
    if version.version != version.newest:
        raise Stale(
            "candidate.stale-version", f"{subject} is not the newest.", newest=version.newest
        )
    if version.state not in (CandidateState.ACCEPTED, CandidateState.PROMOTED):
        raise Refused("candidate.not-accepted", f"{subject} is {version.state.value}.")
    return version


def _journal_key(envelope: Envelope) -> str:
    return envelope.subject


def _promoted(
    sidecar: dict[str, Any], text: files.TextFile, fact: str, version: CandidateVersion
) -> dict[str, Any]:
    """The sidecar with an active entry for every line, and the fact's source recorded."""
    decision = version.decision
    when = iso_ms(decision.time if decision else version.created)
    entries: dict[str, Any] = sidecar["entries"]
    active = {e["value"] for e in entries.values() if e["status"] == "active"}
    untracked = dict.fromkeys(x for x in text.lines if x.strip() and x not in active)
    for n, line in enumerate(untracked):
        if line != fact:
            handle = _free(entries, nul_digest("memdesk-untracked", line), n)
            entries[handle] = _entry(handle, line, when)
    handle = next(
        (h for h, e in entries.items() if e["status"] == "active" and e["value"] == fact), ""
    )
    if not handle:
        handle = promotion_handle(version.id, version.version)
        if handle in entries:
            handle = _free(entries, nul_digest(version.id, str(version.version), "again"), 0)
        entries[handle] = _entry(handle, fact, when)
    entry = entries[handle]
    ref = source_ref(version.id, version.version)
    reviewer = decision.actor.reviewer if decision else None
    sources = entry.setdefault("sources", [])
    known = isinstance(sources, list) and any(
        isinstance(s, dict) and s.get("ref") == ref and s.get("reviewer") == reviewer
        for s in sources
    )
    if isinstance(sources, list) and not known:
        reason = (decision.reason or None) if decision else None
        sources.append({"ref": ref, "reviewer": reviewer, "reason": reason, "recordedAt": when})
        entry["updatedAt"] = when
    return sidecar


def _entry(handle: str, value: str, when: str) -> dict[str, Any]:
    return {
        "id": handle,
        "value": value,
        "digest": js_digest(value),
        "status": "active",
        "createdAt": when,
        "updatedAt": when,
        "lastAccessedAt": when,
        "accessCount": 0,
        "sources": [],
    }


def _free(entries: dict[str, Any], seed: str, n: int) -> str:
    """A derived handle that no entry, active or tombstone, has."""
    while True:
        handle = promotion_handle(seed, n)
        if handle not in entries:
            return handle
        n += 1


def _effects(
    version: CandidateVersion, count: int, limit: int, duplicate: bool, conflicts: int
) -> tuple[Effect, ...]:
    out = []
    if duplicate:
        out.append(
            Effect(
                code="duplicate.same-claim", text="The line stands already; it becomes the newest."
            )
        )
    else:
        out.append(Effect(code="belief.new", text=f"new belief  “{version.statement}”"))
    if conflicts:
        text = f"{conflicts} other statement(s) under {version.key} stay as they are"
        out.append(Effect(code="conflict.same-key", text=text))
    out.append(
        Effect(
            code="line-memory.lines", text=f"line memory will hold {count} of at most {limit} lines"
        )
    )
    return tuple(out)


def _checks(version: CandidateVersion, missing: list[str]) -> tuple[Effect, ...]:
    by = version.decision.actor.reviewer if version.decision else "?"
    out = [Effect(code="candidate", text=f"candidate @{version.version} newest, accepted by {by}")]
    good = len(version.sources) - len(missing)
    out.append(Effect(code="source", text=f"{good} of {len(version.sources)} source(s) unchanged"))
    acknowledged = version.decision.acknowledged if version.decision else ()
    hazards = ", ".join(acknowledged) + " acknowledged" if acknowledged else "no hazard"
    out.append(Effect(code="hazard", text=hazards))
    return tuple(out)
