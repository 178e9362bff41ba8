"""What a host itself states about a compaction: counts, trigger, what it kept (spec 7.7).

Read from the exact bytes of a few records, never guessed: a member that is missing or odd is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from core.evidence.readers.fields import items, plain, table
from schemas.evidence import Event

_MAX = 1 << 53


@dataclass(frozen=True, slots=True)
class Stated:
    """Facts of one boundary record."""

    kind: str = "full"
    trigger: str = "unknown"
    before: int | None = None
    after: int | None = None
    kept: frozenset[str] = frozenset()
    """Native ids of messages that stay in the window as they are."""
    segment: tuple[str, str] | None = None
    """First and last native id of a stretch that stays."""
    cleared: frozenset[str] = frozenset()
    """Ids of calls whose results were dropped."""
    history: tuple[tuple[str, str], ...] | None = None
    """Codex's replacement history: role and words of each message it goes on with."""
    inline: bool = False
    """True when a summary, if there is one, stands in the boundary's own record."""
    sealed: bool = False
    """True when part of it can only be read by the provider."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, and of the model's window where the host states it."""

    used: int | None = None
    window: int | None = None
    parts: dict[str, int] = field(default_factory=dict)
    """Bytes of segments that only a header holds."""


def boundary(event: Event, raw: bytes | None) -> Stated:
    """What a boundary record states."""
    record = _record(raw)
    if record.get("type") == "compacted":
        return _codex(table(record.get("payload")))
    micro = "subtype:microcompact_boundary" in event.notes
    facts = table(record.get("microcompactMetadata" if micro else "compactMetadata"))
    trigger = facts.get("trigger")
    ends = table(facts.get("preservedSegment"))
    ids = items(table(facts.get("preservedMessages")).get("allUuids")) + items(
        table(facts.get("preservedMessages")).get("uuids")
    )
    first, last = ends.get("headUuid"), ends.get("tailUuid")
    before, saved = _number(facts.get("preTokens")), _number(facts.get("tokensSaved"))
    after = _number(facts.get("postTokens"))
    if micro and after is None and before is not None and saved is not None:
        after = max(0, before - saved)
    return Stated(
        kind="micro" if micro else "full",
        trigger=trigger if trigger in ("auto", "manual") else "unknown",
        before=before,
        after=after,
        kept=frozenset(i for i in ids if isinstance(i, str)),
        segment=(first, last) if isinstance(first, str) and isinstance(last, str) else None,
        cleared=frozenset(i for i in items(facts.get("compactedToolIds")) if isinstance(i, str)),
    )


def _codex(payload: dict[str, Any]) -> Stated:
    history = payload.get("replacement_history")
    kept: list[tuple[str, str]] = []
    sealed = False
    for item in map(table, items(history)):
        if item.get("type") == "message":
            kept.append((str(item.get("role")), plain(item.get("content"))))
        elif item.get("type") in ("compaction", "compaction_summary"):
            sealed = True
    known = tuple(kept) if isinstance(history, list) else None
    return Stated(history=known, inline=True, sealed=sealed)


def usage(raw: bytes | None) -> Usage:
    """The size of the request behind a record: an answer's `usage`, or a `token_count` event.

    Claude's context is input and both cache figures together; Codex's input holds its cache.
    """
    record = _record(raw)
    payload = table(record.get("payload"))
    if payload.get("type") == "token_count":
        info = table(payload.get("info"))
        last = table(info.get("last_token_usage"))
        return Usage(_number(last.get("input_tokens")), _number(info.get("model_context_window")))
    if record.get("type") == "session_meta":
        text = table(payload.get("base_instructions")).get("text")
        return Usage(parts={"stable prompt": len(text.encode())} if isinstance(text, str) else {})
    told = table(table(record.get("message")).get("usage"))
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    figures = [n for k in names if (n := _number(told.get(k))) is not None]
    return Usage(sum(figures) or None)


def _record(raw: bytes | None) -> dict[str, Any]:
    try:
        return table(orjson.loads(raw or b"{}"))
    except orjson.JSONDecodeError:
        return {}


def _number(value: object) -> int | None:
    """A count as the host states it; nothing for anything else, zero included: it states nothing."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 < value < _MAX else None  # type: ignore[operator,return-value]
