"""Events and what follows from them as they stand in their rows, for verification (spec 1.4).

A hundred thousand of them are read in one go, so rows come as the driver gives them.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from schemas.storage import Claim, Extent, ListedRow, NewEvent, RawOperation
from store import prepared, tallies
from store.tables import EVENT, EVENT_BODY, LABEL, SESSION_FILE, SOURCE_FILE, SOURCE_PATH

_F = SOURCE_FILE.c
_LEAVES = (
    "SELECT e.id, e.ordinal, e.part, e.kind, e.author, e.session, e.time, e.native_id, e.parent, "
    "e.scope, e.line, e.byte_start, e.byte_length, e.notes, e.twin, b.text, b.lead, b.raw, "
    "b.digest, b.salt, e.commitment "
    "FROM event AS e LEFT JOIN event_body AS b "
    "ON b.ws = e.ws AND b.file = e.file AND b.ordinal = e.ordinal "
    "WHERE e.ws = ? AND e.file = ? AND e.ordinal BETWEEN ? AND ? ORDER BY e.ordinal"
)
_SESSION, _SCOPE, _TEXT, _DIGEST, _SALT = 5, 9, 15, 18, 19
_PAGE = 200


class Proving:
    """What verification reads of one workspace's evidence."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws
        self._numbers: dict[str, int] = {}
        self._texts: dict[object, str | None] = {None: None}

    def leaves(self, file: str, first: int, last: int) -> Iterator[tuple[NewEvent, bool]]:
        """Events `first..last` of a file with everything their commitments cover.

        False for one whose salt and payload are gone; the commitment then stands alone.
        """
        number = self._number(file)
        if number is None:
            return
        while first <= last:
            # A window of ordinals at a time: neither driver holds more than that.
            end = min(last, first + _PAGE - 1)
            rows = prepared.rows(self._c, _LEAVES, (self._ws, number, first, end))
            self._learn(rows)
            for row in rows:
                yield self._leaf(list(row))
            if not rows and (after := self._after(number, end)) is None:
                return
            first = end + 1 if rows else max(end + 1, after or 0)

    def _after(self, number: int, ordinal: int) -> int | None:
        """The first ordinal past a gap."""
        e = EVENT.c
        query = sa.select(sa.func.min(e.ordinal)).where(
            e.ws == self._ws, e.file == number, e.ordinal > ordinal
        )
        found = self._c.execute(query).scalar()
        return None if found is None else int(found)

    def _leaf(self, row: list[object]) -> tuple[NewEvent, bool]:
        row[_SESSION] = self._texts.get(row[_SESSION])
        row[_SCOPE] = self._texts.get(row[_SCOPE])
        present = row[_SALT] is not None
        if not present:
            row[_TEXT] = row[_DIGEST] = row[_SALT] = b""
        return NewEvent(*row), present  # type: ignore[arg-type]

    def _number(self, file: str) -> int | None:
        if file not in self._numbers:
            query = sa.select(_F.file).where(_F.ws == self._ws, _F.id == file)
            found = self._c.execute(query).scalar()
            if found is None:
                return None
            self._numbers[file] = int(found)
        return self._numbers[file]

    def _learn(self, rows: list[tuple[object, ...]]) -> None:
        """What the numbers of these rows name, in one question for all that are new."""
        numbers = {row[_SESSION] for row in rows} | {row[_SCOPE] for row in rows}
        if new := numbers - self._texts.keys():
            t = LABEL.c
            query = sa.select(t.label, t.text).where(t.ws == self._ws, t.label.in_(new))
            self._texts.update((r.label, r.text) for r in self._c.execute(query))

    def extent(self) -> list[Extent]:
        """How many rows of events and of their contents stand under each file number."""
        query = sa.select(_F.file, _F.id).where(_F.ws == self._ws)
        ids = {r.file: r.id for r in self._c.execute(query)}
        counts = []
        for table in (EVENT, EVENT_BODY):
            t = table.c
            rows = sa.select(t.file, sa.func.count()).where(t.ws == self._ws).group_by(t.file)
            counts.append({r[0]: int(r[1]) for r in self._c.execute(rows)})
        events, bodies = counts
        numbers = sorted({*ids, *events, *bodies})
        return [Extent(n, ids.get(n), events.get(n, 0), bodies.get(n, 0)) for n in numbers]

    def paths(self) -> Iterator[tuple[str, str | None]]:
        """Every path with the id of the file it means."""
        p = SOURCE_PATH.c
        query = (
            sa.select(p.path, _F.id)
            .outerjoin(SOURCE_FILE, sa.and_(_F.ws == p.ws, _F.file == p.file))
            .where(p.ws == self._ws)
        )
        for row in self._c.execute(query):
            yield row[0], row[1]

    def session_files(self) -> Iterator[tuple[str | None, str | None]]:
        """Session and file id of every pair that is listed."""
        s, t = SESSION_FILE.c, LABEL.c
        query = (
            sa.select(t.text, _F.id)
            .select_from(SESSION_FILE)
            .outerjoin(LABEL, sa.and_(t.ws == s.ws, t.label == s.session))
            .outerjoin(SOURCE_FILE, sa.and_(_F.ws == s.ws, _F.file == s.file))
            .where(s.ws == self._ws)
        )
        for row in self._c.execute(query):
            yield row[0], row[1]

    def odd_sessions(self) -> list[tuple[str, str]]:
        """Rows of sessions that do not follow from their events: the table and the name."""
        return [
            *(("session_total", name) for name in tallies.odd_totals(self._c, self._ws)),
            *(("session_file", name) for name in tallies.odd_bounds(self._c, self._ws)),
        ]

    def listed(self) -> Iterator[ListedRow]:
        """What every candidate's row in lists says beside what lists show."""
        return tallies.listed(self._c, self._ws)

    def claims(self) -> Iterator[Claim]:
        """Every claim as it is entered."""
        return tallies.claims(self._c, self._ws)

    def bands(self) -> dict[bytes, set[int]]:
        """Where each claim stands in the index of near duplicates."""
        return tallies.bands(self._c, self._ws)

    def likeness(self) -> set[tuple[bytes, bytes, str]]:
        """Claim, other claim and kind of everything found alike or apart."""
        return tallies.likeness(self._c, self._ws)

    def operations(self) -> Iterator[RawOperation]:
        """Every operation as its row holds it."""
        return tallies.operations(self._c, self._ws)

    def held(self) -> set[tuple[str, str, str, str]]:
        """Belief, consumer, receipt and state of everything that consumers hold."""
        return tallies.held(self._c, self._ws)

    def citations(self) -> int:
        """Citations of events that are kept for look-ups."""
        return tallies.citations(self._c, self._ws)

    def labels(self) -> Iterator[tuple[int, str]]:
        """Every interned name with its number."""
        t = LABEL.c
        query = sa.select(t.label, t.text).where(t.ws == self._ws).order_by(t.label)
        for row in self._c.execute(query):
            yield row[0], row[1]
