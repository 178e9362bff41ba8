"""Ending a belief by preview and confirm: supersede, revoke, archive, remove (spec 5.5).

Each action is a handler for each consumer. Times inside the written bytes are the moment of the
first preview (`as_of` in the request), so that a repeated preview is the same operation (5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from core import config, screening
from core.identity import digest, digest_json, one_id, parse_locator
from core.operations import preview as operations
from core.operations.envelope import HANDLERS, Plan, Target, bound_source
from core.operations.preview import Exact
from core.ports import Desk, Reader, Writer
from core.promotion.consumers import ending
from core.promotion.consumers.ending import Ending, Ends
from schemas.candidates import CandidateVersion
from schemas.errors import NotFound, Refused
from schemas.operations import (
    BoundTarget,
    Effect,
    Envelope,
    OperationState,
    PreviewedVersion,
    Receipt,
)
from schemas.promotion import ENDED, Belief, BeliefState
from schemas.storage import OutboxTarget, StoredOperation

STATES = {
    "supersede": BeliefState.SUPERSEDED,
    "revoke": BeliefState.REVOKED,
    "archive": BeliefState.ARCHIVED,
    "remove": BeliefState.REMOVED,
}
"""What each action makes of a belief."""
_LOOKED_AT = 20


class Lifecycle:
    """One action on the beliefs of one consumer."""

    def __init__(self, action: str, consumer: str, at: Ends) -> None:
        self._action = action
        self._consumer = consumer
        self._at = at

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """The consumer's own lock."""
        return self._at.lock(desk)

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The exact bytes of the consumer's files without the statement, or with it marked.

        Raises NotFound `id.not-found`; Stale `belief.ended`; Refused `belief.itself`, and as the
        consumer's own plan.
        """
        with desk.store.read() as view:
            belief = view.promotion.belief(subject)
            if belief is None:
                raise NotFound("id.not-found", f"There is no belief {subject}.")
            ending.recheck(view, [subject], self._consumer)
            if by := request.get("by"):
                if by == subject:
                    raise Refused("belief.itself", f"{subject} can't take its own place.")
                ending.recheck(view, [by], self._consumer)
            end = Ending(
                belief=belief,
                version=ending.version_of(view, belief),
                state=STATES[self._action],
                reviewer=request["reviewer"],
                reason=request.get("reason", ""),
                time=int(request["as_of"]),
                replacement=by,
                shared=ending.shared(desk, view, belief, self._consumer, ()),
            )
            closing = ending.closes(view, [end])
            told = ending.effects(view, [end], closing)
            elsewhere = [
                at.consumer
                for at in belief.consumers
                if at.consumer != self._consumer and at.state is BeliefState.ACTIVE
            ]
        done = self._at.ended(desk, [end])
        told += [_stays(consumer) for consumer in elsewhere]
        plan = self._plan(desk, end, request, done.targets, done.blocked)
        return replace(plan, affects=(*told, *done.affects), closes=closing)

    def _plan(
        self,
        desk: Desk,
        end: Ending,
        request: dict[str, str],
        targets: Sequence[Target],
        blocked: Sequence[str],
    ) -> Plan:
        v = end.version
        state = ending.state_at(end.belief, self._consumer)
        envelope = Envelope(
            action=self._action,
            workspace=desk.workspace.id,
            checkout=desk.workspace.checkout,
            subject=end.belief.id,
            subject_digest=digest_json([v.digest, state, end.replacement]),
            consumer=self._consumer,
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
            supersedes=(end.belief.id,) if self._action == "supersede" else (),
            blocked_by=tuple(blocked),
        )
        said = PreviewedVersion(
            ref=end.belief.id,
            consumer=self._consumer,
            statement=end.belief.statement,
            reason=end.reason,
        )
        return Plan(
            envelope=envelope,
            targets=tuple(targets),
            classification=v.classification,
            checks=(Effect(code="belief", text=f"belief {state} at {self._consumer}"),),
            versions=(said,),
        )

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """The belief stands as it did, and so does what replaces it."""
        names = [envelope.subject, *([by] if (by := envelope.request.get("by")) else [])]
        ending.recheck(unit, names, self._consumer)

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """The consumer's own mechanics."""
        self._at.before_write(desk, plan)

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """The consumer's own mechanics."""
        self._at.after_write(desk, operation, targets)

    def tidy(self, desk: Desk) -> None:
        """Nothing: promotion to this consumer tidies it."""

    def stands(self, desk: Desk, beliefs: Sequence[tuple[Belief, CandidateVersion]]) -> list[bool]:
        """Which of these statements stand as memdesk left them."""
        return self._at.stands(desk, beliefs)

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """The belief stands ended at this consumer from now on."""
        bound = operation.envelope
        by = bound.request.get("by")
        state = STATES[self._action]
        ending.apply(desk, unit, [bound.subject], self._consumer, state, receipt, by)
        return receipt.model_copy(update={"belief": bound.subject, "replacement": by})


