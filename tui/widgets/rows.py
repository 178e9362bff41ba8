"""The list: pages of rows fetched by key as they come into view, a cursor that stays on its row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from textual.cache import LRUCache
from textual.message import Message

from tui.widgets.lines import Cells, LineView, wrap

PAGE = 128


class Numbered(Protocol):
    """A row with its own number and the key it is paged by."""

    @property
    def number(self) -> int:
        """What the row is, wherever it stands."""

    @property
    def place(self) -> int:
        """Grows down the list."""


class PagedList(LineView):
    """Rows of a query. `fetch` is asked for a page, and answers later through `put_page`."""

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
        fetch: Callable[[int, int], None],
        cursor_sign: Callable[[], str],
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._fetch = fetch
        self._sign = cursor_sign
        self._pages: LRUCache[int, Sequence[Numbered]] = LRUCache(32)
        self._wanted: set[int] = set()
        self.generation = 0
        """Counts results; a page belongs to one of them."""
        self._anchors: Sequence[int] = ()
        self.total = 0
        self.cursor = 0
        self.empty: Cells = [(" …", "muted")]

    def load(self, anchors: Sequence[int], total: int, pages: Mapping[int, Sequence[Any]]) -> None:
        """Take a new result: its anchors, its length, pages of it; the cursor keeps its row."""
        at, below = self.row, self.cursor - self.scroll_offset.y
        self._pages.clear()
        self._wanted.clear()
        self.strips.clear()
        self.generation += 1
        self._anchors, self.total = anchors, total
        for number, rows in pages.items():
            self._pages[number] = rows
        self.set_count(total)
        place = self.cursor if at is None else self._place(at.place)
        self.cursor = max(0, min(place, total - 1))
        self.jump(self.cursor - below)
        self._show_cursor()
        self.refresh()
        self.post_message(self.Moved(self, self.row))

    def _place(self, place: int) -> int:
        """The row at which `place` stands or would stand."""
        page = max(0, bisect_right(self._anchors, place) - 1)
        rows = self._pages.get(page)
        if rows is None:
            return min(self.cursor, max(0, self.total - 1))
        inside = sum(r.place < place for r in rows)
        return page * PAGE + inside

    def near(self) -> list[int]:
        """Places of the rows at the top, under the cursor and at the bottom, as far as known."""
        top = self.scroll_offset.y
        places = (top, self.cursor, min(self.total - 1, top + self.page_rows()))
        found = [self.at(y) for y in places if 0 <= y < self.total]
        return [r.place for r in found if r is not None]

    def go_to(self, number: int) -> bool:
        """Put the cursor on the row with this number, if its page is here."""
        for page in list(self._pages.keys()):
            for i, row in enumerate(self._pages[page]):
                if row.number == number:
                    self.move_to(page * PAGE + i)
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
        if self.cursor // PAGE == page:
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

    def at(self, y: int) -> Numbered | None:
        """Row `y` if its page is here; asks for it otherwise."""
        page, inside = divmod(y, PAGE)
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
        return self.at(self.cursor) if 0 <= self.cursor < self.total else None

    def known(self, near: Sequence[int]) -> list[Numbered]:
        """Rows of the pages that hold these places, as far as they are here."""
        pages = {max(0, bisect_right(self._anchors, n) - 1) for n in near}
        return [r for page in sorted(pages) for r in self._pages.get(page) or ()]

    def cells(self, y: int, width: int) -> tuple[Cells, str | None, object]:
        """A row of the list; the one under the cursor is reversed."""
        if not self.total:
            rows = wrap(self.empty, width, 1)
            return (rows[y] if y < len(rows) else ()), None, None
        if y >= self.total:
            return (), None, "blank"
        over = "cursor" if y == self.cursor else None
        row = self.at(y)
        if row is None:
            return [(" …", "muted")], over, None
        # Cached by place: pages and strips are dropped together when rows change.
        gutter = f"{self._sign()} " if over else "  "
        return [(gutter, "accent"), *self._draw(row, width - 2)], over, y

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.set_count(self.total)
        self._show_cursor()

    def move_to(self, y: int) -> None:
        """Put the cursor on row `y`."""
        y = max(0, min(y, self.total - 1))
        if y == self.cursor or not self.total:
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
