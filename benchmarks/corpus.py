"""A large heap of sessions: real Claude Code files, copied over and over with fresh ids.

Every UUID (records, parents, sessions, message ids of snapshots) is mapped by copy, so no record
repeats another and parents still point at their parents. Everything else stays as it was written.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from pathlib import Path

HERE = Path(__file__).parent
_UUID = re.compile(rb"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_CALL = re.compile(rb"\b(call|msg|prt|toolu)_[A-Za-z0-9]{16,}\b")
_FILES = 20


def sources() -> list[Path]:
    """The sessions to copy: MEMDESK_BENCH_CORPUS, or the repository's test sessions."""
    root = Path(
        os.environ.get("MEMDESK_BENCH_CORPUS") or HERE.parent / "tests" / "data" / "claude-code"
    )
    found = [root] if root.is_file() else sorted(root.rglob("*.jsonl"))
    found = [p for p in found if b'"sessionId"' in p.read_bytes()]
    if not found:
        raise SystemExit(f"No Claude Code sessions under {root}; set MEMDESK_BENCH_CORPUS.")
    return found


def build(folder: Path, megabytes: int, *, copies: int = 0) -> list[Path]:
    """At least `megabytes` MB of sessions in `_FILES` files; copies are numbered from `copies`."""
    folder.mkdir(parents=True)
    originals = [p.read_bytes().rstrip(b"\n") + b"\n" for p in sources()]
    each = megabytes * 1_000_000 // _FILES + 1
    paths, copy = [], copies
    for number in range(_FILES):
        path = folder / f"session-{number:02}.jsonl"
        with path.open("wb") as out:
            while out.tell() < each:
                out.write(fresh(originals[copy % len(originals)], copy))
                copy += 1
        paths.append(path)
    return paths


def fresh(data: bytes, copy: int) -> bytes:
    """A copy whose ids are its own."""
    salt = copy.to_bytes(8, "big")

    def other(match: re.Match[bytes]) -> bytes:
        name = hashlib.blake2b(match[0], key=salt, digest_size=16).digest()
        return str(uuid.UUID(bytes=name, version=4)).encode()

    def call(match: re.Match[bytes]) -> bytes:
        name = hashlib.blake2b(match[0], key=salt, digest_size=12).hexdigest()
        return match[1] + b"_" + name.encode()

    return _CALL.sub(call, _UUID.sub(other, data))
