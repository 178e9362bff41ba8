"""Looking for words in evidence: bounded steps by key, so that it can be stopped at any moment.

There is no index of words: it would be one more copy of every text for erasure to reach, and would
slow every import. So a search passes the texts themselves, the newest session first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.ports import Desk, Reader
from schemas.common import Page
from schemas.evidence import Event
from schemas.storage import Scanned, SessionFilter, Spot

STEP = 256
"""Events passed in one step."""
_SESSIONS = 64
_EXCERPT = 240
_PIECE = 200_000


@dataclass(frozen=True, slots=True)
class Hit:
    """An event that holds all the words; `start` and `end` are bytes of the first one found."""

    spot: Spot
    event: Event
    start: int
    end: int
    excerpt: tuple[str, str, str]
    """Text before, the words as they stand there, text after."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step found, how many events it passed, and where it got to."""

    hits: tuple[Hit, ...]
    passed: int
    session: str
    spot: Spot | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """Words that must all occur in a text, whatever their case."""

    plain: tuple[bytes, ...]
    others: tuple[re.Pattern[str], ...] = field(default=())

    @classmethod
    def of(cls, text: str) -> Words:
        """The words of a line that somebody typed."""
        parts = text.split()
        plain = tuple(p.lower().encode() for p in parts if p.isascii())
        others = (re.compile(re.escape(p), re.IGNORECASE) for p in parts if not p.isascii())
        return cls(plain, tuple(others))

    def find(self, data: bytes) -> tuple[int, int] | None:
        """Bytes of the first of the words in a text that holds them all."""
        spans: list[tuple[int, int]] = []
        if self.plain:
            low = data.lower()  # ASCII alone, so that every byte stays where it is
            for word in self.plain:
                at = low.find(word)
                if at < 0:
                    return None
                spans.append((at, at + len(word)))
        if self.others:
            text = data.decode("utf-8", "replace")
            for pattern in self.others:
                found = _first(pattern, text)
                if found is None:
                    return None
                start = len(text[: found.start()].encode())
                spans.append((start, start + len(found[0].encode())))
        return min(spans) if spans else None


def _first(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """A search in pieces: one long call would keep every other thread waiting."""
    for at in range(0, len(text), _PIECE):
        found = pattern.search(text, at, at + _PIECE + len(pattern.pattern))
        if found is not None:
            return found
    return None


def everywhere(desk: Desk, text: str, *, step: int = STEP) -> Iterator[Step]:
    """Every event that holds the words, session by session, the newest session and event first."""
    words, start = Words.of(text), None
    while True:
        with desk.store.read() as view:
            rows = view.evidence.sessions(SessionFilter(), start, _SESSIONS + 1)
        for row in rows[:_SESSIONS]:
            yield from _passes(desk, [row.name], words, None, back=True, step=step)
        if len(rows) <= _SESSIONS:
            return
        start = rows[_SESSIONS].place


def within(
    desk: Desk, names: Sequence[str], text: str, spot: Spot | None, *, back: bool = False
) -> Iterator[Step]:
    """Hits in some sessions past a place, or before it, nearest first."""
    yield from _passes(desk, names, Words.of(text), spot, back=back, step=STEP)


def listed(
    desk: Desk, text: str, page: Page, **which: str | None
) -> tuple[list[Event], str | None]:
    """A page of the events that hold the words, in file order; texts cut as in lists.

    `which` is what `events` takes: session, kind, author. The cursor goes on after the last hit.
    """
    words, after, out = Words.of(text), page.after, list[Event]()
    while True:
        with desk.store.read() as view:
            found, ahead = view.evidence.events(Page(limit=STEP, after=after), **which)
            for n, event in enumerate(found):
                if not _holds(view, event, words):
                    continue
                out.append(event)
                if len(out) == page.limit:
                    passed = Page(limit=n + 1, after=after)
                    return out, view.evidence.events(passed, **which)[1]
        if ahead is None:
            return out, None
        after = ahead


def _holds(view: Reader, event: Event, words: Words) -> bool:
    whole = view.evidence.event(event.id) if event.truncated else event
    return whole is not None and words.find(whole.text.encode()) is not None


def _passes(
    desk: Desk, names: Sequence[str], words: Words, spot: Spot | None, *, back: bool, step: int
) -> Iterator[Step]:
    while True:
        with desk.store.read() as view:
            found = view.evidence.texts(names, spot, step, back=back)
            hits = tuple(h for s in found if (h := _hit(view, s, words)) is not None)
        if found:
            spot = found[-1].spot
            yield Step(hits, len(found), names[0], spot)
        if len(found) < step:
            return


def _hit(view: Reader, passed: Scanned, words: Words) -> Hit | None:
    data = passed.text
    if data is None:
        whole = view.evidence.event(passed.id)
        data = whole.text.encode() if whole else b""
    span = words.find(data)
    if span is None:
        return None
    event = view.evidence.around(passed.id, 0, 0)[0]
    start, end = span
    excerpt = (
        data[max(0, start - _EXCERPT // 3) : start].decode("utf-8", "ignore"),
        data[start:end].decode("utf-8", "replace"),
        data[end : end + _EXCERPT].decode("utf-8", "ignore"),
    )
    return Hit(passed.spot, event, start, end, excerpt)
