"""The compaction pane: every cut a host made, by loss; its items, and the way to put them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import BindingType

from core.wording import age
from tui import keys
from tui.messages import Hints
from tui.panes import compaction_text as write
from tui.panes.candidate_text import mask
from tui.panes.putting_back import Entry, PuttingBackPane
from tui.widgets.lines import Cells, Row, fit, justified, width_of
from tui.widgets.rows import PAGE, Group, Numbered, PagedList

if TYPE_CHECKING:
    from schemas.compaction import Boundary, Observation

_EMPTY = " No compaction yet: memdesk evidence import PATH reads sessions that a host compacted."


class CompactionPane(PuttingBackPane):
    """Cuts as headers, their items below; the detail shows either."""

    number = 4
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("compaction")]

    def __init__(self) -> None:
        super().__init__(id="pane-4")
        self.tab = 0
        self._open: set[str] = set()
        """Cuts that are unfolded."""
        self._shown: object = None

    def make_list(self) -> PagedList:
        """Cuts and their items."""
        return PagedList(
            self._draw,
            self._fetch,
            self._draw_group,
            lambda: self.glyphs.cursor,
            id="compactions",
        )

    # loading

    def opened(self) -> None:
        """The store is open."""
        self.reload()

    def store_changed(self) -> None:
        """Follow the store."""
        self.reload()

    def shown(self) -> None:
        """The pane came to the front."""
        if self.client is not None:
            self.reload()

    async def load_list(self) -> None:
        """Observe what changed, and lay it out by loss."""
        client, words = self.client, self.words
        if client is None:
            return
        found = await self.ask(client.observed)
        if found is None or words != self.words or not self.query("#summary"):
            return  # another list is wanted, or the frame is being taken down
        at = self.next_at or self.identity(self.entry)
        self.next_at = None
        entries, groups = self._layout(found)
        self.entries = entries
        text = f" Nothing here has “{words}”. esc clears it." if words else _EMPTY
        self.list.empty = [(text, "muted")]
        pages = {n: entries[n * PAGE : (n + 1) * PAGE] for n in range(-(-len(entries) // PAGE))}
        self.list.load([p[0].place for p in pages.values()], len(entries), pages, groups)
        same = next((e for e in entries if at and self.identity(e) == at), None)
        if same is not None and same.number != self.list.index:
            self.list.go_to(same.number)
        if not entries and not groups:
            self._say_nothing()
        self._summary()

    def _fetch(self, page: int, _start: int) -> None:
        rows, generation = self.entries[page * PAGE : (page + 1) * PAGE], self.list.generation
        self.call_later(lambda: self.list.put_page(page, rows, generation))

    def _layout(self, found: Sequence[Observation]) -> tuple[list[Entry], list[Group]]:
        """Items numbered through, under a header each cut; what has none of the words is left out."""
        cuts = [(o, b) for o in found for b in o.boundaries]
        cuts.sort(key=lambda c: _order(*c))
        self.cuts = {b.at: (o, b) for o, b in cuts}
        words = self.words.lower()
        entries: list[Entry] = []
        groups: list[Group] = []
        for o, b in cuts:
            own = words in f"{o.session} {b.trigger} {write.outcome(b)}".lower()
            items = [i for i in b.items if own or words in i.quote.lower()]
            if not own and not items:
                continue
            first = len(entries)
            entries += [Entry(first + n, o, b, i) for n, i in enumerate(items)]
            losses = 0 if b.copy_of else sum(b.lost.values())
            fold = b.at not in self._open
            groups.append(Group(b.at, o.session, len(items), open=losses, folded=fold))
        return entries, groups

    def _summary(self) -> None:
        cuts = [b for _o, b in self.cuts.values()]
        lost = sum(bool(b.lost) and b.copy_of is None for b in cuts)
        unknown = sum(not b.lost and bool(b.counts.get("unknown")) for b in cuts)
        dot = f" {self.glyphs.dot} "
        parts: list[tuple[str, str]] = [
            (f" lost something {lost:,}", "bad" if lost else "text"),
            (f"{dot}can't be told {unknown:,}", "text"),
            (f"{dot}fine {len(cuts) - lost - unknown:,}{dot}all {len(cuts):,}", "text"),
        ]
        right = f"filter “{self.words}” " if self.words else f"by loss{dot}/ filter "
        self.query_one("#summary", Row).show(parts, [(right, "muted")], [])

    # drawing

    def _draw_group(self, group: Group, width: int) -> Cells:
        o, b = self.cuts[str(group.key)]
        g = self.glyphs
        lost = bool(b.lost) and not b.copy_of
        mark, role = (g.rejected, "bad") if lost else (g.accepted, "good")
        if not lost and b.counts.get("unknown"):
            mark, role = "?", "warn"
        fold = g.folded if group.folded else g.unfolded
        now = self.client.now() if self.client else 0
        copy = " (copy)" if b.copy_of else ""
        end = f"{write.outcome(b)}{copy} {age(b.time, now):>3} "
        left = [(f"{fold} ", "muted"), (f"{mark} ", role), (write.title(o, b, g), "text")]
        return justified(left, [(end, role if lost else "muted")], width)

    def _draw(self, row: Numbered, width: int) -> Cells:
        entry = cast("Entry", row)
        i, g = entry.item, self.glyphs
        state = i.state.value
        left: list[tuple[str, str]] = [
            (f"  {write.sign(state, g)} ", write.ROLES[state]),
            ("! " if i.since else "  ", "warn"),
            (f"{write.SHORT[i.class_.value]:<5}L{i.line:<6}", "muted"),
        ]
        role = "muted" if state in ("not-a-loss", "verbatim") else "owner"
        end = [(f"{state} ", write.ROLES[state])]
        words = " ".join(mask(i.quote[:600]).split())
        room = max(0, width - width_of(left) - width_of(end) - 1)
        return justified([*left, *fit([(words, role)], room)], end, width)

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: show it."""
        event.stop()
        self.load_detail()
        self.post_message(Hints())

    # the detail

    def _tabs(self, entry: Entry | None) -> list[str]:
        return ["Item", "Window", "Summary"] if entry is not None else ["Window", "Summary"]

    @work(exclusive=True, group="compaction-detail")
    async def load_detail(self) -> None:
        """Write what is under the cursor, in the view in front."""
        client, entry, cut = self.client, self.entry, self.cut
        if client is None or cut is None:
            return
        o, b = cut
        tabs = self._tabs(entry)
        self.tab = min(self.tab, len(tabs) - 1)
        name, now, g = tabs[self.tab], client.now(), self.glyphs
        key = (b.at, entry.item.locator if entry else "", name)
        if name == "Item" and entry is not None:
            i = entry.item
            place = await self.ask(lambda: client.place(i.locator))
            if place is None:
                return
            narrow = self.app.size.width < 100
            lines = write.item(i, place, now, g, narrow=narrow)
        elif name == "Window":
            lines = write.window(o, b, now, g)
        else:
            at = b.summary_at
            text = await self.ask(lambda: client.text(at.locator)) if at is not None else None
            lines = write.summary(text or "There is no summary that can be read.", g)
        if not self.query("#detail-title") or self.cut != cut or self.entry != entry:
            return
        marks = " ".join(f"[{t}]" if t == name else t for t in tabs)
        left = f"{g.rule * 2} {o.session[:8]}#L{b.line} {g.dot} {marks} "
        end = [(f" {write.outcome(b)} {g.rule * 2}", "rule")]
        self.query_one("#detail-title", Row).show([(left, "rule")], end, [], fill=g.rule)
        self.detail.show(lines, keep_place=key == self._shown)
        self._shown = key

    def _say_nothing(self) -> None:
        self.query_one("#detail-title", Row).show([], fill=self.glyphs.rule)
        self.detail.show([])

    # moving

    def action_why(self) -> None:
        """Unfold a cut and go to its first item; on an item, the view of where it was."""
        group = self.list.group
        if group is not None:
            self._fold(group, folded=not group.folded)
        elif self.entry is not None:
            self.action_switch()

    def _fold(self, group: Group, *, folded: bool) -> None:
        (self._open.discard if folded else self._open.add)(str(group.key))
        self.list.fold(group.key, folded=folded)
        if not folded and group.count:
            self.list.move_to(self.list.cursor + 1)

    async def action_back(self) -> None:
        """From the detail to the list, from an item to its cut, out of the filter."""
        if self.in_detail:
            self.action_switch()
        elif self.entry is not None:
            self.list.next_group(-1)
            if (group := self.list.group) is not None:
                self._fold(group, folded=True)
        elif self.words:
            await self.filtered("", close=True)

    def action_group_next(self) -> None:
        """Next compaction."""
        self.list.next_group(1)

    def action_group_back(self) -> None:
        """Previous compaction."""
        self.list.next_group(-1)

    def action_tab_next(self) -> None:
        """Next view of the detail."""
        self._turn(1)

    def action_tab_back(self) -> None:
        """Previous view of the detail."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        self.tab = (self.tab + step) % len(self._tabs(self.entry))
        self.load_detail()

    def action_states(self) -> None:
        """There is one order here: by loss."""
        self.bar.say("compactions are listed by loss; / filters them")

    def bookmark(self) -> object:
        """The item under the cursor, and the cuts that are unfolded."""
        return self.identity(self.entry), frozenset(self._open)

    def return_to(self, mark: tuple[tuple[str, str] | None, frozenset[str]]) -> None:
        """Show that item again."""
        self.next_at, opened = mark
        self._open |= opened
        self.reload()

    def on_resize(self) -> None:
        """Another width, another layout."""
        self.load_detail()

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        group, entry = self.list.group, self.entry
        if group is not None:
            fold = "unfold" if group.folded else "fold"
            return [("enter", fold), (")", "next"), ("]", "tab"), ("/", "filter"), ("?", "help")]
        if entry is None:
            return [("/", "filter"), ("1", "candidates"), ("?", "help"), ("q", "quit")]
        acts = [
            ("Y", "copy to put back"),
            ("m", "make candidate"),
            ("A", "accept+preview"),
            ("r", "not a loss"),
        ]
        if entry.item.class_.value == "evidence":
            acts = [("y", "copy locator")]
        undo = [("u", "take back")] if entry.item.mark is not None else []
        more = [
            ("o", "source"),
            ("s", "standing/one-off"),
            ("w", "why"),
            ("J/K", "scroll"),
            ("]", "tab"),
            ("x", "export"),
            ("esc", "fold"),
        ]
        return [*acts, *undo, *more, ("?", "help")]


def _order(o: Observation, b: Boundary) -> tuple[int, int, int, str, int]:
    from core.compaction.observe import by_loss, row

    return by_loss(row(o, b))
