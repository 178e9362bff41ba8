"""What core and store hand each other: plain records that never leave the house."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from schemas.candidates import POLICY
from schemas.common import Actor
from schemas.evidence import Event
from schemas.operations import Envelope, OperationState


class NewEvent(NamedTuple):
    """One event on its way into the store, with the bytes erasure may remove (spec 1.4).

    A tuple: imports make hundreds of thousands, hand them from process to process and to the
    driver, and each step on anything richer costs as much as hashing the event.
    """

    id: bytes
    ordinal: int
    part: int
    kind: str
    author: str
    session: str
    time: int | None
    native_id: str | None
    parent: str | None
    scope: str | None
    line: int
    byte_start: int
    byte_length: int
    notes: str
    twin: int | None
    """64-bit key of native id and words; equal keys in other files are repeats."""
    text: bytes
    lead: bytes | None
    """Bytes between the previous record's end and this one; None stands for one newline."""
    raw: bytes | None
    """The record's bytes; None for later parts of one record."""
    digest: bytes
    salt: bytes
    commitment: bytes

    def committed(self, commitment: bytes) -> NewEvent:
        """The same event with its commitment, which covers all the rest."""
        return NewEvent._make((*self[:-1], commitment))


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """Bytes that are kept, by their number in the store."""

    number: int
    digest: bytes
    size: int
    lines: int
    created: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """One MiB of an artifact: its digest, and how many newlines stand before it."""

    number: int
    digest: bytes
    lines: int


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A source file as the importer needs it: how far it is committed, and under which digest."""

    number: int
    id: str
    path: str
    format: str
    head: str
    """Digest of the first line: equal heads may be one file that moved or grew."""
    digest: str
    size: int
    lines: int
    events: int
    revision: int
    tail: bytes
    notes: str
    created: int


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision of a path as its row holds it, for verification."""

    number: int
    id: str
    path: str
    revision: int
    artifact: int
    time: int


@dataclass(frozen=True, slots=True)
class StoredExtract:
    """Chosen lines of a revision: which, of what, and a digest of their bytes."""

    source: str
    lines: str
    digest: bytes
    time: int


@dataclass(frozen=True, slots=True)
class Extent:
    """Rows that stand under one file number, for verification; `id` is None for no file's."""

    number: int
    id: str | None
    events: int
    bodies: int


@dataclass(frozen=True, slots=True)
class Walked:
    """An event as a session is read through: its place, and the whole size of its text."""

    place: tuple[int, int]
    event: Event
    """Words of people, calls and summaries whole up to a limit, all else cut as in lists."""
    size: int
    """UTF-8 bytes of the whole text."""


Place = int | tuple[str, int]
"""Where a row stands in an order: what lists are paged by."""
HeldPlace = tuple[int, str, str]
"""Where a held statement stands in its list: time recorded, belief, consumer."""


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """What a candidate list shows: states, words, kind; `keep` rows stay whatever their state."""

    states: tuple[str, ...] = ("pending",)
    text: str | None = None
    kind: str | None = None
    keep: tuple[int, ...] = ()
    group: int | str | None = None
    """Only this group of the order: a lane, a session, a kind, an author."""
    order: str = "group"
    lanes: tuple[int, int] | None = None
    """Only these lanes, half-open; all without it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open candidate version that speaks under a key, for grouping."""

    id: str
    claim: bytes
    method: str
    author: str
    lane: int


@dataclass(frozen=True, slots=True)
class Claim:
    """One normalised claim and where it stands (spec 4.7)."""

    claim: bytes
    key: str
    scope: str
    layer: str
    ref: str
    statement: str
    state: str = ""
    """State of the candidate that makes it; empty for a belief. Filled in by reads, as what follows."""
    by: str = ""
    """Who promoted the belief, or who said what the candidate says."""
    since: int | None = None
    """When the belief was recorded, or the candidate proposed (microseconds, UTC)."""

    @property
    def place(self) -> str:
        """Where it stands, as people write it: an id, or the line of a rule file."""
        return rule_place(self.ref) or self.ref


RULES = f"{POLICY}:"
"""How their references begin; what follows is path, line and part."""


def rule_ref(path: str, line: int, part: int) -> str:
    """The reference of a rule's claim."""
    return f"{RULES}{path}:{line}:{part}"


def rule_place(ref: str) -> str:
    """`PATH:LINE` of a rule's claim; empty for any other."""
    return ref.removeprefix(RULES).rpartition(":")[0] if ref.startswith(RULES) else ""


@dataclass(frozen=True, slots=True)
class OutboxTarget:
    """One file of a prepared sink, with the bytes to be written."""

    number: int
    path: str
    before_digest: str | None
    after_digest: str
    after: bytes
    staged: bool = False
    """True when the bytes are too many for a row: they wait in `.memdesk/staged/`."""


@dataclass(frozen=True, slots=True)
class Citing:
    """A live candidate version and the events it cites; `place` is what it is paged by."""

    place: tuple[int, int]
    id: str
    version: int
    state: str
    statement: str
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """An operation row with what it is bound to."""

    operation_id: str
    envelope: Envelope
    state: OperationState
    as_of: int
    created: int
    checkout: str
    actor: Actor
    error: str | None


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A candidate version and its decisions as their rows hold them, for verification."""

    document: bytes
    digest: str
    created: int
    decisions: tuple[tuple[bytes, int, int, str | None], ...]
    """Document, time, turn and batch of each, in order."""


@dataclass(frozen=True, slots=True)
class ListedRow:
    """What a candidate's row in lists says beside what lists show, for verification."""

    id: str
    scope: str
    claim: bytes
    changed: int


@dataclass(frozen=True, slots=True)
class RawOperation:
    """An operation as its row holds it, for verification: nothing in it is trusted to be valid."""

    id: str
    action: str
    consumer: str
    subject: str
    state: str
    envelope: bytes
    checkout: str
    actor: bytes
    as_of: int
    created: int
    error: str | None


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt as its row holds it, for verification."""

    id: str
    operation: str
    consumer: str
    document: bytes


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """What a session list shows: words in name, project or path; its order, greatest first."""

    text: str | None = None
    order: str = "newest"
    """`newest`, `events` or `bytes`."""


Spot = tuple[int, int]
"""Where an event stands: the number of its file, its ordinal there."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An event of a conversation with its place; `size` is its whole text's, in bytes."""

    spot: Spot
    event: Event
    size: int


@dataclass(frozen=True, slots=True)
class Scanned:
    """An event as a search passes it; `text` is None when it is too long to come along."""

    spot: Spot
    id: str
    text: bytes | None
