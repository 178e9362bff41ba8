"""What the evidence pane asks of core; part of the client, so it pays for the store as well."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.candidates import propose, rules
from core.evidence import conversation, dependents, lookup, search
from core.evidence.search import Step
from core.identity import Span
from core.ports import Desk
from schemas.candidates import CandidateKind, CandidateVersion
from schemas.errors import NotFound
from schemas.evidence import Dependents, Event, SessionRow
from schemas.storage import SessionFilter, Spot, Turn
from tui.widgets.rows import PAGE

_AROUND = 8
"""Lines of a rule file that are shown on either side of the one named."""
TURNS = 64
"""Events of one stretch of a conversation."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of sessions: every PAGE-th place, its length, the pages that are on screen."""

    anchors: Sequence[Spot]
    total: int
    pages: Mapping[int, Sequence[SessionRow]]


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that is read: its row, the names that are read with it, and from where on."""

    row: SessionRow
    names: tuple[str, ...]
    turns: Sequence[Turn]
    begins: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What a locator names: an event with its place and whole text, and the span it asked for."""

    event: Event
    spot: Spot
    span: Span | None


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a locator of a rule file names: a line of it, with the lines around from `first` on."""

    path: str
    line: int
    first: int
    lines: Sequence[str]


class Looking:
    """Calls of the evidence pane; `desk` is the client's."""

    desk: Desk

    def sessions(self, wanted: SessionFilter, near: Sequence[Spot]) -> Listed:
        """The list's shape, its first page and the pages around the places in `near`."""
        with self.desk.store.read() as view:
            anchors, total = view.evidence.session_anchors(wanted, PAGE)
            places = {0, *(max(0, bisect_right(anchors, n) - 1) for n in near)}
            pages = {
                p: view.evidence.sessions(wanted, anchors[p], PAGE)
                for p in sorted(places)
                if p < len(anchors)
            }
        return Listed(anchors, total, pages)

    def sessions_from(self, wanted: SessionFilter, start: Spot) -> list[SessionRow]:
        """One page from a place on."""
        with self.desk.store.read() as view:
            return view.evidence.sessions(wanted, start, PAGE)

    def events_in_all(self) -> int:
        """How many events there are."""
        with self.desk.store.read() as view:
            return view.evidence.counts()["events"]

    def session(self, name: str) -> SessionRow | None:
        """One session as it is now."""
        with self.desk.store.read() as view:
            return view.evidence.session(name)

    def children(self, name: str) -> list[str]:
        """Sessions of its sub-agents."""
        with self.desk.store.read() as view:
            return view.evidence.children(name, conversation.MAX_CHILDREN)

    def open_session(self, name: str, spot: Spot | None, *, end: bool = False) -> Opened | None:
        """A session from its beginning, from its end, or around an event."""
        with self.desk.store.read() as view:
            row = view.evidence.session(name)
            if row is None:
                return None
            names = (name, *view.evidence.children(name, conversation.MAX_CHILDREN))
            back: list[Turn] = []
            ahead: list[Turn] = []
            if spot is not None or end:
                at = None if spot is None else (spot[0], spot[1])
                back = view.evidence.turns(names, at, TURNS, back=True)
            if not end:
                at = None if spot is None else (spot[0], spot[1] - 1)
                ahead = view.evidence.turns(names, at, TURNS)
        begins = (spot is None and not end) or len(back) < TURNS
        return Opened(row, names, [*reversed(back), *ahead], begins, end or len(ahead) < TURNS)

    def turns(self, names: Sequence[str], spot: Spot, *, back: bool) -> list[Turn]:
        """The next events past a place, or those before it, in their order."""
        with self.desk.store.read() as view:
            found = view.evidence.turns(names, spot, TURNS, back=back)
        return found[::-1] if back else found

    def locate(self, locator: str) -> Found | RuleText:
        """What a locator names, in evidence or else in a rule file. Raises NotFound."""
        try:
            with self.desk.store.read() as view:
                event, parsed = lookup.place(view, locator)
                spot = view.evidence.spot(event.id)
        except NotFound:
            if (rule := rules.place(self.desk, locator)) is None:
                raise
            text = rule.text.split("\n")
            first = max(1, rule.line - _AROUND)
            return RuleText(rule.path, rule.line, first, text[first - 1 : rule.line + _AROUND])
        if parsed is not None:
            parsed.cut(event.text.encode())
        return Found(event, spot or (0, 0), parsed)

    def source_of(self, candidate: str, version: int) -> str:
        """Locator of a version's first source; empty when it names none."""
        with self.desk.store.read() as view:
            found = view.candidates.version(candidate, version)
        return found.sources[0].locator if found and found.sources else ""

    def event(self, id_: str) -> Event | None:
        """One event with its whole text."""
        with self.desk.store.read() as view:
            return view.evidence.event(id_)

    def path_of(self, file: str) -> str:
        """Where a source file was met."""
        with self.desk.store.read() as view:
            found = view.evidence.file_by_id(file)
        return found.path if found else ""

    def dependents(self, event: str) -> Dependents:
        """Everything that depends on an event."""
        return dependents.of(self.desk, event)

    def search(self, words: str) -> Iterator[Step]:
        """Hits everywhere, step by step, newest session first."""
        return search.everywhere(self.desk, words)

    def search_in(
        self, names: Sequence[str], words: str, spot: Spot | None, *, back: bool
    ) -> Iterator[Step]:
        """Hits in a session past a place, or before it, step by step."""
        return search.within(self.desk, names, words, spot, back=back)

    def propose(self, statement: str, kind: str, event: str) -> CandidateVersion:
        """A pending candidate whose source is an event: its very words where they stand in it."""
        with self.desk.store.read() as view:
            found = view.evidence.event(event)
        data, words = (found.text if found else "").encode(), statement.encode()
        at = data.find(words)
        source = event if at < 0 else f"{event}#b{at}-{at + len(words)}"
        return propose.propose(
            self.desk, text=statement, kind=CandidateKind(kind), key=None, sources=[source]
        )


_SHORT = {"fact": "project-fact", "pref": "preference", "rule": "operating-rule"}


def kind_of(text: str) -> str | None:
    """The kind that a person means by the beginning of its name; nothing typed is a fact."""
    word = text.strip().lower() or "fact"
    if word in _SHORT:
        return _SHORT[word]
    found = [k.value for k in CandidateKind if k.value.startswith(word)]
    return found[0] if len(found) == 1 or word in found else None
