"""The evidence pane: sessions and events, what was said as it was said, and what depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.binding import BindingType

from core.wording import some
from tui import keys
from tui.messages import Hints, OpenCandidate, OpenWrites
from tui.panes.evidence_sessions import HitRow
from tui.panes.evidence_talk import TalkPane
from tui.panes.evidence_text import Focus
from tui.widgets.rows import PagedList

if TYPE_CHECKING:
    from core.evidence.search import Hit
    from schemas.evidence import Dependent, Event
    from schemas.storage import Spot
    from tui.looking import Found

_WORDS = "words to look for in this session"
_STATEMENT = "the statement to propose; the event's own words cite exactly themselves"
_KIND = "its kind: fact, preference, rule, decision, goal, procedure, project, person"
_STATEMENT_CHARS = 400


class EvidencePane(TalkPane):
    """Looking, and the ways in and out."""

    number = 7
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.bindings("evidence", of_lists=True),
        *keys.bindings("evidence"),
    ]

    def __init__(self) -> None:
        super().__init__(id="pane-7")
        self.wanted = ""
        """Words that `n` and `N` look for in the session."""

    # the store

    def opened(self) -> None:
        """The store is open."""
        self.reload()

    def shown(self) -> None:
        """The pane came to the front."""
        if self.client is not None:
            self.store_changed()

    def store_changed(self) -> None:
        """Follow the store; an import may be going on."""
        if self.talking:
            self.follow_session()
        else:
            self.reload()

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: show it."""
        event.stop()
        if not self.talking:
            self.show_row()
        self.post_message(Hints())

    # ways in

    def action_open(self) -> None:
        """Open what the cursor is on."""
        row = self.row
        if self.in_detail:
            self.action_switch() if not self.reading_whole else self.leave_whole()
        elif self.talking:
            if not self.toggle():
                self.read_whole()
        elif isinstance(row, HitRow):
            self._open_hit(row.hit, self.searched)
        elif row is not None:
            self.read_session(row.name, self._places.get(row.name))

    @work(exclusive=True, group="evidence-hit")
    async def _open_hit(self, hit: Hit, words: str) -> None:
        client = self.client
        event = await self.ask(lambda: client.event(hit.event.id)) if client else None
        if event is not None:
            self.wanted = words
            self._go(event, hit.spot, hit.start, hit.end)
            self.bar.say(f"“{words}” at L{event.line:,}; n and N look on")

    def _go(self, event: Event, spot: Spot, start: int = 0, end: int = 0) -> None:
        focus = Focus(event, start, end) if end > start else None
        self.read_session(event.session, spot, focus=focus)

    def show_found(self, found: Found) -> None:
        """Read an event where it was said, its span marked."""
        span = found.span
        self._go(found.event, found.spot, *((span.start, span.end) if span else ()))

    def bookmark(self) -> object:
        """The session and event that are read."""
        item = self.item
        return (self.session.row.name, item.first.spot) if self.session and item else None

    def return_to(self, mark: Any) -> None:
        """Read there again."""
        if mark is not None:
            self.read_session(*mark)
        elif self.talking:
            self.close_session()

    # ways out

    async def action_leave(self) -> None:
        """One step back."""
        if self.reading_whole:
            self.leave_whole()
        elif self.in_detail:
            self.action_switch()
        elif self.talking:
            self.close_session()
        elif self.searched:
            if not self.stop_search():
                self.forget_search()
        elif self.words:
            await self.filtered("", close=True)

    def action_whole(self) -> None:
        """Read the event to its last byte."""
        if self.talking:
            self.read_whole()

    def action_depends(self) -> None:
        """List what depends on the event; enter there goes to it."""
        from tui.panes.choosing import Choosing

        if not self.talking or self.found is None:
            return
        if not self.found.items:
            self.bar.say("nothing depends on this event")
            return
        choice = Choosing(self.found, self._now(), self.glyphs)
        self.app.push_screen(choice, self._chosen)

    def _chosen(self, chosen: Dependent | None) -> None:
        if chosen is None:
            return
        if chosen.kind == "candidate":
            self.post_message(OpenCandidate(chosen.id))
        else:
            self.post_message(OpenWrites(chosen.id))

    def action_copy_id(self) -> None:
        """Copy the locator."""
        row, item = self.row, self.item
        if item is not None:
            self.desk_app.copy(item.first.event.id)
        elif isinstance(row, HitRow):
            self.desk_app.copy(row.hit.event.id)
        elif row is not None:
            self.desk_app.copy(f"session:{row.name}")

    def action_copy_text(self) -> None:
        """Copy the words, as far as they are listed."""
        if (item := self.item) is not None:
            self.desk_app.copy(item.first.event.text)

    # looking for words in the session

    async def action_filter(self) -> None:
        """Words that narrow the list, or that are looked for in the session."""
        if not self.talking:
            if not self.searched:
                await super().action_filter()
            return

        async def done(words: str | None) -> None:
            await self.answered()
            if words:
                self.wanted = words
                self._next(back=False)

        await self.ask_for("words", _WORDS, done)

    def action_next(self) -> None:
        """The next event that holds the words."""
        self._look_on(back=False)

    def action_previous(self) -> None:
        """The previous event that holds the words."""
        self._look_on(back=True)

    def _look_on(self, *, back: bool) -> None:
        if self.talking and self.wanted:
            self._next(back=back)
        elif self.talking:
            self.bar.say("/ looks for words here first", "muted")

    @work(exclusive=True, group="evidence-next")
    async def _next(self, *, back: bool) -> None:
        client, session, item = self.client, self.session, self.item
        if client is None or session is None or item is None:
            return
        words, passed = self.wanted, 0
        steps = client.search_in(session.names, words, item.first.spot, back=back)
        while (step := await self.ask(lambda: next(steps, None))) is not None:
            if self.session is None or self.session.row.name != session.row.name:
                return
            if step.hits:
                self._open_hit(step.hits[0], words)
                return
            passed += step.passed
            self.bar.say(f"looking for “{words}”, {some(passed, 'event')} passed", "muted")
        side, other = ("above", "n") if back else ("below", "N")
        self.bar.say(f"no more “{words}” {side}; {other} looks the other way")

    # a candidate from here

    async def action_propose(self) -> None:
        """Ask for a statement and its kind; the source is this event."""
        item = self.item
        if item is None:
            return
        event, focus = item.first.event, self.focused
        inside = focus is not None and focus.event.id == event.id
        quote = (
            focus.event.text.encode()[focus.start : focus.end].decode() if inside and focus else ""
        )
        text = " ".join((quote or event.text).split())[:_STATEMENT_CHARS]

        async def stated(words: str | None) -> None:
            await self.answered()
            if words:
                await self._ask_kind(event, words)

        await self.ask_for("statement", _STATEMENT, stated, value=text)

    async def _ask_kind(self, event: Event, words: str) -> None:
        async def chosen(kind: str | None) -> None:
            from tui.looking import kind_of

            if kind is None:
                await self.answered()
                return
            named = kind_of(kind)
            if named is None:
                self.bar.say(f"no kind begins with “{kind}”", "warn", passing=True)
                return
            await self.answered()
            self._propose(event.id, words, named)

        await self.ask_for("kind", _KIND, chosen)

    @work(group="evidence-propose")
    async def _propose(self, event: str, words: str, kind: str) -> None:
        client = self.client
        made = await self.ask(lambda: client.propose(words, kind, event)) if client else None
        if made is not None:
            text = f"{self.glyphs.pending} {made.id[:11]}@{made.version} {made.state.value}"
            self.bar.say(f"{text}: d lists it, 1 decides on it", "good")
            self._show_event()

    # keys valid now

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        if self.reading_whole or self.in_detail:
            return [("j/k", "scroll"), ("g/G", "ends"), ("esc", "back"), ("?", "help")]
        if not self.talking:
            row = self.row
            first = [("enter", "read")] if row is not None else []
            if self.searched:
                esc = "stop" if self.searching else "sessions"
                return [*first, ("esc", esc), ("F", "search again"), ("?", "help")]
            more = [("/", "filter"), ("F", "search all"), ("S", "sort"), (":", "go to")]
            return [*first, *more, ("?", "help"), ("q", "quit")]
        item = self.item
        fold = (
            "unfold"
            if item and item.shape.value not in ("said", "boundary", "unparsed")
            else "read"
        )
        ways = [("enter", fold), ("v", "whole")]
        ways += [("d", "depends")] if self.found is not None and self.found.items else []
        event = item.first.event if item else None
        quotable = event is not None and event.text.strip() and not event.revoked
        ways += [("m", "candidate")] if quotable else []
        more = [("/", "find"), *([("n/N", "hits")] if self.wanted else []), (")", "owner")]
        return [*ways, *more, ("tab", "detail"), ("esc", "back"), ("?", "help")]
