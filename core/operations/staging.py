"""Copies on their way: bytes of a source held in `.memdesk/staged/` from prepared to applied (5.4).

What an operation will write must not change any more once it is prepared, and a file of any size
does not fit into a row of the outbox.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Iterable
from pathlib import Path

from core.operations.durable import copied, translated
from core.operations.envelope import Copy
from core.ports import Desk
from schemas.errors import Stale

_FOLDER = "staged"


def path(desk: Desk, operation_id: str, number: int) -> Path:
    """Where the bytes of one target wait."""
    return desk.workspace.folder / _FOLDER / f"{operation_id}-{number}"


def stage(desk: Desk, operation_id: str, number: int, copy: Copy) -> None:
    """Hold the source's bytes, if they are the ones the operation is bound to.

    Raises Stale `preview.stale` naming the source; Refused and NotFound as `Workspace.open`;
    Unusable `store.full`, `destination.unwritable`.
    """
    wanted = path(desk, operation_id, number)
    partial = wanted.with_name(wanted.name + ".tmp")
    with translated(copy.source):
        wanted.parent.mkdir(mode=0o700, exist_ok=True)
        partial.unlink(missing_ok=True)
    with desk.workspace.open(copy.source) as source, translated(copy.source):
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as file:
            found = copied(source, file, copy.size + 1)
            file.flush()
            os.fsync(file.fileno())
        desk.on_step(f"copying-{number}")
        if found != (copy.after_digest, copy.size):
            partial.unlink()
            raise _moved(copy, found[0])
        os.rename(partial, wanted)
        _sync(wanted.parent)
    desk.on_step(f"copied-{number}")


def _moved(copy: Copy, now: str) -> Stale:
    moved = {"what": "source", "name": copy.source, "then": copy.after_digest, "now": now}
    text = f"Changed since the preview: source {copy.source}."
    return Stale("preview.stale", text, moved=[{**moved, "detail": ""}])


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def clear(desk: Desk, operation_id: str) -> None:
    """Drop what an operation that has ended left here."""
    _drop(n for n in _waiting(desk) if n.name.startswith(f"{operation_id}-"))


def sweep(desk: Desk, keep: Container[str]) -> None:
    """Drop what processes that died left, but for operations that are still prepared."""
    ours = (n for n in _waiting(desk) if n.name.startswith("op_"))
    _drop(n for n in ours if n.name.partition("-")[0] not in keep)


def _waiting(desk: Desk) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(desk.workspace.folder / _FOLDER) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _drop(entries: Iterable[os.DirEntry[str]]) -> None:
    for entry in entries:
        with contextlib.suppress(OSError):
            os.unlink(entry)
