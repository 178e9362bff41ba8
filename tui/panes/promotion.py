"""The promotion pane: what waits to be promoted, the exact preview, one bar for every write."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.binding import BindingType

from schemas.errors import MemdeskError
from tui import keys
from tui.messages import Changed, Hints
from tui.panes import promotion_text as write
from tui.panes.listing import ListingPane
from tui.theme import STATE_ROLE, glyphs
from tui.widgets.document import Document, Line
from tui.widgets.lines import Cells, Row, fit, justified
from tui.widgets.rows import PAGE, Numbered, PagedList
from tui.widgets.text import age, kind, name_of, short

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow
    from schemas.operations import OperationRow, Receipt
    from schemas.promotion import Preview
    from tui.client import Shown

_TABS = ("to promote", "writes", "receipts")
CONSUMER = "line-memory"


@dataclass(frozen=True, slots=True)
class _Item:
    """A write or a receipt as a numbered row."""

    number: int
    write: OperationRow | None = None
    receipt: Receipt | None = None


class PromotionPane(ListingPane):
    """Preview, arm, confirm, find the receipt."""

    number = 2
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("promotion")]

    def __init__(self) -> None:
        super().__init__(id="pane-2")
        self.glyphs = glyphs()
        self.tab = 0
        self._counts: tuple[int, int, int, int] = (0, 0, 0, 0)
        self._shown: Shown | None = None
        self._moved: Preview | None = None
        self._unfolded = False
        self._armed = False
        self._painted = False
        self._busy = False
        self._after = ""
        self._at: tuple[int, Numbered | None] = (0, None)

    def make_list(self) -> PagedList:
        """The list of the chosen tab."""
        return PagedList(self._draw, self._fetch, self.glyphs.cursor, id="promotions")

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
        self.check()
        self._bar()

    def _filter(self) -> Any:
        from schemas.storage import CandidateFilter

        return CandidateFilter(("accepted",), self.words or None)

    def reload(self) -> None:
        """Ask for the list of the tab anew."""
        self._reload()

    @work(exclusive=True, group="promotion")
    async def _reload(self) -> None:
        client, wanted, tab = self.client, self._filter(), self.tab
        if client is None:
            return
        counts = await self.ask(client.counts)
        if counts is None:
            return
        done = counts.operations
        open_ = done.get("prepared", 0) + done.get("failed", 0) + done.get("diverged", 0)
        waiting = counts.candidates.get("accepted", 0)
        self._counts = (waiting, open_, counts.receipts, counts.beliefs)
        if tab == 0:
            result = await self.ask(lambda: client.result(wanted))
            if result is not None:
                self._load(result.anchors, result.total, result.first)
        elif tab == 1:
            found = await self.ask(client.operations)
            self._load_items([_Item(n, write=o) for n, o in enumerate(found or ())])
        else:
            receipts = await self.ask(client.receipts)
            self._load_items([_Item(n, receipt=r) for n, r in enumerate(receipts or ())])
        self._summary()

    def _load_items(self, items: list[_Item]) -> None:
        pages = [items[i : i + PAGE] for i in range(0, len(items), PAGE)]
        self._load([p[0].number for p in pages], len(items), pages[0] if pages else [])
        for n, page in enumerate(pages[1:], 1):
            self.list.put_page(n, page)

    def _load(self, anchors: Any, total: int, first: Any) -> None:
        texts = (
            " Nothing is accepted and waiting. Accept in pane 1, A previews at once.",
            " No writes yet: p on an accepted candidate makes the first preview.",
            " No receipts yet: every confirmed write leaves one here.",
        )
        self.list.empty = [(texts[self.tab], "muted")]
        self.list.load(anchors, total, first)

    def _fetch(self, page: int, start: int) -> None:
        if self.tab == 0:
            self._page_of(page, start)

    @work(group="promotion-pages")
    async def _page_of(self, page: int, start: int) -> None:
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.window(wanted, start)) if client else None
        if rows is not None:
            self.list.put_page(page, rows)

    def _summary(self) -> None:
        waiting, open_, receipts, beliefs = self._counts
        dot = f" {self.glyphs.dot} "
        labels = (f"to promote {waiting:,}", f"writes {open_} open", f"receipts {receipts:,}")
        parts: list[tuple[str, str]] = [(" ", "text")]
        for i, label in enumerate(labels):
            parts += [(dot if i else "", "muted"), (label, "accent" if i == self.tab else "text")]
        parts += [(dot, "muted"), (f"in memory {beliefs:,}", "text")]
        self.query_one("#summary", Row).show(parts, [("] next list ", "muted")])

    # drawing

    def _draw(self, item: Numbered, width: int) -> Cells:
        now = self.client.now() if self.client else 0
        if isinstance(item, _Item):
            return self._draw_item(item, width, now)
        row = cast("CandidateRow", item)
        current = self._shown.preview if self._shown else None
        here = current is not None and (current.candidate, current.version) == (row.id, row.version)
        sign = self.glyphs.stale if here and self._moved else self.glyphs.state(row.state.value)
        left: list[tuple[str, str]] = [
            (f"{sign} ", "warn" if here and self._moved else STATE_ROLE[row.state.value]),
            (f"{kind(row.kind.value):<10}", "muted"),
        ]
        right: list[tuple[str, str]] = [(f"{CONSUMER} {age(row.created, now):>4} ", "muted")]
        left += fit([(" ".join(row.statement[:600].split()), "text")], max(8, width - 31), "…")
        return justified(left, right, width)

    def _draw_item(self, item: _Item, width: int, now: int) -> Cells:
        if item.write is not None:
            w = item.write
            state = w.state.value
            left = [
                (f"{self.glyphs.state(state)} ", STATE_ROLE[state]),
                (f"{short(w.operation_id)}  {state:<10}", "text"),
                (f" {w.consumer} {short(w.subject.partition('@')[0])}", "muted"),
            ]
            return justified(
                left, [(f"{name_of(w.reviewer)} {age(w.created, now):>4} ", "muted")], width
            )
        r = cast("Receipt", item.receipt)
        left = [
            (f"{self.glyphs.promoted} ", "good"),
            (f"{short(r.receipt_id)}  {len(r.targets)} files", "text"),
            (f"  {r.consumer} {short(r.subject.partition('@')[0])}", "muted"),
        ]
        return justified(left, [(f"{name_of(r.reviewer)} {age(r.time, now):>4} ", "muted")], width)

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: a receipt shows itself, an accepted candidate waits for p."""
        event.stop()
        item = event.row
        if item is not None and self._at == (self.tab, item) and (self._shown or self._after):
            return
        self._at = (self.tab, item)
        if isinstance(item, _Item) and item.receipt is not None:
            self._show_receipt(item.receipt, "")
        elif isinstance(item, _Item) and item.write is not None:
            self._open_operation(item.write.operation_id)
        elif self._shown is None and not self._after:
            text = " p shows the exact bytes a promotion of this row would write."
            self._title("preview", "")
            self.detail.show([Line([(text, "muted")])] if item else [])
        self._hints()

    def _title(self, left: str, right: str) -> None:
        g = self.glyphs
        start = [(f"{g.rule * 2} {left} ", "rule")]
        end = [(f" {right} {g.rule * 2}", "rule")] if right else []
        self.query_one("#detail-title", Row).show(start, end, g.rule)

    # the preview

    @property
    def preview(self) -> Preview | None:
        """The preview on screen."""
        return self._shown.preview if self._shown else None

    def action_preview(self) -> None:
        """Preview the row, or preview again what is on screen and stale."""
        if self._shown is not None and (self._moved or self.tab):
            p = self._shown.preview
            self.open_preview(p.candidate, p.version)
        elif self.tab == 0 and (row := cast("CandidateRow | None", self.list.row)):
            self.open_preview(row.id, row.version)

    @work(exclusive=True, group="promotion-preview")
    async def open_preview(self, candidate: str, version: int) -> None:
        """Build the preview of a version and show it."""
        client = self.client
        if client is None or self._busy:
            return
        found = await self.ask(lambda: client.preview(candidate, version, CONSUMER))
        if found is None:
            return
        self._disarm()
        self._shown, self._moved, self._after = found, None, ""
        self._show_preview()
        self.detail.focus()
        self._bar()

    @work(exclusive=True, group="promotion-preview")
    async def _open_operation(self, operation_id: str) -> None:
        """Show a write of the list as it stands now."""
        client = self.client
        if client is None:
            return
        receipt = await self.ask(lambda: client.receipt_of(operation_id))
        if receipt is not None and self.tab == 1:
            self._show_receipt(receipt, "applied")
            return
        found = await self.ask(lambda: client.check(operation_id))
        shown = await self.ask(lambda: client.shown(found)) if found else None
        if found is None or self.tab != 1:
            return
        self._disarm()
        self._shown, self._moved = shown, found if found.moved else None
        self._after = ""
        self._show_preview()
        self._bar()

    def _show_receipt(self, receipt: Receipt, state: str) -> None:
        self._drop()
        self._title(short(receipt.receipt_id), state)
        self.detail.show(write.receipt(receipt, self.glyphs))

    def _show_preview(self, *, keep_place: bool = False) -> None:
        self.set_class(self._shown is not None and self.tab == 0, "reading")
        if self._shown is None:
            return
        p, g = self._shown.preview, self.glyphs
        added = sum(d.added for _, d, _ in self._shown.diffs)
        removed = sum(d.removed for _, d, _ in self._shown.diffs)
        left = f"{short(p.operation_id, 8)} {g.dot} {short(p.candidate)}@{p.version} {g.arrow} {p.consumer}"
        files = f"{len(p.targets)} files {g.dot} +{added} -{removed}"
        state = "" if p.state.value == "previewed" else f" {g.dot} {p.state.value}"
        self._title(left, files + state)
        if self._moved is not None:
            lines = write.stale(self._shown, self._moved, g, unfolded=self._unfolded)
        else:
            lines = write.preview(self._shown, g, unfolded=self._unfolded)
        self.detail.show(lines, keep_place=keep_place)

    def on_resize(self) -> None:
        """Write the preview for the new width."""
        self._show_preview(keep_place=True)

    @work(exclusive=True, group="promotion-check")
    async def check(self) -> None:
        """Compare the preview on screen with what is there now; stale at once."""
        client, p = self.client, self.preview
        if client is None or p is None or self._busy or p.state.value != "previewed" or self._after:
            return
        now = await self.ask(lambda: client.check(p.operation_id))
        if now is None or self.preview is not p or self._busy:
            return
        if now.moved and (self._moved is None or self._moved.moved != now.moved):
            self._disarm()
            self._moved = now
            self._show_preview()
            self.list.strips.clear()
            self.list.refresh()
        elif not now.moved and self._moved is not None:
            self._moved = None
            self._show_preview()
        self._bar()

    # the bar

    def _bar(self) -> None:
        """Say where the write stands: reading, ready, armed, stale, blocked."""
        if not self.display:
            return
        p, g = self.preview, self.glyphs
        if p is None or self._after or p.state.value != "previewed":
            self.bar.release()
        elif self._moved is not None:
            names = ", ".join(m.what for m in self._moved.moved)
            self.bar.hold(
                [
                    (
                        f" STALE  preview.stale: {names} changed. Confirm is off, nothing was written.",
                        "text",
                    )
                ],
                [
                    (
                        "        p  preview again     enter  what this means     esc  back to the list",
                        "text",
                    )
                ],
                "stale",
            )
        elif p.blocked_by:
            self.bar.hold(
                [(f" BLOCKED  {', '.join(p.blocked_by)}", "bad")],
                [("        enter  meaning and remedy     esc  back to the list", "muted")],
            )
        elif self._armed:
            self._armed_bar(p)
        elif not self.detail.seen_all:
            seen, of = self.detail.seen_groups()
            self.bar.hold(
                [(f" seen {seen} of {of}  every changed line must have been on screen", "text")],
                [("        space  next unseen change     esc  back to the list", "muted")],
            )
        else:
            self.bar.hold(
                [(f" READY  {short(p.operation_id, 8)}  seen all {g.dot} fresh", "good")],
                [("        c  arm the write     z  unfold     esc  back to the list", "muted")],
            )
        self._hints()

    def _armed_bar(self, p: Preview) -> None:
        files = len(p.targets)
        what = f" ARMED  write {files} files"
        if p.conflicts:
            what += f" {self.glyphs.dot} {len(p.conflicts)} conflicting statement(s) stay"
        if p.duplicate:
            what += f" {self.glyphs.dot} the line stands already"
        operation = short(p.operation_id, 8)
        self.bar.hold(
            [(what, "text")],
            [(f"        enter  write exactly {operation}          any other key  disarm", "text")],
            "armed",
        )
        if not self._painted:
            self.call_after_refresh(self._paint_done)

    def _paint_done(self) -> None:
        self._painted = self._armed

    def on_document_seen(self, event: Document.Seen) -> None:
        """More was on screen."""
        event.stop()
        self._bar()

    def action_next_unseen(self) -> None:
        """Show the next unseen change, or a page further."""
        if not self.detail.next_unseen():
            self._page_detail()

    def _page_detail(self) -> None:
        self.detail.scroll_rows(max(1, self.detail.size.height - 1))

    def action_arm(self) -> None:
        """Arm the write; before everything was seen, jump to what was not."""
        p = self.preview
        if p is None or self._busy or self._after or p.state.value != "previewed":
            return
        if self._moved is not None or p.blocked_by:
            return
        if not self.detail.seen_all:
            self.detail.next_unseen()
            self.bar.say("not armed: there is more to see", "warn")
            self._bar()
            return
        self._armed, self._painted = True, False
        self._bar()

    def _disarm(self) -> None:
        self._armed = self._painted = False

    def on_key(self, event: Any) -> None:
        """While armed, enter writes and any other key only disarms."""
        if not self._armed:
            return
        event.stop()
        event.prevent_default()
        painted = self._painted
        if event.key == "enter" and not painted:
            return
        self._disarm()
        if event.key == "enter":
            self._confirm()
        else:
            self._bar()

    def on_paste(self, event: Any) -> None:
        """Nothing inside a paste counts."""
        event.stop()

    @work(exclusive=True, group="promotion-confirm")
    async def _confirm(self) -> None:
        client, p = self.client, self.preview
        if client is None or p is None:
            return
        self._busy = True
        self.bar.hold([(f" WRITING  {short(p.operation_id, 8)}", "text")], [("", "text")])
        try:
            receipt = await asyncio.to_thread(client.confirm, p.operation_id)
        except MemdeskError as err:
            self._busy = False
            self.refused(err)
            self.check()
            self._bar()
            self.post_message(Changed())
            return
        self._busy = False
        self._show_receipt(receipt, "written")
        self._after = receipt.receipt_id
        files = ", ".join(t.path for t in receipt.targets)
        self.bar.say(
            f"{self.glyphs.promoted} WRITTEN {short(receipt.receipt_id)} {self.glyphs.dot} {files}",
            "good",
        )
        self.focus_list()
        self.post_message(Changed())

    def _drop(self) -> None:
        """Leave the preview; its operation stays stored and can be found under writes."""
        self._disarm()
        self._shown = self._moved = None
        self._after = ""
        self._show_preview()
        self.bar.release()

    def action_back(self) -> None:
        """Back to the list."""
        if self.words and not self.in_detail and self._shown is None:
            self.words = ""
            self.reload()
        self._drop()
        self.detail.show([])
        self._title("preview", "")
        self.focus_list()
        self._hints()

    def action_fold(self) -> None:
        """Fold or unfold derived files."""
        if self._shown is not None:
            self._unfolded = not self._unfolded
            self._show_preview(keep_place=True)
            self._bar()

    def action_tab_next(self) -> None:
        """Next list."""
        self._turn(1)

    def action_tab_back(self) -> None:
        """Previous list."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        self.tab = (self.tab + step) % len(_TABS)
        self._drop()
        self.list.load((), 0, ())
        self.focus_list()
        self.reload()

    def action_states(self) -> None:
        """Show another list."""
        self._turn(1)

    def action_why(self) -> None:
        """Meaning and remedy of what stands in the way."""
        p = self.preview
        if p is None:
            self.action_preview()
        elif self._moved is not None:
            self.explain(["preview.stale", *[m.detail for m in self._moved.moved if m.detail]])
        elif p.blocked_by:
            self.explain(list(p.blocked_by))

    def action_copy_id(self) -> None:
        """Copy the id of what is shown."""
        item = self.list.row
        if (p := self.preview) is not None:
            self.desk_app.copy(p.operation_id)
        elif isinstance(item, _Item):
            found = (
                item.receipt.receipt_id
                if item.receipt
                else cast("OperationRow", item.write).operation_id
            )
            self.desk_app.copy(found)
        elif item is not None:
            self.desk_app.copy(cast("CandidateRow", item).id)

    def action_copy_text(self) -> None:
        """Copy the statement."""
        if (p := self.preview) is not None:
            self.desk_app.copy(p.statement)

    def _hints(self) -> None:
        self.post_message(Hints())

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        common = [("]", "next list"), ("1", "candidates"), ("?", "help"), ("q", "quit")]
        if self.tab == 0 and self.list.row is not None:
            return [("p", "preview"), ("j/k", "move"), *common]
        return [("j/k", "move"), *common]
