"""The one line-API base: visible rows only, strips cached, every text through the safe border."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from core.safe_text import Shown, visible
from tui.theme import ROLES, in_ascii, is_plain

Cells = Sequence[tuple[str, str]]
"""A line as pieces of (text, role)."""
Drawn = list[tuple[str, str]]
"""The same past the border: every text is `Shown`, and stays so however it is cut."""

_SPLIT = re.compile(r"\S+\s*|\s+")


def safe(cells: Cells) -> Drawn:
    """The border: no piece reaches a strip but through `visible`."""
    return [(in_ascii(visible(text)), role) for text, role in cells if text]


def width_of(cells: Cells) -> int:
    """Terminal cells of a line."""
    return sum(cell_len(text) for text, _ in cells)


def fit(cells: Cells, width: int) -> list[tuple[str, str]]:
    """Cut a line to a width; what is cut ends in an ellipsis."""
    shown, ellipsis = safe(cells), in_ascii(Shown("…"))
    if width_of(shown) <= width:
        return shown
    out: list[tuple[str, str]] = []
    left = max(0, width - cell_len(ellipsis))
    for text, role in shown:
        size = cell_len(text)
        if size <= left:
            out.append((text, role))
            left -= size
            continue
        out.append((Shown(set_cell_size(text, left) if left else ""), role))
        out.append((ellipsis if width > 0 else Shown(), role))
        break
    return out


def justified(left: Cells, right: Cells, width: int, fill: str = " ") -> list[tuple[str, str]]:
    """Two lines on one row: the right one at the edge, the left one cut if it must be."""
    end = safe(right)
    room = max(0, width - width_of(end) - (1 if end else 0))
    start = fit(left, room)
    gap = max(0, width - width_of(start) - width_of(end))
    return [*start, (fill * gap, "rule" if fill != " " else "text"), *end]


def wrap(cells: Cells, width: int, indent: int = 0) -> list[list[tuple[str, str]]]:
    """Break a line into rows at spaces, or anywhere when a word is wider than the row."""
    shown = safe(cells)
    width = max(4, width)
    if width_of(shown) <= width:
        return [shown]
    indent = min(indent, width // 2)
    rows: list[list[tuple[str, str]]] = []
    row: list[tuple[str, str]] = []
    used = 0

    def turn() -> None:
        nonlocal row, used
        rows.append(row)
        row, used = ([(" " * indent, "text")] if indent else []), indent

    for text, role in shown:
        for word in _SPLIT.findall(text):
            bare = cell_len(word.rstrip())
            if used + bare > width and used > indent:
                turn()
            if bare > width - used:
                # A word wider than a row: each piece but the last fills one.
                first, *rest = _chopped(word, width - used, width - indent)
                for piece in rest:
                    row.append((Shown(first), role))
                    turn()
                    first = piece
                word = first
            if row and row[-1][1] == role:
                row[-1] = (Shown(row[-1][0] + word), role)
            else:
                row.append((Shown(word), role))
            used += cell_len(word)
    if row and width_of(row) > (indent if rows else 0):
        rows.append(row)
    return rows or [[]]


def _chopped(word: str, first: int, width: int) -> list[str]:
    """A long word in pieces: the first at most `first` cells wide, the others `width`."""
    if first == width:
        return chop_cells(word, width) or [word]
    used = 0
    for i, char in enumerate(word):
        used += cell_len(char)
        if used > first and i:
            return [word[:i], *chop_cells(word[i:], width)]
    return [word]


def chop(cells: Cells, width: int, indent: int = 0) -> list[list[tuple[str, str]]]:
    """Break a line at the edge, wherever that is: every row but the last is full."""
    width = max(4, width)
    indent = min(indent, width // 2)
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0
    for text, role in safe(cells):
        rest = text
        while rest:
            head, rest = _head(rest, width - used)
            if head:
                rows[-1].append((Shown(head), role))
                used += cell_len(head)
            if rest:
                rows.append([(" " * indent, "text")] if indent else [])
                used = indent
    return rows


def chopped_rows(size: int, width: int, indent: int = 0) -> int:
    """How many rows `chop` makes of `size` characters that are each one cell wide."""
    width = max(4, width)
    more = max(0, size - width)
    return 1 + -(-more // (width - min(indent, width // 2)))


def _head(text: str, room: int) -> tuple[str, str]:
    """The longest start of a text that fits, and the rest."""
    if text.isascii():
        return text[:room], text[room:]
    used = 0
    for i, char in enumerate(text):
        used += cell_len(char)
        if used > room:
            return text[:i], text[i:]
    return text, ""


class Roles:
    """Role styles of a widget, from its component classes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}

    def __getitem__(self, role: str) -> Style:
        if role not in self._styles:
            self._styles[role] = self._widget.get_component_rich_style(f"line--{role}")
        return self._styles[role]

    def clear(self) -> None:
        """Forget styles, after a theme change."""
        self._styles.clear()


