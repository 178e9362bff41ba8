"""The longest turn of the event loop while the desk is used: what a key must wait for at most.

Opening, moving, filtering and a source of one line of ten megabytes; the preview of a huge file is
in `previewing`. The aim of 50 ms is the house's; on a busy machine the loop's own thread counts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks import stores
from benchmarks.loop import turns
from benchmarks.report import Row, median

_MANY = 20_000
_LIMIT_MS = 50.0
_LINE = 10_000_000
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("moving", ("j", "j", "ctrl+d", "ctrl+d", "G", "g", "right_parenthesis", "J")),
    ("filtering", ("slash", *"check 7", "enter", "escape")),
    ("deciding", ("g", "a", "r", "d", "u")),
    ("other lists", ("f", "S", "2", "right_square_bracket", "0", "1")),
)


def run(work: Path, rounds: int) -> list[Row]:
    os.environ |= {"TEXTUAL_ANIMATIONS": "none", "LC_ALL": "C.UTF-8"}
    found: dict[str, list[tuple[float, float]]] = {}
    for n in range(rounds + 1):
        root = stores.make(work / f"many-{n}", _MANY)
        measured = asyncio.run(_used(root))
        measured |= asyncio.run(_long(_one_line(work / f"line-{n}")))
        for name, pair in measured.items() if n else ():
            found.setdefault(name, []).append(pair)
    rows = []
    for name, pairs in found.items():
        wall, own = (median([p[i] for p in pairs]) for i in (0, 1))
        rows.append(Row(f"longest turn of the loop, {name}", own, _LIMIT_MS, "ms", 1.0))
        rows.append(Row("  by the clock", wall, _LIMIT_MS, "ms"))
    return rows


def _one_line(root: Path) -> Path:
    """A workspace with one candidate, quoted from one line of ten megabytes."""
    from core.candidates.propose import propose
    from core.evidence.import_ import import_paths
    from schemas.candidates import CandidateKind
    from schemas.common import Page

    desk = stores.open_desk(root)
    (root / "long.txt").write_text("x" * (_LINE // 2) + f" {stores.FIRST}. " + "x" * (_LINE // 2))
    import_paths(desk, [root / "long.txt"])
    with desk.store.read() as view:
        event = view.evidence.events(Page(limit=1))[0][0]
    where = f"{event.id}#b{_LINE // 2 + 1}-{_LINE // 2 + 1 + len(stores.FIRST)}"
    kind = CandidateKind.PROJECT_FACT
    propose(desk, text=stores.FIRST, kind=kind, key=None, sources=[where])
    desk.store.close()
    return root


async def _used(root: Path) -> dict[str, tuple[float, float]]:
    return await _desk(root, "opening 20,000 candidates", _STEPS)


async def _long(root: Path) -> dict[str, tuple[float, float]]:
    keys = ("tab", "ctrl+d", "G", "g", "right_square_bracket")
    return await _desk(root, "opening a line of 10 MB", (("in it", keys),))


async def _desk(
    root: Path, opening: str, steps: tuple[tuple[str, tuple[str, ...]], ...]
) -> dict[str, tuple[float, float]]:
    """The longest turn of each step, by the clock and by the loop's thread, in milliseconds."""
    from tui.app import DeskApp

    out: dict[str, tuple[float, float]] = {}
    app = DeskApp(root, reviewer="Ana")
    with turns() as made:
        async with app.run_test(size=(120, 40)) as pilot:
            made.clear()  # the first frame is there: what a start costs is measured in `screen`
            while app.client is None or app.pane.list.row is None:  # type: ignore[attr-defined]
                await pilot.pause(0.02)
            await _quiet(app, pilot.pause)
            out[opening] = (made.longest, made.busiest)
            for name, keys in steps:
                made.clear()
                for key in keys:
                    await pilot.press({" ": "space"}.get(key, key))
                    await _quiet(app, pilot.pause)
                out[name] = (made.longest, made.busiest)
    return out


async def _quiet(app: object, pause: Callable[[], Awaitable[None]]) -> None:
    """Until nothing runs but what follows the store."""
    while any(
        w.group != "follow" and not w.is_finished
        for w in app.workers  # type: ignore[attr-defined]
    ):
        await pause()
        await asyncio.sleep(0.01)
    await pause()
