"""OpenHands: evaluation output, one run a line, and the SDK's event logs (spec 1.1).

Formats of transcripts, section 8. In an evaluation the task comes from outside; in an SDK
conversation `user` is the person at the keyboard. Times have no zone and are left out.
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

_STATE = {"change_agent_state", "recall", "null", "agent_state_changed", "NullObservation"}


class _Log(Reading):
    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        if isinstance(d.get("history"), list):
            return self._run(d)
        if isinstance(d.get("kind"), str):
            parts = _sdk(d, notes)
        else:
            parts = _event(d, self.session, notes)
        for part in parts:
            part.native_id = string(d, "id", []) or part.native_id
            part.time = iso_time(d.get("timestamp"), notes)
        return parts

    def _run(self, d: dict[str, Any]) -> list[Part]:
        """One task with its whole history in one line."""
        instance = d.get("instance_id") or table(d.get("issue")).get("number") or self.line
        session = name(f"{self.session}/{text_of(instance)}")
        words = text_of(d.get("instruction"))
        parts = [Part(EventKind.MESSAGE, Author.EXTERNAL, words)] if words else []
        for event in items(d["history"]):
            # Old runs hold pairs of an action and its observation.
            for one in event if isinstance(event, list) else [event]:
                parts += _event(table(one), session, [])
        for part in parts:
            part.session = session
        return parts or [Part(EventKind.SYSTEM, Author.SYSTEM, session=session)]


def _event(d: dict[str, Any], session: str, notes: list[str]) -> list[Part]:
    """An action or an observation of version 0."""
    args, extras = table(d.get("args")) or d, table(d.get("extras")) or d
    action, observation = d.get("action"), d.get("observation")
    if observation is not None:
        parts = [_observed(d, text_of(observation), extras)]
    elif action is not None:
        parts = _acted(d, text_of(action), args)
    else:
        notes.append("unknown-type:")
        parts = [Part(EventKind.SYSTEM, Author.SYSTEM)]
    id_, cause = d.get("id"), d.get("cause")
    for part in parts:
        part.native_id = f"{session}#{id_}" if isinstance(id_, int) else None
        part.parent = f"{session}#{cause}" if isinstance(cause, int) else None
    return parts


def _observed(d: dict[str, Any], kind: str, extras: dict[str, Any]) -> Part:
    words = plain(d.get("content"))
    if kind in _STATE:
        return Part(EventKind.SYSTEM, Author.SYSTEM, words, notes=[f"event:{name(kind)[:60]}"])
    code = extras.get("exit_code", table(extras.get("metadata")).get("exit_code"))
    notes = call_note(table(d.get("tool_call_metadata")).get("tool_call_id"))
    if kind == "error" or (isinstance(code, int) and code != 0):
        notes.append("error")
    elif code is None:
        notes.append("outcome-unknown")
    return Part(EventKind.TOOL_RESULT, Author.TOOL, words, notes=notes)


def _acted(d: dict[str, Any], kind: str, args: dict[str, Any]) -> list[Part]:
    thought = text_of(args.get("thought"))
    parts = [Part(EventKind.REASONING, Author.AGENT, thought)] if thought else []
    words = plain(args.get("content") or d.get("message"))
    if kind == "message":
        authors = {"user": Author.EXTERNAL, "agent": Author.AGENT}
        author = authors.get(text_of(d.get("source")), Author.UNKNOWN)
        return [*parts, Part(EventKind.MESSAGE, author, words)]
    if kind == "think":
        return parts or [Part(EventKind.REASONING, Author.AGENT, words)]
    if kind == "finish":
        return [*parts, Part(EventKind.MESSAGE, Author.AGENT, words)]
    if kind == "condensation":
        about = Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, kind)
        summary = text_of(args.get("summary"))
        return [about, Part(EventKind.SUMMARY, Author.AGENT, summary)] if summary else [about]
    if kind in _STATE or kind == "system":
        extra = [f"event:{name(kind)[:60]}"]
        return [Part(EventKind.SYSTEM, Author.SYSTEM, words, notes=extra)]
    given = {k: v for k, v in args.items() if k in ("command", "code", "path", "url", "content")}
    extra = call_note(table(d.get("tool_call_metadata")).get("tool_call_id"))
    return [*parts, Part(EventKind.TOOL_CALL, Author.AGENT, call_text(kind, given), notes=extra)]


def _sdk(d: dict[str, Any], notes: list[str]) -> list[Part]:
    """An event of the SDK."""
    kind = d["kind"]
    if kind == "MessageEvent":
        return _said(d)
    if kind == "ActionEvent":
        return _called(d)
    pair = call_note(d.get("tool_call_id"))
    if kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        observation = table(d.get("observation"))
        words = plain(observation.get("content", observation.get("output")))
        words = words or text_of(d.get("error") or d.get("rejection_reason"))
        failed = kind != "ObservationEvent" or observation.get("is_error") is True
        if failed or observation.get("exit_code") not in (None, 0):
            pair.append("error")
        elif "is_error" not in observation:
            pair.append("outcome-unknown")
        parent = string(d, "action_id", notes)
        return [Part(EventKind.TOOL_RESULT, Author.TOOL, words, parent=parent, notes=pair)]
    if kind in ("Condensation", "CondensationSummaryEvent"):
        about = Part(EventKind.COMPACT_BOUNDARY, Author.SYSTEM, kind)
        summary = text_of(d.get("summary"))
        return [about, Part(EventKind.SUMMARY, Author.AGENT, summary)] if summary else [about]
    if kind == "SystemPromptEvent":
        return [Part(EventKind.MESSAGE, Author.SYSTEM, plain(d.get("system_prompt")))]
    if not kind.endswith(("Event", "Request", "Observation")):
        notes.append(f"unknown-type:{name(kind)[:60]}")
    return [Part(EventKind.SYSTEM, Author.SYSTEM, notes=[f"event:{name(kind)[:60]}"])]


def _said(d: dict[str, Any]) -> list[Part]:
    message = table(d.get("llm_message"))
    author = {"user": Author.OWNER, "agent": Author.AGENT}.get(text_of(d.get("source")))
    if d.get("sender"):
        author = Author.SUBAGENT
    parts = []
    if thoughts := text_of(message.get("reasoning_content")):
        parts.append(Part(EventKind.REASONING, author or Author.AGENT, thoughts))
    words = plain(message.get("content"))
    parts.append(Part(EventKind.MESSAGE, author or Author.SYSTEM, words))
    if added := plain(d.get("extended_content") or None):
        # What the client put behind the person's words for the model.
        parts.append(Part(EventKind.SYSTEM, Author.SYSTEM, added, notes=["inert"]))
    return parts


def _called(d: dict[str, Any]) -> list[Part]:
    parts = []
    if thoughts := text_of(d.get("reasoning_content")):
        parts.append(Part(EventKind.REASONING, Author.AGENT, thoughts))
    if words := plain(d.get("thought")):
        parts.append(Part(EventKind.MESSAGE, Author.AGENT, words))
    call = table(d.get("tool_call"))
    given = call.get("arguments") or table(call.get("function")).get("arguments") or d.get("action")
    extra = call_note(d.get("tool_call_id"))
    if isinstance(d.get("llm_response_id"), str):
        extra.append(f"response:{name(d['llm_response_id'])[:120]}")
    text = call_text(d.get("tool_name"), given)
    return [*parts, Part(EventKind.TOOL_CALL, Author.AGENT, text, notes=extra)]


def _detect(sample: Sample) -> bool:
    return any(_tells(r) for r in sample.records)


def _tells(r: dict[str, Any]) -> bool:
    if isinstance(r.get("history"), list):
        first = next(iter(r["history"]), None)
        first = first[0] if isinstance(first, list) and first else first
        return bool({"action", "observation"} & table(first).keys())
    if "source" not in r or "timestamp" not in r:
        return False
    kind = r.get("kind")
    sdk = isinstance(kind, str) and kind.endswith(("Event", "Condensation", "Observation"))
    return sdk or ("id" in r and ("args" in r or "extras" in r))


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    return _Log(source).read()


FORMAT = Format("openhands", _detect, read, log=True)
