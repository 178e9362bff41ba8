"""What a reason code is made of, and how a table of them is written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """Exit status of the command line (contract)."""

    DONE = 0
    FAULTS = 1
    USAGE = 2
    REFUSED = 3
    NOT_FOUND = 4
    STALE = 5
    UNUSABLE = 6
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code with what it means and what to do about it."""

    code: str
    meaning: str
    remedy: str
    exit: Exit


def table(*rows: tuple[str, Exit, str, str]) -> dict[str, Reason]:
    """Rows of code, exit status, meaning and remedy, by code."""
    return {code: Reason(code, meaning, remedy, exit_) for code, exit_, meaning, remedy in rows}
