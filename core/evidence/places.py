"""Where evidence comes from: walking folders, opening without following links, inert paths (0.9)."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from core.identity import keyed
from core.ports import Desk
from core.screening import secret_spans
from schemas.errors import NotFound, Refused

_SUFFIXES = (".jsonl", ".jsonl.zst", ".md", ".markdown", ".txt")
_MAYBE = (".json", ".traj", ".db", ".sqlite", ".sqlite3")
"""Taken by a folder walk too, and only noted as skipped where they are no evidence."""
_PACKED = ".zst"
_ENDING = 9
_SKIPPED = (".git", ".memdesk", "node_modules", ".venv")

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(slots=True)
class Met:
    """What the paths of one import lead to: files to read, and what a folder walk left alone."""

    files: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    """Files that no evidence is kept in, by the ending of their names."""


def gather(paths: Iterable[Path]) -> Met:
    """Every file the paths name or hold, in a stable order; links are met and not followed.

    Raises NotFound `path.not-found`, Refused `path.link` for a path that is one itself.
    """
    met = Met()
    for path in paths:
        try:
            info = os.stat(path, follow_symlinks=False)
        except OSError as err:
            raise NotFound("path.not-found", f"{path}: {err.strerror}", path=str(path)) from err
        if stat.S_ISLNK(info.st_mode):
            raise Refused("path.link", f"{path} is a link.", path=str(path))
        if stat.S_ISDIR(info.st_mode):
            _walk(path, met)
        else:
            met.files.append(path)
    return met


def _walk(top: Path, met: Met) -> None:
    for folder, names, files in os.walk(top, followlinks=False):
        # Beside sessions, these hold the pieces that each session's stream is made of.
        pieces = ("message", "part") if {"session", "message"} <= {*names} else ()
        names[:] = sorted(n for n in names if n not in (*_SKIPPED, *pieces))
        met.links += [Path(folder, n) for n in names if os.path.islink(os.path.join(folder, n))]
        for name in sorted(files):
            path = Path(folder, name)
            if path.is_symlink():
                met.links.append(path)
            elif name.lower().endswith(_SUFFIXES + _MAYBE):
                met.files.append(path)
            else:
                met.others[_ending(name)] += 1


def _ending(name: str) -> str:
    """The ending of a name if it is a common kind of one; empty else, so that no name leaks."""
    ending = os.path.splitext(name)[1].lower()
    return ending if ending.isascii() and ending[1:].isalnum() and len(ending) <= _ENDING else ""


def only_maybe(path: Path) -> bool:
    """True for a file whose name says too little to call it evidence."""
    return path.name.lower().endswith(_MAYBE)


@contextlib.contextmanager
def open_evidence(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Raises Refused `path.link`, `path.not-regular`, `path.unreadable`;
    NotFound `path.not-found`.
    """
    try:
        handle = os.open(path, _OPEN)
    except OSError as err:
        if err.errno == errno.ELOOP:
            raise Refused("path.link", f"{path} is a link.") from err
        if err.errno == errno.ENOENT:
            raise NotFound("path.not-found", f"{path} does not exist.") from err
        if err.errno == errno.ENXIO:
            raise Refused("path.not-regular", f"{path} is no regular file.") from err
        raise Refused("path.unreadable", f"{path}: {err.strerror}") from err
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Refused("path.not-regular", f"{path} is no regular file.")
    with os.fdopen(handle, "rb") as file:
        yield file


def stored_path(desk: Desk, path: Path) -> str:
    """The inert form of a path: workspace-relative, or an opaque folder with the file's name."""
    absolute = Path(os.path.abspath(path))
    real = absolute.parent.resolve() / absolute.name
    try:
        return readable(real.relative_to(desk.workspace.root).as_posix(), desk)
    except ValueError:
        folder = keyed(desk.secret, b"folder", os.fsencode(real.parent)).hex()[:12]
        return f"outside:{folder}/{readable(real.name, desk)}"


def session_name(desk: Desk, path: Path) -> str:
    """The session of a file that names none: its own name as inert text.

    Where every event of a conversation is a file, that of the conversation's folder.
    """
    event = path.name.startswith("event-") and path.parent.name == "events"
    return readable(path.parent.parent.name if event else path.with_name(bare(path)).stem, desk)


def bare(path: Path) -> str:
    """A file's name without the ending that compression added."""
    return path.stem if path.suffix.lower() == _PACKED else path.name


def readable(name: str, desk: Desk) -> str:
    """A name as text: undecodable bytes replaced, secret-like parts by an opaque id."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if text != name or secret_spans(text):
        return "name:" + keyed(desk.secret, b"name", os.fsencode(name)).hex()[:16]
    return text


def size_of(paths: Sequence[Path]) -> int:
    """Bytes of some files together, as far as they can be looked at."""
    total = 0
    for path in paths:
        with contextlib.suppress(OSError):
            total += os.stat(path, follow_symlinks=False).st_size
    return total
