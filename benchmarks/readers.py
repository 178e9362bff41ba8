"""Each reader on 40 MB of its format, made of real files, against its floor."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpus
from benchmarks.report import Row, alternate, median

_DATA = corpus.HERE.parent / "tests" / "data"
_FLOOR = str(corpus.HERE / "floors" / "reader_floor.py")
MEGABYTES = 40
_LOGS = {
    "claude-code": sorted((_DATA / "claude-code").glob("*.jsonl")),
    "codex": [
        _DATA / "codex" / "codex_session.jsonl",
        _DATA / "codex" / "reopened-short-lines.jsonl",
    ],
    "copilot": [_DATA / "copilot" / "session-1.jsonl"],
    "gemini-log": sorted((_DATA / "gemini").glob("*.jsonl")),
    "openhands": [_DATA / "openhands" / "sdk-events.jsonl"],
}
_DOCUMENTS = {
    "gemini": (_DATA / "gemini" / "growth" / "snapshot-3.json", "messages"),
    "swe-agent": (_DATA / "swe-agent" / "trajectory.traj", "trajectory"),
    "atif": (_DATA / "atif" / "harbor_terminus2_continuation_cont1.json", "steps"),
    "model-request": (_DATA / "requests" / "openai-responses-04.json", "input"),
}


def log(path: Path, sources: list[Path], megabytes: int) -> None:
    """A log of copies of real ones."""
    parts = [p.read_bytes().rstrip(b"\n") + b"\n" for p in sources]
    copy = 0
    with path.open("wb") as out:
        while out.tell() < megabytes * 1_000_000:
            out.write(corpus.fresh(parts[copy % len(parts)], copy))
            copy += 1


def document(path: Path, source: Path, key: str, megabytes: int) -> None:
    """A document whose array holds its items over and over."""
    whole = json.loads(source.read_bytes())
    items = whole.pop(key)
    body = ",\n".join(json.dumps(x, indent=1) for x in items).encode()
    head = json.dumps({**whole, key: []}, indent=1).encode().rstrip()
    assert head.endswith(b"[]\n}")
    copy = 0
    with path.open("wb") as out:
        out.write(head[:-3])
        while out.tell() < megabytes * 1_000_000:
            out.write((b",\n" if copy else b"\n") + corpus.fresh(body, copy))
            copy += 1
        out.write(b"\n]\n}\n")


def opencode(path: Path, megabytes: int) -> None:
    """A database of many sessions of one size."""
    with sqlite3.connect(path) as db:
        db.executescript((_DATA / "opencode" / "database.sql").read_text())
        messages = db.execute("SELECT * FROM message").fetchall()
        parts = db.execute("SELECT * FROM part").fetchall()
        filler = " ".join(["some output of a tool"] * 100)
        for n in range(megabytes * 1_000_000 // 12_000):
            session = f"ses_{n // 200:06}"
            db.executemany(
                "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
                [(f"{m[0]}-{n}", session, m[2] + n, m[3], m[4]) for m in messages],
            )
            db.executemany(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        f"{p[0]}-{n}",
                        f"{p[1]}-{n}",
                        session,
                        p[3] + n,
                        p[4],
                        json.dumps({**json.loads(p[5]), "note": filler}),
                    )
                    for p in parts
                ],
            )
    db.close()


def aider(path: Path, megabytes: int) -> None:
    """A history of the same sessions over and over."""
    part = (_DATA / "aider" / "history-slice.md").read_bytes()
    path.write_bytes(part * (megabytes * 1_000_000 // len(part) + 1))


def run(work: Path, rounds: int) -> list[Row]:
    rows: list[Row] = []
    made: list[tuple[str, str, Path]] = []
    for name, sources in _LOGS.items():
        made.append((name, "lines", work / f"{name}.jsonl"))
        log(made[-1][2], sources, MEGABYTES)
    for name, (source, key) in _DOCUMENTS.items():
        made.append((name, "document", work / f"{name}.json"))
        document(made[-1][2], source, key, MEGABYTES)
    made.append(("aider", "blocks", work / "history.md"))
    aider(made[-1][2], MEGABYTES)
    made.append(("opencode", "rows", work / "opencode.db"))
    opencode(made[-1][2], MEGABYTES)
    for name, kind, path in made:
        rows += _compared(work, name, kind, path, rounds)
        path.unlink()
    return rows


def _compared(work: Path, name: str, kind: str, path: Path, rounds: int) -> list[Row]:
    size, events = path.stat().st_size / 1e6, 0

    def seconds(command: Callable[[], list[str]]) -> Callable[[], float]:
        def call() -> float:
            nonlocal events
            done = subprocess.run(
                [sys.executable, *command(), str(path)], capture_output=True, check=True
            )
            answer = json.loads(done.stdout)
            events = answer.get("events", events)
            return float(answer["seconds"])

        return call

    ours = seconds(lambda: ["-m", "benchmarks.import_run", str(_fresh(work, "ws"))])
    floor = seconds(lambda: [_FLOOR, kind, str(_fresh(work, "floor") / "floor.db")])
    a, b = (median(v) for v in alternate(rounds, ours, floor, warm=False))
    return [
        Row(f"read {name}, {size:.0f} MB", a, b, "s", 2.5),
        Row("  MB a second", size / a, None, "MB/s"),
        Row("  events a second", events / a, None, "1/s"),
    ]


def _fresh(work: Path, name: str) -> Path:
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
