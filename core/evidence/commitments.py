"""What the ledger commits to: a salted leaf an event, a Merkle root a batch (spec 1.4).

leaf  = SHA-256(0x00 | salt | JSON array of place, digest of raw, digest of text, lead)
node  = SHA-256(0x01 | left | right); an odd node moves up unchanged.
Salt and payload stand beside the chain and are erased together; then nothing is left to guess by.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import orjson

from schemas.storage import NewEvent

SALT_BYTES = 16


def leaf(file: str, e: NewEvent) -> bytes:
    """The commitment to one event; `e.salt`, `e.digest` and `e.text` must be set."""
    document = [
        file,
        e.ordinal,
        e.id.hex(),
        e.part,
        e.kind,
        e.author,
        e.session,
        e.time,
        e.native_id,
        e.parent,
        e.scope,
        e.line,
        e.byte_start,
        e.byte_length,
        e.notes,
        e.twin,
        e.digest.hex(),
        hashlib.sha256(e.text).hexdigest(),
        None if e.lead is None else e.lead.hex(),
    ]
    return hashlib.sha256(b"\0" + e.salt + orjson.dumps(document)).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The Merkle root of a batch; 32 zero bytes for an empty one."""
    level = list(leaves)
    if not level:
        return bytes(32)
    while len(level) > 1:
        pairs = [
            hashlib.sha256(b"\1" + level[i] + level[i + 1]).digest()
            for i in range(0, len(level) - 1, 2)
        ]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]
