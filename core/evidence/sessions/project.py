"""Which folders are one project: its root, and the checkouts of its repository (spec 4.9)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from pathlib import Path

_NAME = re.compile(r"[^A-Za-z0-9]")
_SLUG = 200
"""Claude Code cuts longer folder names and adds a hash."""


class Project:
    """The folders that are one project: its root, and the checkouts of it that git lists."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.roots = [self.root, *_worktrees(self.root)]
        self._known: dict[str, bool] = {}

    def owns(self, folder: str) -> bool:
        """True for a folder inside the project that belongs to no other repository in it."""
        if folder not in self._known:
            self._known[folder] = self._owns(folder)
        return self._known[folder]

    def _owns(self, folder: str) -> bool:
        if not os.path.isabs(folder) or "\0" in folder:
            return False
        path = Path(os.path.realpath(folder))
        for root in self.roots:
            if path == root or root in path.parents:
                inner = [p for p in (path, *path.parents) if root in p.parents]
                return not any(self._other(p) for p in inner)
        return False

    def _other(self, folder: Path) -> bool:
        """True for the root of another repository or workspace; a checkout of this one is none."""
        if os.path.isdir(folder / ".memdesk"):
            return True
        return os.path.exists(folder / ".git") and folder not in self.roots

    def slugs(self) -> list[str]:
        """How Claude Code may have named the folders of the project's sessions begin."""
        return [slug(str(root))[:_SLUG] for root in self.roots]

    def hashes(self) -> set[str]:
        """How Gemini CLI names the project."""
        return {hashlib.sha256(os.fsencode(root)).hexdigest() for root in self.roots}


def slug(path: str) -> str:
    """A path or folder name with all but letters and digits as `-`, as every version has it."""
    return _NAME.sub("-", path)


def _worktrees(root: Path) -> list[Path]:
    """Other checkouts of the repository at `root` that are no workspaces of their own."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        for entry in sorted((root / ".git" / "worktrees").iterdir()):
            with contextlib.suppress(OSError, ValueError):
                place = Path(_line(entry / "gitdir")).parent
                if _names(place, entry) and not os.path.isdir(place / ".memdesk"):
                    found.append(Path(os.path.realpath(place)))
    return found


def _names(place: Path, entry: Path) -> bool:
    """True for a checkout that names this repository, too: one side alone can name anybody's."""
    back = _line(place / ".git").removeprefix("gitdir:").strip()
    return place.is_absolute() and os.path.realpath(back) == os.path.realpath(entry)


def _line(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(8_192).decode().strip()
