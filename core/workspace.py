"""One authorised root: every path resolved inside it with directory handles, links refused (0.1)."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO

import orjson

from schemas.errors import MemdeskError, NotFound, Refused, Unusable

FOLDER = ".memdesk"
PENDING = "init.pending"
"""Stands in `.memdesk/` from the first step of `init` to its last, so a killed one is finished."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1 << 20
"""Bytes up to which a file is hashed in one piece."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A bound workspace: its real root, its random id, and which checkout of it this is."""

    root: Path
    id: str
    checkout: str

    @property
    def folder(self) -> Path:
        """`.memdesk/`, mode 0700."""
        return self.root / FOLDER

    @property
    def store_url(self) -> str:
        """The default store."""
        return f"sqlite:///{self.folder / 'memdesk.db'}"

    def relative(self, path: str | PurePath) -> PurePosixPath:
        """`path` as a normalised path inside the root; nothing is looked up on disk.

        Raises Refused `path.outside-workspace` for `..`, absolute paths elsewhere and NUL.
        """
        return _inside(self.root, os.fspath(path))

    @contextlib.contextmanager
    def directory(self, path: str | PurePosixPath, *, create: bool = False) -> Iterator[int]:
        """A handle on the folder at `path`, opened step by step without following a link.

        Raises Refused `destination.link`, `path.outside-workspace`; NotFound `path.not-found`
        unless `create`; Unusable `destination.unwritable`; each names the part it fell over.
        """
        try:
            handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as err:
            raise Unusable("workspace.unusable", f"{self.root}: {err.strerror}") from err
        try:
            parts = self.relative(path).parts if str(path) not in ("", ".") else ()
            for n, part in enumerate(parts, 1):
                below = _step(handle, part, create, PurePosixPath(*parts[:n]))
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)

    def make_private(self, path: str | PurePosixPath) -> None:
        """Make a folder that only its owner opens (0700); one that stands is left as it is.

        Raises as `directory` does.
        """
        pure = self.relative(path)
        with self.directory(pure.parent, create=True) as folder:
            try:
                os.mkdir(pure.name, 0o700, dir_fd=folder)
                os.fsync(folder)
            except FileExistsError:
                pass
            except OSError as err:
                raise folder_error(err, path, pure.name, folder) from err

    def read(self, path: str | PurePosixPath, *, limit: int = -1) -> bytes | None:
        """The bytes of a regular file inside the root, at most `limit`; None when there is none.

        Raises Refused `destination.link`, `path.not-regular`, `path.unreadable`.
        """
        pure = self.relative(path)
        try:
            with self.directory(pure.parent) as folder:
                return read_at(folder, pure.name, pure, limit=limit)
        except NotFound:
            return None

    def names(self, path: str | PurePosixPath) -> int:
        """How many hard links a file inside the root has; 0 when there is none."""
        pure = self.relative(path)
        try:
            with self.directory(pure.parent) as folder:
                return os.stat(pure.name, dir_fd=folder, follow_symlinks=False).st_nlink
        except (NotFound, OSError):
            return 0

    def digest(self, path: str | PurePosixPath) -> str | None:
        """Digest of a regular file of any size; None when there is none. Raises as `read` does."""
        pure = self.relative(path)
        try:
            with self.directory(pure.parent) as folder:
                return digest_at(folder, pure.name, pure)
        except NotFound:
            return None

    @contextlib.contextmanager
    def open(self, path: str | PurePosixPath) -> Iterator[BinaryIO]:
        """A regular file inside the root, for reading piece by piece.

        Raises NotFound `path.not-found`; Refused as `read` does.
        """
        pure = self.relative(path)
        with self.directory(pure.parent) as folder:
            handle = _regular(folder, pure.name, pure)
        if handle is None:
            raise NotFound("path.not-found", f"{pure} does not exist.", path=str(pure))
        with os.fdopen(handle, "rb", buffering=0) as file:
            yield file


