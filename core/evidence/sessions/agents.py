"""Where each agent keeps its sessions, and how it says whose they are."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

from core.config import EvidenceTable
from core.evidence import places
from core.evidence.exports import tree_session
from core.evidence.exports.packed import unpacked
from core.evidence.readers import detect, named, sampled
from core.evidence.sessions import found as why
from core.evidence.sessions.found import FAILS, Found
from core.evidence.sessions.looking import HEADS, look, read
from core.evidence.sessions.project import Project, slug
from schemas.errors import MemdeskError

_PROBED = 3
_HASH = re.compile(rb'"projectHash"\s*:\s*"([0-9a-f]{64})"')
_PROSE = ("markdown", "text")
_FILE_BYTES = 1 << 24
CLAUDE = "claude-code"


def _home(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


def _claude(project: Project, found: Found) -> None:
    """Claude Code: `projects/<a name made of the folder>/<session>.jsonl`.

    Every folder whose name may mean the project is looked through; of any other one session is
    asked, since the project may have been reached by another path.
    """
    slugs = project.slugs()
    for entry in found.entries(_home("CLAUDE_CONFIG_DIR", ".claude") / "projects"):
        if not entry.is_dir(follow_symlinks=False):
            continue
        name, folder = slug(entry.name), Path(entry.path)
        if any(name == s or name.startswith(f"{s}-") for s in slugs) or _probe(folder, project):
            _claude_folder(folder, project, found)


def _probe(folder: Path, project: Project) -> bool:
    """Whether one of a folder's first sessions names the project."""
    names = [e.path for e in Found().entries(folder) if e.name.endswith(".jsonl")]
    for path in names[:_PROBED]:
        with contextlib.suppress(*FAILS), places.open_evidence(Path(path)) as file:
            end = min(os.fstat(file.fileno()).st_size, HEADS[0])
            scope, _ = read(file, named(CLAUDE), 0, end, until_scope=True)
            if scope is not None:
                return project.owns(scope)
    return False


def _claude_folder(folder: Path, project: Project, found: Found) -> None:
    """Conversations with what their sub-agents left in a folder of the same name."""
    below: dict[str, list[Path]] = {}
    sessions: list[Path] = []
    for entry in found.entries(folder):
        if entry.is_dir(follow_symlinks=False):
            below[entry.name] = found.files(Path(entry.path), ".jsonl")
        elif entry.name.endswith(".jsonl"):
            sessions.append(Path(entry.path))
    for path in sessions:
        _claude_session(path, below.pop(path.stem, []), project, found)
    for files in below.values():  # the conversation was cleaned up, what its agents did was not
        for path in files:
            _claude_session(path, [], project, found)


def _claude_session(path: Path, beside: list[Path], project: Project, found: Found) -> None:
    seen = found.looked(path, named(CLAUDE))
    if seen is None:
        return
    if seen.scope is None or not project.owns(seen.scope):
        found.leave(why.NOWHERE if seen.scope is None else why.ELSEWHERE)
        return
    times = [seen.newest, *(s.newest for p in beside if (s := found.looked(p, named(CLAUDE))))]
    newest = max((t for t in times if t is not None), default=None)
    by_agent = path.name.startswith("agent-")
    found.add("Claude Code, sub-agents" if by_agent else "Claude Code", path, newest, beside)


def _codex(project: Project, found: Found) -> None:
    """Codex: rollouts by date, archived ones beside them; each names its folder at its start."""
    home = _home("CODEX_HOME", ".codex")
    for base in (home / "sessions", home / "archived_sessions"):
        _by_scope("Codex", base, "codex", project, found)
        for path in found.files(base, ".jsonl.zst"):
            # For a moment the plain file stands beside its compressed one.
            if not os.path.lexists(path.with_suffix("")):
                try:
                    _packed_rollout(path, project, found)
                except FAILS as err:
                    found.failed(err)


def _packed_rollout(path: Path, project: Project, found: Found) -> None:
    """An idle rollout: its beginning says whose it is, and only the project's is unpacked whole."""
    limit = EvidenceTable().unpacked_bytes
    with places.open_evidence(path) as file:
        with unpacked(file, limit, first=HEADS[1]) as head:
            scope = look(head, named("codex")).scope
        if scope is None or not project.owns(scope):
            return
        file.seek(0)
        with unpacked(file, limit) as whole:
            found.add("Codex", path, look(whole, named("codex")).newest)


