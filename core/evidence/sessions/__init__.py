"""Sessions that agents stored on this machine, and which of them belong to a project (spec 4.9).

A folder's name never decides: Claude Code's is lossy, others' are hashes. What decides is the
folder that the records themselves name. No link is followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.evidence.sessions import agents
from core.evidence.sessions.found import Found, Session
from core.evidence.sessions.project import Project

__all__ = ["Found", "Session", "find"]


def find(root: Path, roots: Sequence[str] = ()) -> Found:
    """Every session that belongs to the project at `root`, in a stable order.

    `roots` are further folders of the configuration, relative to `root` or under `~`. A session
    there that names no folder belongs to the project too, since its operator listed it.
    """
    found, project = Found(), Project(root)
    for look_in in agents.STORES:
        look_in(project, found)
    for given in roots:
        agents.listed(project, root / Path(given).expanduser(), found)
    once: dict[Path, Session] = {}
    for session in found.sessions:
        once.setdefault(session.path, session)
    found.sessions = sorted(once.values(), key=lambda s: (s.agent, str(s.path)))
    return found
