"""Workspaces with many pending candidates, made fast and honestly.

Events come by a real import, the first version through the product's own screening; the other
versions are that contract with other words, keys and sources, inserted in bulk through the
product's tables. What is left out: their ledger entries (`memdesk verify` would say so).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from core import alike, claims
from core import desk as desks
from core.candidates import propose
from core.candidates.lanes import lane_of
from core.evidence.import_ import import_paths
from core.identity import digest, keyed_id
from core.ports import Desk
from schemas.candidates import CandidateKind, CandidateVersion
from schemas.common import Actor, Door, Page
from schemas.evidence import Event
from store.engine import Database
from store.tables import CANDIDATE, CANDIDATE_VERSION, CLAIM, CLAIM_BAND

FIRST = "First of all run the linter"
"""How the first row begins; painted as soon as rows are."""
_MESSAGES = 400
_CHUNK = 5_000


def open_desk(root: Path) -> Desk:
    """The desk in `root`, made when there is none."""
    root.mkdir(parents=True, exist_ok=True)
    desk, _new = desks.init(root, Actor(reviewer="Bench <bench@example.org>", door=Door.COMMAND))
    return desk


def words(n: int) -> str:
    start = FIRST if n == 0 else f"Always run check {n} of the build"
    return f"{start} before pushing to the release branch, and keep its log for {n % 90} days."


def make(root: Path, count: int) -> Path:
    """A workspace with `count` pending candidates."""
    desk = open_desk(root)
    if count:
        import_paths(desk, [_session(root)])
        with desk.store.read() as view:
            events, _ = view.evidence.events(Page(limit=_MESSAGES))
        database = Database(desk.workspace.store_url)
        rows = _rows(desk, count, events)
        while part := list(islice(rows, _CHUNK)):
            with database.write(durable=False) as connection:
                for place, table in enumerate((CANDIDATE, CANDIDATE_VERSION, CLAIM)):
                    marks = ", ".join("?" * len(table.columns))
                    names = ", ".join(c.name for c in table.columns)
                    statement = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"
                    connection.exec_driver_sql(statement, [r[place] for r in part])
                bands = sorted({(1, b, r[2][2]) for r in part for b in r[3]})
                statement = f"INSERT OR IGNORE INTO {CLAIM_BAND.name} VALUES (?, ?, ?)"
                connection.exec_driver_sql(statement, bands)
        database.close()
    desk.store.close()
    return root


def _session(root: Path) -> Path:
    path, session, parent = root / "session.jsonl", str(uuid.UUID(int=1)), None
    with path.open("w") as out:
        for n in range(_MESSAGES):
            own = str(uuid.UUID(int=n + 2))
            record = {
                "type": "user",
                "uuid": own,
                "parentUuid": parent,
                "sessionId": session,
                "timestamp": "2026-01-02T03:04:05.000Z",
                "cwd": "/p",
                "message": {"role": "user", "content": words(n)},
            }
            out.write(json.dumps(record) + "\n")
            parent = own
    return path


def _rows(desk: Desk, count: int, events: list[Event]) -> Iterator[tuple[tuple[object, ...], ...]]:
    first = _first(desk, events[0])
    for n in range(count):
        text, event = words(n), events[n % len(events)]
        key = f"build.check.{n - n % 2 if n % 20 < 2 else n}"
        id_ = keyed_id("cand", desk.secret, str(n).encode())
        source = first.sources[0].model_copy(
            update={
                "locator": f"{event.id}#b0-{len(event.text.encode())}",
                "event": event.id,
                "end": len(event.text.encode()),
                "digest": digest(event.text.encode()),
                "quote": event.text,
                "line": event.line,
            }
        )
        changes = {"id": id_, "statement": text, "key": key, "sources": (source,)}
        version = first.model_copy(update=changes)
        version = version.model_copy(update={"digest": propose.version_digest(version)})
        yield _row(desk, n + 1, version)


def _first(desk: Desk, event: Event) -> CandidateVersion:
    from core.evidence.lookup import source_of

    proposal = propose.Proposal(
        statement=words(0),
        kind=CandidateKind.OPERATING_RULE,
        key="build.check",
        scope="project",
        sources=(source_of(event, None),),
        method=propose.EXPLICIT,
        author="owner",
    )
    return propose.version_of(desk, keyed_id("cand", desk.secret, b"first"), 1, proposal)


def _row(desk: Desk, number: int, v: CandidateVersion) -> tuple[tuple[object, ...], ...]:
    """The rows of one candidate in column order: list row, exact version, claim, its bands."""
    claim, state = claims.claim_of(desk, v.statement), v.state.value
    document = v.model_dump_json().encode()
    lane = lane_of(v.method, v.author, conflict=number % 20 in (1, 2))
    return (
        (1, number, v.id, 1, state, v.kind.value, v.key, v.scope, v.statement, claim, v.author,
         v.sources[0].session, v.method, "", "", (lane << 40) + number, v.created, number, None),
        (1, number, 1, state, document, v.digest, v.created),
        (1, v.id, claim, v.key, v.scope, "candidate", v.statement),
        alike.bands(desk.secret, v.statement),
    )  # fmt: skip
