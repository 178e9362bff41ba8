"""Confirm, retry and recovery of one operation: exactly once, whatever is interrupted (5.3, 5.4).

Order: operations lock, consumer's lock, plan again and compare, one commit with the outbox, the
destination by exchange, one commit with receipt, ledger entry and consequences.
"""

from __future__ import annotations

import contextlib
from collections.abc import Container
from dataclasses import replace

from core import config, sealed
from core.identity import digest, keyed_id, one_id, parse_locator
from core.operations import durable, envelope, staging
from core.operations.envelope import HANDLERS, Handler, Plan
from core.operations.locks import in_progress, operations_lock
from core.ports import Desk, Reader, Writer
from core.sources import fences
from schemas.errors import MemdeskError, NotFound, Refused, Stale, Unusable
from schemas.operations import Envelope, OperationState, Receipt
from schemas.storage import OutboxTarget, StoredOperation


def resolve(desk: Desk, text: str) -> str:
    """The whole id of an operation. Raises NotFound `id.*`."""
    locator = parse_locator(text, "op")
    with desk.store.read() as view:
        return one_id(locator.id, view.operations.find(locator.id, 6))


def stored(desk: Desk, operation_id: str) -> StoredOperation:
    """An operation as it stands. Raises NotFound `id.not-found`."""
    with desk.store.read() as view:
        return _stored(view, operation_id)


def _stored(view: Reader, operation_id: str) -> StoredOperation:
    found = view.operations.operation(operation_id)
    if found is None:
        raise NotFound("id.not-found", f"There is no operation {operation_id}.")
    return found


def _with_receipt(view: Reader, operation_id: str) -> tuple[StoredOperation, Receipt | None]:
    """An operation and, once it is applied, its receipt, marked as a replay."""
    operation = _stored(view, operation_id)
    receipt = view.operations.receipt(operation_id)
    return operation, receipt and receipt.model_copy(update={"replayed": True})


def confirm(desk: Desk, operation_id: str) -> Receipt:
    """Apply exactly this operation, or answer the receipt it already has.

    Raises Stale `preview.stale` naming what moved, `operation.diverged`, `operation.cancelled`,
    `operation.busy`; Refused `operation.elsewhere` and every code in `blocked_by`; Unusable for
    destinations. After any of them the destination holds its bytes from before.
    """
    desk = config.current(desk)
    with desk.store.read() as view:
        operation, done = _with_receipt(view, operation_id)
        waiting = view.operations.prepared(desk.workspace.checkout)
    if operation.checkout != desk.workspace.checkout:
        raise Refused("operation.elsewhere", operation=operation_id)
    if done:
        return done
    _recover(desk, [o for o in waiting if o.operation_id != operation_id])
    handler = handler_of(operation)
    with operations_lock(desk), handler.lock(desk):
        desk.on_step("locked")
        with desk.store.read() as view:
            operation, done = _with_receipt(view, operation_id)
        if done:
            return done
        if operation.state is OperationState.PREPARED:
            return finish(desk, operation)
        check_startable(operation)
        plan = fresh_plan(desk, handler, operation)
        desk.on_step("planned")
        _prepare(desk, operation, plan)
        desk.on_step("prepared")
        prepared = replace(operation, state=OperationState.PREPARED, actor=desk.actor)
        return finish(desk, prepared, plan)


def handler_of(operation: StoredOperation) -> Handler:
    """The handler of an operation's action on its consumer."""
    return envelope.handler(operation.envelope.action, operation.envelope.consumer)


def check_startable(operation: StoredOperation) -> None:
    """Raise Stale `operation.diverged`, `operation.cancelled` for one that has ended."""
    if operation.state is OperationState.DIVERGED:
        raise Stale("operation.diverged", operation=operation.operation_id)
    if operation.state is OperationState.CANCELLED:
        raise Stale("operation.cancelled", operation=operation.operation_id)


def fresh_plan(desk: Desk, handler: Handler, operation: StoredOperation) -> Plan:
    """The plan as of now, if it is the stored one to the byte.

    Raises Stale `preview.stale` naming what moved; Refused with each code in `blocked_by`.
    """
    then = operation.envelope
    try:
        plan = handler.plan(desk, then.subject, then.request)
    except (Refused, Stale, NotFound) as err:
        raise _gone(then, err) from err
    if envelope.operation_id(desk, plan.envelope) != operation.operation_id:
        changes = envelope.moved(then, plan.envelope)
        names = ", ".join(f"{m.what} {m.name}" for m in changes)
        raise Stale(
            "preview.stale",
            f"Changed since the preview: {names}.",
            moved=[m.model_dump(mode="json") for m in changes],
        )
    for code in then.blocked_by:
        raise Refused(code, operation=operation.operation_id)
    return plan


