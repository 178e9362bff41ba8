"""The four lists of the promotion pane: what waits, the outbox, receipts, what is in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual import work

from tui.panes import promotion_rows as rows
from tui.panes.writing import WritingPane
from tui.widgets.lines import Cells, Row
from tui.widgets.rows import Numbered, PagedList
from tui.written import Item

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow
    from schemas.storage import CandidateFilter
    from tui.client import Client, Counts, Result
    from tui.written import Name

USUAL = "line-memory"
TABS = ("To promote", "Outbox", "Receipts", "In memory")
_NAMES: dict[int, Name] = {1: "outbox", 2: "receipts", 3: "memory"}
_SINCE = ("proposed", "previewed", "written", "written")
"""What the ages of each list count from."""
_EMPTY = (
    " Nothing is accepted and waiting. Accept in pane 1, A previews at once.",
    " No writes yet: p on an accepted candidate makes the first preview.",
    " No receipts yet: every confirmed write leaves one here.",
    " Nothing is in memory yet: what a confirmed write leaves there stands here.",
)


class ListsPane(WritingPane):
    """Loads, counts and draws the list in front; all of them are paged by key."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._counts: Counts | None = None
        self._chosen: dict[str, str] = {}
        """Consumers that P chose, by candidate."""
        self.staying = ""
        """The candidate whose preview or receipt is on screen: its row stays until it is left."""
        self._keep: tuple[int, ...] = ()
        self._bring_cursor = False

    def make_list(self) -> PagedList:
        """The list of the chosen tab."""
        return PagedList(
            self._draw, self._fetch, lambda _g, _w: (), lambda: self.glyphs.cursor, id="promotions"
        )

    def stay(self, candidate: str, *, bring_cursor: bool = False) -> None:
        """Keep a candidate's row in the list, and put the cursor on it if asked."""
        self.staying = candidate
        self._bring_cursor |= bring_cursor

    # loading

    def _filter(self) -> CandidateFilter:
        from schemas.storage import CandidateFilter

        return CandidateFilter(("accepted",), self.words or None, keep=self._keep)

    async def load_list(self) -> None:
        """The list of the tab, and what the tabs count."""
        client, asked = self.client, (self.tab, self.words)
        if client is None:
            return
        counts = await self.ask(client.counts)
        if counts is None:
            return
        self._counts = counts
        result = await (self._waiting(client) if asked[0] == 0 else self._listed(client))
        if result is not None and asked == (self.tab, self.words):
            self._load(result)
        self._summary()

    async def _waiting(self, client: Client) -> Result | None:
        staying = self.staying
        row = await self.ask(lambda: client.row(staying)) if staying else None
        self._keep = (row.number,) if row else ()
        wanted = self._filter()
        near = [*self.list.near(), *([row.place] if row else [])]
        return await self.ask(lambda: client.result(wanted, near))

    async def _listed(self, client: Client) -> Result | None:
        name, words, near = _NAMES[self.tab], self.words, self.list.near()
        return await self.ask(lambda: client.listed(name, words, near))

    def _load(self, result: Result) -> None:
        text = f" Nothing here has “{self.words}”. esc clears it." if self.words else ""
        self.list.empty = [(text or _EMPTY[self.tab], "muted")]
        self.list.load(result.anchors, result.total, result.pages)
        if self._bring_cursor and self.tab == 0 and self._keep:
            self._bring_cursor = False
            self.list.go_to(self._keep[0])

    def _fetch(self, page: int, start: Any) -> None:
        self._page_of(page, start, self.tab, self.list.generation)

    @work(group="promotion-pages")
    async def _page_of(self, page: int, start: Any, tab: int, generation: int) -> None:
        client, words, wanted = self.client, self.words, self._filter()
        if client is None:
            return
        found = await self.ask(
            lambda: (
                client.listed_page(_NAMES[tab], words, start)
                if tab
                else client.window(wanted, start)
            )
        )
        if found is not None:
            self.list.put_page(page, cast("list[Numbered]", found), generation)

    def _summary(self) -> None:
        dot, c = f" {self.glyphs.dot} ", self._counts
        counts = (0, 0, 0, 0)
        if c is not None:
            open_ = sum(c.operations.get(s, 0) for s in ("prepared", "failed", "diverged"))
            counts = (c.candidates.get("accepted", 0), open_, c.receipts, c.beliefs)
        parts: list[tuple[str, str]] = [(" ", "text")]
        for i, (label, count) in enumerate(zip(TABS, counts, strict=True)):
            front = "accent" if i == self.tab else "text"
            parts += [(dot if i else "", "muted"), (f"{label} {count:,}", front)]
        self.query_one("#summary", Row).show(parts, *self._summary_ends())

    def _summary_ends(self) -> list[list[tuple[str, str]]]:
        """How the diff is shown, the filter, or how the writes ended; the longest that fits."""
        dot = f" {self.glyphs.dot} "
        if self.read is not None:
            view = self.effective_view()
            sides = "Unified [Split]" if view.split else "[Unified] Split"
            spaces = "w whitespace" if view.spaces else "w whitespace less"
            ends = [dot.join((sides, spaces, f"{{ }} context {view.context}")), sides]
        elif self.words:
            ends = [f"filter “{self.words}” {self.list.total:,}"]
        elif self.tab == 1:
            made = self._counts.operations if self._counts else {}
            states = dot.join(f"{s} {made.get(s, 0):,}" for s in ("applied", "failed", "diverged"))
            ends = [f"ages since {_SINCE[1]}{dot}{states}", states]
        else:
            ends = [f"ages since {_SINCE[self.tab]}{dot}] next list", "] next list"]
            c = self._counts
            if self.tab == 3 and c is not None and c.ended:
                ends = [f"{c.ended:,} ended{dot}] next list", f"{c.ended:,} ended"]
        return [[(f"{e} ", "muted")] for e in ends] + [[]]

    def draw_view(self) -> None:
        """The summary says how the diff is shown."""
        super().draw_view()
        self._summary()

    # drawing

    def consumer_of(self, candidate: str) -> str:
        """Where a candidate would be written."""
        return self._chosen.get(candidate, USUAL)

    def _draw(self, item: Numbered, width: int) -> Cells:
        now = self.client.now() if self.client else 0
        if isinstance(item, Item):
            return rows.written(item, self.glyphs, width, now)
        row, p = cast("CandidateRow", item), self.preview
        own = f"{row.id}@"
        stale = self.stale is not None and p is not None and own in p.subject
        return rows.waiting(row, self.consumer_of(row.id), self.glyphs, width, now, stale=stale)
