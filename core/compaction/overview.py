"""Every imported session's compactions, observed once and again only when something changed."""

from __future__ import annotations

import threading

from core.compaction import observe
from core.ports import Desk
from schemas.common import Page
from schemas.compaction import LossRow, Observation

MOST = 1_000
"""Sessions observed for one overview; `memdesk compaction observe --all` pages them all."""


class Overview:
    """Observations of a desk's sessions by stamp. Any thread may ask; one at a time computes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int], Observation]] = {}

    def observations(self) -> list[Observation]:
        """All compacted sessions, in no particular order; only what grew or was marked is read."""
        with self._lock:
            found, _more = observe.sessions(self._desk, Page(limit=MOST))
            now = {}
            for name, events in found:
                with self._desk.store.read() as view:
                    stamp = (events, len(view.compaction.marks(name)))
                known = self._known.get(name)
                if known is None or known[0] != stamp:
                    known = (stamp, observe.observe(self._desk, name))
                now[name] = known
            self._known = now
            return [observation for _stamp, observation in now.values()]

    def rows(self) -> list[LossRow]:
        """Every compaction by loss."""
        rows = [r for o in self.observations() for r in observe.rows(o)]
        return sorted(rows, key=observe.by_loss)

    def losing(self) -> int:
        """How many compactions lost a standing instruction: what calls for attention (7.7)."""
        return sum(bool(r.lost.get("standing")) and r.copy_of is None for r in self.rows())
