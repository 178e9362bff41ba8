"""The one lock an operation takes first: `.memdesk/operations.lock` (house.md, "Writers")."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from core.ports import Desk
from schemas.errors import Stale, Unusable

_POLL_S = 0.01


def in_progress(desk: Desk) -> bool:
    """True while a living process holds the operations lock."""
    try:
        handle = os.open(desk.workspace.folder / "operations.lock", os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


@contextlib.contextmanager
def operations_lock(desk: Desk) -> Iterator[None]:
    """Hold the workspace's operations lock; the kernel frees it with its process.

    Raises Stale `operation.busy` when another process holds it for longer than the configured
    wait; Unusable `destination.unwritable` when the lock file can't be opened.
    """
    path = desk.workspace.folder / "operations.lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as err:
        raise Unusable("destination.unwritable", f"{path.name}: {err.strerror}") from err
    try:
        end = time.monotonic() + desk.policy.lock_timeout
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as err:
                if time.monotonic() > end:
                    raise Stale("operation.busy") from err
                time.sleep(_POLL_S)
        yield
    finally:
        os.close(handle)
