"""AIWG's session catalog: events, candidates with their states, receipts (spec 1.1, 4.6).

Formats of AIWG, section 1.7. The catalog itself says who spoke (`origin`); its candidates are
what an agent made of the events, never anybody's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.fields import iso_time, items, string, table, text_of
from core.evidence.readers.jsonl import name
from core.evidence.readers.records import Reading
from schemas.evidence import Author, EventKind

_TABLES = {
    "session_events",
    "intelligence_candidates",
    "candidate_review_receipts",
    "promotion_receipts",
}
_ORIGINS = {
    "user-authored": Author.OWNER,
    "assistant-generated": Author.AGENT,
    "provider-bootstrap": Author.SYSTEM,
    "workspace-instruction": Author.SYSTEM,
    "tool-control": Author.TOOL,
}


class _Catalog(Reading):
    recalls = False

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        row = table(d.get("row"))
        data = _data(row, notes)
        if d.get("table") == "session_events":
            return [_event(data, notes)]
        if d.get("table") == "intelligence_candidates":
            return [_candidate(data, row, notes)]
        return [_receipt(data, text_of(d.get("table")), notes)]


def _data(row: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    try:
        return table(orjson.loads(row.get("data") or ""))
    except (orjson.JSONDecodeError, TypeError):
        notes.append("odd:data")
        return {}


def _event(data: dict[str, Any], notes: list[str]) -> Part:
    kind = _kind(text_of(data.get("kind")), text_of(data.get("role")))
    author = _ORIGINS.get(text_of(data.get("origin")), Author.UNKNOWN)
    if kind is EventKind.TOOL_RESULT:
        author = Author.TOOL
    elif kind is EventKind.TOOL_CALL:
        author = Author.AGENT
    elif kind is EventKind.SUMMARY and author is Author.OWNER:
        author = Author.SYSTEM
    part = Part(kind, author, text_of(data.get("searchableText")))
    part.native_id = string(data, "nativeId", notes) or string(data, "eventId", notes)
    part.session = string(data, "sessionId", notes)
    part.time = iso_time(data.get("occurredAt"), notes)
    if data.get("opaque") is True:
        part.notes.append("opaque")
    if sensitive := table(data.get("sensitivity")).get("classification"):
        part.notes.append(f"sensitivity:{name(text_of(sensitive))[:60]}")
    return part


def _kind(kind: str, role: str) -> EventKind:
    """AIWG's kinds by what they say: providers bring their own names."""
    bare = kind.lower().replace("_", "-")
    for mark, found in (
        ("result", EventKind.TOOL_RESULT),
        ("tool", EventKind.TOOL_CALL),
        ("reason", EventKind.REASONING),
        ("thinking", EventKind.REASONING),
        ("compact", EventKind.COMPACT_BOUNDARY),
        ("summary", EventKind.SUMMARY),
        ("snapshot", EventKind.SNAPSHOT),
        ("message", EventKind.MESSAGE),
        ("prompt", EventKind.MESSAGE),
    ):
        if mark in bare:
            return found
    return EventKind.MESSAGE if role in ("user", "assistant") else EventKind.SYSTEM


def _candidate(data: dict[str, Any], row: dict[str, Any], notes: list[str]) -> Part:
    state = row.get("review_state") or data.get("reviewState")
    extra = [
        f"candidate:{name(text_of(state))[:60]}",
        f"type:{name(text_of(data.get('type')))[:60]}",
    ]
    if table(data.get("security")).get("disposition") == "suspicious":
        extra.append("suspicious")
    part = Part(EventKind.SUMMARY, Author.AGENT, text_of(data.get("assertion")), notes=extra)
    part.native_id = name(f"{text_of(data.get('candidateId'))}@{text_of(data.get('version'))}")
    part.parent = string(table(next(iter(items(data.get("evidence"))), None)), "eventId", notes)
    part.time = iso_time(data.get("createdAt"), notes)
    return part


def _receipt(data: dict[str, Any], kind: str, notes: list[str]) -> Part:
    candidate = f"{text_of(data.get('candidateId'))}@{text_of(data.get('candidateVersion'))}"
    if kind == "promotion_receipts":
        words = f"promoted to {text_of(data.get('consumer'))}"
        time = iso_time(data.get("approvedAt"), notes)
    else:
        reason = text_of(data.get("reason"))
        words = f"{text_of(data.get('toState'))} by {text_of(data.get('reviewer'))}: {reason}"
        time = iso_time(data.get("occurredAt"), notes)
    part = Part(EventKind.SYSTEM, Author.SYSTEM, words, time=time, notes=[name(kind)[:60]])
    part.native_id, part.parent = string(data, "receiptId", notes), name(candidate)
    return part


def _detect(sample: Sample) -> bool:
    return any(r.get("table") in _TABLES and isinstance(r.get("row"), dict) for r in sample.records)


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every row in order; an incomplete last line waits."""
    return _Catalog(source).read()


FORMAT = Format("aiwg-catalog", _detect, read, log=True)
