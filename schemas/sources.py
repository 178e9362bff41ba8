"""Contracts of the sources column: fences and the status of a message (spec 2)."""

from __future__ import annotations

from enum import StrEnum

from schemas.common import Contract, Document


class Fence(Document):
    """What closed a message for good: content-free, never updated or deleted (spec 2.2)."""

    event: str
    cause: str
    """The reason code of the change, as `fence.superseded`."""
    subject: str
    """The belief or candidate version that was formed from the message and changed."""
    cut: str
    """The operation or decision that changed it."""
    time: int


class SourceStatus(StrEnum):
    """Whether a message could be read again; the first that holds (spec 2.3)."""

    FENCED = "fenced"
    UNKNOWN = "unknown"


class Cause(Contract):
    """Why a message stands so."""

    code: str
    belief: str | None = None
    operation: str | None = None
    time: int | None = None


class Source(Document):
    """A message as a source, and what was formed from it."""

    event_id: str
    status: SourceStatus
    cause: Cause
    beliefs: tuple[str, ...] = ()


class SourcePage(Document):
    """A page of sources."""

    items: tuple[Source, ...] = ()
    next: str | None = None
