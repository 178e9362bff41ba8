"""Databases and trees: read from a copy, a stream a session, nothing of theirs touched."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from schemas.evidence import Event
from tests.conftest import DATA
from tests.desks import events, rebuilt

OPENCODE = DATA / "opencode"
CATALOG = """
CREATE TABLE session_sources (source_id TEXT PRIMARY KEY, provider TEXT, data TEXT);
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, source_id TEXT, data TEXT);
CREATE TABLE session_events (event_id TEXT PRIMARY KEY, session_id TEXT, sequence_no INT,
  digest TEXT, data TEXT);
CREATE TABLE intelligence_candidates (candidate_id TEXT, version INT, review_state TEXT, data TEXT,
  PRIMARY KEY (candidate_id, version));
CREATE TABLE candidate_review_receipts (receipt_id TEXT PRIMARY KEY, data TEXT);
"""


def state(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Digest, size and modification time of everything in a folder."""
    return {
        p.name: (
            hashlib.sha256(p.read_bytes()).hexdigest(),
            p.stat().st_size,
            p.stat().st_mtime_ns,
        )
        for p in sorted(folder.iterdir())
    }


def opencode(folder: Path) -> sqlite3.Connection:
    """OpenCode's database in use: opened by a writer, with all of it still in the log."""
    folder.mkdir()
    database = sqlite3.connect(folder / "opencode.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.executescript((OPENCODE / "database.sql").read_text())
    return database


def brief(found: list[Event]) -> list[tuple[str, str, str]]:
    """Author, kind and text of what has a text."""
    return [(e.author.value, e.kind.value, e.text) for e in found if e.text]


def add_part(database: sqlite3.Connection, id_: str, message: str, data: dict[str, Any]) -> None:
    values = (id_, message, "test-session-123", 1706459900000, 1706459900000, json.dumps(data))
    database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)


def test_a_database_in_use_is_read_and_not_touched(sqlite_desk: Desk, tmp_path: Path) -> None:
    """What is only in the write-ahead log is there; no file changes, appears or goes."""
    folder = tmp_path / "oc"
    writer = opencode(folder)
    before = state(folder)
    assert before["opencode.db-wal"][1] > 0 and "opencode.db-shm" in before
    (report,) = import_paths(sqlite_desk, [folder / "opencode.db"]).files
    assert state(folder) == before
    assert report.format == "opencode" and report.path.endswith("#test-session-123")
    assert brief(events(sqlite_desk)) == [
        ("owner", "message", "Please update index.ts using sqlite transcript data"),
        ("agent", "message", "I will make the edit from sqlite."),
        ("agent", "tool_call", events(sqlite_desk)[-3].text),
        ("tool", "tool_result", "Edit applied"),
        ("agent", "message", "Done from sqlite source."),
    ]
    assert {e.session for e in events(sqlite_desk)} == {"test-session-123"}
    assert events(sqlite_desk)[0].time == 1706459830000000
    assert not [p for p in sqlite_desk.workspace.folder.iterdir() if p.name.startswith("tmp")]
    writer.close()


def test_a_database_without_a_log_is_read_as_well(sqlite_desk: Desk, tmp_path: Path) -> None:
    """The older journal mode, closed and with a transaction of its writer still open."""
    path = tmp_path / "oc" / "opencode.db"
    path.parent.mkdir()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.executescript((OPENCODE / "database.sql").read_text())
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE part SET data = '{}'")
    before = state(path.parent)
    assert "opencode.db-journal" in before
    import_paths(sqlite_desk, [path])
    assert state(path.parent) == before
    assert len(brief(events(sqlite_desk))) == 5
    writer.close()


def test_a_session_that_grew_adds_only_what_is_new(sqlite_desk: Desk, tmp_path: Path) -> None:
    """More rows are read on from the end; a row that changed is a new revision, linked."""
    writer = opencode(tmp_path / "oc")
    path = tmp_path / "oc" / "opencode.db"
    first = import_paths(sqlite_desk, [path])
    add_part(writer, "prt-sql-005", "msg-assistant-sql-001", {"type": "text", "text": "More."})
    grown = import_paths(sqlite_desk, [path])
    assert (grown.new, grown.duplicate) == (1, first.events)
    assert grown.files[0].id == first.files[0].id
    add_part(
        writer,
        "prt-sql-000",
        "msg-user-sql-001",
        {"type": "text", "text": "Also", "synthetic": True},
    )
    changed = import_paths(sqlite_desk, [path])
    assert changed.files[0].id != first.files[0].id
    assert changed.linked == len([e for e in events(sqlite_desk) if e.same_as]) > 0
    assert ("system", "message", "Also") in brief(events(sqlite_desk))
    assert import_paths(sqlite_desk, [path]).new == 0
    assert verify(sqlite_desk).ok
    writer.close()


