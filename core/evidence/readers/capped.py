"""Tool output that a client cut before it was written down: what it says about the rest (1.5).

Only a client's own notice counts: at its fixed place, in its fixed words. Anything may stand in a
tool's output, so a notice changes no author and no path in it is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PERSISTED = re.compile(
    r"\s*<persisted-output>\s*Output too large \(([^)\n]{1,40})\)\. "
    r"Full output saved to: ([^\n]{1,4096})"
)
_CUT = re.compile(
    r"(?:\n\.\.\. \[|…)(\d{1,12} (?:characters|chars|lines|tokens)) truncated(?:\] \.\.\.\n|…)"
)


@dataclass(frozen=True, slots=True)
class Notice:
    """What was left out, in the client's words, and where it says the whole is."""

    left_out: str
    whole: str | None


def notice(text: str) -> Notice | None:
    """The client's notice in a tool's output; None for output that was not cut."""
    if found := _PERSISTED.match(text):
        return Notice(f"all but the beginning of {found[1]}", found[2].strip())
    if text.lstrip().startswith("<persisted-output>"):
        return Notice("all but the beginning", None)
    # Said of every tool output: a plain search for the word first costs a tenth.
    found = _CUT.search(text) if " truncated" in text else None
    return Notice(found[1], None) if found else None


def notes(text: str) -> list[str]:
    """`partial` for output that was cut."""
    return ["partial"] if notice(text) else []
