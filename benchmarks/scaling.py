"""What one more event costs in a large store against a small one.

Both stores begin as the same real import. The large one is then filled by SQL alone: the same
events again and again under other files, their ids and keys of repeats spread as ten million
real ones would be, over as many files and days. What is left out: texts (short ones stand in),
ledger entries.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from benchmarks import corpus
from benchmarks.report import Row, alternate, median
from core import desk as desks
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.common import Actor, Door

_LARGE = int(os.environ.get("MEMDESK_BENCH_EVENTS", 10_000_000))
_MEGABYTES = 135
"""Of sessions that hold the small store's events."""
_STEP = 1 << 40
"""From one 18 minutes to the next in the keys of repeats."""
_COPIES = 1_000_000


def run(work: Path, rounds: int) -> list[Row]:
    paths = corpus.build(work / "sessions", _MEGABYTES)
    small, held = _stored(work / "small", paths)
    large, _ = _stored(work / "large", paths)
    total = _fill(large, _LARGE)
    turn = 0

    def fresh() -> list[Path]:
        nonlocal turn
        turn += 1
        return corpus.build(work / f"more-{turn}", 10, copies=_COPIES * turn)

    def more(desk: Desk) -> float:
        files = fresh()
        start = time.perf_counter()
        report = import_paths(desk, files)
        return (time.perf_counter() - start) / report.new * 1e6

    a, b = alternate(rounds, lambda: more(large), lambda: more(small))
    large.store.close()
    small.store.close()
    name = f"an event among {total:,} : among {held:,}"
    return [Row(name, median(a), median(b), "us", 1.2)]


def _stored(root: Path, paths: list[Path]) -> tuple[Desk, int]:
    root.mkdir()
    desk, _ = desks.init(root, Actor(reviewer="bench", door=Door.COMMAND))
    report = import_paths(desk, paths)
    return desk, report.new


def _fill(desk: Desk, wanted: int) -> int:
    """Copy the events of every file until so many stand there; returns their number."""
    with closing(sqlite3.connect(desk.workspace.folder / "memdesk.db")) as db:
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA wal_autocheckpoint=100000")
        (files,) = db.execute("SELECT max(file) FROM source_file").fetchone()
        (count,) = db.execute("SELECT count(*) FROM event").fetchone()
        columns = [c[1] for c in db.execute("PRAGMA table_info(event)")]
        kept = ", ".join(c for c in columns if c not in ("ws", "file", "id", "twin"))
        total, copy = count, 0
        while total < wanted:
            copy += 1
            for file in range(1, files + 1):
                number = file + copy * files
                db.execute(
                    "INSERT INTO source_file SELECT ws, ?, ? || substr(id, 18), path || ?, format, "
                    "head || ?, digest, size, lines, events, revision, tail, notes, created "
                    "FROM source_file WHERE file = ?",
                    (number, f"file_{os.urandom(6).hex()}", f"#{number}", f"#{number}", file),
                )
                db.execute(
                    f"INSERT INTO event (ws, file, id, twin, {kept}) "
                    "SELECT ws, ?, CAST(? || substr(id, 4, 3) || randomblob(10) AS BLOB), "
                    f"CASE WHEN twin < 0 THEN random() | (1 << 63) ELSE (twin / {_STEP} + ?) "
                    f"* {_STEP} + abs(random() % {_STEP}) END, {kept} FROM event WHERE file = ?",
                    (number, os.urandom(3), copy * 80, file),
                )
                db.execute(
                    "INSERT INTO event_body (ws, file, ordinal, salt, digest, text, lead, raw) "
                    "SELECT ws, ?, ordinal, salt, digest, x'', lead, x'' FROM event_body "
                    "WHERE file = ?",
                    (number, file),
                )
            db.commit()
            total += count
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return total
