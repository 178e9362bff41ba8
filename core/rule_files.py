"""Rule files as policy (layer 2, spec 0.8, 4.9): found, read, never written.

What agents are told by a repository: CLAUDE.md, AGENTS.md, GEMINI.md, Cursor's, Copilot's and
Windsurf's files, nested ones, and what those import. Only prose is a rule: what stands in code,
quotes, tables and comments is not. Files are data from a stranger's clone: bounded, no link out.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core import prose
from core.workspace import FOLDER, Workspace
from schemas.errors import MemdeskError, NotFound, Refused

_NAMES = {
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
}
_IN_FOLDERS = (
    (".cursor/rules", ".mdc"),
    (".claude/rules", ".md"),
    (".github/instructions", ".instructions.md"),
    (".windsurf/rules", ".md"),
)
_EXACTLY = (".github/copilot-instructions.md", ".claude/CLAUDE.md")
_DOTTED = {".cursor", ".claude", ".github", ".windsurf"}
_SKIPPED = {".git", FOLDER, ".aiwg", "node_modules", ".venv", "venv", "__pycache__", ".tox"}
_MOST_FOLDERS = 20_000
_MOST_FILES = 500
_MOST_RULES = 2_000
_BYTES = 256 * 1024
"""A longer rule file is no text anybody wrote for an agent to read at each start."""
_IMPORTS = ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md")
_IMPORT = re.compile(r"(?<!\S)@((?:\./|\.\./|[\w.])[^\s`'\"<>|]*)")
_IMPORT_DEPTH = 5
_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)+\1", re.S)
_PIECE = 4_096
_IMPORTED = (".md", ".mdc", ".markdown", ".txt", "")
_MIN, _MAX, _WORDS = 8, 400, 3
_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.S)
_MEMBER = re.compile(r"^(globs|paths|applyTo|alwaysApply|description|trigger)\s*:\s*(.*)$")

PROJECT = "project"
"""Scope of a rule that holds in the whole workspace: that of what people say in it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One statement of a rule file; `part` counts sentences, 0 is a whole list item."""

    line: int
    part: int
    text: str
    inside: bool = False
    """True for a sentence of an item that is a statement as a whole, too."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file by its path inside the workspace, where it holds, and what it states."""

    path: str
    scope: str
    rules: tuple[Rule, ...]

    @property
    def stated(self) -> int:
        """How many rules a person would count."""
        return sum(not r.inside for r in self.rules)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path that looked like one of ours and was not read, and the code that says why."""

    path: str
    code: str


@dataclass(frozen=True, slots=True)
class RuleFiles:
    """Everything found, in a stable order."""

    files: tuple[RuleFile, ...]
    left_out: tuple[LeftOut, ...]


def find(workspace: Workspace) -> RuleFiles:
    """Every rule file of the workspace with its rules; one that can't be read is named."""
    left_out: list[LeftOut] = []
    return _read(workspace, _named(workspace.root, left_out), left_out)


def again(workspace: Workspace, paths: Iterable[str]) -> RuleFiles:
    """The rule files found before, and those at the root; no folder is walked for others."""
    return _read(workspace, at_root(workspace.root) | set(paths), [])


def at_root(root: Path) -> set[str]:
    """Rule files that stand at the root or in its dot-folders, and are there."""
    names = {*_NAMES, *_EXACTLY}
    for folder, _suffix in _IN_FOLDERS:
        for place, _below, files in os.walk(root / folder, followlinks=False):
            paths = (os.path.relpath(os.path.join(place, f), root) for f in files)
            names |= set(itertools.islice(filter(known, paths), _MOST_FILES))
    return {n for n in names if os.path.lexists(root / n)}


def text_of(workspace: Workspace, path: str) -> str | None:
    """The text of a rule file with its line ends made one; None where it can't be read."""
    try:
        return _Reading(workspace, []).text(path)
    except MemdeskError:
        return None


