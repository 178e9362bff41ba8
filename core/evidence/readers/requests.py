"""Bodies sent to a model: OpenAI Chat and Responses, Anthropic Messages, Gemini (spec 1.1).

Formats of transcripts, section 10. A body says which role a text has, never who wrote it: what
has the role of the user is of unknown authorship.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.documents import Document
from core.evidence.readers.fields import (
    block_text,
    call_note,
    call_text,
    items,
    plain,
    table,
    text_of,
)
from core.evidence.readers.jsonl import name
from schemas.evidence import Author, EventKind

_AUTHORS = {
    "user": Author.UNKNOWN,
    "assistant": Author.AGENT,
    "model": Author.AGENT,
    "system": Author.SYSTEM,
    "developer": Author.SYSTEM,
}


class _Body(Document):
    arrays = frozenset({"messages", "input", "contents"})

    def members(self, members: dict[str, Any], notes: list[str]) -> list[Part]:
        parts = []
        for key in ("system", "instructions", "systemInstruction", "system_instruction"):
            value = members.get(key)
            words = plain(table(value).get("parts") or value)
            if words:
                parts.append(Part(EventKind.MESSAGE, Author.SYSTEM, words))
        if isinstance(members.get("input"), str):
            parts.append(Part(EventKind.MESSAGE, Author.UNKNOWN, members["input"]))
        if members.get("previous_response_id") or members.get("conversation"):
            notes.append("partial")
        return parts or [Part(EventKind.SYSTEM, Author.SYSTEM, notes=["request"])]

    def item(self, key: str, value: Any, notes: list[str]) -> list[Part]:
        if isinstance(value, str):
            return [Part(EventKind.MESSAGE, Author.UNKNOWN, value)]
        d = table(value)
        kind, role = text_of(d.get("type")), text_of(d.get("role"))
        if not role and kind != "message":
            return [_typed(d, kind, notes)]
        if role in ("tool", "function"):
            return [_result(d, d.get("tool_call_id"), d.get("content"))]
        author = _AUTHORS.get(role)
        if author is None:
            notes.append(f"unknown-role:{name(role)[:60]}")
        return _blocks(d, author or Author.UNKNOWN, notes)


def _typed(d: dict[str, Any], kind: str, notes: list[str]) -> Part:
    """An item of a Responses body that is no message."""
    if kind.endswith("_output"):
        return _result(d, d.get("call_id"), d.get("output"))
    if kind.endswith("_call"):
        given = d.get("arguments") or d.get("input") or d.get("action")
        text = call_text(d.get("name") or kind, given)
        return Part(EventKind.TOOL_CALL, Author.AGENT, text, notes=call_note(d.get("call_id")))
    if kind == "reasoning":
        return Part(EventKind.REASONING, Author.AGENT, plain(d.get("summary")))
    if kind == "compaction":
        return Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, kind)
    notes.append(f"unknown-type:{name(kind)[:60]}")
    return Part(EventKind.SYSTEM, Author.SYSTEM)


def _blocks(d: dict[str, Any], author: Author, notes: list[str]) -> list[Part]:
    content = d.get("content", d.get("parts"))
    parts: list[Part] = []
    if thoughts := text_of(d.get("reasoning_content")):
        parts.append(Part(EventKind.REASONING, author, thoughts))
    for block in content if isinstance(content, list) else [content]:
        if part := _block(block, author, notes):
            parts.append(part)
    for call in map(table, items(d.get("tool_calls"))):
        function = table(call.get("function")) or table(call.get("custom"))
        text = call_text(function.get("name"), function.get("arguments", function.get("input")))
        parts.append(Part(EventKind.TOOL_CALL, author, text, notes=call_note(call.get("id"))))
    return parts or [Part(EventKind.MESSAGE, author)]


def _block(block: object, author: Author, notes: list[str]) -> Part | None:
    facts = table(block)
    kind = text_of(facts.get("type"))
    if kind == "tool_result" or kind.endswith("_tool_result"):
        return _result(facts, facts.get("tool_use_id"), facts.get("content"))
    if response := table(facts.get("functionResponse") or facts.get("function_response")):
        return _result(response, response.get("id"), response.get("response"))
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        text = call_text(facts.get("name"), facts.get("input"))
        return Part(EventKind.TOOL_CALL, author, text, notes=call_note(facts.get("id")))
    if call := table(facts.get("functionCall") or facts.get("function_call")):
        text = call_text(call.get("name"), call.get("args"))
        return Part(EventKind.TOOL_CALL, author, text, notes=call_note(call.get("id")))
    if kind in ("thinking", "redacted_thinking"):
        return Part(EventKind.REASONING, author, text_of(facts.get("thinking")))
    if block is None:
        return None
    return Part(EventKind.MESSAGE, author, block_text(block, notes))


def _result(d: dict[str, Any], call: object, content: object) -> Part:
    notes = call_note(call)
    if d.get("is_error") is True:
        notes.append("error")
    elif "is_error" not in d:
        notes.append("outcome-unknown")
    return Part(EventKind.TOOL_RESULT, Author.TOOL, plain(content), notes=notes)


def _detect(sample: Sample) -> bool:
    document = sample.document or {}
    contents = items(document.get("contents"))
    if contents and "parts" in table(contents[0]):
        return True
    if not isinstance(document.get("model"), str):
        return False
    messages = items(document.get("messages"))
    if messages:
        return "role" in table(messages[0]) and "sessionId" not in document
    value = document.get("input")
    return isinstance(value, str) or bool(
        {"role", "type"} & table(next(iter(items(value)), 0)).keys()
    )


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield the body's messages in file order."""
    return _Body(source).read()


FORMAT = Format("model-request", _detect, read)
