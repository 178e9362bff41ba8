"""What a database file is when it can't be opened as a store: read only, by SQLite's own means."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

_MAGIC = b"SQLite format 3\0"
_SAID = 3


def sqlite_file(path: Path) -> str:
    """One or two sentences on what is at `path`; nothing is written, also no journal."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
        size = path.stat().st_size
    except OSError as err:
        return f"{path.name} can't be read: {err.strerror}."
    if size == 0:
        return f"{path.name} is empty."
    if head != _MAGIC:
        return f"{path.name} is no SQLite database: its {size:,} bytes do not begin like one."
    return f"{path.name} begins like a SQLite database of {size:,} bytes; {_checked(path)}"


def _checked(path: Path) -> str:
    try:
        uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            said = [str(r[0]) for r in database.execute(f"PRAGMA integrity_check({_SAID})")]
    except sqlite3.Error as err:
        return f"its check could not be finished: {err}."
    if said == ["ok"]:
        return "its pages are sound, so what fails is how it is reached or what it holds."
    return "its check found: " + "; ".join(" ".join(x.split()) for x in said) + "."
