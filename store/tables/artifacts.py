"""Bytes kept whole, and revisions of paths."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import bytes_, int_, table, text_


class ArtifactRow(SQLModel, table=True):
    """Bytes that are kept whole, named by their digest."""

    __tablename__ = "artifact"
    ws: int = int_(primary_key=True)
    artifact: int = int_(primary_key=True)
    digest: bytes = bytes_()
    size: int = int_()
    lines: int = int_()
    created: int = int_()


class ArtifactChunkRow(SQLModel, table=True):
    """One MiB of an artifact: what a range read verifies."""

    __tablename__ = "artifact_chunk"
    ws: int = int_(primary_key=True)
    artifact: int = int_(primary_key=True)
    chunk: int = int_(primary_key=True)
    digest: bytes = bytes_()
    lines: int = int_()


class ArtifactRevisionRow(SQLModel, table=True):
    """What a path held when it was registered."""

    __tablename__ = "artifact_revision"
    ws: int = int_(primary_key=True)
    number: int = int_(primary_key=True)
    id: str = text_()
    path: str = text_()
    revision: int = int_()
    artifact: int = int_()
    time: int = int_()


class ArtifactExtractRow(SQLModel, table=True):
    """Chosen lines of a revision, named and digested; their words stay in the artifact."""

    __tablename__ = "artifact_extract"
    ws: int = int_(primary_key=True)
    number: int = int_(primary_key=True)
    lines: str = text_(primary_key=True)
    digest: bytes = bytes_()
    time: int = int_()


class ArtifactBytesRow(SQLModel, table=True):
    """Bytes of an artifact where there is no folder for them (PostgreSQL)."""

    __tablename__ = "artifact_bytes"
    ws: int = int_(primary_key=True)
    digest: bytes = bytes_(primary_key=True)
    chunk: int = int_(primary_key=True)
    data: bytes = bytes_()


ARTIFACT = table(ArtifactRow)
ARTIFACT_CHUNK = table(ArtifactChunkRow)
ARTIFACT_REVISION = table(ArtifactRevisionRow)
ARTIFACT_EXTRACT = table(ArtifactExtractRow)
ARTIFACT_BYTES = table(ArtifactBytesRow)
