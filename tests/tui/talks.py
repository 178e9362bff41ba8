"""Sessions with everything a conversation can hold, laid for the evidence pane."""

from __future__ import annotations

from typing import Any

from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.storage import NewEvent
from tests.conftest import START, record, write

SESSION = "7acd37a8-aaaa"
REFUNDS = "refunds above 500 EUR need a second approver"


def line(kind: str, uuid: str, **changes: Any) -> bytes:
    """A Claude Code record of one kind as a line."""
    return record("", uuid, **{"type": kind, "sessionId": SESSION, **changes})


def said(uuid: str, *blocks: dict[str, Any], **changes: Any) -> bytes:
    """What the agent said or called."""
    message = {"role": "assistant", "content": list(blocks)}
    return line("assistant", uuid, message=message, **changes)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id_: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def result(uuid: str, id_: str, words: str, **changes: Any) -> bytes:
    block = {"type": "tool_result", "tool_use_id": id_, "content": words, "is_error": False}
    return line("user", uuid, message={"role": "user", "content": [block]}, **changes)


def owner(uuid: str, words: str | list[Any], **changes: Any) -> bytes:
    message = {"role": "user", "content": words}
    return line("user", uuid, message=message, **changes)


def everything() -> list[bytes]:
    """One session with an item of every shape."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 600},
    }
    edit = {
        "file_path": "/p/src/guard.py",
        "old_string": "a\nlimit = 250",
        "new_string": "a\nlimit = 500",
    }
    boundary = {"trigger": "auto", "preTokens": 155_461}
    side = {"isSidechain": True, "agentId": "3f1c"}
    return [
        owner("u1", "Look at the refund guard, please.\nIt is in src."),
        said("a1", {"type": "thinking", "thinking": "The owner wants the guard."}),
        said("a2", text("The refund guard is at 250 EUR. Keep it?")),
        owner("u2", f"no, finance raised it: {REFUNDS}, below that one is enough."),
        said("a3", call("t1", "Edit", **edit)),
        result("r1", "t1", "The file was updated.\nline two of the result"),
        said("a4", call("t2", "Bash", command="make test")),
        result("r2", "t2", "FAILED 1 test"),
        line("file-history-snapshot", "f1", messageId="f1"),
        line("system", "s1", subtype="turn_duration", content="took 2 s"),
        said("b1", text("I look for callers."), **side),
        said("b2", call("t3", "Grep", pattern="refund"), **side),
        line(
            "system",
            "c1",
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata=boundary,
        ),
        owner("c2", "The summary of what went before.", isCompactSummary=True),
        owner("u3", [text("see the picture"), image]),
        b'{"type":"user","uuid":"u4",\n',
        owner("u5", "thanks, that is all"),
    ]


def lay_talk(desk: Desk, *lines: bytes, name: str = "talk.jsonl") -> None:
    """Import a session of these lines."""
    path = desk.workspace.root / ".sessions" / name
    import_paths(desk, [write(path, *(lines or everything()))])


def many(count: int, session: str, start: int = 0) -> list[bytes]:
    """A session of short messages, an owner's and an agent's in turn."""
    lines = []
    for n in range(start, start + count):
        words = f"message number {n}"
        shown = {
            "sessionId": session,
            "timestamp": f"2026-02-{1 + n // 86_400:02}T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}.000Z",
        }
        if n % 2:
            lines.append(said(f"{session}-{n}", text(words), **shown))
        else:
            lines.append(owner(f"{session}-{n}", words, **shown))
    return lines


def long_session(desk: Desk, count: int, session: str) -> None:
    """A session of many events entered in the store itself: no file is parsed for them."""
    with desk.store.write(durable=False) as unit:
        file = unit.evidence.add_file("file_" + "a" * 32, "long.jsonl", "claude-code", "h", 1, 1)
        for first in range(0, count, 5_000):
            events = [_event(n, session) for n in range(first, min(count, first + 5_000))]
            unit.evidence.append(file, events)


def _event(n: int, session: str) -> NewEvent:
    words = f"message number {n}".encode()
    return NewEvent(
        id=n.to_bytes(16, "big"),
        ordinal=n,
        part=0,
        kind="message",
        author="agent" if n % 2 else "owner",
        session=session,
        time=START - (200_000 - n) * 1_000_000,
        native_id=None,
        parent=None,
        scope=None,
        line=n + 1,
        byte_start=n * 100,
        byte_length=99,
        notes="",
        twin=None,
        text=words,
        lead=None,
        raw=words,
        digest=b"d" * 32,
        salt=b"s" * 16,
        commitment=b"c" * 32,
    )
