"""The lists of what was written: operations, receipts, statements held; newest first, paged by key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tui.widgets.rows import PAGE

if TYPE_CHECKING:
    from core.ports import Reader
    from schemas.operations import OperationRow, Receipt
    from schemas.promotion import Belief, BeliefAtConsumer

Name = Literal["outbox", "receipts", "memory"]


class Newest(tuple[Any, ...]):
    """A place in a list that runs backwards: what stands further down is the greater one."""

    __slots__ = ()

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        """True for what stands further up: the newer."""
        return tuple.__gt__(self, other)


@dataclass(frozen=True, slots=True)
class Held:
    """A statement as one consumer holds it."""

    belief: Belief
    at: BeliefAtConsumer


@dataclass(frozen=True, slots=True)
class Item:
    """A row of such a list: exactly one of a write, a receipt and a statement held."""

    place: Newest
    write: OperationRow | None = None
    receipt: Receipt | None = None
    held: Held | None = None

    @property
    def number(self) -> int:
        """Its time or ledger position; newer ones change no number."""
        return int(self.place[0])


def anchors(view: Reader, name: Name, words: str) -> tuple[list[Newest], int]:
    """Every PAGE-th place of a list, and its length."""
    if name == "outbox":
        found, total = view.operations.anchors(words, PAGE)
        return [Newest(p) for p in found], total
    if name == "receipts":
        seqs, total = view.operations.receipt_anchors(words, PAGE)
        return [Newest((s,)) for s in seqs], total
    places, total = view.promotion.anchors(words, PAGE)
    return [Newest(p) for p in places], total


def window(view: Reader, name: Name, words: str, start: Newest) -> list[Item]:
    """One page from a place on."""
    if name == "outbox":
        writes = view.operations.window(words, (start[0], start[1]), PAGE)
        return [Item(Newest((w.created, w.operation_id)), write=w) for w in writes]
    if name == "receipts":
        receipts = view.operations.receipt_window(words, start[0], PAGE)
        return [Item(Newest((r.ledger_seq,)), receipt=r) for r in receipts]
    beliefs = view.promotion.window(words, (start[0], start[1], start[2]), PAGE)
    return [_held(b, consumer) for b, consumer in beliefs]


def _held(belief: Belief, consumer: str) -> Item:
    at = next(c for c in belief.consumers if c.consumer == consumer)
    return Item(Newest((belief.recorded, belief.id, consumer)), held=Held(belief, at))
