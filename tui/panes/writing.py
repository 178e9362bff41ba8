"""The one bar for every write: reading, ready, armed, stale, written (spec 5.3, 5.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import work

from schemas.errors import MemdeskError
from tui.messages import Changed, Hints
from tui.panes import promotion_stale as stale
from tui.panes.previewing import PreviewingPane, files
from tui.widgets.document import Document
from tui.widgets.text import name_of, short

if TYPE_CHECKING:
    from textual.events import Key, Paste

    from core.promotion.standing import Standing
    from schemas.operations import Preview, Receipt

_STARTABLE = ("previewed", "failed")
_BACK = "esc  back to the list"


class WritingPane(PreviewingPane):
    """Nothing is confirmed that was not seen whole, armed with one key and entered with another."""

    @property
    def writable(self) -> bool:
        """True while the preview on screen could be armed."""
        p = self.preview
        if p is None or self._busy or self.stale is not None or p.blocked_by:
            return False
        return p.state.value in _STARTABLE

    # the bar

    def draw_bar(self) -> None:
        """Say where the write stands: reading, ready, armed, stale, blocked."""
        if not self.display or self._busy:
            return
        p, g = self.preview, self.glyphs
        if p is not None and p.state.value == "diverged":
            text = " DIVERGED  operation.diverged: somebody wrote there first; theirs stands."
            self._hold(
                text, f"p  preview again     enter  what this means     {_BACK}", role="warn"
            )
        elif p is None or p.state.value not in _STARTABLE:
            self.bar.release()
        elif self.stale is not None:
            keys = f"p  preview again     enter  what this means     {_BACK}     y  copy id"
            self._hold(self._stale_text(self.stale), keys, "stale")
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

    def _stale_text(self, now: Standing) -> str:
        """What changed and by whom, as far as there is room to say it."""
        names = ", ".join(dict.fromkeys(m.what for m in now.moved))
        client = self.client
        people = dict.fromkeys(stale.by(c, client.now()) for c in now.causes) if client else {}
        end = ". Confirm is off, nothing was written."
        text = f" STALE  preview.stale: {names} changed"
        who = ", ".join(p if p == "by hand" else f"by {p}" for p in people)
        ways = (f"{text} {who}{end}", f"{text} {who}. Nothing was written.") if who else ()
        width = self.app.size.width
        return next((way for way in ways if cell_len(way) <= width), text + end)

    def _armed_text(self, p: Preview) -> str:
        what = f"write {files(len(p.targets))} to" if p.targets else f"{p.action} {p.subject} in"
        text = f" ARMED  {what} {p.consumer}"
        if p.supersedes:
            text += f" {self.glyphs.dot} supersede {len(p.supersedes)}"
        if p.conflicts:
            text += f" {self.glyphs.dot} {len(p.conflicts)} conflicting statement(s) stay"
        if p.duplicate:
            text += f" {self.glyphs.dot} the {'line' if p.candidate else 'copy'} stands already"
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
            self._confirm(self.preview)

    def on_paste(self, event: Paste) -> None:
        """Nothing inside a paste counts."""
        event.stop()
        self.disarm()

    # the write

    @work(group="promotion-confirm")
    async def _confirm(self, p: Preview | None) -> None:
        client = self.client
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
        names = [t.path.rpartition("/")[2] for t in receipt.targets]
        files = ", ".join(names) or f"{receipt.action} {receipt.subject}"
        by = f"written before by {name_of(receipt.reviewer)}" if receipt.replayed else "WRITTEN"
        self.bar.say(f"{g.promoted} {by} {short(receipt.receipt_id)} {g.dot} {files}", "good")
        self.focus_list()

    def action_fold(self) -> None:
        """Fold or unfold derived files."""
        if self.read is not None and not self._busy:
            self._unfolded = not self._unfolded
            self._view_as(self.view)

    def action_why(self) -> None:
        """Meaning and remedy of what stands in the way; without a preview, preview the row."""
        p = self.preview
        if p is None:
            self.action_preview()
        elif self.stale is not None:
            self.explain(["preview.stale", *[m.detail for m in self.stale.moved if m.detail]])
        elif p.blocked_by:
            self.explain(list(p.blocked_by))
        elif p.state.value == "diverged":
            self.explain(["operation.diverged"])

    def action_preview(self) -> None:
        """Preview the row."""
        raise NotImplementedError
