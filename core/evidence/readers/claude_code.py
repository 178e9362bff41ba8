"""Claude Code sessions, versions 1.0 to 2.1: who spoke, calls and results, boundaries (spec 1.1).

Rules and counts behind them: formats of transcripts, section 1. A `user` record is the owner's
words only when nothing marks it as client text, tool output, summary or another agent's prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting, lines
from core.evidence.readers.jsonl import Value, clean, first_value, name, padding, values, whole
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
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HUMAN_ORIGINS = {"human", "cli"}


def _detect(sample: Sample) -> bool:
    for data in sample.lines[:64]:
        record = first_value(data)
        if isinstance(record, dict) and _tells(record):
            return True
    return False


def _tells(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    ids = "sessionId" in record or ("uuid" in record and "parentUuid" in record)
    if kind in ("user", "assistant"):
        message = record.get("message")
        foreign = isinstance(message, dict) and "content" not in message
        return "message" in record and ids and not foreign
    if kind in ("system", "progress", "attachment"):
        return ids and "uuid" in record
    if kind in ("started", "result"):
        return "agentId" in record and "key" in record
    return kind in _BOOKKEEPING and bool(record.keys() & {"sessionId", "leafUuid", "messageId"})


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    reading = _Reading(source)
    for line in lines(source):
        if not line.ended and not whole(line.data):
            if not (line.continued and padding(line.data)):
                yield Waiting(line.start, len(line.data))
            return
        for value in values(line, source.max_record):
            yield reading.record(value)


class _Reading:
    """State over one file: the running session, and ids seen, to note missing parents."""

    def __init__(self, source: Source) -> None:
        self.stem = source.session
        self.session = source.session
        self.seen = source.known()

    def record(self, value: Value) -> Record:
        if value.broken or not isinstance(value.value, dict):
            notes = value.notes if value.broken else [*value.notes, "not-an-object"]
            text = value.raw[:4096].decode("utf-8", "replace")
            part = Part(EventKind.UNPARSED, Author.UNKNOWN, text, session=self.session, notes=notes)
            return Record(value.start, value.raw, value.line, [part])
        document = value.value
        notes = list(value.notes)
        parts = self._parts(document, notes)
        self._common(document, parts, notes)
        return Record(value.start, value.raw, value.line, parts)

    def _common(self, d: dict[str, Any], parts: list[Part], notes: list[str]) -> None:
        """Ids, session, scope, time and notes that all parts of a record share."""
        native = _string(d, "uuid", notes)
        parent = _string(d, "parentUuid", notes)
        time = _time(d.get("timestamp"), notes)
        scope = _string(d, "cwd", notes)
        session = _string(d, "sessionId", notes)
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
            part.session = session or self.session
            part.notes = notes if not part.notes else [*notes, *part.notes]
            part.text = clean(part.text)

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
            return [Part(EventKind.SUMMARY, Author.AGENT, _text(text))]
        if kind in ("file-history-snapshot", "file-history-delta"):
            return [Part(EventKind.SNAPSHOT, Author.SYSTEM)]
        if kind == "attachment":
            return [_attachment(d)]
        if kind == "progress":
            data = d.get("data")
            label = data.get("type") if isinstance(data, dict) else None
            return [Part(EventKind.SYSTEM, Author.SYSTEM, _text(label))]
        if kind in ("tool_use", "tool_result"):
            return [_bare_tool(d)]
        if kind not in _BOOKKEEPING:
            notes.append(f"unknown-type:{name(str(kind))[:60]}")
        text = d.get("content") or d.get("lastPrompt") or d.get("operation")
        return [Part(EventKind.SYSTEM, Author.SYSTEM, _text(text))]


def _user(d: dict[str, Any], notes: list[str]) -> list[Part]:
    message = d.get("message")
    if not isinstance(message, dict):
        notes.append("odd:message")
        return [Part(EventKind.MESSAGE, Author.UNKNOWN)]
    content = message.get("content")
    if d.get("isCompactSummary") is True:
        return [Part(EventKind.SUMMARY, Author.AGENT, _plain(content))]
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
            words.append(_block_text(block, notes))
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
        return [Part(EventKind.SYSTEM, Author.SYSTEM, _plain(content), notes=["api-error"])]
    if isinstance(content, str):
        return [Part(EventKind.MESSAGE, author, content)]
    if not isinstance(content, list) or not content:
        notes.append("odd:content")
        return [Part(EventKind.MESSAGE, author)]
    parts: list[Part] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("thinking", "redacted_thinking"):
            parts.append(Part(EventKind.REASONING, author, _text(block.get("thinking"))))
        elif kind == "tool_use":
            call = f"{_text(block.get('name'))} {_json(block.get('input'))}"
            parts.append(Part(EventKind.TOOL_CALL, author, call, notes=_call(block.get("id"))))
        else:
            parts.append(Part(EventKind.MESSAGE, author, _block_text(block, notes)))
    return parts


def _result(block: dict[str, Any]) -> Part:
    text = _plain(block.get("content"))
    extra = _call(block.get("tool_use_id"))
    if text.lstrip().startswith("<persisted-output>"):
        extra.append("partial")
    if block.get("is_error") is True:
        extra.append("error")
    elif "is_error" not in block:
        extra.append("outcome-unknown")
    return Part(EventKind.TOOL_RESULT, Author.TOOL, text, notes=extra)


def _bare_tool(d: dict[str, Any]) -> Part:
    if d.get("type") == "tool_use":
        text = f"{_text(d.get('name'))} {_json(d.get('input'))}"
        return Part(EventKind.TOOL_CALL, Author.AGENT, text)
    return Part(EventKind.TOOL_RESULT, Author.TOOL, _text(d.get("output")))


def _system(d: dict[str, Any]) -> Part:
    subtype = d.get("subtype")
    text = _text(d.get("content"))
    extra = [f"subtype:{name(subtype)[:60]}"] if isinstance(subtype, str) else []
    if subtype in ("compact_boundary", "microcompact_boundary"):
        facts = d.get("compactMetadata") or d.get("microcompactMetadata")
        about = f"{text} {_json(facts)}".strip() if facts else text
        return Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, about, notes=extra)
    if subtype == "away_summary":
        return Part(EventKind.SUMMARY, Author.AGENT, text, notes=extra)
    return Part(EventKind.SYSTEM, Author.SYSTEM, text, notes=extra)


def _attachment(d: dict[str, Any]) -> Part:
    attachment = d.get("attachment")
    facts = attachment if isinstance(attachment, dict) else {}
    kind = _text(facts.get("type"))
    extra = [f"attachment:{name(kind)[:60]}"] if kind else []
    if kind == "queued_command" and facts.get("commandMode", "prompt") == "prompt":
        text = _plain(facts.get("prompt"))
        inner = {"origin": facts.get("origin"), "isMeta": facts.get("isMeta")}
        if _speaker(inner, text) is Author.OWNER and text:
            return Part(EventKind.MESSAGE, Author.OWNER, text, notes=extra)
    return Part(EventKind.SYSTEM, Author.SYSTEM, _plain(facts.get("content")), notes=extra)


def _call(id_: object) -> list[str]:
    return [f"call:{name(id_)[:120]}"] if isinstance(id_, str) else []


def _plain(content: object) -> str:
    """The text of a content member: a string, or its blocks joined."""
    if isinstance(content, list):
        return "\n".join(t for b in content if (t := _block_text(b, [])))
    return _text(content)


def _block_text(block: object, notes: list[str]) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        notes.append("odd:block")
        return ""
    kind = block.get("type")
    if kind == "text":
        return _text(block.get("text"))
    if kind == "image":
        source = block.get("source")
        media = source.get("media_type") if isinstance(source, dict) else None
        return f"[image {_text(media)}]" if media else "[image]"
    if kind == "tool_reference":
        return f"[tool {_text(block.get('tool_name') or block.get('name'))}]"
    notes.append(f"unknown-block:{name(str(kind))[:60]}")
    return ""


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, orjson.JSONEncodeError):
        import json

        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)


def _string(d: dict[str, Any], key: str, notes: list[str]) -> str | None:
    value = d.get(key)
    if value is None or isinstance(value, str):
        return name(value) if value else None
    notes.append(f"odd:{key}")
    return None


def _time(value: object, notes: list[str]) -> int | None:
    """Microseconds UTC of an ISO time with zone; anything else is noted and left out."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)  # type: ignore[arg-type]
        if moment.tzinfo is None:
            raise ValueError("naive")
    except (ValueError, TypeError):
        notes.append("odd:timestamp")
        return None
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


FORMAT = Format("claude-code", _detect, read, log=True)
