"""Exact diffs for people: hunks of lines with places, bounded in size and time (terminal.md).

Lines unique on both sides are matched first and difflib runs between them; a part that would
cost too much stays one coarse replacement and the diff says so. Word-level spans are computed
only for the changed rows that are shown.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

CONTEXT = 3
_BUDGET = 4_000_000
"""Steps of difflib for one diff, half a microsecond each."""
_WORDS = 400
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
Line = tuple[str, str]
"""A line's words and its end."""


class DiffLine(NamedTuple):
    """One row: sign ` `, `-` or `+`, 1-based line numbers on both sides, words without the end.

    `end` is the line's terminator as it stands in the bytes: LF, CRLF or nothing.
    """

    sign: str
    old: int | None
    new: int | None
    text: str
    end: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring changes with their context; `gap` unchanged lines are left out before it."""

    gap: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A whole diff; `tail` unchanged lines follow the last hunk."""

    hunks: tuple[Hunk, ...]
    tail: int
    added: int
    removed: int
    coarse: bool = False

    def unified(self, path: str) -> str:
        """The diff as text, with `\\ No newline at end of file` where that is so."""
        if not self.hunks:
            return ""
        out = [f"--- a/{path}", f"+++ b/{path}"]
        for hunk in self.hunks:
            out.append(_header(hunk))
            for line in hunk.lines:
                cr = "\r" if line.end == "\r\n" else ""
                out.append(line.sign + line.text + cr)
                if not line.end:
                    out.append("\\ No newline at end of file")
        return "\n".join(out) + "\n"


def _header(hunk: Hunk) -> str:
    old = [x.old for x in hunk.lines if x.old is not None]
    new = [x.new for x in hunk.lines if x.new is not None]
    left = f"{old[0] if old else 0},{len(old)}"
    right = f"{new[0] if new else 0},{len(new)}"
    return f"@@ -{left} +{right} @@"


def split(data: bytes) -> list[Line]:
    """Lines of some bytes as (words, end); invalid UTF-8 shows as U+FFFD."""
    text = data.decode("utf-8", "replace")
    parts = text.split("\n")
    ended, last = parts[:-1], parts[-1]
    lines = [(p[:-1], "\r\n") if p.endswith("\r") else (p, "\n") for p in ended]
    return [*lines, (last, "")] if last else lines


Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides and how their lines match: compared once, cut into hunks as often as wanted."""

    before: Sequence[Line]
    after: Sequence[Line]
    operations: Sequence[Opcode]
    coarse: bool

    @property
    def added(self) -> int:
        """Lines that only `after` has."""
        return sum(j2 - j1 for tag, _, _, j1, j2 in self.operations if tag != "equal")

    @property
    def removed(self) -> int:
        """Lines that only `before` has."""
        return sum(i2 - i1 for tag, i1, i2, _, _ in self.operations if tag != "equal")

    def at(self, context: int = CONTEXT) -> TextDiff:
        """The diff with so many unchanged lines around each change."""
        hunks, tail = _hunks(self.before, self.after, self.operations, context)
        return TextDiff(tuple(hunks), tail, self.added, self.removed, self.coarse)


def compared(before: bytes | None, after: bytes) -> Comparison:
    """How `before` (None: nothing there yet) and `after` match, line by line."""
    a, b = split(before or b""), split(after)
    return Comparison(a, b, *_opcodes(a, b))


def compare(before: bytes | None, after: bytes, context: int = CONTEXT) -> TextDiff:
    """The diff from `before` (None: nothing there yet) to `after`."""
    return compared(before, after).at(context)


Block = tuple[int, int, int]
"""An equal run: where it starts on both sides, and its length."""


def _opcodes(a: Sequence[Line], b: Sequence[Line]) -> tuple[list[Opcode], bool]:
    blocks, coarse = _blocks(a, b)
    out: list[Opcode] = []
    i = j = 0
    for i2, j2, size in [*blocks, (len(a), len(b), 0)]:
        if i < i2 or j < j2:
            tag = "replace" if i < i2 and j < j2 else "delete" if i < i2 else "insert"
            out.append((tag, i, i2, j, j2))
        if size:
            out.append(("equal", i2, i2 + size, j2, j2 + size))
        i, j = i2 + size, j2 + size
    return out, coarse


def _blocks(a: Sequence[Line], b: Sequence[Line]) -> tuple[list[Block], bool]:
    """Equal runs in order, none touching the next; True when a part was too costly to compare.

    difflib alone takes a minute for 20,000 lines of which every other changed, so it only sees
    what lies between lines that are unique on both sides.
    """
    head = _common(a, b, 0, len(a), 0, len(b))
    foot = _common(a, b, head, len(a), head, len(b), back=True)
    found: list[Block] = [(0, 0, head)]
    budget, coarse = _BUDGET, False
    i1 = j1 = head
    for i2, j2 in [*_anchors(a, b, head, foot), (len(a) - foot, len(b) - foot)]:
        start = _common(a, b, i1, i2, j1, j2)
        found.append((i1, j1, start))
        i1, j1 = i1 + start, j1 + start
        end = _common(a, b, i1, i2, j1, j2, back=True)
        x, y = a[i1 : i2 - end], b[j1 : j2 - end]
        cost = 0 if set(x).isdisjoint(y) else _cost(x, y)
        if cost > budget:
            coarse = True
        elif cost:
            budget -= cost
            matcher = difflib.SequenceMatcher(None, x, y, autojunk=False)
            found += [(i1 + i, j1 + j, size) for i, j, size in matcher.get_matching_blocks()]
        found.append((i2 - end, j2 - end, end))
        i1, j1 = i2, j2
    found.append((len(a) - foot, len(b) - foot, foot))
    return _joined(found), coarse


def _common(
    a: Sequence[Line], b: Sequence[Line], i1: int, i2: int, j1: int, j2: int, *, back: bool = False
) -> int:
    """How many lines two ranges share at their start, or with `back` at their end."""
    size, most = 0, min(i2 - i1, j2 - j1)
    if back:
        while size < most and a[i2 - 1 - size] == b[j2 - 1 - size]:
            size += 1
    else:
        while size < most and a[i1 + size] == b[j1 + size]:
            size += 1
    return size


def _anchors(a: Sequence[Line], b: Sequence[Line], head: int, foot: int) -> list[tuple[int, int]]:
    """Pairs of lines unique on both sides that keep their order: the longest such row."""
    left, right = Counter(a[head : len(a) - foot]), Counter(b[head : len(b) - foot])
    there = {b[j]: j for j in range(head, len(b) - foot) if right[b[j]] == 1}
    row: list[tuple[int, int, int]] = []  # i, j, index of the one before in the row
    tops: list[int] = []
    last: list[int] = []  # for each length the index of the row's end, `tops` its j
    for i in range(head, len(a) - foot):
        j = there.get(a[i]) if left[a[i]] == 1 else None
        if j is None:
            continue
        n = bisect_left(tops, j)
        row.append((i, j, last[n - 1] if n else -1))
        tops[n : n + 1] = [j]
        last[n : n + 1] = [len(row) - 1]
    out, at = [], last[-1] if last else -1
    while at >= 0:
        i, j, at = row[at]
        out.append((i, j))
    return out[::-1]


def _joined(blocks: list[Block]) -> list[Block]:
    out: list[Block] = []
    for i, j, size in blocks:
        if not size:
            continue
        if out and out[-1][0] + out[-1][2] == i and out[-1][1] + out[-1][2] == j:
            out[-1] = (out[-1][0], out[-1][1], out[-1][2] + size)
        else:
            out.append((i, j, size))
    return out


def _cost(x: Sequence[Line], y: Sequence[Line]) -> int:
    """An upper bound of difflib's inner steps: every equal pair once for every run it may find."""
    if not x or not y:
        return 0
    counts = Counter(y)
    pairs = sum(counts[item] for item in x)
    return (pairs + len(x)) * min(pairs, len(x), len(y)) + 1


