"""The contracts as JSON Schema files (spec 0.6)."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from schemas import (
    candidates,
    compaction,
    evidence,
    onboarding,
    operations,
    promotion,
    sources,
    status,
)
from schemas.errors import Unusable

DOCUMENTS: dict[str, type[BaseModel]] = {
    "event": evidence.Event,
    "source-file": evidence.SourceFile,
    "artifact": evidence.Artifact,
    "artifact-range": evidence.ArtifactRange,
    "import-report": evidence.ImportReport,
    "ledger-head": evidence.LedgerHead,
    "candidate-version": candidates.CandidateVersion,
    "batch-report": candidates.BatchReport,
    "extract-report": candidates.ExtractReport,
    "envelope": operations.Envelope,
    "receipt": operations.Receipt,
    "preview": operations.Preview,
    "belief": promotion.Belief,
    "written": operations.Written,
    "source": sources.Source,
    "fence": sources.Fence,
    "checkpoint": status.Checkpoint,
    "extract": evidence.Extract,
    "observation": compaction.Observation,
    "compaction-mark": compaction.Mark,
    "status": status.Status,
    "verify-report": status.VerifyReport,
    "discovery": onboarding.Discovery,
}
"""Every document that is stored or exchanged, by its file's name."""


def schema_of(model: type[BaseModel]) -> str:
    """One contract as JSON Schema text, stable across runs."""
    schema = model.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def export(folder: Path) -> list[str]:
    """Write all schemas into `folder`. Raises Unusable `destination.unwritable`."""
    names = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, model in sorted(DOCUMENTS.items()):
            file = f"{name}.schema.json"
            (folder / file).write_text(schema_of(model), "utf-8")
            names.append(file)
    except OSError as err:
        raise Unusable("destination.unwritable", f"{folder}: {err.strerror}") from err
    return names
