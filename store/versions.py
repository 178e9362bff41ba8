"""Exact versions with their decisions, as they are read (spec 4.2, 4.4)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import sqlalchemy as sa

from schemas.candidates import CandidateState, CandidateVersion, Decision
from schemas.storage import Citing, StoredVersion
from store.keys import ID, WS
from store.prepared import Prepared
from store.tables import CANDIDATE, CANDIDATE_VERSION, DECISION

_C, _V, _D = CANDIDATE.c, CANDIDATE_VERSION.c, DECISION.c
_LIVE = [
    s.value
    for s in CandidateState
    if s not in (CandidateState.REJECTED, CandidateState.SUPERSEDED, CandidateState.LAPSED)
]
VERSION: sa.BindParameter[int] = sa.bindparam("version_")


def _versions() -> sa.Select[tuple[object, ...]]:
    """Versions with their last decision."""
    turns = DECISION.alias()
    last = (
        sa.select(sa.func.max(turns.c.turn))
        .where(turns.c.ws == _V.ws, turns.c.number == _V.number, turns.c.version == _V.version)
        .scalar_subquery()
    )
    mine = (_D.ws == _V.ws, _D.number == _V.number, _D.version == _V.version, _D.turn == last)
    return (
        sa.select(_V.document, _V.state, _C.version.label("newest"), _D.document.label("decided"))
        .join(CANDIDATE, sa.and_(_C.ws == _V.ws, _C.number == _V.number))
        .outerjoin(DECISION, sa.and_(*mine))
        .where(_V.ws == WS)
    )


_NEWEST = Prepared(_versions().where(_C.id == ID, _V.version == _C.version))
_EXACT = Prepared(_versions().where(_C.id == ID, _V.version == VERSION))

_STORED = Prepared(
    sa.select(_V.document, _V.digest, _V.created)
    .join(CANDIDATE, sa.and_(_C.ws == _V.ws, _C.number == _V.number))
    .where(_V.ws == WS, _C.id == ID, _V.version == VERSION)
)
_DECISIONS = Prepared(
    sa.select(_D.document, _D.time, _D.turn, _D.batch)
    .join(CANDIDATE, sa.and_(_C.ws == _D.ws, _C.number == _D.number))
    .where(_D.ws == WS, _C.id == ID, _D.version == VERSION)
    .order_by(_D.turn)
)


class Versions:
    """Candidate versions of one workspace on one connection, read only."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def version(self, id_: str, version: int | None = None) -> CandidateVersion | None:
        """One exact version, or the newest."""
        if version is None:
            found = _NEWEST.first(self._c, ws_=self._ws, id_=id_)
        else:
            found = _EXACT.first(self._c, ws_=self._ws, id_=id_, version_=version)
        return None if found is None else _version(found)

    def versions(self, id_: str) -> list[CandidateVersion]:
        """All versions, oldest first."""
        query = _versions().where(_C.id == ID).order_by(_V.version)
        return [_version(r) for r in self._c.execute(query, {"ws_": self._ws, "id_": id_})]

    def decisions(self, id_: str, version: int) -> list[Decision]:
        """Every decision on one version in order: a deferral, then what ended it."""
        found = self.stored(id_, version)
        made = found.decisions if found else ()
        return [Decision.model_validate_json(document) for document, *_ in made]

    def row_counts(self) -> dict[str, int]:
        """How many versions and decisions there are (verification)."""
        found = {}
        for name, table in (("candidate", CANDIDATE_VERSION), ("decision", DECISION)):
            query = sa.select(sa.func.count()).where(table.c.ws == self._ws)
            found[name] = int(self._c.execute(query).scalar_one())
        return found

    def names(self) -> dict[str, Counter[str]]:
        """How many rows stand under each `ID@N`, of versions and of decisions (verification)."""
        found = {}
        for name, table in (("candidate", CANDIDATE_VERSION), ("decision", DECISION)):
            t = table.c
            query = (
                sa.select(_C.id, t.number, t.version)
                .select_from(table)
                .outerjoin(CANDIDATE, sa.and_(_C.ws == t.ws, _C.number == t.number))
                .where(t.ws == self._ws)
            )
            rows = self._c.execute(query)
            found[name] = Counter(f"{r.id or f'number {r.number}'}@{r.version}" for r in rows)
        return found

    def live(self, after: tuple[int, int], limit: int) -> list[Citing]:
        """Versions that still count, past a place, with the events they cite."""
        later = sa.or_(_V.number > after[0], sa.and_(_V.number == after[0], _V.version > after[1]))
        rows = self._c.execute(
            sa.select(_C.id, _V.number, _V.version, _V.state, _V.document)
            .join(CANDIDATE, sa.and_(_C.ws == _V.ws, _C.number == _V.number))
            .where(_V.ws == self._ws, later, _V.state.in_(_LIVE))
            .order_by(_V.number, _V.version)
            .limit(limit)
        )
        return [_citing(r) for r in rows]

    def stored(self, id_: str, version: int) -> StoredVersion | None:
        """A version and its decision as they stand, for verification."""
        mine: dict[str, Any] = {"ws_": self._ws, "id_": id_, "version_": version}
        row = _STORED.first(self._c, **mine)
        if row is None:
            return None
        made = _DECISIONS.all(self._c, **mine)
        decisions = tuple((bytes(d.document), d.time, d.turn, d.batch) for d in made)
        return StoredVersion(bytes(row.document), row.digest, row.created, decisions)

    def last_decisions(self, limit: int) -> list[CandidateVersion]:
        """The versions decided last, newest decision first."""
        made = sa.select(_D.number, _D.version).where(_D.ws == self._ws)
        made = made.order_by(_D.time.desc(), _D.number.desc(), _D.version.desc()).limit(limit)
        order = {(r.number, r.version): n for n, r in enumerate(self._c.execute(made))}
        query = _versions().add_columns(_V.number, _V.version)
        query = query.where(sa.tuple_(_V.number, _V.version).in_(list(order)))
        found = {
            order[r.number, r.version]: _version(r)
            for r in self._c.execute(query, {"ws_": self._ws})
        }
        return [found[n] for n in sorted(found)]

    def batch(self, name: str) -> list[CandidateVersion]:
        """The versions decided in one batch."""
        query = _versions().where(_D.batch == name).order_by(_D.number, _D.version)
        return [_version(r) for r in self._c.execute(query, {"ws_": self._ws})]


def _citing(r: Any) -> Citing:
    document = json.loads(bytes(r.document))
    events = tuple(dict.fromkeys(s["event"] for s in document["sources"]))
    place = (r.number, r.version)
    return Citing(place, r.id, r.version, r.state, document["statement"], events)


def _version(r: sa.Row[tuple[object, ...]]) -> CandidateVersion:
    stored = CandidateVersion.model_validate_json(bytes(r.document))
    decided = None if r.decided is None else Decision.model_validate_json(bytes(r.decided))
    return stored.model_copy(
        update={"state": CandidateState(r.state), "newest": r.newest, "decision": decided}
    )
