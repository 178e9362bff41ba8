"""Beliefs that their owner changed outside memdesk: found, never overwritten (spec 2.2, 5.4).

What is found is recorded once: the belief stands as drifted from then on, and the messages it was
formed from are closed, since what memory says is no longer what was reviewed.
"""

from __future__ import annotations

from core import sealed
from core.operations.envelope import HANDLERS
from core.operations.locks import operations_lock
from core.ports import Desk
from core.promotion.consumers import ending
from core.promotion.lifecycle import Lifecycle
from core.sources import fences
from schemas.candidates import CandidateVersion
from schemas.errors import MemdeskError
from schemas.promotion import Belief, BeliefChange, BeliefState

ENTRY = "drift"
"""Kind of the ledger entry that seals that a belief was found changed."""
_PAGE = 500


def follow(desk: Desk) -> list[str]:
    """Compare every active belief with its destination; ids of those found changed just now.

    A destination that can't be read says nothing, and a store that can only be read learns nothing.
    Raises Stale `operation.busy`.
    """
    if desk.store.read_only:
        return []
    ends = {c: h for (a, c), h in HANDLERS.items() if a == "archive" and isinstance(h, Lifecycle)}
    return [name for consumer in sorted(ends) for name in _at(desk, consumer, ends[consumer])]


def _at(desk: Desk, consumer: str, handler: Lifecycle) -> list[str]:
    found, after = [], ""
    while beliefs := _page(desk, consumer, after):
        after = beliefs[-1][0].id
        if gone := _changed(desk, handler, beliefs):
            with operations_lock(desk):  # a write under way is none
                for belief, version in _changed(desk, handler, gone):
                    if _record(desk, belief, version, consumer):
                        found.append(belief.id)
    return found


def _page(desk: Desk, consumer: str, after: str) -> list[tuple[Belief, CandidateVersion]]:
    with desk.store.read() as view:
        page = view.promotion.active(consumer, after, _PAGE)
        return [(b, ending.version_of(view, b)) for b in page]


def _changed(
    desk: Desk, handler: Lifecycle, beliefs: list[tuple[Belief, CandidateVersion]]
) -> list[tuple[Belief, CandidateVersion]]:
    try:
        stands = handler.stands(desk, beliefs)
    except MemdeskError:
        return []
    return [b for b, there in zip(beliefs, stands, strict=True) if not there]


def _record(desk: Desk, belief: Belief, version: CandidateVersion, consumer: str) -> bool:
    name = f"{belief.id} {consumer}"
    with desk.store.write() as unit:
        now = unit.promotion.belief(belief.id)
        if now is None or ending.state_at(now, consumer) is not BeliefState.ACTIVE:
            return False
        time = desk.clock()
        unit.promotion.change(
            BeliefChange(belief=belief.id, consumer=consumer, state=BeliefState.DRIFTED, time=time)
        )
        root = sealed.drift(desk.secret, belief.id, consumer, time)
        unit.ledger.append(ENTRY, name, root, 1, time)
        events = [s.event for s in version.sources]
        closing = fences.closing(unit, events, "belief.drifted", belief.id)
        fences.hold(desk, unit, closing, name)
    return True
