"""Contracts of a cross-layer operation: preview envelope, targets, receipts, states (spec 0.3, 5)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from schemas.candidates import Related
from schemas.common import Actor, Classification, Contract, Digest, Document
from schemas.subject import parted


class OperationState(StrEnum):
    """Where an operation stands (spec 5.4)."""

    PREVIEWED = "previewed"
    PREPARED = "prepared"
    APPLIED = "applied"
    FAILED = "failed"
    DIVERGED = "diverged"
    CANCELLED = "cancelled"


class BoundSource(Contract):
    """A source the operation is bound to: a reference, never its words (spec 0.3)."""

    locator: str
    digest: Digest
    classification: Classification


class BoundTarget(Contract):
    """One file by its exact bytes before and after; None before means it does not exist."""

    path: str
    before_digest: Digest | None
    after_digest: Digest


class TargetChange(BoundTarget):
    """What happens to one file, with the diff a person reads."""

    diff: str = ""
    added: int = 0
    removed: int = 0
    derived: bool = False
    """True for a file computed from another target (a sidecar): it may stay folded."""
    encoding: str = "utf-8"
    newline: str = "lf"
    final_newline: bool = True
    copied_from: str | None = None
    """The source whose bytes it takes over whole; such a file has a size and no diff."""
    size: int | None = None
    """Bytes of a copied file."""


class Effect(Contract):
    """One consequence named in preview and confirm bar (spec 5.8)."""

    code: str
    text: str


class Envelope(Document):
    """What an operation id is the digest of; equal documents are the same operation (spec 0.3)."""

    action: str
    workspace: str
    checkout: str
    subject: str
    """A candidate version, several parted by a space, a belief, or the path of a source."""
    subject_digest: Digest
    consumer: str
    request: dict[str, str] = Field(default_factory=dict)
    targets: tuple[BoundTarget, ...]
    sources: tuple[BoundSource, ...]
    policy_digest: Digest
    conflicts: tuple[str, ...] = ()
    duplicate: bool = False
    supersedes: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it is about, one by one; a path may hold spaces."""
        return parted(self.subject)


class Moved(Contract):
    """One thing that differs between a stored preview and now."""

    what: str
    name: str
    then: str | None
    now: str | None
    detail: str = ""


class PreviewedVersion(Contract):
    """One accepted version of a promotion's preview, and where it goes."""

    ref: str
    consumer: str
    statement: str
    reason: str = ""


class Preview(Document):
    """The exact bytes a confirm of `operation_id` would write, and all it is bound to (spec 0.3)."""

    operation_id: str
    action: str = "promote"
    consumer: str
    subject: str
    """What it is about: `ID@N` of a candidate version, or the path of a source."""
    candidate: str = ""
    """With `version` and `statement`: of a promotion of one candidate only."""
    version: int = 0
    statement: str = ""
    versions: tuple[PreviewedVersion, ...] = ()
    """Every version a promotion is about, in the order it is written."""
    closes: tuple[str, ...] = ()
    """Messages that the change closes for good."""
    sinks: tuple[str, ...] = ()
    """Operations of a preview over several consumers, one each with its own receipt."""
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


class OperationRow(Contract):
    """An operation as lists show it."""

    operation_id: str
    action: str
    consumer: str
    subject: str
    state: OperationState
    created: int
    reviewer: str
    error: str | None = None
    here: bool = True
    """False when the operation belongs to another checkout (`elsewhere`, spec 0.1)."""


class Receipt(Document):
    """Proof of one applied sink of one operation (spec 5.7)."""

    receipt_id: str
    operation_id: str
    action: str
    workspace: str
    checkout: str
    consumer: str
    state: OperationState
    replayed: bool = False
    targets: tuple[BoundTarget, ...]
    sources: tuple[BoundSource, ...]
    classification: Classification
    subject: str
    subject_digest: Digest
    belief: str | None = None
    """The belief it formed; None when it formed none, or several."""
    beliefs: tuple[str, ...] = ()
    """Each of them, when it formed several."""
    supersedes: tuple[str, ...] = ()
    """Beliefs that a promotion ended at its consumer."""
    replacement: str | None = None
    """What stands in the place of a belief that was ended by itself."""
    actor: Actor
    reviewer: str
    time: int
    ledger_seq: int
    ledger_head: Digest
    """The chain's head this receipt's own entry was appended to."""
    provider_adapters_modified: bool = False


class FailedSink(Contract):
    """A consumer that could not be written, and why; the others' receipts stand."""

    operation_id: str
    consumer: str
    code: str
    message: str
    remedy: str = ""


class Written(Document):
    """How a confirmed operation ended: a receipt for each consumer that was written (spec 5.4)."""

    operation_id: str
    state: OperationState
    receipts: tuple[Receipt, ...]
    failed: tuple[FailedSink, ...] = ()


class OperationPage(Document):
    """A page of operations."""

    items: tuple[OperationRow, ...] = ()
    next: str | None = None
