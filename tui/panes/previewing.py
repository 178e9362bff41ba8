"""A preview on screen: what of it was read, how its diffs are shown, what moved under it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import work

from core.wording import some
from schemas.subject import parted
from tui import collector
from tui.panes import promotion_stale as stale
from tui.panes import promotion_text as write
from tui.panes.listing import ListingPane
from tui.widgets.diff import View
from tui.widgets.document import HEAVY, Document, Layout, Line, lay
from tui.widgets.lines import Row
from tui.widgets.text import header, short, subject

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from core.operations.envelope import Target
    from core.operations.preview import Exact
    from core.promotion.standing import Foreign, Standing
    from core.textdiff import Comparison
    from schemas.operations import FailedSink, Preview, Receipt
    from schemas.storage import CandidateFilter
    from tui.client import Client
    from tui.promoting import Half

_AHEAD = 100
"""Lines drawn in the thread: more than a screen holds but on the largest."""
_WIDE = 100
"""Columns from which list and detail stand side by side."""
SPLIT_FROM = 120
"""Columns from which two sides stand beside each other."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a preview goes on from what the reader began with."""

    same: bool
    base: Sequence[Target]
    under: Sequence[Foreign]
    seen: set[Hashable]


class PreviewingPane(ListingPane):
    """A list whose detail holds one preview: what of it was read, and what moved under it."""

    tab = 0

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.read: Exact | None = None
        """The preview on screen."""
        self.stale: Standing | None = None
        """How its operation stands now, when something moved."""
        self.unfinished: tuple[Half, ...] = ()
        """Confirmed writes of any desk that stopped halfway: what is previewed beside them is off."""
        self.receipts: Sequence[Receipt] = ()
        """What stands in the preview's place once it is written."""
        self.view = View()
        self._base: Sequence[Target] = ()
        """What the reader of this subject began with; what moved since then must be read."""
        self._under: Sequence[Foreign] = ()
        self._seen: set[Hashable] = set()
        self._unfolded = False
        self._armed = False
        self._painted = False
        self._reads = False
        """True while a preview takes the place of the list where there is no room for both."""
        self._late = False
        """True when an armed preview turned stale: the next enter was meant for the write."""
        self._busy = False
        self._laid_at = 0
        """Columns of the screen that the text was laid for."""

    @property
    def preview(self) -> Preview | None:
        """The preview on screen."""
        return self.read.preview if self.read else None

    @property
    def aside(self) -> Document:
        """What a stale preview is bound to, above the list where there is room beside it."""
        return self.query_one("#aside", Document)

    async def on_mount(self) -> None:
        """The place for what a stale preview is bound to."""
        await self.query_one("#left").mount(Document(id="aside"), before=0)

    # showing

    def open_preview(self, candidate: str, version: int, consumer: str) -> None:
        """Build the preview of a version and show it; until then nothing else changes."""
        self._open(lambda client: client.preview(candidate, version, consumer))

    def preview_again(self, preview: Preview) -> None:
        """Build a preview anew, whatever it is about."""
        self._open(lambda client: client.again(preview.operation_id))

    def preview_all(self, wanted: CandidateFilter, chosen: Mapping[str, str], usual: str) -> None:
        """Build one preview of all that a list holds, each to its consumer."""
        self._open(lambda client: client.preview_all(wanted, chosen, usual))

    def end_preview(self, action: str, belief: str, at: str, reason: str) -> None:
        """Build the preview of ending a belief at a consumer."""
        self._open(lambda client: client.end(action, belief, at, reason))

    def action_beside(self) -> None:
        """Keep what the preview supersedes beside it, or supersede it after all."""
        shown = self.read
        if shown is None or self._busy or not shown.preview.versions or not shown.preview.conflicts:
            return
        self._open(lambda client: client.other_way(shown))

    @work(exclusive=True, group="promotion-preview")
    async def _open(self, make: Callable[[Client], Exact]) -> None:
        client = self.client
        if client is None or self._busy:
            return
        if self.unfinished and not await self._finished(client):
            return
        with collector.paused():
            found = await self.ask(lambda: make(client))
            if found is None:
                return
            if found.preview.state.value == "applied":
                self.open_operation(found.preview.operation_id)
                return
            if await self._bring(found, None):
                self.detail.focus()

    async def _finished(self, client: Client) -> bool:
        """Finish writes that were confirmed and left half done; a preview beside them is stale."""
        done = await self.ask(client.finish)
        if done is None:
            return False
        self.unfinished = ()
        if said := ", ".join(f"{short(operation, 8)} {outcome}" for operation, outcome in done):
            self.bar.say(f"finished after an interruption: {said}")
        return True

    @work(exclusive=True, group="promotion-preview")
    async def open_operation(self, operation_id: str) -> None:
        """Show a write as it stands now: its receipt, its preview, or how it diverged."""
        client, tab = self.client, self.tab
        if client is None or self._busy:
            return
        receipts = await self.ask(lambda: client.receipts_of(operation_id))
        if receipts is None:
            return
        found = await self.ask(lambda: client.look(operation_id))
        if found is None:
            return
        if found.preview.state.value == "applied":
            if tab == self.tab:
                self.show_receipts(receipts, "applied")
            return
        moved = None
        if found.preview.moved:
            moved = await self.ask(lambda: client.standing(found))
        if tab == self.tab:
            await self._bring(found, moved)

    async def _bring(
        self, exact: Exact, moved: Standing | None, *, keep_place: bool = False
    ) -> bool:
        """Write a preview out in a thread, then show it with all that belongs to it at once.

        What was read of the same subject stays read. False when a write began meanwhile.
        """
        client, operation = self.client, exact.preview.operation_id
        kept: Sequence[tuple[str, Comparison]] = ()
        if exact.preview.state.value == "diverged" and client is not None:
            kept = await self.ask(lambda: client.divergence(operation)) or ()
        time = client.now() if client else 0
        with collector.paused():
            reading, laid, beside = await asyncio.to_thread(self._laid, exact, moved, kept, time)
            if laid.weight >= HEAVY:
                collector.keep()
        if self._busy:
            return False
        self._late = self._armed and moved is not None
        self._armed = self._painted = False
        self._seen = reading.seen
        self._base, self._under = reading.base, reading.under
        self.read, self.stale, self.receipts = exact, moved, ()
        self._reads = self.tab == 0
        self._title()
        self.detail.show_laid(laid, keep_place=keep_place)
        self.aside.show_laid(beside)
        self.list.repaint()
        self.draw_view()
        self.draw_bar()
        return True

    def _reading(self, exact: Exact) -> _Reading:
        """Go on with what was read of the same subject, or begin anew."""
        from core.promotion.standing import foreign

        old, new = self.preview, exact.preview
        if old is None or old.consumer != new.consumer:
            return _Reading(False, exact.targets, (), set())
        if not set(parted(new.subject)) <= set(parted(old.subject)):
            return _Reading(False, exact.targets, (), set())
        base = self._base or exact.targets
        there = {t.path: t.before for t in exact.targets}
        return _Reading(True, base, foreign(base, there), self._seen | self.detail.read_keys())

    def _laid(
        self,
        exact: Exact,
        moved: Standing | None,
        kept: Sequence[tuple[str, Comparison]],
        time: int,
    ) -> tuple[_Reading, Layout, Layout]:
        """What was read of the same subject, then detail and aside; runs in a thread."""
        reading = self._reading(exact)
        return reading, *self._lay(exact, moved, kept, reading, time)

    def _lay(
        self,
        exact: Exact,
        moved: Standing | None,
        kept: Sequence[tuple[str, Comparison]],
        reading: _Reading,
        time: int,
    ) -> tuple[Layout, Layout]:
        """Detail and aside, wrapped; runs in a thread."""
        g, view, unfolded = self.glyphs, self.effective_view(), self._unfolded
        width, room = self.detail.text_width, max(40, self.list.text_width)
        seen = reading.seen
        if kept:
            return lay(write.diverged(kept, g, view), width), lay((), room)
        if moved is None:
            text = write.preview(exact, g, view, unfolded=unfolded, under=reading.under)
            return lay(text, width, seen, ahead=_AHEAD), lay((), room)
        text = stale.stale(exact, moved, g, view, unfolded=unfolded, read=seen)
        if self.beside:
            queue = [Line(), header("your queue", "", g)]
            beside = stale.binding(exact, moved, g, room, time) + queue
            return lay(text, width, seen, ahead=_AHEAD), lay(beside, room)
        text += stale.binding(exact, moved, g, width, time)
        return lay(text, width, seen, ahead=_AHEAD), lay((), room)

    def _title(self) -> None:
        if self.read is None:
            return
        p, g = self.read.preview, self.glyphs
        added = sum(t.added for t in p.targets)
        removed = sum(t.removed for t in p.targets)
        ends = f"{p.action} " if p.subject.startswith("bel_") else ""
        what = f"{ends}{subject(p.subject)} {g.arrow} {p.consumer}"
        size = f"{some(len(p.targets), 'file')} {g.dot} +{added} -{removed}"
        state = "" if p.state.value == "previewed" else f" {g.dot} {p.state.value}"
        left = f"{short(p.operation_id, 8)} {g.dot} {what}"
        self.title(left, size + state, f"+{added} -{removed}")

    def show_receipts(
        self, receipts: Sequence[Receipt], state: str, failed: Sequence[FailedSink] = ()
    ) -> None:
        """What was written in the preview's place; what failed beside it comes first."""
        self.drop()
        self.receipts = receipts
        self.title(", ".join(short(r.receipt_id) for r in receipts), state)
        self.detail.show(write.receipts(receipts, failed, {}, self.glyphs))
        self._compare(receipts, failed)

    @work(exclusive=True, group="promotion-receipts")
    async def _compare(self, receipts: Sequence[Receipt], failed: Sequence[FailedSink]) -> None:
        """Say beside each written file how it stands now."""
        client = self.client
        found = await self.ask(lambda: client.stands(receipts)) if client else None
        if found and self.receipts is receipts:
            self.detail.show(write.receipts(receipts, failed, found, self.glyphs), keep_place=True)

    def drop(self) -> None:
        """Leave the preview; its operation stays stored and can be found under writes."""
        self._armed = self._painted = self._late = False
        self.read = self.stale = None
        self.receipts = ()
        self._seen, self._base, self._under, self.unfinished = set(), (), (), ()
        self._reads = False
        self.draw_view()
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
        found = await self.ask(lambda: client.check(operation))
        if found is None or self.read is not shown or self._busy:
            return
        state, moved = found.state, found.moved
        if found.unfinished != self.unfinished:
            self.unfinished = found.unfinished
            self.disarm()
            self.draw_bar()
        if state is not shown.preview.state:
            self.open_operation(operation)
            if state.value == "applied":
                self.bar.say(f"{short(operation, 8)} was written by another desk meanwhile", "warn")
            return
        if moved == (self.stale.moved if self.stale else ()):
            return
        base = self._base or shown.targets
        now = await self.ask(lambda: client.standing(replace(shown, targets=tuple(base))))
        if now is not None and self.read is shown and not self._busy:
            await self._bring(shown, now if now.moved else None)

    def tick(self) -> None:
        """Each second: files are watched by the clock as well, and stale must be seen at once."""
        if self.read is not None:
            self.check()

    def draw_bar(self) -> None:
        """Say where the write stands."""
        raise NotImplementedError

    # how diffs are shown

    @property
    def beside(self) -> bool:
        """True where list and detail stand side by side."""
        return self.app.size.width >= _WIDE and not self.effective_view().split

    def effective_view(self) -> View:
        """The view as far as there is room for it."""
        fits = self.app.size.width >= SPLIT_FROM
        return self.view if fits else replace(self.view, split=False)

    def draw_view(self) -> None:
        """Two sides take the whole width, and a preview the whole height where there is little.

        Set on the widgets themselves: a class of the pane would have the styles of everything in
        it worked out anew, which costs more than a frame.
        """
        split = self.read is not None and self.effective_view().split
        wide = self.app.size.width >= _WIDE
        self.query_one("#left").display = not split and (wide or not self._reads)
        self.query_one("#right").set_class(split, "split-view")
        self.aside.display = wide and self.stale is not None

    def on_resize(self) -> None:
        """Between one side and two, or with the list beside or above, the text is another.

        In another height it is the same, and what is armed stays armed.
        """
        width, self._laid_at = self._laid_at, self.app.size.width
        if width == self._laid_at:
            return
        self.draw_view()
        if self.read is not None:
            self._view_as(self.view)

    @work(exclusive=True, group="promotion-view")
    async def _view_as(self, view: View) -> None:
        self.view = view
        if self.read is not None and not self._busy:
            await self._bring(self.read, self.stale, keep_place=True)

    def action_split(self) -> None:
        """One side or two."""
        if self.read is None or self._busy:
            return
        if self.app.size.width < SPLIT_FROM and not self.view.split:
            has = self.app.size.width
            self.bar.say(f"split needs {SPLIT_FROM} columns, there are {has}", "warn")
            return
        self.detail.focus()
        self._view_as(replace(self.view, split=not self.view.split))

    def action_whitespace(self) -> None:
        """Mark every space, or only those that could mislead."""
        self._change(replace(self.view, spaces=not self.view.spaces))

    def action_less_context(self) -> None:
        """Fewer unchanged lines around a change."""
        self._change(self.view.other_context(-1))

    def action_more_context(self) -> None:
        """More unchanged lines around a change."""
        self._change(self.view.other_context(1))

    def _change(self, view: View) -> None:
        if self.read is not None and not self._busy:
            self._view_as(view)
