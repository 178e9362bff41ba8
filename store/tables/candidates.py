"""Candidates, their versions and decisions, and the claims they make."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import bytes_, int_, table, text_


class CandidateRowTable(SQLModel, table=True):
    """A candidate's newest version as lists need it."""

    __tablename__ = "candidate"
    ws: int = int_(primary_key=True)
    number: int = int_(primary_key=True)
    id: str = text_()
    version: int = int_()
    state: str = text_()
    kind: str = text_()
    key: str = text_()
    scope: str = text_()
    statement: str = text_()
    claim: bytes = bytes_()
    author: str = text_()
    session: str = text_()
    method: str = text_()
    hazards: str = text_()
    attention: str = text_()
    place: int = int_()
    created: int = int_()
    changed: int = int_()
    due: int | None = int_(nullable=True)


class CandidateVersionRow(SQLModel, table=True):
    """One exact version; only its state moves."""

    __tablename__ = "candidate_version"
    ws: int = int_(primary_key=True)
    number: int = int_(primary_key=True)
    version: int = int_(primary_key=True)
    state: str = text_()
    document: bytes = bytes_()
    digest: str = text_()
    created: int = int_()


class CandidateSourceRow(SQLModel, table=True):
    """Which versions of candidates cite an event."""

    __tablename__ = "candidate_source"
    ws: int = int_(primary_key=True)
    event: bytes = bytes_(primary_key=True)
    number: int = int_(primary_key=True)
    version: int = int_(primary_key=True)


class DecisionRow(SQLModel, table=True):
    """One decision on one version; never updated or deleted."""

    __tablename__ = "decision"
    ws: int = int_(primary_key=True)
    number: int = int_(primary_key=True)
    version: int = int_(primary_key=True)
    turn: int = int_(primary_key=True)
    time: int = int_()
    batch: str | None = text_(nullable=True)
    document: bytes = bytes_()


class ClaimRow(SQLModel, table=True):
    """A normalised claim and where it stands."""

    __tablename__ = "claim"
    ws: int = int_(primary_key=True)
    ref: str = text_(primary_key=True)
    claim: bytes = bytes_()
    key: str = text_()
    scope: str = text_()
    layer: str = text_()
    statement: str = text_()


class ClaimBandRow(SQLModel, table=True):
    """Where a claim stands in the index of near duplicates; keyed, so it tells nothing by itself."""

    __tablename__ = "claim_band"
    ws: int = int_(primary_key=True)
    band: int = int_(primary_key=True)
    claim: bytes = bytes_(primary_key=True)


class LikenessRow(SQLModel, table=True):
    """Two claims that are near duplicates, or speak under one key without contradicting."""

    __tablename__ = "likeness"
    ws: int = int_(primary_key=True)
    claim: bytes = bytes_(primary_key=True)
    other: bytes = bytes_(primary_key=True)
    kind: str = text_()


CANDIDATE = table(CandidateRowTable)
CANDIDATE_VERSION = table(CandidateVersionRow)
CANDIDATE_SOURCE = table(CandidateSourceRow)
DECISION = table(DecisionRow)
CLAIM = table(ClaimRow)
CLAIM_BAND = table(ClaimBandRow)
LIKENESS = table(LikenessRow)
