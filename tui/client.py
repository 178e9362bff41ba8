"""What the panes ask of core, in plain calls that run in a worker thread and answer contracts.

Imported only after the first frame: this module's imports pay for the store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import core.promotion  # noqa: F401  (registers the handlers)
from core import desk as desks
from core import status as whole
from core.candidates import dates, editor, lanes, review, rules
from core.candidates.review import CandidateRef
from core.compaction.overview import Overview
from core.config import DeskTable
from core.evidence import lookup
from core.follow import follow
from core.operations import confirm
from core.promotion import drift
from core.promotion.consumers import wiki
from core.workspace import branch
from schemas.candidates import (
    BatchReport,
    CandidateRow,
    CandidateVersion,
    Verdict,
)
from schemas.choices import OPEN_STATES
from schemas.common import Door
from schemas.evidence import Event
from schemas.promotion import ENDED
from schemas.reasons import REASONS, Reason
from schemas.status import Status
from schemas.storage import CandidateFilter, Place
from tui import collector, written
from tui.cutting import AROUND, Cutting
from tui.looking import Looking
from tui.promoting import Promoting
from tui.widgets.rows import PAGE, Group, pages_near
from tui.written import Newest


@dataclass(frozen=True, slots=True)
class Counts:
    """What the tabs and summaries count."""

    candidates: dict[str, int]
    operations: dict[str, int]
    receipts: int
    beliefs: int
    """What stands at consumers now, whoever changed it."""
    ended: int
    """What stood there and was ended."""
    due: tuple[int, ...] = ()
    """Numbers of deferred candidates whose day has come: they need a decision again."""
    next_due: int | None = None
    ruled: int = 0
    """Pending ones that say what a rule file says already: they need nobody."""

    @property
    def waiting(self) -> int:
        """What needs a decision now."""
        return self.candidates.get("pending", 0) - self.ruled + len(self.due)


@dataclass(frozen=True, slots=True)
class Result:
    """A list's shape: every PAGE-th key, its length, and the pages that are on screen."""

    anchors: Sequence[Any]
    total: int
    pages: Mapping[int, Sequence[Any]]
    groups: Sequence[Section] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A group of a list: key, name, rows in it, those still to be decided, whether it starts folded."""

    key: int | str
    name: str
    count: int
    open: int
    folded: bool


def _section(key: int | str, count: int, still_open: int) -> Section:
    if isinstance(key, int):
        lane = lanes.Lane(key)
        return Section(key, lanes.NAMES[lane], count, still_open, lane in lanes.FOLDED)
    return Section(key, key or "no session", count, still_open, folded=False)


_DUE = 500
_LAST = 60


@dataclass(frozen=True, slots=True)
class Detail:
    """One candidate with all a reviewer looks at."""

    version: CandidateVersion
    versions: Sequence[CandidateVersion]
    around: Sequence[Event]
    """The first source's event between its neighbours."""
    base: CandidateVersion | None
    """What it is compared with: the version last decided, or else the one before."""
    passage: lookup.Passage | None = None
    """What stands around the first source's quote."""
    leftovers: Sequence[str] = ()
    """Wiki lines that say what a conflicting statement says; they come a moment later."""


