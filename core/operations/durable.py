"""Durable write by exchange: temporary file, fsync, swap, digest of what was displaced (spec 5.4).

A check followed by a rename loses racing edits; an exchange loses none: what stood there is in
our hand afterwards, and goes back if it is not what the operation was bound to.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import platform
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.identity import digest
from core.ports import StepHook
from core.workspace import Workspace, read_at
from schemas.errors import MemdeskError, Refused, Stale, Unusable

_EXCHANGE_LINUX = 2
_SWAP_DARWIN = 2


class Diverged(Stale):
    """The destination held other bytes than before or after; both are in hand."""

    def __init__(self, path: str, found: bytes | None) -> None:
        super().__init__("operation.diverged", f"{path} was changed meanwhile.", path=path)
        self.path = path
        self.found = found or b""


@dataclass(frozen=True, slots=True)
class Swap:
    """One file to be brought from its before-digest to its after-bytes."""

    operation: str
    number: int
    path: str
    before: str | None
    after_digest: str
    after: bytes

    @property
    def temporary(self) -> str:
        """Name beside the target; a leftover of it tells recovery what happened."""
        name = PurePosixPath(self.path).name
        return f".{name}.{self.operation[3:15]}-{self.number}.tmp"


def apply(workspace: Workspace, swap: Swap, on_step: StepHook) -> None:
    """Write exactly `swap.after` where exactly `swap.before` stands; repeatable after any crash.

    Raises Diverged with the bytes found; Refused `destination.link`; Unusable
    `destination.unwritable`, `store.full`, `destination.exchange-unsupported`.
    """
    path = workspace.relative(swap.path)
    with workspace.directory(path.parent, create=True) as folder:
        _settle(folder, path.name, swap)
        found = read_at(folder, path.name)
        state = None if found is None else digest(found)
        if state == swap.after_digest and state != swap.before:
            return
        if state != swap.before:
            raise Diverged(swap.path, found)
        if state == swap.after_digest:
            return
        try:
            _write(folder, path.name, swap, on_step)
        except OSError as err:
            _forget(folder, swap.temporary)
            raise _failure(err, swap.path) from err


def _settle(folder: int, name: str, swap: Swap) -> None:
    """Finish or drop what an interrupted run left under the temporary name.

    Before the swap it holds our own bytes, whole or in part; after it, what was displaced.
    """
    left = read_at(folder, swap.temporary)
    if left is None:
        return
    current = read_at(folder, name)
    swapped = current is not None and digest(current) == swap.after_digest
    known = digest(left) in (swap.before, swap.after_digest) or swap.after.startswith(left)
    if swapped and not known:
        # Interrupted between the swap and its check, and someone's edit was displaced.
        _exchange(folder, swap.temporary, name)
        _forget(folder, swap.temporary)
        os.fsync(folder)
        raise Diverged(swap.path, left)
    _forget(folder, swap.temporary)
    os.fsync(folder)


def _write(folder: int, name: str, swap: Swap, on_step: StepHook) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(swap.temporary, flags, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        _like(folder, name, file.fileno())
        file.write(swap.after)
        file.flush()
        os.fsync(file.fileno())
    on_step(f"temporary-{swap.number}")
    if swap.before is None:
        _create(folder, name, swap)
        on_step(f"exchanged-{swap.number}")
    else:
        _exchange(folder, swap.temporary, name)
        on_step(f"exchanged-{swap.number}")
        displaced = read_at(folder, swap.temporary)
        if displaced is None or digest(displaced) != swap.before:
            _exchange(folder, swap.temporary, name)
            os.unlink(swap.temporary, dir_fd=folder)
            os.fsync(folder)
            raise Diverged(swap.path, displaced)
    os.unlink(swap.temporary, dir_fd=folder)
    on_step(f"displaced-removed-{swap.number}")
    os.fsync(folder)
    on_step(f"synced-{swap.number}")


def _create(folder: int, name: str, swap: Swap) -> None:
    """Put a new file in place only if nothing is there (a hard link never replaces)."""
    try:
        os.link(swap.temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError as err:
        found = read_at(folder, name)
        _forget(folder, swap.temporary)
        raise Diverged(swap.path, found) from err


def _like(folder: int, name: str, handle: int) -> None:
    """Give the temporary file the target's mode and owner."""
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not info.st_mode & 0o222 and os.getuid() != 0:
        raise PermissionError(errno.EACCES, "the file is read-only")
    os.fchmod(handle, stat.S_IMODE(info.st_mode))
    mine = os.fstat(handle)
    if (mine.st_uid, mine.st_gid) != (info.st_uid, info.st_gid):
        os.fchown(handle, info.st_uid, info.st_gid)


def _forget(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _failure(err: OSError, path: str) -> MemdeskError:
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unusable("store.full", f"{path}: no space left; it is as it was.", path=path)
    if err.errno == errno.ELOOP:
        return Refused("destination.link", path=path)
    if err.errno in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EXDEV):
        return Unusable("destination.exchange-unsupported", path=path)
    return Unusable("destination.unwritable", f"{path}: {err.strerror}", path=path)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _exchange(folder: int, one: str, other: str) -> None:
    """Swap two names of one folder atomically. Raises OSError, ENOSYS where it can't be done."""
    darwin = platform.system() == "Darwin"
    call = getattr(_libc(), "renameatx_np" if darwin else "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, "no atomic exchange here")
    flag = _SWAP_DARWIN if darwin else _EXCHANGE_LINUX
    ctypes.set_errno(0)
    if call(folder, os.fsencode(one), folder, os.fsencode(other), ctypes.c_uint(flag)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
