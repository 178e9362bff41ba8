"""The one bar for every write: reading, ready, armed, stale, written (spec 5.3, 5.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from core.wording import some, verb
from schemas.errors import MemdeskError
from tui.messages import Changed, Hints
from tui.panes import promotion_stale as stale
from tui.panes.previewing import PreviewingPane
from tui.widgets.document import Document
from tui.widgets.text import name_of, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Key, Paste

    from core.promotion.standing import Standing
    from schemas.operations import Preview, Receipt, Written
    from tui.promoting import Half

_STARTABLE = ("previewed", "failed")
_NAMED = 3
"""Written files that are named; more are counted."""
_BACK = ("esc", "back to the list")
_AGAIN = ("p", "preview again")
_MEANS = ("enter", "what this means")


class WritingPane(PreviewingPane):
    """Nothing is confirmed that was not seen whole, armed with one key and entered with another."""

    @property
    def writable(self) -> bool:
        """True while the preview on screen could be armed."""
        p = self.preview
        if p is None or self._busy or self.stale is not None or p.blocked_by or self.unfinished:
            return False
        return p.state.value in _STARTABLE

    # the bar

    def draw_bar(self) -> None:
        """Say where the write stands: unfinished, reading, ready, armed, stale, blocked."""
        if not self.display or self._busy:
            return
        p, g = self.preview, self.glyphs
        if p is not None and self.unfinished:
            self._draw_unfinished(self.unfinished)
        elif p is not None and p.state.value == "diverged":
            tops = (
                " DIVERGED  operation.diverged: somebody wrote there first; theirs stands.",
                " DIVERGED  operation.diverged",
            )
            self.bar.hold(tops, [_AGAIN, _MEANS, _BACK], role="warn")
        elif p is None or p.state.value not in _STARTABLE:
            self.bar.release()
        elif self.stale is not None:
            keys = [_AGAIN, _MEANS, _BACK, ("y", "copy id")]
            self.bar.hold(self._stale_texts(self.stale), keys, "stale")
        elif p.blocked_by:
            codes = ", ".join(p.blocked_by)
            why = ("enter", "meaning and remedy")
            self.bar.hold(f" BLOCKED  {codes}", [why, _BACK], role="bad")
        elif self._armed:
            self.bar.hold(self._armed_texts(p), self._armed_keys(p), "armed")
            if not self._painted:
                self.call_after_refresh(self._paint_done)
        elif not self.detail.seen_all:
            seen, of = self.detail.seen_groups()
            tops = (
                f" seen {seen} of {of}  every changed line must have been on screen",
                f" seen {seen} of {of}",
            )
            keys = [("space", "next unseen change"), *self._fold_key(p), *self._beside_key(p)]
            self.bar.hold(tops, [*keys, _BACK])
        else:
            text = f" READY  {short(p.operation_id, 8)}  seen all {g.dot} fresh"
            keys = [("c", "arm the write"), *self._fold_key(p), *self._beside_key(p), _BACK]
            self.bar.hold(text, keys, role="good")
        self.post_message(Hints())

    def _draw_unfinished(self, left: Sequence[Half]) -> None:
        """A confirmed write stopped halfway; the preview's own, or one beside it."""
        names = ", ".join(short(h.operation, 8) for h in left)
        by = ", ".join(dict.fromkeys(name_of(h.reviewer) for h in left))
        tops = (
            f" UNFINISHED  operation.unfinished: {names} of {by} stopped halfway, confirmed before.",
            f" UNFINISHED  operation.unfinished: {names} of {by}",
            f" UNFINISHED  {names}",
        )
        finish = ("p", "finish exactly that, then preview again")
        self.bar.hold(tops, [finish, _MEANS, _BACK], "stale")

    def _fold_key(self, p: Preview) -> list[tuple[str, str]]:
        """`z`, when a file can be folded that another one implies."""
        derived = any(t.derived for t in p.targets)
        return [("z", "fold" if self._unfolded else "unfold")] if derived else []

    def _beside_key(self, p: Preview) -> list[tuple[str, str]]:
        """`b`, when a belief is superseded that could stay, or stays that could be superseded."""
        if p.supersedes and p.candidate:
            return [("b", "keep both")]
        could = any(c.ref.startswith("bel_") and c.layer == p.consumer for c in p.conflicts)
        return [("b", "supersede it")] if could and p.candidate else []

    def _stale_texts(self, now: Standing) -> list[str]:
        """What changed and by whom; the first that has room is shown."""
        names = ", ".join(dict.fromkeys(m.what for m in now.moved))
        client = self.client
        people = dict.fromkeys(stale.by(c, client.now()) for c in now.causes) if client else {}
        who = ", ".join(p if p == "by hand" else f"by {p}" for p in people)
        text = f" STALE  preview.stale: {names} changed"
        by = [f"{text} {who}"] if who else []
        end = ". Confirm is off, nothing was written."
        ways = [f"{x}{y}" for x in (*by, text) for y in (end, ". Nothing was written.")]
        return [*ways, text, " STALE  preview.stale"]

    def _armed_texts(self, p: Preview) -> list[str]:
        dot = f" {self.glyphs.dot} "
        what = f"write {some(len(p.targets), 'file')} to"
        if not p.targets:
            what = f"{p.action} {p.subject} in"
        whole = [f" ARMED  {what} {p.consumer}"]
        if (count := len(p.versions)) > 1:
            whole.append(some(count, "statement"))
        if p.supersedes:
            whole.append(f"supersede {some(len(p.supersedes), 'belief')}")
        elif p.subject.startswith("bel_"):
            whole.append(f"{p.action} 1 belief")
        brief = [whole[0].removesuffix(f" to {p.consumer}"), *whole[1:]] if p.closes else [*whole]
        if p.closes:
            closes = f"close {some(len(p.closes), 'source')} for good"
            whole.append(closes)
            brief.append(closes)
        if count := sum(c.ref not in p.supersedes for c in p.conflicts):
            stay = verb(count, "stays", "stay")
            whole.append(f"{some(count, 'conflicting statement')} {stay}")
            brief.append(f"{some(count, 'conflict')} {stay}")
        if p.duplicate:
            thing = "line" if p.versions else "copy"
            whole.append(f"the {thing} stands already")
            brief.append(f"{thing} stands")
        return [dot.join(whole), dot.join(brief)]

    def _armed_keys(self, p: Preview) -> list[tuple[str, str]]:
        operation = short(p.operation_id, 8)
        return [("enter", f"write exactly {operation}"), ("any other key", "disarm")]

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
        self.bar.hold(f" WRITING  {short(p.operation_id, 8)}", [])
        try:
            written = await self.attempt(lambda: client.confirm(p.operation_id))
        except MemdeskError as err:
            self._busy = False
            self.draw_bar()
            self.refused(err)
            self.check()
        else:
            self._busy = False
            self._written(written)
        self.post_message(Changed())

    def written(self, receipts: Sequence[Receipt]) -> None:
        """A write is done; the list may keep its row."""

    def _written(self, done: Written) -> None:
        g, receipts = self.glyphs, done.receipts
        self.written(receipts)
        self.show_receipts(receipts, "written", done.failed)
        first = receipts[0]
        names = [t.path.rpartition("/")[2] for r in receipts for t in r.targets]
        files = ", ".join(names[:_NAMED]) or f"{first.action} {first.subject}"
        if more := len(names) - _NAMED:
            files += f" and {more} more" if more > 0 else ""
        by = f"written before by {name_of(first.reviewer)}" if first.replayed else "WRITTEN"
        ids = ", ".join(short(r.receipt_id) for r in receipts)
        if done.failed:
            lost = ", ".join(f"{f.consumer} {f.code}" for f in done.failed)
            retry = short(done.operation_id, 8)
            self.bar.say(f"{g.rejected} NOT ALL WRITTEN  {lost} {g.dot} retry {retry}", "bad")
        else:
            self.bar.say(f"{g.promoted} {by} {ids} {g.dot} {files}", "good")
        self.focus_list()

    def action_fold(self) -> None:
        """Fold or unfold derived files."""
        if self.read is not None and not self._busy:
            self._unfolded = not self._unfolded
            self._view_as(self.view)

    def action_why(self) -> None:
        """Meaning and remedy of what stands in the way; without a preview, preview the row."""
        p, late = self.preview, self._late
        self._late = False
        if p is None:
            self.action_preview()
        elif self.unfinished:
            self.explain(["operation.unfinished"], _AGAIN)
        elif self.stale is not None and late:
            text = (
                "preview.stale: it moved before your enter, nothing was written; p previews again"
            )
            self.bar.say(text, "warn")
        elif self.stale is not None:
            moved = [m.detail for m in self.stale.moved if m.detail]
            self.explain(["preview.stale", *moved], _AGAIN)
        elif p.blocked_by:
            self.explain(list(p.blocked_by))
        elif p.state.value == "diverged":
            self.explain(["operation.diverged"], _AGAIN)

    def action_preview(self) -> None:
        """Preview the row."""
        raise NotImplementedError
