"""The SQLModel tables, all of them, so that metadata is complete wherever one is used.

Outside text is bytes on both databases; identity text collates "C"; every primary key begins with
the workspace (spec 8.5). Made by migrations only; a test compares these models with them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Integer, LargeBinary, Table, Text
from sqlmodel import Field, SQLModel

INT = BigInteger().with_variant(Integer(), "sqlite")
TEXT = Text(collation="C").with_variant(Text(), "sqlite")
BYTES = LargeBinary()


def _int(**kw: Any) -> Any:
    return Field(sa_type=INT, **kw)


def _text(**kw: Any) -> Any:
    return Field(sa_type=TEXT, **kw)


def _bytes(**kw: Any) -> Any:
    return Field(sa_type=BYTES, **kw)


class WorkspaceRow(SQLModel, table=True):
    """A workspace: its random id and the secret that keys content-free names."""

    __tablename__ = "workspace"
    ws: int = _int(primary_key=True)
    id: str = _text()
    secret: bytes = _bytes()
    created: int = _int()


class LabelRow(SQLModel, table=True):
    """An interned string: a session id, a project scope."""

    __tablename__ = "label"
    ws: int = _int(primary_key=True)
    label: int = _int(primary_key=True)
    text: str = _text()


class LedgerRow(SQLModel, table=True):
    """One entry of the hash chain; never updated or deleted."""

    __tablename__ = "ledger"
    ws: int = _int(primary_key=True)
    seq: int = _int(primary_key=True)
    kind: str = _text()
    subject: str = _text()
    time: int = _int()
    count: int = _int()
    root: bytes = _bytes()
    previous: bytes = _bytes()
    digest: bytes = _bytes()


class LedgerHeadRow(SQLModel, table=True):
    """The end of the chain; locked as the last statement before a commit."""

    __tablename__ = "ledger_head"
    ws: int = _int(primary_key=True)
    seq: int = _int()
    digest: bytes = _bytes()


class SourceFileRow(SQLModel, table=True):
    """A file whose records are evidence, and how far it is committed."""

    __tablename__ = "source_file"
    ws: int = _int(primary_key=True)
    file: int = _int(primary_key=True)
    id: str = _text()
    path: str = _text()
    format: str = _text()
    head: str = _text()
    digest: str = _text()
    size: int = _int()
    lines: int = _int()
    events: int = _int()
    revision: int = _int()
    tail: bytes = _bytes()
    notes: str = _text()
    created: int = _int()


class SourcePathRow(SQLModel, table=True):
    """A path under which a file was met; the newest meaning of a path wins."""

    __tablename__ = "source_path"
    ws: int = _int(primary_key=True)
    path: str = _text(primary_key=True)
    file: int = _int()


class SessionFileRow(SQLModel, table=True):
    """Which files hold events of a session, and between which ordinals."""

    __tablename__ = "session_file"
    ws: int = _int(primary_key=True)
    session: int = _int(primary_key=True)
    file: int = _int(primary_key=True)
    low: int = _int()
    high: int = _int()


class SessionTotalRow(SQLModel, table=True):
    """What a session holds, counted as its events are appended."""

    __tablename__ = "session_total"
    ws: int = _int(primary_key=True)
    session: int = _int(primary_key=True)
    seen: int = _int()
    first_time: int | None = _int(nullable=True)
    last_time: int | None = _int(nullable=True)
    scope: int | None = _int(nullable=True)
    file: int = _int()
    events: int = _int()
    bytes: int = _int()
    by_owner: int = _int()
    by_agent: int = _int()
    by_subagent: int = _int()
    by_tool: int = _int()
    by_system: int = _int()
    by_external: int = _int()
    by_unknown: int = _int()
    unparsed: int = _int()
    partial: int = _int()
    boundaries: int = _int()


class EventRow(SQLModel, table=True):
    """An event's place and the salted commitment to its content; never updated or deleted."""

    __tablename__ = "event"
    ws: int = _int(primary_key=True)
    file: int = _int(primary_key=True)
    ordinal: int = _int(primary_key=True)
    id: bytes = _bytes()
    part: int = _int()
    kind: str = _text()
    author: str = _text()
    session: int = _int()
    time: int | None = _int(nullable=True)
    native_id: str | None = _text(nullable=True)
    parent: str | None = _text(nullable=True)
    scope: int | None = _int(nullable=True)
    line: int = _int()
    byte_start: int = _int()
    byte_length: int = _int()
    notes: str = _text()
    twin: int | None = _int(nullable=True)
    commitment: bytes = _bytes()


