"""The promotion pane: what waits to be promoted, what was written, and the receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.binding import BindingType

from tui import keys
from tui.messages import Hints
from tui.panes.writing import CONSUMER, WritingPane
from tui.theme import STATE_ROLE
from tui.widgets.document import Line
from tui.widgets.lines import Cells, Row, fit, justified, width_of
from tui.widgets.rows import PAGE, Numbered, PagedList
from tui.widgets.text import age, kind, name_of, short

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow
    from schemas.operations import OperationRow, Receipt
    from schemas.storage import CandidateFilter

_TABS = ("to promote", "writes", "receipts")
_EMPTY = (
    " Nothing is accepted and waiting. Accept in pane 1, A previews at once.",
    " No writes yet: p on an accepted candidate makes the first preview.",
    " No receipts yet: every confirmed write leaves one here.",
)


@dataclass(frozen=True, slots=True)
class _Item:
    """A write or a receipt as a numbered row; the oldest is -1, so new ones move none."""

    number: int
    write: OperationRow | None = None
    receipt: Receipt | None = None

    @property
    def place(self) -> int:
        """Its number is its place."""
        return self.number


class PromotionPane(WritingPane):
    """Three lists; the detail holds the preview, or what the row is."""

    number = 2
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("promotion")]

    def __init__(self) -> None:
        super().__init__(id="pane-2")
        self._counts: tuple[int, int, int, int] = (0, 0, 0, 0)
        self._at: tuple[int, int, str] | None = None
        self._wanted = ""

    def make_list(self) -> PagedList:
        """The list of the chosen tab."""
        return PagedList(
            self._draw, self._fetch, lambda _g, _w: (), lambda: self.glyphs.cursor, id="promotions"
        )

    # loading

    def opened(self) -> None:
        """The store is open."""
        self.reload()

    def store_changed(self) -> None:
        """Follow the store; a preview on screen is compared with what is there now."""
        self.reload()
        self.check()

    def shown(self) -> None:
        """The pane came to the front."""
        if self.client is not None:
            self.store_changed()
        self.draw_bar()

    def _filter(self) -> CandidateFilter:
        from schemas.storage import CandidateFilter

        return CandidateFilter(("accepted",), self.words or None)

    async def load_list(self) -> None:
        """The list of the tab."""
        client, asked = self.client, (self.tab, self.words)
        if client is None:
            return
        counts = await self.ask(client.counts)
        if counts is None:
            return
        done = counts.operations
        open_ = done.get("prepared", 0) + done.get("failed", 0) + done.get("diverged", 0)
        waiting = counts.candidates.get("accepted", 0)
        self._counts = (waiting, open_, counts.receipts, counts.beliefs)
        if self.tab == 0:
            wanted, near = self._filter(), self.list.near()
            result = await self.ask(lambda: client.result(wanted, near))
            if result is not None and asked == (self.tab, self.words):
                self._load(result.anchors, result.total, result.pages)
        elif self.tab == 1:
            found = await self.ask(client.operations)
            self._load_items([_Item(n, write=o) for n, o in _numbered(found, sum(done.values()))])
        else:
            receipts = await self.ask(client.receipts)
            self._load_items([_Item(n, receipt=r) for n, r in _numbered(receipts, counts.receipts)])
        self._summary()

    def _load_items(self, items: list[_Item]) -> None:
        if bool(items) and (items[0].receipt is not None) != (self.tab == 2):
            return
        words = self.words.lower()
        items = [i for i in items if words in _words_of(i)]
        pages = {n: items[n * PAGE : (n + 1) * PAGE] for n in range(-(-len(items) // PAGE))}
        self._load([p[0].place for p in pages.values()], len(items), pages)

    def _load(
        self, anchors: Sequence[int], total: int, pages: Mapping[int, Sequence[Numbered]]
    ) -> None:
        text = f" Nothing here has “{self.words}”. esc clears it." if self.words else ""
        self.list.empty = [(text or _EMPTY[self.tab], "muted")]
        self.list.load(anchors, total, pages)
        if self._wanted and self.tab == 0:
            numbers = [r.number for p in pages.values() for r in p if _id(r) == self._wanted]
            self._wanted = ""
            if numbers:
                self.list.go_to(numbers[0])

    def _fetch(self, page: int, start: int) -> None:
        if self.tab == 0:
            self._page_of(page, start, self.list.generation)

    @work(group="promotion-pages")
    async def _page_of(self, page: int, start: int, generation: int) -> None:
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.window(wanted, start)) if client else None
        if rows is not None:
            self.list.put_page(page, rows, generation)

    def _summary(self) -> None:
        waiting, open_, receipts, beliefs = self._counts
        dot = f" {self.glyphs.dot} "
        labels = (f"to promote {waiting:,}", f"writes {open_} open", f"receipts {receipts:,}")
        parts: list[tuple[str, str]] = [(" ", "text")]
        for i, label in enumerate(labels):
            parts += [(dot if i else "", "muted"), (label, "accent" if i == self.tab else "text")]
        parts += [(dot, "muted"), (f"in memory {beliefs:,}", "text")]
        right = f"filter “{self.words}” {self.list.total:,} " if self.words else "] next list "
        self.query_one("#summary", Row).show(parts, [(right, "muted")])

    # drawing

    def _draw(self, item: Numbered, width: int) -> Cells:
        now = self.client.now() if self.client else 0
        if isinstance(item, _Item):
            return self._draw_item(item, width, now)
        row = cast("CandidateRow", item)
        p = self.preview
        stale = p is not None and self.stale is not None and p.candidate == row.id
        sign = self.glyphs.stale if stale else self.glyphs.state(row.state.value)
        left: list[tuple[str, str]] = [
            (f"{sign} ", "warn" if stale else STATE_ROLE[row.state.value]),
            (f"{kind(row.kind.value):<10}", "muted"),
        ]
        right: list[tuple[str, str]] = [(f"{CONSUMER} {age(row.created, now):>4} ", "muted")]
        left += fit(
            [(" ".join(row.statement[:600].split()), "text")], max(0, width - 13 - width_of(right))
        )
        return justified(left, right, width)

    def _draw_item(self, item: _Item, width: int, now: int) -> Cells:
        if item.write is not None:
            w = item.write
            state = w.state.value
            left = [
                (f"{self.glyphs.state(state)} ", STATE_ROLE[state]),
                (f"{short(w.operation_id)}  {state:<10}", "text"),
                (f" {w.consumer} {_subject(w.subject)}", "muted"),
            ]
            who, then = w.reviewer, w.created
        else:
            r = cast("Receipt", item.receipt)
            left = [
                (f"{self.glyphs.promoted} ", "good"),
                (f"{short(r.receipt_id)}  {len(r.targets)} files", "text"),
                (f"  {r.consumer} {_subject(r.subject)}", "muted"),
            ]
            who, then = r.reviewer, r.time
        return justified(left, [(f"{name_of(who)[:24]} {age(then, now):>4} ", "muted")], width)

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: a receipt shows itself, an accepted candidate waits for p."""
        event.stop()
        item = event.row
        at = None if item is None else (self.tab, item.number, _id(item))
        same, self._at = at == self._at, at
        if item is None or same:
            if item is None and self.read is None and self.receipt is None:
                self._say_empty()
        elif isinstance(item, _Item) and item.receipt is not None:
            self.show_receipt(item.receipt, "")
        elif isinstance(item, _Item) and item.write is not None:
            self._open_operation(item.write.operation_id)
        elif self.read is None and self.receipt is None:
            self._invite()
        self.post_message(Hints())

    def _invite(self) -> None:
        text = " p shows the exact bytes a promotion of this row would write."
        self.title("preview")
        self.detail.show([Line([(text, "muted")], indent=1)])

    def _say_empty(self) -> None:
        self.title("preview")
        self.detail.show([])

    # acting

    def action_preview(self) -> None:
        """Preview the row, or preview again what is on screen and stale."""
        if self.read is not None and (self.stale or self.tab):
            p = self.read.preview
            self.preview_of(p.candidate, p.version)
        elif self.tab == 0 and (row := cast("CandidateRow | None", self.list.row)):
            self.open_preview(row.id, row.version)

    def preview_of(self, candidate: str, version: int) -> None:
        """Show the preview of a version, beside the list of what waits."""
        self._wanted = candidate
        if self.tab:
            self._turn(-self.tab)
        else:
            self.reload()
        self.open_preview(candidate, version)

    def action_back(self) -> None:
        """Back to the list, and from there out of the filter."""
        if self._busy:
            return
        if self.read is None and self.receipt is None and self.words:
            self.words = ""
            self.reload()
        self.drop()
        self._at = None
        self._invite() if self.list.row and self.tab == 0 else self._say_empty()
        self.focus_list()
        self.post_message(Hints())

    def action_tab_next(self) -> None:
        """Next list."""
        self._turn(1)

    def action_tab_back(self) -> None:
        """Previous list."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        if self._busy:
            return
        self.tab = (self.tab + step) % len(_TABS)
        self.drop()
        self._at = None
        self.list.move_to(0)
        self.list.load((), 0, {})
        self.focus_list()
        self.reload()

    def action_states(self) -> None:
        """Show another list."""
        self._turn(1)

    def action_copy_id(self) -> None:
        """Copy the id of what is shown."""
        if (p := self.preview) is not None:
            self.desk_app.copy(p.operation_id)
        elif (item := self.list.row) is not None:
            self.desk_app.copy(_id(item))

    def action_copy_text(self) -> None:
        """Copy the statement."""
        if (p := self.preview) is not None:
            self.desk_app.copy(p.statement)
        elif self.tab == 0 and (row := cast("CandidateRow | None", self.list.row)):
            self.desk_app.copy(row.statement)

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        common = [("]", "next list"), ("1", "candidates"), ("?", "help"), ("q", "quit")]
        if self.tab == 0 and self.list.row is not None:
            return [("p", "preview"), ("j/k", "move"), ("/", "filter"), *common]
        return [("j/k", "move"), *common] if self.list.row else common


def _numbered(found: Sequence[Any] | None, total: int) -> list[tuple[int, Any]]:
    """Newest first, numbered so that each keeps its number when newer ones come."""
    return [(n - total, item) for n, item in enumerate(found or ())]


def _id(item: Numbered) -> str:
    if isinstance(item, _Item):
        return item.receipt.receipt_id if item.receipt else cast("Any", item.write).operation_id
    return cast("CandidateRow", item).id


def _words_of(item: _Item) -> str:
    r = cast("Any", item.receipt or item.write)
    return f"{_id(item)} {r.subject} {r.reviewer} {r.consumer} {r.state.value}".lower()


def _subject(subject: str) -> str:
    id_, _, version = subject.partition("@")
    return f"{short(id_)}@{version}"
