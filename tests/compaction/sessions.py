"""Sessions written here, record by record, as Claude Code and Codex write theirs."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from core.compaction.observe import observe
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.compaction import Boundary, Item, Observation
from schemas.evidence import Author, Event, EventKind
from tests.conftest import record, write

_UUIDS = itertools.count(1)
CONTINUED = "This session is being continued from a previous conversation that ran out of context."


def uid() -> str:
    """A fresh record id."""
    return f"r{next(_UUIDS)}"


def owner(text: str, **changes: Any) -> bytes:
    """The owner speaks."""
    return record(text, uid(), **changes)


def agent(text: str, **changes: Any) -> bytes:
    """The agent answers."""
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return record(
        "", uid(), type="assistant", message=message | changes.pop("extra", {}), **changes
    )


def call(id_: str, name: str, given: dict[str, Any], **changes: Any) -> bytes:
    """The agent calls a tool."""
    block = {"type": "tool_use", "id": id_, "name": name, "input": given}
    message = {"role": "assistant", "content": [block]}
    return record("", uid(), type="assistant", message=message, **changes)


def result(id_: str, text: str, beside: str = "", **changes: Any) -> bytes:
    """What the tool gave, and client text beside it."""
    blocks: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": id_, "content": text}]
    blocks += [{"type": "text", "text": beside}] if beside else []
    return record("", uid(), message={"role": "user", "content": blocks}, **changes)


def boundary(tokens: int | None = 170_240, uuid: str = "", **changes: Any) -> bytes:
    """The host compacts."""
    facts: dict[str, Any] = {"trigger": "auto"} | ({"preTokens": tokens} if tokens else {})
    facts |= changes.pop("facts", {})
    members: dict[str, Any] = {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "compactMetadata": facts,
        "message": None,
    }
    return record("", uuid or uid(), **(members | changes))


def summary(text: str, **changes: Any) -> bytes:
    """What the host's model wrote of it."""
    return record(f"{CONTINUED}\n{text}", uid(), isCompactSummary=True, **changes)


def micro(*calls: str, tokens: int = 60_000, saved: int = 20_000) -> bytes:
    """The host drops old tool results."""
    facts = {
        "trigger": "auto",
        "preTokens": tokens,
        "tokensSaved": saved,
        "compactedToolIds": list(calls),
    }
    members = {"subtype": "microcompact_boundary", "microcompactMetadata": facts}
    return boundary(compactMetadata=None, **members)


def codex(*payloads: tuple[str, dict[str, Any]]) -> bytes:
    """A rollout: a header, then these envelopes."""
    head = {"id": "019f-thread", "cwd": "/p", "base_instructions": {"text": "x" * 4_000}}
    lines = []
    for n, (kind, payload) in enumerate((("session_meta", head), *payloads)):
        time = f"2026-06-26T13:{n:02d}:00.000Z"
        lines.append(json.dumps({"timestamp": time, "type": kind, "payload": payload}).encode())
    return b"\n".join(lines) + b"\n"


def spoken(role: str, text: str) -> tuple[str, dict[str, Any]]:
    """A message of a rollout."""
    kind = "output_text" if role == "assistant" else "input_text"
    return "response_item", {
        "type": "message",
        "role": role,
        "content": [{"type": kind, "text": text}],
    }


_FILES = itertools.count(1)


def imported(desk: Desk, *lines: bytes, name: str = "") -> Path:
    """A file of these records, imported."""
    name = name or f"file-{next(_FILES)}.jsonl"
    path = write(desk.workspace.root.parent / "sessions" / name, *lines)
    report = import_paths(desk, [path])
    assert not report.refused, report.refused
    return path


def seen(desk: Desk, *lines: bytes, session: str = "S") -> Observation:
    """The observation of a session of these records."""
    imported(desk, *lines)
    return observe(desk, session)


def item(cut: Boundary, words: str) -> Item:
    """The one item that holds these words."""
    (found,) = (i for i in cut.items if words in i.quote)
    return found


def owners(text: str) -> Event:
    """A message of the owner's, as it is read from the store."""
    return Event(
        id="ev_" + "0" * 32,
        file="f",
        session="S",
        ordinal=0,
        kind=EventKind.MESSAGE,
        author=Author.OWNER,
        text=text,
        line=1,
        byte_start=0,
        byte_length=1,
    )