def _hunks(
    a: Sequence[Line], b: Sequence[Line], operations: Sequence[Opcode], context: int
) -> tuple[list[Hunk], int]:
    hunks: list[Hunk] = []
    lines: list[DiffLine] = []
    gap = 0
    for n, (tag, i1, i2, j1, j2) in enumerate(operations):
        if tag != "equal":
            lines += [DiffLine("-", i + 1, None, *a[i]) for i in range(i1, i2)]
            lines += [DiffLine("+", None, j + 1, *b[j]) for j in range(j1, j2)]
            continue
        size = i2 - i1
        last = n == len(operations) - 1
        if lines and (last or size > 2 * context):
            shown = min(context, size)
            lines += [DiffLine(" ", i1 + k + 1, j1 + k + 1, *a[i1 + k]) for k in range(shown)]
            hunks.append(Hunk(gap, tuple(lines)))
            lines, gap, i1, j1, size = [], 0, i1 + shown, j1 + shown, size - shown
        shown = 0 if last else min(context if not lines else size, size)
        gap += size - shown
        lines += [
            DiffLine(" ", i2 - shown + k + 1, j2 - shown + k + 1, *a[i2 - shown + k])
            for k in range(shown)
        ]
    if any(x.sign != " " for x in lines):
        hunks.append(Hunk(gap, tuple(lines)))
        gap = 0
    return hunks, gap


def words(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Character spans that differ between two changed lines, word by word; empty past a bound."""
    a, b = _tokens(old), _tokens(new)
    if len(a) > _WORDS or len(b) > _WORDS:
        return [], []
    left: list[tuple[int, int]] = []
    right: list[tuple[int, int]] = []
    x, y = [t[0] for t in a], [t[0] for t in b]
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, x, y, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if i2 > i1:
            left.append((a[i1][1], a[i2 - 1][2]))
        if j2 > j1:
            right.append((b[j1][1], b[j2 - 1][2]))
    return left, right


def _tokens(text: str) -> list[tuple[str, int, int]]:
    return [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
