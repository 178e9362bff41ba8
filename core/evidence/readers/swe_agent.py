"""SWE-agent and mini-swe-agent trajectories (spec 1.1; formats of transcripts, section 8).

Nobody types in these runs: the task comes from outside, every other prompt from the harness. A
trajectory and its history tell the same steps; what comes first in the file tells them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.evidence.readers.base import Format, Part, Record, Sample, Source, Waiting
from core.evidence.readers.documents import Document
from core.evidence.readers.fields import call_note, call_text, items, plain, table, text_of
from core.evidence.readers.jsonl import name
from schemas.evidence import Author, EventKind

_ROLES = {"system", "user", "assistant", "tool", "exit"}


class _Run(Document):
    arrays = frozenset({"trajectory", "history", "messages"})

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.first: str | None = None
        self.steps = 0
        self.answered = False

    def members(self, members: dict[str, Any], notes: list[str]) -> list[Part]:
        info = table(members.get("info"))
        extra = [f"exit:{name(text_of(info.get('exit_status')))[:60]}"] if info else []
        return [Part(EventKind.SYSTEM, Author.SYSTEM, text_of(info.get("submission")), notes=extra)]

    def item(self, key: str, value: Any, notes: list[str]) -> list[Part]:
        if self.first is None:
            self.first = key
        item = table(value)
        if key == "trajectory":
            return self._step(item)
        return self._message(item, notes, copy=key != self.first)

    def _step(self, item: dict[str, Any]) -> list[Part]:
        """A thought, what was done, and what came of it, paired by position."""
        if self.first != "trajectory":
            return [_copy()]
        pair = call_note(f"step-{self.steps}")
        self.steps += 1
        words = text_of(item.get("response")) or text_of(item.get("thought"))
        result = Part(EventKind.TOOL_RESULT, Author.TOOL, plain(item.get("observation")))
        result.notes = [*pair, "outcome-unknown"]
        return [
            Part(EventKind.MESSAGE, Author.AGENT, words),
            Part(EventKind.TOOL_CALL, Author.AGENT, text_of(item.get("action")), notes=pair),
            result,
        ]

    def _message(self, item: dict[str, Any], notes: list[str], *, copy: bool) -> list[Part]:
        role, words = item.get("role"), plain(item.get("content"))
        demo = item.get("is_demo") is True or item.get("message_type") == "demonstration"
        if role == "system" or role == "exit" or demo:
            return [Part(EventKind.MESSAGE, Author.SYSTEM, words)]
        if role == "assistant":
            self.answered = True
            return [_copy()] if copy else _answer(item, words)
        # The task, too, is called an observation: only after an answer there is something to observe.
        if role == "tool" or (role == "user" and self.answered):
            if copy:
                return [_copy()]
            ids = items(item.get("tool_call_ids")) or [item.get("tool_call_id")]
            pairs = [n for id_ in ids for n in call_note(id_)]
            extra = [*pairs, "outcome-unknown"]
            return [Part(EventKind.TOOL_RESULT, Author.TOOL, words, notes=extra)]
        if role != "user":
            notes.append(f"unknown-role:{name(text_of(role))[:60]}")
        return [Part(EventKind.MESSAGE, Author.EXTERNAL, words)]


def _copy() -> Part:
    return Part(EventKind.SYSTEM, Author.SYSTEM, notes=["copy"])


def _answer(item: dict[str, Any], words: str) -> list[Part]:
    parts = [Part(EventKind.MESSAGE, Author.AGENT, words)]
    for call in items(item.get("tool_calls")):
        function = table(table(call).get("function"))
        text = call_text(function.get("name"), function.get("arguments"))
        extra = call_note(table(call).get("id"))
        parts.append(Part(EventKind.TOOL_CALL, Author.AGENT, text, notes=extra))
    return parts


def _detect(sample: Sample) -> bool:
    document = sample.document or {}
    steps = items(document.get("trajectory"))
    if steps and {"action", "observation"} <= table(steps[0]).keys():
        return True
    history = items(document.get("history"))
    if history and "role" in table(history[0]):
        return bool({"agent", "message_type"} & table(history[0]).keys())
    messages = items(document.get("messages")) if "trajectory_format" in document else []
    for message in messages or items(document.get("")):
        facts = table(message)
        if facts.get("role") not in _ROLES or "content" not in facts:
            return False
    return bool(messages or document.get(""))


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield steps and messages in file order."""
    return _Run(source).read()


FORMAT = Format("swe-agent", _detect, read)
