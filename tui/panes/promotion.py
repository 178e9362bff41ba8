"""The promotion pane: what waits to be promoted, what was written, and the receipts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import BindingType

from tui import keys
from tui.messages import Hints
from tui.panes import promotion_text as write
from tui.panes.promotion_lists import TABS, USUAL, ListsPane
from tui.panes.promotion_rows import id_of
from tui.widgets.document import Line
from tui.widgets.rows import PagedList
from tui.widgets.text import short
from tui.written import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.candidates import CandidateRow
    from schemas.operations import Receipt
    from schemas.promotion import Belief


class PromotionPane(ListsPane):
    """Four lists; the detail holds the preview, or what the row is."""

    number = 2
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("promotion")]

    def __init__(self) -> None:
        super().__init__(id="pane-2")
        self._at: tuple[object, ...] | None = None
        """List, id and place of the row that the detail belongs to."""
        self._before: tuple[int, str] | None = None
        """List and words that a jump took the place of; esc brings them back."""

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

    # the row under the cursor

    @property
    def waiting(self) -> CandidateRow | None:
        """The candidate under the cursor, in the list of what waits."""
        item = self.list.row
        return None if isinstance(item, Item) else cast("CandidateRow | None", item)

    @property
    def item(self) -> Item | None:
        """The write, receipt or statement under the cursor, in the other lists."""
        item = self.list.row
        return item if isinstance(item, Item) else None

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """The detail belongs to the row under the cursor, whatever moved it there."""
        event.stop()
        row, item = self.waiting, self.item
        at: tuple[object, ...] | None = None
        if row is not None:
            at = (self.tab, row.id)
        elif item is not None:
            at = (self.tab, id_of(item), item.place)
        before, self._at = self._at, at
        if at is None:
            if self.read is None and not self.receipts:
                self._say_empty()
        elif at != before:
            self.bar.moved_on()
            if item is not None:
                self._show(item)
            elif row is not None and row.id != self.staying:
                self._left(before)
        self.post_message(Hints())

    def _left(self, before: tuple[object, ...] | None) -> None:
        """Another candidate: what stood there for the one before goes with its row."""
        if before == (0, self.staying):
            self.staying = ""
            self.drop()
            self._invite()
        elif self.read is None and not self.receipts:
            self._invite()

    def _show(self, item: Item) -> None:
        if item.receipt is not None:
            self.show_receipts((item.receipt,), "")
        elif item.held is not None:
            self.drop()
            self.title(short(item.held.belief.id), item.held.at.state.value)
            self.detail.show(write.held(item.held, self.glyphs))
        elif item.write is not None and self.tab == 1:
            self.open_operation(item.write.operation_id)

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
        if (p := self.preview) is not None:
            return (p.candidate, p.version) if p.candidate else None
        row = self.waiting
        return (row.id, row.version) if row else None

    def action_consumer(self) -> None:
        """The next consumer for the row; a preview on screen is made anew for it."""
        client, at_hand = self.client, self._subject()
        if client is None or at_hand is None or self._busy or self.tab == 3:
            return
        candidate, version = at_hand
        every = client.consumers()
        at = self.preview.consumer if self.preview else self.consumer_of(candidate)
        chosen = every[(every.index(at) + 1) % len(every)]
        self._chosen[candidate] = chosen
        self.list.repaint()
        self.bar.say(f"{short(candidate)}@{version} goes to {chosen}", passing=True)
        if self.read is not None:
            self.open_preview(candidate, version, chosen)

    def action_preview(self) -> None:
        """Preview the row, or preview again what is on screen and stale."""
        p, row, item = self.preview, self.waiting, self.item
        if p is not None and (self.stale or self.tab):
            self.preview_again(p)
        elif row is not None:
            self.stay(row.id)
            self.open_preview(row.id, row.version, self.consumer_of(row.id))
        elif item is not None and item.held is not None:
            self._preview_elsewhere(item.held.belief)

    async def _end(self, action: str) -> None:
        """Ask why, then preview ending the statement under the cursor where it stands."""
        held = self.item.held if self.item else None
        if held is None or self._busy:
            return
        if held.at.state.value not in ("active", "drifted"):
            self.bar.say(f"it is {held.at.state.value} already", "warn")
            return
        belief, at = held.belief.id, held.at.consumer

        async def done(words: str | None) -> None:
            await self.answered()
            if words is None:
                self.bar.moved_on()
            else:
                self.end_preview(action, belief, at, words)

        await self.ask_for("why", f"why {action} it; no words are no reason", done)

    async def action_revoke(self) -> None:
        """Preview revoking the statement under the cursor."""
        await self._end("revoke")

    async def action_archive(self) -> None:
        """Preview archiving it."""
        await self._end("archive")

    async def action_remove(self) -> None:
        """Preview taking its words out of its consumer."""
        await self._end("remove")

    def action_together(self) -> None:
        """One preview for all that wait, each to its consumer."""
        if self.tab or self._busy:
            return
        if not self.list.total:
            self.bar.say("nothing is accepted and waiting", "warn")
            return
        self.staying = ""
        self.preview_all(replace(self._filter(), keep=()), self._chosen, USUAL)

    def _missing(self, belief: Belief) -> list[str]:
        """Consumers that do not hold a belief yet."""
        there = {at.consumer for at in belief.consumers}
        return [c for c in (self.client.consumers() if self.client else []) if c not in there]

    def _preview_elsewhere(self, belief: Belief) -> None:
        """Preview a statement in memory for a consumer that does not hold it yet."""
        if missing := self._missing(belief):
            self.open_preview(belief.candidate, belief.version, missing[0])
        else:
            there = ", ".join(sorted(at.consumer for at in belief.consumers))
            self.bar.say(f"every consumer holds it: {there}", "text")

    def preview_of(self, candidate: str, version: int) -> None:
        """Show the preview of a version, beside the list of what waits."""
        self.stay(candidate, bring_cursor=True)
        if self.tab:
            self._turn(-self.tab)
        else:
            self.reload()
        self.open_preview(candidate, version, self.consumer_of(candidate))

    def written(self, receipts: Sequence[Receipt]) -> None:
        """A receipt stands beside its own row, which stays until the cursor leaves it."""
        if self.tab == 0 and len(receipts) == 1 and " " not in receipts[0].subject:
            self.stay(receipts[0].subject.partition("@")[0])

    def show_write(self, id_: str) -> None:
        """List an operation, a receipt or a belief alone in its list; esc brings back what was
        listed."""
        before = self._before or (self.tab, self.words)
        self.return_to(({"op": 1, "rcpt": 2, "bel": 3}[id_.partition("_")[0]], id_))
        self._before = before

    def bookmark(self) -> object:
        """The list that is shown, and its words."""
        return self._before or (self.tab, self.words)

    def return_to(self, mark: tuple[int, str]) -> None:
        """Show that list again."""
        tab, self.words = mark
        self._before = None
        self.show_words()
        self._turn(tab - self.tab)

    def narrowed(self) -> None:
        """Other words were typed: no jump is left."""
        self._before = None

    def action_back(self) -> None:
        """Back to the list, and from there out of the filter."""
        if self._busy:
            return
        if self._before is not None:
            self.return_to(self._before)
            return
        if self.words and (self.tab or (self.read is None and not self.receipts)):
            self.words = ""
            self.show_words()
        self.staying = ""
        self.drop()
        self._at = None
        self._invite() if self.waiting else self._say_empty()
        self.bar.moved_on()
        self.focus_list()
        self.reload()
        self.post_message(Hints())

    def action_tab_next(self) -> None:
        """Next list."""
        self._turn_by(1)

    def action_tab_back(self) -> None:
        """Previous list."""
        self._turn_by(-1)

    def _turn(self, step: int) -> None:
        if self._busy:
            return
        self.tab = (self.tab + step) % len(TABS)
        self.drop()
        self._at = None
        if self.tab:
            self.staying = ""
        self.bar.moved_on()
        self.list.move_to(0)
        self.list.load((), 0, {})
        self.focus_list()
        self.reload()

    def action_states(self) -> None:
        """Show another list."""
        self._turn_by(1)

    def _turn_by(self, step: int) -> None:
        """To another list, from the one that was there before a jump."""
        if self._before is not None:
            _, self.words = self._before
            self._before = None
            self.show_words()
        self._turn(step)

    def action_copy_id(self) -> None:
        """Copy the id of what is shown."""
        if (p := self.preview) is not None:
            self.desk_app.copy(p.operation_id)
        elif (item := self.item) is not None:
            self.desk_app.copy(id_of(item))
        elif (row := self.waiting) is not None:
            self.desk_app.copy(row.id)

    def action_copy_text(self) -> None:
        """Copy the statement."""
        if (p := self.preview) is not None:
            self.desk_app.copy("\n".join(v.statement for v in p.versions) or p.subject)
        elif (row := self.waiting) is not None:
            self.desk_app.copy(row.statement)

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        out: list[tuple[str, str]] = []
        item = self.item
        if (row := self.waiting) is not None:
            many = self.client is not None and len(self.client.consumers()) > 1
            here = row.state == "promoted" and row.id not in self._chosen
            out = [("p", "receipt" if here else "preview"), *([("P", "consumer")] if many else [])]
            if self.list.total > 1:
                out.append(("B", f"one preview for all {self.list.total:,}"))
        elif item is not None and item.held is not None:
            if item.held.at.state.value in ("active", "drifted"):
                out = [("r", "revoke"), ("a", "archive"), ("x", "remove")]
            if self._missing(item.held.belief):
                out.append(("p", "preview for another consumer"))
        if self.list.row is not None:
            out += [("j/k", "move"), ("/", "filter")]
        if self.words:
            out.append(("esc", "clear filter"))
        return [*out, ("]", "next list"), ("1", "candidates"), ("?", "help"), ("q", "quit")]
