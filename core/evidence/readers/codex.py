"""Codex rollouts: threads, their copies and forks, calls and compactions (spec 1.1).

Rules and counts behind them: formats of transcripts, section 2. Most messages stand in a rollout
twice, as an event for the screen and as an item for the model; the first is the message, the
other its copy.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import orjson

from core.evidence.readers import capped
from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.fields import (
    block_text,
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

_ENVELOPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_CLIENT_TEXT = (
    "<environment_context>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<recommended_plugins>",
    "<user_shell_command>",
    "<user_instructions>",
    "<user_action>",
    "<subagent_notification>",
)
_SAID = {"agent_message": "assistant", "user_message": "user", "agent_reasoning": "reasoning"}
_ITEMS = {"AgentMessage": "assistant", "UserMessage": "user", "Reasoning": "reasoning"}
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(\d+)", re.M)
_NEAR = 12
"""Messages within which the copy of one stands."""


class _Rollout(Reading):
    """Thread, folder and parent of the file, and the messages its next copies may repeat."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.scope: str | None = None
        self.thread: str | None = None
        self.origin = self.session
        """Thread whose history the lines count in: a fork's copied prefix counts in its parent's."""
        self.first_line = 0
        self.parent: str | None = None
        self.forked_at: int | None = None
        self.by_agent = False
        """True in a thread whose prompts another agent wrote."""
        self.near: deque[tuple[bool, str, str]] = deque(maxlen=_NEAR)
        self.headless = False

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        envelope = d.get("type")
        payload = d.get("payload")
        time = iso_time(d.get("timestamp"), notes)
        if envelope == "session_meta" and isinstance(payload, dict):
            parts = self._header(payload, notes)
        elif isinstance(payload, dict):
            parts = self._enveloped(str(envelope), payload, notes)
        elif "instructions" in d and envelope is None:
            parts = self._header(d, notes)
        elif d.get("record_type") == "state":
            parts = [Part(EventKind.SYSTEM, Author.SYSTEM, notes=["state"])]
        else:
            parts = self._response(d, notes)
        if self.thread is None and not self.headless:
            self.headless = True
            notes.append("header-missing")
        if self.parent and time is not None and self.forked_at and time < self.forked_at:
            notes.append(f"copied-from:{self.parent}")
        inner = payload if isinstance(payload, dict) else d
        native = string(inner, "id", []) or string(inner, "call_id", [])
        if native is None or envelope == "session_meta":
            native = f"{self.origin}#{self.line - self.first_line}"
        for part in parts:
            part.native_id, part.time, part.scope = native, time, self.scope
        return parts

    def _header(self, payload: dict[str, Any], notes: list[str]) -> list[Part]:
        """A thread begins, is opened again, or its parent's header is copied into a fork."""
        id_ = string(payload, "id", notes)
        part = Part(EventKind.SYSTEM, Author.SYSTEM, notes=["session"])
        if self.thread is None:
            self.thread = id_ or self.session
            self.session = self.thread
            self.first_line = self.line
            self.scope = string(payload, "cwd", notes)
            origin = table(table(payload.get("source")).get("subagent"))
            spawned = table(origin.get("thread_spawn")).get("parent_thread_id")
            parent = payload.get("forked_from_id") or spawned or payload.get("parent_thread_id")
            self.parent = name(parent) if isinstance(parent, str) else None
            self.by_agent = isinstance(payload.get("source"), dict) or spawned is not None
            self.origin = self.parent or self.thread
            self.forked_at = iso_time(payload.get("timestamp"), [])
            if self.parent:
                part.parent = self.parent
                part.notes.append(f"forked-from:{self.parent}")
        elif id_ == self.thread:
            part.notes.append("reopened")
        else:
            part.notes.append(f"copied-header:{id_}")
            if id_ == self.parent:
                self.first_line = self.line
        return [part]

    def _enveloped(self, envelope: str, payload: dict[str, Any], notes: list[str]) -> list[Part]:
        if envelope == "response_item":
            return self._response(payload, notes)
        if envelope == "event_msg":
            return [self._event(payload)]
        if envelope == "compacted":
            # Its replacement history holds copies of earlier messages: nobody says them again.
            boundary = Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, "Context compacted")
            words = text_of(payload.get("message"))
            summary = Part(EventKind.SUMMARY, Author.AGENT, words)
            return [boundary, summary] if words else [boundary]
        if envelope == "turn_context":
            self.scope = string(payload, "cwd", notes) or self.scope
        elif envelope not in ("world_state", "inter_agent_communication_metadata"):
            notes.append(f"unknown-type:{name(envelope)[:60]}")
        return [Part(EventKind.SYSTEM, Author.SYSTEM, notes=[name(envelope)[:60]])]

    def _event(self, payload: dict[str, Any]) -> Part:
        """What the client showed: words of its own kind, else a note of its name."""
        kind = text_of(payload.get("type"))
        if kind in _SAID:
            role = _SAID[kind]
            words = payload.get("text") if role == "reasoning" else payload.get("message")
            return self._said(role, text_of(words), event=True)
        if kind == "item_completed":
            item = table(payload.get("item"))
            role = _ITEMS.get(text_of(item.get("type")), "")
            words = _words(item.get("text") or item.get("content") or item.get("summary_text"))
            if role and words:
                return self._said(role, words, event=True)
        text = text_of(table(payload.get("error")).get("message") or payload.get("message"))
        shown = text if kind in ("error", "stream_error", "warning") else ""
        return Part(EventKind.SYSTEM, Author.SYSTEM, shown, notes=[f"event:{name(kind)[:60]}"])

    def _response(self, item: dict[str, Any], notes: list[str]) -> list[Part]:
        """An item of the conversation with the model."""
        kind = text_of(item.get("type"))
        role = text_of(item.get("role"))
        if kind == "message" or (not kind and role):
            blocks = items(item.get("content")) or [item.get("content")]
            words = "\n".join(t for b in blocks if (t := block_text(b, notes)))
            return [self._said(role, words, event=False)]
        if kind == "reasoning":
            words = _words(item.get("summary")) or _words(item.get("content"))
            return [self._said("reasoning", words, event=False)]
        if kind == "agent_message":
            words = _words(item.get("content") or item.get("message"))
            who = [f"from:{name(text_of(item.get('author')))[:120]}"]
            return [Part(EventKind.MESSAGE, Author.SUBAGENT, words, notes=who)]
        if kind == "ghost_snapshot":
            return [Part(EventKind.SNAPSHOT, Author.SYSTEM)]
        if kind.endswith(("_output", "_result")):
            return [_result(item)]
        if kind.endswith("_call"):
            given = item.get("arguments") or item.get("input") or item.get("action")
            call = call_text(item.get("name") or kind.removesuffix("_call"), given)
            return [
                Part(EventKind.TOOL_CALL, Author.AGENT, call, notes=call_note(item.get("call_id")))
            ]
        notes.append(f"unknown-type:{name(kind)[:60]}")
        return [Part(EventKind.SYSTEM, Author.SYSTEM)]

    def _said(self, role: str, words: str, *, event: bool) -> Part:
        """A message or a thought, or the second of two that are one."""
        key = (role, words.strip())
        if key[1] and (not event, *key) in self.near:
            self.near.remove((not event, *key))
            return Part(EventKind.SYSTEM, Author.SYSTEM, notes=["copy"])
        self.near.append((event, *key))
        if role == "reasoning":
            return Part(EventKind.REASONING, Author.AGENT, words)
        return Part(EventKind.MESSAGE, self._speaker(role, words), words)

    def _speaker(self, role: str, words: str) -> Author:
        if role == "assistant":
            return Author.AGENT
        if role != "user" or words.lstrip().startswith(_CLIENT_TEXT):
            return Author.SYSTEM
        return Author.SUBAGENT if self.by_agent else Author.OWNER


