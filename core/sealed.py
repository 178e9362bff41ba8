"""Seals: what the ledger commits to for a candidate version, a decision, a receipt (spec 1.4).

Made over the stored document's own members, so a contract that gains a member later still verifies
what was sealed before it; keyed, so nothing is left to guess by once the document is erased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from core.identity import canonical, seal
from schemas.sources import Fence
from schemas.storage import StoredFile

_MOVING: dict[str, Any] = {
    "state": "pending", "decision": None, "conflicts": [], "duplicates": [], "near": [],
}  # fmt: skip
"""Members of a version that are derived when it is shown; its stored document has them so."""


def version(secret: bytes, document: bytes) -> str:
    """The ledger root of a candidate version. Raises ValueError for another document."""
    members = _members(document)
    moving = {k: members.pop(k, empty) for k, empty in _MOVING.items()}
    if moving != _MOVING or members.pop("newest") != members["version"]:
        raise ValueError("derived members are not as they were stored")
    return seal(secret, canonical(members))


def decision(secret: bytes, ref: str, document: bytes) -> str:
    """The ledger root of a decision on `ref`. Raises ValueError for another document."""
    return seal(secret, canonical([ref, _members(document)]))


def mark(secret: bytes, number: int, document: bytes) -> str:
    """The ledger root of a mark on what a compaction kept or lost. Raises ValueError likewise."""
    return seal(secret, canonical([number, _members(document)]))


def artifact(
    secret: bytes, name: str, path: str, revision: int, digest: bytes, size: int, root: bytes
) -> str:
    """The ledger root of a revision of a path; `root` is the Merkle root of its chunk digests."""
    return seal(secret, canonical([name, path, revision, digest.hex(), size, root.hex()]))


def extract(secret: bytes, name: str, digest: bytes, time: int) -> str:
    """The ledger root of an extract; `name` says of which lines of which revision."""
    return seal(secret, canonical([name, digest.hex(), time]))


def source(secret: bytes, file: StoredFile, path: str) -> str:
    """The ledger root of a file's registration, or of `path` meaning that file from then on."""
    facts = [file.id, file.path, file.format, file.head, file.revision, file.notes, file.created]
    return seal(secret, canonical([path, *facts]))


def fences(secret: bytes, closed: Sequence[Fence]) -> str:
    """The ledger root of what one change closed for good, in the order of the events."""
    rows = [[f.event, f.cause, f.subject, f.cut, f.time] for f in closed]
    return seal(secret, canonical(rows))


def drift(secret: bytes, belief: str, consumer: str, time: int) -> str:
    """The ledger root of a belief that was found changed by its owner outside memdesk."""
    return seal(secret, canonical([belief, consumer, time]))


def receipt(secret: bytes, document: bytes) -> str:
    """The ledger root of a receipt. Raises ValueError for another document."""
    members = _members(document)
    if members.pop("replayed") is not False:
        raise ValueError("a stored receipt is not a replay")
    return seal(secret, canonical(members))


def _members(document: bytes) -> dict[str, Any]:
    members: dict[str, Any] = orjson.loads(document)
    if orjson.dumps(members) != document:
        raise ValueError("the document is not in the form it was stored in")
    return members
