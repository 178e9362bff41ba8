"""Contracts of the promotion column: consumers and beliefs (spec 5)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas.common import Contract, Document


class Consumer(StrEnum):
    """Where an accepted statement may go (spec 5.1)."""

    LINE_MEMORY = "line-memory"
    WIKI = "wiki"
    CANONICAL_CONTEXT = "canonical-context"


class BeliefState(StrEnum):
    """Where a belief stands at one consumer (contract: belief states)."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"
    ARCHIVED = "archived"
    REMOVED = "removed"
    DRIFTED = "drifted"


class BeliefAtConsumer(Contract):
    """One consumer's copy of a belief."""

    consumer: str
    state: BeliefState
    receipt: str


class Belief(Document):
    """An accepted statement that was promoted, with its receipts (spec 5.5)."""

    id: str
    statement: str
    candidate: str
    version: int
    consumers: tuple[BeliefAtConsumer, ...]
    valid_from: int | None = None
    valid_until: int | None = None
    recorded: int = Field(ge=0)
