"""Rows no entry seals but that follow from sealed ones: operations, beliefs, citations."""

from __future__ import annotations

from collections.abc import Iterable

from core import sealed
from core.operations import envelope
from core.ports import Desk, Reader
from core.promotion import lifecycle
from core.verify.findings import Findings
from schemas.common import Actor
from schemas.operations import Envelope, OperationState, Receipt
from schemas.promotion import BeliefChange, BeliefState
from schemas.storage import RawOperation
from schemas.subject import parted

_CITING = 1_000


class Derived:
    """Told every sound receipt and version; `check` then names what does not follow from them."""

    def __init__(self, desk: Desk, view: Reader, findings: Findings) -> None:
        self._desk = desk
        self._view = view
        self._findings = findings
        self._changes: dict[tuple[str, str], list[BeliefChange]] = {}
        """What the receipts and findings say became of each belief at each consumer."""
        self._citations = 0
        self._formed: dict[str, int] = {}
        """When each belief was formed: at its first receipt."""
        self._applied: dict[str, Actor] = {}
        """Who confirmed each operation that has a receipt."""

    def receipt(self, r: Receipt) -> None:
        """An applied operation stands behind it, and the belief it formed says what was accepted."""
        self._applied[r.operation_id] = r.actor
        found = self._view.operations.operation(r.operation_id)
        if found is None or found.state is not OperationState.APPLIED:
            state = "is missing" if found is None else f"is {found.state.value} but has a receipt"
            self._findings.altered(f"operation {r.operation_id}", state)
        names = r.beliefs or ((r.belief,) if r.belief else ())
        if r.action in lifecycle.STATES:
            for name in names:
                self._change(r, name, lifecycle.STATES[r.action], r.replacement)
            return
        for name, subject in zip(names, parted(r.subject), strict=False):
            self._change(r, name, BeliefState.ACTIVE, None)
            self._belief(name, subject, self._formed.setdefault(name, r.time))
        for name in r.supersedes:
            self._change(r, name, BeliefState.SUPERSEDED, names[0] if len(names) == 1 else None)

    def _change(self, r: Receipt, name: str, state: BeliefState, by: str | None) -> None:
        self._changes.setdefault((name, r.consumer), []).append(
            BeliefChange(
                belief=name,
                consumer=r.consumer,
                state=state,
                time=r.time,
                receipt=r.receipt_id,
                replacement=by,
            )
        )

    def drift(self, name: str, root: str) -> str:
        """A belief that was found changed outside; what is wrong with that, or nothing."""
        belief, _, consumer = name.partition(" ")
        for c in self._view.promotion.changes(belief):
            sound = (c.consumer, c.state) == (consumer, BeliefState.DRIFTED)
            if sound and sealed.drift(self._desk.secret, belief, consumer, c.time) == root:
                self._changes.setdefault((belief, consumer), []).append(c)
                return ""
        return "is missing or was altered"

    def _belief(self, name: str, subject: str, formed: int) -> None:
        id_, _, number = subject.partition("@")
        version = self._view.candidates.version(id_, int(number))
        belief = self._view.promotion.belief(name)
        if version is None:
            return
        wanted = (version.id, version.version, version.statement)
        wanted_time = (version.valid_from, version.valid_until, formed)
        if belief is None:
            self._findings.altered(f"belief {name}", "is missing")
        elif (belief.candidate, belief.version, belief.statement) != wanted or (
            belief.valid_from,
            belief.valid_until,
            belief.recorded,
        ) != wanted_time:
            self._findings.altered(f"belief {name}", "does not say what was accepted")

    def version(self, id_: str, number: int, events: Iterable[str]) -> None:
        """Each event a version cites leads back to it."""
        for event in set(events):
            self._citations += 1
            if (id_, number) not in self._view.candidates.citing(event, _CITING):
                self._findings.altered(f"candidate_source {id_}@{number} {event}", "is missing")

    def check(self) -> None:
        """Name what was added or does not follow."""
        self._beliefs()
        if self._view.proving.citations() > self._citations:
            self._findings.altered("candidate_source", "rows were added")
        self._operations()

    def _beliefs(self) -> None:
        """Where each belief stands, and how it came to, follows from receipts and findings alone."""
        held = {
            (belief, consumer, changes[0].receipt or "", changes[-1].state.value)
            for (belief, consumer), changes in self._changes.items()
        }
        for belief, consumer, *_ in sorted(self._view.proving.held() ^ held):
            self._findings.altered(f"belief {belief}", f"is held otherwise by {consumer}")
        found: dict[tuple[str, str], list[BeliefChange]] = {}
        for change in self._view.promotion.every_change():
            found.setdefault((change.belief, change.consumer), []).append(change)
        for belief, consumer in sorted(found.keys() | self._changes.keys()):
            key = (belief, consumer)
            if found.get(key) != self._changes.get(key):
                self._findings.altered(f"belief_change {belief}", f"is another at {consumer}")

    def _operations(self) -> None:
        """Each operation is what its id says, and found by each thing it is about."""
        about = self._view.operations.subjects()
        for row in self._view.proving.operations():
            try:
                sound = self._bound(row)
            except ValueError:
                sound = False
            if not sound:
                self._findings.altered(f"operation {row.id}", "was altered")
            named = parted(row.subject)
            wanted = {(s, row.id) for s in named if len(named) > 1}
            if not wanted <= about:
                self._findings.altered(f"operation_about {row.id}", "is missing")
            about -= wanted
        for subject, operation in sorted(about):
            self._findings.altered(f"operation_about {operation} {subject}", "was added")

    def _bound(self, row: RawOperation) -> bool:
        """True for a row its id answers for. Raises ValueError for what is no operation."""
        bound, said = (
            Envelope.model_validate_json(row.envelope),
            Actor.model_validate_json(row.actor),
        )
        listed = (row.action, row.consumer, row.subject, row.checkout)
        same = listed == (bound.action, bound.consumer, bound.subject, bound.checkout)
        same = same and envelope.operation_id(self._desk, bound) == row.id
        # Nothing of a preview is done, so nothing seals who made it when; both times are one.
        same = same and row.as_of == row.created and said.model_dump_json().encode() == row.actor
        applied = OperationState(row.state) is OperationState.APPLIED
        if not applied or envelope.sinks(bound):
            return same
        actor = self._applied.get(row.id)
        return same and actor == said and row.error is None
