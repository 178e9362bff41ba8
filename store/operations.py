"""Operations, their outbox, divergences and receipts (spec 0.3, 5.4, 5.7)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from schemas.common import Actor, Page
from schemas.operations import Envelope, OperationRow, OperationState, Receipt
from schemas.storage import OutboxTarget, StoredOperation, StoredReceipt
from store.keys import ID, WS, cursor_of, parse_cursor, text_range
from store.listing import Backwards, Rows, matches, member
from store.prepared import Prepared
from store.tables import DIVERGENCE, LEDGER, OPERATION, OPERATION_ABOUT, OUTBOX, RECEIPT

_O, _X, _D, _R, _S = OPERATION.c, OUTBOX.c, DIVERGENCE.c, RECEIPT.c, OPERATION_ABOUT.c
_STORED = sa.select(RECEIPT).where(_R.ws == WS, _R.seq == sa.bindparam("seq_"))
_OPERATION = Prepared(sa.select(OPERATION).where(_O.ws == WS, _O.id == ID))
_PREPARED = Prepared(
    sa.select(OPERATION)
    .where(
        _O.ws == WS,
        _O.state == OperationState.PREPARED.value,
        _O.checkout == sa.bindparam("checkout_"),
    )
    .order_by(_O.created, _O.id)
)
_STARTABLE = sa.or_(
    _O.state == OperationState.PREVIEWED.value, _O.state == OperationState.FAILED.value
)
_MINE = sa.and_(_O.ws == WS, _O.id == ID)
_PREPARE = Prepared(sa.update(OPERATION).where(_MINE, _STARTABLE), "state", "actor", "error")
_FINISH = Prepared(sa.update(OPERATION).where(_MINE), "state", "error")
_OUTBOX = Prepared(sa.select(OUTBOX).where(_X.ws == WS, _X.operation == ID).order_by(_X.number))
_CLEAR = Prepared(sa.delete(OUTBOX).where(_X.ws == WS, _X.operation == ID))
_EMPTY = "sha256:" + sha256(b"").hexdigest()
_RECEIPT_OF = Prepared(sa.select(_R.document).where(_R.ws == WS, _R.operation == ID))
_BY_TIME, _BY_SEQ = Backwards((_O.created, _O.id)), Backwards((_R.seq,))
_INTO = {t.name: Prepared(sa.insert(t)) for t in (OPERATION, OUTBOX, DIVERGENCE, RECEIPT)}


class Operations:
    """Operations of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def _of(self, id_: str) -> dict[str, Any]:
        return {"ws_": self._ws, "id_": id_}

    def operation(self, id_: str) -> StoredOperation | None:
        """An operation with what it is bound to."""
        row = _OPERATION.first(self._c, **self._of(id_))
        return None if row is None else _stored(row)

    def find(self, prefix: str, limit: int) -> list[str]:
        """Ids that begin with `prefix`."""
        low, high = text_range(prefix)
        query = sa.select(_O.id).where(_O.ws == self._ws, _O.id >= low, _O.id < high)
        return list(self._c.execute(query.order_by(_O.id).limit(limit)).scalars())

    def operations(
        self, page: Page, states: Sequence[str] | None = None
    ) -> tuple[list[OperationRow], str | None]:
        """Operations, oldest first."""
        number, id_ = _place(page.after)
        later = sa.or_(_O.created > number, sa.and_(_O.created == number, _O.id > id_))
        query = sa.select(OPERATION).where(_O.ws == self._ws, later)
        if states is not None:
            query = query.where(_O.state.in_(list(states)))
        rows = self._c.execute(query.order_by(_O.created, _O.id).limit(page.limit + 1)).all()
        items = [_row(r) for r in rows[: page.limit]]
        last = rows[page.limit - 1] if len(rows) > page.limit else None
        return items, None if last is None else f"{last.created}.{last.id}"

    def _written(self, words: str) -> Rows:
        query = sa.select(OPERATION).where(_O.ws == self._ws)
        names = (_O.id, _O.subject, _O.consumer, _O.state)
        said = (member(self._c, _O.actor, "reviewer"),)
        return query.where(matches(words, said, names)) if words else query

    def anchors(self, words: str, stride: int) -> tuple[list[tuple[int, str]], int]:
        """Every `stride`-th place of the operations newest first, and how many there are."""
        found, total = _BY_TIME.anchors(self._c, self._written(words), stride)
        return [(int(t), str(id_)) for t, id_ in found], total

    def window(self, words: str, start: tuple[int, str], limit: int) -> list[OperationRow]:
        """At most `limit` operations from a place on, newest first."""
        rows = self._c.execute(_BY_TIME.window(self._written(words), start, limit))
        return [_row(r) for r in rows]

    def newest_receipts(self, limit: int) -> list[Receipt]:
        """The receipts made last, newest first."""
        query = sa.select(_R.document).where(_R.ws == self._ws)
        found = self._c.execute(query.order_by(_R.seq.desc()).limit(limit)).scalars()
        return [Receipt.model_validate_json(bytes(r)) for r in found]

    def _receipts(self, words: str) -> Rows:
        query = sa.select(RECEIPT).where(_R.ws == self._ws)
        said = (member(self._c, _R.document, "reviewer"),)
        names = (_R.id, _R.consumer, member(self._c, _R.document, "subject"))
        return query.where(matches(words, said, names)) if words else query

    def receipt_anchors(self, words: str, stride: int) -> tuple[list[int], int]:
        """Every `stride`-th ledger position of the receipts newest first, and how many."""
        found, total = _BY_SEQ.anchors(self._c, self._receipts(words), stride)
        return [int(seq) for (seq,) in found], total

    def receipt_window(self, words: str, start: int, limit: int) -> list[Receipt]:
        """At most `limit` receipts from a ledger position on, newest first."""
        rows = self._c.execute(_BY_SEQ.window(self._receipts(words), (start,), limit))
        return [Receipt.model_validate_json(bytes(r.document)) for r in rows]

    def counts(self) -> dict[str, int]:
        """Number of operations by state."""
        rows = self._c.execute(
            sa.select(_O.state, sa.func.count()).where(_O.ws == self._ws).group_by(_O.state)
        )
        return {r[0]: int(r[1]) for r in rows}

    def open_of(self, subject: str) -> list[StoredOperation]:
        """Operations of a subject, alone or among others, that are being or were applied."""
        states = (OperationState.PREPARED.value, OperationState.APPLIED.value)
        query = sa.select(OPERATION).where(self._about(subject), _O.state.in_(states))
        return [_stored(r) for r in self._c.execute(query.order_by(_O.created, _O.id))]

    def _about(self, subject: str) -> sa.ColumnElement[bool]:
        among = sa.select(_S.operation).where(_S.ws == self._ws, _S.subject == subject)
        return sa.and_(_O.ws == self._ws, sa.or_(_O.subject == subject, _O.id.in_(among)))

    def subjects(self) -> set[tuple[str, str]]:
        """Subject and operation of every row that names one among several, for verification."""
        rows = self._c.execute(sa.select(_S.subject, _S.operation).where(_S.ws == self._ws))
        return {(r.subject, r.operation) for r in rows}

    def newest_of(self, subject: str, limit: int) -> list[StoredOperation]:
        """Operations of a subject, alone or among others, in any state, the newest first."""
        query = sa.select(OPERATION).where(self._about(subject))
        rows = self._c.execute(query.order_by(_O.created.desc(), _O.id).limit(limit))
        return [_stored(r) for r in rows]

    def prepared(self, checkout: str) -> list[StoredOperation]:
        """Operations a crash may have left between their first and last step."""
        rows = _PREPARED.all(self._c, ws_=self._ws, checkout_=checkout)
        return [_stored(r) for r in rows]

    def outbox(self, id_: str) -> list[OutboxTarget]:
        """The files of a prepared operation, in writing order."""
        return [
            OutboxTarget(
                r.number,
                r.path,
                r.before_digest,
                r.after_digest,
                bytes(r.after),
                staged=not r.after and r.after_digest != _EMPTY,
            )
            for r in _OUTBOX.all(self._c, **self._of(id_))
        ]

    def divergence(self, id_: str) -> list[tuple[str, bytes, bytes]]:
        """Per file of a diverged operation: path, bytes found, bytes wanted."""
        query = sa.select(DIVERGENCE).where(_D.ws == self._ws, _D.operation == id_)
        return [
            (r.path, bytes(r.found), bytes(r.wanted))
            for r in self._c.execute(query.order_by(_D.path))
        ]

    def receipt(self, operation_id: str) -> Receipt | None:
        """The receipt of an applied operation."""
        found = _RECEIPT_OF.value(self._c, **self._of(operation_id))
        return None if found is None else Receipt.model_validate_json(bytes(found))

    def receipts(self, page: Page) -> tuple[list[Receipt], str | None]:
        """Receipts in the order they were made."""
        (after,) = parse_cursor(page.after, 1, -1)
        rows = self._c.execute(
            sa.select(_R.seq, _R.document)
            .where(_R.ws == self._ws, _R.seq > after)
            .order_by(_R.seq)
            .limit(page.limit + 1)
        ).all()
        items = [Receipt.model_validate_json(bytes(r.document)) for r in rows[: page.limit]]
        more = len(rows) > page.limit
        return items, cursor_of(rows[page.limit - 1].seq) if more else None

    def stored_receipt(self, seq: int) -> StoredReceipt | None:
        """The receipt at a ledger position as it stands, for verification."""
        row = self._c.execute(_STORED, {"ws_": self._ws, "seq_": seq}).first()
        if row is None:
            return None
        return StoredReceipt(row.id, row.operation, row.consumer, bytes(row.document))

    def unanswered(self) -> list[str]:
        """Ids of receipts that no entry of the chain answers for, for verification."""
        t = LEDGER.c
        same = (t.ws == _R.ws, t.seq == _R.seq, t.kind == "receipt", t.subject == _R.id)
        query = (
            sa.select(_R.id)
            .outerjoin(LEDGER, sa.and_(*same))
            .where(_R.ws == self._ws, t.seq.is_(None))
        )
        return list(self._c.execute(query.order_by(_R.seq)).scalars())

    def receipt_count(self) -> int:
        """How many receipts there are."""
        query = sa.select(sa.func.count()).select_from(RECEIPT).where(_R.ws == self._ws)
        return int(self._c.execute(query).scalar_one())

    # writes

    def save_preview(self, operation: StoredOperation) -> None:
        """Store a preview; one that stands already is left as it is.

        One that diverged or was cancelled stands for confirm again: everything it is bound to
        is as it was, and a person has asked for it anew.
        """
        if self.operation(operation.operation_id) is not None:
            ended = (OperationState.DIVERGED.value, OperationState.CANCELLED.value)
            mine = (_O.ws == self._ws, _O.id == operation.operation_id, _O.state.in_(ended))
            again = {"state": OperationState.PREVIEWED.value, "error": None}
            self._c.execute(sa.update(OPERATION).where(*mine).values(**again))
            return
        row = {
            "ws": self._ws,
            "id": operation.operation_id,
            "action": operation.envelope.action,
            "consumer": operation.envelope.consumer,
            "subject": operation.envelope.subject,
            "state": operation.state.value,
            "envelope": operation.envelope.model_dump_json().encode(),
            "checkout": operation.checkout,
            "actor": operation.actor.model_dump_json().encode(),
            "as_of": operation.as_of,
            "created": operation.created,
            "error": None,
        }
        _INTO["operation"].run(self._c, **row)
        about = operation.envelope.subjects
        for subject in about if len(about) > 1 else ():
            self._c.execute(
                sa.insert(OPERATION_ABOUT),
                {"ws": self._ws, "subject": subject, "operation": operation.operation_id},
            )

    def prepare(self, id_: str, targets: Sequence[OutboxTarget], actor: Actor) -> bool:
        """Move to prepared with the bytes to be written; False when it may not start any more."""
        state, said = OperationState.PREPARED.value, actor.model_dump_json().encode()
        if not _PREPARE.run(self._c, **self._of(id_), state=state, actor=said, error=None):
            return False
        for t in targets:
            _INTO["outbox"].run(
                self._c,
                ws=self._ws,
                operation=id_,
                number=t.number,
                path=t.path,
                before_digest=t.before_digest,
                after_digest=t.after_digest,
                after=t.after,
            )
        return True

    def finish(self, id_: str, state: OperationState, error: str | None) -> None:
        """Leave prepared for an end state; the outbox bytes go with it."""
        _FINISH.run(self._c, **self._of(id_), state=state.value, error=error)
        _CLEAR.run(self._c, **self._of(id_))

    def keep_divergence(self, id_: str, path: str, found: bytes, wanted: bytes) -> None:
        """Keep both versions of a destination that is neither before nor after."""
        mine = sa.and_(_D.ws == self._ws, _D.operation == id_, _D.path == path)
        self._c.execute(sa.delete(DIVERGENCE).where(mine))
        row = {"ws": self._ws, "operation": id_, "path": path, "found": found, "wanted": wanted}
        _INTO["divergence"].run(self._c, **row)

    def add_receipt(self, receipt: Receipt) -> None:
        """Append a receipt under its ledger position."""
        _INTO["receipt"].run(
            self._c,
            ws=self._ws,
            seq=receipt.ledger_seq,
            id=receipt.receipt_id,
            operation=receipt.operation_id,
            consumer=receipt.consumer,
            document=receipt.model_dump_json().encode(),
        )


def _place(after: str | None) -> tuple[int, str]:
    if after is None:
        return -1, ""
    number, _, id_ = after.partition(".")
    return parse_cursor(number, 1, -1)[0], id_


def _row(r: Any) -> OperationRow:
    actor = Actor.model_validate_json(bytes(r.actor))
    return OperationRow(
        operation_id=r.id,
        action=r.action,
        consumer=r.consumer,
        subject=r.subject,
        state=OperationState(r.state),
        created=r.created,
        reviewer=actor.reviewer,
        error=r.error,
    )


def _stored(r: Any) -> StoredOperation:
    return StoredOperation(
        operation_id=r.id,
        envelope=Envelope.model_validate_json(bytes(r.envelope)),
        state=OperationState(r.state),
        as_of=r.as_of,
        created=r.created,
        checkout=r.checkout,
        actor=Actor.model_validate_json(bytes(r.actor)),
        error=r.error,
    )
