"""What the ledger commits to: a salted leaf an event, a Merkle root a batch (spec 1.4).

leaf  = SHA-256(0x00 | salt | JSON array of place, digest of raw, digest of text, lead)
node  = SHA-256(0x01 | left | right); an odd node moves up unchanged.
Salt and payload stand beside the chain and are erased together; then nothing is left to guess by.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256

import orjson

from schemas.storage import NewEvent

SALT_BYTES = 16
_DRAWN = 256
"""Salts drawn at once: a call to the system for each costs more than hashing with it."""


def salts() -> Iterator[bytes]:
    """Fresh random salts without end."""
    while True:
        drawn = os.urandom(SALT_BYTES * _DRAWN)
        for at in range(0, len(drawn), SALT_BYTES):
            yield drawn[at : at + SALT_BYTES]


def leaf(file: str, e: NewEvent) -> bytes:
    """The commitment to one event; all but `e.commitment` must be set."""
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
        sha256(e.text).hexdigest(),
        None if e.lead is None else e.lead.hex(),
    ]
    return sha256(b"\0" + e.salt + orjson.dumps(document)).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The Merkle root of a batch; 32 zero bytes for an empty one."""
    level = list(leaves)
    if not level:
        return bytes(32)
    while len(level) > 1:
        pairs = [
            sha256(b"\1" + left + right).digest()
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]
