"""A statement in the reviewer's own editor; what comes back is read once and the file removed."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from core.ports import Desk
from schemas.errors import Refused


def edit(desk: Desk, text: str) -> str:
    """Open `text` in $VISUAL or $EDITOR and return what was saved.

    Raises Refused `editor.failed` when it can't start or ends with an error.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    handle, path = tempfile.mkstemp(suffix=".md", prefix="statement-", dir=desk.workspace.folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        try:
            done = subprocess.run([*shlex.split(command), path], check=False)
        except (OSError, ValueError) as err:
            raise Refused("editor.failed", f"{command}: {err}") from err
        if done.returncode != 0:
            raise Refused("editor.failed", f"{command} ended with status {done.returncode}.")
        with open(path, encoding="utf-8", errors="strict") as file:
            return file.read()
    except UnicodeDecodeError as err:
        raise Refused("editor.failed", "The saved text is not UTF-8.") from err
    finally:
        os.unlink(path)
