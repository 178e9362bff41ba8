"""The hash chain: one entry a batch, linked by digest, head locked last (spec 1.4).

entry digest = SHA-256 over the RFC 8785 array
`[seq, kind, subject, time, count, hex(root), hex(previous)]`; the first entry's previous is 32
zero bytes. Without an outside anchor (a receipt, an exported head) a rewritten chain fits itself.
"""

from __future__ import annotations

import hashlib

import orjson
import sqlalchemy as sa

from schemas.evidence import LedgerEntry, LedgerHead
from store.keys import WS
from store.prepared import Prepared
from store.tables import LEDGER, LEDGER_HEAD

ZERO = bytes(32)
_H = LEDGER_HEAD.c
_HEAD = sa.select(_H.seq, _H.digest).where(_H.ws == WS)
_HEAD_NOW, _HEAD_HELD = Prepared(_HEAD), Prepared(_HEAD.with_for_update())
_APPEND = Prepared(sa.insert(LEDGER))
_MOVE = Prepared(sa.update(LEDGER_HEAD).where(_H.ws == WS), "seq", "digest")


def entry_digest(
    seq: int, kind: str, subject: str, time: int, count: int, root: bytes, previous: bytes
) -> bytes:
    """The digest that links an entry into the chain."""
    document = [seq, kind, subject, time, count, root.hex(), previous.hex()]
    return hashlib.sha256(orjson.dumps(document)).digest()


def _text(raw: bytes) -> str:
    return "sha256:" + raw.hex()


class Ledger:
    """The chain of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def head(self, *, lock: bool = False) -> LedgerHead:
        """The end of the chain, seq 0 for an empty one; `lock` keeps it so until the commit."""
        row = (_HEAD_HELD if lock else _HEAD_NOW).first(self._c, ws_=self._ws)
        # Rows are given as they stand: an altered one is for verification to name.
        seq, digest = (row.seq, row.digest) if row else (0, ZERO)
        return LedgerHead.model_construct(seq=seq, digest=_text(digest))

    def entries(self, after: int, limit: int) -> list[LedgerEntry]:
        """Entries past `after`, in order, as they stand in the store."""
        t = LEDGER.c
        rows = self._c.execute(
            sa.select(LEDGER).where(t.ws == self._ws, t.seq > after).order_by(t.seq).limit(limit)
        )
        return [
            LedgerEntry.model_construct(
                seq=r.seq,
                kind=r.kind,
                time=r.time,
                subject=r.subject,
                count=r._mapping["count"],
                root=_text(r.root),
                previous=_text(r.previous),
                digest=_text(r.digest),
            )
            for r in rows
        ]

    def append(self, kind: str, subject: str, root: str, count: int, time: int) -> LedgerEntry:
        """Append one entry; call it last, it locks the head until the commit."""
        row = _HEAD_HELD.first(self._c, ws_=self._ws)
        seq, previous = row.seq + 1, bytes(row.digest)
        bare = bytes.fromhex(root.removeprefix("sha256:"))
        digest = entry_digest(seq, kind, subject, time, count, bare, previous)
        entry = {
            "ws": self._ws,
            "seq": seq,
            "kind": kind,
            "subject": subject,
            "time": time,
            "count": count,
            "root": bare,
            "previous": previous,
            "digest": digest,
        }
        _APPEND.run(self._c, **entry)
        _MOVE.run(self._c, ws_=self._ws, seq=seq, digest=digest)
        return LedgerEntry(
            seq=seq,
            kind=kind,
            time=time,
            subject=subject,
            count=count,
            root=root,
            previous=_text(previous),
            digest=_text(digest),
        )
