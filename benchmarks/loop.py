"""How long single turns of the event loop last, and which: what a key would have to wait for."""

from __future__ import annotations

import asyncio.events
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Turns:
    """Every callback of the loop that lasted: milliseconds of the clock, of its own thread, a name.

    The clock counts what a user waits; the thread's time leaves out what other processes took.
    """

    least: float = 5.0
    found: list[tuple[float, float, str]] = field(default_factory=list)

    @property
    def longest(self) -> float:
        """The longest turn by the clock, in milliseconds."""
        return max((wall for wall, _, _ in self.found), default=0.0)

    @property
    def busiest(self) -> float:
        """The longest turn by the loop's own thread, in milliseconds."""
        return max((own for _, own, _ in self.found), default=0.0)

    def clear(self) -> None:
        """Begin anew."""
        self.found.clear()


@contextlib.contextmanager
def turns(least: float = 0.0) -> Iterator[Turns]:
    """Time every callback that any loop runs inside."""
    made, usual = Turns(least), asyncio.events.Handle._run

    def run(handle: asyncio.Handle) -> None:
        start, own = time.perf_counter(), time.thread_time()
        usual(handle)
        wall, cpu = time.perf_counter() - start, time.thread_time() - own
        if wall * 1000 >= least:
            made.found.append((wall * 1000, cpu * 1000, repr(handle)[:300]))

    asyncio.events.Handle._run = run  # type: ignore[method-assign]
    try:
        yield made
    finally:
        asyncio.events.Handle._run = usual  # type: ignore[method-assign]
