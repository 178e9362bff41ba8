"""The candidates pane: what waits for a decision, where it was said, and what a key does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.binding import BindingType

from schemas.errors import MemdeskError
from tui import keys
from tui.messages import Changed, Hints, OpenPreview
from tui.panes import candidate_text as write
from tui.panes.listing import ListingPane
from tui.theme import STATE_ROLE, glyphs
from tui.widgets.lines import Cells, Row, fit, justified
from tui.widgets.rows import Numbered, PagedList
from tui.widgets.text import age, kind, short

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow, Verdict
    from schemas.storage import CandidateFilter
    from tui.client import Detail

_VIEWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("needs you", ("pending",)),
    ("deferred", ("deferred",)),
    ("accepted", ("accepted",)),
    ("rejected", ("rejected",)),
    ("promoted", ("promoted",)),
    ("all", ()),
)
_TABS = ("Evidence", "Diff", "History")
_DECIDED = {"accepted", "rejected", "deferred", "promoted"}


class CandidatesPane(ListingPane):
    """Triage: one version after the other."""

    number = 1
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list"), *keys.bindings("candidates")]

    def __init__(self) -> None:
        super().__init__(id="pane-1")
        self.glyphs = glyphs()
        self.view = 0
        self.tab = 0
        self._kept: set[int] = set()
        self._detail: Detail | None = None
        self._armed: tuple[str, int, Verdict, tuple[str, ...]] | None = None
        self._counts: dict[str, int] = {}

    def make_list(self) -> PagedList:
        """The list of candidates."""
        return PagedList(self._draw, self._fetch, self.glyphs.cursor, id="candidates")

    # loading

    def opened(self) -> None:
        """The store is open."""
        self._first()
        self.reload()

    def store_changed(self) -> None:
        """Follow the store without losing the place."""
        self._keep_moved()

    def _filter(self) -> CandidateFilter:
        from schemas.storage import CandidateFilter

        keep = tuple(sorted(self._kept))
        return CandidateFilter(_VIEWS[self.view][1], self.words or None, keep=keep)

    @work(exclusive=True, group="candidates-first")
    async def _first(self) -> None:
        """The first page as soon as it can be had; the length follows."""
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.first(wanted)) if client else None
        if rows and not self.list.total:
            self.list.load([rows[0].number], len(rows), rows)

    def reload(self) -> None:
        """Ask for the whole list's shape."""
        self._reload()

    @work(exclusive=True, group="candidates")
    async def _reload(self) -> None:
        client, wanted = self.client, self._filter()
        if client is None:
            return
        counts = await self.ask(client.counts)
        result = await self.ask(lambda: client.result(wanted))
        if counts is None or result is None:
            return
        self._counts = counts.candidates
        self.list.empty = self._nothing()
        self.list.load(result.anchors, result.total, result.first)
        self._summary()

    def _fetch(self, page: int, start: int) -> None:
        self._page_of(page, start)

    @work(group="candidates-pages")
    async def _page_of(self, page: int, start: int) -> None:
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.window(wanted, start)) if client else None
        if rows is not None:
            self.list.put_page(page, rows)

    @work(exclusive=True, group="candidates-follow")
    async def _keep_moved(self) -> None:
        """Rows that others decided stay where they are, with their new sign."""
        client = self.client
        if client is None:
            return
        states = _VIEWS[self.view][1]
        known = [cast("CandidateRow", r) for r in self.list.known()]
        for row in known[-256:]:
            fresh = await self.ask(lambda r=row: client.row(r.id))  # type: ignore[misc]
            if fresh is not None and fresh != row:
                if states and fresh.state.value not in states:
                    self._kept.add(fresh.number)
                self.list.update_row(fresh)
        self.reload()

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

    def _draw(self, item: Numbered, width: int) -> Cells:
        row = cast("CandidateRow", item)
        g = self.glyphs
        mark = "#" if row.hazards else "!" if row.conflict else "=" if row.duplicate else " "
        role = "bad" if mark == "#" else "warn"
        faded = row.state.value in _DECIDED and row.state.value not in _VIEWS[self.view][1]
        words = "muted" if faded else "owner" if row.author == "owner" else "text"
        now = self.client.now() if self.client else 0
        left: list[tuple[str, str]] = [
            (f"{g.state(row.state.value)} ", STATE_ROLE[row.state.value]),
            (f"{mark} ", role),
            (f"{kind(row.kind.value):<10}", "muted"),
        ]
        right: list[tuple[str, str]] = [(f"{row.author:>8} {age(row.created, now):>4} ", "muted")]
        room = width - 14 - 14
        left += fit([(" ".join(row.statement[:600].split()), words)], max(8, room), "…")
        return justified(left, right, width)

    def on_paged_list_moved(self, event: PagedList.Moved) -> None:
        """Another row: show it."""
        event.stop()
        self._disarm()
        if event.row is None:
            self.detail.show([])
            self.query_one("#detail-title", Row).show([], fill=self.glyphs.rule)
            self._detail = None
        else:
            self._load_detail()
        self.post_message(Hints())

    @work(exclusive=True, group="candidate-detail")
    async def _load_detail(self) -> None:
        client, row = self.client, cast("CandidateRow | None", self.list.row)
        if client is None or row is None:
            return
        found = await self.ask(lambda: client.detail(row.id, row.version))
        if found is not None:
            same = self._detail is not None and self._detail.version.id == found.version.id
            self._detail = found
            self._show_detail(keep_place=same)

    def _show_detail(self, *, keep_place: bool = False) -> None:
        found = self._detail
        if found is None or self.client is None:
            return
        v, g = found.version, self.glyphs
        if self.tab == 1 and found.change is None:
            self.tab = 0
        tabs = " ".join(f"[{t}]" if i == self.tab else t for i, t in enumerate(_TABS))
        left = f"{g.rule * 2} {short(v.id)}@{v.version} {g.dot} {tabs} "
        place = f"{self.list.cursor + 1:,}/{self.list.total:,}"
        right = f" {v.state.value} {g.dot} {place} {g.rule}"
        self.query_one("#detail-title", Row).show([(left, "rule")], [(right, "rule")], g.rule)
        make = (write.evidence, write.change, write.history)[self.tab]
        lines = make(found, self.client.now(), g)
        self.detail.show(lines, keep_place=keep_place)

    def on_resize(self) -> None:
        """Write the detail for the new width."""
        self._show_detail(keep_place=True)

    # deciding

    @property
    def current(self) -> CandidateRow | None:
        """The row under the cursor."""
        return cast("CandidateRow | None", self.list.row)

    def action_accept(self) -> None:
        """Accept this exact version."""
        self._decide("accept")

    def action_accept_preview(self) -> None:
        """Accept, then open the preview."""
        self._decide("accept", preview=True)

    def action_reject(self) -> None:
        """Reject this exact version."""
        self._decide("reject")

    def action_defer(self) -> None:
        """Put it off."""
        self._decide("defer")

    @work(group="candidate-decide")
    async def _decide(
        self, name: str, *, preview: bool = False, acknowledged: tuple[str, ...] = ()
    ) -> None:
        from schemas.candidates import Verdict

        client, row = self.client, self.current
        if client is None or row is None:
            return
        verdict = Verdict(name)
        if preview and row.state.value in ("accepted", "promoted"):
            self.post_message(OpenPreview(row.id, row.version))
            return
        try:
            decided = await self._in_thread(
                client.decide, row.id, row.version, verdict, "", acknowledged
            )
        except MemdeskError as err:
            if err.details.get("gate") == "acknowledge" and verdict is Verdict.ACCEPT:
                self._arm(row, verdict, (*acknowledged, err.code))
            else:
                self.refused(err)
                self.post_message(Changed())
            return
        self._kept.add(row.number)
        self.bar.say(
            f"{self.glyphs.state(decided.state.value)} {decided.state.value} "
            f"{short(decided.id)}@{decided.version} {self.glyphs.dot} u undoes",
            "good",
        )
        await self._refresh_row(row.id)
        if preview:
            self.post_message(OpenPreview(decided.id, decided.version))
        else:
            self._advance()
        self.post_message(Changed())

    async def _in_thread(self, call: Any, *args: Any) -> Any:
        import asyncio

        return await asyncio.to_thread(call, *args)

    async def _refresh_row(self, id_: str) -> None:
        client = self.client
        fresh = await self.ask(lambda: client.row(id_)) if client else None
        if fresh is not None:
            self.list.update_row(fresh)

    def _advance(self) -> None:
        """To the next undecided row, as far as its page is here."""
        y = self.list.cursor + 1
        while y < self.list.total:
            row = cast("CandidateRow | None", self.list.at(y))
            if row is None or row.state.value not in _DECIDED or not _VIEWS[self.view][1]:
                break
            y += 1
        if y < self.list.total:
            self.list.move_to(y)
        else:
            self._load_detail()

    def _arm(self, row: CandidateRow, verdict: Verdict, acknowledged: tuple[str, ...]) -> None:
        """Ask for the acknowledgement of a hazard, in the one bar."""
        self._armed = (row.id, row.version, verdict, acknowledged)
        codes = ", ".join(acknowledged)
        self.bar.hold(
            [(f" ACCEPT {short(row.id)}@{row.version} and acknowledge {codes}", "text")],
            [
                (
                    "        enter  accept, recorded with your name       any other key  leave it",
                    "text",
                )
            ],
            "armed",
        )

    def _disarm(self) -> None:
        if self._armed is not None:
            self._armed = None
            self.bar.release()

    def on_key(self, event: Any) -> None:
        """While armed, enter decides and any other key only disarms."""
        if self._armed is None:
            return
        event.stop()
        event.prevent_default()
        _id, _version, verdict, acknowledged = self._armed
        self._disarm()
        if event.key == "enter":
            self._decide(verdict.value, acknowledged=acknowledged)

    @work(group="candidate-decide")
    async def action_undo(self) -> None:
        """Undo the last decision of this reviewer."""
        client = self.client
        reopened = await self.ask(client.undo) if client else None
        if reopened is not None:
            self.bar.say(
                f"undone: {short(reopened.id)}@{reopened.version} is pending again", "good"
            )
            await self._refresh_row(reopened.id)
            self._load_detail()
            self.post_message(Changed())

    @work(group="candidate-decide")
    async def action_edit(self) -> None:
        """Edit the statement as a new version."""
        client, found = self.client, self._detail
        if client is None or found is None:
            return
        v = found.version
        try:
            with self.app.suspend():
                text = client.in_editor(v.statement)
            edited = await self._in_thread(client.edit, v.id, v.version, text)
        except MemdeskError as err:
            self.refused(err)
            return
        finally:
            self.app.refresh(layout=True)
        self.bar.say(f"{short(edited.id)}@{edited.version} is pending; you are its editor", "good")
        self.tab = 0
        await self._refresh_row(edited.id)
        self._load_detail()
        self.post_message(Changed())

    def action_preview(self) -> None:
        """Preview the promotion of an accepted version."""
        if row := self.current:
            self.post_message(OpenPreview(row.id, row.version))

    # looking

    def action_states(self) -> None:
        """Show another state."""
        self.view = (self.view + 1) % len(_VIEWS)
        self._kept.clear()
        self.list.move_to(0)
        self.reload()

    def action_tab_next(self) -> None:
        """Next tab of the detail."""
        self._turn(1)

    def action_tab_back(self) -> None:
        """Previous tab of the detail."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        self.tab = (self.tab + step) % len(_TABS)
        if self.tab == 1 and self._detail is not None and self._detail.change is None:
            self.tab = (self.tab + step) % len(_TABS)
        self._show_detail()

    def action_why(self) -> None:
        """Meaning and remedy of what is marked."""
        found = self._detail
        if found is None:
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
        more = [("e", "edit"), ("J/K", "scroll"), ("]", "tab"), ("/", "filter"), ("f", "by state")]
        return [*decide, *more, ("?", "help")]
