"""A long text with roles: wrapped to the width, drawn row by row, and it knows what was seen."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from textual import work
from textual.cache import LRUCache
from textual.message import Message

from tui.theme import glyphs
from tui.widgets.lines import Cells, LineView, chop, chopped_rows, justified, safe, width_of, wrap

Rows = list[list[tuple[str, str]]]
"""The rows of one line."""


class Line(NamedTuple):
    """One logical line. One with `keys` shows a change that has to be on screen whole."""

    cells: Cells = ()
    indent: int = 0
    keys: tuple[Hashable, ...] = ()
    """What the reader has read once the line was on screen."""
    group: int = 0
    """Which target a change belongs to, for `seen 1 of 2`."""
    right: Cells = ()
    fill: str = ""
    """With a fill the line is one row: cells, the fill, and `right` at the edge."""
    draw: Callable[[Any], Cells] | None = None
    """Makes the cells of `what` when it comes into view; they break at the edge, not at words."""
    what: Any = None
    size: int = -1
    """With `draw`: its characters, if each is one cell wide, so that its rows can be counted."""
    beside: Line | None = None
    """What stands on the same rows in the right half."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Lines wrapped to a width: where each begins, and which lines must be seen.

    Everything that grows with the text is counted here, where a thread may do it.
    """

    lines: Sequence[Line]
    width: int
    starts: Sequence[int]
    must_see: Sequence[int]
    unseen: frozenset[int]
    """Of the lines that must be seen those not read before."""
    left: Mapping[int, int]
    """Unseen lines by group; a group that was read whole has none left."""
    weight: int
    """Characters in all: what wrapping them again would cost."""
    drawn: Mapping[int, Rows]
    """Rows of the first lines, made ahead."""

    @property
    def rows(self) -> int:
        """Rows in all."""
        return self.starts[-1]


HEAVY = 200_000
"""Characters from which a layout is made in a thread only."""
_BETWEEN = 3


def lay(
    lines: Sequence[Line],
    width: int,
    read: Set[Hashable] = frozenset[Hashable](),
    *,
    ahead: int = 0,
) -> Layout:
    """Wrap lines to a width; touches no widget, so it may run in a thread.

    Lines whose keys are all in `read` need not be seen again. The first `ahead` lines are drawn
    here already, which is what the first frame would wait for.
    """
    starts, total, weight = [0], 0, 0
    must_see: list[int] = []
    for i, line in enumerate(lines):
        if line.keys:
            must_see.append(i)
        total += _rows_of(line, width)
        weight += max(0, line.size) + sum(len(t) for t, _ in line.cells)
        starts.append(total)
    unseen = frozenset(i for i in must_see if not read or not read >= set(lines[i].keys))
    left = dict.fromkeys((lines[i].group for i in must_see), 0)
    left |= Counter(lines[i].group for i in unseen)
    drawn = {i: _rows_drawn(x, width) for i, x in enumerate(lines[:ahead]) if not x.fill}
    return Layout(lines, width, starts, must_see, unseen, left, weight, drawn)


def _halves(width: int) -> tuple[int, int]:
    left = (width - _BETWEEN) // 2
    return left, width - _BETWEEN - left


def _rows_of(line: Line, width: int) -> int:
    if line.beside is not None:
        left, right = _halves(width)
        return max(_rows_alone(line, left), _rows_alone(line.beside, right))
    return _rows_alone(line, width)


def _rows_alone(line: Line, width: int) -> int:
    if line.size >= 0:
        return chopped_rows(line.size, width, line.indent)
    if line.fill or (line.draw is None and width_of(safe(line.cells)) <= width):
        return 1
    return len(_broken(line, width))


def _broken(line: Line, width: int) -> list[list[tuple[str, str]]]:
    if line.draw is not None:
        return chop(line.draw(line.what), width, line.indent)
    return wrap(line.cells, width, line.indent)


def _rows_drawn(line: Line, width: int) -> Rows:
    return _broken(line, width) if line.beside is None else _side_by_side(line, line.beside, width)


def _side_by_side(line: Line, beside: Line, width: int) -> list[list[tuple[str, str]]]:
    left, right = _halves(width)
    divider = (f" {glyphs().divider} ", "rule")
    nothing: list[tuple[str, str]] = []
    pairs = zip_longest(_broken(line, left), _broken(beside, right), fillvalue=nothing)
    return [[*a, (" " * (left - width_of(a)), "text"), divider, *b] for a, b in pairs]


class Document(LineView):
    """Logical lines, wrapped lazily; rows are found by bisection, never laid out all at once."""

    DEFAULT_CSS = "Document { height: 1fr; }"

    class Seen(Message):
        """More of what must be seen has been on screen."""

        def __init__(self, sender: Document) -> None:
            super().__init__()
            self.sender = sender

        def can_replace(self, message: Message) -> bool:
            """A burst of them is one."""
            return isinstance(message, Document.Seen)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._laid = lay((), 0)
        self._version = 0
        self._unseen: set[int] = set()
        self._left: dict[int, int] = {}
        """Unseen lines by group."""
        self._parts: dict[int, set[int]] = {}
        """Of unseen lines on several rows that were seen in part, the rows that are left."""
        self._wrapped: LRUCache[int, list[list[tuple[str, str]]]] = LRUCache(128)

    def show(self, lines: Sequence[Line], *, keep_place: bool = False) -> None:
        """Show other lines, from the top unless the place is to be kept."""
        self.show_laid(lay(lines, self.text_width), keep_place=keep_place)

    def show_laid(self, laid: Layout, *, keep_place: bool = False) -> None:
        """Show lines that were laid out before, in a thread if there were many."""
        place = self.scroll_offset.y if keep_place else 0
        heavy = laid.weight >= HEAVY
        self._unseen, self._left = set(laid.unseen), dict(laid.left)
        if laid.width != self.text_width and not heavy:
            laid = lay(laid.lines, self.text_width)
        self._take(laid)
        self.jump(min(place, max(0, laid.rows - 1)))
        if heavy and laid.width != self.text_width:
            self._relay_later(self.text_width)

    def read_keys(self) -> set[Hashable]:
        """The keys of all lines that were on screen whole."""
        left, lines = self._unseen, self._laid.lines
        return {key for i in self._laid.must_see if i not in left for key in lines[i].keys}

    def _take(self, laid: Layout) -> None:
        self._laid = laid
        self._version += 1
        self._parts = {}
        self._wrapped.clear()
        self.strips.clear()
        self.set_count(laid.rows)
        self.refresh()

    def on_resize(self) -> None:
        """Wrap to the new width; the line at the top stays there, a line seen whole stays seen."""
        old, width = self._laid, self.text_width
        if width == old.width:
            return
        if old.weight < HEAVY:
            self._relay(lay(old.lines, width))
        else:
            self._relay_later(width)

    @work(exclusive=True, group="lay")
    async def _relay_later(self, width: int) -> None:
        old = self._laid
        laid = await asyncio.to_thread(lay, old.lines, width)
        if self._laid is old:
            self._relay(laid)

    def _relay(self, laid: Layout) -> None:
        old, top = self._laid, self.scroll_offset.y
        line = max(0, bisect_right(old.starts, top) - 1)
        self._take(laid)
        self.jump(laid.starts[min(line, len(laid.starts) - 1)])

    def _rows(self, i: int) -> list[list[tuple[str, str]]]:
        rows = self._wrapped.get(i)
        if rows is None:
            rows = self._laid.drawn.get(i) or _rows_drawn(self._laid.lines[i], self._laid.width)
            self._wrapped[i] = rows
        return rows

    def cells(self, y: int, width: int) -> tuple[Cells, str | None, object]:
        """Row `y` of the wrapped text; drawing it whole, with nothing over it, is seeing it."""
        laid = self._laid
        if y >= laid.rows:
            return (), None, "blank"
        i = bisect_right(laid.starts, y) - 1
        part = y - laid.starts[i]
        if i in self._unseen and width == laid.width and self.screen.is_current:
            self._see(i, part)
        line = laid.lines[i]
        if line.fill:
            row = justified(line.cells, line.right, laid.width, line.fill)
            return row, None, (self._version, y)
        rows = self._rows(i)
        return rows[min(part, len(rows) - 1)], None, (self._version, y)

    def _see(self, i: int, part: int) -> None:
        """A row of an unseen line is drawn; with its last one the line was on screen whole."""
        rows = self._laid.starts[i + 1] - self._laid.starts[i]
        left = self._parts.setdefault(i, set(range(rows)))
        if part in left:
            left.discard(part)
            self.post_message(self.Seen(self))
        if not left:
            del self._parts[i]
            self._unseen.discard(i)
            self._left[self._laid.lines[i].group] -= 1

    @property
    def seen_all(self) -> bool:
        """True when every row that must be seen has been on screen."""
        return not self._unseen

    def seen_groups(self) -> tuple[int, int]:
        """How many groups were seen whole, of how many."""
        return sum(not n for n in self._left.values()), len(self._left)

    def next_unseen(self) -> bool:
        """Bring the first unseen row into view; False when there is none."""
        if not self._unseen:
            return False
        i = min(self._unseen)
        part = min(self._parts.get(i, (0,)))
        self.jump(self._laid.starts[i] + part - 1)
        return True

    def scroll_rows(self, delta: int) -> None:
        """Scroll by rows, without animation."""
        self.jump(self.scroll_offset.y + delta)
