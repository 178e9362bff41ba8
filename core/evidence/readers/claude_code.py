"""Claude Code sessions, versions 1.0 to 2.1: who spoke, calls and results, boundaries (spec 1.1).

Rules and counts behind them: formats of transcripts, section 1. A `user` record is the owner's
words only when nothing marks it as client text, tool output, summary or another agent's prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from core.evidence.readers import capped
from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.fields import (
    as_json,
    block_text,
    call_note,
    iso_time,
    plain,
    string,
    text_of,
)
from core.evidence.readers.jsonl import name
from core.evidence.readers.records import Reading
from schemas.evidence import Author, EventKind

_CHAINED = {"user", "assistant", "system", "progress", "attachment"}
_BOOKKEEPING = {
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "summary",
    "last-prompt",
    "mode",
    "permission-mode",
    "ai-title",
    "bridge-session",
    "pr-link",
    "custom-title",
    "worktree-state",
}
_CLIENT_TEXT = (
    "<task-notification>",
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "<bash-stdout>",
    "<bash-stderr>",
    "<bash-input>",
    "<user-prompt-submit-hook>",
    "<user-memory-input>",
    "<teammate-message",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
)
_INERT = re.compile(
    r"<(system-reminder|ide_[a-z_]+)>.*?</\1>|<(?:system-reminder|ide_[a-z_]+)>.*\Z", re.S
)
"""Blocks that a client puts inside otherwise human text."""
_HUMAN_ORIGINS = {"human", "cli"}


def _detect(sample: Sample) -> bool:
    return any(map(_tells, sample.records))


def _tells(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    ids = "sessionId" in record or ("uuid" in record and "parentUuid" in record)
    if kind in ("user", "assistant"):
        message = record.get("message")
        foreign = isinstance(message, dict) and "content" not in message
        return "message" in record and ids and not foreign
    if kind in ("system", "progress", "attachment"):
        # Others write the same chain; only Claude Code says of each whether it is a sidechain.
        return ids and "uuid" in record and "isSidechain" in record
    if kind in ("started", "result"):
        return "agentId" in record and "key" in record
    return kind in _BOOKKEEPING and bool(record.keys() & {"sessionId", "leafUuid", "messageId"})


class _Session(Reading):
    """Notes missing parents; every record names its own session."""

    recalls = False

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        parts = self._parts(d, notes)
        self._common(d, parts, notes)
        return parts

    def _common(self, d: dict[str, Any], parts: list[Part], notes: list[str]) -> None:
        """Ids, session, scope, time and notes that all parts of a record share."""
        native = string(d, "uuid", notes)
        parent = string(d, "parentUuid", notes)
        time = iso_time(d.get("timestamp"), notes)
        scope = string(d, "cwd", notes)
        session = string(d, "sessionId", notes)
        if session:
            self.session = session
        if d.get("isSidechain") is True and isinstance(d.get("agentId"), str):
            session = f"{self.session}/agent-{name(d['agentId'])}"
        if parent and d.get("type") in _CHAINED and parent not in self.seen:
            notes.append(f"missing-parent:{parent}")
        if native:
            self.seen.add(native)
        for part in parts:
            part.native_id, part.parent, part.time, part.scope = native, parent, time, scope
            part.session = session

    def _parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        kind = d.get("type")
        if kind == "user":
            return _user(d, notes)
        if kind == "assistant":
            return _assistant(d, notes)
        if kind == "system":
            return [_system(d)]
        if kind == "summary" or (kind == "ai-title"):
            text = d.get("summary") or d.get("aiTitle") or d.get("title")
            return [Part(EventKind.SUMMARY, Author.AGENT, text_of(text))]
        if kind in ("file-history-snapshot", "file-history-delta"):
            return [Part(EventKind.SNAPSHOT, Author.SYSTEM)]
        if kind == "attachment":
            return [_attachment(d)]
        if kind == "progress":
            data = d.get("data")
            label = data.get("type") if isinstance(data, dict) else None
            return [Part(EventKind.SYSTEM, Author.SYSTEM, text_of(label))]
        if kind in ("tool_use", "tool_result"):
            return [_bare_tool(d)]
        if kind not in _BOOKKEEPING:
            notes.append(f"unknown-type:{name(str(kind))[:60]}")
        text = d.get("content") or d.get("lastPrompt") or d.get("operation")
        return [Part(EventKind.SYSTEM, Author.SYSTEM, text_of(text))]


def _user(d: dict[str, Any], notes: list[str]) -> list[Part]:
    message = d.get("message")
    if not isinstance(message, dict):
        notes.append("odd:message")
        return [Part(EventKind.MESSAGE, Author.UNKNOWN)]
    content = message.get("content")
    if d.get("isCompactSummary") is True:
        return [Part(EventKind.SUMMARY, Author.AGENT, plain(content))]
    if isinstance(content, str):
        return _human(d, content)
    if not isinstance(content, list):
        notes.append("odd:content")
        return [Part(EventKind.MESSAGE, Author.UNKNOWN)]
    parts: list[Part] = []
    words: list[str] = []
    results = any(isinstance(b, dict) and b.get("type") == "tool_result" for b in content)
    for block in content:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            parts.append(_result(block))
        else:
            words.append(block_text(block, notes))
    text = "\n".join(w for w in words if w)
    if not parts:
        return _human(d, text)
    if text:
        # Words beside a tool result come from the client; a person can't type between the two.
        parts.append(Part(EventKind.MESSAGE, Author.SYSTEM, text))
    if not results:
        notes.append("odd:content")
    return parts


def _human(d: dict[str, Any], text: str) -> list[Part]:
    """A user record's words, with reminders cut out as inert parts of their own."""
    author = _speaker(d, text)
    blocks = [m[0] for m in _INERT.finditer(text)]
    if not blocks or author in (Author.AGENT, Author.SYSTEM):
        return [Part(EventKind.MESSAGE, author, text)]
    own = _INERT.sub("", text).strip()
    inert = [Part(EventKind.SYSTEM, Author.SYSTEM, b, notes=["inert"]) for b in blocks]
    return [Part(EventKind.MESSAGE, author, own), *inert] if own else inert


