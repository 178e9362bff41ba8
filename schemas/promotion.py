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


ENDED = (*(BeliefState.SUPERSEDED, BeliefState.REVOKED, BeliefState.ARCHIVED, BeliefState.REMOVED),)
"""States that a person's preview and confirm brought about; none of them is left again."""


class BeliefAtConsumer(Contract):
    """One consumer's copy of a belief."""

    consumer: str
    state: BeliefState
    receipt: str
    """The receipt that wrote it there."""
    since: int | None = None
    """When it came to stand so."""
    ended_by: str | None = None
    """The receipt that ended it."""
    replacement: str | None = None
    """The belief that stands in its place."""


class BeliefChange(Contract):
    """How a belief stood at one consumer from a moment on (spec 5.5)."""

    belief: str
    consumer: str
    state: BeliefState
    time: int
    receipt: str | None = None
    """None for a change made outside memdesk, which only was found."""
    replacement: str | None = None


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
