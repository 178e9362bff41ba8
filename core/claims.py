"""Normalised claims: duplicates and conflicts anywhere in the layers (spec 4.7).

A duplicate says the same; a conflict speaks under the same key and scope and says something else.
A changed number or name is a conflict, never a duplicate.
"""

from __future__ import annotations

import re
import unicodedata

from core.identity import keyed
from core.ports import ClaimReads, Desk
from schemas.candidates import Related
from schemas.storage import Claim

_SPACE = re.compile(r"\s+")
_EDGE = " \t\n.;!\"'`“”‘’"
_STOP_WORDS = """
a an the is are was were be been to of in on at by for with and or that this it its we our you your
i my me please always never must should shall will do does don't not no only use uses used from now
as than per each every all any than there their they he she his her
"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W\d_][\w'\-]*", re.UNICODE)
_LIMIT = 20


def normalised(statement: str) -> str:
    """A statement as claims compare it: NFKC, case folded, space folded, edges trimmed."""
    text = unicodedata.normalize("NFKC", statement).casefold()
    return _SPACE.sub(" ", text).strip(_EDGE)


def claim_of(desk: Desk, statement: str) -> bytes:
    """The keyed name of a normalised claim; says nothing to one without the secret."""
    return keyed(desk.secret, b"claim", normalised(statement).encode())


def key_of(statement: str) -> str:
    """A subject key proposed for a statement: its first content words, numbers left out.

    Statements that differ only in a number or quoted value get the same key, so they conflict.
    """
    folded = unicodedata.normalize("NFKC", statement).casefold()
    plain = re.sub(r"[`\"“”][^`\"“”]*[`\"“”]|\S*\d\S*", " ", folded)
    words = [w.strip("-'") for w in _WORD.findall(plain)]
    kept = [w for w in words if w not in _STOP and len(w) > 1][:5]
    slug = ".".join(re.sub(r"[^\w\-]", "", w) for w in kept)
    return slug[:120] or "note"


def relations(
    claims: ClaimReads, claim: bytes, key: str, scope: str, ref: str
) -> tuple[tuple[Related, ...], tuple[Related, ...]]:
    """Conflicts and duplicates of a claim, as `(conflicts, duplicates)`."""
    same = claims.same(claim, ref, _LIMIT)
    other = [c for c in claims.same_key(key, scope, ref, _LIMIT) if c.claim != claim]
    return (
        tuple(_related(c, "conflict.same-key") for c in other),
        tuple(_related(c, "duplicate.same-claim") for c in same),
    )


def _related(claim: Claim, code: str) -> Related:
    return Related(ref=claim.ref, layer=claim.layer, statement=claim.statement, code=code)
