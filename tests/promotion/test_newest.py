"""Outbox, receipts and memory, newest first: paged by key, narrowed in the store, on both databases."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from core.ports import Desk
from schemas.common import Actor, Door, Page
from tests.conftest import START
from tests.desks import promoted
from tests.making import pending, previewed

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@pytest.fixture
def written(desk: Desk) -> Desk:
    """Seven promotions, two of them in one microsecond, and a preview that was never confirmed."""
    for n, day in enumerate(DAYS):
        ticks = itertools.repeat(START + n // 2 * 1_000_000)
        who = Actor(reviewer=f"Ärne {n} <a{n}@example.org>", door=Door.COMMAND)
        made = replace(desk, clock=ticks.__next__, actor=who)
        promoted(made, pending(made, f"The {day} report is called Größe_{n}%."))
    previewed(desk, "Nothing was written of this.")
    return desk


def pages(anchors: object, window: object, words: str, size: int) -> list[object]:
    """A whole list, read page by page from every anchor."""
    places, total = anchors(words, size)  # type: ignore[operator]
    found = [window(words, place, size) for place in places]  # type: ignore[operator]
    assert all(len(page) == size for page in found[:-1])
    rows = [row for page in found for row in page]
    assert len(rows) == total
    return rows


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pages_hold_every_row_once_newest_first(written: Desk, size: int) -> None:
    """Whatever the size of a page; rows of one moment have an order too."""
    with written.store.read() as view:
        o, p = view.operations, view.promotion
        writes = pages(o.anchors, o.window, "", size)
        receipts = pages(o.receipt_anchors, o.receipt_window, "", size)
        held = pages(p.anchors, p.window, "", size)
        everything, _ = p.beliefs(Page(limit=100))
    assert len(writes) == 8 and len({w.operation_id for w in writes}) == 8  # type: ignore[attr-defined]
    times = [w.created for w in writes]  # type: ignore[attr-defined]
    assert times == sorted(times, reverse=True)
    seqs = [r.ledger_seq for r in receipts]  # type: ignore[attr-defined]
    assert len(seqs) == 7 and seqs == sorted(seqs, reverse=True)
    moments = [b.recorded for b, _ in held]  # type: ignore[misc]
    assert moments == sorted(moments, reverse=True)
    assert sorted(b.id for b, _ in held) == sorted(b.id for b in everything)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("words", "writes", "receipts", "held"),
    [
        ("Ärne 3", 1, 1, 0),
        ("Ärne", 7, 7, 0),
        ("line-memory", 8, 7, 7),
        ("APPLIED", 7, 0, 0),
        ("größe_4%", 0, 0, 1),
        ("Größe_4%", 0, 0, 1),
        ("r_p", 0, 0, 0),
        ("%", 0, 0, 7),
        ("the monday", 0, 0, 1),
    ],
)
def test_words_narrow_the_lists_in_the_store(
    written: Desk, words: str, writes: int, receipts: int, held: int
) -> None:
    """Reviewers, consumers, states, ids and statements are searched; `%` and `_` are characters."""
    with written.store.read() as view:
        o, p = view.operations, view.promotion
        found = (o.anchors(words, 2)[1], o.receipt_anchors(words, 2)[1], p.anchors(words, 2)[1])
        rows = p.window(words, p.anchors(words, 2)[0][0], 100) if held else []
    assert found == (writes, receipts, held)
    assert len(rows) == held
