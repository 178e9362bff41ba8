"""Sessions as agents leave them on a machine: the folders, names and records of each."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.conftest import record, write


def stamp(hours_ago: float = 1.0) -> str:
    """A record's time, so many hours before now."""
    moment = datetime.now(UTC) - timedelta(hours=hours_ago)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


def munged(folder: Path) -> str:
    """The name Claude Code gives the folder of a project's sessions; others share it."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def claude(
    cwd: Path, name: str, *texts: str, hours_ago: float = 1.0, under: Path | None = None
) -> Path:
    """A Claude Code session of a folder: its owner's messages, in the folder that stands for it."""
    lines = [
        record(t, f"{name}-{n}", sessionId=name, cwd=str(cwd), timestamp=stamp(hours_ago))
        for n, t in enumerate(texts or ("hi",))
    ]
    base = under or Path.home() / ".claude" / "projects" / munged(cwd)
    return write(base / f"{name}.jsonl", *lines)


def codex(cwd: Path, name: str, text: str = "hi", *, base: Path | None = None) -> Path:
    """A Codex rollout: a header that names the folder, and one message."""
    lines = [
        {"type": "session_meta", "payload": {"id": name, "cwd": str(cwd), "timestamp": stamp()}},
        {
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": text}],
            },
        },
    ]
    path = (base or Path.home() / ".codex") / "sessions/2026/11/30" / f"rollout-{name}.jsonl"
    return write(path, *(json.dumps({"timestamp": stamp(), **x}).encode() + b"\n" for x in lines))


def gemini(folder: str, name: str, hash_: str | None) -> Path:
    """A Gemini CLI chat in a folder of any name, with the hash it states."""
    chat = {
        "sessionId": name,
        **({"projectHash": hash_} if hash_ else {}),
        "startTime": stamp(),
        "messages": [{"id": "1", "timestamp": stamp(), "type": "user", "content": "hi"}],
    }
    path = Path.home() / ".gemini/tmp" / folder / "chats" / f"session-{name}.json"
    return write(path, json.dumps(chat).encode())


def copilot(cwd: Path, name: str) -> Path:
    """A Copilot CLI session whose first event names the folder."""
    start = {"sessionId": name, "producer": "copilot-agent", "context": {"cwd": str(cwd)}}
    lines = [
        {"type": "session.start", "data": start, "id": "1", "parentId": None},
        {"type": "user.message", "data": {"content": "hi"}, "id": "2", "parentId": "1"},
    ]
    path = Path.home() / ".copilot/session-state" / name / "events.jsonl"
    return write(path, *(json.dumps({"timestamp": stamp(), **x}).encode() + b"\n" for x in lines))


def opencode(cwd: Path, name: str) -> Path:
    """A session of OpenCode's tree with one message of one part."""
    storage = Path.home() / ".local/share/opencode/storage"
    ms = int(datetime.now(UTC).timestamp() * 1000)
    documents = {
        f"message/{name}/m1.json": {
            "id": "m1",
            "sessionID": name,
            "role": "user",
            "time": {"created": ms},
        },
        "part/m1/p1.json": {"id": "p1", "messageID": "m1", "type": "text", "text": "hi"},
        f"session/proj/{name}.json": {
            "id": name,
            "directory": str(cwd),
            "time": {"created": ms},
        },
    }
    return [write(storage / p, json.dumps(d).encode()) for p, d in documents.items()][-1]
