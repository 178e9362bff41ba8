"""Source files and the bulk appends of their events (spec 1.3)."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from schemas.common import Page
from schemas.evidence import SourceFile
from schemas.storage import NewEvent, StoredFile
from store import prepared
from store.events import notes_of
from store.keys import WS, cursor_of, hold, next_number, parse_cursor
from store.prepared import Prepared
from store.sessions import Sessions
from store.tables import EVENT, EVENT_BODY, LABEL, SOURCE_FILE, SOURCE_PATH

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""Digest of no bytes: a file that is registered but not yet read."""
_F = SOURCE_FILE.c
_ADVANCE = Prepared(
    sa.update(SOURCE_FILE).where(
        _F.ws == WS,
        _F.file == sa.bindparam("file_"),
        _F.size == sa.bindparam("size_"),
        _F.events == sa.bindparam("events_"),
        _F.digest == sa.bindparam("digest_"),
    ),
    *("digest", "size", "lines", "events", "revision", "tail", "notes"),
)
_EVENTS, _BODIES, _LABELS = map(prepared.insert, (EVENT, EVENT_BODY, LABEL))
_KNOWN_LABELS = {
    "sqlite": "SELECT text, label FROM label WHERE ws = ? "
    "AND text IN (SELECT value FROM json_each(?))",
    "postgresql": "SELECT text, label FROM label WHERE ws = ? AND text = ANY(?)",
}


class Evidence(Sessions):
    """Evidence of one workspace on one connection."""

    # files

    def file_by_path(self, path: str, *, lock: bool = False) -> StoredFile | None:
        """The file last met under `path`; with `lock` no one else enters a file until commit."""
        if lock:
            hold(self._c, self._ws, "source_file")
        p = SOURCE_PATH.c
        numbers = sa.select(p.file).where(p.ws == self._ws, p.path == path)
        return self._file(_F.file.in_(numbers))

    def files_by_head(self, head: str) -> list[StoredFile]:
        """Files whose first line has this digest, longest first."""
        query = sa.select(SOURCE_FILE).where(_F.ws == self._ws, _F.head == head)
        rows = self._c.execute(query.order_by(_F.size.desc(), _F.file).limit(16))
        return [_stored(r) for r in rows]

    def file_by_id(self, id_: str) -> StoredFile | None:
        """A file by its whole id."""
        return self._file(_F.id == id_)

    def _file(self, where: sa.ColumnElement[bool]) -> StoredFile | None:
        query = sa.select(SOURCE_FILE).where(_F.ws == self._ws, where).order_by(_F.file).limit(1)
        row = self._c.execute(query).first()
        return None if row is None else _stored(row)

    def files(self, page: Page) -> tuple[list[SourceFile], str | None]:
        """Files in import order."""
        (after,) = parse_cursor(page.after, 1, -1)
        rows = self._c.execute(
            sa.select(SOURCE_FILE)
            .where(_F.ws == self._ws, _F.file > after)
            .order_by(_F.file)
            .limit(page.limit + 1)
        ).all()
        items = [
            SourceFile(
                id=r.id,
                path=r.path,
                format=r.format,
                digest=r.digest,
                size=r.size,
                events=r.events,
                revision=r.revision,
                notes=notes_of(r.notes),
            )
            for r in rows[: page.limit]
        ]
        return items, cursor_of(rows[page.limit - 1].file) if len(rows) > page.limit else None

    def add_file(
        self, id_: str, path: str, format_: str, head: str, revision: int, time: int
    ) -> StoredFile:
        """Register a new, empty file under its first path."""
        number = next_number(self._c, self._ws, _F.file)
        file = StoredFile(number, id_, path, format_, head, EMPTY, 0, 0, 0, revision, b"", "", time)
        self._c.execute(
            sa.insert(SOURCE_FILE).values(
                ws=self._ws,
                file=number,
                id=id_,
                path=path,
                format=format_,
                head=head,
                digest=EMPTY,
                size=0,
                lines=0,
                events=0,
                revision=revision,
                tail=b"",
                notes="",
                created=time,
            )
        )
        self.add_path(file, path)
        return file

    def add_path(self, file: StoredFile, path: str) -> None:
        """Let `path` mean `file` from now on."""
        hold(self._c, self._ws, "source_file")
        p = SOURCE_PATH.c
        mine = sa.and_(p.ws == self._ws, p.path == path)
        self._c.execute(sa.delete(SOURCE_PATH).where(mine))
        self._c.execute(sa.insert(SOURCE_PATH).values(ws=self._ws, path=path, file=file.number))

    def advance(self, old: StoredFile, new: StoredFile) -> bool:
        """Commit how far a file has been read; False when another importer was faster."""
        changed = _ADVANCE.run(
            self._c,
            ws_=self._ws,
            file_=old.number,
            size_=old.size,
            events_=old.events,
            digest_=old.digest,
            digest=new.digest,
            size=new.size,
            lines=new.lines,
            events=new.events,
            revision=new.revision,
            tail=new.tail,
            notes=new.notes,
        )
        return changed == 1

    # events

    def append(self, file: StoredFile, events: Sequence[NewEvent]) -> None:
        """Insert one batch of events of `file`."""
        names = {e.session for e in events}
        labels = self._labels(names | {e.scope for e in events if e.scope is not None})
        ws, number = self._ws, file.number
        heads = [
            (
                ws,
                number,
                e.ordinal,
                e.id,
                e.part,
                e.kind,
                e.author,
                labels[e.session],
                e.time,
                e.native_id,
                e.parent,
                None if e.scope is None else labels[e.scope],
                e.line,
                e.byte_start,
                e.byte_length,
                e.notes,
                e.twin,
                e.commitment,
            )
            for e in events
        ]
        bodies = [(ws, number, e.ordinal, e.salt, e.digest, e.text, e.lead, e.raw) for e in events]
        prepared.many(self._c, _EVENTS, heads)
        prepared.many(self._c, _BODIES, bodies)
        self.count_in(number, events, labels)

    def _labels(self, texts: set[str]) -> dict[str, int]:
        """Numbers of these texts, given to those that are new."""
        if not texts:
            return {}
        found = self._known_labels(texts)
        if texts - found.keys():
            # Others wait for the numbers until this commits: few statements, whatever the count.
            hold(self._c, self._ws, "label")
            found |= self._known_labels(texts - found.keys())
        if new := sorted(texts - found.keys()):
            first = next_number(self._c, self._ws, LABEL.c.label)
            entered = [(self._ws, first + n, text) for n, text in enumerate(new)]
            prepared.many(self._c, _LABELS, entered)
            found.update((text, number) for _ws, number, text in entered)
        return found

    def _known_labels(self, texts: set[str]) -> dict[str, int]:
        wanted = prepared.listed(self._c, sorted(texts))
        return dict(prepared.rows(self._c, _KNOWN_LABELS[self._c.dialect.name], (self._ws, wanted)))


def _stored(row: sa.Row[tuple[object, ...]]) -> StoredFile:
    return StoredFile(
        number=row.file,
        id=row.id,
        path=row.path,
        format=row.format,
        head=row.head,
        digest=row.digest,
        size=row.size,
        lines=row.lines,
        events=row.events,
        revision=row.revision,
        tail=bytes(row.tail),
        notes=row.notes,
        created=row.created,
    )
