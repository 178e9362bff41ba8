"""A long text with roles: wrapped to the width, drawn row by row, and it knows what was seen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from tui.widgets.lines import Cells, LineView, justified, wrap


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line. `must_see` marks a change that has to be on screen whole."""

    cells: Cells = ()
    indent: int = 0
    must_see: bool = False
    group: int = 0
    """Which target a change belongs to, for `seen 1 of 2`."""
    right: Cells = ()
    fill: str = ""
    """With a fill the line is one row: cells, the fill, and `right` at the edge."""


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
        self._lines: Sequence[Line] = ()
        self._starts: list[int] = [0]
        self._width = 0
        self._version = 0
        self._unseen: set[tuple[int, int]] = set()
        self._groups: dict[int, int] = {}

    def show(self, lines: Sequence[Line], *, keep_place: bool = False) -> None:
        """Show other lines, from the top unless the place is to be kept."""
        place = self.scroll_offset.y if keep_place else 0
        self._lines = lines
        self._version += 1
        self.strips.clear()
        self._layout(fresh=True)
        self.jump(min(place, max(0, self._starts[-1] - 1)))
        self.refresh()

    def _layout(self, *, fresh: bool) -> None:
        self._width = max(4, self.scrollable_content_region.width)
        starts, total = [0], 0
        unseen: set[tuple[int, int]] = set()
        self._groups = {}
        for i, line in enumerate(self._lines):
            rows = self._rows_of(line)
            if line.must_see:
                unseen.update((i, r) for r in range(rows))
                self._groups[line.group] = self._groups.get(line.group, 0) + 1
            total += rows
            starts.append(total)
        if not fresh:
            # A resize wraps anew: a line that was seen whole stays seen.
            seen = {i for i, _ in unseen} - {i for i, _ in self._unseen}
            unseen = {(i, r) for i, r in unseen if i not in seen}
        self._starts, self._unseen = starts, unseen
        self.set_count(total)

    def _rows_of(self, line: Line) -> int:
        if line.fill:
            return 1
        size = sum(len(t) for t, _ in line.cells)
        if size <= self._width and all(t.isascii() and t.isprintable() for t, _ in line.cells):
            return 1
        return len(wrap(line.cells, self._width, line.indent))

    def on_resize(self) -> None:
        """Wrap to the new width."""
        if self.scrollable_content_region.width != self._width:
            self.strips.clear()
            self._layout(fresh=False)

    def cells(self, y: int, width: int) -> tuple[Cells, str | None, object]:
        """Row `y` of the wrapped text; drawing it is seeing it."""
        if y >= self._starts[-1]:
            return (), None, "blank"
        i = bisect_right(self._starts, y) - 1
        part = y - self._starts[i]
        if (i, part) in self._unseen:
            self._unseen.discard((i, part))
            self.post_message(self.Seen(self))
        line = self._lines[i]
        if line.fill:
            row = justified(line.cells, line.right, self._width, line.fill)
            return row, None, (self._version, y)
        rows = wrap(line.cells, self._width, line.indent)
        return rows[min(part, len(rows) - 1)], None, (self._version, y)

    @property
    def seen_all(self) -> bool:
        """True when every row that must be seen has been on screen."""
        return not self._unseen

    def seen_groups(self) -> tuple[int, int]:
        """How many groups were seen whole, of how many."""
        left = {self._lines[i].group for i, _ in self._unseen}
        return len(self._groups.keys() - left), len(self._groups)

    def next_unseen(self) -> bool:
        """Bring the first unseen row into view; False when there is none."""
        if not self._unseen:
            return False
        i, part = min(self._unseen)
        self.jump(self._starts[i] + part - 1)
        return True

    def scroll_rows(self, delta: int) -> None:
        """Scroll by rows, without animation."""
        self.jump(self.scroll_offset.y + delta)
