"""Artifacts: bytes kept whole, read whole or in part, verified on every read (spec 1.5).

What is read is hashed by 1 MiB chunks and compared with the digests recorded when it was added; a
part costs its own chunks and no more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from core import sealed
from core.evidence import commitments, places
from core.identity import keyed_id, one_id, parse_locator
from core.operations.durable import translated
from core.ports import Desk, Reader
from schemas.errors import NotFound, Refused, Unusable
from schemas.evidence import Artifact
from schemas.storage import Chunk, StoredArtifact

CHUNK_BYTES = 1 << 20
_LOCATOR = re.compile(r"artifact://sha256/([0-9a-f]{64})(?:#b(\d{1,18})-(\d{1,18}))?")
_RANGE = re.compile(r"(\d{1,18}):(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Part:
    """What of an artifact is read: half-open bytes; `line` when lines were asked for."""

    artifact: Artifact
    stored: StoredArtifact
    start: int
    end: int
    line: int | None = None


def add(desk: Desk, path: Path) -> tuple[Artifact, bool]:
    """Keep a file's bytes and enter them as the newest revision of its path.

    The same bytes at the same path answer the revision they have; True for a new one. Raises as
    `places.open_evidence`, and Unusable `store.full`, `workspace.unusable`.
    """
    where = places.stored_path(desk, path)
    staged = desk.workspace.folder / "artifacts" / f".{os.getpid()}-{os.urandom(6).hex()}.tmp"
    with translated(".memdesk/artifacts"):
        _sweep(staged.parent)
        try:
            digest, size, lines, chunks = _stage(path, staged)
            with desk.store.read() as view:
                known = view.artifacts.by_digest(digest)
                newest = view.artifacts.newest_at(where)
            if known and newest and _same(newest, digest) and _present(desk, known):
                return newest, False
            # Also when they are known: bytes that were lost or altered are whole again then.
            desk.store.blobs.keep(digest, staged)
        finally:
            staged.unlink(missing_ok=True)
    return _enter(desk, where, digest, size, lines, chunks)


def _sweep(folder: Path) -> None:
    """Remove what a process that died while it copied left behind."""
    for left in folder.glob(".*.tmp"):
        pid = left.name[1:].partition("-")[0]
        try:
            os.kill(int(pid), 0)
        except (ValueError, ProcessLookupError):
            left.unlink(missing_ok=True)
        except OSError:
            continue


def _stage(path: Path, staged: Path) -> tuple[bytes, int, int, list[Chunk]]:
    """Copy a file to `staged`, durable, and say what it holds."""
    whole, size, newlines, last = sha256(), 0, 0, b"\n"
    chunks: list[Chunk] = []
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with places.open_evidence(path) as source, os.fdopen(os.open(staged, flags, 0o600), "wb") as to:
        while data := source.read(CHUNK_BYTES):
            chunks.append(Chunk(len(chunks), sha256(data).digest(), newlines))
            whole.update(data)
            to.write(data)
            size, newlines, last = size + len(data), newlines + data.count(b"\n"), data[-1:]
        to.flush()
        os.fsync(to.fileno())
    return whole.digest(), size, newlines + (last != b"\n"), chunks


def _same(newest: Artifact, digest: bytes) -> bool:
    return newest.digest == f"sha256:{digest.hex()}"


def _present(desk: Desk, known: StoredArtifact) -> bool:
    """True while every chunk is there and sound."""
    try:
        for _ in _chunks(desk, known, 0, known.size):
            pass
    except Unusable:
        return False
    return True


def _enter(
    desk: Desk, where: str, digest: bytes, size: int, lines: int, chunks: list[Chunk]
) -> tuple[Artifact, bool]:
    now = desk.clock()
    with desk.store.write() as unit:
        stored = unit.artifacts.add(digest, size, lines, chunks, now)
        newest = unit.artifacts.newest_at(where)
        if newest is not None and _same(newest, digest):
            return newest, False
        revision = newest.revision + 1 if newest else 1
        name = keyed_id("art", desk.secret, where.encode(), str(revision).encode(), digest)
        unit.artifacts.add_revision(name, where, revision, stored.number, now)
        root = commitments.root([c.digest for c in chunks])
        seal = sealed.artifact(desk.secret, name, where, revision, digest, size, root)
        unit.ledger.append("artifact", name, seal, 1, now)
        entered = unit.artifacts.revision(name)
    assert entered is not None
    return entered, True


def find(view: Reader, ref: str) -> tuple[Artifact, StoredArtifact]:
    """The revision a reference names: `artifact://sha256/HEX`, or an `art_` id or prefix.

    Raises NotFound `id.*`.
    """
    if named := _LOCATOR.fullmatch(ref.strip()):
        stored = view.artifacts.by_digest(bytes.fromhex(named[1]))
        found = view.artifacts.newest_of(stored.number) if stored else None
    else:
        locator = parse_locator(ref, "art")
        found = view.artifacts.revision(one_id(locator.id, view.artifacts.find(locator.id, 6)))
        stored = _bytes_of(view, found)
    if found is None or stored is None:
        raise NotFound("id.not-found", f"There is no artifact {ref}.", given=ref)
    return found, stored


def _bytes_of(view: Reader, found: Artifact | None) -> StoredArtifact | None:
    return view.artifacts.by_digest(bytes.fromhex(found.digest[7:])) if found else None


def part(desk: Desk, ref: str, *, lines: str | None = None, bytes_: str | None = None) -> Part:
    """What a read of `ref` would give. `lines` is `A:B`, both counted from 1 and both given;
    `bytes_` is `A:B`, half-open; a locator may carry `#bA-B` instead.

    Raises NotFound `id.*`; Refused `artifact.range` for a range outside it.
    """
    with desk.store.read() as view:
        found, stored = find(view, ref)
        spans = _LOCATOR.fullmatch(ref.strip())
        if spans and spans[2] and lines is None and bytes_ is None:
            bytes_ = f"{spans[2]}:{spans[3]}"
        if lines is not None and bytes_ is not None:
            raise Refused("artifact.range", "Lines or bytes, not both.")
        if lines is not None:
            first, last = range_of(lines, 1, stored.lines, "lines")
            start = _offset(desk, view, stored, first)
            end = _offset(desk, view, stored, last + 1)
            return Part(found, stored, start, end, first)
        if bytes_ is not None:
            start, end = range_of(bytes_, 0, stored.size, "bytes")
            return Part(found, stored, start, end)
        return Part(found, stored, 0, stored.size)


def range_of(text: str, low: int, high: int, what: str) -> tuple[int, int]:
    """`A:B` within bounds. Raises Refused `artifact.range`."""
    found = _RANGE.fullmatch(text)
    if not found:
        raise Refused("artifact.range", f"“{text}” is not A:B.", given=text)
    start, end = int(found[1]), int(found[2])
    if not low <= start <= end <= high:
        raise Refused(
            "artifact.range", f"There are {what} {low} to {high}.", given=text, low=low, high=high
        )
    return start, end


def _offset(desk: Desk, view: Reader, stored: StoredArtifact, line: int) -> int:
    """Where a line begins; past the last one, the end."""
    if line <= 1:
        return 0
    chunk = view.artifacts.chunk_of_newline(stored.number, line - 1)
    if chunk is None:
        return stored.size
    data = sound(desk, stored, chunk)
    at = -1
    for _ in range(line - 1 - chunk.lines):
        at = data.find(b"\n", at + 1)
        if at < 0:
            return stored.size
    return min(stored.size, chunk.number * CHUNK_BYTES + at + 1)


def read(desk: Desk, wanted: Part) -> Iterator[bytes]:
    """The bytes of a part, at most 1 MiB at a time, each verified before it is given.

    Raises Unusable `artifact.altered` for bytes that are not those that were added, or are gone.
    """
    yield from _chunks(desk, wanted.stored, wanted.start, wanted.end)


def _chunks(desk: Desk, stored: StoredArtifact, start: int, end: int) -> Iterator[bytes]:
    at = start
    while at < end:
        number = at // CHUNK_BYTES
        with desk.store.read() as view:
            chunks = view.artifacts.chunks(stored.number, number, number + 63)
        if not chunks:
            raise Unusable("artifact.altered", "A chunk digest is missing.", chunk=number)
        for chunk in chunks:
            data = sound(desk, stored, chunk)
            base = chunk.number * CHUNK_BYTES
            yield data[at - base : end - base]
            at = min(end, base + len(data))
            if at >= end:
                return


def sound(desk: Desk, stored: StoredArtifact, chunk: Chunk) -> bytes:
    """One chunk's bytes, verified. Raises Unusable `artifact.altered`."""
    data = desk.store.blobs.chunk(stored.digest, chunk.number)
    if data is None or sha256(data).digest() != chunk.digest:
        what = "is missing" if data is None else "was altered"
        name = stored.digest.hex()
        raise Unusable(
            "artifact.altered", f"Chunk {chunk.number} of {name[:8]} {what}.", artifact=name
        )
    return data
