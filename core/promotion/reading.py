"""What of a preview was read already, and what of a new one is left to read (spec 5.8).

A changed line is the same line wherever it moved: what counts is its file, its sign, its words
and end, and the how many-th of equal ones it is. Numbers and neighbours do not; a neighbour that
changed is itself new to read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass

from core.textdiff import DiffLine, Hunk

Identity = tuple[str, str, str, str, int]
"""File, sign, words, end, which of equal lines."""

FOREIGN = "under "
"""Put before the sign of a line that somebody else changed."""


class Identities:
    """Gives each changed line of one file its identity, in the order of the diff."""

    def __init__(self, path: str, prefix: str = "") -> None:
        self._path, self._prefix = path, prefix
        self._count: Counter[tuple[str, str, str]] = Counter()

    def of(self, line: DiffLine) -> Identity | None:
        """The identity of the next line; None for an unchanged one."""
        if line.sign == " ":
            return None
        same = (line.sign, line.text, line.end)
        self._count[same] += 1
        return (self._path, self._prefix + line.sign, line.text, line.end, self._count[same])


def of_copy(path: str, digest: str) -> Identity:
    """The identity of a file that is copied whole, told by its digest."""
    return (path, "+", digest, "", 1)


def identities(path: str, hunks: Iterable[Hunk], prefix: str = "") -> list[list[Identity]]:
    """The identities of a diff's changed lines, hunk by hunk."""
    names = Identities(path, prefix)
    return [[n for line in h.lines if (n := names.of(line)) is not None] for h in hunks]


@dataclass(frozen=True, slots=True)
class Left:
    """How much of a preview is new to a reader: hunks read whole, and lines not read yet."""

    kept: int
    new: int


def left(hunks: Iterable[Iterable[Identity]], read: Set[Hashable]) -> Left:
    """What is left of a preview for somebody who has read these lines."""
    kept = new = 0
    for hunk in hunks:
        missing = sum(name not in read for name in hunk)
        kept += not missing
        new += missing
    return Left(kept, new)
