"""The exact preview of one promotion: built, stored by id, shown again with what moved (5.2, 5.3)."""

from __future__ import annotations

from core import config, textdiff
from core.candidates.review import CandidateRef
from core.operations import confirm, envelope
from core.operations.envelope import HANDLERS, Plan, Target
from core.ports import Desk
from core.promotion import ACTION
from schemas.errors import MemdeskError, NotFound, Refused, Stale
from schemas.operations import Envelope, Moved, OperationState, TargetChange
from schemas.promotion import Preview
from schemas.storage import StoredOperation


def consumers() -> list[str]:
    """Consumers a candidate can be promoted to."""
    return sorted(consumer for action, consumer in HANDLERS if action == ACTION)


def build(desk: Desk, ref: CandidateRef, consumer: str) -> Preview:
    """Compute the preview and store its operation; no target is touched.

    A version already promoted to this consumer answers the operation that did it.
    Raises Refused `candidate.not-accepted`, `consumer.unknown`, `line-memory.*`; Stale.
    """
    desk = config.current(desk)
    if (ACTION, consumer) not in HANDLERS:
        raise Refused("consumer.unknown", f"There is no consumer {consumer} here.")
    if done := _applied(desk, ref, consumer):
        return show(desk, done.operation_id)
    plan = envelope.handler(ACTION, consumer).plan(desk, str(ref), {})
    operation = _operation(desk, plan)
    with desk.store.write() as unit:
        unit.operations.save_preview(operation)
        stored = unit.operations.operation(operation.operation_id) or operation
    return _preview(stored, plan, ())


def _applied(desk: Desk, ref: CandidateRef, consumer: str) -> StoredOperation | None:
    with desk.store.read() as view:
        found = view.operations.open_of(str(ref))
    same = [o for o in found if o.envelope.consumer == consumer]
    return same[0] if same else None


def _operation(desk: Desk, plan: Plan) -> StoredOperation:
    now = desk.clock()
    return StoredOperation(
        operation_id=envelope.operation_id(desk, plan.envelope),
        envelope=plan.envelope,
        state=OperationState.PREVIEWED,
        as_of=now,
        created=now,
        checkout=desk.workspace.checkout,
        actor=desk.actor,
        error=None,
    )


def show(desk: Desk, operation_id: str) -> Preview:
    """A stored preview as things stand now: fresh, or with `moved` naming what differs.

    An applied operation shows what it wrote, without diffs: its bytes are not kept.
    Raises NotFound `id.not-found`.
    """
    desk = config.current(desk)
    operation = confirm.stored(desk, operation_id)
    if operation.state is OperationState.APPLIED:
        return _preview(operation, None, ())
    then = operation.envelope
    try:
        plan = envelope.handler(then.action, then.consumer).plan(desk, then.subject, then.request)
    except (Refused, Stale, NotFound) as err:
        return _preview(operation, None, (_gone(then, err),))
    if envelope.operation_id(desk, plan.envelope) == operation_id:
        return _preview(operation, plan, ())
    return _preview(operation, plan, envelope.moved(then, plan.envelope))


def _gone(then: Envelope, err: MemdeskError) -> Moved:
    """What a plan that can no longer be made fell over: a target's path, or the subject."""
    path = str(err.details.get("path", ""))
    for target in then.targets:
        if path and f"/{target.path}".endswith(f"/{path}"):
            before = target.before_digest
            return Moved(what="target", name=target.path, then=before, now=None, detail=err.code)
    return Moved(
        what="candidate", name=then.subject, then=then.subject_digest, now=None, detail=err.code
    )


def _preview(operation: StoredOperation, plan: Plan | None, moved: tuple[Moved, ...]) -> Preview:
    bound = operation.envelope
    candidate, _, number = bound.subject.partition("@")
    shown = plan is not None and not moved
    changes = (
        tuple(change(t) for t in plan.targets)
        if plan is not None and shown
        else tuple(TargetChange(**t.model_dump()) for t in bound.targets)
    )
    return Preview(
        operation_id=operation.operation_id,
        action=bound.action,
        consumer=bound.consumer,
        candidate=candidate,
        version=int(number),
        statement=plan.facts["statement"] if plan else "",
        state=operation.state,
        targets=changes,
        sources=bound.sources,
        conflicts=plan.conflicts if plan else (),
        duplicate=bound.duplicate or operation.state is OperationState.APPLIED,
        supersedes=bound.supersedes,
        blocked_by=bound.blocked_by,
        affects=plan.affects if plan else (),
        checks=plan.checks if plan else (),
        policy_digest=bound.policy_digest,
        reason=plan.facts["reason"] if plan else "",
        moved=moved,
    )


def change(target: Target) -> TargetChange:
    """A target with its diff, line ends, final newline and encoding, as a person reads it."""
    from core.identity import digest

    found = textdiff.compare(target.before, target.after)
    return TargetChange(
        path=target.path,
        before_digest=None if target.before is None else digest(target.before),
        after_digest=digest(target.after),
        diff=found.unified(target.path),
        added=found.added,
        removed=found.removed,
        derived=target.derived,
        encoding="utf-8-bom" if target.after.startswith(b"\xef\xbb\xbf") else "utf-8",
        newline="crlf" if b"\r\n" in target.after else "lf",
        final_newline=target.after.endswith(b"\n"),
    )


def targets(desk: Desk, operation_id: str) -> tuple[Target, ...]:
    """The exact bytes behind a fresh preview, for diffs on the screen; empty when it moved."""
    desk = config.current(desk)
    operation = confirm.stored(desk, operation_id)
    then = operation.envelope
    try:
        plan = envelope.handler(then.action, then.consumer).plan(desk, then.subject, then.request)
    except (Refused, Stale, NotFound):
        return ()
    fresh = envelope.operation_id(desk, plan.envelope) == operation_id
    return plan.targets if fresh else ()
