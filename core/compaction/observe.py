"""Observed compaction: what was in the window, what the summary kept, what is lost (spec 7.7).

Computed from imported events each time it is asked for; nothing of it is stored. An event is read
once, in file order, a page at a time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

from core.compaction import cuts, hosts
from core.compaction.cuts import Cut
from core.compaction.window import Window
from core.evidence.lookup import session_named
from core.ports import Desk
from schemas.common import Page
from schemas.compaction import Boundary, LossRow, Mark, Observation
from schemas.evidence import Author, Event, EventKind
from schemas.storage import Walked

_PAGE = 256
_TRIES = 8
"""Records after a cut that are asked for the size of their request."""
_CONTINUED = "This session is being continued from a previous conversation"
Raw = Callable[[str], "bytes | None"]


def observe(desk: Desk, session: str) -> Observation:
    """What host compactions did to a session, named in full or by a prefix of its id.

    Raises NotFound `id.not-found`, `id.ambiguous`.
    """
    with desk.store.read() as view:
        name = session_named(view, session)
        marks = view.compaction.marks(name)
        first = view.evidence.walk(name, after=(-1, -1), limit=1)
        file = view.evidence.file_by_id(first[0].event.file) if first else None
    found = of_events(name, _events(desk, name), _raw(desk), marks)
    return found.model_copy(update={"host": file.format if file is not None else ""})


def _events(desk: Desk, session: str) -> Iterator[Walked]:
    """A session page by page, each in a read of its own: nothing is held open between them."""
    after = (-1, -1)
    while True:
        with desk.store.read() as view:
            page = view.evidence.walk(session, after=after, limit=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].place


def _raw(desk: Desk) -> Raw:
    def raw(id_: str) -> bytes | None:
        with desk.store.read() as view:
            return view.evidence.raw(id_)

    return raw


def of_events(
    session: str, events: Iterator[Walked], raw: Raw, marks: list[Mark] | tuple[Mark, ...] = ()
) -> Observation:
    """The same over events from anywhere; touches nothing."""
    watcher = _Watcher(raw)
    count = 0
    for walked in events:
        count += 1
        watcher.feed(walked)
    watcher.close()
    done = [cuts.boundary(cut, session, marks) for cut in watcher.cuts]
    return Observation(session=session, events=count, boundaries=tuple(done))


class _Watcher:
    """Reads a session once; each cut is settled when its summary came, or can't come any more."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._window = Window()
        self._open: Cut | None = None
        """A cut whose summary may still come."""
        self._after: Cut | None = None
        """The last cut, while no request after it was counted."""
        self._tries = 0
        self._since: Cut | None = None
        self._counted: str | None = None
        """The last event that states how large a request was."""
        self._header = 0
        self._segment: dict[str, list[Event]] = {}
        self._recent: deque[Event] = deque(maxlen=400)
        self.cuts: list[Cut] = []

    def feed(self, walked: Walked) -> None:
        """The next event."""
        event = walked.event
        if event.kind is EventKind.COMPACT_BOUNDARY:
            self._boundary(event)
        elif _is_summary(event):
            self._summary(event, walked.size)
        else:
            if self._open is not None and _goes_on(self._open, event):
                self._settle()
            self._count(event)
            self._watch(event)
            added = self._window.feed(walked)
            if self._since is not None and added:
                self._since.said_again({s.name for s in added})
            if event.author is Author.OWNER:
                self._recent.append(event)

    def close(self) -> None:
        """The session ends."""
        if self._open is not None:
            self._settle()

    def _boundary(self, event: Event) -> None:
        if self._open is not None:
            self._settle()
        stated = hosts.boundary(event, self._raw(event.id))
        cut = self._cut(event, stated)
        if stated.kind == "micro":
            cut.cleared = self._window.clear_results(stated.cleared)
            return
        cut.kept_messages = self._kept(stated)
        self._open = cut
        if stated.history is not None:
            cut.kept_messages += [words for role, words in stated.history if role == "user"]

    def _cut(self, event: Event, stated: hosts.Stated) -> Cut:
        """A new cut, with the figures of the last request before it."""
        usage = hosts.usage(self._raw(self._counted)) if self._counted else hosts.Usage()
        cut = Cut(event, stated, self._window.held(), stated.before or usage.used)
        cut.window, cut.header = usage.window, self._header
        self.cuts.append(cut)
        return cut

    def _kept(self, stated: hosts.Stated) -> list[str]:
        """Messages before the cut that the host says stay in the window as they are."""
        out, inside = [], False
        for event in self._recent:
            inside = inside or bool(stated.segment and event.native_id == stated.segment[0])
            if inside or event.native_id in stated.kept:
                out.append(event.text)
            if stated.segment and event.native_id == stated.segment[1]:
                inside = False
        return out

    def _summary(self, event: Event, size: int) -> None:
        if self._open is None:
            self._open = self._cut(event, hosts.Stated(kind="implied"))
            self._open.elsewhere = not self._open.held.sizes.total()
        self._open.summary, self._open.summary_size = event, size
        self._settle()

    def _settle(self) -> None:
        cut = self._open
        self._open = None
        if cut is None:
            return
        cut.settle()
        self._window.cut(cut.still_there(), cut.sizes_after())
        self._after = self._since = cut
        self._tries = _TRIES

    def _count(self, event: Event) -> None:
        """Remember which record states a request's size; read the first one after a cut."""
        if "session" in event.notes and event.kind is EventKind.SYSTEM and not self._header:
            self._header = hosts.usage(self._raw(event.id)).parts.get("stable prompt", 0)
        tells = "event:token_count" in event.notes or (
            event.author is Author.AGENT and event.part == 0 and event.kind in _ANSWERS
        )
        if not tells:
            return
        self._counted = event.id
        if self._after is not None and self._tries:
            self._tries -= 1
            usage = hosts.usage(self._raw(event.id))
            if usage.used is not None and usage.used != self._after.before:
                self._after.after = usage.used
                self._after.window = self._after.window or usage.window
                self._after = None

    def _watch(self, event: Event) -> None:
        if self._since is not None and event.kind is EventKind.TOOL_CALL:
            self._since.look(event)


