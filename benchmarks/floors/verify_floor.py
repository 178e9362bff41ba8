"""Floor of a verification: the same rows by plain sqlite3, hashed as a chain must. DB [FILE...]

Every event is read with its contents; SHA-256 over salt and payload is its leaf, a Merkle root its
batch, SHA-256 over the bytes its file. With files: plain SHA-256 of each, 1 MiB at a time.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import time

QUERY = (
    "SELECT e.id, e.kind, e.author, e.session, e.time, e.line, b.salt, b.text, b.raw, b.digest "
    "FROM event e JOIN event_body b USING (ws, file, ordinal) "
    "JOIN source_file f USING (ws, file) "
    "WHERE f.id = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal"
)


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def merkle(leaves: list[bytes]) -> bytes:
    while len(leaves) > 1:
        pairs = [leaves[i : i + 2] for i in range(0, len(leaves), 2)]
        leaves = [sha(b"\1" + p[0] + p[1]) if len(p) == 2 else p[0] for p in pairs]
    return leaves[0]


def ledger(path: str) -> int:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    spans = db.execute("SELECT subject FROM ledger WHERE kind = 'events' ORDER BY seq").fetchall()
    count = 0
    for (span,) in spans:
        file, _, ordinals = span.partition(":")
        leaves = []
        for row in db.execute(QUERY, (file, *map(int, ordinals.split("-")))):
            place = repr(row[:6]).encode()
            leaves.append(sha(row[6] + place + sha(row[7]) + sha(row[8] or b"")))
        merkle(leaves)
        count += len(leaves)
    db.close()
    return count


def artifacts(paths: list[str]) -> int:
    size = 0
    for path in paths:
        whole = hashlib.sha256()
        with open(path, "rb") as file:
            while data := file.read(1 << 20):
                whole.update(data)
                size += len(data)
        whole.digest()
    return size


if __name__ == "__main__":
    start = time.process_time()
    clock = time.perf_counter()
    found = artifacts(sys.argv[2:]) if sys.argv[2:] else ledger(sys.argv[1])
    out = {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - start}
    print(json.dumps(out | {"found": found}))
