"""A SQLite store in a folder that can't be written to: read without a file beside it.

A reader of a WAL store shares `-wal` and `-shm` with writers and makes them where they are missing.
Where it can't, SQLite reads the database as `immutable`, by its file alone: right only while nobody
writes to it. So each read has a connection of its own and is good only if the file was the same
before and after; what stands in a log is read with that log, or not at all.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from schemas.errors import Unusable

_AGAIN = "Another process writes to the store: do it again, or work where the folder is writable."


def is_frozen(path: Path) -> bool:
    """True for a database that stands in a folder where nothing can be made."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def mark(path: Path) -> tuple[tuple[int, int, int], ...]:
    """Moves when the database or its log is written to, or is another."""
    found = []
    for name in (path, _beside(path, "-wal")):
        try:
            info = name.stat()
        except OSError:
            found.append((0, 0, 0))
        else:
            found.append((info.st_ino, info.st_size, info.st_mtime_ns))
    return tuple(found)


@contextlib.contextmanager
def unmoved(path: Path) -> Iterator[None]:
    """The block read one state of the store, or ends with Unusable `store.read-only`."""
    before = mark(path)
    yield
    if mark(path) != before:
        raise Unusable("store.read-only", "The store moved while it was read.", remedy=_AGAIN)


def connect(path: Path, wait: float) -> sqlite3.Connection:
    """A connection that makes no file; `wait` is in seconds.

    Raises Unusable `store.read-only` for a log whose index is missing: only a writer can make it.
    """
    log = _beside(path, "-wal")
    logged = log.exists() and log.stat().st_size > 0
    if logged and not _beside(path, "-shm").exists():
        message = "The store's newest entries stand in a log that can't be read here."
        raise Unusable("store.read-only", message)
    how = "mode=ro" if logged else "mode=ro&immutable=1"
    uri = f"file:{quote(str(path))}?{how}"
    return sqlite3.connect(uri, uri=True, timeout=wait, check_same_thread=False)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
