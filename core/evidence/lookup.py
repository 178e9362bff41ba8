"""Finding events and spans by locator, and events in their surroundings (spec 0.2, 1.2)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.evidence import own, places
from core.evidence.readers.capped import notice
from core.identity import Locator, Span, digest, one_id, parse_locator
from core.ports import Desk, Reader
from schemas.candidates import Source
from schemas.errors import NotFound, Refused
from schemas.evidence import Event, Partial


def find(view: Reader, text: str) -> tuple[Event, Locator]:
    """The event a locator names, with its whole text.

    Raises NotFound `id.malformed`, `id.not-found`, `id.ambiguous`.
    """
    locator = parse_locator(text, "ev")
    if locator.session is not None:
        session = session_named(view, locator.session)
        event = view.evidence.event_at(session, locator.line or 0)
    else:
        known = [locator.id] if locator.complete else view.evidence.find_events(locator.id, 6)
        event = view.evidence.event(one_id(locator.id, known))
    if event is None:
        raise NotFound("id.not-found", f"No event is at {text}.", given=text)
    return event, locator


def session_named(view: Reader, prefix: str) -> str:
    """The session that a prefix names: itself where it is a whole name, and never a sub-agent's
    unless the prefix reaches into that part of the name or there is no other.

    Raises NotFound `id.not-found`, `id.ambiguous`.
    """
    found = view.evidence.find_sessions(prefix, 6, below=False)
    return one_id(prefix, found or view.evidence.find_sessions(prefix, 6))


def show(desk: Desk, text: str) -> tuple[Event, Span | None]:
    """One event with its whole text, and the span the locator asked for."""
    with desk.store.read() as view:
        event, locator = find(view, text)
    if locator.span is not None:
        locator.span.cut(event.text.encode())
    return event, locator.span


_SESSION = re.compile(r"^session:([^#]+)$")
_PATH_LINE = re.compile(r"^(?P<path>.+?)(?::(?P<line>\d{1,9}))?$")


def place(view: Reader, text: str) -> tuple[Event, Span | None]:
    """What a person means who types a locator: an event or a span of one, `session:ID` (its first
    event), a source file by id or by path, `PATH:31` the event at or after that line.

    Raises NotFound `id.malformed`, `id.not-found`, `id.ambiguous`.
    """
    text = text.strip()
    if named := _SESSION.match(text):
        session = session_named(view, named[1])
        turns = view.evidence.turns([session], None, 1)
        if turns and (event := view.evidence.event(turns[0].event.id)):
            return event, None
        raise NotFound("id.not-found", f"No event is at {text}.", given=text)
    named = _PATH_LINE.match(text)
    by_id = text.startswith("file_")
    where = named["path"] if named else text
    file = view.evidence.file_by_id(where) if by_id else view.evidence.file_by_path(where)
    if file is not None:
        line = int(named["line"] or 1) if named else 1
        event = view.evidence.event_in(file, line)
        if event is None:
            raise NotFound("id.not-found", f"No event is at {text}.", given=text)
        return event, None
    event, locator = find(view, text)
    return event, locator.span


def partial(desk: Desk, event: Event) -> Partial | None:
    """What a tool's output lacks, and the narrower read that gets it; None for a whole one.

    The file that its client names is looked for among what was kept or imported, never opened.
    """
    told = notice(event.text) if "partial" in event.notes else None
    if told is None:
        return None
    if told.whole is None or "\0" in told.whole or not Path(told.whole).is_absolute():
        return Partial(left_out=told.left_out, whole=told.whole)
    where = places.stored_path(desk, Path(told.whole))
    with desk.store.read() as view:
        kept = view.artifacts.newest_at(where)
        file = view.evidence.file_by_path(where)
    if kept is not None:
        read = f"memdesk evidence artifact read {kept.id[:16]} --lines 1:{min(kept.lines, 100)}"
    else:
        read = f"memdesk evidence artifact add {shlex.quote(told.whole)}"
    return Partial(
        left_out=told.left_out,
        whole=told.whole,
        artifact=kept.locator if kept else None,
        file=file.id if file else None,
        read=read,
    )


def surroundings(desk: Desk, event: str, *, before: int = 3, after: int = 3) -> list[Event]:
    """An event with its whole text between its neighbours, whose texts are cut as in lists."""
    with desk.store.read() as view:
        around = view.evidence.around(event, before, after)
        whole = view.evidence.event(event)
    return [whole if whole is not None and e.id == event else e for e in around]


@dataclass(frozen=True, slots=True)
class Passage:
    """What stands around a span of an event, cut so that the longest line costs a screen no more."""

    first: int
    """Bytes before `before`."""
    before: str
    after: str
    left: int
    """Bytes behind `after`."""


def passage(event: Event, start: int, end: int, around: int) -> Passage:
    """At most `around` bytes on either side of a span; `start` and `end` count UTF-8 bytes."""
    data = event.text.encode()
    first, last = max(0, start - around), end + around
    before = data[first:start].decode("utf-8", "ignore")
    after = data[end:last].decode("utf-8", "ignore")
    return Passage(first, before, after, max(0, len(data) - last))


def source_of(event: Event, span: Span | None) -> Source:
    """A minimised reference to a span of an event, with the quote it stands for.

    Raises Refused `span.outside-text`, `candidate.quote-missing`, `evidence.revoked`,
    `evidence.self`.
    """
    if event.revoked:
        raise Refused("evidence.revoked", event=event.id)
    if own.NOTE in event.notes:
        raise Refused("evidence.self", event=event.id)
    data = event.text.encode()
    if not data.strip():
        raise Refused("candidate.quote-missing", event=event.id)
    whole = span or Span(0, len(data))
    quote = whole.cut(data)
    return Source(
        locator=f"{event.id}#b{whole.start}-{whole.end}",
        event=event.id,
        start=whole.start,
        end=whole.end,
        digest=digest(quote),
        quote=quote.decode(),
        author=event.author.value,
        session=event.session,
        line=event.line,
        time=event.time,
    )


def standing(view: Reader, sources: Sequence[Source]) -> list[Source]:
    """The sources with their state: `current`, `revoked`, or `missing` words (spec 1.7, 5.2)."""
    return [s.model_copy(update={"state": _state(view, s)}) for s in sources]


def _state(view: Reader, source: Source) -> str:
    """`missing` unless the spanned bytes are there with the digest the source was made with."""
    event = view.evidence.event(source.event)
    if event is None:
        return "missing"
    words = event.text.encode()[source.start : source.end]
    if digest(words) != source.digest:
        return "missing"
    return "revoked" if event.revoked else "current"
