"""Taking an existing repository in: what is there, what of it is offered, importing it (spec 4.9).

Finding imports nothing. Evidence is imported whole, session by session; whose words may become
candidates is what the answer narrows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core import config
from core.candidates import rules
from core.candidates.extract import extract
from core.candidates.lanes import IN_RULES
from core.evidence import places, sessions
from core.evidence.import_ import import_paths
from core.evidence.sessions import Session
from core.ports import Desk, Reader
from core.promotion.consumers import line_memory_files
from schemas.candidates import ExtractReport
from schemas.evidence import Author, ImportReport
from schemas.onboarding import Discovery, NotRead, StoredSessions
from schemas.storage import CandidateFilter

WINDOW_DAYS = 14
_DAY = 86_400_000_000
OWNER_ONLY = (Author.OWNER.value,)


@dataclass(frozen=True, slots=True)
class Offer:
    """What was found, and the sessions behind its counts."""

    found: Discovery
    sessions: tuple[Session, ...]
    since: int

    def chosen(self, *, everything: bool) -> list[Session]:
        """Every session, or those with an event inside the window."""
        return [s for s in self.sessions if everything or recent(s, self.since)]


def recent(session: Session, since: int) -> bool:
    """True when the newest event of a session is not older."""
    return session.newest is not None and session.newest >= since


def discover(desk: Desk, *, created: bool) -> Offer:
    """What is there to begin with; the rule files' marks follow, nothing is imported."""
    desk = config.current(desk)
    root, since = desk.workspace.root, desk.clock() - WINDOW_DAYS * _DAY
    found = sessions.find(root, desk.policy.evidence.roots)
    read = rules.follow(desk).read
    own = line_memory_files.Settings()
    memory = [p for p in (own.path, own.metadata) if os.path.isfile(root / p)]
    folders = dict.fromkeys(_shown(s.path.parent) for s in found.sessions)
    with desk.store.read() as view:
        stored = _stored(desk, view, found.sessions, since)
        ruled = _ruled(view)
    document = Discovery(
        workspace=desk.workspace.id,
        root=_shown(root),
        created=created,
        aiwg=os.path.isdir(root / ".aiwg"),
        session_folders=tuple(folders),
        sessions=len(found.sessions),
        recent=sum(s.recent for s in stored),
        window_days=WINDOW_DAYS,
        stored=tuple(stored),
        left_out=dict(sorted(found.left_out.items())),
        rule_files=tuple(places.readable(f.path, desk) for f in read.files),
        rules={places.readable(f.path, desk): f.stated for f in read.files},
        rules_not_read=tuple(
            NotRead(path=places.readable(x.path, desk), code=x.code) for x in read.left_out
        ),
        memory_files=tuple(memory),
        ruled=ruled,
    )
    return Offer(document, tuple(found.sessions), since)


def _shown(path: Path) -> str:
    """A path as text: bytes that are no UTF-8 replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _stored(desk: Desk, view: Reader, found: Sequence[Session], since: int) -> list[StoredSessions]:
    by_agent: dict[str, list[Session]] = {}
    for session in found:
        by_agent.setdefault(session.agent, []).append(session)
    return [
        StoredSessions(
            agent=agent,
            sessions=len(mine),
            files=sum(len(s.files) for s in mine),
            bytes=sum(s.size for s in mine),
            newest=max((s.newest for s in mine if s.newest is not None), default=None),
            recent=sum(recent(s, since) for s in mine),
            undated=sum(s.newest is None for s in mine),
            known=sum(all(_known(desk, view, p) for p in s.files) for s in mine),
        )
        for agent, mine in sorted(by_agent.items())
    ]


def _known(desk: Desk, view: Reader, path: Path) -> bool:
    """True for a file that is imported to where it ends now."""
    stored = view.evidence.file_by_path(places.stored_path(desk, path))
    return stored is not None and stored.size == places.size_of([path])


def _ruled(view: Reader) -> int:
    return view.candidates.count(CandidateFilter(lanes=IN_RULES))


@dataclass(frozen=True, slots=True)
class Taken:
    """What an answer brought in; importing again brings the same and nothing twice."""

    imported: ImportReport
    extracted: ExtractReport
    ruled: int


def take(
    desk: Desk,
    offer: Offer,
    *,
    everything: bool,
    importing: Callable[[str, int, int], None],
    reading: Callable[[int], None],
) -> Taken:
    """Import the sessions of an offer, whole, and propose from them.

    `everything` takes every session and everyone the policy reads; else those of the window, and
    only the owner's words become candidates. Interrupted it leaves what was committed, and the
    next call goes on from there.
    """
    desk = config.current(desk)
    paths = [p for s in offer.chosen(everything=everything) for p in s.files]
    imported = import_paths(desk, paths, progress=importing, searched=True)
    extracted = extract(
        desk,
        files=[f.id for f in imported.files],
        authors=None if everything else OWNER_ONLY,
        progress=reading,
    )
    with desk.store.read() as view:
        return Taken(imported, extracted, _ruled(view))
