"""The exact preview on screen and the one bar for every write: read, arm, confirm, or stale."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import work

from schemas.errors import MemdeskError
from tui.messages import Changed, Hints
from tui.panes import promotion_text as write
from tui.panes.listing import ListingPane
from tui.widgets.document import Document, Layout, lay
from tui.widgets.lines import Row
from tui.widgets.text import name_of, short

if TYPE_CHECKING:
    from textual.events import Key, Paste

    from schemas.operations import Receipt
    from schemas.promotion import Preview
    from tui.client import Shown

CONSUMER = "line-memory"
_STARTABLE = ("previewed", "failed")
_BACK = "esc  back to the list"


class WritingPane(ListingPane):
    """Nothing is confirmed that was not seen whole, armed with one key and entered with another."""

    tab = 0

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.read: Shown | None = None
        """The preview on screen."""
        self.stale: Preview | None = None
        """The same operation as things stand now, when they moved."""
        self.receipt: Receipt | None = None
        """What stands in the preview's place once it is written."""
        self._unfolded = False
        self._armed = False
        self._painted = False
        self._busy = False

    @property
    def preview(self) -> Preview | None:
        """The preview on screen."""
        return self.read.preview if self.read else None

    @property
    def writable(self) -> bool:
        """True while the preview on screen could be armed."""
        p = self.preview
        if p is None or self._busy or self.stale is not None or p.blocked_by:
            return False
        return p.state.value in _STARTABLE

    # showing

    @work(exclusive=True, group="promotion-preview")
    async def open_preview(self, candidate: str, version: int) -> None:
        """Build the preview of a version and show it; until then nothing else changes."""
        client = self.client
        if client is None or self._busy:
            return
        found = await self.ask(lambda: client.preview(candidate, version, CONSUMER))
        if found is None:
            return
        if found.preview.state.value == "applied":
            self._open_operation(found.preview.operation_id)
            return
        await self._bring(found, None)
        self.detail.focus()

    @work(exclusive=True, group="promotion-preview")
    async def _open_operation(self, operation_id: str) -> None:
        """Show a write as it stands now: its receipt, or its preview."""
        client, tab = self.client, self.tab
        if client is None or self._busy:
            return
        receipt = await self.ask(lambda: client.receipt_of(operation_id))
        if receipt is not None:
            if tab == self.tab:
                self.show_receipt(receipt, "applied")
            return
        found = await self.ask(lambda: client.check(operation_id))
        shown = await self.ask(lambda: client.shown(found)) if found else None
        if found is not None and shown is not None and tab == self.tab:
            await self._bring(shown, found if found.moved else None)

    async def _bring(
        self, shown: Shown, stale: Preview | None, *, keep_place: bool = False
    ) -> None:
        """Write a preview out in a thread, then show it with all that belongs to it at once."""
        unfolded = self._unfolded
        laid = await asyncio.to_thread(self._lay, shown, stale, unfolded, self.detail.text_width)
        self._armed = self._painted = False
        self.read, self.stale, self.receipt = shown, stale, None
        self.set_class(self.tab == 0, "reading")
        p, g = shown.preview, self.glyphs
        added = sum(d.added for _, d, _ in shown.diffs)
        removed = sum(d.removed for _, d, _ in shown.diffs)
        what = f"{short(p.candidate)}@{p.version} {g.arrow} {p.consumer}"
        size = f"{len(p.targets)} files {g.dot} +{added} -{removed}"
        state = "" if p.state.value == "previewed" else f" {g.dot} {p.state.value}"
        self.title(
            f"{short(p.operation_id, 8)} {g.dot} {what}", size + state, f"+{added} -{removed}"
        )
        self.detail.show_laid(laid, keep_place=keep_place)
        self.list.repaint()
        self.draw_bar()

    def _lay(self, shown: Shown, stale: Preview | None, unfolded: bool, width: int) -> Layout:
        g = self.glyphs
        if stale is not None:
            return lay(write.stale(shown, stale, g, unfolded=unfolded), width)
        return lay(write.preview(shown, g, unfolded=unfolded), width)

    def show_receipt(self, receipt: Receipt, state: str) -> None:
        """A receipt in the preview's place."""
        self.drop()
        self.receipt = receipt
        self.title(short(receipt.receipt_id), state)
        self.detail.show(write.receipt(receipt, self.glyphs))

    def drop(self) -> None:
        """Leave the preview; its operation stays stored and can be found under writes."""
        self._armed = self._painted = False
        self.read = self.stale = self.receipt = None
        self.remove_class("reading")
        if self.display:
            self.bar.release()
        self.list.repaint()

    def title(self, left: str, *rights: str) -> None:
        """The row above the detail; the first of `rights` that has room."""
        rule = self.glyphs.rule
        ends = [[(f" {r} {rule * 2}", "rule")] for r in rights if r]
        row = self.query_one("#detail-title", Row)
        row.show([(f"{rule * 2} {left} ", "rule")], *ends, (), fill=rule)

    @work(exclusive=True, group="promotion-check")
    async def check(self) -> None:
        """Compare the preview on screen with what is there now; stale at once."""
        client, shown = self.client, self.read
        if client is None or shown is None or self._busy:
            return
        operation = shown.preview.operation_id
        now = await self.ask(lambda: client.check(operation))
        if now is None or self.read is not shown or self._busy:
            return
        if now.state is not shown.preview.state:
            self._open_operation(operation)
            if now.state.value == "applied":
                self.bar.say(f"{short(operation, 8)} was written by another desk meanwhile", "warn")
            return
        moved = now if now.moved else None
        if (moved and moved.moved) != (self.stale and self.stale.moved):
            await self._bring(shown, moved)
        self.draw_bar()

    def tick(self) -> None:
        """Each second: files are watched by the clock as well, and stale must be seen at once."""
        if self.read is not None:
            self.check()

    # the bar

    def draw_bar(self) -> None:
        """Say where the write stands: reading, ready, armed, stale, blocked."""
        if not self.display or self._busy:
            return
        p, g = self.preview, self.glyphs
        if p is None or p.state.value not in _STARTABLE:
            self.bar.release()
        elif self.stale is not None:
            names = ", ".join(dict.fromkeys(m.what for m in self.stale.moved))
            text = f" STALE  preview.stale: {names} changed. Confirm is off, nothing was written."
            self._hold(text, f"p  preview again     enter  what this means     {_BACK}", "stale")
        elif p.blocked_by:
            codes = ", ".join(p.blocked_by)
            self._hold(f" BLOCKED  {codes}", f"enter  meaning and remedy     {_BACK}", role="bad")
        elif self._armed:
            self._hold(self._armed_text(p), self._armed_keys(p), "armed")
            if not self._painted:
                self.call_after_refresh(self._paint_done)
        elif not self.detail.seen_all:
            seen, of = self.detail.seen_groups()
            text = f" seen {seen} of {of}  every changed line must have been on screen"
            self._hold(text, f"space  next unseen change     {_BACK}")
        else:
            text = f" READY  {short(p.operation_id, 8)}  seen all {g.dot} fresh"
            self._hold(text, f"c  arm the write     z  unfold     {_BACK}", role="good")
        self.post_message(Hints())

    def _hold(self, top: str, keys: str, over: str | None = None, role: str = "text") -> None:
        bottom = "text" if over else "muted"
        self.bar.hold([(top, role)], [(" " * 8 + keys, bottom)], over)

    def _armed_text(self, p: Preview) -> str:
        text = f" ARMED  write {len(p.targets)} files"
        if p.conflicts:
            text += f" {self.glyphs.dot} {len(p.conflicts)} conflicting statement(s) stay"
        if p.duplicate:
            text += f" {self.glyphs.dot} the line stands already"
        return text

    def _armed_keys(self, p: Preview) -> str:
        operation = short(p.operation_id, 8)
        return f"enter  write exactly {operation}          any other key  disarm"

    def _paint_done(self) -> None:
        self._painted = self._armed

    def on_document_seen(self, event: Document.Seen) -> None:
        """More was on screen."""
        event.stop()
        self.draw_bar()

    def action_next_unseen(self) -> None:
        """Show the next unseen change, or a page further."""
        if not self.detail.next_unseen():
            self.detail.scroll_rows(max(1, self.detail.size.height - 1))

    def action_arm(self) -> None:
        """Arm the write; before everything was seen, jump to what was not."""
        if not self.writable:
            return
        if not self.detail.seen_all:
            self.detail.next_unseen()
            self.draw_bar()
            self.bar.say("not armed: this change has not been on screen yet", "warn")
            return
        self._armed, self._painted = True, False
        self.draw_bar()

    def disarm(self) -> None:
        """Any other key, another pane, another focus."""
        if self._armed:
            self._armed = self._painted = False
            self.draw_bar()

    def on_key(self, event: Key) -> None:
        """While armed, enter writes and any other key only disarms."""
        if not self._armed:
            return
        event.stop()
        event.prevent_default()
        if event.key != "enter":
            self.disarm()
        elif self._painted:
            self._armed = self._painted = False
            self._busy = True
            self._confirm()

    def on_paste(self, event: Paste) -> None:
        """Nothing inside a paste counts."""
        event.stop()
        self.disarm()

    # the write

    @work(group="promotion-confirm")
    async def _confirm(self) -> None:
        client, p = self.client, self.preview
        if client is None or p is None:
            self._busy = False
            return
        self._hold(f" WRITING  {short(p.operation_id, 8)}", "")
        try:
            receipt = await self.attempt(lambda: client.confirm(p.operation_id))
        except MemdeskError as err:
            self._busy = False
            self.draw_bar()
            self.refused(err)
            self.check()
        else:
            self._busy = False
            self._written(receipt)
        self.post_message(Changed())

    def _written(self, receipt: Receipt) -> None:
        g = self.glyphs
        self.show_receipt(receipt, "written")
        files = ", ".join(t.path.rpartition("/")[2] for t in receipt.targets)
        by = f"written before by {name_of(receipt.reviewer)}" if receipt.replayed else "WRITTEN"
        self.bar.say(f"{g.promoted} {by} {short(receipt.receipt_id)} {g.dot} {files}", "good")
        self.focus_list()

    def action_fold(self) -> None:
        """Fold or unfold derived files."""
        self._fold()

    @work(exclusive=True, group="promotion-preview")
    async def _fold(self) -> None:
        if self.read is not None and not self._busy:
            self._unfolded = not self._unfolded
            await self._bring(self.read, self.stale, keep_place=True)

    def action_why(self) -> None:
        """Meaning and remedy of what stands in the way; without a preview, preview the row."""
        p = self.preview
        if p is None:
            self.action_preview()
        elif self.stale is not None:
            self.explain(["preview.stale", *[m.detail for m in self.stale.moved if m.detail]])
        elif p.blocked_by:
            self.explain(list(p.blocked_by))

    def action_preview(self) -> None:
        """Preview the row."""
        raise NotImplementedError
