"""Source files by id or path (contract: `--source ID`)."""

from __future__ import annotations

from core.evidence import places
from core.ports import Desk
from schemas.errors import NotFound
from schemas.storage import StoredFile


def file_number(desk: Desk, given: str) -> int:
    """The number of a source file. Raises NotFound `id.not-found`."""
    return source_file(desk, given).number


def source_file(desk: Desk, given: str) -> StoredFile:
    """A source file named by id, stored path or path on disk.

    Raises NotFound `id.not-found`.
    """
    from pathlib import Path

    with desk.store.read() as view:
        stored = view.evidence.file_by_id(given) or view.evidence.file_by_path(given)
        if stored is None:
            stored = view.evidence.file_by_path(places.stored_path(desk, Path(given)))
    if stored is None:
        raise NotFound("id.not-found", f"No imported file is named {given}.", given=given)
    return stored
