"""OpenCode sessions, from its database or its older tree of files (spec 1.1).

Formats of transcripts, section 4. Neither is a file of records: both are read as a stream of
their rows, one line each, per session, in order of time (`exports`). A line carries what its row
does not say itself: the role of the message a part belongs to, and whether another agent speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.fields import (
    call_note,
    call_text,
    epoch_time,
    items,
    plain,
    string,
    table,
    text_of,
)
from core.evidence.readers.jsonl import name
from core.evidence.readers.records import Reading
from schemas.evidence import Author, EventKind

_NOTES = {"step-start", "step-finish", "agent", "subtask", "retry", "file"}


class _Session(Reading):
    recalls = False

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        if "part" in d and "table" not in d:
            return self._streamed(d, notes)
        row = table(d.get("row"))
        data = message_data(row)
        session = string(row, "session_id", []) or string(data, "sessionID", [])
        kind = d.get("table")
        if kind == "part":
            parts = _part(data, text_of(d.get("role")), d.get("child") is True, notes)
            for part in parts:
                part.parent = string(row, "message_id", []) or string(data, "messageID", [])
                part.time = _time(row, data, notes)
        elif kind == "message":
            error = table(data.get("error"))
            words = text_of(table(error.get("data")).get("message") or error.get("name"))
            parts = [Part(EventKind.SYSTEM, Author.SYSTEM, words, notes=["message"])]
            parts[0].parent = string(data, "parentID", notes)
            parts[0].time = _time(row, data, notes)
        else:
            parts = [Part(EventKind.SYSTEM, Author.SYSTEM, notes=[name(text_of(kind))[:60]])]
            session = string(row, "id", notes) or string(data, "id", notes)
            parts[0].parent = string(row, "parent_id", []) or string(data, "parentID", [])
        scope = string(d, "cwd", notes)
        native = string(row, "id", []) or string(data, "id", [])
        for part in parts:
            part.native_id, part.session, part.scope = native, session, scope
        return parts

    def _streamed(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        """A line of `opencode run --format json`: only the agent speaks there."""
        data = table(d.get("part"))
        parts = _part(data, "assistant", False, notes)
        for part in parts:
            part.native_id, part.session = string(data, "id", notes), string(d, "sessionID", notes)
            part.time = epoch_time(d.get("timestamp"), notes)
        return parts


def role_of(message: dict[str, Any]) -> str:
    """The role of a message; `summary` for what the agent wrote to replace older ones."""
    role = text_of(message.get("role"))
    return "summary" if role == "assistant" and message.get("summary") is True else role


def message_data(row: dict[str, Any]) -> dict[str, Any]:
    """The JSON a row or file holds."""
    data = row.get("data")
    if isinstance(data, str):
        try:
            return table(orjson.loads(data))
        except orjson.JSONDecodeError:
            return {}
    return table(data)


def _time(row: dict[str, Any], data: dict[str, Any], notes: list[str]) -> int | None:
    times = table(data.get("time"))
    first = row.get("time_created", times.get("created"))
    return epoch_time(times.get("start", first), notes)


def _part(data: dict[str, Any], role: str, child: bool, notes: list[str]) -> list[Part]:
    kind = text_of(data.get("type"))
    agent = Author.SUBAGENT if child else Author.AGENT
    if kind == "text":
        inert = data.get("synthetic") is True or data.get("ignored") is True
        author = _author(role, inert, child)
        summary = role == "summary" and not inert
        label = EventKind.SUMMARY if summary else EventKind.MESSAGE
        return [Part(label, author, text_of(data.get("text")))]
    if kind == "reasoning":
        return [Part(EventKind.REASONING, agent, text_of(data.get("text")))]
    if kind == "tool":
        return _tool(data, agent)
    if kind == "compaction":
        trigger = "auto" if data.get("auto") is True else "manual"
        return [Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, f"compaction {trigger}")]
    if kind in ("snapshot", "patch"):
        return [Part(EventKind.SNAPSHOT, Author.SYSTEM)]
    if kind not in _NOTES:
        notes.append(f"unknown-type:{name(kind)[:60]}")
    words = f"[file {text_of(data.get('filename'))}]" if kind == "file" else ""
    return [Part(EventKind.SYSTEM, Author.SYSTEM, words, notes=[f"part:{name(kind)[:60]}"])]


def _author(role: str, inert: bool, child: bool) -> Author:
    if inert:
        return Author.SYSTEM
    if role == "user":
        return Author.SUBAGENT if child else Author.OWNER
    if role in ("assistant", "summary"):
        return Author.SUBAGENT if child else Author.AGENT
    return Author.UNKNOWN


def _tool(data: dict[str, Any], agent: Author) -> list[Part]:
    """A call, and its result once it has ended; both are one part."""
    state, pair = table(data.get("state")), call_note(data.get("callID"))
    text = call_text(data.get("tool"), state.get("input"))
    parts = [Part(EventKind.TOOL_CALL, agent, text, notes=list(pair))]
    status = state.get("status")
    if status not in ("completed", "success", "error"):
        return parts
    code = table(state.get("metadata")).get("exit")
    if status == "error" or (isinstance(code, int) and code != 0):
        pair.append("error")
    words = plain(state.get("output")) or text_of(state.get("error"))
    parts.append(Part(EventKind.TOOL_RESULT, Author.TOOL, words, notes=pair))
    for attachment in map(table, items(state.get("attachments"))):
        parts[
            -1
        ].text += f"\n[file {text_of(attachment.get('filename') or attachment.get('mime'))}]"
    return parts


def _detect(sample: Sample) -> bool:
    return any(_tells(r) for r in sample.records)


def _tells(r: dict[str, Any]) -> bool:
    if r.get("table") in ("session", "message", "part"):
        return isinstance(r.get("row"), dict)
    return "sessionID" in r and isinstance(r.get("part"), dict) and "type" in r


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every row in order; an incomplete last line waits."""
    return _Session(source).read()


FORMAT = Format("opencode", _detect, read, log=True)