def signature(root: Path, paths: Iterable[str]) -> tuple[tuple[str, int, int, int], ...]:
    """Moves when one of these files, or one at the root, is another or was written to."""
    out = []
    for path in sorted(at_root(root) | set(paths)):
        try:
            info = os.stat(root / path)
        except (OSError, ValueError):
            continue
        out.append((path, info.st_ino, info.st_size, info.st_mtime_ns))
    return tuple(out)


def _read(workspace: Workspace, paths: Iterable[str], left_out: list[LeftOut]) -> RuleFiles:
    reading = _Reading(workspace, left_out)
    for path in sorted(paths):
        imports = _IMPORT_DEPTH if PurePosixPath(path).name in _IMPORTS else 0
        reading.take(path, _scope(path), imports)
    files = sorted(reading.files.values(), key=lambda f: f.path)
    return RuleFiles(tuple(files), tuple(sorted(set(reading.left_out), key=lambda x: x.path)))


def known(name: str) -> bool:
    """True for a path, inside a workspace, that names a rule file."""
    pure = PurePosixPath(name)
    if pure.name in _NAMES or any(_ends(pure, e) for e in _EXACTLY):
        return True
    folders = [f"{'/'.join(pure.parts[:i])}/" for i in range(1, len(pure.parts))]
    return any(
        pure.name.endswith(suffix) and any(f"/{f}".endswith(f"/{folder}/") for f in folders)
        for folder, suffix in _IN_FOLDERS
    )


def _ends(path: PurePosixPath, tail: str) -> bool:
    return f"/{path}".endswith(f"/{tail}")


def _named(root: Path, left_out: list[LeftOut]) -> Iterator[str]:
    """Paths that name rule files, folders of other repositories and of dependencies left alone."""
    folders = files = 0
    for folder, names, here in os.walk(root, followlinks=False):
        folders += 1
        place = os.path.relpath(folder, root)
        if folder != str(root) and (".git" in names or ".git" in here):
            names[:] = []
            continue
        names[:] = sorted(n for n in names if n not in _SKIPPED)
        for name in sorted(here):
            path = name if place == "." else f"{place}/{name}"
            if not known(path):
                continue
            files += 1
            if files > _MOST_FILES or folders > _MOST_FOLDERS:
                left_out.append(LeftOut(".", "rules.too-many"))
                return
            yield path
        if folders > _MOST_FOLDERS:
            left_out.append(LeftOut(".", "rules.too-many"))
            return


def _scope(path: str) -> str:
    """Where a file holds by its place: the folder it stands in, or the one its dot-folder is in."""
    parts = PurePosixPath(path).parts[:-1]
    for n, part in enumerate(parts):
        if part in _DOTTED:
            parts = parts[:n]
            break
    return "/".join((PROJECT, *parts))


