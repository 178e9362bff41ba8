"""What ends a statement at a consumer, whatever the consumer (spec 5.5).

Superseded, revoked, archived or removed: each by preview and confirm, each a change of a formed
statement, so that it closes the messages it was formed from (spec 2.2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from core import claims
from core.candidates.propose import claim_of
from core.identity import keyed_id
from core.operations.envelope import Plan, Target
from core.ports import Desk, Reader, Writer
from core.sources import fences
from core.sources.fences import Closing
from schemas.candidates import CandidateVersion
from schemas.errors import Stale
from schemas.operations import Effect, Receipt
from schemas.promotion import ENDED, Belief, BeliefChange, BeliefState
from schemas.storage import Claim, OutboxTarget, StoredOperation

_SHOWN = 80
_TOLD = 8


@dataclass(frozen=True, slots=True)
class Ending:
    """One statement that ends at one consumer: how, by whom, why, when, and what replaces it."""

    belief: Belief
    version: CandidateVersion
    state: BeliefState
    reviewer: str
    reason: str
    time: int
    replacement: str | None = None
    """The belief that stands in its place."""
    shared: bool = False
    """True when another statement there says the same: the words stay for its sake."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What ending statements does to a consumer's files."""

    targets: tuple[Target, ...]
    blocked: tuple[str, ...] = ()
    affects: tuple[Effect, ...] = field(default=())


class Ends(Protocol):
    """A consumer whose statements can end."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """Its own lock, as `Handler.lock`."""

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """As `Handler.before_write`."""

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """As `Handler.after_write`."""

    def ended(self, desk: Desk, endings: Sequence[Ending]) -> Ended:
        """The exact bytes of its files when these statements end."""

    def stands(self, desk: Desk, beliefs: Sequence[tuple[Belief, CandidateVersion]]) -> list[bool]:
        """Which of these statements stand there as memdesk left them."""


def state_at(belief: Belief, consumer: str) -> BeliefState | None:
    """How a belief stands at a consumer; None where it never was."""
    return next((at.state for at in belief.consumers if at.consumer == consumer), None)


def belief_id(desk: Desk, ref: str) -> str:
    """The id of the belief that the promotion of a version forms."""
    return keyed_id("bel", desk.secret, ref.encode())


def version_of(view: Reader, belief: Belief) -> CandidateVersion:
    """The accepted version a belief was formed from. Raises Stale `preview.stale`."""
    version = view.candidates.version(belief.candidate, belief.version)
    if version is None:
        raise Stale("preview.stale", f"{belief.candidate}@{belief.version} is gone.")
    return version


def superseded(
    desk: Desk, view: Reader, version: CandidateVersion, beliefs: Iterable[str], consumer: str
) -> list[Ending]:
    """The endings of other beliefs that a promotion of this version to a consumer brings."""
    decision, ref = version.decision, f"{version.id}@{version.version}"
    out = []
    for name in beliefs:
        belief = view.promotion.belief(name)
        if belief is None or state_at(belief, consumer) is not BeliefState.ACTIVE:
            continue
        out.append(
            Ending(
                belief=belief,
                version=version_of(view, belief),
                state=BeliefState.SUPERSEDED,
                reviewer=decision.actor.reviewer if decision else desk.actor.reviewer,
                reason=decision.reason if decision else "",
                time=decision.time if decision else version.created,
                replacement=belief_id(desk, ref),
            )
        )
    return out


def shared(desk: Desk, view: Reader, belief: Belief, consumer: str, going: Collection[str]) -> bool:
    """True when a belief that stays at this consumer makes the same claim."""
    claim = claim_of(desk, version_of(view, belief))
    for other in claims.relations(view.claims, claim).duplicates:
        found = view.promotion.belief(other.ref) if other.ref.startswith("bel_") else None
        if found is None or found.id == belief.id or found.id in going:
            continue
        if state_at(found, consumer) is BeliefState.ACTIVE:
            return True
    return False


def closes(view: Reader, endings: Iterable[Ending]) -> tuple[Closing, ...]:
    """The messages that these endings close for good."""
    return tuple(
        closing
        for e in endings
        for closing in fences.closing(
            view, [s.event for s in e.version.sources], f"belief.{e.state.value}", e.belief.id
        )
    )


def effects(view: Reader, endings: Sequence[Ending], closing: Sequence[Closing]) -> list[Effect]:
    """What ends, and which messages close for good with it (spec 5.8)."""
    out = [Effect(code=f"belief.{e.state.value}", text=_told(e)) for e in endings]
    for c in closing[:_TOLD]:
        text = f"closes for good  {place(view, c.event)}  its belief changes; nothing reopens it"
        out.append(Effect(code="effect.closes", text=text))
    if (more := len(closing) - _TOLD) > 0:
        out.append(Effect(code="effect.closes", text=f"closes {more} more for good"))
    return out


def _told(e: Ending) -> str:
    words = e.belief.statement[:_SHOWN] + ("…" if len(e.belief.statement) > _SHOWN else "")
    verb = {
        BeliefState.SUPERSEDED: "supersedes", BeliefState.REVOKED: "revokes",
        BeliefState.ARCHIVED: "archives", BeliefState.REMOVED: "removes",
    }[e.state]  # fmt: skip
    stays = "; its words stay, another statement says them too" if e.shared else ""
    return f"{verb}  {e.belief.id} “{words}”  stays readable as of dates before now{stays}"


def place(view: Reader, event: str) -> str:
    """A message as screens name it: session and line, or its id."""
    found = view.evidence.event(event)
    if found is None or not found.session or not found.line:
        return event
    return f"session:{found.session[:8]}#L{found.line}"


def recheck(view: Reader | Writer, beliefs: Iterable[str], consumer: str) -> None:
    """Each of these still stands at the consumer. Raises Stale `belief.ended`."""
    for name in beliefs:
        belief = view.promotion.belief(name)
        state = state_at(belief, consumer) if belief else None
        if state is None or state in ENDED:
            raise Stale("belief.ended", f"{name} is {state or 'not'} at {consumer}.", subject=name)


def apply(
    desk: Desk,
    unit: Writer,
    beliefs: Iterable[str],
    consumer: str,
    state: BeliefState,
    receipt: Receipt,
    replacement: str | None,
) -> None:
    """Let each of these stand ended at a consumer; its claim goes where it is still held."""
    for name in beliefs:
        unit.promotion.change(
            BeliefChange(
                belief=name,
                consumer=consumer,
                state=state,
                time=receipt.time,
                receipt=receipt.receipt_id,
                replacement=replacement,
            )
        )
        _claim_again(desk, unit, name)


def _claim_again(desk: Desk, unit: Writer, name: str) -> None:
    belief = unit.promotion.belief(name)
    if belief is None:
        return
    unit.claims.withdraw(name)
    held = sorted(at.consumer for at in belief.consumers if at.state not in ENDED)
    version = unit.candidates.version(belief.candidate, belief.version)
    if held and version is not None:
        claim = claims.claim_of(desk, belief.statement)
        unit.claims.put(Claim(claim, version.key, version.scope, held[-1], name, belief.statement))
