"""Candidates, their exact versions, decisions, and the claims they make (spec 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from schemas.candidates import (
    POLICY,
    Attention,
    CandidateKind,
    CandidateRow,
    CandidateState,
    CandidateVersion,
    Decision,
)
from schemas.common import Page
from schemas.storage import CandidateFilter, Place, Waiting, rule_place
from store.citing import Citing
from store.keys import ID, WS, cursor_of, next_number, parse_cursor, text_range
from store.listing import matches
from store.prepared import Prepared
from store.tables import (
    BELIEF,
    CANDIDATE,
    CANDIDATE_VERSION,
    CLAIM,
    DECISION,
    LEDGER_HEAD,
    LIKENESS,
)
from store.versions import VERSION

_C, _V, _D, _K, _L = CANDIDATE.c, CANDIDATE_VERSION.c, DECISION.c, CLAIM.c, LIKENESS.c
_OWN = (
    sa.select(sa.literal(1))
    .where(BELIEF.c.ws == _K.ws, BELIEF.c.id == _K.ref, BELIEF.c.candidate == _C.id)
    .correlate(CANDIDATE, CLAIM)
    .exists()
)
"""A claim is that of the belief formed from this very candidate."""
_LANE = 40
"""A place is the lane above this many bits of the candidate\'s number."""
_SPEAKING = 500
_N: sa.BindParameter[int] = sa.bindparam("number_")


_HEAD = sa.select(LEDGER_HEAD.c.seq).where(LEDGER_HEAD.c.ws == WS)
_MARK, _HOLD = Prepared(_HEAD), Prepared(_HEAD.with_for_update())
_NUMBER = Prepared(sa.select(_C.number).where(_C.ws == WS, _C.id == ID).with_for_update())
_MOVE_VERSION = Prepared(
    sa.update(CANDIDATE_VERSION).where(
        _V.ws == WS,
        _V.number == _N,
        _V.version == VERSION,
        sa.or_(_V.state == sa.bindparam("from_"), _V.state == sa.bindparam("or_from_")),
    ),
    "state",
)
_MOVE = Prepared(
    sa.update(CANDIDATE).where(_C.ws == WS, _C.number == _N, _C.version == VERSION),
    *("state", "changed"),
)
_ORDERS = {"group": None, "session": _C.session, "kind": _C.kind, "author": _C.author}
"""How a list is grouped, and by which column; None stands for the lanes."""


def _keys(order: str) -> list[sa.ColumnElement[Any]]:
    """The columns whose values are a row's place in an order, unique together."""
    column = _ORDERS[order]
    return [_C.place] if column is None else [column, _C.number]


def _rows() -> sa.Select[tuple[object, ...]]:
    """Rows as lists show them, with what stands beside each."""
    same = (
        sa.select(sa.literal(1))
        .where(_K.ws == _C.ws, _K.claim == _C.claim, _K.ref != _C.id, ~_OWN)
        .correlate(CANDIDATE)
        .exists()
    )
    other = (
        sa.select(sa.literal(1))
        .where(
            _K.ws == _C.ws,
            _K.key == _C.key,
            _K.scope == _C.scope,
            _K.claim != _C.claim,
            _K.ref != _C.id,
            ~_OWN,
            ~sa.select(sa.literal(1))
            .where(_L.ws == _C.ws, _L.claim == _C.claim, _L.other == _K.claim)
            .correlate(CANDIDATE, CLAIM)
            .exists(),
        )
        .correlate(CANDIDATE)
        .exists()
    )
    near = (
        sa.select(sa.literal(1))
        .join_from(LIKENESS, CLAIM, sa.and_(_K.ws == _L.ws, _K.claim == _L.other))
        .where(_L.ws == _C.ws, _L.claim == _C.claim, _L.kind == "near")
        .correlate(CANDIDATE)
        .exists()
    )
    rule = (
        sa.select(sa.func.min(_K.ref))
        .where(_K.ws == _C.ws, _K.claim == _C.claim, _K.layer == POLICY)
        .correlate(CANDIDATE)
        .scalar_subquery()
    )
    named = (same.label("same"), other.label("other"), near.label("near"), rule.label("rule"))
    return sa.select(CANDIDATE, *named)


