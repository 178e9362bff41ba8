"""What every consumer shares: the accepted version, its plan's envelope, the belief it forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core import claims
from core.candidates.propose import claim_of
from core.evidence.lookup import standing
from core.identity import digest, keyed_id, parse_locator
from core.operations.envelope import Plan, Target, bound_source
from core.ports import Desk, Reader, Writer
from core.wording import some, verb
from schemas.candidates import CandidateState, CandidateVersion, Related
from schemas.common import Classification
from schemas.errors import Refused, Stale
from schemas.operations import BoundTarget, Effect, Envelope, Receipt
from schemas.promotion import Belief
from schemas.storage import Claim, StoredOperation

_PROMOTABLE = (Classification.PUBLIC, Classification.INTERNAL)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An accepted version with what stands beside it, as of one view of the store."""

    version: CandidateVersion
    conflicts: tuple[Related, ...]
    duplicates: tuple[Related, ...]
    missing: tuple[str, ...]
    """Locators of sources that no longer hold the quoted words."""
    revoked: tuple[str, ...] = ()
    """Locators of sources that were revoked."""


def reviewed(desk: Desk, subject: str) -> Reviewed:
    """The version a promotion is about. Raises as `accepted` does."""
    with desk.store.read() as view:
        version = accepted(view, subject)
        beside = claims.relations(view.claims, claim_of(desk, version))
        sources = standing(view, version.sources)
    missing, revoked = (
        tuple(s.locator for s in sources if s.state == state) for state in ("missing", "revoked")
    )
    return Reviewed(version, beside.conflicts, beside.duplicates, missing, revoked)


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


def plan(
    desk: Desk,
    found: Reviewed,
    consumer: str,
    request: dict[str, str],
    targets: Sequence[Target],
    *,
    duplicate: bool,
    blocked: Sequence[str],
    affects: Sequence[Effect],
) -> Plan:
    """The plan of a promotion: everything it is bound to, and what a person must be told."""
    v = found.version
    codes = [] if v.classification in _PROMOTABLE else ["promotion.classification"]
    codes += blocked
    if found.missing:
        codes.append("candidate.source-missing")
    if len(found.revoked) == len(v.sources):
        codes.append("candidate.source-revoked")
    same = [d for d in found.duplicates if d.layer == consumer]
    envelope = Envelope(
        action="promote",
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        subject=f"{v.id}@{v.version}",
        subject_digest=v.digest,
        consumer=consumer,
        request=request,
        targets=tuple(
            BoundTarget(
                path=t.path,
                before_digest=None if t.before is None else digest(t.before),
                after_digest=digest(t.after),
            )
            for t in targets
        ),
        sources=tuple(bound_source(s.locator, s.digest, v.classification) for s in v.sources),
        policy_digest=desk.policy.digest,
        conflicts=tuple(c.ref for c in found.conflicts),
        duplicate=duplicate or bool(same),
        blocked_by=tuple(codes),
    )
    return Plan(
        envelope=envelope,
        targets=tuple(targets),
        classification=v.classification,
        conflicts=found.conflicts,
        affects=(*affects, *_other_names(desk, targets)),
        checks=_checks(found),
        facts={"statement": v.statement, "reason": v.decision.reason if v.decision else ""},
    )


def _other_names(desk: Desk, targets: Sequence[Target]) -> list[Effect]:
    """Files that have hard links: the exchange gives this name a new file (spec 5.4)."""
    linked = [t.path for t in targets if t.before is not None and desk.workspace.names(t.path) > 1]
    text = "{} has another name (a hard link), which keeps the bytes from before"
    return [Effect(code="effect.hard-link", text=text.format(path)) for path in linked]


def _checks(found: Reviewed) -> tuple[Effect, ...]:
    version, missing = found.version, found.missing
    by = version.decision.actor.reviewer if version.decision else "?"
    out = [Effect(code="candidate", text=f"candidate @{version.version} newest, accepted by {by}")]
    good = len(version.sources) - len(missing)
    count = some(len(version.sources), "source")
    out.append(Effect(code="source", text=f"{good} of {count} unchanged"))
    if gone := len(found.revoked):
        out.append(Effect(code="candidate.source-revoked", text=f"{gone} of {count} revoked"))
    acknowledged = version.decision.acknowledged if version.decision else ()
    hazards = ", ".join(acknowledged) + " acknowledged" if acknowledged else "no hazard"
    out.append(Effect(code="hazard", text=hazards))
    return tuple(out)


def new_belief(found: Reviewed) -> list[Effect]:
    """What a promotion that adds a statement brings, and what it leaves as it is."""
    out = [Effect(code="belief.new", text=f"new belief  “{found.version.statement}”")]
    if found.conflicts:
        count, key = len(found.conflicts), found.version.key
        stay = verb(count, "stays as it is", "stay as they are")
        text = f"{some(count, 'other statement')} under {key} {stay}"
        out.append(Effect(code="conflict.same-key", text=text))
    return out


def recheck(unit: Writer, envelope: Envelope) -> None:
    """The version is still accepted and the newest, and nobody can change that meanwhile."""
    unit.candidates.hold()
    version = accepted(unit, envelope.subject)
    if version.digest != envelope.subject_digest:
        raise Stale("candidate.stale-version", f"{envelope.subject} was altered.")


def record(desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt) -> Receipt:
    """Form the belief, move the version to promoted, enter the claim under its new layer."""
    bound = operation.envelope
    locator = parse_locator(bound.subject, "cand")
    version = unit.candidates.version(locator.id, locator.version)
    if version is None:
        raise Stale("preview.stale", f"{bound.subject} is gone.")
    name = keyed_id("bel", desk.secret, bound.subject.encode())
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
    unit.promotion.add_belief(belief, bound.consumer, receipt.receipt_id)
    unit.candidates.promoted(version.id, version.version)
    unit.claims.withdraw(version.id)
    claim = claims.claim_of(desk, version.statement)
    said = Claim(claim, version.key, version.scope, bound.consumer, name, version.statement)
    unit.claims.put(said)
    return receipt.model_copy(update={"belief": name})