def _gone(then: Envelope, err: MemdeskError) -> Stale:
    """A new preview would be refused for the same cause, so what mends that comes first."""
    what = envelope.gone(then, err)
    return Stale(
        "preview.stale",
        f"The preview no longer holds, {what.what} {what.name}: {err.message}",
        remedy=f"{err.remedy} Then preview again.",
        moved=[what.model_dump(mode="json")],
        cause=err.code,
    )


def _prepare(desk: Desk, operation: StoredOperation, plan: Plan) -> None:
    """One commit: state prepared and the bytes to be written."""
    name = operation.operation_id
    with contextlib.ExitStack() as undo:
        undo.callback(staging.clear, desk, name)
        for n, copy in enumerate(plan.copies):
            if copy.size and copy.before_digest != copy.after_digest:
                staging.stage(desk, name, n, copy)
        with desk.store.write() as unit:
            prepare_in(desk, unit, operation, plan)
        undo.pop_all()


def prepare_in(desk: Desk, unit: Writer, operation: StoredOperation, plan: Plan) -> None:
    """Enter an operation as prepared, with its bytes, into a transaction.

    Raises Stale `preview.stale`, `operation.busy`.
    """
    try:
        handler_of(operation).recheck(unit, plan.envelope)
    except (Refused, Stale, NotFound) as err:
        raise _gone(plan.envelope, err) from err
    if not unit.operations.prepare(operation.operation_id, _outbox_of(plan), desk.actor):
        raise Stale("operation.busy", operation=operation.operation_id)
    fences.hold(desk, unit, plan.closes, operation.operation_id)


def _outbox_of(plan: Plan) -> list[OutboxTarget]:
    """Copies first, by reference; then the targets with their bytes."""
    bound = {t.path: t for t in plan.envelope.targets}
    after: list[tuple[str, bytes | None]] = [(c.path, None if c.size else b"") for c in plan.copies]
    after += [(t.path, t.after) for t in plan.targets]
    return [
        OutboxTarget(
            number=n,
            path=path,
            before_digest=bound[path].before_digest,
            after_digest=bound[path].after_digest,
            after=data or b"",
            staged=data is None,
        )
        for n, (path, data) in enumerate(after)
    ]


def _outbox(desk: Desk, operation: StoredOperation) -> list[OutboxTarget]:
    with desk.store.read() as view:
        return view.operations.outbox(operation.operation_id)


def finish(desk: Desk, operation: StoredOperation, plan: Plan | None = None) -> Receipt:
    """From prepared to applied; on divergence or failure before any swap, back to undone.

    `plan` is given on the first run only. The consumer's own traces go before the state does:
    its journal is named by the outbox, and one left behind would be replayed over later edits.
    Locks are held by the caller. Raises as `confirm`.
    """
    targets = _outbox(desk, operation) if plan is None else _outbox_of(plan)
    handler = handler_of(operation)
    name, swaps, swapped = operation.operation_id, _swaps(desk, operation, targets), 0
    try:
        if plan is not None:
            handler.before_write(desk, plan)
        for swap in swaps:
            durable.apply(desk.workspace, swap, desk.on_step)
            swapped += 1
    except durable.Diverged as err:
        handler.after_write(desk, operation, targets)
        for swap in swaps:
            durable.clean(desk.workspace, swap)
        _diverge(desk, operation, targets, err)
        raise
    except durable.Unfinished:
        raise
    except MemdeskError as err:
        if swapped == 0:
            handler.after_write(desk, operation, targets)
            _end(desk, operation.operation_id, OperationState.FAILED, err.code)
        raise
    handler.after_write(desk, operation, targets)
    desk.on_step("written")
    receipt = _record(desk, handler, operation)
    desk.on_step("recorded")
    staging.clear(desk, name)
    return receipt


def _swaps(
    desk: Desk, operation: StoredOperation, targets: list[OutboxTarget]
) -> list[durable.Swap]:
    """What is to be written, bound to what was confirmed: the outbox only holds its bytes.

    Raises Unusable `operation.altered` for rows that are not those of this very operation.
    """
    name, bound = operation.operation_id, {t.path: t for t in operation.envelope.targets}
    same = {t.path for t in targets} == set(bound) and len(targets) == len(bound)
    same |= not targets and bool(envelope.sinks(operation.envelope))  # they hold the bytes
    if not same or envelope.operation_id(desk, operation.envelope) != name:
        raise Unusable("operation.altered", operation=name)
    return [
        durable.Swap(
            name,
            t.number,
            t.path,
            bound[t.path].before_digest,
            bound[t.path].after_digest,
            staging.path(desk, name, t.number) if t.staged else t.after,
        )
        for t in targets
    ]


def sound(desk: Desk, operation: StoredOperation, targets: list[OutboxTarget]) -> bool:
    """False when a prepared operation would not write exactly what was confirmed."""
    try:
        swaps = _swaps(desk, operation, targets)
    except Unusable:
        return False
    return all(not isinstance(s.after, bytes) or digest(s.after) == s.after_digest for s in swaps)