class EventBodyRow(SQLModel, table=True):
    """An event's content and salt, stored beside the chain; only erasure deletes it."""

    __tablename__ = "event_body"
    ws: int = _int(primary_key=True)
    file: int = _int(primary_key=True)
    ordinal: int = _int(primary_key=True)
    salt: bytes = _bytes()
    digest: bytes = _bytes()
    text: bytes = _bytes()
    lead: bytes | None = _bytes(nullable=True)
    raw: bytes | None = _bytes(nullable=True)


class ArtifactRow(SQLModel, table=True):
    """Bytes that are kept whole, named by their digest."""

    __tablename__ = "artifact"
    ws: int = _int(primary_key=True)
    artifact: int = _int(primary_key=True)
    digest: bytes = _bytes()
    size: int = _int()
    lines: int = _int()
    created: int = _int()


class ArtifactChunkRow(SQLModel, table=True):
    """One MiB of an artifact: what a range read verifies."""

    __tablename__ = "artifact_chunk"
    ws: int = _int(primary_key=True)
    artifact: int = _int(primary_key=True)
    chunk: int = _int(primary_key=True)
    digest: bytes = _bytes()
    lines: int = _int()


class ArtifactRevisionRow(SQLModel, table=True):
    """What a path held when it was registered."""

    __tablename__ = "artifact_revision"
    ws: int = _int(primary_key=True)
    number: int = _int(primary_key=True)
    id: str = _text()
    path: str = _text()
    revision: int = _int()
    artifact: int = _int()
    time: int = _int()


class ArtifactExtractRow(SQLModel, table=True):
    """Chosen lines of a revision, named and digested; their words stay in the artifact."""

    __tablename__ = "artifact_extract"
    ws: int = _int(primary_key=True)
    number: int = _int(primary_key=True)
    lines: str = _text(primary_key=True)
    digest: bytes = _bytes()
    time: int = _int()


class ArtifactBytesRow(SQLModel, table=True):
    """Bytes of an artifact where there is no folder for them (PostgreSQL)."""

    __tablename__ = "artifact_bytes"
    ws: int = _int(primary_key=True)
    digest: bytes = _bytes(primary_key=True)
    chunk: int = _int(primary_key=True)
    data: bytes = _bytes()


class CandidateRowTable(SQLModel, table=True):
    """A candidate's newest version as lists need it."""

    __tablename__ = "candidate"
    ws: int = _int(primary_key=True)
    number: int = _int(primary_key=True)
    id: str = _text()
    version: int = _int()
    state: str = _text()
    kind: str = _text()
    key: str = _text()
    scope: str = _text()
    statement: str = _text()
    claim: bytes = _bytes()
    author: str = _text()
    session: str = _text()
    method: str = _text()
    hazards: str = _text()
    attention: str = _text()
    place: int = _int()
    created: int = _int()
    changed: int = _int()
    due: int | None = _int(nullable=True)


class CandidateVersionRow(SQLModel, table=True):
    """One exact version; only its state moves."""

    __tablename__ = "candidate_version"
    ws: int = _int(primary_key=True)
    number: int = _int(primary_key=True)
    version: int = _int(primary_key=True)
    state: str = _text()
    document: bytes = _bytes()
    digest: str = _text()
    created: int = _int()


class CandidateSourceRow(SQLModel, table=True):
    """Which versions of candidates cite an event."""

    __tablename__ = "candidate_source"
    ws: int = _int(primary_key=True)
    event: bytes = _bytes(primary_key=True)
    number: int = _int(primary_key=True)
    version: int = _int(primary_key=True)


class DecisionRow(SQLModel, table=True):
    """One decision on one version; never updated or deleted."""

    __tablename__ = "decision"
    ws: int = _int(primary_key=True)
    number: int = _int(primary_key=True)
    version: int = _int(primary_key=True)
    turn: int = _int(primary_key=True)
    time: int = _int()
    batch: str | None = _text(nullable=True)
    document: bytes = _bytes()


class ClaimRow(SQLModel, table=True):
    """A normalised claim and where it stands."""

    __tablename__ = "claim"
    ws: int = _int(primary_key=True)
    ref: str = _text(primary_key=True)
    claim: bytes = _bytes()
    key: str = _text()
    scope: str = _text()
    layer: str = _text()
    statement: str = _text()


class ClaimBandRow(SQLModel, table=True):
    """Where a claim stands in the index of near duplicates; keyed, so it tells nothing by itself."""

    __tablename__ = "claim_band"
    ws: int = _int(primary_key=True)
    band: int = _int(primary_key=True)
    claim: bytes = _bytes(primary_key=True)


