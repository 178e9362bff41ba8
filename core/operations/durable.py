"""Durable write by exchange: temporary file, fsync, swap, digest of what was displaced (spec 5.4).

A check followed by a rename loses racing edits; an exchange loses none: what stood there is in
our hand afterwards, and goes back if it is not what the operation was bound to.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import hashlib
import os
import platform
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.identity import digest
from core.ports import StepHook
from core.workspace import Workspace, digest_at, read_at
from schemas.errors import MemdeskError, NotFound, Refused, Stale, Unusable

_EXCHANGE_LINUX = 2
_SWAP_DARWIN = 2
_PIECE = 1 << 20
_LONG = 200
"""Bytes of a file's name from which our own name beside it could pass 255."""


class Diverged(Stale):
    """The destination held other bytes than before or after; both are in hand."""

    def __init__(self, path: str, found: bytes | None, kept: str | None = None) -> None:
        message = f"{path} was changed meanwhile."
        if kept:
            message += f" An older edit of it is kept as {kept}."
        super().__init__("operation.diverged", message, path=path)
        if kept:
            self.details["kept"] = kept
        self.path = path
        self.found = found or b""


class Unfinished(Unusable):
    """The exchange is done and what follows it failed: only a retry may say how it ended."""


@dataclass(frozen=True, slots=True)
class Swap:
    """One file to be brought from its before-digest to its after-bytes."""

    operation: str
    number: int
    path: str
    before: str | None
    after_digest: str
    after: bytes | Path
    """The bytes, or where a file too large to be held waits to be copied from."""

    @property
    def _name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def _stem(self) -> str:
        name = self._name
        if len(os.fsencode(name)) > _LONG:
            name = digest(os.fsencode(name))[7:23]  # there is room for no more beside it
        return f".{name}.{self.operation[3:15]}-{self.number}"

    @property
    def partial(self) -> str:
        """Name our bytes are written under; whatever has it is ours and may be cut short."""
        return self._stem + ".tmp"

    @property
    def staged(self) -> str:
        """Name of our whole bytes before the exchange, of what was displaced after it."""
        return self._stem + ".new"

    @property
    def kept(self) -> str:
        """Name for an edit that neither stands in the place nor may be lost."""
        return f"{self._name}.kept-{self.operation[3:15]}"


def apply(workspace: Workspace, swap: Swap, on_step: StepHook) -> None:
    """Write exactly `swap.after` where exactly `swap.before` stands; repeatable after any crash.

    Raises Diverged with the bytes found; Refused `destination.link`; Unusable
    `destination.unwritable`, `store.full`, `destination.exchange-unsupported`,
    `operation.staged-lost`, `operation.altered`, all with the destination as it was; Unfinished
    `destination.interrupted`.
    """
    path = workspace.relative(swap.path)
    with workspace.directory(path.parent, create=True) as folder:
        with translated(swap.path):
            _settle(folder, path.name, swap)
        state = digest_at(folder, path.name, path)
        if state == swap.after_digest:
            with _unfinished(swap.path):
                os.fsync(folder)
            return
        if state != swap.before:
            raise Diverged(swap.path, _found(folder, path.name, swap))
        try:
            _stage(folder, path.name, swap, on_step)
            _put_in_place(folder, path.name, swap)
        except OSError as err:
            _forget(folder, swap.partial)
            _forget(folder, swap.staged)
            if err.errno == errno.ENOENT:
                raise Diverged(swap.path, None) from err
            raise _failure(err, swap.path) from err
        except Unusable:
            _forget(folder, swap.partial)
            raise
        with _unfinished(swap.path):
            _complete(folder, path.name, swap, on_step)


def clean(workspace: Workspace, swap: Swap) -> None:
    """Remove what an ended operation left beside one of its files; an edit is set aside instead."""
    path = workspace.relative(swap.path)
    with (
        contextlib.suppress(NotFound),
        translated(swap.path),
        workspace.directory(path.parent) as folder,
    ):
        _forget(folder, swap.partial)
        if _digest_at(folder, swap.staged) in (None, swap.before, swap.after_digest):
            _forget(folder, swap.staged)
        else:
            _set_aside(folder, swap)


def _settle(folder: int, name: str, swap: Swap) -> None:
    """Finish or drop what an interrupted run left under its names."""
    _forget(folder, swap.partial)
    if not _exists(folder, swap.staged):
        return
    left = _digest_at(folder, swap.staged)
    if left in (swap.before, swap.after_digest) or _same_file(folder, name, swap.staged):
        _forget(folder, swap.staged)
        os.fsync(folder)
        return
    # Someone's edit came between our last look and the exchange, and we died before its return.
    if _digest_at(folder, name) == swap.after_digest:
        raise _put_back(folder, name, swap)
    raise Diverged(swap.path, _found(folder, name, swap), _set_aside(folder, swap))


def _found(folder: int, name: str, swap: Swap) -> bytes | None:
    """What stands in the place, to be kept beside our bytes; too large to be held, it is not."""
    return read_at(folder, name, swap.path) if isinstance(swap.after, bytes) else None


