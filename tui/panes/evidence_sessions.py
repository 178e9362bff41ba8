"""The lists of the evidence pane: sessions newest first, and the hits of a search as they come."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from textual import work

from core.wording import age
from tui.messages import Hints
from tui.panes import evidence_detail as write
from tui.panes.evidence_text import amount, mask
from tui.panes.listing import ListingPane
from tui.widgets.lines import Cells, Row, fit, justified, width_of
from tui.widgets.rows import PAGE, Numbered, PagedList
from tui.widgets.text import short

if TYPE_CHECKING:
    from textual.worker import Worker

    from core.evidence.search import Hit
    from schemas.evidence import SessionRow
    from schemas.storage import SessionFilter, Spot

MOST_HITS = 1_000
_ORDERS = {"newest": "newest first", "events": "most events first", "bytes": "largest first"}
_PAINT_S = 0.15
_FOUND = "words to look for in all evidence, newest first"


@dataclass(frozen=True, slots=True)
class HitRow:
    """A hit as a row; the order they came in is their place."""

    number: int
    hit: Hit

    @property
    def place(self) -> int:
        """Its number."""
        return self.number


class SessionsPane(ListingPane):
    """One list that shows sessions, or what a search found."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.order = "newest"
        self.hits: list[HitRow] = []
        self.searched = ""
        """Words of the search whose hits are listed; empty while sessions are."""
        self._seen: set[str] = set()
        self._passed = self._all = 0
        self._search: Worker[None] | None = None
        self._total = 0

    def make_list(self) -> PagedList:
        """Sessions or hits."""
        return PagedList(
            self._draw, self._fetch, lambda _g, _w: (), lambda: self.glyphs.cursor, id="sessions"
        )

    @property
    def row(self) -> SessionRow | HitRow | None:
        """The row under the cursor."""
        return cast("SessionRow | HitRow | None", self.list.row)

    # sessions

    def _filter(self) -> SessionFilter:
        from schemas.storage import SessionFilter

        return SessionFilter(self.words or None, self.order)

    async def load_list(self) -> None:
        """Sessions as they are now wanted; hits come by themselves."""
        client, wanted = self.client, self._filter()
        if client is None or self.searched:
            return
        near = cast("list[Spot]", self.list.near())
        found = await self.ask(lambda: client.sessions(wanted, near))
        if found is None or self.searched or wanted != self._filter():
            return
        self.list.empty = self._nothing()
        self._total = found.total
        self.list.load(found.anchors, found.total, found.pages)
        self.summary()

    def _nothing(self) -> Cells:
        text = " No evidence yet: memdesk evidence import PATH, or memdesk init finds it."
        if self.words:
            text = " No session has these words in name, project or path. esc clears them."
        return [(text, "muted")]

    def _fetch(self, page: int, start: Spot) -> None:
        if not self.searched:
            self._page_of(page, start, self.list.generation)

    @work(group="evidence-pages")
    async def _page_of(self, page: int, start: Spot, generation: int) -> None:
        client, wanted = self.client, self._filter()
        rows = await self.ask(lambda: client.sessions_from(wanted, start)) if client else None
        if rows is not None:
            self.list.put_page(page, rows, generation)

    def summary(self) -> None:
        """What is listed, in what order; how far a search is."""
        row, dot = self.query_one("#summary", Row), f" {self.glyphs.dot} "
        if self.searched:
            many = f"{len(self.hits):,} hit{'s' if len(self.hits) != 1 else ''}"
            left: Cells = [(" search ", "muted"), (f"“{self.searched}” ", "accent"), (many, "text")]
            row.show(left, *([(f"{end} ", "muted")] for end in self._progress()))
            return
        left = [(" sessions ", "accent"), (f"{self._total:,}", "text")]
        order = _ORDERS[self.order]
        right = f"filter “{self.words}”" if self.words else f"{order}{dot}/ filter{dot}F search"
        row.show(left, [(f"{right} ", "muted")], [(f"{order} ", "muted")])

    def _progress(self) -> tuple[str, ...]:
        done = f"{self._passed:,} of {self._all:,} events"
        if self.searching:
            return (f"{done} passed, esc stops", done)
        if len(self.hits) >= MOST_HITS:
            return ("stopped at so many hits; more words find fewer",)
        ended = self._passed >= self._all
        return (f"{'all' if ended else 'stopped after'} {done}, esc goes back", done)

    def action_order(self) -> None:
        """Sort by something else."""
        if self.searched:
            return
        names = list(_ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self.list.forget()
        self.bar.say(f"sessions, {_ORDERS[self.order]}")
        self.reload()

    # search

    @property
    def searching(self) -> bool:
        """True while a search goes on."""
        return self._search is not None and not self._search.is_finished

    async def action_search(self) -> None:
        """Ask for words and look for them in all evidence."""

        async def done(words: str | None) -> None:
            await self.answered()
            if words:
                self.look_for(words)

        await self.ask_for("words", _FOUND, done)

    def look_for(self, words: str) -> None:
        """Begin a search; hits are listed as they come."""
        self.stop_search()
        self.searched, self.hits = words, []
        self._seen.clear()
        self._passed = 0
        self.list.forget()
        self.list.empty = [(" looking …", "muted")]
        self._show_hits()
        self._search = self._look(words)

    def stop_search(self) -> bool:
        """Stop a search that goes on; False when none does."""
        if not self.searching or self._search is None:
            return False
        self._search.cancel()
        self._search = None
        self.summary()
        return True

    def forget_search(self) -> None:
        """Back to the list of sessions."""
        self.stop_search()
        self.searched, self.hits = "", []
        self.list.forget()
        self.reload()

    @work(exclusive=True, group="evidence-search")
    async def _look(self, words: str) -> None:
        client = self.client
        if client is None:
            return
        self._all = await self.ask(client.events_in_all) or 0
        steps, painted = client.search(words), 0.0
        while len(self.hits) < MOST_HITS:
            step = await self.ask(lambda: next(steps, None))
            if step is None:
                break
            self._passed += step.passed
            fresh = [h for h in step.hits if h.event.id not in self._seen]
            self._seen.update(h.event.id for h in fresh)
            first = len(self.hits)
            self.hits += [HitRow(first + n, h) for n, h in enumerate(fresh)]
            now = time.monotonic()
            if (fresh and not first) or now - painted > _PAINT_S:
                painted = now
                self._show_hits()
            await asyncio.sleep(0)
        self._search = None
        self.list.empty = [(f" Nothing holds “{words}”. esc goes back.", "muted")]
        self._show_hits()
        self.post_message(Hints())

    def _show_hits(self) -> None:
        hits = self.hits
        pages = {n: hits[n * PAGE : (n + 1) * PAGE] for n in range(-(-len(hits) // PAGE))}
        if len(hits) != self.list.total or not hits:
            self.list.load([p[0].place for p in pages.values()], len(hits), pages)
        self.summary()

    # drawing

    def _draw(self, item: Numbered, width: int) -> Cells:
        now = self.client.now() if self.client else 0
        if isinstance(item, HitRow):
            return self._draw_hit(item.hit, width, now)
        row = cast("SessionRow", item)
        mark = "!" if row.unparsed or row.partial else " "
        left: list[tuple[str, str]] = [(f"{mark} ", "warn"), (f"{row.host:<11.11} ", "muted")]
        if width >= 90:
            left.append((f"{PurePath(row.project or '-').name:<14.14} ", "muted"))
        left.append((f"{self._short_name(row.name):<8.8} ", "text"))
        cuts = f"{self.glyphs.superseded}{row.boundaries} " if row.boundaries else ""
        size = f"{amount(row.bytes):>7} " if width >= 90 else ""
        end = f"{cuts}{row.events:>7,} {size}{age(row.last, now):>4} "
        room = width - width_of(left) - len(end) - 1
        left += fit([(" ".join(mask(row.title).split()), "owner")], max(0, room))
        return justified(left, [(end, "muted")], width)

    def _short_name(self, name: str) -> str:
        """The beginning of a session's name; of a sub-agent's the end."""
        _, slash, agent = name.partition("/")
        return f"{self.glyphs.arrow}{agent.removeprefix('agent-')}" if slash else name

    def _draw_hit(self, hit: Hit, width: int, now: int) -> Cells:
        e, (before, words, after) = hit.event, hit.excerpt
        left: list[tuple[str, str]] = [
            (f"{self._short_name(e.session):<8.8} {e.author.value:<8} ", "muted")
        ]
        end = f"L{e.line} {age(e.time, now):>4} "
        room = max(0, width - width_of(left) - len(end) - 1)
        start = " ".join(mask(before).split())[-max(0, room // 3) :]
        text = [
            (f"{start} " if start else "", "muted"),
            (" ".join(words.split()), "mark"),
            (f" {' '.join(mask(after).split())}", "muted"),
        ]
        return justified([*left, *fit(text, room)], [(end, "muted")], width)

    def show_row(self) -> None:
        """The detail of the row under the cursor."""
        row, rule = self.row, self.glyphs.rule
        title = self.query_one("#detail-title", Row)
        if row is None:
            title.show([], fill=rule)
            self.detail.show([])
        elif isinstance(row, HitRow):
            place = f" {row.number + 1:,} of {len(self.hits):,} {rule * 2}"
            title.show(
                [(f"{rule * 2} {short(row.hit.event.id)} ", "rule")], [(place, "rule")], fill=rule
            )
            self.detail.show(write.hit(row.hit, self._now(), self.glyphs))
        else:
            place = f" {(self.list.index or 0) + 1:,} of {self.list.total:,} {rule * 2}"
            name = f"{rule * 2} session {row.name[:40]} "
            title.show([(name, "rule")], [(place, "rule")], [], fill=rule)
            self._show_session(row)

    def _now(self) -> int:
        return self.client.now() if self.client else 0

    @work(exclusive=True, group="evidence-detail")
    async def _show_session(self, row: SessionRow) -> None:
        client = self.client
        children = await self.ask(lambda: client.children(row.name)) if client else None
        if self.row == row:
            self.detail.show(write.session(row, children or (), self._now(), self.glyphs))
