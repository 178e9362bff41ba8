"""Receipts and a checkpoint of the ledger as files to keep elsewhere (spec 1.4, 5.7)."""

from __future__ import annotations

import json
from pathlib import Path

from core import signing
from core.ports import Desk
from schemas.common import Document, Page
from schemas.errors import Unusable
from schemas.status import Checkpoint

CHECKPOINT = "checkpoint.json"
_PAGE = 500


def export(desk: Desk, folder: Path, key: Path | None = None) -> list[Path]:
    """Write every receipt and `checkpoint.json` into a folder; with a key, sign them.

    Raises Unusable `destination.unwritable`, `signature.tool`; Refused `signature.key`.
    """
    files: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with desk.store.read() as view:
            after, count = None, 0
            while True:
                found, after = view.operations.receipts(Page(limit=_PAGE, after=after))
                files += [_write(folder / f"{r.receipt_id}.json", r) for r in found]
                count += len(found)
                if after is None:
                    break
            checkpoint = Checkpoint(
                workspace=desk.workspace.id,
                head=view.ledger.head(),
                receipts=count,
                time=desk.clock(),
            )
        files.append(_write(folder / CHECKPOINT, checkpoint))
        if key is not None:
            signing.sign(files, key)
    except OSError as err:
        raise Unusable("destination.unwritable", f"{folder}: {err.strerror}") from err
    return files


def _write(path: Path, document: Document) -> Path:
    value = document.model_dump(mode="json")
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")
    return path
