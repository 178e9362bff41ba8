"""Evidence that is no file of records, as streams of lines that readers read (spec 1.1).

A compressed file is the stream it holds. A database or a tree of small files is read once, without
a byte of it being written, and every row becomes a line of a stream; the stream is what is stored,
so its spans rebuild it. A stream only holds what does not change behind its end, so a source that
grew is read on from there.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from core.evidence import places
from core.evidence.exports import aiwg_catalog, opencode_db, opencode_tree, packed
from core.evidence.exports.database import MAGIC, opened, tables
from core.ports import Desk
from schemas.errors import MemdeskError, Refused

_DATABASES = (opencode_db, aiwg_catalog)


def streams(desk: Desk, path: Path, file: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """What of an opened path is to be imported: itself, or each of its streams with its label.

    Raises Refused `evidence.unknown-format`, `evidence.database`, `evidence.compressed`,
    `evidence.unpacked-size`.
    """
    limit = desk.policy.evidence.record_bytes
    if file.read(len(MAGIC)) == MAGIC:
        yield from _database(desk, path, file, limit)
        return
    file.seek(0)
    if packed.is_packed(file):
        limit = desk.policy.evidence.unpacked_bytes
        yield "", packed.unpacked(file, limit, desk.workspace.folder)
        return
    root = opencode_tree.root_of(path)
    found = opencode_tree.session(path, root, _small, limit) if root else None
    if found is None:
        yield "", file
    else:
        yield _stream(*found)


def tree_session(path: Path, limit: int, wanted: Callable[[str], bool]) -> BinaryIO | None:
    """The stream of a session file of OpenCode's tree; None for one of a folder not wanted."""
    root = opencode_tree.root_of(path)
    folder = root and opencode_tree.folder_of(path, _small, limit)
    if root is None or not folder or not wanted(folder):
        return None
    found = opencode_tree.session(path, root, _small, limit)
    return _stream(*found)[1] if found else None


def _database(desk: Desk, path: Path, file: BinaryIO, limit: int) -> Iterator[tuple[str, BinaryIO]]:
    with opened(path, file, desk.workspace.folder, _indexed) as database:
        there = tables(database)
        for kind in _DATABASES:
            if there >= kind.TABLES:
                for label, lines in kind.streams(database, there, limit):
                    yield _stream(label, lines)
                return
    raise Refused("evidence.unknown-format", "The database has the tables of no known agent.")


def _indexed(database: sqlite3.Connection) -> None:
    there = tables(database)
    for kind in _DATABASES:
        if there >= kind.TABLES:
            for index in kind.INDEXES:
                database.execute(index)


def _stream(label: str, lines: Iterable[bytes]) -> tuple[str, BinaryIO]:
    """Lines as a file without a name, which is gone when it is closed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the importer closes it)
    for line in lines:
        file.write(line)
        file.write(b"\n")
    file.flush()
    file.seek(0)
    return label, file


def _small(path: Path, limit: int) -> bytes | None:
    """A regular file's bytes, links not followed; None where there is none, or it is too long."""
    try:
        with places.open_evidence(path) as file:
            data = file.read(limit + 1)
    except MemdeskError:
        return None
    return data if len(data) <= limit else None