@functools.lru_cache(maxsize=256)
def _inside(root: Path, path: str) -> PurePosixPath:
    """Kept: an operation names the same few files some twenty times."""
    pure = PurePosixPath(path)
    if pure.is_absolute():
        with contextlib.suppress(ValueError):
            pure = pure.relative_to(root)
    if pure.is_absolute() or ".." in pure.parts or "\0" in path or not pure.parts:
        raise Refused("path.outside-workspace", f"{path} is not inside the workspace.")
    return pure


def _step(handle: int, part: str, create: bool, path: PurePosixPath) -> int:
    """Open `part` under `handle`; may create it."""
    try:
        if create:
            try:
                os.mkdir(part, 0o777, dir_fd=handle)
                os.fsync(handle)
            except FileExistsError:
                pass
        return os.open(part, _DIRECTORY, dir_fd=handle)
    except OSError as err:
        raise folder_error(err, path, part, handle) from err


def folder_error(err: OSError, path: object, part: str, handle: int) -> MemdeskError:
    """The refusal for a folder that can't be opened or made."""
    if err.errno in (errno.ELOOP, errno.ENOTDIR):
        try:
            link = stat.S_ISLNK(os.stat(part, dir_fd=handle, follow_symlinks=False).st_mode)
        except OSError:
            link = False
        if link:
            return Refused("destination.link", f"{path} is a link.", path=str(path))
        return Refused("path.not-regular", f"{path} is no folder.", path=str(path))
    if err.errno == errno.ENOENT:
        return NotFound("path.not-found", f"{path} does not exist.", path=str(path))
    if err.errno == errno.ENOSPC:
        return Unusable("store.full", path=str(path))
    return Unusable("destination.unwritable", f"{path}: {err.strerror}", path=str(path))


def read_at(
    folder: int, name: str, path: PurePath | str | None = None, *, limit: int = -1
) -> bytes | None:
    """The bytes of the regular file `name` in a folder handle, at most `limit`; None without it.

    `path` is what a refusal calls it. Raises Refused `destination.link`, `path.not-regular`,
    `path.unreadable`.
    """
    handle = _regular(folder, name, path)
    if handle is None:
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(limit)


def digest_at(folder: int, name: str, path: PurePath | str | None = None) -> str | None:
    """Its digest, read piece by piece; None when it does not exist. Raises as `read_at` does."""
    handle = _regular(folder, name, path)
    if handle is None:
        return None
    with os.fdopen(handle, "rb", buffering=0) as file:
        if os.fstat(handle).st_size > _PIECE:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
        return "sha256:" + hashlib.sha256(file.read()).hexdigest()


def _regular(folder: int, name: str, path: PurePath | str | None = None) -> int | None:
    """A handle on a regular file; None when there is none. Raises as `read_at` does."""
    where = str(path or name)
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as err:
        if err.errno == errno.ELOOP:
            raise Refused("destination.link", f"{where} is a link.", path=where) from err
        if err.errno == errno.ENXIO:
            raise Refused("path.not-regular", f"{where} is no regular file.", path=where) from err
        raise Refused("path.unreadable", f"{where}: {err.strerror}", path=where) from err
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)  # `fdopen` would raise an error of its own for a folder
        raise Refused("path.not-regular", f"{where} is no regular file.", path=where)
    return handle


def find(start: Path) -> Path | None:
    """The nearest folder at or above `start` that holds `.memdesk/`."""
    here = start.absolute()
    for folder in (here, *here.parents):
        if (folder / FOLDER).is_dir():
            return folder
    return None


def named(start: Path | None) -> Path | None:
    """The folder that somebody named: `start`, or `MEMDESK_WORKSPACE`."""
    given = os.environ.get("MEMDESK_WORKSPACE")
    return start or (Path(given) if given else None)


def locate(start: Path | None) -> Path:
    """The workspace's root: the folder named, or the nearest workspace above here.

    Raises Unusable `workspace.not-found`.
    """
    given = named(start)
    if given is not None:
        if not (given / FOLDER).is_dir():
            raise Unusable("workspace.not-found", f"{given} holds no .memdesk/.")
        return given
    found = find(Path.cwd())
    if found is None:
        raise Unusable("workspace.not-found")
    return found


