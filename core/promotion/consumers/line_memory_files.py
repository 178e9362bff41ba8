"""Line memory's own files: text, sidecar, configuration, journal, lock (AIWG format 1.5, 2.6).

Key order and unknown members are kept; a sidecar that is not understood is refused, never rebuilt.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from core.aiwg_identity import journal_id, pretty
from core.identity import holds_floats
from core.operations.durable import translated
from core.workspace import Workspace
from schemas.errors import NotFound, Refused

FOLDER = ".aiwg/memory"
CONFIG = f"{FOLDER}/line-memory.config.json"
LOCK = f"{FOLDER}/line-memory.lock"
JOURNALS = f"{FOLDER}/transactions"
SCHEMA = "aiwg.line-memory.v1"
JOURNAL_SCHEMA = "aiwg.line-memory.transaction.v1"


def parse(data: bytes) -> Any:
    """JSON exactly as JavaScript's parser takes it: UTF-8, no BOM, no NaN.

    Raises ValueError or RecursionError.
    """

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    # orjson reads whole numbers past 64 bits as fractions, and writing them back loses digits; it
    # takes no lone surrogates and no numbers past the greatest fraction.
    with contextlib.suppress(orjson.JSONDecodeError):
        quick = orjson.loads(data)
        if not holds_floats(quick):
            return quick
    return json.loads(data.decode(), parse_constant=refuse)


@dataclass(frozen=True, slots=True)
class Settings:
    """`line-memory.config.json`, or its defaults."""

    path: str = f"{FOLDER}/line-memory.txt"
    metadata: str = f"{FOLDER}/line-memory.meta.json"
    max_lines: int = 200
    dedupe: bool = True


def settings(workspace: Workspace) -> Settings:
    """The owner's settings. Raises Refused `line-memory.config-broken`."""
    data = workspace.read(CONFIG)
    if data is None:
        return Settings()
    broken = Refused("line-memory.config-broken", path=CONFIG)
    try:
        table = parse(data)
    except (ValueError, RecursionError) as err:
        raise broken from err
    if not isinstance(table, dict):
        raise broken
    found = Settings()
    path, metadata = table.get("path", found.path), table.get("metadataPath", found.metadata)
    limit, dedupe = table.get("maxLines", found.max_lines), table.get("dedupe", True)
    sound = isinstance(limit, int) and not isinstance(limit, bool) and limit > 0
    if not (isinstance(path, str) and isinstance(metadata, str) and sound):
        raise broken
    for name in (path, metadata):
        try:
            workspace.relative(name)
        except Refused as err:
            raise broken from err
        if not name.startswith(".aiwg/") or name in (CONFIG, LOCK):
            raise broken
    if workspace.relative(path) == workspace.relative(metadata):
        raise broken
    return Settings(path, metadata, limit, dedupe is not False)


@dataclass(frozen=True, slots=True)
class TextFile:
    """The fact file as bytes, with what a writer must keep: line ends, final newline."""

    data: bytes
    lines: tuple[str, ...]
    newline: str

    @property
    def final_newline(self) -> bool:
        """True for an empty file or one that ends its last line."""
        return not self.data or self.data.endswith(b"\n")


def read_text(data: bytes | None, path: str) -> TextFile:
    """The fact file. Raises Refused `line-memory.not-utf8`."""
    raw = data or b""
    try:
        text = raw.decode()
    except UnicodeDecodeError as err:
        raise Refused("line-memory.not-utf8", f"{path} is not UTF-8.", path=path) from err
    parts = text.split("\n")
    if parts and parts[-1] == "":
        parts.pop()
    crlf = sum(p.endswith("\r") for p in parts)
    newline = "\r\n" if parts and crlf * 2 > len(parts) else "\n"
    return TextFile(raw, tuple(p.removesuffix("\r") for p in parts), newline)


def with_facts(text: TextFile, facts: Sequence[str], *, dedupe: bool) -> tuple[bytes, int]:
    """The file with `facts` as its newest lines, every other byte kept; and its non-blank lines."""
    new = list(dict.fromkeys(reversed(facts)))[::-1] if dedupe else facts
    kept = without(text, facts).data if dedupe else text.data
    if kept and not kept.endswith(b"\n"):
        kept += text.newline.encode()
    after = kept + b"".join(fact.encode() + text.newline.encode() for fact in new)
    return after, sum(bool(x.strip()) for x in after.decode().split("\n"))


def without(text: TextFile, facts: Collection[str]) -> TextFile:
    """The file without any physical copy of these lines, every other byte kept."""
    if not facts or set(facts).isdisjoint(text.lines):
        return text
    wanted = {fact.encode() for fact in facts}
    pieces = [p for p in text.data.split(b"\n") if p.removesuffix(b"\r") not in wanted]
    lines = tuple(x for x in text.lines if x not in facts)
    return TextFile(b"\n".join(pieces), lines, text.newline)


def read_sidecar(data: bytes | None, found: Settings) -> dict[str, Any]:
    """The sidecar with key order and unknown members, or a new empty one.

    Raises Refused `line-memory.metadata-broken`; its handles are nobody's to re-issue.
    """
    if data is None or data == b"":
        return {
            "schemaVersion": SCHEMA,
            "version": 1,
            "store": {"memoryPath": found.path, "metadataPath": found.metadata},
            "entries": {},
        }
    broken = Refused("line-memory.metadata-broken", path=found.metadata)
    try:
        document = parse(data)
    except (ValueError, RecursionError) as err:
        raise broken from err
    if not isinstance(document, dict) or document.get("version") != 1:
        raise broken
    entries = document.get("entries")
    if document.get("schemaVersion") != SCHEMA or not isinstance(entries, dict):
        raise broken
    for handle, entry in entries.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("value"), str):
            raise broken
        if entry.get("id") != handle or not isinstance(entry.get("status"), str):
            raise broken
    return document


def pending_journals(workspace: Workspace) -> list[str]:
    """Names of redo journals that wait for a replay."""
    try:
        with workspace.directory(JOURNALS) as folder:
            return sorted(n for n in os.listdir(folder) if n.endswith(".json"))
    except NotFound:
        return []


def write_journal(
    workspace: Workspace, operation: str, found: Settings, memory: bytes, metadata: bytes
) -> None:
    """Leave AIWG's redo journal, so that its next command finishes what a crash cut short."""
    name = _journal_name(operation, memory, metadata)
    document = {
        "schemaVersion": JOURNAL_SCHEMA,
        "operationId": name.removesuffix(".json"),
        "operation": "import",
        "memoryPath": found.path,
        "metadataPath": found.metadata,
        "memoryContent": memory.decode(),
        "metadataContent": metadata.decode(),
    }
    with translated(JOURNALS), workspace.directory(JOURNALS, create=True) as folder:
        temporary = f"{name}.tmp-{os.getpid()}-memdesk"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(pretty(document))
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def remove_journal(workspace: Workspace, operation: str, memory: bytes, metadata: bytes) -> None:
    """Remove our own journal, and nobody else's; repeatable."""
    name = _journal_name(operation, memory, metadata)
    with (
        contextlib.suppress(NotFound),
        translated(JOURNALS),
        workspace.directory(JOURNALS) as folder,
    ):
        for left in os.listdir(folder):
            if left == name or (left.startswith(name) and left.endswith("-memdesk")):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(left, dir_fd=folder)
        os.fsync(folder)


@functools.lru_cache(maxsize=2)
def _journal_name(operation: str, memory: bytes, metadata: bytes) -> str:
    document = parse(metadata)
    return journal_id(f"import:{operation}", memory.decode(), document) + ".json"
