"""The promotion pane: what waits to be promoted, what was written, and the receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.binding import BindingType

from tui import keys
from tui.messages import Hints
from tui.panes import promotion_text as write
from tui.panes.previewing import files
from tui.panes.writing import WritingPane
from tui.theme import STATE_ROLE
from tui.widgets.document import Line
from tui.widgets.lines import Cells, Row, fit, justified, width_of
from tui.widgets.rows import PAGE, Numbered, PagedList
from tui.widgets.text import age, kind, name_of, short

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow
    from schemas.operations import OperationRow, Receipt
    from schemas.promotion import Belief
    from schemas.storage import CandidateFilter
    from tui.client import Client, Counts, Held

USUAL = "line-memory"
_TABS = ("To promote", "Outbox", "Receipts", "In memory")
_EMPTY = (
    " Nothing is accepted and waiting. Accept in pane 1, A previews at once.",
    " No writes yet: p on an accepted candidate makes the first preview.",
    " No receipts yet: every confirmed write leaves one here.",
    " Nothing is in memory yet: what a confirmed write leaves there stands here.",
)


@dataclass(frozen=True, slots=True)
class _Item:
    """A write, a receipt or a statement held; the oldest is -1, so new ones move none."""

    number: int
    write: OperationRow | None = None
    receipt: Receipt | None = None
    held: Held | None = None

    @property
    def place(self) -> int:
        """Its number is its place."""
        return self.number


class PromotionPane(WritingPane):
    """Four lists; the detail holds the preview, or what the row is."""

    number = 2
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("promotion")]

    def __init__(self) -> None:
        super().__init__(id="pane-2")
        self._counts: tuple[int, int, int, int] = (0, 0, 0, 0)
        self._writes: dict[str, int] = {}
        self._chosen: dict[str, str] = {}
        """Consumers that P chose, by candidate."""
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
        self._counts, self._writes = (waiting, open_, counts.receipts, counts.beliefs), done
        if self.tab == 0:
            wanted, near = self._filter(), self.list.near()
            result = await self.ask(lambda: client.result(wanted, near))
            if result is not None and asked == (self.tab, self.words):
                self._load(result.anchors, result.total, result.pages)
        else:
            items = await self.ask(lambda: self._items(client, asked[0], counts))
            if items is not None and asked == (self.tab, self.words):
                self._load_items(items)
        self._summary()

    @staticmethod
    def _items(client: Client, tab: int, counts: Counts) -> list[_Item]:
        """The newest of a list, numbered from its end."""
        if tab == 1:
            found = client.operations()
            return [_Item(n, write=o) for n, o in _numbered(found, sum(counts.operations.values()))]
        if tab == 2:
            return [_Item(n, receipt=r) for n, r in _numbered(client.receipts(), counts.receipts)]
        return [_Item(n, held=h) for n, h in _numbered(client.held(), counts.beliefs)]

    def _load_items(self, items: list[_Item]) -> None:
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
        if self._wanted:
            wanted = self._wanted
            numbers = [r.number for p in pages.values() for r in p if _id(r).startswith(wanted)]
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
        counts = (waiting, open_, receipts, beliefs)
        parts: list[tuple[str, str]] = [(" ", "text")]
        for i, (label, count) in enumerate(zip(_TABS, counts, strict=True)):
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
            states = ("applied", "failed", "diverged")
            ends = [dot.join(f"{s} {self._writes.get(s, 0):,}" for s in states)]
        else:
            ends = ["] next list"]
        return [[(f"{e} ", "muted")] for e in ends] + [[]]

    def draw_view(self) -> None:
        """The summary says how the diff is shown."""
        super().draw_view()
        self._summary()

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
        end = f"{self._consumer_of(row.id)} {age(row.created, now):>4} "
        right: list[tuple[str, str]] = [(end, "muted")]
        left += fit(
            [(" ".join(row.statement[:600].split()), "text")], max(0, width - 13 - width_of(right))
        )
        return justified(left, right, width)

    def _draw_item(self, item: _Item, width: int, now: int) -> Cells:
        if item.held is not None:
            b, at = item.held.belief, item.held.at
            right = [(f"{at.consumer} {age(b.recorded, now):>4} ", "muted")]
            words = " ".join(b.statement[:600].split())
            held = [(f"{self.glyphs.promoted} ", "good"), (words, "text")]
            return justified(fit(held, max(0, width - width_of(right) - 1)), right, width)
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
                (f"{short(r.receipt_id)}  {files(len(r.targets))}", "text"),
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
        elif isinstance(item, _Item) and item.held is not None:
            self.drop()
            self.title(short(item.held.belief.id), item.held.at.state.value)
            self.detail.show(write.held(item.held, self.glyphs))
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

    def _subject(self) -> tuple[str, int] | None:
        """The version at hand: of the preview on screen, or of the row."""
        item = self.list.row
        if (p := self.preview) is not None:
            return p.candidate, p.version
        if isinstance(item, _Item):
            return None
        row = cast("CandidateRow | None", item)
        return (row.id, row.version) if row else None

    def _consumer_of(self, candidate: str) -> str:
        """Where a candidate would be written."""
        return self._chosen.get(candidate, USUAL)

    def action_consumer(self) -> None:
        """The next consumer for the row; a preview on screen is made anew for it."""
        client, subject = self.client, self._subject()
        if client is None or subject is None or self._busy or self.tab == 3:
            return
        candidate, version = subject
        every = client.consumers()
        at = self.preview.consumer if self.preview else self._consumer_of(candidate)
        chosen = every[(every.index(at) + 1) % len(every)]
        self._chosen[candidate] = chosen
        self.list.repaint()
        self.bar.say(f"{short(candidate)}@{version} goes to {chosen}", "text")
        if self.read is not None:
            self.open_preview(candidate, version, chosen)

    def action_preview(self) -> None:
        """Preview the row, or preview again what is on screen and stale."""
        p, item = self.preview, self.list.row
        if p is not None and (self.stale or self.tab):
            self.open_preview(p.candidate, p.version, p.consumer)
        elif self.tab == 0 and item is not None:
            row = cast("CandidateRow", item)
            self.open_preview(row.id, row.version, self._consumer_of(row.id))
        elif isinstance(item, _Item) and item.held is not None:
            self._preview_elsewhere(item.held.belief)

    def _preview_elsewhere(self, belief: Belief) -> None:
        """Preview a statement in memory for a consumer that does not hold it yet."""
        there = {at.consumer for at in belief.consumers}
        every = self.client.consumers() if self.client else []
        missing = [c for c in every if c not in there]
        if missing:
            self.open_preview(belief.candidate, belief.version, missing[0])
        else:
            self.bar.say(f"every consumer holds it: {', '.join(sorted(there))}", "text")

    def preview_of(self, candidate: str, version: int) -> None:
        """Show the preview of a version, beside the list of what waits."""
        self._wanted = candidate
        if self.tab:
            self._turn(-self.tab)
        else:
            self.reload()
        self.open_preview(candidate, version, self._consumer_of(candidate))

    def show_write(self, id_: str) -> None:
        """Show an operation, a receipt or a belief in its list."""
        self._wanted, self.words = id_, ""
        tab = {"op": 1, "rcpt": 2, "bel": 3}[id_.partition("_")[0]]
        self._turn(tab - self.tab)

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
            keys_ = [("p", "preview"), ("P", "consumer"), ("j/k", "move"), ("/", "filter")]
            return [*keys_, *common]
        if self.tab == 3 and self.list.row is not None:
            return [("p", "preview for another consumer"), ("j/k", "move"), *common]
        return [("j/k", "move"), *common] if self.list.row else common


def _numbered(found: Sequence[Any] | None, total: int) -> list[tuple[int, Any]]:
    """Newest first, numbered so that each keeps its number when newer ones come."""
    return [(n - total, item) for n, item in enumerate(found or ())]


def _id(item: Numbered) -> str:
    if isinstance(item, _Item):
        if item.held is not None:
            return item.held.belief.id
        return item.receipt.receipt_id if item.receipt else cast("Any", item.write).operation_id
    return cast("CandidateRow", item).id


def _words_of(item: _Item) -> str:
    if item.held is not None:
        return f"{_id(item)} {item.held.belief.statement} {item.held.at.consumer}".lower()
    r = cast("Any", item.receipt or item.write)
    return f"{_id(item)} {r.subject} {r.reviewer} {r.consumer} {r.state.value}".lower()


def _subject(subject: str) -> str:
    id_, _, version = subject.partition("@")
    return f"{short(id_)}@{version}"
