"""The desk through a real pty: first paint, key to frame, memory, by the size of the store."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import stores
from benchmarks.report import Row, alternate, median, p95
from benchmarks.terminal import DOWN, HOME, PAGE_DOWN, Terminal

_MEMDESK = str(Path(sys.executable).parent / "memdesk")
_FLOOR = str(Path(__file__).parent / "floors" / "textual_app.py")
_MANY = 100_000
_FRAME = b"1 Candidates"
_KEYS_QUIET = 0.06


def _desk(root: Path) -> Terminal:
    return Terminal([_MEMDESK, "--workspace", str(root)])


def _painted(terminal: Terminal, marker: bytes) -> float:
    try:
        return terminal.wait(marker)
    finally:
        terminal.close()


def run(work: Path, rounds: int) -> list[Row]:
    empty, few, many = (stores.make(work / f"store-{n}", n) for n in (0, 100, _MANY))
    return [*_paint(empty, few, many, max(5, rounds)), *_keys(few, many, rounds)]


def _paint(empty: Path, few: Path, many: Path, rounds: int) -> list[Row]:
    row = stores.FIRST.encode()
    ours, none, app, first, first_few = (
        median(v) * 1000
        for v in alternate(
            rounds,
            lambda: _painted(_desk(many), _FRAME),
            lambda: _painted(_desk(empty), _FRAME),
            lambda: _painted(Terminal([sys.executable, _FLOOR]), b"READY"),
            lambda: _painted(_desk(many), row),
            lambda: _painted(_desk(few), row),
        )
    )
    return [
        Row("first paint, 100,000 pending against an empty store", ours, none, "ms", 1.3),
        Row("first paint, 100,000 pending against an empty Textual app", ours, app, "ms", 1.8),
        Row("  first row of data, 100,000 against 100 pending", first, first_few, "ms"),
    ]


def _keys(few: Path, many: Path, rounds: int) -> list[Row]:
    """Two desks open at once, keys given in turn, so that the machine's load is shared."""
    desks = [_desk(many), _desk(few)]
    try:
        for desk in desks:
            desk.wait(stores.FIRST.encode())
            desk.settle(2.5)
        down: list[list[float]] = [[], []]
        page: list[list[float]] = [[], []]
        for _ in range(rounds):
            for keys, found in (([DOWN] * 60, down), ([PAGE_DOWN] * 2, page)):
                for key in keys:
                    for place, desk in enumerate(desks):
                        frame = desk.key(key, _KEYS_QUIET)
                        if frame is not None:
                            found[place].append(frame * 1000)
                for desk in desks:
                    desk.key(HOME, 0.2)
        deep = [f * 1000 for _ in range(60) if (f := desks[0].key(PAGE_DOWN)) is not None]
        memory = [desk.rss_mb() for desk in desks]
    finally:
        for desk in desks:
            desk.close()
    return [
        Row("key to frame, down, p95: 100,000 against 100", p95(down[0]), p95(down[1]), "ms", 1.3),
        Row("  p50", median(down[0]), median(down[1]), "ms"),
        Row("key to frame, page down, p95", p95(page[0]), p95(page[1]), "ms", 1.3),
        Row("  60 pages deep, p95", p95(deep), p95(page[1]), "ms"),
        Row("memory (RSS)", memory[0], memory[1], "MB", 1.3),
    ]
