"""The candidates pane: what waits for a decision, where it was said, and what a key does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import BindingType
from textual.containers import Vertical

from core.wording import age
from tui import keys
from tui.messages import Hints, OpenEvidence
from tui.panes import candidate_hints as hinting
from tui.panes.asking import AskingPane
from tui.theme import STATE_ROLE
from tui.widgets.lines import Cells, Row, fit, justified, width_of
from tui.widgets.rows import Group, Numbered, PagedList
from tui.widgets.text import day, kind, name_of, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from schemas.candidates import CandidateRow, CandidateVersion
    from schemas.storage import CandidateFilter, Place
    from tui.client import Counts, Section

_NEEDED, _IN_RULES = (0, 5), (5, 6)
"""Lanes of the queue, and of what a rule file says already (`core.candidates.lanes`)."""
_RULES = "in rules"
_VIEWS: tuple[tuple[str, tuple[str, ...], tuple[int, int] | None], ...] = (
    ("needs you", ("pending",), _NEEDED),
    ("deferred", ("deferred",), None),
    ("accepted", ("accepted",), None),
    ("rejected", ("rejected",), None),
    ("promoted", ("promoted",), None),
    (_RULES, ("pending",), _IN_RULES),
    ("all", (), None),
)
_REMARKS = {
    "one-off requests": "r rejects the group",
    "restated by agents": "no owner words behind them",
}
_ORDERS = ("group", "session", "kind", "author")
_LAST = 3
_Spot = tuple[int, "Place"]
"""A row's number, and where it stands."""
_Mark = tuple[int, str, "_Spot | None"]
"""A view, its words, and the row under the cursor."""
_PLACE = 28


