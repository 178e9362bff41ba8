"""Floor of an import: read lines, parse, hash, insert the same bytes into SQLite. DB FILE..."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import time

import orjson

BATCH = 500


def run(database: str, paths: list[str]) -> int:
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA wal_autocheckpoint=4000")
    db.execute("CREATE TABLE record (file INTEGER, line INTEGER, digest BLOB, raw BLOB) STRICT")
    count = 0
    for number, path in enumerate(paths):
        rows: list[tuple[int, int, bytes, bytes]] = []
        with open(path, "rb") as file:
            for line, raw in enumerate(file, 1):
                try:
                    orjson.loads(raw)
                except orjson.JSONDecodeError:
                    pass
                rows.append((number, line, hashlib.sha256(raw).digest(), raw))
                if len(rows) == BATCH:
                    count += _insert(db, rows)
                    rows = []
        count += _insert(db, rows)
    db.close()
    return count


def _insert(db: sqlite3.Connection, rows: list[tuple[int, int, bytes, bytes]]) -> int:
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
    db.execute("COMMIT")
    return len(rows)


if __name__ == "__main__":
    start = time.perf_counter()
    records = run(sys.argv[1], sys.argv[2:])
    print(json.dumps({"seconds": time.perf_counter() - start, "records": records}))
