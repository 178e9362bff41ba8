"""AIWG's lock files by their protocol: exclusive create, our pid inside, always removed.

AIWG reclaims none of them by itself for its canonical context, and line memory's by pid alone; ours
are taken over only from an owner that certainly does not run any more.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Iterator
from pathlib import PurePosixPath

from core.aiwg_identity import iso_ms
from core.operations.durable import translated
from core.ports import Desk
from core.workspace import Workspace, read_at
from schemas.errors import NotFound, Refused, Stale

_POLL_S = 0.01


@contextlib.contextmanager
def lock(desk: Desk, path: str, code: str) -> Iterator[None]:
    """Hold the lock file at `path`; its folder is made if need be.

    A lock whose owner is dead is taken over; a live or unreadable one is waited for.
    Raises Stale with `code` after the configured wait.
    """
    pure = PurePosixPath(path)
    end = time.monotonic() + desk.policy.lock_timeout
    with desk.workspace.directory(pure.parent, create=True) as folder:
        while not _taken(folder, desk, pure):
            if time.monotonic() > end:
                raise Stale(code, path=path)
            time.sleep(_POLL_S)
        try:
            yield
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(pure.name, dir_fd=folder)


def remove_dead(workspace: Workspace, path: str) -> None:
    """Take away a lock that a process left which certainly does not run any more."""
    pure = PurePosixPath(path)
    with (
        contextlib.suppress(NotFound),
        translated(path),
        workspace.directory(pure.parent) as folder,
    ):
        if _owner_is_dead(folder, pure):
            _set_aside(folder, pure)


def _taken(folder: int, desk: Desk, path: PurePosixPath) -> bool:
    with translated(str(path)):
        if _take(folder, desk, path):
            return True
        if not _owner_is_dead(folder, path):
            return False
        _set_aside(folder, path)
        return _take(folder, desk, path)


def _own(path: PurePosixPath, suffix: str) -> str:
    return f".{path.name.removeprefix('.')}.{suffix}"


def _take(folder: int, desk: Desk, path: PurePosixPath) -> bool:
    """Make the lock with its body in one step: a crash never leaves an empty one behind."""
    body = json.dumps(
        {"pid": os.getpid(), "createdAt": iso_ms(desk.clock())}, separators=(",", ":")
    )
    mine = _own(path, "memdesk")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(mine, flags, 0o600, dir_fd=folder), "w") as file:
            file.write(body + "\n")
        os.link(mine, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(mine, dir_fd=folder)
    return True


def _owner_is_dead(folder: int, path: PurePosixPath) -> bool:
    """True only when the lock names a pid that certainly does not run here any more."""
    try:
        data = read_at(folder, path.name, path)
        pid = json.loads(data)["pid"] if data else None
    except (Refused, ValueError, KeyError, TypeError, RecursionError):
        return False
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except OSError as err:
        return err.errno == errno.ESRCH
    return False


def _set_aside(folder: int, path: PurePosixPath) -> None:
    """Take a dead owner's lock away; put back one that turned out to be fresh."""
    aside = _own(path, f"{os.getpid()}.stale")
    try:
        os.rename(path.name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return
    data = read_at(folder, aside)
    try:
        pid = json.loads(data or b"")["pid"]
        os.kill(pid, 0)
        alive = True
    except ProcessLookupError:
        alive = False
    except (ValueError, KeyError, TypeError, OSError):
        alive = True
    if alive:
        with contextlib.suppress(FileExistsError):
            os.link(aside, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    os.unlink(aside, dir_fd=folder)
