"""How alike two statements are: near duplicates, changed values, additions (spec 4.7).

Two statements are near duplicates when the same numbers, names and negations stand in nearly the
same words. A changed number, name or other word is a conflict, never a duplicate; a statement
that only says more is neither.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

_STOP_WORDS = """
a an the is are was were be been to of in on at by for with and or that this it its we our you your
i my me please always never must should shall will do does don't not no only use uses used from now
as than per each every all any there their they he she his her
"""
STOP = frozenset(_STOP_WORDS.split())
"""Words that carry no subject."""
_WEAK_WORDS = "also so then just very most least max maximum min minimum can may"
_WEAK = STOP | frozenset(_WEAK_WORDS.split())
_DENYING = "not no never none don't doesn't can't cannot won't without nor"
_NEGATIONS = frozenset(_DENYING.split())
_NUMERALS = """
one two three four five six seven eight nine ten eleven twelve first second third fourth fifth sixth
seventh eighth ninth tenth once twice half
"""
_COUNTS = frozenset(_NUMERALS.split())
_EDGES = "\"'`“”‘’«»()[]{}<>.,;:!?*_~"
_NAME_INSIDE = re.compile(r"[^\W_][_/.@#$=+:][^\W_]|^[@#$/~-]")
_ALIKE = 0.75
_SHARED = 3
_MOST_WORDS = 80

_BANDS, _ROWS = 6, 2
_MASKS = tuple((n * 0x9E3779B97F4A7C15) & ((1 << 63) - 1) for n in range(_BANDS * _ROWS))


class Likeness(StrEnum):
    """What one statement is to another of the same subject."""

    SAME = "same"
    NEAR = "near"
    APART = "apart"
    """One says more than the other, or something else altogether."""
    CHANGED = "changed"
    """The same with another value: number, name, negation or word."""


@dataclass(frozen=True, slots=True)
class Read:
    """A statement as it is compared; each is read once for many comparisons."""

    words: tuple[str, ...]
    """Content words, folded, in order."""
    all: frozenset[str]
    exact: frozenset[str]
    """Numbers, names and identifiers."""
    denied: bool


@lru_cache(maxsize=1024)
def read(statement: str) -> Read:
    """A statement's content words, and what of it must not change."""
    words, exact, every = [], set(), set()
    denials = 0
    start = True
    for raw in unicodedata.normalize("NFKC", statement).replace("’", "'").split():
        bare = raw.strip(_EDGES)
        word = bare.casefold()
        if not word:
            continue
        every.add(word)
        denials += word in _NEGATIONS or word.endswith("n't")
        if word in _COUNTS or _is_exact(raw, bare, start):
            exact.add(word)
        if word in exact or (word not in _WEAK and word not in _NEGATIONS):
            words.append(word)
        start = raw[-1] in ".!?:"
    return Read(tuple(words[:_MOST_WORDS]), frozenset(every), frozenset(exact), denials % 2 == 1)


def _is_exact(raw: str, bare: str, start: bool) -> bool:
    """True for what must not change: digits, identifiers, quoted words, names."""
    if any(c.isdigit() for c in bare) or _NAME_INSIDE.search(bare):
        return True
    if raw[0] in '`"“«' and len(bare) > 1:
        return True
    inner = any(c.isupper() for c in bare[1:])
    return inner or (bare[0].isupper() and not start and bare.casefold() not in _WEAK)


def compare(a: str, b: str) -> Likeness:
    """What `b` is to `a`; symmetrical."""
    from rapidfuzz.distance import Indel

    left, right = sorted((read(a), read(b)), key=lambda r: r.words)
    x, y = left.words, _inflected(left.words, right.words)
    if not x or not y:
        same = a.casefold().split() == b.casefold().split()
        return Likeness.SAME if same else Likeness.APART
    if left.denied != right.denied:
        return Likeness.CHANGED
    lost, gained = left.exact - right.all, right.exact - left.all
    if (lost and gained) or _replaced(x, y):
        return Likeness.CHANGED
    shared = len(set(x) & set(y))
    alike = Indel.normalized_similarity(sorted(x), sorted(y))
    near = not lost and not gained and shared >= min(_SHARED, len(x), len(y)) and alike >= _ALIKE
    return Likeness.NEAR if near else Likeness.APART


def similarity(a: str, b: str) -> float:
    """How much of their words two statements share, 0 to 1: what is nearest comes first."""
    from rapidfuzz.distance import Indel

    x = read(a).words
    return float(Indel.normalized_similarity(sorted(x), sorted(_inflected(x, read(b).words))))


def _inflected(model: Sequence[str], words: Sequence[str]) -> list[str]:
    """Words with each inflection of a model's word given as that word."""
    known = set(model)
    out = []
    for word in words:
        if word not in known:
            word = next((m for m in model if inflection(m, word)), word)
        out.append(word)
    return out


def inflection(a: str, b: str) -> bool:
    """add, adding; dependency, dependencies; rotate, rotates. Never of anything with a digit."""
    shorter = min(len(a), len(b))
    if shorter < 3 or abs(len(a) - len(b)) > 4 or not (a.isalpha() and b.isalpha()):
        return False
    same = 0
    while same < shorter and a[same] == b[same]:
        same += 1
    return same >= max(3, shorter - 1) and same >= shorter - (1 if shorter > 3 else 0)


def _replaced(x: Sequence[str], y: Sequence[str]) -> bool:
    """True when in one place another word stands, and it is not merely moved."""
    from rapidfuzz.distance import Levenshtein

    left, right = set(x), set(y)
    for op in Levenshtein.opcodes(x, y):
        if op.tag == "replace":
            gone = any(w not in right for w in x[op.src_start : op.src_end])
            come = any(w not in left for w in y[op.dest_start : op.dest_end])
            if gone and come:
                return True
    return False


def bands(secret: bytes, statement: str) -> tuple[int, ...]:
    """Where a statement stands in the index of near duplicates: statements alike share a band.

    MinHash over the trigrams of content words, two to a band, each band together with the numbers
    and the negation, which near duplicates must share. Keyed, so a band tells nothing by itself.
    """
    said = read(statement)
    numbers = " ".join(sorted(w for w in said.exact if any(c.isdigit() for c in w)))
    marks = f"{numbers}|{said.denied}"
    grams = {f"  {w} "[i : i + 3] for w in said.words for i in range(len(w) + 1)} or {""}
    hashes = [_hash(secret, g) for g in grams]
    # One hash seen through different masks stands for as many permutations.
    least = [min(map(m.__xor__, hashes)) for m in _MASKS]
    return tuple(
        _hash(secret, f"{n}|{marks}|{least[n * _ROWS : (n + 1) * _ROWS]}") for n in range(_BANDS)
    )


def _hash(secret: bytes, text: str) -> int:
    """63 bits that fit a signed column of either database."""
    found = hashlib.blake2b(text.encode(), key=secret[:64], digest_size=8)
    return int.from_bytes(found.digest(), "big") >> 1
