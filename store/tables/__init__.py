"""The SQLModel tables, all of them, so that metadata is complete wherever one is used.

Outside text is bytes on both databases; identity text collates "C"; every primary key begins with
the workspace (spec 8.5). Made by migrations only; a test compares these models with them.
"""

from __future__ import annotations

from store.tables.artifacts import (
    ARTIFACT,
    ARTIFACT_BYTES,
    ARTIFACT_CHUNK,
    ARTIFACT_EXTRACT,
    ARTIFACT_REVISION,
)
from store.tables.candidates import (
    CANDIDATE,
    CANDIDATE_SOURCE,
    CANDIDATE_VERSION,
    CLAIM,
    CLAIM_BAND,
    DECISION,
    LIKENESS,
)
from store.tables.compaction import COMPACTION_MARK
from store.tables.evidence import (
    EVENT,
    EVENT_BODY,
    SESSION_FILE,
    SESSION_TOTAL,
    SOURCE_FILE,
    SOURCE_PATH,
)
from store.tables.ledger import LABEL, LEDGER, LEDGER_HEAD, WORKSPACE
from store.tables.promotion import (
    BELIEF,
    BELIEF_CHANGE,
    BELIEF_CONSUMER,
    DIVERGENCE,
    OPERATION,
    OPERATION_ABOUT,
    OUTBOX,
    RECEIPT,
)
from store.tables.sources import FENCE

__all__ = [
    "ARTIFACT",
    "ARTIFACT_BYTES",
    "ARTIFACT_CHUNK",
    "ARTIFACT_EXTRACT",
    "ARTIFACT_REVISION",
    "BELIEF",
    "BELIEF_CHANGE",
    "BELIEF_CONSUMER",
    "CANDIDATE",
    "CANDIDATE_SOURCE",
    "CANDIDATE_VERSION",
    "CLAIM",
    "CLAIM_BAND",
    "COMPACTION_MARK",
    "DECISION",
    "DIVERGENCE",
    "EVENT",
    "EVENT_BODY",
    "FENCE",
    "LABEL",
    "LEDGER",
    "LEDGER_HEAD",
    "LIKENESS",
    "OPERATION",
    "OPERATION_ABOUT",
    "OUTBOX",
    "RECEIPT",
    "SESSION_FILE",
    "SESSION_TOTAL",
    "SOURCE_FILE",
    "SOURCE_PATH",
    "WORKSPACE",
]
