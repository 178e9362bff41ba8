"""The candidates pane: what waits for a decision, where it was said, and what a key does to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import BindingType

from tui import keys
from tui.messages import Hints, OpenPreview
from tui.panes import candidate_text as write
from tui.panes.bulk import BulkPane
from tui.theme import STATE_ROLE
from tui.widgets.lines import Cells, Row, fit, justified, width_of
from tui.widgets.rows import Group, Numbered, PagedList
from tui.widgets.text import age, kind, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.candidates import CandidateRow
    from schemas.storage import CandidateFilter
    from tui.client import Detail, Lane

_VIEWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("needs you", ("pending",)),
    ("deferred", ("deferred",)),
    ("accepted", ("accepted",)),
    ("rejected", ("rejected",)),
    ("promoted", ("promoted",)),
    ("all", ()),
)
_REMARKS = {
    "one-off requests": "r rejects the group",
    "restated by agents": "no owner words behind them",
}
_TABS = ("Evidence", "Diff", "History")


class CandidatesPane(BulkPane):
    """Triage: one version after the other."""

    number = 1
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("candidates")]

    def __init__(self) -> None:
        super().__init__(id="pane-1")
        self.view = 0
        self._counts: dict[str, int] = {}

    def make_list(self) -> PagedList:
        """The list of candidates."""
        return PagedList(
            self._draw, self._fetch, self._draw_group, lambda: self.glyphs.cursor, id="candidates"
        )

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
        """Another filter: what was decided leaves the list."""
        self.kept.clear()

    @property
    def states(self) -> tuple[str, ...]:
        """States of the view; none means all."""
        return _VIEWS[self.view][1]

    def _filter(self) -> CandidateFilter:
        from schemas.storage import CandidateFilter

        return CandidateFilter(self.states, self.words or None, keep=tuple(sorted(self.kept)))

    async def load_list(self) -> None:
        """The whole list's shape; rows that others decided stay, with their new sign."""
        client, view = self.client, (self.view, self.words)
        if client is None:
            return
        near = self.list.near()
        rows = cast("list[CandidateRow]", self.list.known(near))
        moved = await self.ask(lambda: client.moved(rows)) if rows else ()
        counts = await self.ask(client.counts)
        if view != (self.view, self.words):
            return
        if self.states:
            self.kept |= {r.number for r in moved or () if r.state.value not in self.states}
        wanted = self._filter()
        result = await self.ask(lambda: client.result(wanted, near))
        if counts is None or result is None or view != (self.view, self.words):
            return
        self._counts = counts.candidates
        self.list.empty = self._nothing()
        groups = self._groups(result.lanes)
        self.list.load(result.anchors, result.total, result.pages, groups)
        self._summary()

    def _groups(self, lanes: Sequence[Lane]) -> list[Group]:
        """Headers of the queue; other views are plain lists."""
        if self.states != ("pending",):
            return []
        return [
            Group(
                lane.key,
                lane.name,
                lane.count,
                folded=self.folds.get(lane.key, lane.folded),
                remark=_REMARKS.get(lane.name, ""),
            )
            for lane in lanes
        ]

    def _fetch(self, page: int, start: int) -> None:
        self._page_of(page, start, self.list.generation)

    @work(group="candidates-pages")
    async def _page_of(self, page: int, start: int, generation: int) -> None:
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.window(wanted, start)) if client else None
        if rows is not None:
            self.list.put_page(page, rows, generation)

    def _nothing(self) -> Cells:
        if self.words:
            return [
                (f" Nothing in “{_VIEWS[self.view][0]}” has these words. esc clears them.", "muted")
            ]
        if not sum(self._counts.values()):
            text = (
                " No candidates yet: memdesk evidence import PATH, then memdesk candidates extract."
            )
            return [(text, "muted")]
        deferred = self._counts.get("deferred", 0)
        return [(f" Nothing needs you here. {deferred} deferred; f shows other states.", "muted")]

    def _summary(self) -> None:
        dot = f" {self.glyphs.dot} "
        names = [("needs you", "pending"), *((s, s) for s in ("deferred", "accepted", "rejected"))]
        parts: list[tuple[str, str]] = [(" ", "text")]
        for i, (label, state) in enumerate(names):
            chosen = _VIEWS[self.view][0] in (label, state)
            text = f"{label} {self._counts.get(state, 0):,}"
            parts += [(dot if i else "", "muted"), (text, "accent" if chosen else "text")]
        if _VIEWS[self.view][0] in ("all", "promoted"):
            parts += [(dot, "muted"), (f"{_VIEWS[self.view][0]} {self.list.total:,}", "accent")]
        right = f"filter “{self.words}” {self.list.total:,}" if self.words else "/ filter"
        self.query_one("#summary", Row).show(parts, [(right + " ", "muted")])

    # drawing

    def _draw_group(self, group: Group, width: int) -> Cells:
        sign = self.glyphs.folded if group.folded else self.glyphs.unfolded
        left = [(f"{sign} ", "muted"), (f"{group.title} {group.count:,}", "accent")]
        return justified(left, [(f"{group.remark} ", "muted")], width)

    def _draw(self, item: Numbered, width: int) -> Cells:
        row = cast("CandidateRow", item)
        g = self.glyphs
        mark = "#" if row.hazards else "!" if row.conflict else "=" if row.duplicate else " "
        role = "bad" if mark == "#" else "warn"
        faded = bool(self.states) and row.state.value not in self.states
        words = "muted" if faded else "owner" if row.author == "owner" else "text"
        now = self.client.now() if self.client else 0
        sign = g.mark if row.number in self.marks else g.state(row.state.value)
        left: list[tuple[str, str]] = [
            (f"{sign} ", "accent" if row.number in self.marks else STATE_ROLE[row.state.value]),
            (f"{mark} ", role),
            (f"{kind(row.kind.value):<10}", "muted"),
        ]
        end = f"{row.author} {age(row.created, now):>4} "
        room = width - width_of(left) - len(end) - 1
        left += fit([(" ".join(row.statement[:600].split()), words)], max(0, room))
        return justified(left, [(end, "muted")], width)

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: show it."""
        event.stop()
        self.disarm_unless(self.current)
        if event.row is None:
            self.found = None
            self._show_group(self.list.group)
        else:
            self._load_detail()
        self.post_message(Hints())

    def _show_group(self, group: Group | None) -> None:
        """What a header stands for, and what its keys do."""
        title, rule = self.query_one("#detail-title", Row), self.glyphs.rule
        if group is None:
            title.show([], fill=rule)
            self.detail.show([])
            return
        title.show(
            [(f"{rule * 2} {group.title} ", "rule")], [(f" {group.count:,} ", "rule")], fill=rule
        )
        self.detail.show(write.group(group, self.glyphs))

    @work(exclusive=True, group="candidate-detail")
    async def _load_detail(self) -> None:
        client, row = self.client, self.current
        if client is None or row is None:
            return
        found = await self.ask(lambda: client.detail(row.id, row.version))
        if found is None or self.current is None or self.current.id != row.id:
            return
        same = self.found is not None and self.found.version.id == found.version.id
        self.found = found
        self._show_detail(keep_place=same)

    def _show_detail(self, *, keep_place: bool = False) -> None:
        found = self.found
        if found is None or self.client is None:
            return
        g = self.glyphs
        if self.tab == 1 and found.base is None:
            self.tab = 0
        self._title(found)
        make = (write.evidence, write.change, write.history)[self.tab]
        if self.app.size.width < 100:  # little room: the message itself must be on screen
            found = replace(found, around=write.nearest(found, 1))
        lines = make(found, self.client.now(), g)
        self.detail.show(lines, keep_place=keep_place)

    def action_preview(self) -> None:
        """Preview the promotion of an accepted version."""
        if row := self.current:
            self.post_message(OpenPreview(row.id, row.version))

    def _title(self, found: Detail) -> None:
        """Id, tabs, state and place; on a narrow row the place goes first, then the state."""
        v, g = found.version, self.glyphs
        names = [(i, t) for i, t in enumerate(_TABS) if i != 1 or found.base is not None]
        tabs = " ".join(f"[{t}]" if i == self.tab else t for i, t in names)
        left = f"{g.rule * 2} {short(v.id)}@{v.version} {g.dot} {tabs} "
        place = f"{(self.list.index or 0) + 1:,} of {self.list.total:,}"
        state = v.state.value
        rights = (f" {state} {g.dot} {place} {g.rule * 2}", f" {state} {g.rule * 2}", "")
        ends = [[(right, "rule")] for right in rights]
        self.query_one("#detail-title", Row).show([(left, "rule")], *ends, fill=g.rule)

    # looking

    def action_states(self) -> None:
        """Show another state."""
        self.view = (self.view + 1) % len(_VIEWS)
        self.kept.clear()
        self.list.move_to(0)
        self.disarm()
        self.reload()

    def action_tab_next(self) -> None:
        """Next tab of the detail."""
        self._turn(1)

    def action_tab_back(self) -> None:
        """Previous tab of the detail."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        self.tab = (self.tab + step) % len(_TABS)
        if self.tab == 1 and self.found is not None and self.found.base is None:
            self.tab = (self.tab + step) % len(_TABS)
        self._show_detail()

    def action_why(self) -> None:
        """Meaning and remedy of what is marked."""
        found = self.found
        if self.toggle_fold() or found is None:
            return
        v = found.version
        codes = [h.code for h in v.hazards] + [r.code for r in (*v.conflicts, *v.duplicates)]
        if codes:
            self.explain(list(dict.fromkeys(codes)))
        else:
            self.action_switch()

    def action_copy_id(self) -> None:
        """Copy the id."""
        if row := self.current:
            self.desk_app.copy(f"{row.id}@{row.version}")

    def action_copy_text(self) -> None:
        """Copy the statement."""
        if row := self.current:
            self.desk_app.copy(row.statement)

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        row = self.current
        if self.list.group is not None:
            fold = "unfold" if self.list.group.folded else "fold"
            decide = [("r", "reject all"), ("d", "defer all"), ("a", "accept all")]
            return [("enter", fold), *decide, (")", "next group"), ("(", "previous"), ("?", "help")]
        if row is None:
            return [
                ("f", "by state"),
                ("/", "filter"),
                ("2", "promotion"),
                ("?", "help"),
                ("q", "quit"),
            ]
        state = row.state.value
        decide = [("a", "accept"), ("A", "accept+preview"), ("r", "reject"), ("d", "defer")]
        if state == "deferred":
            decide = decide[:3]
        if state in ("accepted", "promoted"):
            decide = [("p", "preview"), ("u", "undo")]
        if state in ("rejected", "superseded", "lapsed"):
            decide = [("u", "undo")]
        more = [
            ("e", "edit"),
            ("space", "mark"),
            (")", "group"),
            ("J/K", "scroll"),
            ("]", "tab"),
            ("/", "filter"),
            ("f", "by state"),
        ]
        return [*decide, *more, ("?", "help")]