class Client(Looking, Cutting, Promoting):
    """A desk opened for the screen. Every method may be called from any thread."""

    def __init__(self, root: Path, store: str | None, reviewer: str | None) -> None:
        who = desks.actor(Door.TUI, reviewer, root)
        self.desk = desks.open_(root, who, store_url=store)
        self.recovered = confirm.recover(self.desk)
        self._rules = rules.Follower(self.desk)
        self.reviewer = who.reviewer
        self.name = self.desk.workspace.root.name
        self.branch = branch(self.desk.workspace.root)
        self.compactions = Overview(self.desk)
        collector.keep()

    def close(self) -> None:
        """Close the store."""
        self.desk.store.close()

    def now(self) -> int:
        """The desk's clock."""
        return self.desk.clock()

    @property
    def settings(self) -> DeskTable:
        """The screen's own settings."""
        return self.desk.policy.desk

    def change_mark(self) -> int:
        """Moves when another process commits, or when a rule file changed and marks followed it."""
        self._rules.look()
        return self.desk.store.change_mark()

    def follow(self, stop: threading.Event, changed: Callable[[], None]) -> None:
        """Call `changed` when files of the workspace change, until `stop`."""
        follow(self.desk.workspace.root, stop, changed)

    def counts(self) -> Counts:
        """Everything the frame counts."""
        with self.desk.store.read() as view:
            held = view.promotion.counts()
            ended = sum(count for state, count in held.items() if state in ENDED)
            return Counts(
                view.candidates.counts(),
                view.operations.counts(),
                view.operations.receipt_count(),
                sum(held.values()) - ended,
                ended,
                tuple(view.candidates.due(self.now(), _DUE)),
                view.candidates.next_due(self.now()),
                view.candidates.count(CandidateFilter(lanes=lanes.IN_RULES)),
            )

    def status(self) -> Status:
        """The whole at a glance."""
        return whole.status(self.desk)

    # candidates

    def refs_by_group(
        self, wanted: CandidateFilter, apart: Sequence[Group]
    ) -> dict[int | str | None, list[tuple[int, str, int]]]:
        """The same, the rows of some groups apart under their keys, all others under None."""
        with self.desk.store.read() as view:
            found: dict[int | str | None, list[tuple[int, str, int]]] = {
                g.key: view.candidates.refs(replace(wanted, group=g.key)) for g in apart
            }
            taken = {n for refs in found.values() for n, _, _ in refs}
            found[None] = [r for r in view.candidates.refs(wanted) if r[0] not in taken]
            return found

    def decidable(
        self, shown: CandidateFilter, undecided: CandidateFilter, folded: Sequence[Group]
    ) -> tuple[list[tuple[int, str, int]], int]:
        """Rows not folded away that a decision may still be recorded on, and how many others."""
        everything = self.refs_by_group(shown, folded)[None]
        states = tuple(s for s in OPEN_STATES if not shown.states or s in shown.states)
        if not (states or undecided.keep):
            return [], len(everything)
        wanted = replace(undecided, states=states)
        found = self.refs_by_group(wanted, folded)[None]
        return found, len(everything) - len(found)

    def decide_all(
        self, refs: Sequence[tuple[str, int]], verdict: Verdict, reason: str, until: int | None
    ) -> BatchReport:
        """One decision each on exactly these versions."""
        named = [CandidateRef(id_, version) for id_, version in refs]
        return review.decide_all(self.desk, named, verdict, reason=reason, until=until)

    def until(self, text: str) -> int:
        """The moment a person means by a date."""
        return dates.until(text, self.now())

    def last(self) -> Sequence[Sequence[CandidateVersion]]:
        """The last decisions that still stand, newest first; one key's batch is one of them."""
        with self.desk.store.read() as view:
            made = view.candidates.last_decisions(_LAST)
        out: dict[str, list[CandidateVersion]] = {}
        for v in made:
            if v.decision and v.version == v.newest:
                out.setdefault(v.decision.batch or f"{v.id}@{v.version}", []).append(v)
        return list(out.values())

    def result(
        self,
        wanted: CandidateFilter,
        near: Sequence[Place],
        still: CandidateFilter | None = None,
    ) -> Result:
        """A list's shape, its first page and the pages around the places in `near`.

        `still` is what of the list is still to be decided; all of it if not given.
        """
        with self.desk.store.read() as view:
            anchors, total = view.candidates.anchors(wanted, PAGE)
            fetch = partial(view.candidates.window, wanted, limit=PAGE)
            pages = pages_near(anchors, near, fetch)
            counts = view.candidates.groups(wanted)
            left = counts if still in (None, wanted) else view.candidates.groups(still)
            groups = [_section(k, n, left.get(k, 0)) for k, n in counts.items()]
            return Result(anchors, total, pages, groups)

    def window(self, wanted: CandidateFilter, start: Place) -> Sequence[CandidateRow]:
        """One page from a key on."""
        with self.desk.store.read() as view:
            return view.candidates.window(wanted, start, PAGE)

    def row(self, id_: str) -> CandidateRow | None:
        """One row as it is now."""
        with self.desk.store.read() as view:
            return view.candidates.row(id_)

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Row numbers of candidates."""
        with self.desk.store.read() as view:
            rows = [view.candidates.row(i) for i in ids]
        return {r.id: r.number for r in rows if r is not None}

    def moved(self, rows: Sequence[CandidateRow]) -> list[CandidateRow]:
        """Those of some rows that are others now, as they are now."""
        with self.desk.store.read() as view:
            now = {r.number: r for r in view.candidates.rows_of([r.number for r in rows])}
        return [now[r.number] for r in rows if now.get(r.number, r) != r]

    def detail(self, id_: str, version: int) -> Detail:
        """Everything about one version."""
        ref = CandidateRef(id_, version)
        shown = review.show(self.desk, ref)
        with self.desk.store.read() as view:
            versions = view.candidates.versions(id_)
        around: list[Event] = []
        passage = None
        if shown.sources:
            own = shown.sources[0]
            around = lookup.surroundings(self.desk, own.event)
            said = next((e for e in around if e.id == own.event), None)
            if said is not None:
                passage = lookup.passage(said, own.start, own.end, AROUND)
                # A message may be a megabyte and more: what the screen shows of it is cut here.
                shorter = said.model_copy(update={"text": ""})
                around = [shorter if e is said else e for e in around]
        earlier = [v for v in versions if v.version < version]
        decided = [v for v in earlier if v.decision]
        base = decided or earlier
        return Detail(shown, versions, around, base[-1] if base else None, passage)

    def still_say(self, version: CandidateVersion) -> list[str]:
        """Wiki lines that say what a conflicting statement says."""
        return wiki.still_say(self.desk, version, version.conflicts)

    def decide(
        self,
        id_: str,
        version: int,
        verdict: Verdict,
        reason: str,
        acknowledged: Sequence[str],
        until: int | None = None,
    ) -> CandidateVersion:
        """Record one decision on exactly this version."""
        return review.decide(
            self.desk,
            CandidateRef(id_, version),
            verdict,
            reason=reason,
            acknowledged=acknowledged,
            until=until,
        )

    def undo(self) -> review.Undone:
        """Reopen what this reviewer decided last, one version or a batch."""
        return review.undo_last(self.desk)

    def edit(self, id_: str, version: int, text: str) -> CandidateVersion:
        """Append an edited version."""
        return review.edit(self.desk, CandidateRef(id_, version), text)

    def in_editor(self, text: str) -> str:
        """A statement through the reviewer's editor; the screen must be suspended."""
        return editor.edit(self.desk, text)

    # what was written

    def listed(self, name: written.Name, words: str, near: Sequence[Newest]) -> Result:
        """The shape of a list of what was written, its first page and those around `near`.

        What is in memory is compared with its destinations first.
        """
        if name == "memory":
            drift.follow(self.desk)
        with self.desk.store.read() as view:
            anchors, total = written.anchors(view, name, words)
            fetch = partial(written.window, view, name, words)
            return Result(anchors, total, pages_near(anchors, near, fetch))

    def listed_page(self, name: written.Name, words: str, start: Newest) -> list[written.Item]:
        """One page of it from a place on."""
        with self.desk.store.read() as view:
            return written.window(view, name, words, start)

    @staticmethod
    def reason(code: str) -> Reason | None:
        """What a code means."""
        return REASONS.get(code)
