"""What the panes ask of core, in plain calls that run in a worker thread and answer contracts.

Imported only after the first frame: this module's imports pay for the store.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import core.promotion  # noqa: F401  (registers the handlers)
from core import desk as desks
from core import status as whole
from core import textdiff
from core.candidates import editor, lanes, review
from core.candidates.review import CandidateRef
from core.config import DeskTable
from core.evidence import lookup
from core.follow import follow
from core.operations import confirm
from core.promotion import preview, standing
from core.promotion.preview import Exact
from core.promotion.standing import Standing
from core.workspace import branch
from schemas.candidates import BatchReport, CandidateRow, CandidateVersion, Verdict
from schemas.common import Door
from schemas.evidence import Event
from schemas.operations import Moved, OperationRow, OperationState, Receipt
from schemas.promotion import Belief, BeliefAtConsumer
from schemas.reasons import REASONS, Reason
from schemas.status import Status
from schemas.storage import CandidateFilter
from tui import collector
from tui.widgets.rows import PAGE

SHOWN = 1_000
"""Writes and receipts shown at once; more are counted, `memdesk promotion list` pages them."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the tabs and summaries count."""

    candidates: dict[str, int]
    operations: dict[str, int]
    receipts: int
    beliefs: int


@dataclass(frozen=True, slots=True)
class Result:
    """A list's shape: every PAGE-th key, its length, and the pages that are on screen."""

    anchors: Sequence[int]
    total: int
    pages: Mapping[int, Sequence[CandidateRow]]
    lanes: Sequence[Lane]


@dataclass(frozen=True, slots=True)
class Lane:
    """A group of the queue: key, name, how many stand in it, whether it starts folded."""

    key: int
    name: str
    count: int
    folded: bool


def _lanes(counts: dict[int, int]) -> list[Lane]:
    return [
        Lane(k, lanes.NAMES[lanes.Lane(k)], n, lanes.Lane(k) in lanes.FOLDED)
        for k, n in sorted(counts.items())
    ]


@dataclass(frozen=True, slots=True)
class Detail:
    """One candidate with all a reviewer looks at."""

    version: CandidateVersion
    versions: Sequence[CandidateVersion]
    around: Sequence[Event]
    """The first source's event between its neighbours."""
    base: CandidateVersion | None
    """What it is compared with: the version last decided, or else the one before."""


@dataclass(frozen=True, slots=True)
class Held:
    """A statement as one consumer holds it."""

    belief: Belief
    at: BeliefAtConsumer


