"""Where sessions were cut, and what reviewers said about items (spec 7.7)."""

from __future__ import annotations

import sqlalchemy as sa

from schemas.compaction import Mark
from store.keys import next_number
from store.tables import COMPACTION_MARK, EVENT, LABEL, SESSION_FILE, SOURCE_FILE

_M, _E, _L = COMPACTION_MARK.c, EVENT.c, LABEL.c
_CUT = sa.text("event.kind IN ('compact_boundary', 'summary')")
"""In the words of the index that serves it; a parameter would not match them."""


class Compaction:
    """Compaction's own rows of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def cut_sessions(self, after: str, limit: int) -> list[tuple[str, int]]:
        """Sessions past a name that hold a boundary or a summary, with a stamp each.

        The stamp is another when the session's files have grown. Titles of sessions, which are
        summaries without an id of their own, are none.
        """
        files = (
            sa.select(sa.func.coalesce(sa.func.sum(SOURCE_FILE.c.events), 0))
            .select_from(SESSION_FILE)
            .join(
                SOURCE_FILE,
                sa.and_(
                    SOURCE_FILE.c.ws == SESSION_FILE.c.ws, SOURCE_FILE.c.file == SESSION_FILE.c.file
                ),
            )
            .where(SESSION_FILE.c.ws == self._ws, SESSION_FILE.c.session == _L.label)
            .scalar_subquery()
        )
        cut = (
            sa.select(sa.literal(1))
            .select_from(EVENT)
            .where(
                _E.ws == self._ws,
                _E.session == _L.label,
                _CUT,
                sa.or_(_E.kind == "compact_boundary", _E.native_id.is_not(None)),
            )
            .exists()
        )
        query = (
            sa.select(_L.text, files.label("stamp"))
            .where(_L.ws == self._ws, _L.text > after, cut)
            .order_by(_L.text)
            .limit(limit)
        )
        return [(r.text, int(r.stamp)) for r in self._c.execute(query)]

    def marks(self, session: str) -> list[Mark]:
        """What was said about a session's items, oldest first."""
        query = (
            sa.select(_M.document)
            .where(_M.ws == self._ws, _M.session == session)
            .order_by(_M.number)
        )
        return [Mark.model_validate_json(bytes(d)) for d in self._c.execute(query).scalars()]

    def mark_document(self, number: int) -> tuple[Mark, bytes] | None:
        """One mark as its columns say it, and the document that was sealed."""
        row = self._c.execute(
            sa.select(_M.session, _M.item, _M.boundary, _M.document).where(
                _M.ws == self._ws, _M.number == number
            )
        ).first()
        if row is None:
            return None
        document = bytes(row.document)
        columns = {"session": row.session, "item": row.item, "boundary": row.boundary}
        return Mark.model_validate_json(document).model_copy(update=columns), document

    def mark_numbers(self) -> list[int]:
        """Numbers of all marks."""
        query = sa.select(_M.number).where(_M.ws == self._ws).order_by(_M.number)
        return list(self._c.execute(query).scalars())

    def add_mark(self, mark: Mark) -> int:
        """Append a mark; answers its number."""
        number = next_number(self._c, self._ws, _M.number)
        self._c.execute(
            sa.insert(COMPACTION_MARK).values(
                ws=self._ws,
                number=number,
                session=mark.session,
                item=mark.item,
                boundary=mark.boundary,
                document=mark.model_dump_json().encode(),
            )
        )
        return number
