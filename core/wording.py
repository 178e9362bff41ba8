"""Numbers in sentences: one way to say how many of something there are."""

from __future__ import annotations


def some(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `2,000 files`, `0 files`; `many` is the plural where an s does not make it."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def verb(count: int, one: str, many: str) -> str:
    """The form of a verb that goes with a count: `stays` or `stay`."""
    return one if count == 1 else many