class Client:
    """A desk opened for the screen. Every method may be called from any thread."""

    def __init__(self, root: Path, store: str | None, reviewer: str | None) -> None:
        who = desks.actor(Door.TUI, reviewer, root)
        self.desk = desks.open_(root, who, store_url=store)
        self.recovered = confirm.recover(self.desk)
        self.reviewer = who.reviewer
        self.name = self.desk.workspace.root.name
        self.branch = branch(self.desk.workspace.root)
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
        """Moves when another process commits."""
        return self.desk.store.change_mark()

    def follow(self, stop: threading.Event, changed: Callable[[], None]) -> None:
        """Call `changed` when files of the workspace change, until `stop`."""
        follow(self.desk.workspace.root, stop, changed)

    def counts(self) -> Counts:
        """Everything the frame counts."""
        with self.desk.store.read() as view:
            return Counts(
                view.candidates.counts(),
                view.operations.counts(),
                view.operations.receipt_count(),
                sum(view.promotion.counts().values()),
            )

    def status(self) -> Status:
        """The whole at a glance."""
        return whole.status(self.desk)

    # candidates

    def lanes(self, wanted: CandidateFilter) -> list[Lane]:
        """The groups of a list that hold anything, in their order."""
        with self.desk.store.read() as view:
            return _lanes(view.candidates.lanes(wanted))

    def refs(self, wanted: CandidateFilter) -> list[tuple[int, str, int]]:
        """Number, id and version of every row of a list."""
        with self.desk.store.read() as view:
            return view.candidates.refs(wanted)

    def decide_all(
        self, refs: Sequence[tuple[str, int]], verdict: Verdict, reason: str
    ) -> BatchReport:
        """One decision each on exactly these versions."""
        named = [CandidateRef(id_, version) for id_, version in refs]
        return review.decide_all(self.desk, named, verdict, reason=reason)

    def result(self, wanted: CandidateFilter, near: Sequence[int]) -> Result:
        """A list's shape, its first page and the pages around the places in `near`."""
        with self.desk.store.read() as view:
            anchors, total = view.candidates.anchors(wanted, PAGE)
            places = {0, *(max(0, bisect_right(anchors, n) - 1) for n in near)}
            pages = {
                p: view.candidates.window(wanted, anchors[p], PAGE)
                for p in sorted(places)
                if p < len(anchors)
            }
            return Result(anchors, total, pages, _lanes(view.candidates.lanes(wanted)))

    def window(self, wanted: CandidateFilter, start: int) -> Sequence[CandidateRow]:
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
        around = lookup.surroundings(self.desk, shown.sources[0].event) if shown.sources else []
        earlier = [v for v in versions if v.version < version]
        decided = [v for v in earlier if v.decision]
        base = decided or earlier
        return Detail(shown, versions, around, base[-1] if base else None)

    def decide(
        self, id_: str, version: int, verdict: Verdict, reason: str, acknowledged: Sequence[str]
    ) -> CandidateVersion:
        """Record one decision on exactly this version."""
        ref = CandidateRef(id_, version)
        return review.decide(self.desk, ref, verdict, reason=reason, acknowledged=acknowledged)

    def undo(self) -> review.Undone:
        """Reopen what this reviewer decided last, one version or a batch."""
        return review.undo_last(self.desk)

    def edit(self, id_: str, version: int, text: str) -> CandidateVersion:
        """Append an edited version."""
        return review.edit(self.desk, CandidateRef(id_, version), text)

    def in_editor(self, text: str) -> str:
        """A statement through the reviewer's editor; the screen must be suspended."""
        return editor.edit(self.desk, text)

    # promotion

    @staticmethod
    def consumers() -> list[str]:
        """Where a candidate can go, the usual one first."""
        return preview.consumers()

    def preview(self, id_: str, version: int, consumer: str) -> Exact:
        """Build the preview of a version."""
        return preview.exact(self.desk, CandidateRef(id_, version), consumer)

    def look(self, operation_id: str) -> Exact:
        """A stored preview as things stand now."""
        return preview.look(self.desk, operation_id)

    def check(self, operation_id: str) -> tuple[OperationState, tuple[Moved, ...]]:
        """Where an operation stands and what moved under it; compares no lines."""
        now = preview.present(self.desk, operation_id)
        return now.operation.state, now.moved

    def standing(self, read: Exact) -> Standing:
        """Everything about what moved under a preview that was read."""
        return standing.of(self.desk, read.preview.operation_id, read.targets)

    def divergence(self, operation_id: str) -> list[tuple[str, textdiff.Comparison]]:
        """Both versions of each file of a diverged operation."""
        return preview.divergence(self.desk, operation_id)

    def confirm(self, operation_id: str) -> Receipt:
        """Write exactly what was previewed."""
        return confirm.confirm(self.desk, operation_id)

    def receipt_of(self, operation_id: str) -> Receipt | None:
        """The receipt an operation left, if it was applied."""
        with self.desk.store.read() as view:
            return view.operations.receipt(operation_id)

    def operations(self) -> Sequence[OperationRow]:
        """Writes, newest first, as far as they are shown."""
        with self.desk.store.read() as view:
            return view.operations.newest(SHOWN)

    def receipts(self) -> Sequence[Receipt]:
        """Receipts, newest first, as far as they are shown."""
        with self.desk.store.read() as view:
            return view.operations.newest_receipts(SHOWN)

    def held(self) -> Sequence[Held]:
        """What consumers hold, the newest first, as far as it is shown."""
        with self.desk.store.read() as view:
            return [Held(b, at) for b in view.promotion.newest(SHOWN) for at in b.consumers]

    @staticmethod
    def reason(code: str) -> Reason | None:
        """What a code means."""
        return REASONS.get(code)