def _words(content: object) -> str:
    """Texts of blocks, whose types some versions write with capitals."""
    if not isinstance(content, list):
        return text_of(content)
    texts = [b if isinstance(b, str) else text_of(table(b).get("text")) for b in content]
    return "\n".join(t for t in texts if t)


def _result(item: dict[str, Any]) -> Part:
    output = item.get("output", item.get("result"))
    facts = table(output)
    if isinstance(output, str) and output.startswith('{"'):
        try:
            facts = table(orjson.loads(output))
        except orjson.JSONDecodeError:
            facts = {}
    text = plain(output)
    status: object = None
    if "output" in facts or "content" in facts:
        text = plain(facts.get("output", facts.get("content")))
        status = table(facts.get("metadata")).get("exit_code", facts.get("success"))
    found = _EXIT.search(text[:400])
    if status is None and found:
        status = int(found[1])
    notes = call_note(item.get("call_id")) + capped.notes(text)
    if status is None:
        notes.append("outcome-unknown")
    elif status is not True and status != 0:
        notes.append("error")
    return Part(EventKind.TOOL_RESULT, Author.TOOL, text, notes=notes)


def _detect(sample: Sample) -> bool:
    records = sample.records
    if any(r.get("type") in _ENVELOPES and isinstance(r.get("payload"), dict) for r in records):
        return True
    old = records[0] if records else {}
    return {"id", "timestamp", "instructions"} <= old.keys() and "type" not in old


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    return _Rollout(source).read()


FORMAT = Format("codex", _detect, read, log=True)
