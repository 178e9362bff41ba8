"""Contracts of onboarding: what `init` found in and about a project (spec 4.9)."""

from __future__ import annotations

from pydantic import Field

from schemas.candidates import ExtractReport
from schemas.common import Contract, Document
from schemas.evidence import ImportReport


class StoredSessions(Contract):
    """Conversations that one agent stored of this project."""

    agent: str
    sessions: int
    files: int
    """Files they are kept in: with what sub-agents left beside them."""
    bytes: int
    newest: int | None = None
    """Time of the newest event, microseconds since the epoch, UTC."""
    recent: int = 0
    """Those with an event inside the window."""
    undated: int = 0
    """Those without any usable time: only `all` takes them."""
    known: int = 0
    """Those that are imported to their end already."""


class NotRead(Contract):
    """A rule file that was not read, and the code that says why."""

    path: str
    code: str


class Discovery(Document):
    """What `init` found; nothing is imported by finding it."""

    workspace: str
    root: str
    created: bool
    aiwg: bool = False
    session_folders: tuple[str, ...] = ()
    sessions: int = 0
    recent: int = 0
    window_days: int = Field(ge=1)
    stored: tuple[StoredSessions, ...] = ()
    left_out: dict[str, int] = Field(default_factory=dict)
    """What lay among sessions and was left alone, counted by cause."""
    rule_files: tuple[str, ...] = ()
    rules: dict[str, int] = Field(default_factory=dict)
    """Statements read as policy, by file."""
    rules_not_read: tuple[NotRead, ...] = ()
    memory_files: tuple[str, ...] = ()
    imported: ImportReport | None = None
    """Only when an import was asked for."""
    extracted: ExtractReport | None = None
    ruled: int = 0
    """Pending candidates that say what a rule file says already."""
