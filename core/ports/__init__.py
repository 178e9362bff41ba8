"""What the columns get: a frozen Desk, and the store behind Protocols.

Nothing here imports an ORM, so `--help`, hooks and the first frame stay light.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from core.ports.evidence import (
    ArtifactReads,
    ArtifactWrites,
    Blobs,
    EvidenceReads,
    EvidenceWrites,
    LedgerPort,
    ProvingReads,
)
from core.ports.memory import (
    CompactionReads,
    CompactionWrites,
    OperationReads,
    OperationWrites,
    PromotionReads,
    PromotionWrites,
    SourceReads,
    SourceWrites,
)
from core.ports.review import (
    CandidateReads,
    CandidateWrites,
    ClaimReads,
    ClaimWrites,
)
from schemas.common import Actor

if TYPE_CHECKING:
    from core.config import Policy
    from core.workspace import Workspace

__all__ = [
    "ArtifactReads",
    "ArtifactWrites",
    "Blobs",
    "CandidateReads",
    "CandidateWrites",
    "ClaimReads",
    "ClaimWrites",
    "Clock",
    "CompactionReads",
    "CompactionWrites",
    "Desk",
    "EvidenceReads",
    "EvidenceWrites",
    "LedgerPort",
    "OperationReads",
    "OperationWrites",
    "PromotionReads",
    "PromotionWrites",
    "ProvingReads",
    "Reader",
    "SourceReads",
    "SourceWrites",
    "StepHook",
    "Store",
    "Writer",
    "no_step",
]


Clock = Callable[[], int]
"""Microseconds since the epoch, UTC (spec 0.5)."""

StepHook = Callable[[str], None]
"""Told the name of each durable step as it is reached; the default does nothing."""


def no_step(_name: str) -> None:
    """The default step hook."""


class Reader(Protocol):
    """A consistent view of the store; every column's queries hang on it."""

    @property
    def evidence(self) -> EvidenceReads: ...
    @property
    def proving(self) -> ProvingReads: ...
    @property
    def artifacts(self) -> ArtifactReads: ...
    @property
    def ledger(self) -> LedgerPort: ...
    @property
    def candidates(self) -> CandidateReads: ...
    @property
    def claims(self) -> ClaimReads: ...
    @property
    def operations(self) -> OperationReads: ...
    @property
    def promotion(self) -> PromotionReads: ...
    @property
    def sources(self) -> SourceReads: ...
    @property
    def compaction(self) -> CompactionReads: ...


class Writer(Protocol):
    """One transaction; it rolls back unless its block ends without an error."""

    @property
    def evidence(self) -> EvidenceWrites: ...
    @property
    def proving(self) -> ProvingReads: ...
    @property
    def artifacts(self) -> ArtifactWrites: ...
    @property
    def ledger(self) -> LedgerPort: ...
    @property
    def candidates(self) -> CandidateWrites: ...
    @property
    def claims(self) -> ClaimWrites: ...
    @property
    def operations(self) -> OperationWrites: ...
    @property
    def promotion(self) -> PromotionWrites: ...
    @property
    def sources(self) -> SourceWrites: ...
    @property
    def compaction(self) -> CompactionWrites: ...


class Store(Protocol):
    """The store as the rules see it."""

    @property
    def blobs(self) -> Blobs: ...
    def read(self) -> AbstractContextManager[Reader]: ...
    def write(self, *, durable: bool = True) -> AbstractContextManager[Writer]: ...
    def change_mark(self) -> int: ...
    @property
    def read_only(self) -> bool: ...
    def integrity(self) -> list[str]: ...
    def describe(self) -> Mapping[str, str]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything a rule may need: where, when, under which policy, by whom, on which store."""

    workspace: Workspace
    policy: Policy
    store: Store
    actor: Actor
    clock: Clock
    secret: bytes = field(repr=False)
    on_step: StepHook = no_step
