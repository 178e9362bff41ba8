"""What the compaction pane asks of core; part of the client, so it pays for the store as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.candidates import propose
from core.compaction import exporting, marks
from core.compaction.overview import Overview
from core.evidence import lookup
from core.evidence.lookup import Passage
from core.ports import Desk
from schemas.candidates import CandidateKind, CandidateVersion, Source
from schemas.compaction import Item, Mark, MarkVerdict, Observation
from schemas.evidence import Event

AROUND = 1_500
"""Bytes of a message that are shown on either side of quoted words."""


@dataclass(frozen=True, slots=True)
class Where:
    """Quoted words with what stands around them in their message, and its neighbours."""

    source: Source
    around: Sequence[Event]
    passage: Passage


class Cutting:
    """Calls of the compaction pane; `desk` is the client's."""

    desk: Desk
    compactions: Overview

    def observed(self) -> Sequence[Observation]:
        """What hosts did to every session they compacted."""
        return self.compactions.observations()

    def losing(self) -> int:
        """How many compactions lost a standing instruction."""
        return self.compactions.losing()

    def place(self, locator: str) -> Where:
        """Quoted words, cut out of a message that may be long."""
        event, span = lookup.show(self.desk, locator)
        source = lookup.source_of(event, span)
        around = lookup.surroundings(self.desk, event.id)
        shorter = event.model_copy(update={"text": ""})
        near = [shorter if e.id == event.id else e for e in around]
        return Where(source, near, lookup.passage(event, source.start, source.end, AROUND))

    def text(self, event: str) -> str:
        """The whole text of an event."""
        return lookup.show(self.desk, event)[0].text

    def mark(self, item: Item, boundary: str, verdict: MarkVerdict, reason: str = "") -> Mark:
        """Record what an item of a compaction is."""
        return marks.mark(
            self.desk, item.session, item.locator, verdict, boundary=boundary, reason=reason
        )

    def export(self, session: str) -> str:
        """Write a session's observation into a file; its path in the workspace."""
        return exporting.export(self.desk, session).relative_to(self.desk.workspace.root).as_posix()

    def propose_from(self, text: str, kind: CandidateKind, source: str) -> CandidateVersion:
        """A pending candidate of somebody's words, with their place as its source."""
        return propose.propose(self.desk, text=text, kind=kind, key=None, sources=[source])
