"""Shared ways of writing things: ages, times, short ids, kinds, headers."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from schemas.subject import parted
from tui.theme import Glyphs
from tui.widgets.document import Line

_ID = re.compile(r"\b[a-z]{2,5}_[0-9a-f]{32}\b")
KINDS = {
    "project-fact": "fact",
    "preference": "pref",
    "operating-rule": "rule",
}

_EVENT_DIGITS = 12


def exact(then: int | None) -> str:
    """A time in full, UTC."""
    if then is None:
        return "no time stated"
    return f"{datetime.fromtimestamp(then / 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def short(id_: str, digits: int = 6) -> str:
    """An id as lists show it; an event's begins with its place, so it takes more to name one."""
    tag, _, rest = id_.partition("_")
    digits = max(digits, _EVENT_DIGITS) if tag == "ev" else digits
    return f"{tag}_{rest[:digits]}" if rest else id_[:digits]


def subject(text: str) -> str:
    """What an operation is about, as lists show it: a candidate's version, several, or a path."""
    if (count := len(parted(text))) > 1:
        return f"{count:,} candidates"
    id_, at, version = text.partition("@")
    return f"{short(id_)}{at}{version}" if _ID.fullmatch(id_) else text


def brief(text: str) -> str:
    """A sentence with the ids in it as lists show them; `enter` and `--json` have them whole."""
    return _ID.sub(lambda m: short(m[0]), text)


def kind(name: str) -> str:
    """A kind as lists show it."""
    return KINDS.get(name, name)


def digest8(digest: str | None) -> str:
    """A digest as lists show it."""
    return digest[7:15] if digest else "new file"


def header(title: str, right: str, glyphs: Glyphs) -> Line:
    """A titled rule across a section."""
    rule = glyphs.rule
    end = [(f" {right} {rule * 2}", "rule")] if right else []
    return Line([(f"{rule * 2} {title} ", "rule")], right=end, fill=rule)


def name_of(reviewer: str) -> str:
    """A reviewer as lists show them: the name without the address."""
    return reviewer.partition(" <")[0] or reviewer


def day(until: int) -> str:
    """When a deferral ends: the day, and the hour when it is not midnight."""
    moment = datetime.fromtimestamp(until / 1_000_000, UTC)
    midnight = (moment.hour, moment.minute) == (0, 0)
    return f"{moment:%a %Y-%m-%d}" if midnight else f"{moment:%a %Y-%m-%d %H:%M} UTC"
