"""Foreign SQLite databases, read from a private copy: not a byte of theirs is touched (spec 0.1).

Opening one in place would create or write its `-shm`, and `immutable` would miss what still
stands in its `-wal`; a copy of both is opened instead and unlinked at once.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from core.evidence import places
from schemas.errors import MemdeskError, Refused

MAGIC = b"SQLite format 3\0"
_TRIES = 5
_CELL_BYTES = 1 << 28
"""A longer value makes the database unreadable rather than this process huge."""


@contextlib.contextmanager
def opened(
    path: Path, file: BinaryIO, scratch: Path, prepare: Callable[[sqlite3.Connection], None]
) -> Iterator[sqlite3.Connection]:
    """A snapshot of a database in one read transaction; text comes as bytes.

    `prepare` may add to the copy what reading it needs (an index). Raises Refused
    `evidence.database` for one that is damaged or never stands still.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=scratch)))
        _copied(path, file, folder / "copy.db")
        try:
            database = sqlite3.connect(folder / "copy.db", isolation_level=None)
            stack.callback(database.close)
            database.text_factory = bytes
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL_BYTES)
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
                database.execute(f"PRAGMA {pragma}")
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
            database.execute("PRAGMA synchronous = OFF")
            prepare(database)
            database.execute("BEGIN")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            database.execute("PRAGMA query_only = ON")
            # Open files live on without their names: a killed import leaves no copy behind.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            yield database
        except sqlite3.Error as err:
            raise Refused("evidence.database", f"The database can't be read: {err}.") from err


def _copied(path: Path, file: BinaryIO, copy: Path) -> None:
    """Copy a database with its log and journal, all of one moment."""
    for _ in range(_TRIES):
        with contextlib.ExitStack() as stack:
            parts = [("", file)]
            for suffix in ("-wal", "-journal"):
                with contextlib.suppress(MemdeskError):
                    side = stack.enter_context(places.open_evidence(Path(f"{path}{suffix}")))
                    parts.append((suffix, side))
            before = [_state(f) for _suffix, f in parts]
            for suffix, part in parts:
                part.seek(0)
                with open(f"{copy}{suffix}", "wb") as out:
                    shutil.copyfileobj(part, out, 1 << 20)
            if [_state(f) for _suffix, f in parts] == before:
                return
        for left in copy.parent.iterdir():
            left.unlink()
    raise Refused("evidence.database", "The database is being written to without a pause.")


def _state(file: BinaryIO) -> tuple[int, int]:
    info = os.fstat(file.fileno())
    return info.st_size, info.st_mtime_ns


def tables(database: sqlite3.Connection) -> frozenset[str]:
    """Names of the real tables: a view under a known name is none."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return frozenset(name.decode("utf-8", "replace") for (name,) in rows)


def rows(database: sqlite3.Connection, sql: str, *args: object) -> Iterator[dict[str, Any]]:
    """Rows as JSON takes them: text that is no UTF-8 with replacements."""
    cursor = database.execute(sql, args)
    names = [column[0] for column in cursor.description]
    for values in cursor:
        yield {n: plain(v) for n, v in zip(names, values, strict=True)}


def plain(value: Any) -> Any:
    """A value as JSON takes it."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
