"""OpenCode's older tree of files as one stream a session.

`storage/session/PROJECT/SESSION.json`, `message/SESSION/MESSAGE.json`, and parts in
`part/MESSAGE/PART.json` or, in the oldest layout, all side by side in `part/`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from core.evidence.readers.fields import table, text_of
from core.evidence.readers.opencode import role_of

Read = Callable[[Path, int], bytes | None]
"""Opens nothing but regular files, and answers None for the rest."""
Found = tuple[dict[str, Any], bytes]


def root_of(path: Path) -> Path | None:
    """The storage folder a session file belongs to; None when it stands in none."""
    projects = path.parent.parent
    storage = projects.name == "session" and (projects.parent / "message").is_dir()
    return projects.parent if storage and path.suffix == ".json" else None


def session(path: Path, root: Path, read: Read, limit: int) -> tuple[str, Iterator[bytes]] | None:
    """A session's id and the lines of its files; None when the file is no session."""
    raw = read(path, limit)
    facts = _loaded(raw or b"")
    id_ = text_of(facts.get("id"))
    if raw is None or not _plain(id_):
        return None
    return id_, _lines(raw, facts, root, read, limit)


def folder_of(path: Path, read: Read, limit: int) -> str:
    """The folder a session file says it ran in; empty where it says none."""
    return text_of(_loaded(read(path, limit) or b"").get("directory"))


def _lines(
    raw: bytes, session: dict[str, Any], root: Path, read: Read, limit: int
) -> Iterator[bytes]:
    facts = {"child": bool(session.get("parentID")), "cwd": session.get("directory")}
    yield _line("session", raw, facts)
    flat: dict[str, list[Found]] = {}
    for part, data in _files(root / "part", read, limit):
        flat.setdefault(text_of(part.get("messageID")), []).append((part, data))
    messages = list(_files(root / "message" / text_of(session["id"]), read, limit))
    for message, data in sorted(messages, key=lambda found: _order(found[0])):
        yield _line("message", data, facts)
        id_ = text_of(message.get("id"))
        parts = list(flat.get(id_, []))
        if _plain(id_):
            # Their ids, and so their names, ascend with time; not every part states one.
            parts += _files(root / "part" / id_, read, limit)
        for _part, content in parts:
            yield _line("part", content, {"role": role_of(message), **facts})


def _line(kind: str, raw: bytes, facts: dict[str, Any]) -> bytes:
    text = raw.decode("utf-8", "replace")
    return orjson.dumps({"table": kind, **facts, "row": {"data": text}})


def _order(message: dict[str, Any]) -> tuple[float, str]:
    time = table(message.get("time")).get("created")
    known = isinstance(time, (int, float))
    return (float(time) if known else 0.0, text_of(message.get("id")))  # type: ignore[arg-type]


def _plain(id_: str) -> bool:
    """True for an id that names one entry of a folder: a malicious one leads nowhere else."""
    return bool(id_) and "/" not in id_ and "\0" not in id_ and id_ not in (".", "..")


def _files(folder: Path, read: Read, limit: int) -> Iterator[Found]:
    if os.path.islink(folder):
        return
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".json"))
    except (OSError, ValueError):
        return
    for name in names:
        raw = read(folder / name, limit)
        if raw is not None:
            yield _loaded(raw), raw


def _loaded(raw: bytes) -> dict[str, Any]:
    try:
        return table(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return {}
