"""A stored operation as a person reads it: its exact preview, and what moved under it (5.2, 5.3)."""

from __future__ import annotations

from dataclasses import dataclass

from core import config, textdiff
from core.identity import digest
from core.operations import confirm, envelope
from core.operations.envelope import Copy, Plan, Target
from core.ports import Desk
from core.textdiff import Comparison
from schemas.errors import MemdeskError, NotFound, Refused, Stale
from schemas.operations import Moved, OperationState, Preview, TargetChange
from schemas.storage import StoredOperation


@dataclass(frozen=True, slots=True)
class Exact:
    """A preview with the bytes behind it and how they compare, target by target.

    Empty when the preview was applied, or moved and its bytes are not known any more.
    """

    preview: Preview
    targets: tuple[Target, ...] = ()
    compared: tuple[Comparison, ...] = ()
    copies: tuple[Copy, ...] = ()


def store(desk: Desk, plan: Plan, *, text: bool = False) -> Exact:
    """Store what a plan would do as a previewed operation, and show it; no target is touched.

    With `text` each target has its unified diff as a string, which a screen does not need.
    """
    operation = operation_of(desk, plan)
    with desk.store.write() as unit:
        unit.operations.save_preview(operation)
        stored = unit.operations.operation(operation.operation_id) or operation
    return of_plan(stored, plan, text=text)


def operation_of(desk: Desk, plan: Plan) -> StoredOperation:
    """The previewed operation a plan is; nothing is stored."""
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
    return look(desk, operation_id, text=True).preview


def look(desk: Desk, operation_id: str, *, text: bool = False) -> Exact:
    """The same with the bytes behind it, as long as it is fresh."""
    now = present(desk, operation_id)
    if now.plan is not None and not now.moved:
        return of_plan(now.operation, now.plan, text=text)
    return Exact(_preview(now.operation, now.plan, now.moved, None))


@dataclass(frozen=True, slots=True)
class Present:
    """A stored operation beside what it would be now.

    `plan` is None once it is applied, or when `refusal` says why there can be none.
    """

    operation: StoredOperation
    plan: Plan | None
    moved: tuple[Moved, ...]
    refusal: MemdeskError | None = None


def present(desk: Desk, operation_id: str) -> Present:
    """What moved under a stored operation; compares digests, no lines. Raises NotFound."""
    desk = config.current(desk)
    operation = confirm.stored(desk, operation_id)
    if operation.state is OperationState.APPLIED:
        return Present(operation, None, ())
    then = operation.envelope
    try:
        plan = envelope.handler(then.action, then.consumer).plan(desk, then.subject, then.request)
    except (Refused, Stale, NotFound) as err:
        return Present(operation, None, (envelope.gone(then, err),), err)
    fresh = envelope.operation_id(desk, plan.envelope) == operation_id
    return Present(operation, plan, () if fresh else envelope.moved(then, plan.envelope))


def divergence(desk: Desk, operation_id: str) -> list[tuple[str, Comparison]]:
    """Per file of a diverged operation, what was found there against what would be written."""
    with desk.store.read() as view:
        kept = view.operations.divergence(operation_id)
    return [(path, textdiff.compared(found, wanted)) for path, found, wanted in kept]


def of_plan(operation: StoredOperation, plan: Plan, *, text: bool = False) -> Exact:
    """The preview a plan gives, compared once."""
    compared = tuple(textdiff.compared(t.before, t.after) for t in plan.targets)
    shown = _preview(operation, plan, (), compared, text=text)
    return Exact(shown, plan.targets, compared, plan.copies)


def _preview(
    operation: StoredOperation,
    plan: Plan | None,
    moved: tuple[Moved, ...],
    compared: tuple[Comparison, ...] | None,
    *,
    text: bool = False,
) -> Preview:
    bound = operation.envelope
    candidate, _, number = bound.subject.partition("@")
    one = envelope.subject_word(bound) == "candidate" and len(bound.subjects) == 1
    versions = plan.versions if plan else ()
    if plan is not None and compared is not None:
        changes = [_copied(c) for c in plan.copies]
        changes += [_change(t, c, text) for t, c in zip(plan.targets, compared, strict=True)]
    else:
        changes = [TargetChange(**t.model_dump()) for t in bound.targets]
    return Preview(
        operation_id=operation.operation_id,
        action=bound.action,
        consumer=bound.consumer,
        subject=bound.subject,
        candidate=candidate if one else "",
        version=int(number) if one else 0,
        statement=versions[0].statement if len(versions) == 1 else "",
        versions=versions,
        closes=tuple(c.event for c in plan.closes) if plan else (),
        sinks=envelope.sinks(bound),
        state=operation.state,
        targets=tuple(changes),
        sources=bound.sources,
        conflicts=plan.conflicts if plan else (),
        duplicate=bound.duplicate or operation.state is OperationState.APPLIED,
        supersedes=bound.supersedes,
        blocked_by=bound.blocked_by,
        affects=plan.affects if plan else (),
        checks=plan.checks if plan else (),
        policy_digest=bound.policy_digest,
        reason=versions[0].reason if len(versions) == 1 else plan.reason if plan else "",
        moved=moved,
    )


def _copied(copy: Copy) -> TargetChange:
    return TargetChange(
        path=copy.path,
        before_digest=copy.before_digest,
        after_digest=copy.after_digest,
        copied_from=copy.source,
        size=copy.size,
    )


def _change(target: Target, compared: Comparison, text: bool) -> TargetChange:
    return TargetChange(
        path=target.path,
        before_digest=None if target.before is None else digest(target.before),
        after_digest=digest(target.after),
        diff=compared.at().unified(target.path) if text else "",
        added=compared.added,
        removed=compared.removed,
        derived=target.derived,
        encoding="utf-8-bom" if target.after.startswith(b"\xef\xbb\xbf") else "utf-8",
        newline="crlf" if b"\r\n" in target.after else "lf",
        final_newline=target.after.endswith(b"\n"),
    )
