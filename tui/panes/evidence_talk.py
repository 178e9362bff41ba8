"""Reading a session: paged both ways, folded and unfolded, followed while it grows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on, work

from core.evidence.conversation import Item, Key, Shape, items
from core.wording import age, some
from tui.messages import Hints
from tui.panes import evidence_detail as write
from tui.panes.evidence_sessions import SessionsPane
from tui.panes.evidence_text import Focus, Style, stretch
from tui.widgets.conversation import Conversation, Stretch
from tui.widgets.document import Layout, lay
from tui.widgets.lines import Row
from tui.widgets.text import short

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from textual.widget import Widget

    from schemas.evidence import Dependents, Event
    from schemas.storage import Spot, Turn
    from tui.looking import Opened
    from tui.theme import Glyphs

_FOLDS = (Shape.TOOL, Shape.REASONING, Shape.SUMMARY, Shape.QUIET, Shape.SUBAGENT)
_HEAD = 60_000
"""Characters of a text that are shown before the rest of it is laid out."""


class TalkPane(SessionsPane):
    """The conversation stands where the list stood; the detail says what the event is."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.session: Opened | None = None
        self.found: Dependents | None = None
        """What depends on the event under the cursor."""
        self.focused: Focus | None = None
        self._open: frozenset[Key] = frozenset()
        self._loading_more: set[bool] = set()
        self._whole: str | None = None
        self._places: dict[str, Spot] = {}

    def below_list(self) -> Iterable[Widget]:
        """The conversation takes the list's place when a session is read."""
        yield Conversation(id="conversation")

    @property
    def talk(self) -> Conversation:
        """The conversation."""
        return self.query_one(Conversation)

    @property
    def talking(self) -> bool:
        """True while a session is read."""
        return self.session is not None

    @property
    def front(self) -> Widget:
        """The conversation while one is read, else the list."""
        return self.talk if self.talking else self.list

    @property
    def item(self) -> Item | None:
        """What the cursor is on in a conversation."""
        block = self.talk.current if self.talking else None
        return block.what if block is not None else None

    def focus_list(self) -> None:
        """Keys move in what is in front."""
        self.front.focus()

    # moving

    def action_down(self) -> None:
        """Next row or event."""
        self.talk.step(1) if self._moves_talk else super().action_down()

    def action_up(self) -> None:
        """Previous row or event."""
        self.talk.step(-1) if self._moves_talk else super().action_up()

    def action_top(self) -> None:
        """The first row, or the session's first event."""
        self._edge(end=False) if self._moves_talk else super().action_top()

    def action_bottom(self) -> None:
        """The last row, or the session's last event."""
        self._edge(end=True) if self._moves_talk else super().action_bottom()

    def _page(self, direction: int) -> None:
        self.talk.page(direction) if self._moves_talk else super()._page(direction)

    @property
    def _moves_talk(self) -> bool:
        return self.talking and not self.in_detail

    def _edge(self, *, end: bool) -> None:
        if self.session and (self.talk.ends if end else self.talk.begins):
            self.talk.edge(1 if end else -1)
        elif self.session:
            self.read_session(self.session.row.name, end=end)

    def action_switch(self) -> None:
        """Between what is in front and the detail, which a narrow screen shows alone."""
        inside = not self.in_detail
        if self.talking:
            self.set_class(inside, "reading")
        self.screen.set_focus(self.detail if inside else self.front)
        self.post_message(Hints())

    def action_said_next(self) -> None:
        """Next words of the owner."""
        self._said(1)

    def action_said_back(self) -> None:
        """Previous words of the owner."""
        self._said(-1)

    def _said(self, step: int) -> None:
        here = self.item
        if here is None:
            return
        blocks = [b for s in self.talk.stretches for b in s.blocks][::step]
        at = next((i for i, b in enumerate(blocks) if b.key == here.key), 0)
        said = (b for b in blocks[at + 1 :] if b.what.first.event.author.value == "owner")
        if (found := next(said, None)) is not None:
            self.talk.go_to(found.key)
        elif not (self.talk.ends if step > 0 else self.talk.begins):
            # None in what is here: go to its end, and more of it comes.
            self.talk.edge(step)
        else:
            self.bar.say("the owner says nothing more here", "muted")

    # opening

    @work(exclusive=True, group="evidence-open")
    async def read_session(
        self, name: str, spot: Spot | None = None, *, end: bool = False, focus: Focus | None = None
    ) -> None:
        """Read a session from its beginning or end, or around an event."""
        client = self.client
        if client is None:
            return
        opened = await self.ask(lambda: client.open_session(name, spot, end=end))
        if opened is None:
            return
        if self.session is None or self.session.row.name != name:
            self._open = frozenset()
        self.focused = focus
        if spot is not None:
            self._open |= _holding(opened.turns, name, spot)
        self.session = opened
        self._whole = None
        self.add_class("talking")
        self.remove_class("reading")
        made = await asyncio.to_thread(stretch, opened.turns, self._style())
        if self.session is not opened:
            return
        key = (
            _key_of(made, spot)
            if spot
            else (made.blocks[-1 if end else 0].key if made.blocks else None)
        )
        self.talk.empty = [(" This session holds no events any more.", "muted")]
        self.talk.show(made, key, begins=opened.begins, ends=opened.ends)
        self.screen.set_focus(self.talk) if self.display and not self.asking else None
        self.summary()
        self.post_message(Hints())

    def _style(self) -> Style:
        width = self.talk.text_width if self.talk.size.width else self.list.text_width
        name = self.session.row.name if self.session else ""
        return Style(width - 2, self.glyphs, name, self._open, self.focused)

    def look_for(self, words: str) -> None:
        """Hits are listed where sessions are."""
        if self.talking:
            self.close_session()
        super().look_for(words)

    def close_session(self) -> None:
        """Back to the list it was opened from."""
        if self.session is not None and (item := self.item) is not None:
            self._places[self.session.row.name] = item.first.spot
        self.session, self.found, self._whole = None, None, None
        self.remove_class("talking", "reading")
        self.screen.set_focus(self.list)
        self.summary()
        self.show_row()
        self.reload()
        self.post_message(Hints())

    # more of it

    async def on_conversation_wants(self, event: Conversation.Wants) -> None:
        """The cursor comes near an edge: ask for what lies beyond."""
        event.stop()
        self.load_more(back=event.back)

    def load_more(self, *, back: bool) -> None:
        """Load the next events past an edge, unless that is under way."""
        if back not in self._loading_more and self.talk.stretches:
            self._loading_more.add(back)
            self._more(back)

    @work(group="evidence-more")
    async def _more(self, back: bool) -> None:
        client, session = self.client, self.session
        try:
            held = self.talk.stretches
            turns = held[0 if back else -1].source[0] if held else ()
            if client is None or session is None or not turns:
                return
            spot = turns[0 if back else -1].spot
            found = await self.ask(lambda: client.turns(session.names, spot, back=back))
            if found is None:
                return
            made = await asyncio.to_thread(stretch, found, self._style()) if found else None
            now = self.talk.stretches
            if self.session is not session or not now:
                return
            edge = now[0 if back else -1].source[0]
            if edge and edge[0 if back else -1].spot == spot:
                self.talk.extend(made, back=back, done=len(found) < _page())
                self._check_style()
        finally:
            self._loading_more.discard(back)

    def on_conversation_resized(self, event: Conversation.Resized) -> None:
        """Another width: write what is here anew."""
        event.stop()
        self._check_style()

    def _check_style(self) -> None:
        style = self._style()
        if self.talking and any(s.source[1] != style for s in self.talk.stretches):
            self._rewrite()

    @work(exclusive=True, group="evidence-rewrite")
    async def _rewrite(self) -> None:
        session = self.session
        held, style = list(self.talk.stretches), self._style()
        made = [await asyncio.to_thread(stretch, s.source[0], style) for s in held]
        if self.session is not session:
            return
        if self.talk.stretches == held:
            self.talk.rewrite(made)
        self._check_style()

    def follow_session(self) -> None:
        """The store changed: what was appended to the session's end comes along."""
        if self.talking and self.talk.ends:
            self.load_more(back=False)
            self._follow_row()

    @work(exclusive=True, group="evidence-row")
    async def _follow_row(self) -> None:
        client, session = self.client, self.session
        if client is None or session is None:
            return
        row = await self.ask(lambda: client.session(session.row.name))
        if row is not None and self.session is session and row != session.row:
            from dataclasses import replace

            self.session = replace(session, row=row)
            self.summary()

    # what an event is

    @on(Conversation.Moved)
    def _moved_in_talk(self, event: Conversation.Moved) -> None:
        event.stop()
        if self.talking and self._whole is None:
            self._show_event()
        self.summary()
        self.post_message(Hints())

    @work(exclusive=True, group="evidence-detail")
    async def _show_event(self) -> None:
        client, item = self.client, self.item
        if client is None or item is None:
            return
        e = item.first.event

        def look() -> tuple[str, Dependents]:
            return client.path_of(e.file), client.dependents(e.id)

        found = await self.ask(look)
        if found is None or self.item != item or self._whole is not None:
            return
        path, self.found = found
        self.post_message(Hints())
        self._event_title(e)
        self.detail.show(write.event(item, path, self.found, self._now(), self.glyphs))

    def _event_title(self, e: Event, right: str = "") -> None:
        rule = self.glyphs.rule
        end = [(f" {right} {rule * 2}", "rule")] if right else []
        left = [(f"{rule * 2} {short(e.id)} {self.glyphs.dot} L{e.line} ", "rule")]
        self.query_one("#detail-title", Row).show(left, end, fill=rule)

    def toggle(self) -> bool:
        """Fold or unfold what the cursor is on; False when it does not fold."""
        item = self.item
        if item is None or item.shape not in _FOLDS or (item.depth and item.run):
            return False
        self._open ^= {item.key}
        self._check_style()
        return True

    @work(exclusive=True, group="evidence-detail")
    async def read_whole(self) -> None:
        """The event's text to its last byte in the detail; its beginning at once."""
        client, item = self.client, self.item
        if client is None or item is None:
            return
        ids = [t.event.id for t in item.turns[: 1 if item.run else None]]
        self._whole = ids[0]
        self.add_class("reading")
        self.screen.set_focus(self.detail)
        self._event_title(item.first.event, "reading …")
        self.post_message(Hints())
        found = [e for i in ids if (e := await self.ask(lambda i=i: client.event(i))) is not None]  # type: ignore[misc]
        if self._whole != ids[0] or not found:
            return
        size = sum(len(e.text) for e in found)
        heads = [e.model_copy(update={"text": e.text[:_HEAD]}) for e in found]
        for shown, last in ((heads, size <= _HEAD), (found, True)):
            width, quick = self.detail.text_width, size > _HEAD
            laid = await asyncio.to_thread(_laid, shown, self.glyphs, width, quick)
            if self._whole != ids[0]:
                return
            self.detail.show_laid(laid, keep_place=shown is found)
            done = "whole" if last else f"{size:,} characters, the rest comes"
            self._event_title(item.first.event, done)
            if last:
                break

    @property
    def reading_whole(self) -> bool:
        """True while the detail holds a whole text."""
        return self._whole is not None

    def leave_whole(self) -> None:
        """Back from a whole text to the conversation."""
        self._whole = None
        self.remove_class("reading")
        self.screen.set_focus(self.front)
        self._show_event()
        self.post_message(Hints())

    def summary(self) -> None:
        """Which session is read, and where in it one is."""
        if self.session is None:
            super().summary()
            return
        row, item, dot = self.session.row, self.item, f" {self.glyphs.dot} "
        where = f"L{item.first.event.line:,}" if item else ""
        left = [(f" {row.host} ", "muted"), (row.name[:36], "accent"), (f"{dot}{where}", "text")]
        cuts = [f"compacted {row.boundaries:,} times"] if row.boundaries > 1 else []
        cuts = ["compacted once"] if row.boundaries == 1 else cuts
        ends = [some(row.events, "event"), *cuts]
        ends += [age(row.last, self._now())]
        rights = [dot.join(ends), ends[0]]
        self.query_one("#summary", Row).show(left, *([(f"{r} ", "muted")] for r in rights), [])


def _laid(events: Sequence[Event], g: Glyphs, width: int, quick: bool) -> Layout:
    return lay(write.whole(events, g, quick=quick), width)


def _page() -> int:
    from tui.looking import TURNS

    return TURNS


def _holding(turns: Sequence[Turn], session: str, spot: Spot) -> frozenset[Key]:
    """The keys to unfold so that an event is on screen: its run, and its call when it is a result."""
    wanted: set[Key] = set()
    for item in items(turns, session, ()):
        if any(t.spot == spot for t in item.turns):
            if item.run or item.first.spot != spot:
                wanted.add(item.key)
            break
    for item in items(turns, session, wanted):
        inside = item.depth and not item.run and item.first.spot != spot
        if inside and any(t.spot == spot for t in item.turns):
            wanted.add(item.key)
    return frozenset(wanted)


def _key_of(made: Stretch, spot: Spot) -> Hashable:
    """The block that shows an event; the innermost where it stands below a run."""
    found = [b for b in made.blocks if any(t.spot == spot for t in b.what.turns)]
    if found:
        return max(found, key=lambda b: b.what.depth).key
    after = next((b.key for b in made.blocks if b.what.first.spot > spot), None)
    return after or (made.blocks[-1].key if made.blocks else None)