def test_a_compaction_in_the_database_is_a_boundary_with_its_summary(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """No database with one is among the samples: rows as the format describes them."""
    writer = opencode(tmp_path / "oc")
    rows = (
        ("msg-cut", {"role": "user"}, "prt-cut", {"type": "compaction", "auto": True}),
        (
            "msg-sum",
            {"role": "assistant", "summary": True},
            "prt-sum",
            {"type": "text", "text": "We…"},
        ),
        (
            "msg-go",
            {"role": "user"},
            "prt-go",
            {"type": "text", "text": "Go on", "synthetic": True},
        ),
        ("msg-do", {"role": "assistant"}, "prt-do", {"type": "reasoning", "text": "Hm"}),
    )
    for n, (message, data, part, held) in enumerate(rows):
        time = 1706459900000 + n
        values = (message, "test-session-123", time, time, json.dumps(data))
        writer.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", values)
        add_part(writer, part, message, held)
    before = state(tmp_path / "oc")
    import_paths(sqlite_desk, [tmp_path / "oc"])
    assert state(tmp_path / "oc") == before
    assert brief(events(sqlite_desk))[5:] == [
        ("system", "compact_boundary", "compaction auto"),
        ("agent", "summary", "We…"),
        ("system", "message", "Go on"),
        ("agent", "reasoning", "Hm"),
    ]
    writer.close()


def test_a_child_session_has_no_owner(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Its user is the agent that started it; the folder is the session's."""
    writer = opencode(tmp_path / "oc")
    writer.executescript(
        "CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT);"
        "INSERT INTO session VALUES ('test-session-123', 'p', 'ses_parent', '/work', 't');"
    )
    import_paths(sqlite_desk, [tmp_path / "oc"])
    found = events(sqlite_desk)
    assert {e.author.value for e in found} == {"subagent", "tool", "system"}
    assert {e.scope for e in found} == {"/work"} and found[0].parent == "ses_parent"
    writer.close()


@pytest.mark.parametrize(
    ("layout", "sessions"), [("storage_v2", ("large", "small")), ("storage_legacy", ("drift",))]
)
def test_a_tree_of_files_is_read_by_session(
    sqlite_desk: Desk, tmp_path: Path, layout: str, sessions: tuple[str, ...]
) -> None:
    """Messages by time with their parts, both layouts; the walk meets sessions, not pieces."""
    shutil.copytree(OPENCODE / layout, tmp_path / layout)
    before = {p: p.read_bytes() for p in (tmp_path / layout).rglob("*") if p.is_file()}
    report = import_paths(sqlite_desk, [tmp_path / layout])
    assert [f.path.rsplit("#", 1)[1] for f in report.files] == [f"s_stage0_{s}" for s in sessions]
    assert not report.refused
    assert {p: p.read_bytes() for p in (tmp_path / layout).rglob("*") if p.is_file()} == before
    found = events(sqlite_desk, session=f"s_stage0_{sessions[0]}")
    results = [(e.kind.value, set(e.notes)) for e in found if e.kind == "tool_result"]
    expected = {"call:call_large_1", "error"} if layout == "storage_v2" else {"call:call_legacy_1"}
    assert results == [("tool_result", expected)]
    assert "owner" not in {e.author.value for e in found if "synthetic" in (e.text or "")}
    again = import_paths(sqlite_desk, [tmp_path / layout])
    assert (again.new, again.duplicate) == (0, report.events)


def test_a_malicious_tree_leads_nowhere(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Ids with paths in them, linked folders and files: none is followed."""
    tree = tmp_path / "storage"
    for folder in ("session/p", "message/ses_1", "part"):
        (tree / folder).mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.mkdir()
    part = {"id": "x", "type": "text", "text": "leaked", "messageID": "../../secret"}
    (secret / "x.json").write_text(json.dumps(part))
    (tree / "session/p/ses_1.json").write_text(json.dumps({"id": "ses_1"}))
    for n, id_ in enumerate(("../../secret", "..", "linked", "a\0b")):
        message = {"id": id_, "role": "user", "sessionID": "ses_1", "time": {"created": n}}
        (tree / f"message/ses_1/{n}.json").write_text(json.dumps(message))
    (tree / "part" / "linked").symlink_to(secret)
    (tree / "message/ses_1/9.json").symlink_to(secret / "x.json")
    (tree / "session/p/ses_2.json").write_text(json.dumps({"id": "../../secret"}))
    report = import_paths(sqlite_desk, [tree])
    assert "leaked" not in {e.text for e in events(sqlite_desk)}
    assert [f.events for f in report.files] == [5]


def catalog(folder: Path) -> sqlite3.Connection:
    """AIWG's catalog with two events and a candidate, written a moment ago."""
    folder.mkdir()
    database = sqlite3.connect(folder / "catalog.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(CATALOG)
    for n, (kind, role, origin, text) in enumerate(
        (
            ("message", "user", "user-authored", "Always use tabs"),
            ("message", "user", "workspace-instruction", "AGENTS.md says"),
            ("message", "assistant", "assistant-generated", "Noted"),
            ("tool_result", "user", "user-authored", "output"),
            ("message", "user", "unknown", "who knows"),
        )
    ):
        data = {
            "eventId": f"e{n}",
            "sessionId": "session:s",
            "kind": kind,
            "role": role,
            "origin": origin,
            "searchableText": text,
            "occurredAt": "2026-01-02T03:04:05Z",
            "sensitivity": {"classification": "none"},
        }
        values = (f"e{n}", "session:s", n, "d", json.dumps(data))
        database.execute("INSERT INTO session_events VALUES (?, ?, ?, ?, ?)", values)
    candidate = {
        "candidateId": "c1",
        "version": 1,
        "type": "preference",
        "assertion": "Tabs are used",
        "evidence": [{"eventId": "e0", "start": 0, "end": 15}],
        "reviewState": "pending",
        "createdAt": "2026-01-02T03:04:06Z",
    }
    values = ("c1", 1, "pending", json.dumps(candidate))
    database.execute("INSERT INTO intelligence_candidates VALUES (?, ?, ?, ?)", values)
    return database


def test_the_catalog_is_read_with_the_states_of_its_candidates(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Authors by origin, candidates as an agent's summaries; not a byte or time changes."""
    folder = tmp_path / "sessions"
    writer = catalog(folder)
    before = state(folder)
    report = import_paths(sqlite_desk, [folder / "catalog.sqlite"])
    assert state(folder) == before
    assert [f.path.rsplit("#", 1)[1] for f in report.files] == [
        "session_events",
        "intelligence_candidates",
    ]
    found = events(sqlite_desk)
    assert brief(found) == [
        ("owner", "message", "Always use tabs"),
        ("system", "message", "AGENTS.md says"),
        ("agent", "message", "Noted"),
        ("tool", "tool_result", "output"),
        ("unknown", "message", "who knows"),
        ("agent", "summary", "Tabs are used"),
    ]
    assert found[-1].notes == ("candidate:pending", "type:preference")
    assert (found[-1].native_id, found[-1].parent) == ("c1@1", "e0")
    writer.execute("UPDATE intelligence_candidates SET review_state = 'accepted'")
    receipt = {
        "receiptId": "r",
        "candidateId": "c1",
        "candidateVersion": 1,
        "toState": "accepted",
        "reviewer": "Ana",
        "reason": "seen",
        "occurredAt": "2026-01-02T03:04:07Z",
    }
    writer.execute("INSERT INTO candidate_review_receipts VALUES ('r', ?)", [json.dumps(receipt)])
    later = import_paths(sqlite_desk, [folder])
    assert [f.new for f in later.files] == [0, 1, 1]
    newest = events(sqlite_desk)[-2:]
    assert newest[0].notes[0] == "candidate:accepted" and newest[0].same_as == found[-1].id
    assert newest[1].text == "accepted by Ana: seen"
    writer.close()


def test_a_catalog_at_rest_gains_no_side_files(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Closed by its writer there is no log; reading it makes none."""
    catalog(tmp_path / "s").close()
    before = state(tmp_path / "s")
    assert list(before) == ["catalog.sqlite"]
    import_paths(sqlite_desk, [tmp_path / "s"])
    assert state(tmp_path / "s") == before


def test_a_long_row_is_kept_without_its_data(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A cell longer than a record may be is left out of the stream, its row is there."""
    writer = opencode(tmp_path / "oc")
    policy = sqlite_desk.policy.model_copy(
        update={"evidence": sqlite_desk.policy.evidence.model_copy(update={"record_bytes": 4096})}
    )
    add_part(writer, "prt-sql-009", "msg-assistant-sql-001", {"type": "text", "text": "y" * 9000})
    object.__setattr__(sqlite_desk, "policy", policy)
    report = import_paths(sqlite_desk, [tmp_path / "oc"])
    last = events(sqlite_desk)[-1]
    assert last.native_id == "prt-sql-009" and last.text == ""
    assert len(rebuilt(sqlite_desk, report.files[0].id)) < 9000
    writer.close()


def test_databases_that_are_none_of_ours_or_damaged_are_refused(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Other tables, views under known names, cut files, and garbage behind the header."""
    codes = {}
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE notes (x)")
    other.commit()
    other.close()
    views = sqlite3.connect(tmp_path / "views.db")
    views.executescript(
        "CREATE TABLE t (x); CREATE VIEW message AS SELECT x FROM t; CREATE VIEW part AS SELECT 1"
    )
    views.close()
    opencode(tmp_path / "oc").close()
    whole = (tmp_path / "oc" / "opencode.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "junk.db").write_bytes(whole[:100] + b"\xff" * 8192)
    columns = sqlite3.connect(tmp_path / "columns.db")
    columns.executescript("CREATE TABLE message (session_id, y); CREATE TABLE part (x)")
    columns.close()
    for path in sorted(tmp_path.glob("*.db")):
        with pytest.raises(Refused) as refused:
            import_paths(sqlite_desk, [path])
        codes[path.stem] = refused.value.code
    assert codes == {
        "columns": "evidence.database",
        "cut": "evidence.database",
        "junk": "evidence.database",
        "other": "evidence.unknown-format",
        "views": "evidence.unknown-format",
    }
