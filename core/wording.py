"""Numbers in sentences: one way to say how many of something there are, and how long ago."""

from __future__ import annotations

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def some(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `2,000 files`, `0 files`; `many` is the plural where an s does not make it."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def verb(count: int, one: str, many: str) -> str:
    """The form of a verb that goes with a count: `stays` or `stay`."""
    return one if count == 1 else many


def age(then: int | None, now: int) -> str:
    """How long ago, in one unit: `3h`, `now`, `-` for a time nobody stated; microseconds in."""
    if then is None:
        return "-"
    seconds = max(0, (now - then) // 1_000_000)
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return "now"


def ago(then: int | None, now: int) -> str:
    """How long ago in a sentence: `2h ago`, `just now`."""
    since = age(then, now)
    return "just now" if since == "now" else f"{since} ago"
