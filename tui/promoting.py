"""What the promotion pane asks of core; part of the client, so it pays for the store as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core import textdiff
from core.candidates.review import CandidateRef
from core.operations import confirm, together
from core.operations import preview as operations
from core.operations.preview import Exact
from core.ports import Desk
from core.promotion import lifecycle, preview, standing
from core.promotion.standing import Standing
from schemas.operations import Moved, OperationState, Receipt, Written
from schemas.storage import CandidateFilter


@dataclass(frozen=True, slots=True)
class Half:
    """A confirmed write that a process left half done."""

    operation: str
    reviewer: str


@dataclass(frozen=True, slots=True)
class Check:
    """How a preview stands: its state, what moved under it, which writes are half done."""

    state: OperationState
    moved: tuple[Moved, ...]
    unfinished: tuple[Half, ...]


class Promoting:
    """Calls of the promotion pane; `desk` is the client's."""

    desk: Desk

    def refs(self, wanted: CandidateFilter) -> list[tuple[int, str, int]]:
        """Number, id and version of every row of a list."""
        with self.desk.store.read() as view:
            return view.candidates.refs(wanted)

    def consumers(self) -> list[str]:
        """Where a candidate can go now, the usual one first."""
        return preview.offered(self.desk)

    def preview(self, id_: str, version: int, consumer: str) -> Exact:
        """Build the preview of a version."""
        return preview.exact(self.desk, CandidateRef(id_, version), consumer)

    def preview_all(self, wanted: CandidateFilter, chosen: Mapping[str, str], usual: str) -> Exact:
        """One preview of all that a list holds, each to its consumer."""
        going = [
            preview.Going(CandidateRef(id_, version), chosen.get(id_, usual))
            for _number, id_, version in self.refs(wanted)
        ]
        return preview.waiting(self.desk, going)

    def end(self, action: str, belief: str, at: str, reason: str) -> Exact:
        """Build the preview of ending a belief at a consumer."""
        with self.desk.store.read() as view:
            found = lifecycle.resolve(view, belief)
        return lifecycle.preview(self.desk, action, found, reason=reason, at=at)

    def other_way(self, shown: Exact) -> Exact:
        """The same promotion with what it supersedes kept beside it, or the other way round."""
        return preview.other_way(self.desk, shown.preview.operation_id)

    def look(self, operation_id: str) -> Exact:
        """A stored preview as things stand now."""
        return operations.look(self.desk, operation_id)

    def again(self, operation_id: str) -> Exact:
        """A new preview of what an operation is about."""
        return preview.again(self.desk, operation_id)

    def check(self, operation_id: str) -> Check:
        """Where an operation stands and what moved under it; compares no lines."""
        now = operations.present(self.desk, operation_id)
        left = confirm.unfinished(self.desk)
        halves = tuple(Half(o.operation_id, o.actor.reviewer) for o in left)
        return Check(now.operation.state, now.moved, halves)

    def finish(self) -> list[tuple[str, str]]:
        """Finish what a process left half done; `(operation, outcome)` each."""
        return confirm.recover(self.desk)

    def standing(self, read: Exact) -> Standing:
        """Everything about what moved under a preview that was read."""
        return standing.of(self.desk, read.preview.operation_id, read.targets)

    def divergence(self, operation_id: str) -> list[tuple[str, textdiff.Comparison]]:
        """Both versions of each file of a diverged operation."""
        return operations.divergence(self.desk, operation_id)

    def confirm(self, operation_id: str) -> Written:
        """Write exactly what was previewed."""
        return together.confirm(self.desk, operation_id)

    def receipts_of(self, operation_id: str) -> list[Receipt]:
        """The receipts an operation left: its own, or those of its consumers."""
        return together.receipts(self.desk, operation_id)

    def stands(self, receipts: Sequence[Receipt]) -> dict[str, str]:
        """How each file that receipts wrote stands now, by receipt and path."""
        return standing.written(self.desk, receipts)