class LikenessRow(SQLModel, table=True):
    """Two claims that are near duplicates, or speak under one key without contradicting."""

    __tablename__ = "likeness"
    ws: int = _int(primary_key=True)
    claim: bytes = _bytes(primary_key=True)
    other: bytes = _bytes(primary_key=True)
    kind: str = _text()


class OperationRowTable(SQLModel, table=True):
    """A previewed or confirmed operation: what it is bound to, never statement bytes."""

    __tablename__ = "operation"
    ws: int = _int(primary_key=True)
    id: str = _text(primary_key=True)
    action: str = _text()
    consumer: str = _text()
    subject: str = _text()
    state: str = _text()
    envelope: bytes = _bytes()
    checkout: str = _text()
    actor: bytes = _bytes()
    as_of: int = _int()
    created: int = _int()
    error: str | None = _text(nullable=True)


class OutboxRow(SQLModel, table=True):
    """The bytes of a prepared sink; they exist only from prepared to applied."""

    __tablename__ = "outbox"
    ws: int = _int(primary_key=True)
    operation: str = _text(primary_key=True)
    number: int = _int(primary_key=True)
    path: str = _text()
    before_digest: str | None = _text(nullable=True)
    after_digest: str = _text()
    after: bytes = _bytes()


class DivergenceRow(SQLModel, table=True):
    """Both versions of a destination that held neither the before nor the after bytes."""

    __tablename__ = "divergence"
    ws: int = _int(primary_key=True)
    operation: str = _text(primary_key=True)
    path: str = _text(primary_key=True)
    found: bytes = _bytes()
    wanted: bytes = _bytes()


class ReceiptRow(SQLModel, table=True):
    """Proof of one applied sink; never updated or deleted."""

    __tablename__ = "receipt"
    ws: int = _int(primary_key=True)
    seq: int = _int(primary_key=True)
    id: str = _text()
    operation: str = _text()
    consumer: str = _text()
    document: bytes = _bytes()


class BeliefRow(SQLModel, table=True):
    """An accepted statement that was promoted."""

    __tablename__ = "belief"
    ws: int = _int(primary_key=True)
    id: str = _text(primary_key=True)
    candidate: str = _text()
    version: int = _int()
    statement: str = _text()
    valid_from: int | None = _int(nullable=True)
    valid_until: int | None = _int(nullable=True)
    recorded: int = _int()


class BeliefConsumerRow(SQLModel, table=True):
    """One consumer's copy of a belief."""

    __tablename__ = "belief_consumer"
    ws: int = _int(primary_key=True)
    belief: str = _text(primary_key=True)
    consumer: str = _text(primary_key=True)
    state: str = _text()
    receipt: str = _text()


class CompactionMarkRow(SQLModel, table=True):
    """What a reviewer said about an item that a compaction kept or lost; never updated."""

    __tablename__ = "compaction_mark"
    ws: int = _int(primary_key=True)
    number: int = _int(primary_key=True)
    session: str = _text()
    item: str = _text()
    boundary: str | None = _text(nullable=True)
    document: bytes = _bytes()


def table(model: type[SQLModel]) -> Table:
    """The SQLAlchemy table of a model, for Core statements."""
    found: Table = model.__table__  # type: ignore[attr-defined]
    return found


WORKSPACE = table(WorkspaceRow)
LABEL = table(LabelRow)
LEDGER = table(LedgerRow)
LEDGER_HEAD = table(LedgerHeadRow)
SOURCE_FILE = table(SourceFileRow)
SOURCE_PATH = table(SourcePathRow)
SESSION_FILE = table(SessionFileRow)
SESSION_TOTAL = table(SessionTotalRow)
EVENT = table(EventRow)
EVENT_BODY = table(EventBodyRow)
ARTIFACT = table(ArtifactRow)
ARTIFACT_CHUNK = table(ArtifactChunkRow)
ARTIFACT_REVISION = table(ArtifactRevisionRow)
ARTIFACT_EXTRACT = table(ArtifactExtractRow)
ARTIFACT_BYTES = table(ArtifactBytesRow)
CANDIDATE = table(CandidateRowTable)
CANDIDATE_VERSION = table(CandidateVersionRow)
CANDIDATE_SOURCE = table(CandidateSourceRow)
DECISION = table(DecisionRow)
CLAIM = table(ClaimRow)
CLAIM_BAND = table(ClaimBandRow)
LIKENESS = table(LikenessRow)
OPERATION = table(OperationRowTable)
OUTBOX = table(OutboxRow)
DIVERGENCE = table(DivergenceRow)
RECEIPT = table(ReceiptRow)
BELIEF = table(BeliefRow)
BELIEF_CONSUMER = table(BeliefConsumerRow)
COMPACTION_MARK = table(CompactionMarkRow)
