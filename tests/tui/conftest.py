"""Fixtures of the screen: a workspace laid by core calls, the desk driven as a user would."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from core import desk as desks
from core.candidates.extract import extract
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.common import Actor, Door
from tests.conftest import REVIEWER, make_desk, record, write
from tui import theme
from tui.app import DeskApp
from tui.panes.candidates import CandidatesPane
from tui.panes.promotion import PromotionPane
from tui.widgets.bar import Bar

STATEMENTS = (
    "Refunds above 500 EUR need a second approver.",
    "Ledger export runs at 02:00 UTC every night.",
    "Ask me before adding a dependency to pyproject.toml.",
    "Commit subjects are imperative, at most 60 characters.",
    "Amounts are integers in minor units, never floats.",
    "Webhook secrets rotate on the first of the month.",
)


@pytest.fixture(autouse=True)
def unicode_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A UTF-8 terminal that tells nothing of its own."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in ("MEMDESK_ASCII", "NO_COLOR", "TEXTUAL_THEME", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    yield
    theme.choose(None)


@pytest.fixture(autouse=True)
def queues_not_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is done when every message it led to is handled: `settle` waits for just that.

    Textual's own wait sleeps 20 ms a turn until the process uses next to no processor, which one
    with threads of its own takes a second to do.
    """

    async def turns(_least: float = 0, _most: float = 0) -> None:
        for _ in range(8):
            await asyncio.sleep(0)

    monkeypatch.setattr("textual.app.wait_for_idle", turns)
    monkeypatch.setattr("textual.pilot.wait_for_idle", turns)


def said(*texts: str, session: str = "7acd37a8", **changes: Any) -> list[bytes]:
    """Owner's messages of one session, each asking to remember a statement."""
    lines, parent = [], None
    for n, text in enumerate(texts):
        uuid = f"{session}-{n}"
        lines.append(record(text, uuid, parent, sessionId=session, **changes))
        parent = uuid
    return lines


def lay(root: Path, statements: Sequence[str] = STATEMENTS, **changes: Any) -> Desk:
    """A workspace whose candidates are these statements, pending, in this order."""
    made = make_desk(root, **changes)
    file = root / ".sessions/session.jsonl"
    write(file, *said(*(f"Remember: {s}" for s in statements)))
    import_paths(made, [file])
    extract(made)
    return made


@pytest.fixture
def laid(workspace: Path) -> Iterator[Desk]:
    """The usual six candidates."""
    made = lay(workspace)
    yield made
    made.store.close()


def other(root: Path, reviewer: str = "Priya <priya@example.org>") -> Desk:
    """A second desk on the same workspace, as another process would open it."""
    return desks.open_(root, Actor(reviewer=reviewer, door=Door.COMMAND))


class Driver:
    """The open desk: keys, what is on screen, and waiting for it."""

    def __init__(self, app: DeskApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def candidates(self) -> CandidatesPane:
        return self.app.query_one(CandidatesPane)

    @property
    def promotion(self) -> PromotionPane:
        return self.app.query_one(PromotionPane)

    def rows(self) -> list[str]:
        """Every row of the screen as the terminal would show it."""
        return [
            "".join(s.text for s in strip) for strip in self.app.screen._compositor.render_strips()
        ]

    def text(self) -> str:
        return "\n".join(self.rows())

    def told(self) -> str:
        """What the bar says above its keys, in as many rows as it takes, as one line."""
        bar = self.app.query_one(Bar)
        return " ".join(" ".join(self.rows()[-bar.size.height : -1]).split())

    def row_of(self, words: str) -> str:
        """The first row of the list that holds these words."""
        return next((r for r in self.rows()[2:] if words in r[:60]), "")

    def row_in_diff(self, sign: str) -> str:
        """The last row of the diff that begins with a sign."""
        found = [r for r in self.rows() if f" {sign}  " in r[:4] or f" {sign}  " in r[60:66]]
        return found[-1] if found else ""

    def widths(self) -> set[int]:
        return {cell_len(r) for r in self.rows()}

    async def press(self, *keys: str) -> None:
        """Press keys one after the other and wait until all they started is done."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        """Wait for every message and every worker but the watcher, and for the frame after it."""
        end, quiet = time.monotonic() + 30, 0
        while quiet < 2 and time.monotonic() < end:
            await self.pilot.pause()
            busy = [w for w in self.app.workers if w.group != "follow" and not w.is_finished]
            quiet = 0 if busy else quiet + 1
            if busy:
                await asyncio.wait([asyncio.create_task(self._wait(w)) for w in busy], timeout=5)

    async def resize(self, width: int, height: int) -> None:
        """Another size of the terminal, laid out and drawn."""
        await self.pilot.resize_terminal(width, height)
        # Textual answers a new size when it is idle, and lays out after that; no queue tells.
        await self.until(lambda: tuple(self.app.screen.size) == (width, height))
        await self.settle()
        await self.until(lambda: self.widths() <= {width})

    @staticmethod
    async def _wait(worker: Any) -> None:
        with contextlib.suppress(Exception):
            await worker.wait()

    async def until(self, true: Callable[[], bool], seconds: float = 10) -> None:
        """Wait for something to become true."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, self.text()
            await self.pilot.pause(0.02)

    async def sees(self, words: str, seconds: float = 10) -> None:
        """Wait until words are on screen."""
        await self.until(lambda: words in self.text(), seconds)


@contextlib.asynccontextmanager
async def opened(
    root: Path,
    size: tuple[int, int] = (120, 40),
    reviewer: str = REVIEWER,
    *,
    app: DeskApp | None = None,
) -> AsyncIterator[Driver]:
    """The desk open on a workspace, its first list loaded."""
    made = app or DeskApp(root, reviewer=reviewer)
    async with made.run_test(size=size) as pilot:
        driver = Driver(made, pilot)
        await driver.until(lambda: made.client is not None)
        await driver.settle()
        yield driver


def events_of(path: Path) -> list[Any]:
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]