_ANSWERS = (EventKind.MESSAGE, EventKind.TOOL_CALL, EventKind.REASONING)


def _is_summary(event: Event) -> bool:
    """True for a compaction's summary; titles of sessions and recaps are none."""
    if event.kind is EventKind.SUMMARY:
        titled = event.native_id is None or any(n.startswith("subtype:") for n in event.notes)
        return bool(event.text.strip()) and not titled
    old = event.kind is EventKind.MESSAGE and event.author is Author.SYSTEM
    return old and event.text.startswith(_CONTINUED)


def _goes_on(cut: Cut, event: Event) -> bool:
    """True when the conversation went on, so that no summary of the last cut comes any more."""
    return cut.stated.inline or (
        event.author in (Author.OWNER, Author.AGENT) and event.kind in _ANSWERS
    )


# across sessions


def sessions(desk: Desk, page: Page) -> tuple[list[tuple[str, int]], str | None]:
    """Sessions that were compacted, by name, each with a stamp that moves when it grows."""
    with desk.store.read() as view:
        found = view.compaction.cut_sessions(page.after or "", page.limit + 1)
    more = len(found) > page.limit
    found = found[: page.limit]
    return found, found[-1][0] if more else None


def rows(observation: Observation) -> list[LossRow]:
    """An observation's compactions as the list by loss shows them."""
    return [row(observation, b) for b in observation.boundaries]


def row(observation: Observation, b: Boundary) -> LossRow:
    """One compaction as the list shows it."""
    return LossRow(
        session=observation.session,
        at=b.at,
        line=b.line,
        time=b.time,
        kind=b.kind,
        trigger=b.trigger,
        summary=b.summary,
        before=b.before,
        after=b.after,
        lost=b.lost,
        counts=b.counts,
        copy_of=b.copy_of,
    )


def by_loss(row: LossRow) -> tuple[int, int, int, str, int]:
    """Order of the list: most rules lost first, then tasks, then the newest."""
    lost = row.lost if row.copy_of is None else {}
    return (
        -lost.get("standing", 0),
        -lost.get("task", 0),
        -(row.time or 0),
        row.session,
        row.line,
    )


def report(found: list[LossRow]) -> dict[str, int]:
    """Totals over some compactions; a copy in a forked session counts once, where it was first."""
    own = [r for r in found if r.copy_of is None]
    total: Counter[str] = Counter(compactions=len(own), copies=len(found) - len(own))
    for r in own:
        total["with_loss"] += bool(r.lost)
        total["unreadable"] += r.summary in ("sealed", "absent", "kept")
        total["lost_standing"] += r.lost.get("standing", 0)
        total["lost_task"] += r.lost.get("task", 0)
        for state in ("verbatim", "reworded", "unknown"):
            total[state] += r.counts.get(state, 0)
    return dict(total)
