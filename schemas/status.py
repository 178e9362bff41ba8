"""Contracts of the whole: status and verification (spec 8.3, 8.4)."""

from __future__ import annotations

from pydantic import Field

from schemas.common import Contract, Digest, Document
from schemas.evidence import LedgerHead


class Finding(Contract):
    """One thing `verify` found: a fault, or drift by hand edits."""

    code: str
    what: str
    detail: str = ""


class Anchor(Contract):
    """What `verify --head` compared the chain with."""

    digest: Digest
    seq: int | None = None
    found: bool
    signature: str | None = None
    """The key that signed its file, when a sound signature stands beside it."""
    signer: str | None = None
    """Whose key that is, by the allowed signers given."""


class Checkpoint(Document):
    """A ledger head to keep elsewhere: it pins the chain as it stood (spec 1.4)."""

    workspace: str
    head: LedgerHead
    receipts: int = Field(ge=0)
    time: int


class VerifyReport(Document):
    """What was checked and what was found; `ok` is False only for faults."""

    ok: bool
    head: LedgerHead
    anchor: Anchor | None = None
    checked: dict[str, int] = Field(default_factory=dict)
    faults: tuple[Finding, ...] = ()
    drift: tuple[Finding, ...] = ()


class Degraded(Contract):
    """A layer or backend that serves less than it could, and what happens instead."""

    component: str
    state: str
    effect: str


class Status(Document):
    """Every layer and backend in one document."""

    workspace: str
    checkout: str
    root: str
    reviewer: str
    store: dict[str, str] = Field(default_factory=dict)
    ledger: LedgerHead
    evidence: dict[str, int] = Field(default_factory=dict)
    candidates: dict[str, int] = Field(default_factory=dict)
    operations: dict[str, int] = Field(default_factory=dict)
    beliefs: dict[str, int] = Field(default_factory=dict)
    receipts: int = 0
    layers: dict[str, dict[str, str | int | bool]] = Field(default_factory=dict)
    says: dict[str, str] = Field(default_factory=dict)
    """Each layer in plain words, with the next step where one is needed."""
    degraded: tuple[Degraded, ...] = ()
