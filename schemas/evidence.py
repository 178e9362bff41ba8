"""Contracts of the evidence column: files, events, spans, import reports, the ledger (spec 1)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas.common import Contract, Digest, Document


class EventKind(StrEnum):
    """What an event is (spec 1.2)."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REASONING = "reasoning"
    SUMMARY = "summary"
    COMPACT_BOUNDARY = "compact_boundary"
    SNAPSHOT = "snapshot"
    SYSTEM = "system"
    UNPARSED = "unparsed"


class Author(StrEnum):
    """Whose words an event holds (spec 1.2). Only a person's own words are `owner`."""

    OWNER = "owner"
    AGENT = "agent"
    SUBAGENT = "subagent"
    TOOL = "tool"
    SYSTEM = "system"
    EXTERNAL = "external"
    UNKNOWN = "unknown"


class Event(Contract):
    """One event as lists and panes show it.

    `text` is the stored, derived text (UTF-8; lone surrogates already U+FFFD); spans are byte
    offsets into it. `digest` covers the record's raw bytes. `notes` names oddities the reader met.
    """

    id: str
    file: str
    session: str
    ordinal: int = Field(ge=0)
    kind: EventKind
    author: Author
    time: int | None = None
    """Microseconds since the epoch, UTC; None where the record states no usable time."""
    text: str = ""
    truncated: bool = False
    """True when `text` was cut for the list it stands in; `evidence show` gives the whole."""
    digest: Digest | None = None
    native_id: str | None = None
    parent: str | None = None
    scope: str | None = None
    line: int = Field(ge=1)
    byte_start: int = Field(ge=0)
    byte_length: int = Field(ge=0)
    part: int = Field(default=0, ge=0)
    notes: tuple[str, ...] = ()
    rewritten: bool = False
    """True in lists where no path means its file any more: other bytes were written there."""
    same_as: str | None = None
    """Id of an earlier event with the same native id and words (a resumed or forked session)."""
    revoked: bool = False
    """True when its source was revoked: it stays readable, and nothing may rest on it."""


class SessionRow(Contract):
    """A session as lists show it: what it holds was counted as it was imported.

    Times are microseconds since the epoch, UTC, of the first and last event that state one;
    `bytes` are those of its records.
    """

    number: int
    place: tuple[int, int]
    """Grows down the list that the row stands in."""
    name: str
    host: str
    """The format of its first file."""
    path: str
    """Its first file."""
    files: int = Field(ge=1)
    project: str | None = None
    first: int | None = None
    last: int | None = None
    events: int = Field(ge=0)
    bytes: int = Field(ge=0)
    authors: dict[str, int] = Field(default_factory=dict)
    """Events by author; authors without any are left out."""
    unparsed: int = 0
    partial: int = 0
    """Tool results that the host itself cut."""
    boundaries: int = 0
    """How often the host compacted."""
    title: str = ""
    """The beginning of the owner's first words; empty where none stand near its beginning."""


class Partial(Contract):
    """A tool's output that its client cut: what is missing and how to read it (spec 1.5)."""

    left_out: str
    """In the client's words."""
    whole: str | None = None
    """Where the client says the whole is: a name, never opened."""
    artifact: str | None = None
    """The artifact that holds the whole, when that file was kept."""
    file: str | None = None
    """The source file that holds it, when it was imported."""
    read: str | None = None
    """The command that reads the next of it, or that keeps it first."""


class SourceFile(Contract):
    """A file whose records are evidence; its paths may change, its identity does not."""

    id: str
    path: str
    format: str
    digest: Digest
    """Digest of the committed bytes, up to `size`."""
    size: int = Field(ge=0)
    events: int = Field(ge=0)
    revision: int = Field(ge=1)
    notes: tuple[str, ...] = ()


class Artifact(Document):
    """One revision of a path whose bytes are kept whole (spec 1.5)."""

    id: str
    locator: str
    """`artifact://sha256/HEX`: the bytes, whatever path has them."""
    digest: Digest
    path: str
    size: int = Field(ge=0)
    lines: int = Field(ge=0)
    """Newlines, and one more when the last line does not end in one."""
    revision: int = Field(ge=1)
    newest: int = Field(ge=1)
    stale: bool
    """True when the path has a newer revision."""
    time: int


