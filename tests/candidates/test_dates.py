"""A deferral's end: named as people name days, kept in the store, and the candidate returns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.candidates import review
from core.candidates.dates import until
from core.ports import Desk
from core.verify import verify
from schemas.candidates import CandidateState, Verdict
from schemas.errors import Refused, Stale
from tests.conftest import START, Command, make_desk
from tests.making import pending, ref

DAY = 86_400_000_000
"""START is Monday 2026-11-30, 09:00 UTC."""


def said(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment / 1e6, UTC):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("2026-12-05", "2026-12-05 00:00"),
        ("tomorrow", "2026-12-01 00:00"),
        ("monday", "2026-12-07 00:00"),
        ("Next Monday", "2026-12-07 00:00"),
        ("tue", "2026-12-01 00:00"),
        ("sunday", "2026-12-06 00:00"),
        ("next week", "2026-12-07 00:00"),
        ("3d", "2026-12-03 00:00"),
        (" in 2  weeks ", "2026-12-14 00:00"),
        ("3 months", "2027-02-28 00:00"),
        ("12 months", "2027-11-30 00:00"),
        ("5 dec", "2026-12-05 00:00"),
        ("December 5", "2026-12-05 00:00"),
        ("5 jan", "2027-01-05 00:00"),
        ("5. Jan 2028", "2028-01-05 00:00"),
        ("2026-12-01T09:00Z", "2026-12-01 09:00"),
        ("2026-12-01T09:00+02:00", "2026-12-01 07:00"),
        ("2026-11-30T09:00:01Z", "2026-11-30 09:00"),
    ],
)
def test_days_as_people_name_them(words: str, day: str) -> None:
    """Always a moment to come, at midnight UTC unless an hour is named."""
    assert said(until(words, START)) == day


@pytest.mark.parametrize(
    "words",
    ["", " ", "soon", "yesterday", "2026-11-30", "2026-02-30", "0d", "9999 months", "31 feb",
     "30 nov 2026", "2026-12-01T09:00", "0001-01-01", "9999-12-31", "3 dex", "\x1b[2J", "٣d ago",
     "99 dec", "monday monday"],
)  # fmt: skip
def test_everything_else_is_refused_with_its_remedy(words: str) -> None:
    """No guess: the past, naive times, days there are none of, other words."""
    with pytest.raises(Refused) as refused:
        until(words, START)
    assert refused.value.code == "defer.date" and "monday" in refused.value.remedy


def test_a_deferred_candidate_returns_on_its_day(desk: Desk) -> None:
    """Not before; then it can be decided, or put off again as the next version."""
    first, second, never = (pending(desk, f"Service {n} listens on port 90{n}0.") for n in range(3))
    soon, late = START + DAY, START + 3 * DAY
    review.decide(desk, ref(first), Verdict.DEFER, until=soon)
    review.decide(desk, ref(second), Verdict.DEFER, until=late)
    review.decide(desk, ref(never), Verdict.DEFER)
    with desk.store.read() as view:
        assert view.candidates.due(soon - 1, 10) == []
        assert view.candidates.next_due(START) == soon
        one = view.candidates.row(first.id)
        assert one is not None and one.due == soon
        assert view.candidates.due(soon, 10) == [one.number]
        assert view.candidates.next_due(soon) == late
        assert len(view.candidates.due(late, 10)) == 2
        assert view.candidates.next_due(late) is None
    with pytest.raises(Stale, match="is deferred"):
        review.decide(desk, ref(second), Verdict.DEFER, until=late + DAY)
    then = replace(desk, clock=lambda: soon)
    again = review.decide(then, ref(first), Verdict.DEFER, until=late, reason="still open")
    assert (again.version, again.renews, again.state) == (2, 1, CandidateState.DEFERRED)
    assert review.decide(then, ref(second), Verdict.ACCEPT).state is CandidateState.ACCEPTED
    with desk.store.read() as view:
        assert [view.candidates.row(v.id).due for v in (first, second, never)] == [late, None, None]  # type: ignore[union-attr]
    assert verify(desk).ok


def test_scripts_name_days_too(command: Command) -> None:
    """`--until` takes the same words, and refuses with status 2 and the code."""
    desk = make_desk(command.root)
    version = pending(desk)
    desk.store.close()
    told = command.json("--json", "candidates", "defer", version.id, "--until", "soon", status=2)
    assert told["error"]["code"] == "defer.date"
    done = command.json("--json", "candidates", "defer", version.id, "--until", "2 weeks")
    decided = done["items"][0]["decision"]
    assert decided["until"] % DAY == 0 and decided["until"] > decided["time"]
