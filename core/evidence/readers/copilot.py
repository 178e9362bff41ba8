"""Copilot CLI's events: one log a session, subagents in the same file (spec 1.1).

Rules: formats of transcripts, section 5. The owner's words are what was typed (`content`), never
what the client made of it (`transformedContent`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.fields import (
    call_note,
    call_text,
    iso_time,
    items,
    plain,
    string,
    table,
    text_of,
)
from core.evidence.readers.jsonl import name
from core.evidence.readers.records import Reading
from schemas.evidence import Author, EventKind

_GROUPS = ("session.", "assistant.", "tool.", "hook.", "subagent.", "user.", "system.")


class _Session(Reading):
    """Session and folder, which the header or a resumption names."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.scope: str | None = None

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        kind, data = text_of(d.get("type")), table(d.get("data"))
        if kind in ("session.start", "session.resume"):
            self.session = string(data, "sessionId", notes) or self.session
            self.scope = string(table(data.get("context")), "cwd", notes) or self.scope
        parts = self._parts(kind, data, notes)
        native, parent = string(d, "id", notes), string(d, "parentId", notes)
        time = iso_time(d.get("timestamp"), notes)
        child = data.get("parentToolCallId")
        for part in parts:
            part.native_id, part.parent, part.time, part.scope = native, parent, time, self.scope
            if isinstance(child, str) and child:
                part.session = f"{self.session}/agent-{name(child)}"
                if part.author in (Author.OWNER, Author.AGENT):
                    part.author = Author.SUBAGENT
        return parts

    def _parts(self, kind: str, data: dict[str, Any], notes: list[str]) -> list[Part]:
        words = plain(data.get("content"))
        if kind == "user.message":
            typed = data.get("source") in (None, "user", "cli")
            return [Part(EventKind.MESSAGE, Author.OWNER if typed else Author.SYSTEM, words)]
        if kind == "assistant.message":
            return _said(data, words)
        if kind == "assistant.reasoning":
            return [Part(EventKind.REASONING, Author.AGENT, words)]
        if kind == "tool.execution_complete":
            return [_result(data)]
        if kind == "system.message":
            return [Part(EventKind.MESSAGE, Author.SYSTEM, words)]
        extra = [f"event:{name(kind)[:60]}"]
        if kind in ("session.truncation", "session.compaction_complete"):
            summary = text_of(data.get("summaryContent") or data.get("summary"))
            about = Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, kind, notes=extra)
            return [about, Part(EventKind.SUMMARY, Author.AGENT, summary)] if summary else [about]
        if not kind.startswith(_GROUPS) and kind != "abort":
            notes.append(f"unknown-type:{name(kind)[:60]}")
        shown = words or text_of(data.get("message"))
        return [Part(EventKind.SYSTEM, Author.SYSTEM, shown, notes=extra)]


def _said(data: dict[str, Any], words: str) -> list[Part]:
    """A model's answer: its thoughts, words and calls. Their execution events repeat the calls."""
    parts = []
    if thoughts := text_of(data.get("reasoningText")):
        parts.append(Part(EventKind.REASONING, Author.AGENT, thoughts))
    calls = [table(c) for c in items(data.get("toolRequests"))]
    if words or not (calls or parts):
        parts.append(Part(EventKind.MESSAGE, Author.AGENT, words))
    for call in calls:
        text = call_text(call.get("name"), call.get("arguments"))
        extra = call_note(call.get("toolCallId"))
        parts.append(Part(EventKind.TOOL_CALL, Author.AGENT, text, notes=extra))
    return parts


def _result(data: dict[str, Any]) -> Part:
    extra = call_note(data.get("toolCallId"))
    if data.get("success") is False:
        extra.append("error")
    elif data.get("success") is not True:
        extra.append("outcome-unknown")
    result = data.get("result")
    facts = table(result) or table(data.get("error"))
    text = plain(facts.get("content", facts.get("message"))) if facts else plain(result)
    return Part(EventKind.TOOL_RESULT, Author.TOOL, text, notes=extra)


def _detect(sample: Sample) -> bool:
    return any(
        isinstance(r.get("type"), str)
        and r["type"].startswith(_GROUPS)
        and isinstance(r.get("data"), dict)
        and "parentId" in r
        for r in sample.records
    )


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    return _Session(source).read()


FORMAT = Format("copilot", _detect, read, log=True)
