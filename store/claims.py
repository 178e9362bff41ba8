"""The one table of normalised claims that every layer writes to, and which are alike (spec 4.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from schemas.candidates import POLICY
from schemas.operations import Receipt
from schemas.storage import RULES, Claim
from store.keys import ID, WS
from store.prepared import Prepared
from store.tables import (
    BELIEF,
    BELIEF_CONSUMER,
    CANDIDATE,
    CLAIM,
    CLAIM_BAND,
    LIKENESS,
    RECEIPT,
)

_C, _K, _B, _L = CANDIDATE.c, CLAIM.c, CLAIM_BAND.c, LIKENESS.c
_F, _A, _R = BELIEF.c, BELIEF_CONSUMER.c, RECEIPT.c
_CLAIMS = (
    sa.select(CLAIM, _C.state, _C.author, _C.created, _F.recorded, _R.document)
    .select_from(CLAIM)
    .outerjoin(CANDIDATE, sa.and_(_C.ws == _K.ws, _C.id == _K.ref))
    .outerjoin(BELIEF, sa.and_(_F.ws == _K.ws, _F.id == _K.ref))
    .outerjoin(
        BELIEF_CONSUMER,
        sa.and_(_A.ws == _F.ws, _A.belief == _F.id, _A.consumer == _K.layer),
    )
    .outerjoin(RECEIPT, sa.and_(_R.ws == _A.ws, _R.id == _A.receipt))
    # What was promoted says what its candidate says: it is no other statement.
    .where(_K.ws == WS, _K.ref != ID, sa.or_(_F.candidate.is_(None), _F.candidate != ID))
    .order_by(sa.case((_K.layer == POLICY, 0), else_=1), _K.layer, _K.ref)
    .limit(sa.bindparam("limit_", type_=sa.Integer))
)
_CLAIM: sa.BindParameter[bytes] = sa.bindparam("claim_")
_SAME = Prepared(_CLAIMS.where(_K.claim == _CLAIM))
_SAME_KEY = Prepared(
    _CLAIMS.where(_K.key == sa.bindparam("key_"), _K.scope == sa.bindparam("scope_"))
)
_NEAR = Prepared(
    _CLAIMS.join(LIKENESS, sa.and_(_L.ws == _K.ws, _L.other == _K.claim)).where(
        _L.claim == _CLAIM, _L.kind == "near"
    )
)
_LIKE = Prepared(sa.select(_L.other, _L.kind).where(_L.ws == WS, _L.claim == _CLAIM))
_PUT = Prepared(sa.insert(CLAIM))
_WITHDRAW = Prepared(sa.delete(CLAIM).where(_K.ws == WS, _K.ref == ID))


def _claim(r: Any) -> Claim:
    by = r.author or ""
    if r.document is not None:
        by = Receipt.model_validate_json(bytes(r.document)).reviewer
    since = r.created if r.recorded is None else r.recorded
    state = r.state or ""
    return Claim(bytes(r.claim), r.key, r.scope, r.layer, r.ref, r.statement, state, by, since)


class Claims:
    """Claims of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def same(self, claim: bytes, exclude: str, limit: int) -> list[Claim]:
        """Who else makes this claim."""
        return self._found(_SAME, claim_=claim, id_=exclude, limit_=limit)

    def same_key(self, key: str, scope: str, exclude: str, limit: int) -> list[Claim]:
        """Who else speaks under this key and scope."""
        return self._found(_SAME_KEY, key_=key, scope_=scope, id_=exclude, limit_=limit)

    def near(self, claim: bytes, exclude: str, limit: int) -> list[Claim]:
        """Who makes a claim that is nearly this one."""
        return self._found(_NEAR, claim_=claim, id_=exclude, limit_=limit)

    def _found(self, query: Prepared, **given: object) -> list[Claim]:
        return [_claim(r) for r in query.all(self._c, ws_=self._ws, **given)]

    def rules(self) -> list[Claim]:
        """Every claim that a rule file makes, by its reference."""
        mine = (_K.ws == self._ws, _K.ref >= RULES, _K.ref < RULES[:-1] + ";")
        rows = self._c.execute(sa.select(CLAIM).where(*mine).order_by(_K.ref))
        return [Claim(bytes(r.claim), r.key, r.scope, r.layer, r.ref, r.statement) for r in rows]

    def ruled(self, claims: Sequence[bytes], scope: str) -> set[bytes]:
        """Those of some claims that a rule file makes for a scope."""
        mine = (_K.ws == self._ws, _K.claim.in_(list(claims)), _K.layer == POLICY)
        query = sa.select(_K.claim).where(*mine, _K.scope == scope)
        return {bytes(c) for c in self._c.execute(query).scalars()} if claims else set()

    def likeness(self, claims: Sequence[bytes]) -> dict[bytes, dict[bytes, str]]:
        """What is known of these claims beside others: for each, the others by kind."""
        found: dict[bytes, dict[bytes, str]] = {}
        if len(claims) == 1:
            rows = _LIKE.all(self._c, ws_=self._ws, claim_=claims[0])
            return {claims[0]: {bytes(r.other): r.kind for r in rows}}
        query = sa.select(_L.claim, _L.other, _L.kind).where(_L.ws == self._ws)
        for r in self._c.execute(query.where(_L.claim.in_(list(claims)))):
            found.setdefault(bytes(r.claim), {})[bytes(r.other)] = r.kind
        return found

    def sharing(self, bands: Sequence[int], exclude: bytes, limit: int) -> dict[bytes, str]:
        """At most `limit` other claims that share a band, with a statement that makes each."""
        where = (_B.ws == self._ws, _B.band.in_(list(bands)), _B.claim != exclude)
        names = sa.select(_B.claim).where(*where).distinct().limit(limit)
        claims = list(self._c.execute(names).scalars())
        query = sa.select(_K.claim, sa.func.min(_K.statement).label("statement"))
        query = query.where(_K.ws == self._ws, _K.claim.in_(claims)).group_by(_K.claim)
        return {bytes(r.claim): r.statement for r in self._c.execute(query)} if claims else {}

    def put(self, claim: Claim) -> None:
        """Enter a claim, or replace the one its reference made before."""
        self.withdraw(claim.ref)
        _PUT.run(
            self._c,
            ws=self._ws,
            ref=claim.ref,
            claim=claim.claim,
            key=claim.key,
            scope=claim.scope,
            layer=claim.layer,
            statement=claim.statement,
        )

    def index(self, claim: bytes, bands: Sequence[int], likeness: Mapping[bytes, str]) -> None:
        """Let a claim be found by its bands, and keep what it is to others, both ways.

        A claim that was indexed before keeps its bands; `likeness` names only others that are new.
        """
        known = sa.select(_B.band).where(
            _B.ws == self._ws, _B.band.in_(list(bands)), _B.claim == claim
        )
        there = set(self._c.execute(known).scalars())
        if rows := [
            {"ws": self._ws, "band": b, "claim": claim} for b in sorted(set(bands) - there)
        ]:
            self._c.execute(sa.insert(CLAIM_BAND), rows)
        pairs = [
            {"ws": self._ws, "claim": a, "other": b, "kind": kind}
            for other, kind in sorted(likeness.items())
            for a, b in ((claim, other), (other, claim))
        ]
        if pairs:
            self._c.execute(sa.insert(LIKENESS), pairs)

    def withdraw(self, ref: str) -> None:
        """Take a reference's claim out."""
        _WITHDRAW.run(self._c, ws_=self._ws, id_=ref)
