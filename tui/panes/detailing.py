"""The candidate under the cursor, in views: where it was said, what changed, what is near, history."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import work

from tui.messages import OpenPreview
from tui.panes import candidate_text as write
from tui.panes.listing import ListingPane
from tui.widgets.lines import Row
from tui.widgets.text import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.candidates import CandidateRow
    from tui.client import Detail
    from tui.widgets.document import Line
    from tui.widgets.rows import Group

_ROOM = (100, 34)
"""From this size on there is room for versions and for what a key does."""


class DetailingPane(ListingPane):
    """Shows the row under the cursor; a tab it has nothing for is not there."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.tab = "Evidence"
        self.found: Detail | None = None
        self.marks: dict[int, tuple[str, int]] = {}
        """Marked versions by the row's number."""

    @property
    def current(self) -> CandidateRow | None:
        """The row under the cursor."""
        return cast("CandidateRow | None", self.list.row)

    @property
    def decided(self) -> int:
        """Rows of the list that only stay because they were decided a moment ago."""
        return sum(g.count - g.open for g in self.list.groups)

    def allowed(self) -> frozenset[str]:
        """The keys valid now."""
        return frozenset(key for key, _ in self.hints_now())

    def show_group(self, group: Group | None) -> None:
        """What a header stands for, and what its keys do."""
        title, rule = self.query_one("#detail-title", Row), self.glyphs.rule
        if group is None:
            title.show([], fill=rule)
            self.detail.show([])
            return
        title.show(
            [(f"{rule * 2} {group.title} ", "rule")], [(f" {group.open:,} ", "rule")], fill=rule
        )
        self.detail.show(write.group(group, self.glyphs, len(self.marks)))

    @work(exclusive=True, group="candidate-detail")
    async def load_detail(self) -> None:
        """Show the row; what takes longer to find is added when it is there."""
        client, row = self.client, self.current
        if client is None or row is None:
            return
        found = await self.ask(lambda: client.detail(row.id, row.version))
        if found is None or self.current is None or self.current.id != row.id:
            return
        same = self.found is not None and self.found.version.id == found.version.id
        if same and self.found is not None:
            found = replace(found, leftovers=self.found.leftovers)
        self.found = found
        self.show_detail(keep_place=same)
        if not found.version.conflicts:
            return
        told = await self.ask(lambda: client.still_say(found.version))
        if self.found is found and told is not None and told != list(found.leftovers):
            self.found = replace(found, leftovers=told)
            self.show_detail(keep_place=True)

    def show_detail(self, *, keep_place: bool = False) -> None:
        """Write the view in front."""
        found, size = self.found, self.app.size
        if found is None or self.client is None:
            return
        views = self._views(found)
        if self.tab not in views:
            self.tab = "Evidence"
        self._title(found, list(views))
        room = size.width >= _ROOM[0] and size.height >= _ROOM[1]
        if size.width < _ROOM[0]:  # little room: the message itself must be on screen
            found = replace(found, around=write.nearest(found, 1))
        lines = views[self.tab](found)
        if room and self.tab == "Evidence":
            lines = [*lines, *write.versions(found, self.client.now(), self.glyphs)]
            lines += (
                write.keys_on_marks(len(self.marks), self.glyphs)
                if self.marks
                else write.keys_here(found.version, self.glyphs, self.allowed())
            )
        self.detail.show(lines, keep_place=keep_place)

    def _views(self, found: Detail) -> dict[str, Callable[[Detail], list[Line]]]:
        """The tabs that have something to show, in their order."""
        now, g = self.client.now() if self.client else 0, self.glyphs
        narrow = self.app.size.width < _ROOM[0]
        views: dict[str, Callable[[Detail], list[Line]]] = {
            "Evidence": lambda d: write.evidence(d, now, g, narrow=narrow)
        }
        if found.base is not None:
            views["Diff"] = lambda d: write.change(d, now, g)
        if found.version.near or found.version.duplicates:
            views["Near"] = lambda d: write.near(d, now, g)
        views["History"] = lambda d: write.history(d, now, g)
        return views

    def _title(self, found: Detail, views: list[str]) -> None:
        """Id, tabs, state and place; on a narrow row the place goes first, then the state."""
        v, g = found.version, self.glyphs
        labels = {"Near": f"Near {len(v.near) + len(v.duplicates)}"}
        names = [(t, labels.get(t, t)) for t in views]
        tabs = " ".join(f"[{label}]" if t == self.tab else label for t, label in names)
        left = f"{g.rule * 2} {short(v.id)}@{v.version} {g.dot} {tabs} "
        place = f"{(self.list.index or 0) + 1:,} of {self.list.total:,}"
        # Decided rows stay where they are: counted here, they are told apart from what needs you.
        place += f", {self.decided:,} decided" if self.decided else ""
        state = v.state.value
        rights = (f" {state} {g.dot} {place} {g.rule * 2}", f" {state} {g.rule * 2}", "")
        ends = [[(right, "rule")] for right in rights]
        self.query_one("#detail-title", Row).show([(left, "rule")], *ends, fill=g.rule)

    def on_resize(self) -> None:
        """More room shows more."""
        if self.list.group is None:
            self.show_detail(keep_place=True)

    # looking

    def action_tab_next(self) -> None:
        """Next tab of the detail."""
        self._turn(1)

    def action_tab_back(self) -> None:
        """Previous tab of the detail."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        if self.found is None or self.list.group is not None:
            return
        views = list(self._views(self.found))
        at = views.index(self.tab) if self.tab in views else 0
        self.tab = views[(at + step) % len(views)]
        self.show_detail()

    def action_preview(self) -> None:
        """Preview the promotion of an accepted version."""
        row = self.current
        if row is not None and row.state.value not in ("accepted", "promoted"):
            self.bar.say(
                f"{row.state.value}: only what is accepted is promoted; A does both", "warn"
            )
        elif row is not None:
            self.post_message(OpenPreview(row.id, row.version))

    def codes(self) -> list[str]:
        """Codes of all that is marked on the version shown."""
        found = self.found
        if found is None:
            return []
        v = found.version
        beside = (*v.conflicts, *v.duplicates, *v.near)
        codes = [h.code for h in v.hazards] + [r.code for r in beside]
        if self.current is not None and self.current.attention and not v.hazards:
            codes.append("candidate.second-source")
        return list(dict.fromkeys(codes))

    def action_copy_id(self) -> None:
        """Copy the id."""
        if row := self.current:
            self.desk_app.copy(f"{row.id}@{row.version}")

    def action_copy_text(self) -> None:
        """Copy the statement."""
        if row := self.current:
            self.desk_app.copy(row.statement)