def _copilot(project: Project, found: Found) -> None:
    """Copilot CLI: a folder a session, whose first event names where it ran."""
    base = _home("COPILOT_HOME", ".copilot") / "session-state"
    _by_scope("Copilot CLI", base, "copilot", project, found)


def _by_scope(agent: str, base: Path, format_: str, project: Project, found: Found) -> None:
    """A store that holds every project's sessions: those that name this one are taken."""
    for path in found.files(base, ".jsonl"):
        seen = found.looked(path, named(format_))
        if seen is not None and seen.scope is not None and project.owns(seen.scope):
            found.add(agent, path, seen.newest)


def _gemini(project: Project, found: Found) -> None:
    """Gemini CLI: folders named by a hash or a short name, chats that hold the path's hash."""
    hashes = project.hashes()
    for entry in found.entries(Path.home() / ".gemini" / "tmp"):
        if not entry.is_dir(follow_symlinks=False):
            continue
        chats = Path(entry.path) / "chats"
        mine = entry.name in hashes or _marked(Path(entry.path), project)
        for path in [*found.files(chats, ".json"), *found.files(chats, ".jsonl")]:
            try:
                _gemini_chat(path, mine, hashes, found)
            except FAILS as err:
                found.failed(err)


def _marked(folder: Path, project: Project) -> bool:
    """Whether a folder's own note says that it stands for the project."""
    with contextlib.suppress(*FAILS), places.open_evidence(folder / ".project_root") as file:
        return file.read(4_096).decode().strip() in {str(r) for r in project.roots}
    return False


def _gemini_chat(path: Path, mine: bool, hashes: set[str], found: Found) -> None:
    """A chat states whose it is; where it does not, its folder does."""
    with places.open_evidence(path) as file:
        head = os.pread(file.fileno(), 4_096, 0).partition(b'"messages"')[0]
        stated = _HASH.search(head)
        if stated is None and not mine:
            return
        if stated is None or stated[1].decode() in hashes:
            found.add("Gemini CLI", path, look(file, detect(sampled(file, path.name))).newest)


def _opencode(project: Project, found: Found) -> None:
    """OpenCode: a tree of small files, of which each session's names its folder.

    Its database holds all projects' sessions, and an import takes a file whole; it is only named.
    """
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "opencode"
    if os.path.isfile(home / "opencode.db"):
        found.leave(why.DATABASES)
    for path in found.files(home / "storage" / "session", ".json", depth=2):
        try:
            opened = tree_session(path, _FILE_BYTES, project.owns)
            if opened is not None:
                with opened:
                    found.add("OpenCode", path, look(opened, named("opencode")).newest)
        except FAILS as err:
            found.failed(err)


def _aider(project: Project, found: Found) -> None:
    """Aider: one growing file in the repository itself, without times that say their zone."""
    path = project.root / ".aider.chat.history.md"
    if os.path.islink(path):
        found.leave(why.LINKS)
    elif os.path.isfile(path) and (seen := found.looked(path, named("aider"))) is not None:
        found.add("Aider", path, seen.newest)


STORES: tuple[Callable[[Project, Found], None], ...] = (
    _claude,
    _codex,
    _gemini,
    _copilot,
    _opencode,
    _aider,
)
"""Every agent whose sessions are looked for."""


def listed(project: Project, root: Path, found: Found) -> None:
    """Files under a folder of the configuration that some reader takes for a session."""
    if not os.path.isdir(root):
        found.leave(why.MISSING)
        return
    try:
        met = places.gather([root])
    except MemdeskError as err:
        found.failed(err)
        return
    if met.links:
        found.leave(why.LINKS, len(met.links))
    for path in met.files:
        with contextlib.suppress(*FAILS), places.open_evidence(path) as file:
            format_ = detect(sampled(file, path.name))
            if format_.name in _PROSE:
                continue
            seen = look(file, format_)
            if seen.scope is None or project.owns(seen.scope):
                found.add("other roots", path, seen.newest)
            else:
                found.leave(why.ELSEWHERE)
