"""Normalised claims: duplicates, near duplicates and conflicts anywhere in the layers (spec 4.7).

A duplicate says the same; a near duplicate nearly; a conflict speaks under the same key and scope
with another value. A changed number or name is a conflict, never a duplicate; a statement that only
says more is neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from core import alike
from core.identity import keyed
from core.ports import ClaimReads, ClaimWrites, Desk
from schemas.candidates import POLICY, Related
from schemas.choices import OPEN_STATES
from schemas.storage import Claim

_SPACE = re.compile(r"\s+")
_EDGE = " \t\n.;!\"'`“”‘’"
_WORD = re.compile(r"[^\W\d_][\w'\-]*", re.UNICODE)
_QUOTED = re.compile(r"[`\"“”][^`\"“”]*[`\"“”]")
_NUMBERS = re.compile(r"\S*\d\S*")
_NUMBERED = re.compile(
    r"^([^\W\d_]{4,}(?=-?v?\d)|[^\W\d_]+(?:[-_][^\W\d_]+)+(?=\d))-?v?\d+(?:\.\d+)*$"
)
"""A name with its number: `postgres15`, `node-20`, `python3.11`, `db-stage2`; no `eu-north-1`, whose
number is a part of the name, and nothing as short as `md5`."""
_VERSION = re.compile(r"\b[^\W\d_]{4,}[ -]?v?\d+(?:\.\d+)*\b(?![:%])")
_LIGHT = frozenset(("run", "runs", "running", "have", "has"))
"""Verbs that say no more than `use` does beside a name and its version."""
_SAME_NAME = {"postgresql": "postgres", "nodejs": "node", "golang": "go", "k8s": "kubernetes"}
_LIMIT = 20
_COMPARED = 64
"""Claims a new one is compared with: those that share its key, and those that share a band."""


def normalised(statement: str) -> str:
    """A statement as claims compare it: NFKC, case folded, space folded, edges trimmed."""
    text = unicodedata.normalize("NFKC", statement).casefold()
    return _SPACE.sub(" ", text).strip(_EDGE)


def claim_of(desk: Desk, statement: str) -> bytes:
    """The keyed name of a normalised claim; says nothing to one without the secret."""
    return keyed(desk.secret, b"claim", normalised(statement).encode())


def key_of(statement: str) -> str:
    """A subject key proposed for a statement: its first content words, values left out.

    Statements that differ only in a value get the same key, so they conflict. Values are quoted
    words, numbers, and the number of a name, of which the name stays: `db-stage2` speaks of
    `db-stage`, `Postgres15` of what `Postgres 15` does. What a statement begins with is its
    subject: there a numbered name is left out whole, as `stage2` is another thing than `stage`.
    """
    folded = unicodedata.normalize("NFKC", statement).casefold()
    plain = _QUOTED.sub(" ", folded)
    light = _LIGHT if _VERSION.search(plain) else frozenset[str]()
    first, *rest = plain.split() or [""]
    while rest and first.strip(_EDGE) in alike.STOP:
        first, *rest = rest
    named = " ".join([first, *(_NUMBERED.sub(r"\1", w.strip(_EDGE + ",:()")) for w in rest)])
    words = [w.strip("-'") for w in _WORD.findall(_NUMBERS.sub(" ", named))]
    kept = [w for w in words if w not in alike.STOP and w not in light and len(w) > 1][:5]
    slug = ".".join(re.sub(r"[^\w\-]", "", _SAME_NAME.get(w, w)) for w in kept)
    return slug[:120] or "note"


def enter(desk: Desk, claims: ClaimWrites, claim: Claim) -> None:
    """Enter a statement's claim, and what it is to others that are like it."""
    claims.put(claim)
    bands = alike.bands(desk.secret, claim.statement)
    keyed_alike = claims.same_key(claim.key, claim.scope, claim.ref, _COMPARED)
    others = {c.claim: c.statement for c in keyed_alike}
    others |= claims.sharing(bands, claim.claim, _COMPARED)
    others.pop(claim.claim, None)
    known = claims.likeness([claim.claim]).get(claim.claim, {})
    subject = {c.claim for c in keyed_alike}
    found = {}
    for other, statement in others.items():
        if other in known:
            continue
        likeness = alike.compare(claim.statement, statement)
        near = likeness in (alike.Likeness.NEAR, alike.Likeness.SAME)
        if near or (likeness is alike.Likeness.APART and other in subject):
            found[other] = NEAR if near else APART
    claims.index(claim.claim, bands, found)


NEAR, APART = "near", "apart"
"""What is kept of a pair: near duplicates, and claims under one key that don't contradict."""


def contradicts(claim: bytes, other: bytes, likeness: Mapping[bytes, Mapping[bytes, str]]) -> bool:
    """True for two claims under one key and scope, unless they were found alike or apart."""
    return other != claim and other not in likeness.get(claim, {})


@dataclass(frozen=True, slots=True)
class Relations:
    """What stands beside a claim."""

    conflicts: tuple[Related, ...]
    duplicates: tuple[Related, ...]
    near: tuple[Related, ...]
    """Nearest first, what is accepted or in memory before what is still pending."""


def relations(reads: ClaimReads, claim: Claim) -> Relations:
    """Conflicts, duplicates and near duplicates of a claim, its own reference left out."""
    same = reads.same(claim.claim, claim.ref, _LIMIT)
    likeness = reads.likeness([claim.claim])
    other = reads.same_key(claim.key, claim.scope, claim.ref, _LIMIT)
    near = reads.near(claim.claim, claim.ref, _LIMIT)
    near.sort(
        key=lambda c: (c.state in OPEN_STATES, -alike.similarity(claim.statement, c.statement))
    )
    return Relations(
        tuple(
            _related(c, "conflict.rule" if c.layer == POLICY else "conflict.same-key")
            for c in other
            if contradicts(claim.claim, c.claim, likeness)
        ),
        tuple(
            _related(c, "duplicate.rule" if c.layer == POLICY else "duplicate.same-claim")
            for c in same
        ),
        tuple(_related(c, "duplicate.near") for c in near),
    )


def _related(claim: Claim, code: str) -> Related:
    return Related(
        ref=claim.place,
        layer=claim.layer,
        statement=claim.statement,
        code=code,
        state=claim.state or None,
        by=claim.by,
        since=claim.since,
    )
