"""Counts kept beside events, against the events themselves, for verification (spec 1.4).

The events are checked against the chain; what was counted of them only has to follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import sqlalchemy as sa

from schemas.evidence import Author, EventKind
from schemas.storage import Claim, ListedRow, RawOperation
from store.tables import (
    BELIEF_CONSUMER,
    CANDIDATE,
    CANDIDATE_SOURCE,
    CLAIM,
    CLAIM_BAND,
    EVENT,
    LABEL,
    LIKENESS,
    OPERATION,
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


def listed(connection: sa.Connection, ws: int) -> Iterator[ListedRow]:
    """Every candidate's row in lists, in the order they were proposed."""
    c = CANDIDATE.c
    query = sa.select(c.id, c.scope, c.claim, c.changed).where(c.ws == ws).order_by(c.number)
    for r in connection.execute(query):
        yield ListedRow(r.id, r.scope, bytes(r.claim), r.changed)


def claims(connection: sa.Connection, ws: int) -> Iterator[Claim]:
    """Every claim as it is entered, by its reference."""
    k = CLAIM.c
    for r in connection.execute(sa.select(CLAIM).where(k.ws == ws).order_by(k.ref)):
        yield Claim(bytes(r.claim), r.key, r.scope, r.layer, r.ref, r.statement)


def bands(connection: sa.Connection, ws: int) -> dict[bytes, set[int]]:
    """Where each claim stands in the index of near duplicates."""
    found: dict[bytes, set[int]] = {}
    b = CLAIM_BAND.c
    for r in connection.execute(sa.select(b.claim, b.band).where(b.ws == ws)):
        found.setdefault(bytes(r.claim), set()).add(int(r.band))
    return found


def likeness(connection: sa.Connection, ws: int) -> set[tuple[bytes, bytes, str]]:
    """Two claims and what they are to each other, each pair both ways."""
    t = LIKENESS.c
    query = sa.select(t.claim, t.other, t.kind).where(t.ws == ws)
    return {(bytes(r.claim), bytes(r.other), r.kind) for r in connection.execute(query)}


def operations(connection: sa.Connection, ws: int) -> Iterator[RawOperation]:
    """Every operation as its row holds it, by its id."""
    o = OPERATION.c
    names = [f.name for f in fields(RawOperation)]
    query = sa.select(*(o[n] for n in names)).where(o.ws == ws).order_by(o.id)
    for r in connection.execute(query):
        yield RawOperation(**{n: r._mapping[n] for n in names})


def held(connection: sa.Connection, ws: int) -> set[tuple[str, str, str, str]]:
    """Belief, consumer, receipt and state of everything that consumers hold."""
    a = BELIEF_CONSUMER.c
    query = sa.select(a.belief, a.consumer, a.receipt, a.state).where(a.ws == ws)
    return {(r.belief, r.consumer, r.receipt, r.state) for r in connection.execute(query)}


def citations(connection: sa.Connection, ws: int) -> int:
    """How many citations of events by candidate versions are kept for look-ups."""
    query = sa.select(sa.func.count()).select_from(CANDIDATE_SOURCE)
    return int(connection.execute(query.where(CANDIDATE_SOURCE.c.ws == ws)).scalar_one())
