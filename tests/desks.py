"""A workspace that has been through every stage: imported, proposed, decided, promoted."""

from __future__ import annotations

from pathlib import Path

import core.promotion  # noqa: F401  (registers the handlers)
from core.candidates import propose, review
from core.candidates.review import CandidateRef
from core.evidence.import_ import import_paths
from core.operations import confirm
from core.ports import Desk
from core.promotion import preview
from schemas.candidates import CandidateKind, CandidateVersion, Verdict
from schemas.common import Page
from schemas.evidence import Event
from schemas.operations import Receipt
from tests.conftest import record, write


def events(desk: Desk, **wanted: str) -> list[Event]:
    """All stored events in file order."""
    with desk.store.read() as view:
        return view.evidence.events(Page(limit=10_000), **wanted)[0]


def rebuilt(desk: Desk, file: str) -> bytes:
    """A file's bytes from its records alone."""
    with desk.store.read() as view:
        return b"".join(view.evidence.rebuild(file))


def proposed(desk: Desk, text: str, source: str) -> CandidateVersion:
    """A pending version that quotes an event."""
    return propose.propose(
        desk, text=text, kind=CandidateKind.PROJECT_FACT, key=None, sources=[source]
    )


def promoted(desk: Desk, version: CandidateVersion) -> Receipt:
    """Accept a version and promote it into line memory."""
    ref = CandidateRef(version.id, version.version)
    review.decide(desk, ref, Verdict.ACCEPT, reason="seen")
    shown = preview.build(desk, ref, "line-memory")
    return confirm.confirm(desk, shown.operation_id)


def lived_in(desk: Desk, folder: Path) -> Receipt:
    """Fill a desk: two sessions, a document, a rejected and a promoted candidate."""
    one = [record(f"We deploy on day {n}.", f"a{n}") for n in range(6)]
    two = [record(f"Tests run with make check {n}.", f"b{n}", sessionId="T") for n in range(3)]
    paths = [
        write(folder / "one.jsonl", *one),
        write(folder / "two.jsonl", *two, b"not json\n"),
        write(folder / "notes.md", b"# Notes\r\n\r\nUse tabs.\r\n\r\n# More\n\nNo tabs."),
    ]
    import_paths(desk, paths)
    said = [e for e in events(desk) if e.author == "owner"]
    rejected = proposed(desk, "We deploy on day 0.", said[0].id)
    review.decide(desk, CandidateRef(rejected.id, 1), Verdict.REJECT, reason="no")
    proposed(desk, "We deploy on day 2.", said[2].id)
    return promoted(desk, proposed(desk, "We deploy on day 1.", said[1].id))
