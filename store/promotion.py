"""Beliefs and what waits for promotion (spec 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from schemas.candidates import CandidateRow
from schemas.common import Page
from schemas.promotion import ENDED, Belief, BeliefAtConsumer, BeliefChange, BeliefState
from schemas.storage import CandidateFilter, HeldPlace
from store.candidates import Candidates
from store.keys import ID, WS, text_range
from store.listing import Backwards, Rows, matches
from store.prepared import Prepared
from store.tables import BELIEF, BELIEF_CHANGE, BELIEF_CONSUMER

_B, _A, _H = BELIEF.c, BELIEF_CONSUMER.c, BELIEF_CHANGE.c
_BELIEF = Prepared(sa.select(BELIEF).where(_B.ws == WS, _B.id == ID))
_CONSUMERS = Prepared(
    sa.select(BELIEF_CONSUMER).where(_A.ws == WS, _A.belief == ID).order_by(_A.consumer)
)
_BY_TIME = Backwards((_B.recorded, _B.id, _A.consumer))
_FORM, _STANDS = Prepared(sa.insert(BELIEF)), Prepared(sa.insert(BELIEF_CONSUMER))
_CHANGE = Prepared(sa.insert(BELIEF_CHANGE))
_CHANGES = Prepared(
    sa.select(BELIEF_CHANGE).where(_H.ws == WS, _H.belief == ID).order_by(_H.consumer, _H.turn)
)


class Promotion:
    """Beliefs of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def to_promote(self, page: Page) -> tuple[list[CandidateRow], str | None]:
        """Candidates whose newest version is accepted and stands at no consumer yet."""
        return Candidates(self._c, self._ws).rows(CandidateFilter(("accepted",)), page)

    def belief(self, id_: str) -> Belief | None:
        """One belief."""
        row = _BELIEF.first(self._c, ws_=self._ws, id_=id_)
        return None if row is None else self._belief(row)

    def belief_of(self, candidate: str, version: int) -> Belief | None:
        """The belief formed from one exact version."""
        where = (_B.ws == self._ws, _B.candidate == candidate, _B.version == version)
        row = self._c.execute(sa.select(BELIEF).where(*where)).first()
        return None if row is None else self._belief(row)

    def beliefs(self, page: Page, as_of: int | None = None) -> tuple[list[Belief], str | None]:
        """Beliefs by id; as of a moment those that were in memory and valid then, as they stood."""
        query = sa.select(BELIEF).where(_B.ws == self._ws, _B.id > (page.after or ""))
        if as_of is not None:
            query = query.where(*self._stood(as_of))
        rows = self._c.execute(query.order_by(_B.id).limit(page.limit + 1)).all()
        more = len(rows) > page.limit
        items = [self._belief(r) for r in rows[: page.limit]]
        if as_of is not None:
            items = [self._then(b, as_of) for b in items]
        return items, items[-1].id if more else None

    def _stood(self, as_of: int) -> list[sa.ColumnElement[bool]]:
        """Active at a consumer at a moment, and valid then."""
        later = BELIEF_CHANGE.alias("later").c
        newer = sa.select(sa.literal(1)).where(
            later.ws == _H.ws,
            later.belief == _H.belief,
            later.consumer == _H.consumer,
            later.turn > _H.turn,
            later.time <= as_of,
        )
        active = sa.select(sa.literal(1)).where(
            _H.ws == _B.ws,
            _H.belief == _B.id,
            _H.state == BeliefState.ACTIVE.value,
            _H.time <= as_of,
            ~newer.exists(),
        )
        return [
            active.exists(),
            sa.or_(_B.valid_from.is_(None), _B.valid_from <= as_of),
            sa.or_(_B.valid_until.is_(None), _B.valid_until > as_of),
        ]

    def _then(self, belief: Belief, as_of: int) -> Belief:
        """A belief as it stood at a moment."""
        last: dict[str, BeliefChange] = {}
        wrote: dict[str, str] = {}
        for c in self.changes(belief.id):
            if c.time <= as_of:
                last[c.consumer] = c
                wrote.setdefault(c.consumer, c.receipt or "")
        at = tuple(_at(c, wrote[name]) for name, c in sorted(last.items()))
        return belief.model_copy(update={"consumers": at})

    def changes(self, belief: str) -> list[BeliefChange]:
        """Everything that became of a belief, consumer by consumer, in its order."""
        rows = _CHANGES.all(self._c, ws_=self._ws, id_=belief)
        return [_change(r) for r in rows]

    def every_change(self) -> list[BeliefChange]:
        """The changes of all beliefs, for verification."""
        query = sa.select(BELIEF_CHANGE).where(_H.ws == self._ws)
        rows = self._c.execute(query.order_by(_H.belief, _H.consumer, _H.turn))
        return [_change(r) for r in rows]

    def active(self, consumer: str, after: str, limit: int) -> list[Belief]:
        """Beliefs past an id that a consumer holds as memdesk left them."""
        here = sa.and_(_A.ws == _B.ws, _A.belief == _B.id, _A.consumer == consumer)
        query = sa.select(BELIEF).join_from(BELIEF, BELIEF_CONSUMER, here)
        query = query.where(_B.ws == self._ws, _B.id > after, _A.state == BeliefState.ACTIVE.value)
        return [self._belief(r) for r in self._c.execute(query.order_by(_B.id).limit(limit))]

    def find(self, prefix: str, limit: int) -> list[str]:
        """Ids of beliefs that begin with `prefix`."""
        low, high = text_range(prefix)
        query = sa.select(_B.id).where(_B.ws == self._ws, _B.id >= low, _B.id < high)
        return list(self._c.execute(query.order_by(_B.id).limit(limit)).scalars())

    def _held(self, words: str) -> Rows:
        query = sa.select(BELIEF, _A.consumer).join_from(
            BELIEF, BELIEF_CONSUMER, sa.and_(_A.ws == _B.ws, _A.belief == _B.id)
        )
        query = query.where(_B.ws == self._ws)
        return (
            query.where(matches(words, (_B.statement,), (_B.id, _A.consumer))) if words else query
        )

    def anchors(self, words: str, stride: int) -> tuple[list[HeldPlace], int]:
        """Every `stride`-th place of what consumers hold newest first, and how much that is."""
        found, total = _BY_TIME.anchors(self._c, self._held(words), stride)
        return [(int(t), str(id_), str(at)) for t, id_, at in found], total

    def window(self, words: str, start: HeldPlace, limit: int) -> list[tuple[Belief, str]]:
        """At most `limit` beliefs, each with a consumer that holds it, newest first."""
        rows = self._c.execute(_BY_TIME.window(self._held(words), start, limit)).all()
        at: dict[str, list[sa.Row[tuple[object, ...]]]] = {}
        every = sa.select(BELIEF_CONSUMER).where(
            _A.ws == self._ws, _A.belief.in_({r.id for r in rows})
        )
        for c in self._c.execute(every.order_by(_A.consumer)) if rows else ():
            at.setdefault(c.belief, []).append(c)
        return [(_belief(r, at[r.id]), r.consumer) for r in rows]

    def counts(self) -> dict[str, int]:
        """Number of beliefs at consumers, by state."""
        rows = self._c.execute(
            sa.select(_A.state, sa.func.count()).where(_A.ws == self._ws).group_by(_A.state)
        )
        return {r[0]: int(r[1]) for r in rows}

    def add_belief(self, belief: Belief, consumer: str, receipt: str, time: int) -> None:
        """Form a belief, or add one more consumer to it."""
        if self.belief(belief.id) is None:
            _FORM.run(self._c, ws=self._ws, **belief.model_dump(exclude={"consumers"}))
        _STANDS.run(
            self._c,
            ws=self._ws,
            belief=belief.id,
            consumer=consumer,
            state=BeliefState.ACTIVE.value,
            receipt=receipt,
        )
        self._append(
            BeliefChange(
                belief=belief.id,
                consumer=consumer,
                state=BeliefState.ACTIVE,
                time=time,
                receipt=receipt,
            )
        )

    def change(self, change: BeliefChange) -> None:
        """Let a belief stand otherwise at a consumer from now on."""
        mine = sa.and_(
            _A.ws == self._ws, _A.belief == change.belief, _A.consumer == change.consumer
        )
        self._c.execute(sa.update(BELIEF_CONSUMER).where(mine).values(state=change.state.value))
        self._append(change)

    def _append(self, change: BeliefChange) -> None:
        before = [c for c in self.changes(change.belief) if c.consumer == change.consumer]
        document = change.model_dump(mode="json")
        _CHANGE.run(self._c, ws=self._ws, turn=len(before) + 1, **document)

    def _belief(self, row: Any) -> Belief:
        found = _belief(row, _CONSUMERS.all(self._c, ws_=self._ws, id_=row.id))
        last = {c.consumer: c for c in self.changes(row.id)}
        at = [
            _at(last[c.consumer], c.receipt) if c.consumer in last else c for c in found.consumers
        ]
        # The state of the one row that lists read; `verify` compares it with the last change.
        at = [
            a.model_copy(update={"state": c.state})
            for a, c in zip(at, found.consumers, strict=True)
        ]
        return found.model_copy(update={"consumers": tuple(at)})


def _at(change: BeliefChange, wrote: str) -> BeliefAtConsumer:
    ended = change.state in ENDED
    return BeliefAtConsumer(
        consumer=change.consumer,
        state=change.state,
        receipt=wrote,
        since=change.time,
        ended_by=change.receipt if ended else None,
        replacement=change.replacement,
    )


def _change(row: Any) -> BeliefChange:
    return BeliefChange(
        belief=row.belief,
        consumer=row.consumer,
        state=BeliefState(row.state),
        time=row.time,
        receipt=row.receipt,
        replacement=row.replacement,
    )


def _belief(row: Any, consumers: Sequence[Any]) -> Belief:
    return Belief(
        id=row.id,
        statement=row.statement,
        candidate=row.candidate,
        version=row.version,
        consumers=tuple(
            BeliefAtConsumer(consumer=c.consumer, state=BeliefState(c.state), receipt=c.receipt)
            for c in consumers
        ),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        recorded=row.recorded,
    )
