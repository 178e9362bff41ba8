"""Exact diffs for people: hunks of lines with places, bounded in size and time (terminal.md).

Common ends are trimmed before difflib runs; a diff that would cost too much falls back to one
coarse hunk and says so. Word-level spans are computed only for the changed rows that are shown.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

CONTEXT = 3
_COARSE_PRODUCT = 60_000_000
_WORDS = 400
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class DiffLine:
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


def split(data: bytes) -> list[tuple[str, str]]:
    """Lines of some bytes as (words, end); invalid UTF-8 shows as U+FFFD."""
    text = data.decode("utf-8", "replace")
    parts = text.split("\n")
    ended, last = parts[:-1], parts[-1]
    lines = [(p[:-1], "\r\n") if p.endswith("\r") else (p, "\n") for p in ended]
    return [*lines, (last, "")] if last else lines


def compare(before: bytes | None, after: bytes, context: int = CONTEXT) -> TextDiff:
    """The diff from `before` (None: nothing there yet) to `after`."""
    a, b = split(before or b""), split(after)
    operations, coarse = _opcodes(a, b)
    hunks, tail = _hunks(a, b, operations, context)
    added = sum(j2 - j1 for tag, _, _, j1, j2 in operations if tag != "equal")
    removed = sum(i2 - i1 for tag, i1, i2, _, _ in operations if tag != "equal")
    return TextDiff(tuple(hunks), tail, added, removed, coarse)


Opcode = tuple[str, int, int, int, int]


def _opcodes(a: Sequence[object], b: Sequence[object]) -> tuple[list[Opcode], bool]:
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    foot = 0
    while foot < min(len(a), len(b)) - head and a[-1 - foot] == b[-1 - foot]:
        foot += 1
    x, y = a[head : len(a) - foot], b[head : len(b) - foot]
    coarse = _cost(x, y) > _COARSE_PRODUCT
    middle: list[Opcode] = []
    if x or y:
        if coarse or not x or not y:
            tag = "replace" if x and y else "delete" if x else "insert"
            middle = [(tag, 0, len(x), 0, len(y))]
        else:
            matcher = difflib.SequenceMatcher(None, x, y, autojunk=False)
            middle = list(matcher.get_opcodes())
    out: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    out += [(t, i1 + head, i2 + head, j1 + head, j2 + head) for t, i1, i2, j1, j2 in middle]
    if foot:
        out.append(("equal", len(a) - foot, len(a), len(b) - foot, len(b)))
    return out, coarse


def _cost(x: Sequence[object], y: Sequence[object]) -> int:
    """An upper bound of difflib's inner steps: equal pairs it has to walk."""
    counts: dict[object, int] = {}
    for item in y:
        counts[item] = counts.get(item, 0) + 1
    pairs = sum(counts.get(item, 0) for item in x)
    return pairs * max(1, min(len(x), len(y)) // 50)


def _hunks(
    a: list[tuple[str, str]], b: list[tuple[str, str]], operations: list[Opcode], context: int
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
