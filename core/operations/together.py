"""One operation over several consumers: one preview, one confirm, a receipt for each (spec 5.4).

Its sinks are operations of their own, made and prepared in one commit with it. From then on each
ends by itself: one that fails leaves the others' receipts, and is retried alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from core import config
from core.identity import digest_json
from core.operations import confirm as single
from core.operations import envelope
from core.operations.envelope import HANDLERS, SINKS, Plan, Quiet
from core.operations.locks import operations_lock
from core.operations.preview import operation_of
from core.ports import Desk
from schemas.common import Classification
from schemas.errors import MemdeskError, Refused, Stale
from schemas.operations import (
    BoundSource,
    Envelope,
    FailedSink,
    OperationState,
    Receipt,
    Written,
)
from schemas.storage import StoredOperation

_LEVELS = tuple(Classification)


class Together(Quiet):
    """An action on several consumers; what is written is written by their own handlers."""

    def __init__(self, action: str) -> None:
        self._action = action

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """None of its own: each consumer's lock is taken by `confirm`."""
        return nullcontext()

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The plans of all consumers as one; `request` has each one's own subject.

        Raises as they do.
        """
        asked, options = envelope.by_consumer(request)
        plans = [HANDLERS[self._action, c].plan(desk, own, options) for c, own in asked.items()]
        return Plan(
            parts=tuple(plans),
            envelope=_joined(desk, subject, request, [p.envelope for p in plans]),
            targets=tuple(t for p in plans for t in p.targets),
            classification=max((p.classification for p in plans), key=_LEVELS.index),
            conflicts=tuple({c.ref: c for p in plans for c in p.conflicts}.values()),
            affects=tuple(dict.fromkeys(e for p in plans for e in p.affects)),
            checks=tuple(e for p in plans for e in p.checks),
            versions=tuple(v for p in plans for v in p.versions),
            closes=tuple(c for p in plans for c in p.closes),
        )


def _joined(
    desk: Desk, subject: str, request: Mapping[str, str], parts: Sequence[Envelope]
) -> Envelope:
    ids = " ".join(envelope.operation_id(desk, p) for p in parts)
    return Envelope(
        action=parts[0].action,
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        subject=subject,
        subject_digest=digest_json([p.subject_digest for p in parts]),
        consumer=envelope.several(p.consumer for p in parts),
        request={**request, SINKS: ids},
        targets=tuple(t for p in parts for t in p.targets),
        sources=_sources(s for p in parts for s in p.sources),
        policy_digest=desk.policy.digest,
        conflicts=tuple(dict.fromkeys(c for p in parts for c in p.conflicts)),
        duplicate=all(p.duplicate for p in parts),
        supersedes=tuple(dict.fromkeys(s for p in parts for s in p.supersedes)),
        blocked_by=tuple(dict.fromkeys(c for p in parts for c in p.blocked_by)),
    )


def _sources(every: Iterable[BoundSource]) -> tuple[BoundSource, ...]:
    return tuple(dict.fromkeys(every))


@dataclass(frozen=True, slots=True)
class _Sink:
    """One consumer's part, with its plan on its first run."""

    operation: StoredOperation
    plan: Plan | None = None


def confirm(desk: Desk, operation_id: str) -> Written:
    """Apply exactly this operation, over one consumer or several; again answers the same receipts.

    Raises as `core.operations.confirm.confirm`, when nothing at all was written; a consumer that
    failed beside others that were written is named in the answer.
    """
    desk = config.current(desk)
    operation = single.stored(desk, operation_id)
    if not envelope.sinks(operation.envelope):
        receipt = single.confirm(desk, operation_id)
        return Written(operation_id=operation_id, state=receipt.state, receipts=(receipt,))
    if operation.checkout != desk.workspace.checkout:
        raise Refused("operation.elsewhere", operation=operation_id)
    mine = {operation_id, *envelope.sinks(operation.envelope)}
    single.recover_others(desk, mine)
    with operations_lock(desk), _locks(desk, operation.envelope):
        desk.on_step("locked")
        operation = single.stored(desk, operation_id)
        if operation.state is OperationState.APPLIED:
            return Written(
                operation_id=operation_id,
                state=operation.state,
                receipts=tuple(receipts(desk, operation_id)),
            )
        sinks = _waiting(desk, operation)
        if operation.state is not OperationState.PREPARED:
            single.check_startable(operation)
            sinks = _fresh(desk, operation, sinks)
            desk.on_step("planned")
            sinks = _prepare(desk, operation, sinks)
            desk.on_step("prepared")
        return _finish(desk, operation, sinks)