_ROW = _rows().where(_C.ws == WS, _C.id == ID)


class Candidates(Citing):
    """Candidates of one workspace on one connection."""

    def mark(self) -> int:
        """A mark that grows with every change; rows changed later have a greater one."""
        return int(_MARK.value(self._c, ws_=self._ws) or 0)

    # lists

    def _where(self, f: CandidateFilter) -> list[sa.ColumnElement[bool]]:
        where: list[sa.ColumnElement[bool]] = [_C.ws == self._ws]
        if f.states:
            state = _C.state == f.states[0] if len(f.states) == 1 else _C.state.in_(f.states)
            where.append(sa.or_(state, _C.number.in_(f.keep)) if f.keep else state)
        if f.group is not None:
            column = _ORDERS[f.order]
            if column is None:
                lane = int(f.group)
                where.append(_C.place.between(lane << _LANE, ((lane + 1) << _LANE) - 1))
            else:
                where.append(column == f.group)
        if f.lanes is not None:
            first, end = (lane << _LANE for lane in f.lanes)
            inside = _C.place.between(first, end - 1)
            where.append(sa.or_(inside, _C.number.in_(f.keep)) if f.keep else inside)
        if f.kind:
            where.append(_C.kind == f.kind)
        if f.text:
            where.append(matches(f.text, (_C.statement,), (_C.key, _C.id)))
        return where

    def window(self, filter_: CandidateFilter, start: Place, limit: int) -> list[CandidateRow]:
        """At most `limit` rows from place `start` on, by key, never by offset."""
        keys = _keys(filter_.order)
        from_ = start if isinstance(start, tuple) else (start,)
        after = keys[0] >= from_[0] if len(keys) == 1 else sa.tuple_(*keys) >= sa.tuple_(*from_)
        query = _rows().where(*self._where(filter_), after)
        rows = self._c.execute(query.order_by(*keys).limit(limit))
        return [_row(r, filter_.order) for r in rows]

    def rows(self, filter_: CandidateFilter, page: Page) -> tuple[list[CandidateRow], str | None]:
        """A page of rows in the order they were proposed."""
        (after,) = parse_cursor(page.after, 1, -1)
        query = _rows().where(*self._where(filter_), _C.number > after)
        found = self._c.execute(query.order_by(_C.number).limit(page.limit + 1))
        items = [_row(r) for r in found]
        more = len(items) > page.limit
        return items[: page.limit], cursor_of(items[page.limit - 1].number) if more else None

    def anchors(self, filter_: CandidateFilter, stride: int) -> tuple[list[Place], int]:
        """Every `stride`-th place of a list, and its length: what a scroll bar needs."""
        keys = [k.label(f"k{i}") for i, k in enumerate(_keys(filter_.order))]
        nth = sa.func.row_number().over(order_by=_keys(filter_.order)).label("nth")
        inner = sa.select(*keys, nth).where(*self._where(filter_)).subquery()
        places = [inner.c[k.name] for k in keys]
        query = sa.select(*places).where(inner.c.nth % stride == 1).order_by(inner.c.nth)
        found: list[Place] = [
            int(r[0]) if len(keys) == 1 else (str(r[0]), int(r[1])) for r in self._c.execute(query)
        ]
        return found, self.count(filter_)

    def count(self, filter_: CandidateFilter) -> int:
        """How many rows a list has."""
        query = sa.select(sa.func.count()).select_from(CANDIDATE).where(*self._where(filter_))
        return int(self._c.execute(query).scalar_one())

    def groups(self, filter_: CandidateFilter) -> dict[int | str, int]:
        """How many rows of a list stand in each of its groups, in their order."""
        column = _ORDERS[filter_.order]
        lane = _C.place // (1 << _LANE) if column is None else column
        query = sa.select(lane, sa.func.count()).where(*self._where(filter_)).group_by(lane)
        found = self._c.execute(query.order_by(lane))
        return {int(r[0]) if column is None else str(r[0]): int(r[1]) for r in found}

    def refs(self, filter_: CandidateFilter) -> list[tuple[int, str, int]]:
        """Number, id and newest version of every row of a list, in its order."""
        query = sa.select(_C.number, _C.id, _C.version).where(*self._where(filter_))
        keys = _keys(filter_.order)
        return [(r.number, r.id, r.version) for r in self._c.execute(query.order_by(*keys))]

    def speaking(self, key: str, scope: str) -> list[Waiting]:
        """Candidates whose newest version speaks under a key and scope."""
        query = sa.select(CANDIDATE).where(_C.ws == self._ws, _C.key == key, _C.scope == scope)
        return [
            Waiting(r.id, bytes(r.claim), r.method, r.author, r.place >> _LANE)
            for r in self._c.execute(query.order_by(_C.number).limit(_SPEAKING))
        ]

    def move(self, id_: str, lane: int) -> None:
        """Let a candidate stand in another lane."""
        mine = sa.and_(_C.ws == self._ws, _C.id == id_)
        self._c.execute(sa.update(CANDIDATE).where(mine).values(place=(lane << _LANE) + _C.number))

    def due(self, now: int, limit: int) -> list[int]:
        """Numbers of deferred candidates whose day has come, the longest due first."""
        query = sa.select(_C.number).where(_C.ws == self._ws, _C.due <= now)
        query = query.where(_C.state == "deferred").order_by(_C.due).limit(limit)
        return [int(n) for n in self._c.execute(query).scalars()]

    def next_due(self, now: int) -> int | None:
        """When the next deferred candidate returns."""
        query = sa.select(_C.due).where(_C.ws == self._ws, _C.due > now, _C.state == "deferred")
        found = self._c.execute(query.order_by(_C.due).limit(1)).scalar()
        return None if found is None else int(found)

    def rows_of(self, numbers: Sequence[int]) -> list[CandidateRow]:
        """Rows as they are now, by number."""
        query = _rows().where(_C.ws == self._ws, _C.number.in_(list(numbers)))
        return [_row(r) for r in self._c.execute(query)]

    def counts(self) -> dict[str, int]:
        """Number of candidates by the state of their newest version."""
        rows = self._c.execute(
            sa.select(_C.state, sa.func.count()).where(_C.ws == self._ws).group_by(_C.state)
        )
        return {r[0]: int(r[1]) for r in rows}

    def row(self, id_: str) -> CandidateRow | None:
        """One candidate as lists show it."""
        found = self._c.execute(_ROW, {"ws_": self._ws, "id_": id_}).first()
        return None if found is None else _row(found)

    def find(self, prefix: str, limit: int) -> list[str]:
        """Ids that begin with `prefix`."""
        low, high = text_range(prefix)
        query = sa.select(_C.id).where(_C.ws == self._ws, _C.id >= low, _C.id < high)
        return list(self._c.execute(query.order_by(_C.id).limit(limit)).scalars())

    # writes

    def hold(self) -> None:
        """Keep other writers of candidates waiting until this transaction ends.

        SQLite has one writer at a time anyway; on PostgreSQL a rule that reads before it writes
        (newest version, no open operation) would otherwise judge what another is changing.
        """
        _HOLD.value(self._c, ws_=self._ws)

    def add(self, record: CandidateVersion, claim: bytes, lane: int, attention: Attention) -> None:
        """Append a version; an earlier open one of the same candidate becomes superseded."""
        number = self._number(record.id)
        values = {
            "version": record.version,
            "state": record.state.value,
            "kind": record.kind.value,
            "key": record.key,
            "scope": record.scope,
            "statement": record.statement,
            "claim": claim,
            "author": record.author,
            "session": record.sources[0].session if record.sources else "",
            "method": record.method,
            "attention": attention.value,
            "hazards": ",".join(h.code for h in record.hazards),
            "changed": self.mark() + 1,
            "due": None,
        }
        if number is None:
            number = next_number(self._c, self._ws, _C.number)
            self._c.execute(
                sa.insert(CANDIDATE).values(
                    ws=self._ws,
                    number=number,
                    id=record.id,
                    created=record.created,
                    place=(lane << _LANE) + number,
                    **values,
                )
            )
        else:
            mine = sa.and_(_C.ws == self._ws, _C.number == number)
            place = (lane << _LANE) + number
            self._c.execute(sa.update(CANDIDATE).where(mine).values(place=place, **values))
            older = sa.and_(
                _V.ws == self._ws, _V.number == number, _V.state.in_(("pending", "deferred"))
            )
            self._c.execute(sa.update(CANDIDATE_VERSION).where(older).values(state="superseded"))
        document = record.model_copy(
            update={"decision": None, "conflicts": (), "duplicates": (), "near": ()}
        )
        self._c.execute(
            sa.insert(CANDIDATE_VERSION).values(
                ws=self._ws,
                number=number,
                version=record.version,
                state=record.state.value,
                document=document.model_dump_json().encode(),
                digest=record.digest,
                created=record.created,
            )
        )
        self.cite(number, record)

    def _number(self, id_: str) -> int | None:
        found = _NUMBER.value(self._c, ws_=self._ws, id_=id_)
        return None if found is None else int(found)

    def decide(self, id_: str, version: int, decision: Decision, state: CandidateState) -> bool:
        """Record a decision on an open, newest version; False when it is neither any more."""
        number = self._number(id_)
        if number is None or not self._move(number, version, ("pending", "deferred"), state):
            return False
        self._c.execute(
            sa.update(CANDIDATE)
            .where(_C.ws == self._ws, _C.number == number)
            .values(due=decision.until)
        )
        mine = (_D.ws == self._ws, _D.number == number, _D.version == version)
        turn = self._c.execute(sa.select(sa.func.max(_D.turn)).where(*mine)).scalar()
        self._c.execute(
            sa.insert(DECISION).values(
                ws=self._ws,
                number=number,
                version=version,
                turn=int(turn or 0) + 1,
                time=decision.time,
                batch=decision.batch,
                document=decision.model_dump_json().encode(),
            )
        )
        return True

    def promoted(self, id_: str, version: int) -> None:
        """Move an accepted version to promoted; a second consumer finds it promoted already."""
        number = self._number(id_)
        if number is not None:
            self._move(number, version, ("accepted", "promoted"), CandidateState.PROMOTED)

    def _move(
        self, number: int, version: int, from_: tuple[str, str], state: CandidateState
    ) -> bool:
        mine: dict[str, Any] = {"ws_": self._ws, "number_": number, "version_": version}
        mine["state"] = state.value
        done = _MOVE_VERSION.run(self._c, **mine, from_=from_[0], or_from_=from_[1])
        _MOVE.run(self._c, **mine, changed=self.mark() + 1)
        return done == 1


def _row(r: sa.Row[tuple[object, ...]], order: str = "group") -> CandidateRow:
    column = _ORDERS[order]
    return CandidateRow(
        number=r.number,
        place=r.place if column is None else (getattr(r, column.name), r.number),
        lane=r.place >> _LANE,
        id=r.id,
        version=r.version,
        state=CandidateState(r.state),
        kind=CandidateKind(r.kind),
        key=r.key,
        statement=r.statement,
        author=r.author,
        session=r.session,
        created=r.created,
        due=r.due,
        method=r.method,
        hazards=tuple(r.hazards.split(",")) if r.hazards else (),
        conflict=bool(r.other),
        duplicate=bool(r.same),
        near=bool(r.near),
        rule=rule_place(r.rule or ""),
        attention=Attention(r.attention),
    )
