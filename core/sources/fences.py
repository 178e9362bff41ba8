"""Fences: a message whose formed statement changed is closed for good (spec 2.2).

Every change of a belief, and of a version that was ever accepted, pushes its fences here, in the
transaction that prepares or records it: there is no lifecycle history without its fence. Nothing
lifts one; undoing the change leaves it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core import sealed
from core.ports import Desk, Reader, Writer
from schemas.sources import Fence

ENTRY = "fence"
"""Kind of the ledger entry that seals what one change closed."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A message that a change would close, and the formed statement that changes."""

    event: str
    cause: str
    subject: str


def closing(view: Reader, events: Iterable[str], cause: str, subject: str) -> tuple[Closing, ...]:
    """The messages of a formed statement that are still open, each once."""
    return tuple(
        Closing(event, cause, subject)
        for event in dict.fromkeys(events)
        if view.sources.fence(event) is None
    )


def hold(desk: Desk, unit: Writer, closings: Iterable[Closing], cut: str) -> list[Fence]:
    """Close these messages, those that are closed already left out; one ledger entry for all.

    `cut` names the operation or decision that changes what was formed from them.
    """
    now = desk.clock()
    wanted = {c.event: c for c in reversed(list(closings)) if unit.sources.fence(c.event) is None}
    fences = [
        Fence(event=c.event, cause=c.cause, subject=c.subject, cut=cut, time=now)
        for c in sorted(wanted.values(), key=lambda c: c.event)
    ]
    if fences:
        unit.sources.hold(fences)
        root = sealed.fences(desk.secret, fences)
        unit.ledger.append(ENTRY, cut, root, len(fences), now)
    return fences


def fault(desk: Desk, view: Reader, cut: str, root: str) -> str:
    """What is wrong with the fences an entry seals; empty when they are sound."""
    found = view.sources.cut_by(cut)
    if not found:
        return "is missing"
    return "" if sealed.fences(desk.secret, found) == root else "was altered"
