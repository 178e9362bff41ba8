"""What a reviewer says about an item: no loss at this cut, standing, one-off (spec 7.7).

An in-layer write: recorded with who, when and why, appended, never updated; the last one stands.
"""

from __future__ import annotations

from core import sealed
from core.compaction.observe import observe
from core.ports import Desk, Reader
from schemas.compaction import Mark, MarkVerdict
from schemas.errors import NotFound, Refused

ENTRY = "compaction-mark"
"""Kind of the ledger's entries on marks."""


def mark(
    desk: Desk,
    session: str,
    item: str,
    verdict: MarkVerdict,
    *,
    boundary: str | None = None,
    reason: str = "",
) -> Mark:
    """Record what an item is: `not-a-loss` at one boundary, a class at all of them.

    Saying again what already stands changes nothing. Raises Refused `compaction.reason-missing`,
    NotFound `compaction.no-item`.
    """
    reason = " ".join(reason.split())
    if verdict is MarkVerdict.NOT_A_LOSS and not reason:
        raise Refused("compaction.reason-missing")
    found = observe(desk, session)
    if verdict in (MarkVerdict.STANDING, MarkVerdict.ONE_OFF):
        boundary = None
    places = [b for b in found.boundaries if boundary in (None, b.at)]
    if not any(i.locator == item for b in places for i in b.items):
        raise NotFound("compaction.no-item", given=item)
    made = Mark(
        item=item,
        session=found.session,
        boundary=boundary,
        verdict=verdict,
        reason=reason,
        reviewer=desk.actor.reviewer,
        time=desk.clock(),
    )
    with desk.store.write() as unit:
        last = [m for m in unit.compaction.marks(found.session) if m.item == item][-1:]
        if last and _same(last[0], made):
            return last[0]
        number = unit.compaction.add_mark(made)
        root = sealed.mark(desk.secret, number, made.model_dump_json().encode())
        unit.ledger.append(ENTRY, str(number), root, 1, made.time)
    return made


def _same(a: Mark, b: Mark) -> bool:
    return a.model_copy(update={"time": 0}) == b.model_copy(update={"time": 0})


def fault(desk: Desk, view: Reader, subject: str, root: str) -> str:
    """What is wrong with a mark that the ledger answers for; empty when nothing is."""
    stored = view.compaction.mark_document(int(subject))
    if stored is None:
        return "is missing"
    shown, document = stored
    sound = sealed.mark(desk.secret, int(subject), document) == root
    return "" if sound and shown == Mark.model_validate_json(document) else "was altered"
