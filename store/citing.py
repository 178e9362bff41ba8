"""Which candidate versions cite an event: kept as they are added, found by key (spec 4.2)."""

from __future__ import annotations

import sqlalchemy as sa

from schemas.candidates import CandidateVersion
from store.tables import CANDIDATE, CANDIDATE_SOURCE
from store.versions import Versions

_C, _S = CANDIDATE.c, CANDIDATE_SOURCE.c


def _named(event: str) -> bytes:
    return bytes.fromhex(event.removeprefix("ev_"))


class Citing(Versions):
    """Candidate versions by the events they cite."""

    def cite(self, number: int, record: CandidateVersion) -> None:
        """Keep which events a new version cites."""
        events = {_named(s.event) for s in record.sources}
        rows = [
            {"ws": self._ws, "event": e, "number": number, "version": record.version}
            for e in sorted(events)
        ]
        if rows:
            self._c.execute(sa.insert(CANDIDATE_SOURCE), rows)

    def citing(self, event: str, limit: int) -> list[tuple[str, int]]:
        """Id and version of what cites an event, the newest first, at most `limit`."""
        query = (
            sa.select(_C.id, _S.version)
            .select_from(CANDIDATE_SOURCE)
            .join(CANDIDATE, sa.and_(_C.ws == _S.ws, _C.number == _S.number))
            .where(_S.ws == self._ws, _S.event == _named(event))
        )
        rows = self._c.execute(query.order_by(_S.number.desc(), _S.version.desc()).limit(limit))
        return [(r.id, int(r.version)) for r in rows]
