"""Which stored file some bytes belong to: by path, by how they begin, by what they repeat (spec 1.3).

A file that grew, moved, was copied, or came back shorter is the file it was; a document's beginning
does not identify it, so at another path only the same bytes do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from core import sealed
from core.evidence import raw
from core.evidence.readers import base, detect, named, sampled
from core.evidence.readers.base import Format
from core.identity import digest_text, keyed_id
from core.ports import Desk, Reader, Writer
from schemas.errors import Stale
from schemas.storage import StoredFile

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

_HEAD_BYTES = 1 << 16
_HEAD_SAYS = 16
RACES = 8
"""How often another importer may enter the same path first before this one gives up."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The stored file some bytes belong to, a hash of what of them is committed, and whether
    their path meant another file before: it was written anew, not added to."""

    file: StoredFile
    hasher: Hash
    rewritten: bool


def entered(
    desk: Desk, where: str, file: BinaryIO, size: int, wanted: Format | None, name: str
) -> Entered:
    """The stored file these bytes belong to, registered now if need be."""
    for _ in range(RACES):
        stored, hasher, at = _known(desk, where, file, size)
        if stored is None:
            format_ = wanted or detect(sampled(file, name))
            stored = _register(desk, where, format_, file, at)
        elif at is None or at.id != stored.id:
            _also_at(desk, stored, where)
        if stored is not None:
            return Entered(stored, hasher, at is not None and at.id != stored.id)
    raise Stale("store.busy", "Another import is reading this file.")


def _head(file: BinaryIO) -> str:
    """Digest of the first line, at most 64 KiB of it: the same for a file that moved or grew.

    Where that says too little (the brace a document begins with), of the lines that say enough.
    """
    data = os.pread(file.fileno(), _HEAD_BYTES, 0)
    end = data.find(b"\n")
    while 0 <= end < _HEAD_SAYS:
        end = data.find(b"\n", end + 1)
    return digest_text(sha256(data if end < 0 else data[:end]).digest())


def _known(
    desk: Desk, where: str, file: BinaryIO, size: int
) -> tuple[StoredFile | None, Hash, StoredFile | None]:
    """The stored file whose committed bytes this one begins with, a hash of its records, and
    the file last met at this path.

    Found by path, or by its first line when the file moved, was copied, or came back shorter.
    A document's beginning does not identify it: at another path only the same bytes do.
    """
    head = _head(file)
    with desk.store.read() as view:
        at = view.evidence.file_by_path(where)
        candidates = [at] if at is not None else []
        copied = raw.is_raw(where)
        candidates += [
            f
            for f in view.evidence.files_by_head(head)
            # A raw copy is nobody's own words, and the file it was made from is no copy.
            if f not in candidates and raw.is_raw(f.path) is copied
        ]
        for stored in candidates:
            log = named(stored.format).log and stored.size > 0
            if stored.size == size or (stored.size < size and (log or stored is at)):
                if not _has_its_end(view, stored, file):
                    continue
                end = stored.size - len(stored.tail)
                hasher = _hash(file, end)
                whole = hasher.copy()
                whole.update(os.pread(file.fileno(), len(stored.tail), end))
                if digest_text(whole.digest()) == stored.digest:
                    return stored, hasher, at
            elif log and 0 < size < stored.size and _is_older(view, stored, file, size):
                return stored, sha256(), at
    return None, sha256(), at


def _has_its_end(view: Reader, stored: StoredFile, file: BinaryIO) -> bool:
    """False when the last record stored is not where it stood: no need to hash what precedes it.

    Sessions may begin alike by hundreds; then all but one are told apart by one small read each.
    """
    last = view.evidence.last_record(stored)
    if last is None or last[2] is None:
        return True
    start, length, digest = last
    return sha256(os.pread(file.fileno(), length, start)).digest() == digest


def events_in(desk: Desk, stored: StoredFile, size: int) -> int:
    """Events of this file that are stored already; an older copy holds only its own."""
    if size >= stored.size:
        return stored.events
    with desk.store.read() as view:
        return view.evidence.events_before(stored, size)


def _hash(file: BinaryIO, size: int) -> Hash:
    hasher, at = sha256(), 0
    while at < size:
        data = os.pread(file.fileno(), min(base.CHUNK, size - at), at)
        if not data:
            break
        hasher.update(data)
        at += len(data)
    return hasher


def _is_older(view: Reader, stored: StoredFile, file: BinaryIO, size: int) -> bool:
    """True when the file's bytes are the beginning of stored ones and hold a record."""
    if not view.evidence.events_before(stored, size):
        return False
    at = 0
    for piece in view.evidence.rebuild(stored.id):
        part = piece[: size - at]
        if os.pread(file.fileno(), len(part), at) != part:
            return False
        at += len(part)
        if at >= size:
            return True
    return False


def _register(
    desk: Desk, where: str, format_: Format, file: BinaryIO, at: StoredFile | None
) -> StoredFile | None:
    """Enter a new file; None when another importer changed what is at this path meanwhile."""
    head = _head(file)
    with desk.store.write(durable=False) as unit:
        before = unit.evidence.file_by_path(where, lock=True)
        if (before and before.id) != (at and at.id):
            return None
        revision = before.revision + 1 if before else 1
        salt = f"{head}\n{revision}\n{len(unit.evidence.files_by_head(head))}".encode()
        id_ = keyed_id("file", desk.secret, where.encode(), salt)
        now = desk.clock()
        stored = unit.evidence.add_file(id_, where, format_.name, head, revision, now)
        _sealed(desk, unit, "source", stored, where, now)
    return stored


def _also_at(desk: Desk, stored: StoredFile, where: str) -> None:
    with desk.store.write(durable=False) as unit:
        at = unit.evidence.file_by_path(where)
        if at is None or at.id != stored.id:
            unit.evidence.add_path(stored, where)
            _sealed(desk, unit, "path", stored, where, desk.clock())


def _sealed(desk: Desk, unit: Writer, kind: str, file: StoredFile, path: str, now: int) -> None:
    """Let the chain answer for a file's registration, or for another path that means it."""
    seal = sealed.source(desk.secret, file, path)
    unit.ledger.append(kind, f"{file.id} {path}", seal, 1, now)
