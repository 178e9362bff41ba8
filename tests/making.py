"""Short ways to a candidate, a decision and a preview, by the same calls a person's door makes."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import core.promotion  # noqa: F401  (registers the handlers)
from core.candidates import propose, review
from core.candidates.review import CandidateRef
from core.evidence.import_ import import_paths
from core.ports import Desk
from core.promotion import preview
from schemas.candidates import CandidateKind, CandidateVersion, Verdict
from schemas.common import Page
from schemas.evidence import Event
from schemas.operations import Preview
from tests.conftest import record, write

TEXT = ".aiwg/memory/line-memory.txt"
META = ".aiwg/memory/line-memory.meta.json"
CONFIG = ".aiwg/memory/line-memory.config.json"
LOCK = ".aiwg/memory/line-memory.lock"
JOURNALS = ".aiwg/memory/transactions"

_FILES = itertools.count(1)


def said(desk: Desk, *texts: str, session: str | None = None) -> list[Event]:
    """Owner's messages of one new session, imported."""
    n = next(_FILES)
    name = session or f"S{n}"
    lines = [record(t, f"u{n}-{i}", sessionId=name) for i, t in enumerate(texts)]
    path = write(desk.workspace.root.parent / f"session-{n}.jsonl", *lines)
    import_paths(desk, [path])
    with desk.store.read() as view:
        found, _ = view.evidence.events(Page(limit=1000), session=name)
        whole = [view.evidence.event(e.id) for e in found]
    return [e for e in whole if e is not None]


def pending(
    desk: Desk,
    text: str = "Releases are tagged on Tuesdays.",
    kind: CandidateKind = CandidateKind.PROJECT_FACT,
    key: str | None = None,
) -> CandidateVersion:
    """A pending candidate whose source is an owner's message of these words."""
    (event,) = said(desk, text)
    return propose.propose(desk, text=text, kind=kind, key=key, sources=[event.id])


def ref(version: CandidateVersion) -> CandidateRef:
    """The exact version."""
    return CandidateRef(version.id, version.version)


def accepted(
    desk: Desk, text: str = "Releases are tagged on Tuesdays.", reason: str = "ok"
) -> CandidateVersion:
    """An accepted candidate."""
    return review.decide(desk, ref(pending(desk, text)), Verdict.ACCEPT, reason=reason)


def previewed(desk: Desk, text: str = "Releases are tagged on Tuesdays.") -> Preview:
    """A fresh preview of a newly accepted candidate."""
    return preview.build(desk, ref(accepted(desk, text)), "line-memory")


def files(root: Path) -> dict[str, bytes]:
    """Every file under `.aiwg/` by its path."""
    return {
        str(p.relative_to(root)): p.read_bytes()
        for p in sorted((root / ".aiwg").rglob("*"))
        if p.is_file()
    }


def sha(data: bytes) -> str:
    """A digest by hashlib alone."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
