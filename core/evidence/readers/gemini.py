"""Gemini CLI chats: one document rewritten at each turn, or a log of lines (spec 1.1).

Rules: formats of transcripts, section 3. A call and its result are one object there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.documents import Document
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

_CLIENT_TEXT = ("<session_context>", "<environment_context>", "<system-reminder>")
_KINDS = {"user", "gemini", "info", "error", "warning"}


class _Chat(Document):
    arrays = frozenset({"messages"})
    ahead = frozenset({"sessionId"})

    def members(self, members: dict[str, Any], notes: list[str]) -> list[Part]:
        self.session = string(members, "sessionId", notes) or self.session
        return [_header(members, notes)]

    def item(self, key: str, value: Any, notes: list[str]) -> list[Part]:
        return _message(value, notes)


class _Log(Reading):
    """Lines of one chat; a message that fills up is written again under its id."""

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        if "sessionId" in d and "type" not in d:
            self.session = string(d, "sessionId", notes) or self.session
            return [_header(d, notes)]
        if "$set" in d:
            changes = table(d["$set"])
            parts = [p for m in items(changes.get("messages")) for p in self._once(m, notes)]
            return parts or [Part(EventKind.SYSTEM, Author.SYSTEM, notes=["set"])]
        if "type" not in d:
            notes.append("unknown-type:" + name(next(iter(d), ""))[:60])
            return [Part(EventKind.SYSTEM, Author.SYSTEM)]
        return self._once(d, notes)

    def _once(self, message: Any, notes: list[str]) -> list[Part]:
        parts = _message(message, notes)
        native = parts[0].native_id
        if native in self.seen:
            for part in parts:
                part.notes.append("revised")
        elif native:
            self.seen.add(native)
        return parts


def _header(d: dict[str, Any], notes: list[str]) -> Part:
    summary = text_of(d.get("summary"))
    time = iso_time(d.get("startTime"), notes)
    if summary:
        return Part(EventKind.SUMMARY, Author.AGENT, summary, time=time)
    return Part(EventKind.SYSTEM, Author.SYSTEM, time=time, notes=["session"])


def _message(d: Any, notes: list[str]) -> list[Part]:
    if not isinstance(d, dict):
        return [Part(EventKind.SYSTEM, Author.SYSTEM, notes=["odd:message"])]
    kind = text_of(d.get("type"))
    words = plain(d.get("content"))
    parts: list[Part] = []
    if kind == "user":
        parts.append(Part(EventKind.MESSAGE, _speaker(words), words))
    elif kind == "gemini":
        thoughts = [_thought(t) for t in items(d.get("thoughts"))]
        parts += [Part(EventKind.REASONING, Author.AGENT, t) for t in thoughts if t]
        calls = items(d.get("toolCalls"))
        if words or not (parts or calls):
            parts.append(Part(EventKind.MESSAGE, Author.AGENT, words))
        for call in calls:
            parts += _call(table(call))
    else:
        extra = [] if kind in _KINDS else [f"unknown-type:{name(kind)[:60]}"]
        parts.append(Part(EventKind.SYSTEM, Author.SYSTEM, words, notes=extra))
    native, time = string(d, "id", notes), iso_time(d.get("timestamp"), notes)
    for part in parts:
        part.native_id, part.time = native, time
    return parts


def _speaker(words: str) -> Author:
    return Author.SYSTEM if words.lstrip().startswith(_CLIENT_TEXT) else Author.OWNER


def _thought(thought: object) -> str:
    facts = table(thought)
    return "\n".join(t for k in ("subject", "description") if (t := text_of(facts.get(k))))


def _call(call: dict[str, Any]) -> list[Part]:
    """A call and, once it has ended, its result."""
    pair = call_note(call.get("id"))
    text = call_text(call.get("name"), call.get("args"))
    parts = [Part(EventKind.TOOL_CALL, Author.AGENT, text, notes=list(pair))]
    status = call.get("status")
    if call.get("result") is None and call.get("resultDisplay") is None:
        return parts
    if status in ("error", "cancelled"):
        pair.append("error")
    elif status != "success":
        pair.append("outcome-unknown")
    parts.append(Part(EventKind.TOOL_RESULT, Author.TOOL, _result(call), notes=pair))
    return parts


def _result(call: dict[str, Any]) -> str:
    """What the model was given; the client's own display only where that is missing."""
    texts = []
    for part in items(call.get("result")):
        response = table(table(part).get("functionResponse")).get("response")
        facts = table(response)
        texts.append(text_of(facts.get("output", facts.get("error", response))) or plain(part))
    return "\n".join(t for t in texts if t) or plain(call.get("resultDisplay"))


def _detect_chat(sample: Sample) -> bool:
    document = sample.document or {}
    if not isinstance(document.get("messages"), list) or "sessionId" not in document:
        return False
    return "projectHash" in document or any(
        table(m).get("type") in _KINDS and "content" in m for m in document["messages"]
    )


def _detect_log(sample: Sample) -> bool:
    records = sample.records
    header = any("projectHash" in r and "sessionId" in r and "messages" not in r for r in records)
    return header or any(
        r.get("type") == "gemini" and "id" in r and "content" in r for r in records
    )


def read_chat(source: Source) -> Iterator[Record | Waiting]:
    """Yield a chat document's messages in file order."""
    return _Chat(source).read()


def read_log(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    return _Log(source).read()


CHAT = Format("gemini", _detect_chat, read_chat)
LOG = Format("gemini-log", _detect_log, read_log, log=True)
