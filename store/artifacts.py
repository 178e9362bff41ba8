"""Artifacts: their revisions and chunk digests as rows, their bytes in files or chunk rows (1.5)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import sqlalchemy as sa

from schemas.common import Page
from schemas.evidence import Artifact
from schemas.storage import Chunk, StoredArtifact, StoredExtract, StoredRevision
from store.engine import Database
from store.keys import WS, cursor_of, next_number, parse_cursor, text_range
from store.tables import (
    ARTIFACT,
    ARTIFACT_BYTES,
    ARTIFACT_CHUNK,
    ARTIFACT_EXTRACT,
    ARTIFACT_REVISION,
)

CHUNK_BYTES = 1 << 20
_A, _C, _R, _B = ARTIFACT.c, ARTIFACT_CHUNK.c, ARTIFACT_REVISION.c, ARTIFACT_BYTES.c
_X = ARTIFACT_EXTRACT.c
_FORGET = sa.delete(ARTIFACT_BYTES).where(_B.ws == WS, _B.digest == sa.bindparam("digest_"))
_KEEP = sa.insert(ARTIFACT_BYTES)
_SIZE = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(_B.data)), 0)).where(
    _B.ws == WS, _B.digest == sa.bindparam("digest_")
)
_BYTES = sa.select(_B.data).where(
    _B.ws == WS, _B.digest == sa.bindparam("digest_"), _B.chunk == sa.bindparam("chunk_")
)


class Artifacts:
    """Artifacts of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def by_digest(self, digest: bytes) -> StoredArtifact | None:
        """The artifact with these bytes."""
        return self._one(_A.digest == digest)

    def by_number(self, number: int) -> StoredArtifact | None:
        """An artifact by its number."""
        return self._one(_A.artifact == number)

    def _one(self, where: sa.ColumnElement[bool]) -> StoredArtifact | None:
        row = self._c.execute(sa.select(ARTIFACT).where(_A.ws == self._ws, where)).first()
        if row is None:
            return None
        return StoredArtifact(row.artifact, bytes(row.digest), row.size, row.lines, row.created)

    def chunks(self, artifact: int, first: int, last: int) -> list[Chunk]:
        """Chunks `first..last` in order."""
        query = sa.select(ARTIFACT_CHUNK).where(
            _C.ws == self._ws, _C.artifact == artifact, _C.chunk.between(first, last)
        )
        rows = self._c.execute(query.order_by(_C.chunk))
        return [Chunk(r.chunk, bytes(r.digest), r.lines) for r in rows]

    def chunk_of_newline(self, artifact: int, nth: int) -> Chunk | None:
        """The last chunk with fewer than `nth` newlines before it: it holds the nth, if any does."""
        query = sa.select(ARTIFACT_CHUNK).where(
            _C.ws == self._ws, _C.artifact == artifact, _C.lines < nth
        )
        row = self._c.execute(query.order_by(_C.chunk.desc()).limit(1)).first()
        return None if row is None else Chunk(row.chunk, bytes(row.digest), row.lines)

    def revision(self, id_: str) -> Artifact | None:
        """One revision of a path by its whole id."""
        row = self._c.execute(self._revisions().where(_R.id == id_)).first()
        return None if row is None else _artifact(row)

    def newest_at(self, path: str) -> Artifact | None:
        """The newest revision of a path."""
        query = self._revisions().where(_R.path == path).order_by(_R.revision.desc())
        row = self._c.execute(query.limit(1)).first()
        return None if row is None else _artifact(row)

    def newest_of(self, artifact: int) -> Artifact | None:
        """The revision registered last with these bytes."""
        query = self._revisions().where(_R.artifact == artifact).order_by(_R.number.desc())
        row = self._c.execute(query.limit(1)).first()
        return None if row is None else _artifact(row)

    def find(self, prefix: str, limit: int) -> list[str]:
        """Revision ids that begin with `prefix`."""
        low, high = text_range(prefix)
        query = sa.select(_R.id).where(_R.ws == self._ws, _R.id >= low, _R.id < high)
        return list(self._c.execute(query.order_by(_R.id).limit(limit)).scalars())

    def list(self, page: Page) -> tuple[Sequence[Artifact], str | None]:
        """Revisions in the order they were registered."""
        (after,) = parse_cursor(page.after, 1, -1)
        query = self._revisions().where(_R.number > after).order_by(_R.number)
        rows = self._c.execute(query.limit(page.limit + 1)).all()
        more = len(rows) > page.limit
        items = [_artifact(r) for r in rows[: page.limit]]
        return items, cursor_of(rows[page.limit - 1].number) if more else None

    def _revisions(self) -> sa.Select[tuple[object, ...]]:
        later = ARTIFACT_REVISION.alias("later")
        newest = (
            sa.select(sa.func.max(later.c.revision))
            .where(later.c.ws == _R.ws, later.c.path == _R.path)
            .scalar_subquery()
        )
        return (
            sa.select(ARTIFACT_REVISION, _A.digest, _A.size, _A.lines, newest.label("newest"))
            .join(ARTIFACT, sa.and_(_A.ws == _R.ws, _A.artifact == _R.artifact))
            .where(_R.ws == self._ws)
        )

    def extract(self, source: str, lines: str) -> StoredExtract | None:
        """The extract of these lines of a revision."""
        query = self._extracts().where(_R.id == source, _X.lines == lines)
        row = self._c.execute(query).first()
        return None if row is None else _extract(row)

    def extracts(self, path: str, limit: int) -> Sequence[StoredExtract]:
        """Extracts of every revision of a path, oldest first."""
        query = self._extracts().where(_R.path == path)
        rows = self._c.execute(query.order_by(_R.revision, _X.time, _X.lines).limit(limit))
        return [_extract(r) for r in rows]

    def _extracts(self) -> sa.Select[tuple[object, ...]]:
        return (
            sa.select(_R.id, _X.lines, _X.digest, _X.time)
            .join(ARTIFACT_REVISION, sa.and_(_R.ws == _X.ws, _R.number == _X.number))
            .where(_X.ws == self._ws)
        )

    # writes

    def add(
        self, digest: bytes, size: int, lines: int, chunks: Sequence[Chunk], time: int
    ) -> StoredArtifact:
        """Enter bytes that are kept by now; those known already are found again."""
        number = next_number(self._c, self._ws, _A.artifact)
        known = self.by_digest(digest)
        if known is not None:
            return known
        row = {"ws": self._ws, "artifact": number, "digest": digest, "size": size, "lines": lines}
        self._c.execute(sa.insert(ARTIFACT), row | {"created": time})
        rows = [
            {
                "ws": self._ws,
                "artifact": number,
                "chunk": c.number,
                "digest": c.digest,
                "lines": c.lines,
            }
            for c in chunks
        ]
        if rows:
            self._c.execute(sa.insert(ARTIFACT_CHUNK), rows)
        return StoredArtifact(number, digest, size, lines, time)

    def add_revision(self, id_: str, path: str, revision: int, artifact: int, time: int) -> None:
        """Let `path` have these bytes from now on."""
        row = {
            "ws": self._ws,
            "number": next_number(self._c, self._ws, _R.number),
            "id": id_,
            "path": path,
            "revision": revision,
            "artifact": artifact,
            "time": time,
        }
        self._c.execute(sa.insert(ARTIFACT_REVISION), row)

    def add_extract(self, source: str, lines: str, digest: bytes, time: int) -> None:
        """Enter an extract of a revision."""
        number = sa.select(_R.number).where(_R.ws == self._ws, _R.id == source)
        row = {
            "ws": self._ws,
            "number": self._c.execute(number).scalar_one(),
            "lines": lines,
            "digest": digest,
            "time": time,
        }
        self._c.execute(sa.insert(ARTIFACT_EXTRACT), row)

    # verification

    def stored_revision(self, id_: str) -> StoredRevision | None:
        """A revision as it stands."""
        query = sa.select(ARTIFACT_REVISION).where(_R.ws == self._ws, _R.id == id_)
        r = self._c.execute(query).first()
        if r is None:
            return None
        return StoredRevision(r.number, r.id, r.path, r.revision, r.artifact, r.time)

    def row_counts(self) -> dict[str, int]:
        """How many revisions and extracts there are."""
        found = {}
        for name, table in (("artifact", ARTIFACT_REVISION), ("extract", ARTIFACT_EXTRACT)):
            query = sa.select(sa.func.count()).where(table.c.ws == self._ws)
            found[name] = int(self._c.execute(query).scalar_one())
        return found

    def row_names(self, kind: str) -> Iterator[str]:
        """What the chain would call each revision or extract."""
        if kind == "artifact":
            query = sa.select(_R.id).where(_R.ws == self._ws).order_by(_R.number)
            yield from self._c.execute(query).scalars()
            return
        mine = sa.and_(_R.ws == _X.ws, _R.number == _X.number)
        rows = (
            sa.select(_R.id, _X.number, _X.lines)
            .select_from(ARTIFACT_EXTRACT)
            .outerjoin(ARTIFACT_REVISION, mine)
            .where(_X.ws == self._ws)
        )
        for r in self._c.execute(rows):
            yield f"{r.id or f'number {r.number}'}#l{r.lines}"

    def numbers(self) -> Iterator[int]:
        """The number of every artifact."""
        yield from self._c.execute(sa.select(_A.artifact).where(_A.ws == self._ws)).scalars()

    def stray_chunks(self) -> Sequence[int]:
        """Numbers of artifacts that chunk digests name and that are not there."""
        query = (
            sa.select(_C.artifact)
            .outerjoin(ARTIFACT, sa.and_(_A.ws == _C.ws, _A.artifact == _C.artifact))
            .where(_C.ws == self._ws, _A.artifact.is_(None))
        )
        return list(self._c.execute(query.distinct().order_by(_C.artifact)).scalars())

    def total_bytes(self) -> int:
        """Bytes of all artifacts."""
        query = sa.select(sa.func.coalesce(sa.func.sum(_A.size), 0)).where(_A.ws == self._ws)
        return int(self._c.execute(query).scalar_one())


