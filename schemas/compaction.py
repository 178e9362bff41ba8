"""Contracts of the compaction column: what a host's own compaction cut (spec 7.7).

An observation is computed from imported events and never stored; only what a person said about
an item (a mark) is.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import ConfigDict, Field

from schemas.choices import CandidateKind
from schemas.common import Contract, Document
from schemas.evidence import Author


class ItemClass(StrEnum):
    """What stood in the window: only standing instructions and open tasks can be lost."""

    STANDING = "standing"
    TASK = "task"
    ONE_OFF = "one-off"
    EVIDENCE = "evidence"


class ItemState(StrEnum):
    """What the summary did with it."""

    VERBATIM = "verbatim"
    REWORDED = "reworded"
    MISSING = "missing"
    NOT_A_LOSS = "not-a-loss"
    UNKNOWN = "unknown"
    """The summary is not in the file, or can't be read: nothing is claimed."""


class MarkVerdict(StrEnum):
    """What a person says about an item; the last one stands."""

    NOT_A_LOSS = "not-a-loss"
    """At this compaction it is none; at others it may be."""
    STANDING = "standing"
    ONE_OFF = "one-off"
    LIFTED = "lifted"
    """What was said before is taken back."""


class Mark(Document):
    """What a reviewer said about an item: a span of a message, and the compaction meant."""

    item: str
    """Locator of the words, `ev_…#bS-E`."""
    session: str
    boundary: str | None = None
    """Event id of the compaction; None where the class of the words is corrected everywhere."""
    verdict: MarkVerdict
    reason: str = ""
    reviewer: str
    time: int


class Quote(Contract):
    """Words with their place."""

    locator: str
    quote: str
    line: int = Field(ge=1)


class Item(Contract):
    """One instruction, task, request or action that was in the window at a cut."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    locator: str
    quote: str
    class_: ItemClass = Field(alias="class")
    state: ItemState
    kind: CandidateKind | None = None
    """What a candidate made of it would be; None for what is no statement."""
    event: str
    session: str
    line: int = Field(ge=1)
    author: Author
    time: int | None = None
    reasons: tuple[str, ...] = ()
    """Codes that say why the state is what it is."""
    call: str | None = None
    """Id of a tool call that had no result yet."""
    nearest: Quote | None = None
    """What the summary says nearest."""
    since: tuple[Quote, ...] = ()
    """Calls after the cut that may go against it; leads to look at, no verdicts."""
    mark: Mark | None = None

    @property
    def lost(self) -> bool:
        """True for what counts as a loss (spec 7.7)."""
        counts = self.class_ in (ItemClass.STANDING, ItemClass.TASK)
        return counts and self.state is ItemState.MISSING


class Count(Contract):
    """Tokens, and whether the host stated them; else they are our estimate from bytes."""

    tokens: int = Field(ge=0)
    stated: bool


class Segment(Contract):
    """One part of the window, in tokens before and after the cut; None: nothing to count by."""

    name: str
    before: Count | None
    after: Count | None


class SummaryState(StrEnum):
    """What is there to compare with."""

    READ = "read"
    KEPT = "kept"
    """The host kept messages word for word; the rest of its summary is sealed."""
    SEALED = "sealed"
    ABSENT = "absent"
    NONE = "none"
    """This kind of compaction writes none: it only drops tool results."""


class Boundary(Contract):
    """One compaction of a session."""

    at: str
    """Event id of the boundary, or of the summary where no boundary was written."""
    line: int = Field(ge=1)
    time: int | None = None
    kind: str
    """`full`, `micro` (tool results dropped, nothing summarised) or `implied` (a summary alone)."""
    trigger: str
    """`auto` or `manual` as the host states it, else `unknown`."""
    window: int | None = Field(default=None, ge=0)
    """Tokens the model's window holds, where the host states it."""
    before: Count | None = None
    after: Count | None = None
    segments: tuple[Segment, ...] = ()
    summary: SummaryState
    summary_at: Quote | None = None
    """The summary's event, its first words and its line."""
    items: tuple[Item, ...] = ()
    lost: dict[str, int] = Field(default_factory=dict)
    """Losses by class."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Standing instructions and open tasks by state."""
    copy_of: str | None = None
    """The same compaction in the session this one was forked or resumed from."""
    reasons: tuple[str, ...] = ()
    """Codes about the boundary as a whole."""


class Observation(Document):
    """What a host's compactions did to one session."""

    session: str
    host: str = ""
    """Format of the files the session was read from."""
    events: int = Field(ge=0)
    boundaries: tuple[Boundary, ...] = ()


class LossRow(Contract):
    """One compaction in the list by loss."""

    session: str
    at: str
    line: int = Field(ge=1)
    time: int | None = None
    kind: str
    trigger: str
    summary: SummaryState
    before: Count | None = None
    after: Count | None = None
    lost: dict[str, int] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    copy_of: str | None = None
