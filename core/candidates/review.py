"""Exact-version review: accept, reject, defer, reopen, edit, diff (spec 4.4, 4.5).

Nothing here is automatic: each decision is a person's, on one version, recorded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core import claims, screening, sealed, textdiff
from core.candidates import propose
from core.identity import one_id, parse_locator, random_id
from core.ports import Desk, Reader, Writer
from core.sources import fences
from schemas.candidates import (
    BatchReport,
    CandidateState,
    CandidateVersion,
    Decision,
    HazardGate,
    Left,
    Verdict,
)
from schemas.choices import OPEN_STATES
from schemas.errors import NotFound, Refused, Stale
from schemas.operations import OperationState
from schemas.promotion import ENDED

_STATES = {
    Verdict.ACCEPT: CandidateState.ACCEPTED,
    Verdict.REJECT: CandidateState.REJECTED,
    Verdict.DEFER: CandidateState.DEFERRED,
}


@dataclass(frozen=True, slots=True)
class CandidateRef:
    """Exactly one version of one candidate."""

    id: str
    version: int

    def __str__(self) -> str:
        return f"{self.id}@{self.version}"


def resolve(view: Reader, text: str, *, deciding: bool = False) -> CandidateRef:
    """The version a reference names; a bare id means the newest, for reading.

    Raises NotFound `id.*`; Refused `id.version-needed` when deciding on a bare id that has
    several versions.
    """
    locator = parse_locator(text, "cand")
    id_ = one_id(locator.id, view.candidates.find(locator.id, 6))
    newest = view.candidates.version(id_)
    if newest is None:
        raise NotFound("id.not-found", given=text)
    if locator.version is None:
        if deciding and newest.version > 1:
            raise Refused("id.version-needed", f"{id_} has versions 1 to {newest.version}.")
        return CandidateRef(id_, newest.version)
    if view.candidates.version(id_, locator.version) is None:
        raise NotFound("id.not-found", f"{id_} has no version {locator.version}.", given=text)
    return CandidateRef(id_, locator.version)


def show(desk: Desk, ref: CandidateRef) -> CandidateVersion:
    """One version with its conflicts, duplicates and the state of its sources."""
    from core.evidence.lookup import standing

    with desk.store.read() as view:
        version = _version(view, ref)
        beside = claims.relations(view.claims, propose.claim_of(desk, version))
        sources = tuple(standing(view, version.sources))
    return version.model_copy(
        update={
            "conflicts": beside.conflicts,
            "duplicates": beside.duplicates,
            "near": beside.near,
            "sources": sources,
        }
    )


def _version(view: Reader, ref: CandidateRef) -> CandidateVersion:
    version = view.candidates.version(ref.id, ref.version)
    if version is None:
        raise NotFound("id.not-found", f"There is no {ref}.", given=str(ref))
    return version


def decide(
    desk: Desk,
    ref: CandidateRef,
    verdict: Verdict,
    *,
    reason: str = "",
    until: int | None = None,
    acknowledged: Sequence[str] = (),
) -> CandidateVersion:
    """Record one decision on one version; writes no memory.

    Raises Stale `candidate.stale-version`, `candidate.decided`; Refused `hazard.*`,
    `candidate.second-source`.
    """
    decision = Decision(
        verdict=verdict,
        actor=desk.actor,
        reason=screening.mask(reason.strip()),
        time=desk.clock(),
        until=until if verdict is Verdict.DEFER else None,
        acknowledged=tuple(sorted(set(acknowledged))),
    )
    with desk.store.write() as unit:
        return _record(desk, unit, ref, decision)


def _returned(version: CandidateVersion, now: int) -> bool:
    """True for a deferral whose day has come."""
    until = version.decision.until if version.decision else None
    return version.state is CandidateState.DEFERRED and until is not None and until <= now


def _record(desk: Desk, unit: Writer, ref: CandidateRef, decision: Decision) -> CandidateVersion:
    """One decision inside a transaction."""
    unit.candidates.hold()
    version = _version(unit, ref)
    if decision.verdict is Verdict.DEFER and _returned(version, decision.time):
        # A decided version never returns (spec 4.4): it is put off again as the next one.
        version = _reopen(desk, unit, ref)
        ref = CandidateRef(version.id, version.version)
    _check_open(version, decision.verdict)
    if decision.verdict is Verdict.ACCEPT:
        _check_acceptable(desk, version, decision.acknowledged)
    if not unit.candidates.decide(ref.id, ref.version, decision, _STATES[decision.verdict]):
        raise Stale("candidate.decided", f"{ref} was decided a moment ago.")
    if decision.verdict is Verdict.REJECT:
        unit.claims.withdraw(ref.id)
        propose.regroup(unit, version.key, version.scope)
    root = sealed.decision(desk.secret, str(ref), decision.model_dump_json().encode())
    unit.ledger.append("decision", str(ref), root, 1, desk.clock())
    return _version(unit, ref)


def decide_all(
    desk: Desk,
    refs: Sequence[CandidateRef],
    verdict: Verdict,
    *,
    reason: str = "",
    until: int | None = None,
    acknowledged: Sequence[str] = (),
) -> BatchReport:
    """One decision each on exactly these versions, undone together; what can't be is left.

    A version another reviewer decided, or that a hazard blocks, is named and the rest goes on.
    """
    name = random_id("batch").removeprefix("batch_")
    decided: list[CandidateVersion] = []
    left: list[Left] = []
    for start in range(0, len(refs), _BATCH):
        with desk.store.write() as unit:
            for ref in refs[start : start + _BATCH]:
                decision = Decision(
                    verdict=verdict,
                    actor=desk.actor,
                    reason=screening.mask(reason.strip()),
                    time=desk.clock(),
                    until=until if verdict is Verdict.DEFER else None,
                    acknowledged=tuple(sorted(set(acknowledged))),
                    batch=name,
                )
                try:
                    decided.append(_record(desk, unit, ref, decision))
                except (Refused, Stale, NotFound) as err:
                    left.append(Left(ref=str(ref), code=err.code, message=err.message))
    return BatchReport(batch=name, decided=tuple(decided), left=tuple(left))


def _check_open(version: CandidateVersion, verdict: Verdict) -> None:
    name = f"{version.id}@{version.version}"
    if version.version != version.newest:
        raise Stale(
            "candidate.stale-version",
            f"{name} is not the newest; version {version.newest} is.",
            newest=version.newest,
        )
    deferred_again = version.state is CandidateState.DEFERRED and verdict is Verdict.DEFER
    if version.state not in OPEN_STATES or deferred_again:
        made = version.decision
        by = f" by {made.actor.reviewer.partition(' <')[0]}" if made else ""
        why = f": “{made.reason}”" if made and made.reason else ""
        raise Stale(
            "candidate.decided",
            f"{name} is {version.state.value}{by}{why}.",
            state=version.state.value,
            reviewer=made.actor.reviewer if made else None,
            reason=made.reason if made else None,
        )


def _check_acceptable(desk: Desk, version: CandidateVersion, acknowledged: Sequence[str]) -> None:
    for hazard in version.hazards:
        if hazard.gate is HazardGate.BLOCK or hazard.code not in acknowledged:
            raise Refused(hazard.code, hazard=hazard.code, gate=hazard.gate.value)
    if missing := propose.sources_missing(desk, version):
        needed = desk.policy.policy.procedure_sources
        raise Refused("candidate.second-source", needed=needed, found=needed - missing)


def reopen(desk: Desk, ref: CandidateRef) -> CandidateVersion:
    """Append version n+1, pending, same statement, naming n.

    Raises Refused `candidate.not-decided`, `candidate.in-promotion`; Stale
    `candidate.stale-version`.
    """
    with desk.store.write() as unit:
        return _reopen(desk, unit, ref)


def _reopen(desk: Desk, unit: Writer, ref: CandidateRef) -> CandidateVersion:
    unit.candidates.hold()
    version = _version(unit, ref)
    if version.version != version.newest:
        raise Stale("candidate.stale-version", newest=version.newest)
    if version.state is CandidateState.PENDING:
        raise Refused("candidate.not-decided", f"{ref} is still pending.")
    if _in_memory(unit, ref):
        raise Refused("candidate.in-promotion", f"{ref} is promoted.")
    _close_sources(desk, unit, version)
    return _append(desk, unit, version, version.statement, renews=ref.version)


def _in_memory(unit: Writer, ref: CandidateRef) -> bool:
    """True while a version is being written or stands at a consumer; what ended there may return."""
    states = {o.state for o in unit.operations.open_of(str(ref))}
    belief = unit.promotion.belief_of(ref.id, ref.version)
    live = belief is not None and any(at.state not in ENDED for at in belief.consumers)
    return live or OperationState.PREPARED in states


def _close_sources(desk: Desk, unit: Writer, version: CandidateVersion) -> None:
    """A formed statement changes: its messages are closed for good (spec 2.2)."""
    made = unit.candidates.decisions(version.id, version.version)
    if any(d.verdict is Verdict.ACCEPT for d in made):
        name, events = f"{version.id}@{version.version}", [s.event for s in version.sources]
        closing = fences.closing(unit, events, "candidate.changed", name)
        fences.hold(desk, unit, closing, name)


def _append(
    desk: Desk,
    unit: Writer,
    old: CandidateVersion,
    statement: str,
    *,
    renews: int | None = None,
    editor: str | None = None,
) -> CandidateVersion:
    proposal = propose.Proposal(
        statement=statement,
        kind=old.kind,
        key=old.key,
        scope=old.scope,
        sources=old.sources,
        method=old.method,
        author=old.author,
        editor=editor if editor is not None else old.editor,
        classification=old.classification,
    )
    version = propose.version_of(desk, old.id, old.version + 1, proposal, renews=renews)
    propose.store(desk, unit, version)
    return version


_UNDO_DEPTH = 50
_BATCH = 200
"""Decisions in one transaction of a batch."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo reopened; `marked` when one key had decided on marked rows."""

    versions: tuple[CandidateVersion, ...]
    marked: bool


