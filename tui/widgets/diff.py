"""A diff as lines of a document: unified or side by side, its rows made when they come into view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len

from core.promotion.reading import Identities
from core.safe_text import Shown, exact_pieces
from core.textdiff import CONTEXT, DiffLine, Hunk, TextDiff, words
from core.wording import some
from tui.theme import Glyphs, in_ascii
from tui.widgets.document import Line

_WHITE = "space-mark"
CONTEXTS = (0, 1, 3, 10, 25)


@dataclass(frozen=True, slots=True)
class View:
    """How diffs are shown; no choice here hides a changed character."""

    context: int = CONTEXT
    split: bool = False
    spaces: bool = True
    """Mark every space and line end; else only those that could mislead."""

    def other_context(self, step: int) -> View:
        """One step less or more of the unchanged lines around."""
        at = CONTEXTS.index(self.context) + step
        return replace(self, context=CONTEXTS[max(0, min(at, len(CONTEXTS) - 1))])


class DiffText:
    """Writes the diff of one file. Lines have the identities that `core.promotion.reading` gives."""

    def __init__(
        self, path: str, g: Glyphs, view: View, *, group: int = 0, prefix: str = "", digits: int = 4
    ) -> None:
        self._names = Identities(path, prefix)
        self._g, self._view, self._group = g, view, group
        self._digits = digits
        marked = {"\n": g.end, "\r\n": "␍↵", "": " (no newline)"}
        shown = marked if view.spaces else {**marked, "\n": ""}
        self._ends = {end: Shown(sign) for end, sign in shown.items()}
        self._end_sizes = {end: cell_len(in_ascii(shown)) for end, shown in self._ends.items()}

    def lines(self, diff: TextDiff) -> list[Line]:
        """Hunk by hunk, with what is left out between them."""
        if diff.hunks:
            last = diff.hunks[-1].lines[-1]
            self._digits = max(self._digits, len(str(max(last.old or 0, last.new or 0))))
        out: list[Line] = []
        if diff.coarse:
            out.append(Line([(" shown as one block: too large to compare line by line", "warn")]))
        if not diff.hunks:
            out.append(Line([("          no change to the bytes", "muted")]))
        for hunk in diff.hunks:
            if hunk.gap:
                out.append(self._gap(hunk.gap))
            out += self._split(hunk) if self._view.split else self._unified(hunk)
        if diff.tail:
            out.append(self._gap(diff.tail))
        return out

    def _gap(self, count: int) -> Line:
        return Line([(f"          {self._g.gap} {some(count, 'unchanged line')}", "muted")])

    def _unified(self, hunk: Hunk) -> Iterator[Line]:
        for line, other in _partners(hunk.lines):
            yield self._line(line, other)

    def _split(self, hunk: Hunk) -> Iterator[Line]:
        for run in _runs(hunk.lines):
            if run[0].sign == " ":
                for line in run:
                    left = self._line(line, None, old=True)
                    yield left._replace(beside=self._line(line, None))
                continue
            gone = [(x, o) for x, o in _partners(run) if x.sign == "-"]
            come = [(x, o) for x, o in _partners(run) if x.sign == "+"]
            for before, after in zip_longest(gone, come):
                left = self._line(*before) if before else Line()
                right = self._line(*after) if after else Line()
                keys = (*left.keys, *right.keys)
                yield left._replace(beside=right, keys=keys, group=self._group)

    def _line(self, line: DiffLine, other: DiffLine | None, *, old: bool = False) -> Line:
        number = line.old if old or line.new is None else line.new
        lead = f" {line.sign} {number or 0:>{self._digits}}   "
        name = self._names.of(line) if not old else None
        text = line.text
        plain = text.isascii() and text.isprintable()
        end = self._end_sizes[line.end] if line.sign != " " else 0
        size = len(lead) + len(text) + end if plain else -1
        keys = (name,) if name else ()
        return Line(
            (), len(lead), keys, self._group, (), "", self._drawn, (line, other, lead), size
        )  # fmt: skip

    def _drawn(self, what: tuple[DiffLine, DiffLine | None, str]) -> list[tuple[str, str]]:
        line, other, lead = what
        if line.sign == " ":
            return [(lead, "muted"), (line.text, "muted")]
        role = "add" if line.sign == "+" else "del"
        spans: list[tuple[int, int]] = []
        if other is not None:
            old, new = (line.text, other.text) if line.sign == "-" else (other.text, line.text)
            spans = words(old, new)[0 if line.sign == "-" else 1]
        text = _marked(line.text, spans, role, self._view.spaces)
        return [(lead, role), *text, (self._ends[line.end], "muted")]


def _runs(lines: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    """Neighbouring lines that are all unchanged, or all changed."""
    run: list[DiffLine] = []
    for line in lines:
        if run and (line.sign == " ") != (run[0].sign == " "):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _partners(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine, DiffLine | None]]:
    """Each line with the one it replaces or is replaced by, where equally many stand there."""
    for run in _runs(lines):
        gone = [x for x in run if x.sign == "-"]
        come = [x for x in run if x.sign == "+"]
        if run[0].sign == " " or len(gone) != len(come):
            yield from ((x, None) for x in run)
        else:
            yield from zip(gone, come, strict=True)
            yield from zip(come, gone, strict=True)


def _marked(
    text: str, spans: Sequence[tuple[int, int]], role: str, every: bool
) -> list[tuple[str, str]]:
    """The words of a changed line, what differs marked; a space at the edge of a mark is shown."""
    out: list[tuple[str, str]] = []
    at = 0
    for start, end in [*spans, (len(text), len(text))]:
        for part, word, white in (
            (text[at:start], role, "space"),
            (text[start:end], "mark", _WHITE),
        ):
            pieces = exact_pieces(part, every=every)
            out += [(shown, white if is_white else word) for shown, is_white in pieces]
        at = end
    return out