def _diverge(
    desk: Desk, operation: StoredOperation, targets: list[OutboxTarget], err: durable.Diverged
) -> None:
    """The end of an operation that found other bytes; of a copy neither version is held here."""
    name = operation.operation_id
    wanted = next(t for t in targets if t.path == err.path)
    with desk.store.write() as unit:
        if not wanted.staged:
            unit.operations.keep_divergence(name, err.path, err.found, wanted.after)
        unit.operations.finish(name, OperationState.DIVERGED, err.code)
    staging.clear(desk, name)


def _end(desk: Desk, operation_id: str, state: OperationState, error: str | None) -> None:
    with desk.store.write() as unit:
        unit.operations.finish(operation_id, state, error)
    staging.clear(desk, operation_id)


def _record(desk: Desk, handler: Handler, operation: StoredOperation) -> Receipt:
    """One commit: consequences, receipt, ledger entry, state applied, outbox emptied."""
    bound = operation.envelope
    with desk.store.write() as unit:
        before = unit.ledger.head(lock=True)
        draft = Receipt(
            receipt_id=keyed_id(
                "rcpt", desk.secret, operation.operation_id.encode(), bound.consumer.encode()
            ),
            operation_id=operation.operation_id,
            action=bound.action,
            workspace=bound.workspace,
            checkout=bound.checkout,
            consumer=bound.consumer,
            state=OperationState.APPLIED,
            targets=bound.targets,
            sources=bound.sources,
            classification=_highest(operation),
            subject=bound.subject,
            subject_digest=bound.subject_digest,
            actor=operation.actor,
            reviewer=operation.actor.reviewer,
            time=desk.clock(),
            ledger_seq=before.seq + 1,
            ledger_head=before.digest,
        )
        receipt = handler.record(desk, unit, operation, draft)
        unit.operations.add_receipt(receipt)
        unit.operations.finish(operation.operation_id, OperationState.APPLIED, None)
        root = sealed.receipt(desk.secret, receipt.model_dump_json().encode())
        unit.ledger.append("receipt", receipt.receipt_id, root, 1, receipt.time)
    return receipt


def _highest(operation: StoredOperation) -> str:
    order = ("public", "internal", "restricted", "secret")
    found = [s.classification.value for s in operation.envelope.sources]
    return max(found, key=order.index, default="internal")


def unfinished(desk: Desk) -> list[StoredOperation]:
    """Confirmed operations of this checkout that a process left half done; `recover` finishes them.

    One that a living process is just writing is none.
    """
    with desk.store.read() as view:
        waiting = view.operations.prepared(desk.workspace.checkout)
    return [] if not waiting or in_progress(desk) else waiting


def recover_others(desk: Desk, but: Container[str]) -> None:
    """Finish what a crash left prepared in this checkout, but for these operations."""
    with desk.store.read() as view:
        waiting = view.operations.prepared(desk.workspace.checkout)
    _recover(desk, [o for o in waiting if o.operation_id not in but])


def settle(desk: Desk, operation: StoredOperation) -> OperationState:
    """End an operation over several consumers as its sinks ended; how it stands then."""
    with desk.store.write() as unit:
        sinks = [_stored(unit, name) for name in envelope.sinks(operation.envelope)]
        states = {s.state for s in sinks}
        if OperationState.PREPARED in states:
            return OperationState.PREPARED
        end = (
            OperationState.APPLIED if states == {OperationState.APPLIED} else OperationState.FAILED
        )
        error = next((s.error for s in sinks if s.error), None)
        unit.operations.finish(operation.operation_id, end, error)
    return end


def recover(desk: Desk) -> list[tuple[str, str]]:
    """Finish every operation a crash left prepared in this checkout; `(operation, outcome)` each.

    Rolls forward; an operation is undone only when its destination was changed before any swap.
    """
    with desk.store.read() as view:
        waiting = view.operations.prepared(desk.workspace.checkout)
    if desk.store.read_only:
        return [(o.operation_id, "store.read-only") for o in waiting]
    outcomes = _recover(desk, waiting)
    with operations_lock(desk):
        for handler in HANDLERS.values():
            handler.tidy(desk)
        with desk.store.read() as view:
            left = view.operations.prepared(desk.workspace.checkout)
        staging.sweep(desk, {o.operation_id for o in left})
    return outcomes


def _recover(desk: Desk, waiting: list[StoredOperation]) -> list[tuple[str, str]]:
    outcomes: list[tuple[str, str]] = []
    for operation in sorted(waiting, key=lambda o: bool(envelope.sinks(o.envelope))):
        outcome = OperationState.APPLIED.value
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(operations_lock(desk))
                stack.enter_context(handler_of(operation).lock(desk))
                fresh = stored(desk, operation.operation_id)
                if fresh.state is not OperationState.PREPARED:
                    pass
                elif envelope.sinks(fresh.envelope):
                    outcome = settle(desk, fresh).value
                else:
                    finish(desk, fresh)
            except MemdeskError as err:
                outcome = err.code
        outcomes.append((operation.operation_id, outcome))
    return outcomes
