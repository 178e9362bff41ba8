"""Counts kept beside events, against the events themselves, for verification (spec 1.4).

The events are checked against the chain; what was counted of them only has to follow from them.
"""

from __future__ import annotations

import sqlalchemy as sa

from schemas.candidates import POLICY
from schemas.evidence import Author, EventKind
from store.tables import (
    BELIEF,
    BELIEF_CONSUMER,
    CANDIDATE,
    CANDIDATE_SOURCE,
    CLAIM,
    EVENT,
    LABEL,
    SESSION_FILE,
    SESSION_TOTAL,
)

_E, _T, _S, _L = EVENT.c, SESSION_TOTAL.c, SESSION_FILE.c, LABEL.c
_NOTES = "\n" + _E.notes + "\n"


def _count(where: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((where, 1), else_=0))


_LAST = sa.func.max(_E.time)
_FACTS: dict[str, sa.ColumnElement[int]] = {
    "seen": sa.case((_LAST > 0, _LAST), else_=0),
    "first_time": sa.func.min(_E.time),
    "last_time": _LAST,
    "events": sa.func.count(),
    "bytes": sa.func.sum(sa.case((_E.part == 0, _E.byte_length), else_=0)),
    **{f"by_{a.value}": _count(_E.author == a.value) for a in Author},
    "unparsed": _count(_E.kind == EventKind.UNPARSED.value),
    "partial": _count(_NOTES.like("%\npartial\n%")),
    "boundaries": _count(_E.kind == EventKind.COMPACT_BOUNDARY.value),
}


def odd_totals(connection: sa.Connection, ws: int) -> list[str]:
    """Names of sessions whose totals are not those of their events, or that have none."""
    real = (
        sa.select(_E.session, *(fact.label(name) for name, fact in _FACTS.items()))
        .where(_E.ws == ws)
        .group_by(_E.session)
        .subquery("of_events")
    )
    held = sa.select(SESSION_TOTAL).where(_T.ws == ws).subquery("held")
    named = sa.select(_E.scope).where(
        _E.ws == ws, _E.session == held.c.session, _E.scope == held.c.scope
    )
    place = sa.select(_S.file).where(
        _S.ws == ws, _S.session == held.c.session, _S.file == held.c.file
    )
    differs = sa.or_(
        held.c.session.is_(None),
        *(held.c[name].is_distinct_from(real.c[name]) for name in _FACTS),
        ~place.exists(),
        sa.and_(held.c.scope.is_not(None), ~named.exists()),
    )
    query = (
        sa.select(real.c.session)
        .select_from(real.outerjoin(held, held.c.session == real.c.session))
        .where(differs)
    )
    none = sa.select(_T.session).where(
        _T.ws == ws, ~sa.exists().where(_S.ws == ws, _S.session == _T.session)
    )
    return _names(connection, ws, [*connection.scalars(query), *connection.scalars(none)])


def odd_bounds(connection: sa.Connection, ws: int) -> list[str]:
    """Names of sessions whose events of some file do not stand where it is said."""
    real = (
        sa.select(
            _E.session,
            _E.file,
            sa.func.min(_E.ordinal).label("low"),
            sa.func.max(_E.ordinal).label("high"),
        )
        .where(_E.ws == ws)
        .group_by(_E.session, _E.file)
        .subquery("of_events")
    )
    mine = sa.and_(_S.ws == ws, _S.session == real.c.session, _S.file == real.c.file)
    query = (
        sa.select(real.c.session)
        .select_from(real.join(SESSION_FILE, mine))
        .where(sa.or_(_S.low != real.c.low, _S.high != real.c.high))
    )
    return _names(connection, ws, list(connection.scalars(query)))


def _names(connection: sa.Connection, ws: int, numbers: list[int]) -> list[str]:
    query = sa.select(_L.label, _L.text).where(_L.ws == ws, _L.label.in_(numbers))
    texts = {r.label: r.text for r in connection.execute(query)} if numbers else {}
    return sorted({texts.get(n, f"number {n}") for n in numbers})


def odd_claims(connection: sa.Connection, ws: int) -> list[str]:
    """References of claims that say other words than the candidate or belief that makes them."""
    k, c, b = CLAIM.c, CANDIDATE.c, BELIEF.c
    query = (
        sa.select(k.ref)
        .select_from(CLAIM)
        .outerjoin(CANDIDATE, sa.and_(c.ws == k.ws, c.id == k.ref))
        .outerjoin(BELIEF, sa.and_(b.ws == k.ws, b.id == k.ref))
        .where(k.ws == ws, k.layer != POLICY)
        .where(sa.func.coalesce(c.statement, b.statement).is_distinct_from(k.statement))
        .order_by(k.ref)
    )
    return [str(ref) for ref in connection.scalars(query)]


def held(connection: sa.Connection, ws: int) -> set[tuple[str, str, str, str]]:
    """Belief, consumer, receipt and state of everything that consumers hold."""
    a = BELIEF_CONSUMER.c
    query = sa.select(a.belief, a.consumer, a.receipt, a.state).where(a.ws == ws)
    return {(r.belief, r.consumer, r.receipt, r.state) for r in connection.execute(query)}


def citations(connection: sa.Connection, ws: int) -> int:
    """How many citations of events by candidate versions are kept for look-ups."""
    query = sa.select(sa.func.count()).select_from(CANDIDATE_SOURCE)
    return int(connection.execute(query.where(CANDIDATE_SOURCE.c.ws == ws)).scalar_one())
