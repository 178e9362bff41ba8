"""Floor of a confirm: the same durable steps bare, in the same order, with the same bytes."""

from __future__ import annotations

import ctypes
import os
import sqlite3
from pathlib import Path

_EXCHANGE = 2
_LIBC = ctypes.CDLL(None, use_errno=True)


class Bare:
    """Two files of a folder and a SQLite file beside it."""

    def __init__(self, folder: Path, names: tuple[str, str]) -> None:
        (folder / "transactions").mkdir(parents=True)
        self.names = names
        for name in names:
            (folder / name).touch()
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._journals = os.open(folder / "transactions", os.O_RDONLY | os.O_DIRECTORY)
        self._db = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE outbox (number INTEGER, path TEXT, after BLOB)")
        self._db.execute("CREATE TABLE receipt (seq INTEGER PRIMARY KEY, document BLOB)")

    def confirm(self, after: tuple[bytes, bytes], receipt: bytes) -> None:
        """Outbox commit, journal, two exchanges, journal away, receipt commit."""
        self._db.execute("BEGIN IMMEDIATE")
        rows = [(n, self.names[n], data) for n, data in enumerate(after)]
        self._db.executemany("INSERT INTO outbox VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")
        self._write(self._journals, "journal.tmp", b"".join(after))
        os.rename("journal.tmp", "journal", src_dir_fd=self._journals, dst_dir_fd=self._journals)
        os.fsync(self._journals)
        for name, data in zip(self.names, after, strict=True):
            self._write(self._folder, f".{name}.tmp", data)
            self._exchange(f".{name}.tmp", name)
            os.unlink(f".{name}.tmp", dir_fd=self._folder)
            os.fsync(self._folder)
        os.unlink("journal", dir_fd=self._journals)
        os.fsync(self._journals)
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT INTO receipt (document) VALUES (?)", (receipt,))
        self._db.execute("DELETE FROM outbox")
        self._db.execute("COMMIT")

    def _write(self, folder: int, name: str, data: bytes) -> None:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _exchange(self, one: str, other: str) -> None:
        done = _LIBC.renameat2(
            self._folder, os.fsencode(one), self._folder, os.fsencode(other), _EXCHANGE
        )
        if done != 0:
            raise OSError(ctypes.get_errno(), "no exchange")
