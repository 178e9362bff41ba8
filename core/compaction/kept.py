"""What a summary kept of some words: verbatim, reworded, missing (spec 7.7).

Deterministic and blind to meaning: words are compared, with their inflections, numbers, names and
negations. `docs/compaction.md` says what that can't see.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core import alike, prose
from schemas.compaction import ItemState

_REWORDED = 0.5
"""Share of the content words that one sentence must hold."""
_NEAR = 0.25
"""Share from which a sentence is worth showing as the nearest."""
_LONG = 60
"""Words of a piece; a summary's longer lines are compared in pieces."""
_STEP = 40
_SCRIPT = 20_000
"""Characters of a summary that tell its script."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Match:
    """What a summary did with some words, and its sentence nearest to them, by character span."""

    state: ItemState
    nearest: tuple[int, int] | None = None
    reason: str | None = None


class Text:
    """A summary, read once and compared with many items."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._bare = f" {bare(text)} "
        self._script = _scripts(text[:_SCRIPT])
        self._places = list(_pieces(text))
        self._read = [alike.read(text[a:b]) for a, b in self._places]
        self._where: dict[str, set[int]] = defaultdict(set)
        for n, piece in enumerate(self._read):
            for word in (*piece.words, *piece.exact):
                self._where[word].add(n)
        self._near: dict[str, list[str]] = defaultdict(list)
        for word in self._where:
            self._near[word[:3]].append(word)

    def holds(self, quote: str) -> bool:
        """True when the words stand here in their order, punctuation and case aside."""
        words = bare(quote)
        return bool(words) and (f" {words} " if words.isascii() else words) in self._bare

    def match(self, quote: str) -> Match:
        """What became of some words."""
        if self.holds(quote):
            return Match(ItemState.VERBATIM, self._holding(quote))
        if self._foreign(quote):
            return Match(ItemState.UNKNOWN, reason="compaction.other-script")
        wanted = alike.read(quote)
        words = set(wanted.words)
        found: Counter[int] = Counter()
        for word in words:
            found.update(self._sentences_with(word))
        if not words or not found:
            return Match(ItemState.MISSING, reason="compaction.missing")
        most = max(found.values())
        best = min((len(self._read[n].words), n) for n, c in found.items() if c == most)[1]
        share = found[best] / len(words)
        if share >= _REWORDED and found[best] >= min(2, len(words)):
            changed = _changed(wanted, self._read[best])
            reason = "compaction.value-changed" if changed else None
            return Match(ItemState.REWORDED, self._places[best], reason)
        place = self._places[best] if share >= _NEAR else None
        return Match(ItemState.MISSING, place, "compaction.missing")

    def _foreign(self, quote: str) -> bool:
        """True when most letters of the words are of a script that the summary hardly uses."""
        script = _scripts(quote)
        if not script:
            return False
        name, count = script.most_common(1)[0]
        return count * 2 > script.total() and self._script[name] * 20 < self._script.total()

    def _holding(self, quote: str) -> tuple[int, int] | None:
        words = bare(quote)
        found = zip(self._places, self._bares, strict=True)
        return next((place for place, piece in found if words in piece), None)

    @cached_property
    def _bares(self) -> list[str]:
        """Each piece's words, made once for all that is looked for."""
        return [bare(self.text[a:b]) for a, b in self._places]

    def _sentences_with(self, word: str) -> set[int]:
        out = set(self._where.get(word, ()))
        for other in self._near.get(word[:3], ()):
            if other != word and alike.inflection(word, other):
                out |= self._where[other]
        return out


def bare(text: str) -> str:
    """Words in their order, folded, without anything between them but a space."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    return " ".join(_WORD.findall(folded))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences of prose and the lines outside it, long ones in overlapping pieces."""
    at = 0
    for line in text.split("\n"):
        for a, b in prose.sentences(line):
            words = [m.span() for m in re.finditer(r"\S+", line[a:b])]
            for first in range(0, max(1, len(words) - _LONG + _STEP), _STEP):
                piece = words[first : first + _LONG]
                if piece:
                    yield at + a + piece[0][0], at + a + piece[-1][1]
        at += len(line) + 1


def _changed(wanted: alike.Read, found: alike.Read) -> bool:
    """True when another number or name stands in the place of one, or a negation went or came."""
    lost = wanted.exact - found.all
    return wanted.denied != found.denied or bool(lost and _numbers(lost) and _numbers(found.exact))


def _numbers(words: Sequence[str] | frozenset[str]) -> bool:
    return any(c.isdigit() for word in words for c in word)


def _scripts(text: str) -> Counter[str]:
    """Letters of a text by script."""
    letters = Counter(filter(str.isalpha, text))
    found: Counter[str] = Counter()
    for letter, count in letters.items():
        found[_script(letter)] += count
    return found


def _script(letter: str) -> str:
    if letter.isascii():
        return "LATIN"
    return unicodedata.name(letter, "?").partition(" ")[0]