def _locks(desk: Desk, bound: Envelope) -> contextlib.ExitStack:
    """Every consumer's own lock, in the order of their names."""
    stack = contextlib.ExitStack()
    try:
        for consumer in envelope.by_consumer(bound.request)[0]:
            stack.enter_context(envelope.handler(bound.action, consumer).lock(desk))
    except BaseException:
        stack.close()
        raise
    return stack


def _waiting(desk: Desk, operation: StoredOperation) -> list[_Sink]:
    """Its sinks that were made before and are not applied."""
    with desk.store.read() as view:
        found = [view.operations.operation(id_) for id_ in envelope.sinks(operation.envelope)]
    return [_Sink(o) for o in found if o is not None and o.state is not OperationState.APPLIED]


def _fresh(desk: Desk, operation: StoredOperation, again: Sequence[_Sink]) -> list[_Sink]:
    """The sinks with plans as of now, if they are the previewed ones to the byte.

    What failed earlier is compared by itself: the others are written, so the whole is another.
    """
    if again:
        return [
            _Sink(s.operation, single.fresh_plan(desk, single.handler_of(s.operation), s.operation))
            for s in again
        ]
    whole = single.fresh_plan(desk, single.handler_of(operation), operation)
    return [_Sink(operation_of(desk, plan), plan) for plan in whole.parts]


def _prepare(desk: Desk, operation: StoredOperation, sinks: Sequence[_Sink]) -> list[_Sink]:
    """One commit: every sink and the whole are prepared, or none is."""
    with desk.store.write() as unit:
        for sink in sinks:
            if sink.plan is not None:
                unit.operations.save_preview(sink.operation)
                single.prepare_in(desk, unit, sink.operation, sink.plan)
        if not unit.operations.prepare(operation.operation_id, (), desk.actor):
            raise Stale("operation.busy", operation=operation.operation_id)
    state = OperationState.PREPARED
    return [_Sink(replace(s.operation, state=state, actor=desk.actor), s.plan) for s in sinks]


def _finish(desk: Desk, operation: StoredOperation, sinks: Sequence[_Sink]) -> Written:
    failed: list[tuple[StoredOperation, MemdeskError]] = []
    fresh: dict[str, Receipt] = {}
    for sink in sinks:
        try:
            receipt = single.finish(desk, sink.operation, sink.plan)
        except MemdeskError as err:
            failed.append((sink.operation, err))
        else:
            fresh[receipt.operation_id] = receipt
    state = single.settle(desk, operation)
    desk.on_step("settled")
    written = [fresh.get(r.operation_id, r) for r in receipts(desk, operation.operation_id)]
    if failed and not written:
        raise failed[0][1]
    return Written(
        operation_id=operation.operation_id,
        state=state,
        receipts=tuple(written),
        failed=tuple(_failed(o, err) for o, err in failed),
    )


def _failed(operation: StoredOperation, err: MemdeskError) -> FailedSink:
    return FailedSink(
        operation_id=operation.operation_id,
        consumer=operation.envelope.consumer,
        code=err.code,
        message=err.message,
        remedy=err.remedy,
    )


def receipts(desk: Desk, operation_id: str) -> list[Receipt]:
    """What an operation left so far: its receipt, or those of its sinks. Raises NotFound."""
    operation = single.stored(desk, operation_id)
    names = envelope.sinks(operation.envelope) or (operation_id,)
    with desk.store.read() as view:
        found = [view.operations.receipt(name) for name in names]
    return [r.model_copy(update={"replayed": True}) for r in found if r is not None]
