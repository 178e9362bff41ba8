"""Contracts of the candidates column: versions, spans, hazards, decisions (spec 4)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas.choices import CandidateKind as CandidateKind
from schemas.choices import CandidateState as CandidateState
from schemas.choices import Verdict as Verdict
from schemas.common import Actor, Classification, Contract, Digest, Document


class HazardGate(StrEnum):
    """What a finding demands before acceptance (spec 4.3)."""

    BLOCK = "block"
    ACKNOWLEDGE = "acknowledge"


class Attention(StrEnum):
    """What stands in the way of accepting a version, as lists mark it."""

    NONE = ""
    LOOK = "look"
    """Something must be acknowledged, or a second source is missing."""
    BLOCKED = "blocked"


class Hazard(Contract):
    """A screening finding: its reason code, gate, and byte span in the statement where it has one."""

    code: str
    gate: HazardGate
    start: int | None = None
    end: int | None = None


class Source(Contract):
    """Where a statement was said: locator with span, digest of the spanned bytes, the quote itself."""

    locator: str
    event: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    digest: Digest
    quote: str
    author: str
    session: str
    line: int
    time: int | None = None
    state: str = "current"
    """As it stands now: `current`, `revoked` with its file, or `missing` words."""


POLICY = "policy"
"""Layer of what rule files state (spec 0.8, layer 2)."""


class Related(Contract):
    """Another statement this one repeats or contradicts, and the layer it stands in (spec 4.7)."""

    ref: str
    layer: str
    statement: str
    code: str
    state: str | None = None
    """State of the other candidate; None for a statement in memory or in a rule file."""
    by: str = ""
    """Reviewer who promoted what is in memory, or author of the other candidate."""
    since: int | None = None
    """When it was promoted or proposed (microseconds, UTC)."""

    @property
    def rule(self) -> bool:
        """True for what a rule file states."""
        return self.layer == POLICY

    @property
    def brief(self) -> str:
        """Its reference as lists show it: an id cut short, the line of a rule file whole."""
        return self.ref if self.rule else self.ref[:11]


class Decision(Contract):
    """One recorded decision on exactly one version."""

    verdict: Verdict
    actor: Actor
    reason: str
    time: int
    until: int | None = None
    acknowledged: tuple[str, ...] = ()
    batch: str | None = None
    """Shared by decisions made with one key on a group or on marks; undone together."""


class CandidateVersion(Document):
    """One exact, immutable version of a candidate."""

    id: str
    version: int = Field(ge=1)
    newest: int = Field(ge=1)
    state: CandidateState
    kind: CandidateKind
    key: str
    scope: str
    statement: str
    classification: Classification
    hazards: tuple[Hazard, ...] = ()
    sources: tuple[Source, ...] = ()
    method: str
    author: str
    created: int
    editor: str | None = None
    renews: int | None = None
    """The decided version this one was reopened from."""
    valid_from: int | None = None
    valid_until: int | None = None
    review_at: int | None = None
    digest: Digest
    decision: Decision | None = None
    conflicts: tuple[Related, ...] = ()
    duplicates: tuple[Related, ...] = ()
    near: tuple[Related, ...] = ()
    """Near duplicates, what is accepted or in memory first (spec 4.7)."""


class CandidateRow(Contract):
    """A candidate as a list shows it: its newest version, without sources."""

    number: int
    place: int | tuple[str, int]
    """Where it stands in the list as it is ordered; grows down the list."""
    lane: int
    id: str
    version: int
    state: CandidateState
    kind: CandidateKind
    key: str
    statement: str
    author: str
    session: str
    created: int
    due: int | None = None
    """When a deferred one returns."""
    method: str
    hazards: tuple[str, ...] = ()
    attention: Attention = Attention.NONE
    conflict: bool = False
    duplicate: bool = False
    near: bool = False
    rule: str = ""
    """`PATH:LINE` of a rule file that says the same."""


class ExtractReport(Document):
    """What extraction did: messages read, statements proposed, already known.

    `skipped` counts the messages that proposed nothing: `same-as-earlier` repeats a message of
    another file or session, `self` is of a run of memdesk's own, `pasted` is too long to be
    somebody's own words, `list-unnamed` is a document with lists but none under a heading of
    rules, decisions or facts, `no-statement` is any other that says nothing clearly durable.
    """

    messages: int = 0
    proposed: int = 0
    known: int = 0
    skipped: dict[str, int] = Field(default_factory=dict)
    candidates: tuple[str, ...] = ()


class Left(Contract):
    """A version of a batch that was left undecided, and why."""

    ref: str
    code: str
    message: str


class BatchReport(Document):
    """What one key on a group or on marks did: each version decided, each one left."""

    batch: str
    decided: tuple[CandidateVersion, ...] = ()
    left: tuple[Left, ...] = ()