def _stays(consumer: str) -> Effect:
    return Effect(code="effect.elsewhere", text=f"stays in {consumer}, which is ended by itself")


def resolve(view: Reader, text: str) -> Belief:
    """The belief an id or its beginning names. Raises NotFound `id.*`."""
    locator = parse_locator(text, "bel")
    found = view.promotion.belief(one_id(locator.id, view.promotion.find(locator.id, 6)))
    if found is None:
        raise NotFound("id.not-found", given=text)
    return found


def preview(
    desk: Desk,
    action: str,
    belief: Belief,
    *,
    reason: str = "",
    at: str | None = None,
    by: str | None = None,
    text: bool = False,
) -> Exact:
    """The exact preview of ending a belief at a consumer, stored by id.

    Without `at` the one consumer where it stands. One that ended so already answers the operation
    that did it. Raises Refused `belief.consumer`; Stale `belief.ended`; otherwise as `plan`.
    """
    desk = config.current(desk)
    reason = screening.mask(reason.strip())
    consumer = _consumer(belief, at, STATES[action])
    request = {"reviewer": desk.actor.reviewer, "reason": reason, "by": by or ""}
    request = {k: v for k, v in request.items() if v}
    with desk.store.read() as view:
        known = view.operations.newest_of(belief.id, _LOOKED_AT)
    mine = [o for o in known if (o.envelope.action, o.envelope.consumer) == (action, consumer)]
    for o in mine:
        if o.state in (OperationState.APPLIED, OperationState.PREPARED):
            return operations.look(desk, o.operation_id, text=text)
    same = [o for o in mine if _asked(o) == request]
    as_of = same[0].envelope.request["as_of"] if same else str(desk.clock())
    plan = HANDLERS[action, consumer].plan(desk, belief.id, {**request, "as_of": as_of})
    return operations.store(desk, plan, text=text)


def only_consumer(belief: Belief) -> str:
    """The one consumer where a belief stands. Raises Refused `belief.consumer`."""
    return _consumer(belief, None, BeliefState.SUPERSEDED)


def _asked(operation: StoredOperation) -> dict[str, str]:
    return {k: v for k, v in operation.envelope.request.items() if k != "as_of"}


def _consumer(belief: Belief, at: str | None, wanted: BeliefState) -> str:
    """Where it is to end: the named consumer, or the only one where it stands (or so ended)."""
    there = {c.consumer: c.state for c in belief.consumers}
    if at is not None:
        if at not in there:
            raise Refused("belief.consumer", f"{belief.id} never was in {at}.")
        return at
    live = [c for c, state in there.items() if state not in ENDED]
    live = live or [c for c, state in there.items() if state is wanted] or list(there)
    if len(live) != 1:
        raise Refused("belief.consumer", f"{belief.id} stands in {' and '.join(sorted(live))}.")
    return live[0]
