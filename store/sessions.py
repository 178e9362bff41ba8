"""Sessions: what each holds, counted as it is appended, and its events in both directions (1.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from schemas.evidence import Author, EventKind, SessionRow
from schemas.storage import NewEvent, Scanned, SessionFilter, Spot, Turn
from store import prepared
from store.events import Events
from store.tables import EVENT, EVENT_BODY, LABEL, SESSION_FILE, SESSION_TOTAL, SOURCE_FILE

_T, _S, _E, _B, _F = SESSION_TOTAL.c, SESSION_FILE.c, EVENT.c, EVENT_BODY.c, SOURCE_FILE.c
_L = LABEL.c
_SCOPE = LABEL.alias("session_scope")
_AUTHORS = [a.value for a in Author]
_ORDERS: dict[str, sa.Column[Any]] = {"newest": _T.seen, "events": _T.events, "bytes": _T.bytes}
_ALONG = 1 << 20
"""Bytes of a text up to which a search takes it along with others."""
_PARTIAL = "partial"
_NEAR = 200
_TITLE = 400
"""Bytes of a title."""
_SUMMED = ("events", "bytes", *(f"by_{a}" for a in _AUTHORS), "unparsed", "partial", "boundaries")
_REACHED = (
    "INSERT INTO session_file (ws, session, file, low, high) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (ws, session, file) DO UPDATE SET high = excluded.high"
)
_TOTALS = (
    "INSERT INTO session_total (ws, session, seen, first_time, last_time, scope, file, "
    f"{', '.join(_SUMMED)}) VALUES ({', '.join('?' * (7 + len(_SUMMED)))}) "
    "ON CONFLICT (ws, session) DO UPDATE SET "
    + ", ".join(f"{n} = session_total.{n} + excluded.{n}" for n in _SUMMED)
    + ", scope = coalesce(session_total.scope, excluded.scope), "
    "seen = CASE WHEN excluded.seen > session_total.seen THEN excluded.seen "
    "ELSE session_total.seen END, "
    "first_time = CASE WHEN session_total.first_time IS NULL "
    "OR excluded.first_time < session_total.first_time THEN excluded.first_time "
    "ELSE session_total.first_time END, "
    "last_time = CASE WHEN session_total.last_time IS NULL "
    "OR excluded.last_time > session_total.last_time THEN excluded.last_time "
    "ELSE session_total.last_time END"
)
"""Run over many rows by the driver: a batch may hold hundreds of sessions."""


@dataclass(frozen=True, slots=True)
class _Count:
    """What one batch adds to a session."""

    low: int
    high: int
    first: int | None
    last: int | None
    scope: str | None
    sums: dict[str, int]


def _counted(events: Sequence[NewEvent]) -> _Count:
    """One session's events of a batch, in order; a pass for each fact, since imports wait for it."""
    authors = Counter([e.author for e in events])
    kinds = Counter([e.kind for e in events])
    times = [e.time for e in events if e.time is not None]
    noted = [e.notes for e in events if _PARTIAL in e.notes]
    sums = dict.fromkeys(_SUMMED, 0) | {f"by_{a}": n for a, n in authors.items()}
    sums["events"] = len(events)
    sums["bytes"] = sum([e.byte_length for e in events if e.part == 0])
    sums["unparsed"] = kinds[EventKind.UNPARSED]
    sums["boundaries"] = kinds[EventKind.COMPACT_BOUNDARY]
    sums["partial"] = sum(_PARTIAL in notes.split("\n") for notes in noted)
    return _Count(
        low=events[0].ordinal,
        high=events[-1].ordinal,
        first=min(times, default=None),
        last=max(times, default=None),
        scope=next((e.scope for e in events if e.scope is not None), None),
        sums=sums,
    )


@dataclass(frozen=True, slots=True)
class _Reach:
    """Where in a file events of some sessions stand."""

    file: int
    low: int
    high: int


