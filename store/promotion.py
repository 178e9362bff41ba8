"""Beliefs and what waits for promotion (spec 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from schemas.candidates import CandidateRow
from schemas.common import Page
from schemas.promotion import Belief, BeliefAtConsumer, BeliefState
from schemas.storage import CandidateFilter, HeldPlace
from store.candidates import Candidates
from store.keys import ID, WS
from store.listing import Backwards, Rows, matches
from store.prepared import Prepared
from store.tables import BELIEF, BELIEF_CONSUMER

_B, _A = BELIEF.c, BELIEF_CONSUMER.c
_BELIEF = Prepared(sa.select(BELIEF).where(_B.ws == WS, _B.id == ID))
_CONSUMERS = Prepared(
    sa.select(BELIEF_CONSUMER).where(_A.ws == WS, _A.belief == ID).order_by(_A.consumer)
)
_BY_TIME = Backwards((_B.recorded, _B.id, _A.consumer))
_FORM, _STANDS = Prepared(sa.insert(BELIEF)), Prepared(sa.insert(BELIEF_CONSUMER))


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

    def beliefs(self, page: Page) -> tuple[list[Belief], str | None]:
        """Beliefs by id."""
        rows = self._c.execute(
            sa.select(BELIEF)
            .where(_B.ws == self._ws, _B.id > (page.after or ""))
            .order_by(_B.id)
            .limit(page.limit + 1)
        ).all()
        more = len(rows) > page.limit
        items = [self._belief(r) for r in rows[: page.limit]]
        return items, items[-1].id if more else None

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

    def add_belief(self, belief: Belief, consumer: str, receipt: str) -> None:
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

    def _belief(self, row: Any) -> Belief:
        return _belief(row, _CONSUMERS.all(self._c, ws_=self._ws, id_=row.id))


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
