"""AIWG's canonical context store: its document, entries, identities, receipts (format 1.1, 2.5).

Key order and unknown members are kept, for AIWG hashes the store as it stands. What is not
understood is refused, never rebuilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.aiwg_identity import js_digest, json_digest, nul_digest, pretty
from core.operations.envelope import Target
from core.promotion.consumers.line_memory_files import parse
from core.workspace import Workspace
from schemas.errors import Refused

ROOT = ".aiwg/context/compound-memory"
PATH = f"{ROOT}/context.json"
LOCK = f"{ROOT}/.lock"
SCHEMA = "aiwg.canonical-context.v1"
RECEIPT = "aiwg.canonical-context-receipt.v1"
TARGETS = (
    *("project-fact", "preference", "goal", "project", "person", "decision"),
    "operating-rule",
)
PROPOSAL = (
    *("target", "key", "value", "sourceRef", "sourceDigest", "reviewer", "reason"),
    *("scope", "classification", "reviewAt", "expiresAt"),
)
_NAMED_BY = ("target", "key", "value", "sourceRef", "sourceDigest", "scope", "classification")
KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_RESERVED = ("system", "developer", "provider", "agent")
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard)\s+(?:(?:all|the)\s+)*(?:previous|prior)\s+instructions\b"
    r"|\bsystem prompt\b|\bdeveloper message\b|\b(?:run|execute)\s+(?:a\s+)?(?:shell|command)\b",
    re.I,
)
_UNSAFE = re.compile(
    r"(?:^|[?&;:\s])(?:api[ _-]?key|access[ _-]?token|token|secret|password|passwd|authorization)"
    r"\s*[:=]\s*\S|-----BEGIN [A-Z ]*PRIVATE KEY",
    re.I,
)

Document = dict[str, Any]


def workspace_id(workspace: Workspace) -> str:
    """AIWG's name for the workspace: a digest of its folder's base name and nothing else."""
    return js_digest(workspace.root.resolve().name)


def empty(workspace: Workspace) -> Document:
    """The store before its first entry."""
    return {
        "schemaVersion": SCHEMA,
        "workspaceId": workspace_id(workspace),
        "revision": 0,
        "entries": {},
    }


def read(workspace: Workspace) -> tuple[bytes, Document]:
    """The store's bytes and its document.

    Raises Refused `canonical.not-initialised`, `canonical.broken`, `canonical.workspace`.
    """
    data = workspace.read(PATH)
    if data is None:
        raise Refused("canonical.not-initialised")
    return data, document(data, workspace_id(workspace))


def document(data: bytes, own: str) -> Document:
    """The document these bytes hold. Raises as `read`."""
    broken = Refused("canonical.broken", path=PATH)
    try:
        found = parse(data)
    except (ValueError, RecursionError) as err:
        raise broken from err
    if not isinstance(found, dict) or found.get("schemaVersion") != SCHEMA:
        raise broken
    revision, entries = found.get("revision"), found.get("entries")
    if not isinstance(revision, int) or isinstance(revision, bool) or revision < 0:
        raise broken
    if not isinstance(entries, dict):
        raise broken
    for name, entry in entries.items():
        if not isinstance(entry, dict) or entry.get("entryId") != name:
            raise broken
        if not all(isinstance(entry.get(k), str) for k in ("target", "key", "value", "status")):
            raise broken
    if found.get("workspaceId") != own:
        raise Refused("canonical.workspace", path=PATH)
    return found


def entry_id(entry: Document) -> str:
    """An entry's name, from its content alone: dates, reviewer and reason don't enter it."""
    return json_digest({k: entry[k] for k in _NAMED_BY})


def proposal_of(entry: Document) -> Document:
    """The part of an entry that a person proposed."""
    return {k: entry[k] for k in PROPOSAL}


def faults(proposal: Document) -> str:
    """Why AIWG would refuse a proposal: a reason code, or nothing."""
    units = {k: _units(v) for k, v in proposal.items() if isinstance(v, str)}
    limits = {"value": 8192, "sourceRef": 512, "reviewer": 128, "reason": 1024, "scope": 128}
    if any(not 0 < units.get(k, 0) <= limit for k, limit in limits.items()):
        return "canonical.bounds"
    if proposal["target"] not in TARGETS or not KEY.fullmatch(str(proposal["key"])):
        return "canonical.bounds"
    if re.search(r"[\r\n\0]", proposal["sourceRef"]):
        return "canonical.bounds"
    digest = proposal["sourceDigest"]
    if digest is not None and not DIGEST.fullmatch(str(digest)):
        return "canonical.bounds"
    if proposal["classification"] not in ("public", "internal"):
        return "canonical.bounds"
    if str(proposal["key"]).split(".")[0] in _RESERVED:
        return "canonical.screened"
    words = "\n".join((proposal["key"], proposal["value"], proposal["sourceRef"]))
    return "canonical.screened" if _INSTRUCTION.search(words) or _UNSAFE.search(words) else ""


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def entry_of(proposal: Document, when: str, supersedes: str | None, origin: str | None) -> Document:
    """A new active entry, its members in AIWG's order."""
    return {
        **proposal,
        "entryId": entry_id(proposal),
        "status": "active",
        "createdAt": when,
        "updatedAt": when,
        "supersedes": supersedes,
        "disposition": None,
        "importedFromWorkspace": origin,
    }


def active(store: Document, target: str, key: str) -> Iterator[Document]:
    """Active entries of one target and key; AIWG expects one at most."""
    for entry in store["entries"].values():
        if (entry["target"], entry["key"], entry["status"]) == (target, key, "active"):
            yield entry


def end(entry: Document, status: str, reviewer: str, reason: str, when: str) -> None:
    """Let an entry stand superseded or revoked, as AIWG marks it."""
    entry["status"] = status
    entry["updatedAt"] = when
    entry["disposition"] = {"reviewer": reviewer, "reason": reason, "recordedAt": when}


@dataclass(slots=True)
class Writing:
    """A store that is being changed, with AIWG's receipt of each change."""

    before: bytes | None
    store: Document
    receipts: list[Target]

    def change(
        self, operation: str, asked: Document, changed: list[str], when: str, *, duplicate: bool
    ) -> None:
        """Count one confirmed change and leave AIWG's receipt of it.

        `asked` is the object AIWG hashes for the operation's id, without its snapshot.
        """
        operation_id = json_digest(asked)
        if not duplicate:
            self.store["revision"] += 1
        revision = self.store["revision"]
        receipt_id = nul_digest(operation_id, str(revision))
        receipt = {
            "schemaVersion": RECEIPT,
            "receiptId": receipt_id,
            "operationId": operation_id,
            "operation": operation,
            "workspaceId": self.store["workspaceId"],
            "entryIds": changed,
            "revision": revision,
            "duplicate": duplicate,
            "completedAt": when,
        }
        path = f"{ROOT}/receipts/{receipt_id.replace(':', '_', 1)}.json"
        self.receipts.append(Target(path, None, pretty(receipt), derived=True))

    def targets(self, workspace: Workspace) -> tuple[Target, ...]:
        """The store and the receipts beside it; what stands there already is written over."""
        first = Target(PATH, self.before, pretty(self.store))
        receipts = [
            Target(t.path, workspace.read(t.path), t.after, derived=True) for t in self.receipts
        ]
        return (first, *receipts)


def snapshot(store: Document) -> str:
    """AIWG's digest of the store as it stands."""
    return json_digest(store)