def create(root: Path, workspace_id: str, checkout: str) -> Workspace:
    """Make `.memdesk/` (0700, ignored by git) under `root`; complete or not at all.

    Raises Unusable `workspace.unusable`, `workspace.foreign-owner`, `workspace.tracked`.
    """
    from core import config

    if not root.is_dir():
        raise Unusable("workspace.unusable", f"{root} is no folder.")
    folder = root / FOLDER
    try:
        if not os.path.lexists(folder):
            folder.mkdir(mode=0o700)
        # What a clone brings along may be a link, or hold links: nothing is written through it.
        _check_folder(root)
        folder.chmod(0o700)
        _write(folder / PENDING, b"")
        (folder / "artifacts").mkdir(mode=0o700, exist_ok=True)
        hide(root)
        if not (folder / "config.toml").exists():
            _write(folder / "config.toml", config.DEFAULT_TOML.encode())
        _write_json(folder / "checkout.json", {"schema_version": 1, "checkout": checkout})
        _write_json(folder / "workspace.json", {"schema_version": 1, "workspace": workspace_id})
    except OSError as err:
        raise Unusable("workspace.unusable", f"{folder}: {err.strerror}") from err
    return Workspace(root.resolve(), workspace_id, checkout)


def hide(root: Path) -> None:
    """Keep `.memdesk/` out of git's sight by its own ignore file; one that is there is left."""
    ignore = root / FOLDER / ".gitignore"
    if not os.path.lexists(ignore):
        _write(ignore, b"*\n")


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _write_json(path: Path, value: dict[str, object]) -> None:
    _write(path, orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def open_(root: Path) -> Workspace:
    """The workspace bound to `root`.

    Raises Unusable `workspace.not-found`, `workspace.damaged`, `workspace.foreign-owner`,
    `workspace.tracked`, `schema.newer`.
    """
    _check_folder(root)
    folder = root / FOLDER
    return Workspace(
        root.resolve(),
        _member(folder / "workspace.json", "workspace"),
        _member(folder / "checkout.json", "checkout"),
    )


def _check_folder(root: Path) -> None:
    """Refuse a `.memdesk/` that is a link, another user's, or tracked by git."""
    folder = root / FOLDER
    try:
        info = os.stat(folder, follow_symlinks=False)
    except OSError as err:
        raise Unusable("workspace.not-found", f"{root} holds no .memdesk/.") from err
    if not stat.S_ISDIR(info.st_mode):
        raise Unusable("workspace.damaged", f"{folder} is no folder.")
    if info.st_uid != os.getuid():
        raise Unusable("workspace.foreign-owner", owner=info.st_uid)
    if _tracked(root):
        raise Unusable("workspace.tracked")


def _member(path: Path, key: str) -> str:
    try:
        document = orjson.loads(path.read_bytes())
        version, value = document["schema_version"], document[key]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as err:
        raise Unusable("workspace.damaged", f"{path.name} can't be understood.") from err
    if isinstance(version, int) and version > 1:
        raise Unusable("schema.newer", f"{path.name} has schema_version {version}.")
    if not isinstance(value, str) or len(value) != 32:
        raise Unusable("workspace.damaged", f"{path.name} holds no id.")
    return value


def _tracked(root: Path) -> bool:
    """True when git tracks anything under `.memdesk/` (spec 0.1)."""
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return False
    import subprocess

    try:
        found = subprocess.run(
            ["git", "-C", str(root), "ls-files", "--", FOLDER],
            capture_output=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and bool(found.stdout.strip())


def branch(root: Path) -> str:
    """The branch git has checked out at `root`, read from its HEAD; empty where there is none."""
    for folder in (root, *root.parents):
        git = folder / ".git"
        try:
            if git.is_file():
                git = folder / git.read_text().removeprefix("gitdir:").strip()
            head = (git / "HEAD").read_text().strip()
        except (OSError, UnicodeDecodeError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return ""
