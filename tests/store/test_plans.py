"""SQLite answers the queries that grow with the store from an index, never by walking a table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.ports import Desk, Reader
from schemas.storage import CandidateFilter, StoredFile

ID = "ev_" + "0" * 32
FILE = StoredFile(7, "file_" + "0" * 32, "a", "text", "", "", 0, 0, 0, 1, b"", "", 0)
WHOLE_TABLE = re.compile(r"SCAN (?!wanted\b)|PRIMARY KEY \(ws=\?\)|INDEX \w+ \(ws=\?\)")
QUERIES: dict[str, Callable[[Reader], object]] = {
    "twins": lambda v: v.evidence.twins([1, 2]),
    "last record": lambda v: v.evidence.last_record(FILE),
    "event": lambda v: v.evidence.event(ID),
    "file by path": lambda v: v.evidence.file_by_path("a"),
    "files by head": lambda v: v.evidence.files_by_head("a"),
    "a conversation onward": lambda v: v.evidence.turns(["S"], (1, 5), 64),
    "a conversation back": lambda v: v.evidence.turns(["S", "S/a"], (1, 5), 64, back=True),
    "texts to search": lambda v: v.evidence.texts(["S"], None, 64),
    "spot": lambda v: v.evidence.spot(ID),
    "session": lambda v: v.evidence.session("S"),
    "citing": lambda v: v.candidates.citing(ID, 100),
    "window": lambda v: v.candidates.window(CandidateFilter(), 1, 128),
    "row": lambda v: v.candidates.row("cand_" + "0" * 32),
    "version": lambda v: v.candidates.version("cand_" + "0" * 32),
    "same claim": lambda v: v.claims.same(b"", "", 20),
    "same key": lambda v: v.claims.same_key("k", "project", "", 20),
    "near claims": lambda v: v.claims.near(b"", "", 20),
    "likeness": lambda v: v.claims.likeness([b"", b"1"]),
    "sharing a band": lambda v: v.claims.sharing([1, 2, 3], b"", 20),
    "claims of rules": lambda v: v.claims.rules(),
    "claims a rule makes": lambda v: v.claims.ruled([b"", b"1"], "project"),
    "lanes": lambda v: v.candidates.count(CandidateFilter(lanes=(5, 6))),
    "due": lambda v: v.candidates.due(5, 20),
    "next due": lambda v: v.candidates.next_due(5),
    "operation": lambda v: v.operations.operation("op_" + "0" * 32),
    "receipt": lambda v: v.operations.receipt("op_" + "0" * 32),
    "open operations": lambda v: v.operations.open_of("cand_x@1"),
    "operations of a subject": lambda v: v.operations.newest_of("notes.md", 20),
    "revoked": lambda v: v.evidence.revoked("file_" + "0" * 32),
    "files of events": lambda v: v.evidence.files_of([ID]),
    "operations from a place": lambda v: v.operations.window("", (5, "op_"), 20),
    "receipts from a place": lambda v: v.operations.receipt_window("", 5, 20),
    "held from a place": lambda v: v.promotion.window("", (5, "bel_", "wiki"), 20),
    "prepared": lambda v: v.operations.prepared("checkout"),
    "cut sessions": lambda v: v.compaction.cut_sessions("", 20),
    "marks": lambda v: v.compaction.marks("S"),
    "a session's events": lambda v: v.evidence.walk("S", after=(-1, -1), limit=20),
}


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """Every statement SQLite runs meanwhile, as it tells them itself, parameters filled in."""
    found: list[str] = []

    def traced(connection: sqlite3.Connection, *_rest: object) -> None:
        connection.set_trace_callback(found.append)

    sa.event.listen(sa.Pool, "checkout", traced)
    yield found
    sa.event.remove(sa.Pool, "checkout", traced)


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_query_is_answered_from_a_sharp_index(
    sqlite_desk: Desk, statements: list[str], name: str
) -> None:
    """The plan, asked of plain SQLite, holds no walk over the rows of a workspace."""
    statements.clear()
    with sqlite_desk.store.read() as view:
        QUERIES[name](view)
    database = Path(sqlite_desk.workspace.folder) / "memdesk.db"
    plans = []
    with closing(sqlite3.connect(database)) as plain:
        for sql in statements:
            if sql.startswith("SELECT"):
                plans += [row[3] for row in plain.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert plans
    assert not [p for p in plans if WHOLE_TABLE.search(p)]


def test_a_new_store_carries_the_planners_fixed_statistics(sqlite_desk: Desk) -> None:
    """They are in the file itself, so every program that opens it gets the same plans."""
    query = "EXPLAIN QUERY PLAN SELECT id FROM event WHERE ws = 1 AND twin = 5"
    database = Path(sqlite_desk.workspace.folder) / "memdesk.db"
    with closing(sqlite3.connect(database)) as plain:
        assert "event_twin" in plain.execute(query).fetchone()[3]
        assert plain.execute("SELECT count(*) FROM sqlite_stat1").fetchone()[0] > 30
