"""ATIF trajectories, with the subagents a document may embed (spec 1.1).

Formats of transcripts, section 8. Steps that a continuation copies from its parent are noted
`copied`: nobody says them again.
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
from schemas.evidence import Author, EventKind

_DEPTH = 16


class _Trajectory(Document):
    arrays = frozenset({"steps", "subagent_trajectories"})
    ahead = frozenset({"session_id"})

    def members(self, members: dict[str, Any], notes: list[str]) -> list[Part]:
        self.session = string(members, "session_id", notes) or self.session
        return [Part(EventKind.SYSTEM, Author.SYSTEM, notes=["session"])]

    def item(self, key: str, value: Any, notes: list[str]) -> list[Part]:
        if key == "steps":
            return _step(table(value), self.session, notes)
        return self._child(table(value), notes, 1) or [Part(EventKind.SYSTEM, Author.SYSTEM)]

    def _child(self, d: dict[str, Any], notes: list[str], depth: int) -> list[Part]:
        """All steps of an embedded subagent's trajectory, and of its own subagents."""
        id_ = string(d, "trajectory_id", notes) or string(d, "session_id", notes) or "subagent"
        session = name(f"{self.session}/agent-{id_}")
        parts = [p for step in items(d.get("steps")) for p in _step(table(step), session, notes)]
        for part in parts:
            part.session = session
            if part.author in (Author.AGENT, Author.EXTERNAL):
                part.author = Author.SUBAGENT
        if depth < _DEPTH:
            for child in items(d.get("subagent_trajectories")):
                parts += self._child(table(child), notes, depth + 1)
        return parts


def _step(d: dict[str, Any], session: str, notes: list[str]) -> list[Part]:
    source, words = d.get("source"), plain(d.get("message"))
    compaction = table(table(d.get("extra")).get("context_management")).get("type") == "compaction"
    parts: list[Part] = []
    if source == "agent":
        if thoughts := text_of(d.get("reasoning_content")):
            parts.append(Part(EventKind.REASONING, Author.AGENT, thoughts))
        if words or not d.get("tool_calls"):
            parts.append(Part(EventKind.MESSAGE, Author.AGENT, words))
    elif source == "system":
        kind = EventKind.COMPACT_BOUNDARY if compaction else EventKind.MESSAGE
        parts.append(Part(kind, Author.SYSTEM, words))
    else:
        if source != "user":
            notes.append(f"unknown-source:{name(text_of(source))[:60]}")
        parts.append(Part(EventKind.MESSAGE, Author.EXTERNAL, words))
    for call in map(table, items(d.get("tool_calls"))):
        text = call_text(call.get("function_name"), call.get("arguments"))
        extra = call_note(call.get("tool_call_id"))
        parts.append(Part(EventKind.TOOL_CALL, Author.AGENT, text, notes=extra))
    for result in map(table, items(table(d.get("observation")).get("results"))):
        extra = [*call_note(result.get("source_call_id")), "outcome-unknown"]
        text = plain(result.get("content"))
        if compaction:
            parts.append(Part(EventKind.SUMMARY, Author.AGENT, text))
        else:
            parts.append(Part(EventKind.TOOL_RESULT, Author.TOOL, text, notes=extra))
    time, id_ = iso_time(d.get("timestamp"), notes), d.get("step_id")
    for part in parts:
        part.time = time
        part.native_id = f"{session}#{id_}" if isinstance(id_, int) else None
        if d.get("is_copied_context") is True:
            part.notes.append("copied")
    return parts


def _detect(sample: Sample) -> bool:
    version = (sample.document or {}).get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF-")


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield steps in file order."""
    return _Trajectory(source).read()


FORMAT = Format("atif", _detect, read)
