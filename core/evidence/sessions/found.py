"""What a search for sessions found, and walking the folders it looks in without following a link."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.evidence import places
from core.evidence.readers.base import Format
from core.evidence.sessions.looking import Look, look
from schemas.errors import MemdeskError

LINKS, UNREADABLE, ELSEWHERE = "links", "unreadable", "of other folders"
NOWHERE = "naming no folder"
MISSING, DATABASES = "roots that are not there", "databases of many projects"
"""Why something was left alone, as people read it."""
FAILS = (MemdeskError, OSError, ValueError, RecursionError)
"""All that a file of a stranger can make of reading it."""
_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Session:
    """A stored conversation: its file, what lies beside it, bytes of all, newest event's time."""

    agent: str
    path: Path
    beside: tuple[Path, ...]
    size: int
    newest: int | None
    """Microseconds since the epoch, UTC; None where no record states a usable time."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All that is imported of it."""
        return (self.path, *self.beside)


@dataclass(slots=True)
class Found:
    """Sessions of a project, and what was met and left alone, counted by its cause."""

    sessions: list[Session] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave(self, cause: str, count: int = 1) -> None:
        """Count something that was left alone."""
        self.left_out[cause] = self.left_out.get(cause, 0) + count

    def failed(self, err: Exception) -> None:
        """Count a file that could not be read."""
        link = isinstance(err, MemdeskError) and err.code == "path.link"
        self.leave(LINKS if link else UNREADABLE)

    def add(self, agent: str, path: Path, newest: int | None, beside: Sequence[Path] = ()) -> None:
        """Take a session."""
        size = places.size_of([path, *beside])
        self.sessions.append(Session(agent, path, tuple(beside), size, newest))

    def looked(self, path: Path, format_: Format) -> Look | None:
        """What a file says of itself; None, counted, where it can't be read."""
        try:
            with places.open_evidence(path) as file:
                return look(file, format_)
        except FAILS as err:
            self.failed(err)
            return None

    def entries(self, folder: Path) -> Iterator[os.DirEntry[str]]:
        """What is in a folder, links left out; nothing where there is no folder."""
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda e: e.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            self.leave(UNREADABLE)
            return
        for entry in entries:
            if entry.is_symlink():
                self.leave(LINKS)
            else:
                yield entry

    def files(self, folder: Path, suffix: str, depth: int = _DEPTH) -> list[Path]:
        """Regular files below a folder whose names end so, in a stable order."""
        out = []
        for entry in self.entries(folder):
            if entry.is_dir(follow_symlinks=False):
                out += self.files(Path(entry.path), suffix, depth - 1) if depth else []
            elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                out.append(Path(entry.path))
        return out