class _Reading:
    """Files read so far; one that is imported, or linked to, is read once under its own path."""

    def __init__(self, workspace: Workspace, left_out: list[LeftOut]) -> None:
        self.workspace = workspace
        self.files: dict[str, RuleFile] = {}
        self.depths: dict[str, int] = {}
        self.left_out = left_out

    def take(self, path: str, scope: str, imports: int) -> None:
        """Read a file and what it imports, `imports` files deep.

        Met again it keeps the wider scope, and imports are followed as deep as from either place.
        """
        try:
            real = self._real(path)
            if real in self.files:
                known = self.files[real].scope
                if imports <= self.depths[real] and (scope != PROJECT or known == PROJECT):
                    return
                scope = PROJECT if PROJECT in (scope, known) else known
            text = self.text(real)
        except NotFound:
            return
        except MemdeskError as err:
            self.left_out.append(LeftOut(path, err.code))
            return
        where, body = _front(text, scope)
        body = prose.without_comments(body)
        taken = self._imports(real, body) if imports else set()
        rules = itertools.islice(_rules(body, taken), _MOST_RULES)
        self.files[real], self.depths[real] = RuleFile(real, where, tuple(rules)), imports
        for other in sorted(taken - {real}):
            self.take(other, where, imports - 1)

    def _real(self, path: str) -> str:
        """The path itself, or where a link leads inside the workspace.

        Raises Refused `path.outside-workspace`.
        """
        root = self.workspace.root
        if not os.path.islink(root / path):
            return path
        real = Path(os.path.realpath(root / path))
        if not real.is_relative_to(root) or {".git", FOLDER} & set(real.relative_to(root).parts):
            raise Refused("path.outside-workspace", f"{path} is a link out of the workspace.")
        return real.relative_to(root).as_posix()

    def text(self, path: str) -> str:
        """The text of a file, line ends made one.

        Raises NotFound `path.not-found`; Refused `rules.too-long`, `evidence.binary`.
        """
        data = self.workspace.read(path, limit=_BYTES + 1)
        if data is None:
            raise NotFound("path.not-found", f"{path} does not exist.")
        if len(data) > _BYTES:
            raise Refused("rules.too-long", f"{path} is longer than {_BYTES} bytes.")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as err:
            raise Refused("evidence.binary", f"{path} is no UTF-8 text.") from err
        if "\0" in text:
            raise Refused("evidence.binary", f"{path} holds NUL bytes.")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _imports(self, path: str, body: str) -> set[str]:
        """Files that `@path` words outside code import, as paths inside the workspace."""
        found = set()
        folder = PurePosixPath(path).parent
        for _start, words, _listed in prose.lines(body, _continues):
            for named in _imported(words):
                target = os.path.normpath(folder / named.rstrip(".,;:)"))
                inside = not target.startswith("..") and target != "."
                prosaic = PurePosixPath(target).suffix.lower() in _IMPORTED
                if inside and prosaic and os.path.isfile(self.workspace.root / target):
                    found.add(target)
        return found


def _imported(words: str) -> list[str]:
    """What the `@path` words of a piece name, code spans left out."""
    if "@" not in words:
        return []
    return [m[1] for m in _IMPORT.finditer(_CODE_SPAN.sub(" ", words[:_PIECE]))]


def _continues(_words: str, _line: str, _listed: bool) -> bool:
    """A paragraph goes on to whatever ends it, as Markdown has it."""
    return True


def _front(text: str, scope: str) -> tuple[str, str]:
    """Where a file says it holds, and its body with the front matter blanked out."""
    found = _FRONT.match(text)
    if not found:
        return scope, text
    members: dict[str, str] = {}
    key = ""
    for line in found[1].split("\n"):
        if member := _MEMBER.match(line):
            key = member[1]
            members[key] = member[2].strip(" \"'[]")
        elif key and line.strip().startswith("- "):
            glob = line.strip()[2:].strip(" \"'")
            members[key] = f"{members[key]},{glob}".strip(",")
        elif line.strip() and not line.startswith((" ", "\t")):
            key = ""
    body = "\n" * found[0].count("\n") + text[found.end() :]
    if members.get("alwaysApply") == "true" or members.get("trigger") == "always_on":
        return scope, body
    globs = members.get("globs") or members.get("paths") or members.get("applyTo")
    if globs and globs != "**":
        return f"{scope}:{globs[:200]}", body
    if "alwaysApply" in members or "trigger" in members:
        return f"{scope}:on request", body
    return scope, body


def _rules(body: str, imported: set[str]) -> Iterator[Rule]:
    """Statements of a file's prose: list items, and every sentence, each with its line."""
    line, at = 1, 0
    for start, words, listed in prose.lines(body, _continues):
        line, at = line + body.count("\n", at, start), start
        if prose.heading(words) is not None:
            continue
        if imported and _imported(words):
            continue
        cut = list(prose.sentences(words))
        item = listed and _stands(words)
        if item:
            yield Rule(line, 0, prose.statement(words))
        for n, (a, b) in enumerate(cut if len(cut) > item else (), 1):
            if _stands(words[a:b]):
                yield Rule(line + words.count("\n", 0, a), n, prose.statement(words[a:b]), item)


def _stands(words: str) -> bool:
    """True for words long enough to state something, and short enough to be one statement."""
    text = prose.statement(words)
    enough = len(text.split()) >= _WORDS or not text.isascii()
    return _MIN <= len(text) <= _MAX and enough and not text.endswith(":")
