"""What an agent did after a cut that may go against a lost rule (spec 7.7).

Only what a rule forbids, or wants asked before, can be looked for: the words of that clause in a
later tool call. A hit is a lead for a person, never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core import alike

_MOST = 5
"""Leads shown for one rule."""
_FORBIDS = (
    re.compile(
        r"\b(?:don'?t|do not|never|must not|mustn'?t|should not|shouldn'?t|cannot|can'?t|avoid|no)\s+"
        r"(?:ever\s+)?(?P<clause>[^.;:,]+?)(?=[.;:,]|\s(?:but|unless|without|before|until|if)\b|$)",
        re.I,
    ),
    re.compile(r"\b(?:instead of|rather than|,? not)\s+(?P<clause>[^.;:,]{2,60})", re.I),
    re.compile(
        r"\b(?:ask|check with|confirm with|tell|show) me\b[^.;]{0,20}\bbefore\s+(?:you\s+)?(?P<clause>[^.;]+)",
        re.I,
    ),
    re.compile(
        r"\bbefore\s+(?:you\s+)?(?P<clause>[^.;:,]+),\s+(?:please\s+)?(?:always\s+)?"
        r"(?:ask|check|confirm|tell|show)\b",
        re.I,
    ),
)
_GENERAL_WORDS = "use using add adding make making do doing run running change changing"
_GENERAL = frozenset(_GENERAL_WORDS.split())
"""Verbs that say nothing about what a call touches."""
_TOKEN = re.compile(r"[^\W_]+(?:[./_-][^\W_]+)*")


class Watch:
    """Looks for the forbidden clauses of one rule in the calls after the cut."""

    def __init__(self, rule: str) -> None:
        plain = rule.replace("’", "'")
        clauses = (m["clause"] for pattern in _FORBIDS for m in pattern.finditer(plain))
        self._clauses = [c for clause in clauses if (c := _clause(clause)) is not None]
        self.found: list[tuple[str, int, str]] = []
        """Event id, line and first words of each lead."""

    def __bool__(self) -> bool:
        """False when the rule forbids nothing that can be looked for."""
        return bool(self._clauses) and len(self.found) < _MOST

    @property
    def beginnings(self) -> set[str]:
        """How words begin of which a call must hold one to hold a clause."""
        return {word[:3] for wanted, exact in self._clauses for word in exact or wanted}

    def look(self, words: frozenset[str]) -> bool:
        """True when a call's words hold a forbidden clause."""
        return any(_holds(words, wanted, exact) for wanted, exact in self._clauses)


def words_of(call: str) -> frozenset[str]:
    """The words of a call: names whole and in their parts."""
    out: set[str] = set()
    for token in _TOKEN.findall(call.casefold()):
        out.add(token)
        out.update(re.split(r"[./_-]", token))
    return frozenset(out)


def _clause(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    read = alike.read(text)
    words = frozenset(read.words) - _GENERAL
    exact = frozenset(read.exact) & words
    return (words, exact) if exact or len(words) >= 2 else None


def _holds(call: frozenset[str], wanted: frozenset[str], exact: frozenset[str]) -> bool:
    if not exact <= call:
        return False
    missing = sum(not _among(word, call) for word in wanted - exact)
    return missing <= (len(wanted) // 3 if not exact else len(wanted) // 2)


def _among(word: str, call: Iterable[str]) -> bool:
    return word in call or any(c[:3] == word[:3] and alike.inflection(word, c) for c in call)
