"""The list: pages of rows fetched by key as they come into view, a cursor that stays on its row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from textual.cache import LRUCache
from textual.message import Message

from tui.widgets.lines import Cells, LineView, wrap

PAGE = 128


def pages_near(
    anchors: Sequence[Any], near: Sequence[Any], fetch: Callable[[Any], Sequence[Any]]
) -> dict[int, Sequence[Any]]:
    """The first page of a list, and those that hold the places in `near`."""
    wanted = {0, *(max(0, bisect_right(anchors, n) - 1) for n in near)}
    return {p: fetch(anchors[p]) for p in sorted(wanted) if p < len(anchors)}


class Numbered(Protocol):
    """A row with its own number and the key it is paged by."""

    @property
    def number(self) -> int:
        """What the row is, wherever it stands."""

    @property
    def place(self) -> Any:
        """Grows down the list."""


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring rows under one header: `count` of them from data row `start` on."""

    key: int | str
    title: str
    count: int
    open: int = 0
    """Rows still to be decided; the others stay until the list changes."""
    start: int = 0
    folded: bool = False
    remark: str = ""


class PagedList(LineView):
    """Rows of a query, plain or under headers that fold.

    Data rows are counted without headers; what is on screen is counted with them: `cursor` and
    everything called `y` are screen rows, `total` and indexes are data rows.
    """

    DEFAULT_CSS = "PagedList { height: 1fr; }"

    class Moved(Message):
        """The cursor is on another row, or its row is another now."""

        def __init__(self, sender: PagedList, row: Numbered | None) -> None:
            super().__init__()
            self.sender = sender
            self.row = row

        @property
        def control(self) -> PagedList:
            """The list."""
            return self.sender

    def __init__(
        self,
        draw: Callable[[Numbered, int], Cells],
        fetch: Callable[[int, Any], None],
        draw_group: Callable[[Group, int], Cells],
        cursor_sign: Callable[[], str],
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._fetch = fetch
        self._draw_group = draw_group
        self._sign = cursor_sign
        self._pages: LRUCache[int, Sequence[Numbered]] = LRUCache(32)
        self._wanted: set[int] = set()
        self.generation = 0
        """Counts results; a page belongs to one of them."""
        self._anchors: Sequence[Any] = ()
        self.total = 0
        self.groups: Sequence[Group] = ()
        self._tops: list[int] = []
        self.rows_shown = 0
        """Screen rows: headers, and rows that are not folded away."""
        self.cursor = 0
        self.empty: Cells = [(" …", "muted")]

    def load(
        self,
        anchors: Sequence[Any],
        total: int,
        pages: Mapping[int, Sequence[Any]],
        groups: Sequence[Group] = (),
    ) -> None:
        """Take a new result: its anchors, its length, pages of it; the cursor keeps its row."""
        at, group, below = self.row, self.group, self.cursor - self.scroll_offset.y
        self._pages.clear()
        self._wanted.clear()
        self.strips.clear()
        self.generation += 1
        self._anchors, self.total = anchors, total
        for number, rows in pages.items():
            self._pages[number] = rows
        y, fresh = self.cursor, not self.rows_shown
        self._arrange(groups)
        if fresh and groups and not groups[0].folded:
            y = below = 1
        elif at is not None:
            y = self.screen_row(self._place(at.place))
        elif group is not None:
            y = next((t for t, g in zip(self._tops, groups, strict=True) if g.key == group.key), y)
        self._settle(y, below)

    def forget(self) -> None:
        """The next result is another list: it begins at its top."""
        self.cursor = self.rows_shown = 0
        self._pages.clear()

    def _settle(self, y: int, below: int) -> None:
        self.set_count(self.rows_shown)
        self.cursor = max(0, min(y, self.rows_shown - 1))
        self.jump(self.cursor - below)
        self._show_cursor()
        self.refresh()
        self.post_message(self.Moved(self, self.row))

    # groups

    def _arrange(self, groups: Sequence[Group]) -> None:
        start, top = 0, 0
        placed: list[Group] = []
        self._tops = []
        for g in groups:
            placed.append(replace(g, start=start))
            self._tops.append(top)
            start += g.count
            top += 1 + (0 if g.folded else g.count)
        self.groups = placed
        self.rows_shown = top if placed else self.total

    def entry(self, y: int) -> tuple[Group | None, int | None]:
        """What stands on a screen row: a group and, unless it is the header, a data row."""
        if not self.groups:
            return None, y
        n = bisect_right(self._tops, y) - 1
        group, inside = self.groups[n], y - self._tops[n]
        return group, None if inside == 0 else group.start + inside - 1

    def screen_row(self, index: int) -> int:
        """Where a data row is on screen; its header's row when it is folded away."""
        for top, g in zip(self._tops, self.groups, strict=True):
            if index < g.start + g.count:
                return top if g.folded else top + 1 + index - g.start
        return index

    @property
    def group(self) -> Group | None:
        """The group whose header is under the cursor."""
        if not self.groups or not self.rows_shown:
            return None
        group, index = self.entry(self.cursor)
        return group if index is None else None

    def fold(self, key: int | str, *, folded: bool) -> None:
        """Fold a group away, or show its rows; the cursor stays on its header."""
        groups = [replace(g, folded=folded) if g.key == key else g for g in self.groups]
        below = self.cursor - self.scroll_offset.y
        self.strips.clear()
        self._arrange(groups)
        at = next(n for n, g in enumerate(groups) if g.key == key)
        self._settle(self._tops[at], below)

    def go_top(self) -> None:
        """To the first row that is not folded away, with everything above it on screen."""
        shown = (top + 1 for top, g in self.headers() if g.count and not g.folded)
        self.move_to(next(shown, 0))
        if self.cursor < self.page_rows():
            self.jump(0)

    def headers(self) -> list[tuple[int, Group]]:
        """Screen row and group of every header."""
        return list(zip(self._tops, self.groups, strict=True))

    def next_group(self, step: int) -> None:
        """Put the cursor on the next or previous header."""
        ahead = [t for t in self._tops if (t > self.cursor if step > 0 else t < self.cursor)]
        if ahead:
            self.move_to(ahead[0] if step > 0 else ahead[-1])

    def _place(self, place: Any) -> int:
        """The data row at which `place` stands or would stand."""
        page = max(0, bisect_right(self._anchors, place) - 1)
        rows = self._pages.get(page)
        if rows is None:
            return min(self.index or 0, max(0, self.total - 1))
        inside = sum(bool(r.place < place) for r in rows)
        return page * PAGE + inside

    @property
    def index(self) -> int | None:
        """The data row under the cursor; None on a header."""
        return self.entry(self.cursor)[1] if self.rows_shown else None

    def row_at(self, y: int) -> Numbered | None:
        """The row on a screen row, if it is one and its page is here."""
        index = self.entry(y)[1] if 0 <= y < self.rows_shown else None
        return None if index is None else self.at(index)

    def near(self) -> list[Any]:
        """Places of the rows at the top, under the cursor and at the bottom, as far as known."""
        top = self.scroll_offset.y
        places = (top, self.cursor, min(self.rows_shown - 1, top + self.page_rows()))
        found = [self.row_at(y) for y in places]
        return [r.place for r in found if r is not None]

    def go_to(self, number: int) -> bool:
        """Put the cursor on the row with this number, if its page is here."""
        for page in list(self._pages.keys()):
            for i, row in enumerate(self._pages[page]):
                if row.number == number:
                    self.move_to(self.screen_row(page * PAGE + i))
                    return True
        return False

    def put_page(self, page: int, rows: Sequence[Numbered], generation: int) -> None:
        """A page that was asked for has come; one of an earlier result is dropped."""
        if generation != self.generation:
            return
        self._wanted.discard(page)
        self._pages[page] = rows
        self.strips.clear()
        self.refresh()
        if self.index is not None and self.index // PAGE == page:
            self.post_message(self.Moved(self, self.row))

    def update_row(self, row: Numbered) -> None:
        """A row is another now; it stays where it is."""
        for page in list(self._pages.keys()):
            rows = self._pages[page]
            for i, old in enumerate(rows):
                if old.number == row.number:
                    self._pages[page] = [*rows[:i], row, *rows[i + 1 :]]
                    self.strips.clear()
                    self.refresh()

    def repaint(self) -> None:
        """Draw every row anew; something beside their data changed."""
        self.strips.clear()
        self.refresh()

    def at(self, index: int) -> Numbered | None:
        """A data row if its page is here; asks for it otherwise."""
        page, inside = divmod(index, PAGE)
        rows = self._pages.get(page)
        if rows is None:
            self._ask(page)
            return None
        if inside > PAGE // 2 and (page + 1) * PAGE < self.total:
            self._ask(page + 1)
        return rows[inside] if inside < len(rows) else None

    def _ask(self, page: int) -> None:
        if page in self._wanted or page in self._pages or page >= len(self._anchors):
            return
        self._wanted.add(page)
        self._fetch(page, self._anchors[page])

    @property
    def row(self) -> Numbered | None:
        """The row under the cursor."""
        return self.row_at(self.cursor)

    def known(self, near: Sequence[Any]) -> list[Numbered]:
        """Rows of the pages that hold these places, as far as they are here."""
        pages = {max(0, bisect_right(self._anchors, n) - 1) for n in near}
        return [r for page in sorted(pages) for r in self._pages.get(page) or ()]

    def cells(self, y: int, width: int) -> tuple[Cells, str | None, object]:
        """A row of the list; the one under the cursor is reversed."""
        if not self.rows_shown:
            rows = wrap(self.empty, width, 1)
            return (rows[y] if y < len(rows) else ()), None, None
        if y >= self.rows_shown:
            return (), None, "blank"
        over = "cursor" if y == self.cursor else None
        gutter = f"{self._sign()} " if over else "  "
        group, index = self.entry(y)
        if group is not None and index is None:
            return [(gutter, "accent"), *self._draw_group(group, width - 2)], over, y
        row = self.at(index or 0)
        if row is None:
            return [("  …", "muted")], over, None
        # Cached by place: pages and strips are dropped together when rows change.
        return [(gutter, "accent"), *self._draw(row, width - 2)], over, y

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.set_count(self.rows_shown)
        self._show_cursor()

    def move_to(self, y: int) -> None:
        """Put the cursor on screen row `y`."""
        y = max(0, min(y, self.rows_shown - 1))
        if y == self.cursor or not self.rows_shown:
            return
        old, self.cursor = self.cursor, y
        self._show_cursor()
        self.refresh_rows((old, y))
        self.post_message(self.Moved(self, self.row))

    def _show_cursor(self) -> None:
        top, height = self.scroll_offset.y, max(1, self.scrollable_content_region.height)
        if self.cursor < top:
            self.jump(self.cursor)
        elif self.cursor >= top + height:
            self.jump(self.cursor - height + 1)

    def page_rows(self) -> int:
        """Rows a page key moves by."""
        return max(1, self.scrollable_content_region.height - 1)

    def on_click(self, event: object) -> None:
        """A click puts the cursor there."""
        y = getattr(event, "y", 0) + self.scroll_offset.y
        self.move_to(y)
