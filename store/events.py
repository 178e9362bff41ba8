"""Events as they are read: windows by key, whole texts, surroundings, the bytes behind a span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from schemas.common import Page
from schemas.evidence import Author, Event, EventKind
from schemas.operations import OperationState
from schemas.storage import StoredFile, Walked
from store import prepared
from store.keys import ID, WS, cursor_of, hex_range, parse_cursor
from store.prepared import Prepared
from store.tables import (
    EVENT,
    EVENT_BODY,
    LABEL,
    OPERATION,
    SESSION_FILE,
    SOURCE_FILE,
    SOURCE_PATH,
)

_LIST_TEXT = 4_096
_MANY = 500
_READ_TEXT = 262_144
_F, _E, _B = SOURCE_FILE.c, EVENT.c, EVENT_BODY.c
_MEANT = sa.exists().where(SOURCE_PATH.c.ws == _F.ws, SOURCE_PATH.c.file == _F.file)
"""Some path still means the file."""
_TWINS = {
    "sqlite": "SELECT wanted.value, (SELECT e.id FROM event AS e WHERE e.ws = ? "
    "AND e.twin = wanted.value ORDER BY e.file, e.ordinal LIMIT 1) FROM json_each(?) AS wanted",
    "postgresql": "SELECT wanted.value, (SELECT e.id FROM event AS e WHERE e.ws = ? "
    "AND e.twin = wanted.value ORDER BY e.file, e.ordinal LIMIT 1) "
    "FROM unnest(?::bigint[]) AS wanted(value)",
}
"""One look-up by key each, however often a record was repeated and whatever the planner thinks;
hundreds of parameters cost more than the look-ups they name."""
_SESSION = LABEL.alias("session_label")
_SCOPE = LABEL.alias("scope_label")


def _joined(text: sa.ColumnElement[bytes]) -> sa.Select[tuple[object, ...]]:
    """Events with their texts, as whole or as cut as `text` says, and what their numbers name."""
    return (
        sa.select(
            EVENT,
            text,
            sa.func.length(_B.text).label("size"),
            _B.digest,
            _F.id.label("file_id"),
            _SESSION.c.text.label("session_name"),
            _SCOPE.c.text.label("scope_name"),
        )
        .join(SOURCE_FILE, sa.and_(_F.ws == _E.ws, _F.file == _E.file))
        .join(_SESSION, sa.and_(_SESSION.c.ws == _E.ws, _SESSION.c.label == _E.session))
        .outerjoin(_SCOPE, sa.and_(_SCOPE.c.ws == _E.ws, _SCOPE.c.label == _E.scope))
        .outerjoin(
            EVENT_BODY,
            sa.and_(_B.ws == _E.ws, _B.file == _E.file, _B.ordinal == _E.ordinal),
        )
    )


_WHOLE = _joined(_B.text)
_CUT = _joined(sa.func.substr(_B.text, 1, _LIST_TEXT).label("text"))
_READ = _joined(
    sa.func.substr(
        _B.text,
        1,
        sa.case(
            (_E.kind.in_(("tool_result", "reasoning", "system")), _LIST_TEXT), else_=_READ_TEXT
        ),
    ).label("text")
)
_EVENT = Prepared(_WHOLE.where(_E.ws == WS, _E.id == ID))
_REVOKED = Prepared(
    sa.select(OPERATION.c.id)
    .where(
        OPERATION.c.ws == WS,
        OPERATION.c.subject == ID,
        OPERATION.c.action == "revoke",
        OPERATION.c.state == OperationState.APPLIED.value,
    )
    .limit(1)
)


class Events:
    """Events of one workspace on one connection, read only."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws
        self._revoked: dict[str, bool] = {}

    def _stored_file(self, id_: str) -> tuple[int, bytes] | None:
        """Number and tail of a file."""
        query = sa.select(_F.file, _F.tail).where(_F.ws == self._ws, _F.id == id_)
        row = self._c.execute(query).first()
        return None if row is None else (int(row.file), bytes(row.tail))

    def events_before(self, file: StoredFile, offset: int) -> int:
        """How many events of a file begin before a byte offset."""
        query = sa.select(sa.func.count()).where(
            _E.ws == self._ws, _E.file == file.number, _E.byte_start < offset
        )
        return int(self._c.execute(query).scalar_one())

    def last_record(self, file: StoredFile) -> tuple[int, int, bytes | None] | None:
        """Start, length and SHA-256 of a file's last record; no digest once it is erased."""
        query = (
            sa.select(_E.byte_start, _E.byte_length, _B.digest)
            .outerjoin(
                EVENT_BODY,
                sa.and_(_B.ws == _E.ws, _B.file == _E.file, _B.ordinal == _E.ordinal),
            )
            .where(_E.ws == self._ws, _E.file == file.number, _E.part == 0)
            .order_by(_E.ordinal.desc())
            .limit(1)
        )
        row = self._c.execute(query).first()
        if row is None:
            return None
        digest = None if row.digest is None else bytes(row.digest)
        return row.byte_start, row.byte_length, digest

    def native_ids(self, file: StoredFile) -> set[str]:
        """Native ids already read from a file."""
        query = sa.select(_E.native_id).where(
            _E.ws == self._ws, _E.file == file.number, _E.native_id.is_not(None)
        )
        return {str(n) for n in self._c.execute(query).scalars()}

    def twins(self, keys: Sequence[int]) -> dict[int, str]:
        """For twin keys already stored: the id of the first event that has each."""
        wanted = prepared.listed(self._c, list(keys))
        found = prepared.rows(self._c, _TWINS[self._c.dialect.name], (self._ws, wanted))
        return {twin: "ev_" + bytes(id_).hex() for twin, id_ in found if id_ is not None}

    def _query(self, *, whole: bool) -> sa.Select[tuple[object, ...]]:
        return (_WHOLE if whole else _CUT).where(_E.ws == self._ws)

    def events(
        self,
        page: Page,
        *,
        session: str | None = None,
        kind: str | None = None,
        author: str | None = None,
    ) -> tuple[list[Event], str | None]:
        """Events in file order; texts longer than 4 KiB are cut and marked `truncated`."""
        file, ordinal = parse_cursor(page.after, 2, -1)
        query = self._query(whole=False).where(
            sa.or_(_E.file > file, sa.and_(_E.file == file, _E.ordinal > ordinal))
        )
        if session is not None:
            t, label = SESSION_FILE.c, self._label(session)
            files = sa.select(t.file).where(t.ws == self._ws, t.session == label)
            query = query.where(_E.session == label, _E.file.in_(files))
        if kind is not None:
            query = query.where(_E.kind == kind)
        if author is not None:
            query = query.where(_E.author == author)
        rows = self._c.execute(query.order_by(_E.file, _E.ordinal).limit(page.limit + 1)).all()
        last = rows[page.limit - 1] if len(rows) > page.limit else None
        after = None if last is None else cursor_of(last.file, last.ordinal)
        return [self._event(r) for r in rows[: page.limit]], after

    def walk(self, session: str, *, after: tuple[int, int], limit: int) -> list[Walked]:
        """Events of a session past a place, in file order, each with the size of its whole text."""
        t, label = SESSION_FILE.c, self._label(session)
        files = sa.select(t.file).where(t.ws == self._ws, t.session == label)
        place = sa.or_(_E.file > after[0], sa.and_(_E.file == after[0], _E.ordinal > after[1]))
        query = _READ.where(_E.ws == self._ws, _E.session == label, _E.file.in_(files), place)
        rows = self._c.execute(query.order_by(_E.file, _E.ordinal).limit(limit))
        return [Walked((r.file, r.ordinal), self._event(r), int(r.size or 0)) for r in rows]

    def _label(self, text: str) -> int:
        t = LABEL.c
        query = sa.select(t.label).where(t.ws == self._ws, t.text == text)
        return int(self._c.execute(query).scalar() or -1)

    def _event(self, r: Any) -> Event:
        data = bytes(r.text) if r.text is not None else b""
        cut = r.size is not None and r.size > len(data)
        notes = notes_of(r.notes)
        same = next((n.removeprefix("same:") for n in notes if n.startswith("same:")), None)
        return Event(
            id="ev_" + bytes(r.id).hex(),
            file=r.file_id,
            session=r.session_name,
            ordinal=r.ordinal,
            kind=EventKind(r.kind),
            author=Author(r.author),
            time=r.time,
            text=data.decode("utf-8", "ignore" if cut else "replace"),
            truncated=cut,
            digest=None if r.digest is None else "sha256:" + bytes(r.digest).hex(),
            native_id=r.native_id,
            parent=r.parent,
            scope=r.scope_name,
            line=r.line,
            byte_start=r.byte_start,
            byte_length=r.byte_length,
            part=r.part,
            notes=tuple(n for n in notes if not n.startswith("same:")),
            same_as=same,
            revoked=self.revoked(r.file_id),
        )

    def event(self, id_: str) -> Event | None:
        """One event with its whole text."""
        row = _EVENT.first(self._c, ws_=self._ws, id_=bytes.fromhex(id_.removeprefix("ev_")))
        return None if row is None else self._event(row)

    def find_events(self, prefix: str, limit: int) -> list[str]:
        """Ids that begin with `prefix`, at most `limit`."""
        low, high = hex_range(prefix.removeprefix("ev_"))
        rows = self._c.execute(
            sa.select(_E.id)
            .where(_E.ws == self._ws, _E.id >= low, _E.id <= high)
            .order_by(_E.id)
            .limit(limit)
        ).scalars()
        return ["ev_" + bytes(r).hex() for r in rows]

    def find_sessions(self, prefix: str, limit: int, *, below: bool = True) -> list[str]:
        """Session names that begin with `prefix`; without `below` none of a sub-agent of one that
        does."""
        t = LABEL.c
        sessions = sa.select(SESSION_FILE.c.session).where(SESSION_FILE.c.ws == self._ws)
        query = sa.select(t.text).where(
            t.ws == self._ws,
            t.label.in_(sessions),
            t.text >= prefix,
            t.text < prefix + "\U0010ffff",
        )
        if not below:
            rest = sa.func.substr(t.text, len(prefix) + 1)
            query = query.where(~rest.contains("/", autoescape=True))
        return list(self._c.execute(query.order_by(t.text).limit(limit)).scalars())

    def event_at(self, session: str, line: int) -> Event | None:
        """The first event of a line of a session's file."""
        t, label = SESSION_FILE.c, self._label(session)
        files = sa.select(t.file).where(t.ws == self._ws, t.session == label)
        row = self._c.execute(
            self._query(whole=True)
            .where(_E.file.in_(files), _E.session == label, _E.line == line)
            .order_by(_E.file, _E.ordinal)
            .limit(1)
        ).first()
        return None if row is None else self._event(row)

    def event_in(self, file: StoredFile, line: int) -> Event | None:
        """The first event of a file at a line, or at the next one that has any."""
        mine = (_E.file == file.number, _E.line >= line)
        query = self._query(whole=True).where(*mine).order_by(_E.ordinal).limit(1)
        row = self._c.execute(query).first()
        return None if row is None else self._event(row)

    def around(self, id_: str, before: int, after: int) -> list[Event]:
        """An event in its surroundings: its file's neighbours, texts cut as in lists."""
        where = _E.id == bytes.fromhex(id_.removeprefix("ev_"))
        place = self._c.execute(
            sa.select(_E.file, _E.ordinal).where(_E.ws == self._ws, where)
        ).first()
        if place is None:
            return []
        rows = self._c.execute(
            self._query(whole=False)
            .where(
                _E.file == place.file,
                _E.ordinal >= place.ordinal - before,
                _E.ordinal <= place.ordinal + after,
            )
            .order_by(_E.ordinal)
        )
        return [self._event(r) for r in rows]

    def raw(self, id_: str) -> bytes | None:
        """The exact bytes of the record an event was read from."""
        where = _E.id == bytes.fromhex(id_.removeprefix("ev_"))
        place = self._c.execute(
            sa.select(_E.file, _E.ordinal, _E.part).where(_E.ws == self._ws, where)
        ).first()
        if place is None:
            return None
        found = self._c.execute(
            sa.select(_B.raw).where(
                _B.ws == self._ws,
                _B.file == place.file,
                _B.ordinal == place.ordinal - place.part,
            )
        ).scalar()
        return None if found is None else bytes(found)

    def revoked(self, file: str) -> bool:
        """True when a file's evidence was revoked; asked once a view for each file."""
        known = self._revoked.get(file)
        if known is None:
            known = _REVOKED.value(self._c, ws_=self._ws, id_=file) is not None
            self._revoked[file] = known
        return known

    def files_of(self, events: Sequence[str]) -> dict[str, str]:
        """The source file of each event that there is."""
        out: dict[str, str] = {}
        for n in range(0, len(events), _MANY):
            ids = [bytes.fromhex(e.removeprefix("ev_")) for e in events[n : n + _MANY]]
            rows = self._c.execute(
                sa.select(_E.id, _F.id.label("file_id"))
                .join(SOURCE_FILE, sa.and_(_F.ws == _E.ws, _F.file == _E.file))
                .where(_E.ws == self._ws, _E.id.in_(ids))
            )
            out |= {"ev_" + bytes(r.id).hex(): r.file_id for r in rows}
        return out

    def messages(
        self, *, after: tuple[int, int], authors: Sequence[str], file: int | None, limit: int
    ) -> list[tuple[tuple[int, int], Event]]:
        """First-hand messages by `authors` past a place, with their whole texts."""
        place = sa.or_(_E.file > after[0], sa.and_(_E.file == after[0], _E.ordinal > after[1]))
        query = self._query(whole=True).where(
            place, _E.kind == EventKind.MESSAGE.value, _E.author.in_(list(authors))
        )
        if file is not None:
            query = query.where(_E.file == file)
        rows = self._c.execute(query.order_by(_E.file, _E.ordinal).limit(limit))
        return [((r.file, r.ordinal), self._event(r)) for r in rows]

    def counts(self) -> dict[str, int]:
        """Totals: different files, the paths they were met under, files whose paths were written
        anew, events, bytes."""
        query = sa.select(
            sa.func.count(), sa.func.coalesce(sa.func.sum(_F.events), 0),
            sa.func.coalesce(sa.func.sum(_F.size), 0),
        ).where(_F.ws == self._ws)  # fmt: skip
        files, events, size = self._c.execute(query).one()
        met = sa.select(sa.func.count()).where(SOURCE_PATH.c.ws == self._ws)
        paths = int(self._c.execute(met).scalar_one())
        gone = sa.select(sa.func.count()).where(_F.ws == self._ws, ~_MEANT)
        replaced = int(self._c.execute(gone).scalar_one())
        return {
            "files": int(files), "paths": paths, "rewritten": replaced, "events": int(events),
            "bytes": int(size),
        }  # fmt: skip

    def rewritten(self, files: Sequence[str]) -> set[str]:
        """Those of some files that no path means any more: other bytes were written there."""
        query = sa.select(_F.id).where(_F.ws == self._ws, _F.id.in_(list(files)), ~_MEANT)
        return set(self._c.execute(query).scalars()) if files else set()

    def rebuild(self, file: str) -> Iterator[bytes]:
        """The committed bytes of a file, piece by piece, from its records alone."""
        stored = self._stored_file(file)
        if stored is None:
            return
        number, tail = stored
        after = -1
        while True:
            rows = self._c.execute(
                sa.select(_B.ordinal, _B.lead, _B.raw)
                .where(_B.ws == self._ws, _B.file == number, _B.ordinal > after)
                .order_by(_B.ordinal)
                .limit(200)
            ).all()
            for row in rows:
                if row.raw is not None:
                    yield b"\n" if row.lead is None else bytes(row.lead)
                    yield bytes(row.raw)
                after = row.ordinal
            if not rows:
                break
        yield tail


def notes_of(text: str) -> tuple[str, ...]:
    """The notes of a row, one a line."""
    return tuple(text.split("\n")) if text else ()