class ArtifactRange(Document):
    """What a read of an artifact gave: half-open bytes, of how many (spec 1.5)."""

    artifact: Artifact
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    first_line: int | None = None
    text: str | None = None
    """The bytes as text; None when they are no UTF-8, then `base64` holds them."""
    base64: str | None = None


class Dependent(Contract):
    """One thing that depends on an event: a citing version, or what was made of it."""

    kind: str
    """`candidate`, `belief`, `operation` or `receipt`."""
    id: str
    candidate: str
    version: int
    state: str
    text: str
    """The statement of a candidate, the consumer of anything else."""
    time: int


class Dependents(Contract):
    """Everything that depends on an event; `more` when the list was cut (spec 1.7)."""

    items: tuple[Dependent, ...]
    more: bool = False


class LineRange(Contract):
    """Lines `first` to `last` of a file, both counted from 1 and both contained."""

    first: int = Field(ge=1)
    last: int = Field(ge=1)


class ExtractPart(LineRange):
    """One stretch of an extract with its words; bytes that are no UTF-8 show as U+FFFD."""

    text: str


class Extract(Document):
    """Chosen lines of one artifact revision: derived, and never the source itself (spec 1.5)."""

    locator: str
    """`art_…#lA-B,C-D`: the revision and its lines."""
    artifact: Artifact
    derived: bool = True
    covers: tuple[LineRange, ...]
    misses: tuple[LineRange, ...]
    lines: int = Field(ge=0)
    """Lines covered, of `artifact.lines`."""
    complete: bool
    stale: bool
    """True when the source's path has a newer revision."""
    digest: Digest
    """Of the covered bytes, one stretch after the other."""
    time: int
    parts: tuple[ExtractPart, ...] = ()
    """The words, where they are shown; read from the source each time."""


class ImportReport(Document):
    """What an import did; `read == new + duplicate + waiting` (spec 1.3).

    Counts are events; `waiting` counts incomplete last lines, `unparsed` is contained in `events`.
    """

    sources: int = 0
    """Files and streams that were read; `different` of them by what they hold."""
    different: int = 0
    records: int = 0
    events: int = 0
    new: int = 0
    duplicate: int = 0
    unparsed: int = 0
    waiting: int = 0
    read: int = 0
    linked: int = 0
    """New events that repeat an event of another session (resumed, forked)."""
    rewritten: int = 0
    """Files that were known and were written anew, not added to: what they held before stays."""
    bytes: int = 0
    by_kind: dict[str, int] = Field(default_factory=dict)
    by_author: dict[str, int] = Field(default_factory=dict)
    files: tuple[FileReport, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    """Files that were named, or whose names say they are evidence, and that were not read."""
    skipped: tuple[RefusedFile, ...] = ()
    """What a folder holds beside evidence: links, and databases or JSON of other things."""
    others: dict[str, int] = Field(default_factory=dict)
    """How many files of a folder have a name that no evidence has, by the name's ending."""
    notes: tuple[str, ...] = ()
    """What concerns no file: installed readers that were left out, and why."""


class FileReport(Contract):
    """What an import found in one file."""

    id: str
    path: str
    format: str
    events: int
    new: int
    duplicate: int
    unparsed: int
    waiting: int
    rewritten: bool = False
    """True when another, known file stood at this path before."""
    notes: tuple[str, ...] = ()


class RefusedFile(Contract):
    """A path that was not imported, and why."""

    path: str
    code: str
    message: str


class LedgerEntry(Contract):
    """One entry of the hash chain (spec 1.4)."""

    seq: int = Field(ge=1)
    kind: str
    time: int
    subject: str
    count: int = Field(ge=0)
    root: Digest
    previous: Digest
    digest: Digest


class LedgerHead(Contract):
    """The end of the chain: what a receipt carries and `verify --head` compares with."""

    seq: int = Field(ge=0)
    digest: Digest
