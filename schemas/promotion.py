"""Contracts of the promotion column: the preview of one candidate version, and beliefs (spec 5)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas.candidates import Related
from schemas.common import Contract, Digest, Document
from schemas.operations import BoundSource, Effect, Moved, OperationState, TargetChange


class Consumer(StrEnum):
    """Where an accepted statement may go (spec 5.1)."""

    LINE_MEMORY = "line-memory"
    WIKI = "wiki"
    CANONICAL_CONTEXT = "canonical-context"


class Preview(Document):
    """The exact bytes a confirm of `operation_id` would write, and all it is bound to (spec 5.2)."""

    operation_id: str
    action: str = "promote"
    consumer: str
    candidate: str
    version: int
    statement: str
    state: OperationState
    targets: tuple[TargetChange, ...]
    sources: tuple[BoundSource, ...]
    conflicts: tuple[Related, ...] = ()
    duplicate: bool = False
    supersedes: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    affects: tuple[Effect, ...] = ()
    checks: tuple[Effect, ...] = ()
    policy_digest: Digest
    reason: str = ""
    moved: tuple[Moved, ...] = ()
    """What differs from the stored preview; empty while it is fresh."""
    provider_adapters_modified: bool = False


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