class CandidatesPane(AskingPane):
    """Triage: one version after the other."""

    number = 1
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("candidates")]

    def __init__(self) -> None:
        super().__init__(id="pane-1")
        self.view = 0
        self._here: tuple[object, ...] = ()
        """The row, or the header, that was under the cursor last."""
        self.undoable = False
        """True when `u` would take something back."""
        self._goal: _Spot | None = None
        """The row that is to be under the cursor once it is here."""
        self._before: _Mark | None = None
        """The list that a jump took the place of; esc brings it back."""
        self._counts: Counts | None = None

    def make_list(self) -> PagedList:
        """The list of candidates."""
        return PagedList(
            self._draw, self._fetch, self._draw_group, lambda: self.glyphs.cursor, id="candidates"
        )

    def below_list(self) -> Iterable[Widget]:
        """The last decisions, where there is room."""
        with Vertical(id="last"):
            for _ in range(_LAST + 1):
                row = Row()
                row.add_class("last")
                yield row

    # loading

    def opened(self) -> None:
        """The store is open."""
        self.reload()

    def store_changed(self) -> None:
        """Follow the store without losing the place."""
        self.reload()

    def shown(self) -> None:
        """The pane came to the front: others may have decided meanwhile."""
        if self.client is not None:
            self.reload()

    def left(self) -> None:
        """Another pane comes: what was decided leaves the list."""
        super().left()
        self.kept.clear()

    def narrowed(self) -> None:
        """Another filter: what was decided leaves the list, and no jump is left."""
        self.kept.clear()
        self._before = None

    @property
    def states(self) -> tuple[str, ...]:
        """States of the view; none means all."""
        return _VIEWS[self.view][1]

    @property
    def queue(self) -> bool:
        """True for the view of what needs a decision."""
        return self.view == 0

    def _filter(self) -> CandidateFilter:
        from schemas.storage import CandidateFilter

        keep = tuple(sorted(self.kept | self.due))
        lanes = _VIEWS[self.view][2]
        words = self.words or None
        return CandidateFilter(self.states, words, keep=keep, order=self.order, lanes=lanes)

    async def load_list(self) -> None:
        """The whole list's shape; rows that others decided stay, with their new sign."""
        client, view = self.client, self._view()
        if client is None:
            return
        near = [*self.list.near(), *([self._goal[1]] if self._goal else [])]
        rows = cast("list[CandidateRow]", self.list.known(near))
        moved = await self.ask(lambda: client.moved(rows)) if rows else ()
        counts = await self.ask(client.counts)
        if counts is None or view != self._view():
            return
        self.due = frozenset(counts.due) if self.queue else frozenset()
        if self.states:
            self.kept |= {r.number for r in moved or () if not self.undecided(r)}
        wanted, still = self._filter(), self._of(None)
        result = await self.ask(lambda: client.result(wanted, near, still))
        last = await self.ask(client.last)
        if result is None or view != self._view():
            return
        self._counts = counts
        self.list.empty = self._nothing()
        groups = self._groups(result.groups)
        self.list.load(result.anchors, result.total, result.pages, groups)
        if self._goal is not None:
            self.list.go_to(self._goal[0])
            self._goal = None
        self._summary()
        self._show_last(last or [])
        self.post_message(Hints())

    def _view(self) -> tuple[object, ...]:
        return self.view, self.words, self.order

    def _groups(self, sections: Sequence[Section]) -> list[Group]:
        """Headers of the queue, or of any list in another order than its own."""
        if not self.queue and self.order == "group":
            return []
        return [
            Group(
                s.key,
                self._heading(s),
                s.count,
                open=s.open,
                # What a jump led to must be on screen.
                folded=self.folds.get((self.order, s.key), s.folded) and self._before is None,
                remark=_REMARKS.get(s.name, "") if s.open else "",
            )
            for s in sections
        ]

    def _heading(self, section: Section) -> str:
        if self.order == "kind":
            return kind(section.name)
        return f"session {section.name}" if self.order == "session" else section.name

    def _fetch(self, page: int, start: Place) -> None:
        self._page_of(page, start, self.list.generation)

    @work(group="candidates-pages")
    async def _page_of(self, page: int, start: Place, generation: int) -> None:
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.window(wanted, start)) if client else None
        if rows is not None:
            self.list.put_page(page, rows, generation)

    def _nothing(self) -> Cells:
        if self.words:
            return [
                (f" Nothing in “{_VIEWS[self.view][0]}” has these words. esc clears them.", "muted")
            ]
        counts = self._counts
        if counts is None or not sum(counts.candidates.values()):
            text = (
                " No candidates yet: memdesk evidence import PATH, then memdesk candidates extract."
            )
            return [(text, "muted")]
        if _VIEWS[self.view][0] == _RULES:
            text = " No pending candidate says what a rule file says already. f shows other states."
            return [(text, "muted")]
        deferred = counts.candidates.get("deferred", 0) - len(counts.due)
        returns = f", the next returns {day(counts.next_due)}" if counts.next_due else ""
        text = f" Nothing needs you here. {deferred:,} deferred{returns}; f shows other states."
        return [(text, "muted")]

    def _summary(self) -> None:
        counts = self._counts
        if counts is None:
            return
        dot, view = f" {self.glyphs.dot} ", _VIEWS[self.view][0]
        shown = {"needs you": counts.waiting}
        shown["deferred"] = counts.candidates.get("deferred", 0) - len(counts.due)
        shown |= {s: counts.candidates.get(s, 0) for s in ("accepted", "rejected")}
        if counts.ruled or view == _RULES:
            shown[_RULES] = counts.ruled
        if view in ("all", "promoted"):
            shown[view] = self.list.total
        parts: list[tuple[str, str]] = [(" ", "text")]
        for i, (label, count) in enumerate(shown.items()):
            role = "accent" if view == label else "text"
            parts += [(dot if i else "", "muted"), (f"{label} {count:,}", role)]
        # Which clock the ages go by is said wherever they stand: a detail says when it was said.
        ages, by = "ages since proposed", f"by {self.order}"
        ends = [f"{ages}{dot}{by}{dot}/ filter", f"{ages}{dot}/ filter", ages, ""]
        if self.words:
            ends = [f"filter “{self.words}” {self.list.total:,}"]
        self.query_one("#summary", Row).show(parts, *([(f"{e} ", "muted")] for e in ends))

    def _show_last(self, last: Sequence[Sequence[CandidateVersion]]) -> None:
        """The last decisions under the list, and whether `u` undoes the first."""
        title, *rows = self.query(Row).filter(".last").results(Row)
        g, client = self.glyphs, self.client
        self.set_class(bool(last), "-decided")
        me, now = (client.reviewer, client.now()) if client else ("", 0)
        mine = [made for made in last if _by(made[0]) == me][:1]
        # Undo takes back one's own last decision, and only that: a promoted one it refuses.
        self.undoable = bool(mine) and all(v.state.value != "promoted" for v in mine[0])
        first = self.undoable and last[0] is mine[0]
        undoes = f" {g.dot} u undoes the first" if first else ""
        title.show([(f"{g.rule * 2} last decisions{undoes} ", "rule")] if last else [], fill=g.rule)
        for row, made in zip(rows, [*last[:_LAST], *[()] * _LAST], strict=False):
            row.show(*self._last_row(made, now) if made else ([], []))

    def _last_row(self, made: Sequence[CandidateVersion], now: int) -> tuple[Cells, Cells]:
        v, g = made[0], self.glyphs
        decision = v.decision
        if decision is None:
            return [], []
        name = f"{short(v.id)}@{v.version}" if len(made) == 1 else f"{len(made):,} at once"
        until = f"until {day(decision.until)}  " if decision.until else ""
        words = decision.reason or (v.statement[:600] if len(made) == 1 else "")
        state = v.state.value
        left = [
            (f" {g.state(state)} ", STATE_ROLE[state]),
            (f"{name:<14} ", "text"),
            (until + " ".join(words.split()), "muted"),
        ]
        who = name_of(decision.actor.reviewer)[:16]
        return left, [(f"{who} {age(decision.time, now):>4} ", "muted")]

    # drawing

    def _draw_group(self, group: Group, width: int) -> Cells:
        sign = self.glyphs.folded if group.folded else self.glyphs.unfolded
        role = "accent" if group.open else "muted"
        count = f"{group.open:,}" if group.open else f"{self.glyphs.dot} all decided"
        left = [(f"{sign} ", "muted"), (f"{group.title} {count}", role)]
        # The remark tells what a key on the header does; with marks the keys decide on those.
        remark = "" if self.marks and group.remark.startswith("r ") else group.remark
        return justified(left, [(f"{remark} ", "muted")], width)

    def _draw(self, item: Numbered, width: int) -> Cells:
        row = cast("CandidateRow", item)
        g = self.glyphs
        mark = _attention(row)
        role = "bad" if mark == "#" else "warn"
        faded = not self.undecided(row)
        words = "muted" if faded else "owner" if row.author == "owner" else "text"
        now = self.client.now() if self.client else 0
        sign = g.mark if row.number in self.marks else g.state(row.state.value)
        left: list[tuple[str, str]] = [
            (f"{sign} ", "accent" if row.number in self.marks else STATE_ROLE[row.state.value]),
            (f"{mark} ", "muted" if faded else role),
            (f"{kind(row.kind.value):<10}", "muted"),
        ]
        said = row.rule if len(row.rule) <= _PLACE else f"…{row.rule[1 - _PLACE :]}"
        end = f"{said or row.author} {age(row.created, now):>4} "
        room = width - width_of(left) - len(end) - 1
        left += fit([(" ".join(row.statement[:600].split()), words)], max(0, room))
        return justified(left, [(end, "muted")], width)

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: show it."""
        event.stop()
        self.disarm_unless(self.current)
        here = (event.row.number if event.row else None, self.list.group and self.list.group.key)
        if here != self._here:
            self._here = here
            self.bar.moved_on()
        if event.row is None:
            self.found = None
            self.show_group(self.list.group)
        else:
            self.load_detail()
        self.post_message(Hints())

    # coming from elsewhere

    def show_candidate(self, id_: str) -> None:
        """List this candidate alone, whatever its state; esc brings back what was listed."""
        before = self._before or self._mark()
        self._list_as(len(_VIEWS) - 1, id_, None)
        self._before = before

    def bookmark(self) -> object:
        """The list that is shown, the row in it, and the list a jump took the place of."""
        return self._mark(), self._before

    def return_to(self, mark: tuple[_Mark, _Mark | None]) -> None:
        """Show that list again."""
        here, before = mark
        self._list_as(*here)
        self._before = before

    def _mark(self) -> _Mark:
        row = self.current
        return self.view, self.words, (row.number, row.place) if row else None

    def _list_as(self, view: int, words: str, goal: _Spot | None) -> None:
        self.view, self.words, self._goal = view, words, goal
        self._before = None
        self.kept.clear()
        self.disarm()
        self.list.forget()
        self.show_words()
        self.reload()

    async def action_clear(self) -> None:
        """One step back: from the detail, to the list before a jump, out of the filter."""
        if self._before is not None and not self.in_detail:
            self._list_as(*self._before)
        else:
            await super().action_clear()

    @work(exclusive=True, group="candidate-source")
    async def action_source(self) -> None:
        """Read the source where it was said."""
        client, row = self.client, self.current
        if client is None or row is None:
            return
        cited = await self.ask(lambda: client.source_of(row.id, row.version))
        if cited:
            self.post_message(OpenEvidence(cited, known=True))
        elif cited is not None:
            self.bar.say("this candidate names no source", "warn")

    # looking

    def action_states(self) -> None:
        """Show another state; what rule files say only while there is any."""
        if self._before is not None:
            self._list_as(*self._before)
        self.view = (self.view + 1) % len(_VIEWS)
        if _VIEWS[self.view][0] == _RULES and not (self._counts and self._counts.ruled):
            self.view = (self.view + 1) % len(_VIEWS)
        self.kept.clear()
        self.list.move_to(0)
        self.disarm()
        self.reload()

    def action_order(self) -> None:
        """Group by something else."""
        self.order = _ORDERS[(_ORDERS.index(self.order) + 1) % len(_ORDERS)]
        self.kept.clear()
        self.disarm()
        self.list.forget()
        self.bar.say(f"grouped by {self.order}" if self.order != "group" else "grouped by need")
        self.reload()

    def action_why(self) -> None:
        """Meaning and remedy of what is marked."""
        if self.toggle_fold():
            return
        if codes := self.codes():
            self.explain(codes)
        else:
            self.action_switch()

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        row, group, words = self.current, self.list.group, bool(self.words)
        if self.marks:
            return hinting.on_marks(len(self.marks), row=row is not None)
        if group is not None:
            return hinting.on_group(group, len(self.list.groups))
        if row is None:
            return hinting.on_nothing(words=words)
        due, groups = row.number in self.due, bool(self.list.groups)
        keys = hinting.on_row(row, due=due, undo=self.undoable, groups=groups, words=words)
        return keys if self._before is None else [("esc", "to the list"), *keys]


def _by(version: CandidateVersion) -> str:
    """Who decided a version."""
    return version.decision.actor.reviewer if version.decision else ""


def _attention(row: CandidateRow) -> str:
    """The one sign of the attention column: what blocks first, then what to look at."""
    if row.attention == "blocked":
        return "#"
    if row.conflict or row.attention == "look":
        return "!"
    return "=" if row.duplicate else "~" if row.near else " "