def _extract(r: sa.Row[tuple[object, ...]]) -> StoredExtract:
    return StoredExtract(r.id, r.lines, bytes(r.digest), r.time)


def _artifact(r: sa.Row[tuple[object, ...]]) -> Artifact:
    return Artifact(
        id=r.id,
        locator="artifact://sha256/" + bytes(r.digest).hex(),
        digest="sha256:" + bytes(r.digest).hex(),
        path=r.path,
        size=r.size,
        lines=r.lines,
        revision=r.revision,
        newest=r.newest,
        stale=r.revision < r.newest,
        time=r.time,
    )


class FileBlobs:
    """Bytes in files under `.memdesk/artifacts/`, beside a SQLite store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, digest: bytes) -> Path:
        name = digest.hex()
        return self._folder / name[:2] / name

    def keep(self, digest: bytes, staged: Path) -> None:
        """Take over a staged file's bytes by one rename."""
        path = self._path(digest)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(staged, 0o400)
        os.replace(staged, path)
        for folder in (path.parent, self._folder):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def chunk(self, digest: bytes, number: int) -> bytes | None:
        """One chunk, read from its place in the file alone."""
        try:
            handle = os.open(self._path(digest), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return os.pread(handle, CHUNK_BYTES, number * CHUNK_BYTES)
        finally:
            os.close(handle)

    def size(self, digest: bytes) -> int:
        """How many bytes are kept; 0 where there are none."""
        try:
            return self._path(digest).lstat().st_size
        except OSError:
            return 0


class RowBlobs:
    """Bytes in chunk rows, for PostgreSQL."""

    def __init__(self, database: Database, ws: int) -> None:
        self._db = database
        self._ws = ws

    def keep(self, digest: bytes, staged: Path) -> None:
        """Copy a staged file's bytes into rows, one transaction; altered ones are replaced."""
        with self._db.write(durable=True) as connection:
            connection.execute(_FORGET, {"ws_": self._ws, "digest_": digest})
            for number, data in enumerate(_pieces(staged)):
                row = {"ws": self._ws, "digest": digest, "chunk": number, "data": data}
                connection.execute(_KEEP, row)
        with contextlib.suppress(FileNotFoundError):
            staged.unlink()

    def chunk(self, digest: bytes, number: int) -> bytes | None:
        """One chunk row."""
        mine = {"ws_": self._ws, "digest_": digest, "chunk_": number}
        with self._db.read() as connection:
            found = connection.execute(_BYTES, mine).scalar()
        return None if found is None else bytes(found)

    def size(self, digest: bytes) -> int:
        """How many bytes are kept; 0 where there are none."""
        mine = {"ws_": self._ws, "digest_": digest}
        with self._db.read() as connection:
            return int(connection.execute(_SIZE, mine).scalar_one())


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(CHUNK_BYTES):
            yield data
