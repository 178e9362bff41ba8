"""What every consumer shares: the accepted version, its plan's envelope, the belief it forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core import claims
from core.candidates.propose import claim_of
from core.evidence.lookup import standing
from core.identity import digest, digest_json, parse_locator
from core.operations.envelope import Plan, Target, bound_source
from core.ports import Desk, Reader, Writer
from core.promotion.consumers import ending
from core.promotion.consumers.ending import Ending
from core.sources.fences import Closing
from core.wording import some, verb
from schemas.candidates import CandidateState, CandidateVersion, Related
from schemas.common import Classification
from schemas.errors import Refused, Stale
from schemas.operations import (
    BoundSource,
    BoundTarget,
    Effect,
    Envelope,
    PreviewedVersion,
    Receipt,
)
from schemas.promotion import Belief, BeliefState
from schemas.storage import Claim, StoredOperation

_PROMOTABLE = (Classification.PUBLIC, Classification.INTERNAL)
_LEVELS = tuple(Classification)


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


@dataclass(frozen=True, slots=True)
class Change:
    """Everything a promotion to one consumer changes there: what comes, and what it supersedes."""

    every: tuple[Reviewed, ...]
    endings: tuple[Ending, ...]
    closes: tuple[Closing, ...]
    told: tuple[Effect, ...]

    @property
    def conflicts(self) -> tuple[Related, ...]:
        """What contradicts it, each once."""
        return tuple({c.ref: c for r in self.every for c in r.conflicts}.values())


BESIDE = "beside"
"""In a request: beliefs that contradict the promoted statement stay beside it."""
SUPERSEDES = "supersedes"
"""In a request: beliefs that it supersedes although nothing says they contradict it."""


def change(desk: Desk, subject: str, consumer: str, request: dict[str, str]) -> Change:
    """The versions a promotion is about, and the beliefs of its consumer that they supersede.

    A belief under the same key and scope that says something else is superseded, unless the
    request keeps it beside. Raises as `accepted` does.
    """
    with desk.store.read() as view:
        every = tuple(_reviewed(desk, view, ref) for ref in subject.split(" "))
        ends: dict[str, Ending] = {}
        for r in every:
            names = request.get(SUPERSEDES, "").split()
            if BESIDE not in request:
                names += [c.ref for c in r.conflicts if c.ref.startswith("bel_")]
            for end in ending.superseded(desk, view, r.version, names, consumer):
                ends.setdefault(end.belief.id, end)
        endings = tuple(
            replace(e, shared=ending.shared(desk, view, e.belief, consumer, ends))
            for e in ends.values()
        )
        closes = ending.closes(view, endings)
        return Change(every, endings, closes, tuple(ending.effects(view, endings, closes)))


def reviewed(desk: Desk, ref: str) -> Reviewed:
    """One version with what stands beside it. Raises as `accepted` does."""
    with desk.store.read() as view:
        return _reviewed(desk, view, ref)


def _reviewed(desk: Desk, view: Reader, ref: str) -> Reviewed:
    version = accepted(view, ref)
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
        raise Refused("candidate.not-accepted", f"There is no {subject}.", subject=subject)
    if version.version != version.newest:
        text = f"{subject} is not the newest."
        raise Stale("candidate.stale-version", text, newest=version.newest, subject=subject)
    if version.state not in (CandidateState.ACCEPTED, CandidateState.PROMOTED):
        text = f"{subject} is {version.state.value}."
        raise Refused("candidate.not-accepted", text, subject=subject)
    return version


def blocking(found: Reviewed) -> list[str]:
    """Codes that keep a version out of every consumer (spec 4.3, 5.2)."""
    version = found.version
    codes = [] if version.classification in _PROMOTABLE else ["promotion.classification"]
    if found.missing:
        codes.append("candidate.source-missing")
    if len(found.revoked) == len(version.sources):
        codes.append("candidate.source-revoked")
    return codes


def plan(
    desk: Desk,
    made: Change,
    consumer: str,
    request: dict[str, str],
    targets: Sequence[Target],
    *,
    duplicate: bool,
    blocked: Sequence[str],
    affects: Sequence[Effect],
) -> Plan:
    """The plan of a promotion: everything it is bound to, and what a person must be told."""
    every = made.every
    versions = [r.version for r in every]
    codes = [*(c for r in every for c in blocking(r)), *blocked]
    same = [d for r in every for d in r.duplicates if d.layer == consumer]
    digests = [v.digest for v in versions]
    envelope = Envelope(
        action="promote",
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        subject=" ".join(f"{v.id}@{v.version}" for v in versions),
        subject_digest=digests[0] if len(digests) == 1 else digest_json(digests),
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
        sources=_sources(versions),
        policy_digest=desk.policy.digest,
        conflicts=tuple(c.ref for c in made.conflicts),
        duplicate=duplicate or bool(same),
        supersedes=tuple(e.belief.id for e in made.endings),
        blocked_by=tuple(dict.fromkeys(codes)),
    )
    return Plan(
        envelope=envelope,
        targets=tuple(targets),
        classification=max((v.classification for v in versions), key=_LEVELS.index),
        conflicts=made.conflicts,
        affects=(*affects, *_other_names(desk, targets)),
        closes=made.closes,
        checks=tuple(e for r in every for e in _checks(r, named=len(every) > 1)),
        versions=tuple(
            PreviewedVersion(
                ref=f"{v.id}@{v.version}",
                consumer=consumer,
                statement=v.statement,
                reason=v.decision.reason if v.decision else "",
            )
            for v in versions
        ),
    )


def _sources(versions: Sequence[CandidateVersion]) -> tuple[BoundSource, ...]:
    """Every cited span once, under the strictest classification it is cited with."""
    found: dict[tuple[str, str], Classification] = {}
    for v in versions:
        for s in v.sources:
            levels = (found.get((s.locator, s.digest), v.classification), v.classification)
            found[s.locator, s.digest] = max(levels, key=_LEVELS.index)
    return tuple(bound_source(*name, level) for name, level in found.items())


def _other_names(desk: Desk, targets: Sequence[Target]) -> list[Effect]:
    """Files that have hard links: the exchange gives this name a new file (spec 5.4)."""
    linked = [t.path for t in targets if t.before is not None and desk.workspace.names(t.path) > 1]
    text = "{} has another name (a hard link), which keeps the bytes from before"
    return [Effect(code="effect.hard-link", text=text.format(path)) for path in linked]


def _checks(found: Reviewed, *, named: bool) -> tuple[Effect, ...]:
    version, missing = found.version, found.missing
    by = version.decision.actor.reviewer if version.decision else "?"
    name = f"{version.id}@{version.version}" if named else f"candidate @{version.version}"
    out = [Effect(code="candidate", text=f"{name} newest, accepted by {by}")]
    good = len(version.sources) - len(missing)
    count = some(len(version.sources), "source")
    out.append(Effect(code="source", text=f"{good} of {count} unchanged"))
    if gone := len(found.revoked):
        out.append(Effect(code="candidate.source-revoked", text=f"{gone} of {count} revoked"))
    acknowledged = version.decision.acknowledged if version.decision else ()
    hazards = ", ".join(acknowledged) + " acknowledged" if acknowledged else "no hazard"
    out.append(Effect(code="hazard", text=hazards))
    return tuple(out)


def new_belief(found: Reviewed, made: Change) -> list[Effect]:
    """What a promotion that adds a statement brings, and what it leaves as it is."""
    out = [Effect(code="belief.new", text=f"new belief  “{found.version.statement}”")]
    ended = {e.belief.id for e in made.endings}
    if count := sum(c.ref not in ended for c in found.conflicts):
        key = found.version.key
        stay = verb(count, "stays as it is", "stay as they are")
        text = f"{some(count, 'other statement')} under {key} {stay}"
        out.append(Effect(code="conflict.same-key", text=text))
    return out


def recheck(unit: Writer, envelope: Envelope) -> None:
    """Each version is still accepted and the newest, and nobody can change that meanwhile."""
    unit.candidates.hold()
    digests = [accepted(unit, ref).digest for ref in envelope.subjects]
    if envelope.subject_digest != (digests[0] if len(digests) == 1 else digest_json(digests)):
        raise Stale("candidate.stale-version", f"{envelope.subject} was altered.")
    ending.recheck(unit, envelope.supersedes, envelope.consumer)


def record(desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt) -> Receipt:
    """Form the beliefs, move the versions to promoted, enter the claims under their new layer."""
    bound = operation.envelope
    formed = [_form(desk, unit, ref, bound.consumer, receipt) for ref in bound.subjects]
    state, by = BeliefState.SUPERSEDED, formed[0] if len(formed) == 1 else None
    ending.apply(desk, unit, bound.supersedes, bound.consumer, state, receipt, by)
    receipt = receipt.model_copy(update={"supersedes": bound.supersedes})
    if len(formed) == 1:
        return receipt.model_copy(update={"belief": formed[0]})
    return receipt.model_copy(update={"beliefs": tuple(formed)})


def _form(desk: Desk, unit: Writer, ref: str, consumer: str, receipt: Receipt) -> str:
    locator = parse_locator(ref, "cand")
    version = unit.candidates.version(locator.id, locator.version)
    if version is None:
        raise Stale("preview.stale", f"{ref} is gone.")
    name = ending.belief_id(desk, ref)
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
    unit.promotion.add_belief(belief, consumer, receipt.receipt_id, receipt.time)
    unit.candidates.promoted(version.id, version.version)
    unit.claims.withdraw(version.id)
    claim = claims.claim_of(desk, version.statement)
    said = Claim(claim, version.key, version.scope, consumer, name, version.statement)
    unit.claims.put(said)
    return name