def _stage(folder: int, name: str, swap: Swap, on_step: StepHook) -> None:
    if isinstance(swap.after, bytes) and digest(swap.after) != swap.after_digest:
        raise Unusable("operation.altered", path=swap.path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(swap.partial, flags, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        _like(folder, name, file.fileno())
        if isinstance(swap.after, bytes):
            file.write(swap.after)
        else:
            _copy(swap, swap.after, file)
        file.flush()
        os.fsync(file.fileno())
    on_step(f"temporary-{swap.number}")
    os.rename(swap.partial, swap.staged, src_dir_fd=folder, dst_dir_fd=folder)
    on_step(f"staged-{swap.number}")


def _copy(swap: Swap, source: Path, to: BinaryIO) -> None:
    """Copy what was staged, piece by piece. Raises Unusable `operation.staged-lost`."""
    try:
        with source.open("rb", buffering=0) as file:
            found = copied(file, to)
    except FileNotFoundError:
        found = ("", 0)
    if found[0] != swap.after_digest:
        raise Unusable("operation.staged-lost", path=swap.path)


def copied(source: BinaryIO, to: BinaryIO, limit: int | None = None) -> tuple[str, int]:
    """Copy piece by piece, at most `limit` bytes; digest and number of the bytes copied."""
    hasher, size = hashlib.sha256(), 0
    while data := source.read(_PIECE if limit is None else min(_PIECE, limit - size)):
        hasher.update(data)
        to.write(data)
        size += len(data)
    return "sha256:" + hasher.hexdigest(), size


def _put_in_place(folder: int, name: str, swap: Swap) -> None:
    if swap.before is not None:
        _exchange(folder, swap.staged, name)
        return
    try:
        # A hard link never replaces: a file that appeared meanwhile stays.
        options = {"src_dir_fd": folder, "dst_dir_fd": folder}
        os.link(swap.staged, name, follow_symlinks=False, **options)
    except FileExistsError as err:
        _forget(folder, swap.staged)
        raise Diverged(swap.path, _found(folder, name, swap)) from err


def _complete(folder: int, name: str, swap: Swap, on_step: StepHook) -> None:
    """Look at what was displaced: drop the bytes we were bound to, give back anything else."""
    on_step(f"exchanged-{swap.number}")
    if swap.before is not None and _digest_at(folder, swap.staged) != swap.before:
        raise _put_back(folder, name, swap)
    if swap.before is not None:
        _keep_mode(folder, name, swap.staged)
    os.unlink(swap.staged, dir_fd=folder)
    on_step(f"displaced-removed-{swap.number}")
    os.fsync(folder)
    on_step(f"synced-{swap.number}")


def _put_back(folder: int, name: str, swap: Swap) -> Diverged:
    """Return a displaced edit to its place; should another have landed meanwhile, that one stays.

    Two exchanges at most: each shows an editor another text for an instant, and one that saves
    what it read then would build on it. Whatever does not stand in the place is in hand.
    """
    found = _bytes_at(folder, swap.staged)
    _exchange(folder, swap.staged, name)
    kept = None
    if _digest_at(folder, swap.staged) == swap.after_digest:
        os.unlink(swap.staged, dir_fd=folder)
    else:
        returned, found = found, _bytes_at(folder, swap.staged)
        _exchange(folder, swap.staged, name)
        overtaken = returned is not None and _bytes_at(folder, swap.staged) != returned
        kept = _set_aside(folder, swap)
        if returned is not None and overtaken:
            # A save based on the text before fell on the edit in the instant it was back.
            kept = _keep(folder, swap, returned)
    os.fsync(folder)
    # Not what stands there by now: a save based on our bytes may just have replaced the edit.
    return Diverged(swap.path, found, kept)


def _set_aside(folder: int, swap: Swap) -> str:
    """Keep an edit that a newer one has overtaken under a name its owner sees."""
    kept = _free(folder, swap)
    os.rename(swap.staged, kept, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)
    return kept


def _keep(folder: int, swap: Swap, data: bytes) -> str:
    """Keep an edit that stands nowhere any more and is in our hand only."""
    kept = _free(folder, swap)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(kept, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return kept


def _free(folder: int, swap: Swap) -> str:
    n = 1
    while _exists(folder, kept := f"{swap.kept}-{n}"):
        n += 1
    return kept


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _same_file(folder: int, one: str, other: str) -> bool:
    try:
        a, b = (os.stat(n, dir_fd=folder, follow_symlinks=False) for n in (one, other))
    except FileNotFoundError:
        return False
    return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)


def _bytes_at(folder: int, name: str) -> bytes | None:
    try:
        return read_at(folder, name)
    except Refused:
        return None


def _digest_at(folder: int, name: str) -> str | None:
    """Digest of a regular file; a text no digest equals for anything else, None for nothing."""
    try:
        return digest_at(folder, name)
    except Refused:
        return "not a file"


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


def _keep_mode(folder: int, name: str, displaced: str) -> None:
    """A mode that its owner changed after ours was copied from it holds for our file as well."""
    ours, theirs = (os.stat(n, dir_fd=folder, follow_symlinks=False) for n in (name, displaced))
    if ours.st_mode != theirs.st_mode:
        os.chmod(name, stat.S_IMODE(theirs.st_mode), dir_fd=folder)


def _forget(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Errors of the operating system as refusals that name `path`."""
    try:
        yield
    except OSError as err:
        raise _failure(err, path) from err


@contextlib.contextmanager
def _unfinished(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        message = f"{path}: {err.strerror}, after its bytes were exchanged."
        raise Unfinished("destination.interrupted", message, path=path) from err


def _failure(err: OSError, path: str) -> MemdeskError:
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unusable("store.full", f"{path}: no space left; it is as it was.", path=path)
    if err.errno == errno.ELOOP:
        return Refused("destination.link", f"{path} is a link.", path=path)
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