COMPONENTS = {f"line--{role}" for role in (*ROLES, "cursor", "armed", "stale")}


def strip_of(cells: Cells, width: int, roles: Roles, over: str | None = None) -> Strip:
    """A strip of exactly `width` cells; `over` reverses the whole row (the cursor, a bar)."""
    top = roles[over] if over else None
    segments = []
    for text, role in safe(cells):
        style = roles[role]
        segments.append(Segment(text, style + top if top else style))
    base = top if top else roles["text"]
    return Strip(segments).adjust_cell_length(width, base).crop(0, width)


class Row(Widget):
    """One fixed row of cells: tabs, a summary, a header."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    DEFAULT_CSS = "Row { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._left: Cells = ()
        self._rights: Sequence[Cells] = ((),)
        self._fill = " "
        self.roles = Roles(self)

    def show(self, left: Cells, *rights: Cells, fill: str = " ") -> None:
        """Show these cells; of several right ends the first that leaves the left one whole."""
        self._left, self._rights, self._fill = left, rights or ((),), fill
        self.refresh()

    def notify_style_update(self) -> None:
        """Styles changed: take them anew."""
        self.roles.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """The row, fitted to the width."""
        width = self.size.width
        left = width_of(safe(self._left))
        fitting = (r for r in self._rights if left + width_of(safe(r)) < width)
        right = next(fitting, self._rights[-1])
        return strip_of(justified(self._left, right, width, self._fill), width, self.roles)


class _AsciiScrollBar(ScrollBarRender):
    """A scroll bar whose ends are not drawn with eighths of a block."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


class LineView(ScrollView, can_focus=True, inherit_bindings=False):
    """A scroller over `count` rows; subclasses say what row `y` is.

    No bindings of its own: the pane decides whether a key moves a cursor or the text.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    # The gutter is always there: a scroll bar that appears must not cover words already wrapped.
    DEFAULT_CSS = """
    LineView { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; scrollbar-gutter: stable; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.roles = Roles(self)
        self.strips: LRUCache[tuple[object, ...], Strip] = LRUCache(1024)

    def on_mount(self) -> None:
        """In ASCII mode the scroll bar is ASCII too."""
        bar = self.vertical_scrollbar
        bar.renderer = _AsciiScrollBar if is_plain() else type(bar).renderer  # type: ignore[misc]

    def notify_style_update(self) -> None:
        """Styles changed: forget every strip."""
        self.roles.clear()
        self.strips.clear()
        super().notify_style_update()

    @property
    def text_width(self) -> int:
        """Cells a row of text has."""
        return max(4, self.scrollable_content_region.width)

    def set_count(self, count: int) -> None:
        """Say how many rows there are."""
        self.virtual_size = Size(self.scrollable_content_region.width, count)

    def cells(self, y: int, width: int) -> tuple[Cells, str | None, object]:
        """Row `y`: its cells, an overlay, and a key for the cache (None: don't cache)."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """Render one visible row; `y` counts from the top of what is shown."""
        width = self.scrollable_content_region.width
        line, over, key = self.cells(y + self.scroll_offset.y, width)
        if key is None:
            return strip_of(line, width, self.roles, over)
        full = (key, width, over)
        strip = self.strips.get(full)
        if strip is None:
            strip = self.strips[full] = strip_of(line, width, self.roles, over)
        return strip

    def refresh_rows(self, rows: Iterable[int]) -> None:
        """Repaint rows that are on screen."""
        top, height, width = self.scroll_offset.y, self.size.height, self.size.width
        for y in rows:
            if top <= y < top + height:
                self.refresh(Region(0, y - top, width, 1))

    def jump(self, y: int) -> None:
        """Scroll so that row `y` is the first one shown, without animation."""
        self.scroll_to(y=max(0, y), animate=False, force=True, immediate=True)