class Sessions(Events):
    """Sessions of one workspace on one connection."""

    # counting

    def count_in(self, file: int, events: Sequence[NewEvent], labels: dict[str, int]) -> None:
        """Count a batch of one file's events into its sessions."""
        held: dict[str, list[NewEvent]] = {}
        for e in events:
            held.setdefault(e.session, []).append(e)
        counts = {name: _counted(theirs) for name, theirs in held.items()}
        # In one order everywhere: on PostgreSQL two importers lock these rows until they commit.
        found = [(labels[n], counts[n]) for n in sorted(counts, key=labels.__getitem__)]
        reached = [(self._ws, session, file, c.low, c.high) for session, c in found]
        prepared.many(self._c, _REACHED, reached)
        totals = [
            (
                *(self._ws, session, max(c.last or 0, 0), c.first, c.last),
                *(None if c.scope is None else labels[c.scope], file),
                *c.sums.values(),
            )
            for session, c in found
        ]
        prepared.many(self._c, _TOTALS, totals)

    # lists

    def _sessions(self, f: SessionFilter) -> sa.Select[Any]:
        query = (
            sa.select(SESSION_TOTAL, _L.text.label("name"), _F.format, _F.path)
            .add_columns(_SCOPE.c.text.label("project"))
            .join(LABEL, sa.and_(_L.ws == _T.ws, _L.label == _T.session))
            .join(SOURCE_FILE, sa.and_(_F.ws == _T.ws, _F.file == _T.file))
            .outerjoin(_SCOPE, sa.and_(_SCOPE.c.ws == _T.ws, _SCOPE.c.label == _T.scope))
            .where(_T.ws == self._ws)
        )
        if f.text:
            words = f.text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            columns = (_L.text, _SCOPE.c.text, _F.path, _F.format)
            like = (sa.func.lower(c).like(f"%{words}%", escape="\\") for c in columns)
            query = query.where(sa.or_(*like))
        return query

    def sessions(self, f: SessionFilter, start: Spot | None, limit: int) -> list[SessionRow]:
        """At most `limit` rows from a place on, by key, never by offset."""
        column = _ORDERS[f.order]
        files = (
            sa.select(sa.func.count())
            .where(_S.ws == _T.ws, _S.session == _T.session)
            .scalar_subquery()
        )
        query = self._sessions(f).add_columns(files.label("files"))
        if start is not None:
            value, number = -start[0], start[1]
            later = sa.or_(column < value, _T.session >= number)
            query = query.where(column <= value, later)
        rows = self._c.execute(query.order_by(column.desc(), _T.session).limit(limit))
        found = [_row(r, f.order) for r in rows]
        return [r.model_copy(update={"title": self._title(r.number)}) for r in found]

    def _title(self, session: int) -> str:
        """The owner's first words, looked for no further than `_NEAR` from where each file begins."""
        near = _E.ordinal.between(_S.low, _S.low + _NEAR)
        query = (
            sa.select(sa.func.substr(_B.text, 1, _TITLE))
            .select_from(SESSION_FILE)
            .join(EVENT, sa.and_(_E.ws == _S.ws, _E.file == _S.file, near))
            .join(EVENT_BODY, sa.and_(_B.ws == _E.ws, _B.file == _E.file, _B.ordinal == _E.ordinal))
            .where(_S.ws == self._ws, _S.session == session, _E.session == session)
            .where(_E.author == Author.OWNER.value, _E.kind == EventKind.MESSAGE.value)
        )
        found = self._c.execute(query.order_by(_E.file, _E.ordinal).limit(1)).scalar()
        return "" if found is None else bytes(found).decode("utf-8", "ignore")

    def session_anchors(self, f: SessionFilter, stride: int) -> tuple[list[Spot], int]:
        """Every `stride`-th place of the list, and its length: what a scroll bar needs."""
        column = _ORDERS[f.order]
        order = (column.desc(), _T.session)
        inner = self._sessions(f).with_only_columns(
            column.label("value"),
            _T.session.label("number"),
            sa.func.row_number().over(order_by=order).label("nth"),
            sa.func.count().over().label("total"),
        )
        all_ = inner.subquery()
        query = sa.select(all_).where(all_.c.nth % stride == 1).order_by(all_.c.nth)
        rows = self._c.execute(query).all()
        return [(-int(r.value), int(r.number)) for r in rows], int(rows[0].total) if rows else 0

    def session(self, name: str) -> SessionRow | None:
        """One session."""
        files = (
            sa.select(sa.func.count())
            .where(_S.ws == _T.ws, _S.session == _T.session)
            .scalar_subquery()
        )
        query = self._sessions(SessionFilter()).add_columns(files.label("files"))
        row = self._c.execute(query.where(_T.session == self._label(name))).first()
        if row is None:
            return None
        return _row(row, "newest").model_copy(update={"title": self._title(row.session)})

    def children(self, name: str, limit: int) -> list[str]:
        """Sessions of a session's sub-agents, whose names begin with its name and a slash."""
        query = sa.select(_L.text).where(
            _L.ws == self._ws, _L.text > f"{name}/", _L.text < f"{name}0"
        )
        known = sa.select(_T.session).where(_T.ws == self._ws, _T.session == _L.label).exists()
        rows = self._c.execute(query.where(known).order_by(_L.text).limit(limit)).scalars()
        return [str(r) for r in rows]

    # events of a session, both ways

    def spot(self, event: str) -> Spot | None:
        """Where an event stands."""
        named = _E.id == bytes.fromhex(event.removeprefix("ev_"))
        row = self._c.execute(
            sa.select(_E.file, _E.ordinal).where(_E.ws == self._ws, named)
        ).first()
        return None if row is None else (int(row.file), int(row.ordinal))

    def turns(
        self, names: Sequence[str], spot: Spot | None, limit: int, *, back: bool = False
    ) -> list[Turn]:
        """Events of sessions past a place, or before it, nearest first; texts cut as in lists.

        `names` begins with the session itself: only its files are read. None is the beginning,
        or with `back` the end.
        """
        out: list[Turn] = []
        for where, order in self._stretches(names, spot, back=back):
            query = self._query(whole=False).where(*where).order_by(order)
            rows = self._c.execute(query.limit(limit - len(out)))
            out += [Turn((r.file, r.ordinal), self._event(r), int(r.size or 0)) for r in rows]
            if len(out) >= limit:
                break
        return out

    def texts(
        self, names: Sequence[str], spot: Spot | None, limit: int, *, back: bool = False
    ) -> list[Scanned]:
        """The same events with whole texts, for a search; long ones are to be asked for alone."""
        out: list[Scanned] = []
        mine = sa.and_(_B.ws == _E.ws, _B.file == _E.file, _B.ordinal == _E.ordinal)
        text = sa.case((sa.func.length(_B.text) <= _ALONG, _B.text)).label("text")
        for where, order in self._stretches(names, spot, back=back):
            query = sa.select(_E.file, _E.ordinal, _E.id, text).join(EVENT_BODY, mine)
            rows = self._c.execute(query.where(*where).order_by(order).limit(limit - len(out)))
            out += [
                Scanned(
                    (r.file, r.ordinal),
                    "ev_" + bytes(r.id).hex(),
                    None if r.text is None else bytes(r.text),
                )
                for r in rows
            ]
            if len(out) >= limit:
                break
        return out

    def _stretches(
        self, names: Sequence[str], spot: Spot | None, *, back: bool
    ) -> Iterator[tuple[list[sa.ColumnElement[bool]], sa.ColumnElement[Any]]]:
        """Conditions and order for each file that may hold more, from the place on."""
        labels = [self._label(n) for n in names]
        order = _E.ordinal.desc() if back else _E.ordinal.asc()
        for reach in self._reaches(labels, back=back):
            low, high = reach.low, reach.high
            if spot is not None:
                if (reach.file > spot[0]) if back else (reach.file < spot[0]):
                    continue
                if reach.file == spot[0]:
                    low, high = (low, spot[1] - 1) if back else (spot[1] + 1, high)
            if low <= high:
                where = [
                    _E.ws == self._ws,
                    _E.file == reach.file,
                    _E.ordinal.between(low, high),
                    _E.session.in_(labels),
                ]
                yield where, order

    def _reaches(self, labels: Sequence[int], *, back: bool) -> list[_Reach]:
        own = sa.select(_S.file).where(_S.ws == self._ws, _S.session == labels[0])
        query = (
            sa.select(_S.file, sa.func.min(_S.low), sa.func.max(_S.high))
            .where(_S.ws == self._ws, _S.session.in_(labels), _S.file.in_(own))
            .group_by(_S.file)
            .order_by(_S.file.desc() if back else _S.file)
        )
        return [_Reach(*map(int, r)) for r in self._c.execute(query)]


def _row(r: sa.Row[Any], order: str) -> SessionRow:
    value = {"newest": r.seen, "events": r.events, "bytes": r.bytes}[order]
    authors = {a: int(getattr(r, f"by_{a}")) for a in _AUTHORS}
    return SessionRow(
        number=r.session,
        place=(-int(value), r.session),
        name=r.name,
        host=r.format,
        path=r.path,
        files=max(1, int(r.files)),
        project=r.project,
        first=r.first_time,
        last=r.last_time,
        events=r.events,
        bytes=r.bytes,
        authors={a: n for a, n in authors.items() if n},
        unparsed=r.unparsed,
        partial=r.partial,
        boundaries=r.boundaries,
    )
