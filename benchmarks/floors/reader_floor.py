"""Floor of reading one format: parse, hash and insert the same items. KIND DB FILE.

KIND: `lines` (JSON lines), `document` (one JSON document), `blocks` (text), `rows` (SQLite).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

BATCH = 500


def items(kind: str, path: str) -> Iterator[bytes]:
    if kind == "lines":
        with open(path, "rb") as file:
            for line in file:
                with contextlib.suppress(orjson.JSONDecodeError):
                    orjson.loads(line)
                yield line
    elif kind == "document":
        document = orjson.loads(Path(path).read_bytes())
        lists = [v for v in document.values() if isinstance(v, list)]
        yield from (orjson.dumps(item) for items in lists for item in items)
    elif kind == "blocks":
        yield from Path(path).read_bytes().split(b"\n\n")
    else:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            for (data,) in database.execute("SELECT data FROM part ORDER BY message_id, id"):
                orjson.loads(data)
                yield data.encode()


def run(kind: str, target: str, path: str) -> int:
    db = sqlite3.connect(target, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA wal_autocheckpoint=4000")
    db.execute("CREATE TABLE record (line INTEGER, digest BLOB, raw BLOB) STRICT")
    rows: list[tuple[int, bytes, bytes]] = []
    count = 0
    for count, raw in enumerate(items(kind, path), 1):
        rows.append((count, hashlib.sha256(raw).digest(), raw))
        if len(rows) == BATCH:
            _insert(db, rows)
            rows = []
    _insert(db, rows)
    db.close()
    return count


def _insert(db: sqlite3.Connection, rows: list[tuple[int, bytes, bytes]]) -> None:
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")


if __name__ == "__main__":
    start = time.perf_counter()
    count = run(sys.argv[1], sys.argv[2], sys.argv[3])
    print(json.dumps({"seconds": time.perf_counter() - start, "items": count}))
