"""When a deferral ends: the ways a person names a day (spec 4.8).

All days begin at midnight UTC (spec 0.5).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from schemas.errors import Refused

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SPAN = re.compile(r"(?:in\s+)?(\d{1,4})\s*(d|days?|w|weeks?|months?)")
_NAMED = re.compile(r"(?:(\d{1,2})\.?\s+([a-z]{3,9})|([a-z]{3,9})\s+(\d{1,2}))(?:,?\s+(\d{4}))?")
_YEARS = 20


def until(text: str, now: int) -> int:
    """Microseconds since the epoch of a day or moment after `now`, as a person names it.

    `2026-12-05`, `2026-12-05T09:00Z`, `monday`, `fri`, `tomorrow`, `next week`, `3d`, `in 2 weeks`,
    `1 month`, `5 dec`. Raises Refused `defer.date` for anything else, the past, and a naive time.
    """
    moment = _moment(" ".join(text.casefold().split()), datetime.fromtimestamp(now / 1e6, UTC))
    if moment is None:
        raise Refused("defer.date", f"“{text.strip()[:40]}” is no date.", given=text[:80])
    found = int(moment.timestamp()) * 1_000_000
    if found <= now:
        raise Refused("defer.date", f"{moment:%Y-%m-%d %H:%M} UTC is past.", given=text[:80])
    if found > now + _YEARS * 366 * 86_400_000_000:
        raise Refused("defer.date", f"{moment:%Y-%m-%d} is too far away.", given=text[:80])
    return found


def moment(text: str, now: int) -> int:
    """Microseconds since the epoch of a day's beginning or a moment, past or not.

    `2026-11-30`, `2026-11-30T09:00Z`. Raises Refused `defer.date` for anything else.
    """
    found = _moment(" ".join(text.casefold().split()), datetime.fromtimestamp(now / 1e6, UTC))
    if found is None:
        raise Refused("defer.date", f"“{text.strip()[:40]}” is no date.", given=text[:80])
    return int(found.timestamp()) * 1_000_000


def _moment(words: str, now: datetime) -> datetime | None:
    today = now.date()
    try:
        if words == "tomorrow":
            return _start(today + timedelta(days=1))
        if words in ("next week", "week"):
            return _start(_weekday(today, 0))
        name = words.removeprefix("next ")
        for n, day in enumerate(_DAYS):
            if name in (day, day[:3]):
                return _start(_weekday(today, n))
        if span := _SPAN.fullmatch(words):
            return _start(_later(today, int(span[1]), span[2][0]))
        if named := _NAMED.fullmatch(words):
            return _start(_named(today, named))
        if re.fullmatch(r"\d{4}-\d\d-\d\d", words):
            return _start(date.fromisoformat(words))
        moment = datetime.fromisoformat(words.upper())
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        raise Refused("defer.date", "A time needs its zone, like 2026-12-01T09:00Z.", given=words)
    return moment


def _start(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _weekday(today: date, day: int) -> date:
    """The next such day after today."""
    return today + timedelta(days=(day - today.weekday() - 1) % 7 + 1)


def _later(today: date, count: int, unit: str) -> date:
    if unit == "m":
        months = today.month - 1 + count
        year, month = today.year + months // 12, months % 12 + 1
        last = (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
        return date(year, month, min(today.day, last))
    return today + timedelta(days=count * (7 if unit == "w" else 1))


def _named(today: date, found: re.Match[str]) -> date:
    """`5 dec` or `december 5`, this year or, when that is over, the next."""
    day, name = int(found[1] or found[4]), found[2] or found[3]
    month = _MONTHS.index(name[:3]) + 1
    if found[5]:
        return date(int(found[5]), month, day)
    this = date(today.year, month, day)
    return this if this > today else date(today.year + 1, month, day)