def _speaker(d: dict[str, Any], text: str) -> Author:
    origin = d.get("origin")
    origin_kind = origin.get("kind") if isinstance(origin, dict) else None
    if d.get("isSidechain") is True:
        return Author.SUBAGENT
    if d.get("isMeta") is True or d.get("promptSource") == "system":
        return Author.SYSTEM
    if origin_kind is not None and origin_kind not in _HUMAN_ORIGINS:
        return Author.SYSTEM
    head = _INERT.sub("", text).lstrip()
    if not head and text.strip():
        return Author.SYSTEM
    if head.startswith(_CLIENT_TEXT) or isinstance(d.get("planContent"), str):
        return Author.SYSTEM
    return Author.OWNER


def _assistant(d: dict[str, Any], notes: list[str]) -> list[Part]:
    author = Author.SUBAGENT if d.get("isSidechain") is True else Author.AGENT
    message = d.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if d.get("isApiErrorMessage") is True:
        return [Part(EventKind.SYSTEM, Author.SYSTEM, plain(content), notes=["api-error"])]
    if isinstance(content, str):
        return [Part(EventKind.MESSAGE, author, content)]
    if not isinstance(content, list) or not content:
        notes.append("odd:content")
        return [Part(EventKind.MESSAGE, author)]
    parts: list[Part] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("thinking", "redacted_thinking"):
            parts.append(Part(EventKind.REASONING, author, text_of(block.get("thinking"))))
        elif kind == "tool_use":
            call = f"{text_of(block.get('name'))} {as_json(block.get('input'))}"
            parts.append(Part(EventKind.TOOL_CALL, author, call, notes=call_note(block.get("id"))))
        else:
            parts.append(Part(EventKind.MESSAGE, author, block_text(block, notes)))
    return parts


def _result(block: dict[str, Any]) -> Part:
    text = plain(block.get("content"))
    extra = call_note(block.get("tool_use_id"))
    extra += capped.notes(text)
    if block.get("is_error") is True:
        extra.append("error")
    elif "is_error" not in block:
        extra.append("outcome-unknown")
    return Part(EventKind.TOOL_RESULT, Author.TOOL, text, notes=extra)


def _bare_tool(d: dict[str, Any]) -> Part:
    if d.get("type") == "tool_use":
        text = f"{text_of(d.get('name'))} {as_json(d.get('input'))}"
        return Part(EventKind.TOOL_CALL, Author.AGENT, text)
    return Part(EventKind.TOOL_RESULT, Author.TOOL, text_of(d.get("output")))


def _system(d: dict[str, Any]) -> Part:
    subtype = d.get("subtype")
    text = text_of(d.get("content"))
    extra = [f"subtype:{name(subtype)[:60]}"] if isinstance(subtype, str) else []
    if subtype in ("compact_boundary", "microcompact_boundary"):
        facts = d.get("compactMetadata") or d.get("microcompactMetadata")
        about = f"{text} {as_json(facts)}".strip() if facts else text
        return Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, about, notes=extra)
    if subtype == "away_summary":
        return Part(EventKind.SUMMARY, Author.AGENT, text, notes=extra)
    return Part(EventKind.SYSTEM, Author.SYSTEM, text, notes=extra)


def _attachment(d: dict[str, Any]) -> Part:
    attachment = d.get("attachment")
    facts = attachment if isinstance(attachment, dict) else {}
    kind = text_of(facts.get("type"))
    extra = [f"attachment:{name(kind)[:60]}"] if kind else []
    if kind == "queued_command" and facts.get("commandMode", "prompt") == "prompt":
        text = plain(facts.get("prompt"))
        inner = {"origin": facts.get("origin"), "isMeta": facts.get("isMeta")}
        if _speaker(inner, text) is Author.OWNER and text:
            return Part(EventKind.MESSAGE, Author.OWNER, text, notes=extra)
    return Part(EventKind.SYSTEM, Author.SYSTEM, plain(facts.get("content")), notes=extra)


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    return _Session(source).read()


FORMAT = Format("claude-code", _detect, read, log=True, dated=True)
