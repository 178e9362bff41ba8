"""What compactions did to a session as a file to hand on: the observation, credentials masked."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import orjson

from core.compaction.observe import observe
from core.ports import Desk
from core.screening import mask
from schemas.errors import Unusable

_FOLDER = "exports"


def export(desk: Desk, session: str) -> Path:
    """Write a session's observation into `.memdesk/exports/`; an older one of it is replaced.

    Raises NotFound `id.not-found`, `id.ambiguous`; Unusable `workspace.unusable`.
    """
    found = observe(desk, session)
    folder = desk.workspace.folder / _FOLDER
    # A session may be named anything; the event it was first cut at is a name of our own.
    path = folder / f"compaction-{found.boundaries[0].at if found.boundaries else 'none'}.json"
    whole = orjson.dumps(_masked(found.model_dump(mode="json")), option=orjson.OPT_INDENT_2)
    part = path.with_suffix(f".tmp-{os.getpid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        with contextlib.ExitStack() as undo:
            undo.callback(part.unlink, missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
                file.write(whole + b"\n")
            part.replace(path)
    except OSError as err:
        raise Unusable("workspace.unusable", f"{path}: {err.strerror}") from err
    return path


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: mask(v) if k == "quote" else _masked(v) for k, v in value.items()}
    return [_masked(v) for v in value] if isinstance(value, list) else value