def undo_last(desk: Desk) -> Undone:
    """Reopen what this reviewer decided last and that still stands so: one version or a batch.

    Raises Refused `undo.nothing`, `undo.promoted`; what others decided is left alone.
    """
    with desk.store.read() as view:
        last = next(
            (v for v in view.candidates.last_decisions(_UNDO_DEPTH) if _mine(desk, v)), None
        )
        if last is None or last.decision is None:
            raise Refused("undo.nothing")
        name = last.decision.batch
        batch = [v for v in view.candidates.batch(name) if _mine(desk, v)] if name else [last]
    with desk.store.write() as unit:
        for version in batch:
            ref = CandidateRef(version.id, version.version)
            if _in_memory(unit, ref):
                raise Refused("undo.promoted", f"{ref} is promoted.")
        again = tuple(_reopen(desk, unit, CandidateRef(v.id, v.version)) for v in batch)
    return Undone(again, marked=name is not None and not last.decision.reason)


def _mine(desk: Desk, version: CandidateVersion) -> bool:
    """True for a newest version that this reviewer decided."""
    by = version.decision.actor.reviewer if version.decision else None
    return by == desk.actor.reviewer and version.version == version.newest


def edit(desk: Desk, ref: CandidateRef, text: str) -> CandidateVersion:
    """Append an edited version, pending again, vouched for by the reviewer.

    Raises Refused `candidate.statement-empty`, `candidate.unchanged`, `candidate.in-promotion`;
    Stale `candidate.stale-version`.
    """
    statement = propose.clean_statement(text)
    with desk.store.write() as unit:
        unit.candidates.hold()
        version = _version(unit, ref)
        if version.version != version.newest:
            raise Stale("candidate.stale-version", newest=version.newest)
        if statement == version.statement:
            raise Refused("candidate.unchanged")
        if _in_memory(unit, ref):
            raise Refused("candidate.in-promotion", f"{ref} is promoted.")
        _close_sources(desk, unit, version)
        return _append(desk, unit, version, statement, editor=desk.actor.reviewer)


def diff(desk: Desk, id_: str, left: int, right: int) -> textdiff.TextDiff:
    """What changed between two versions' statements, word by word."""
    with desk.store.read() as view:
        a = _version(view, CandidateRef(id_, left))
        b = _version(view, CandidateRef(id_, right))
    return textdiff.compare((a.statement + "\n").encode(), (b.statement + "\n").encode())
