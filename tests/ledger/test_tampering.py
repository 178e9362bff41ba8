"""Every altered, missing, added or reordered row is found and named by `memdesk verify` (1.4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.ports import Desk
from core.verify import verify
from tests.conftest import Command
from tests.desks import lived_in

TRIGGERS = [
    f"{table}_no_{verb}"
    for table in ("ledger", "event", "decision", "receipt")
    for verb in ("update", "delete", "replace")
] + ["event_body_no_update", "event_body_no_replace"]


class Attacker:
    """A plain SQLite connection that drops the triggers, changes rows and puts triggers back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.row_factory = sqlite3.Row

    def change(self, sql: str, *values: object) -> None:
        """Run one statement with no trigger in the way; the triggers stand again afterwards."""
        rows = self.db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        made = [(r["name"], r["sql"]) for r in rows]
        self.db.execute("BEGIN")
        for name, _sql in made:
            self.db.execute(f"DROP TRIGGER {name}")
        assert self.db.execute(sql, values).rowcount > 0
        for _name, text in made:
            self.db.execute(text)
        self.db.execute("COMMIT")

    def row(self, table: str, where: str = "1") -> sqlite3.Row:
        """The first row of a table."""
        found: sqlite3.Row = self.db.execute(f"SELECT * FROM {table} WHERE {where}").fetchone()
        return found


@pytest.fixture
def attacker(sqlite_desk: Desk, tmp_path: Path) -> Iterator[Attacker]:
    """An attacker at the store of a lived-in desk that verifies as sound."""
    lived_in(sqlite_desk, tmp_path)
    assert verify(sqlite_desk).ok
    made = Attacker(sqlite_desk.workspace.folder / "memdesk.db")
    with closing(made.db):
        yield made


def named(desk: Desk) -> str:
    """All that `verify` says, as one text; the check ends whatever it meets."""
    report = verify(desk)
    assert not report.ok
    return " | ".join(f"{f.code} {f.what} {f.detail}" for f in report.faults)


def test_bytes_no_json_parser_takes_are_named_and_the_check_goes_on(
    sqlite_desk: Desk, attacker: Attacker
) -> None:
    """A document overwritten with garbage ends neither the check nor the naming of others."""
    attacker.change("UPDATE receipt SET document = ?", b"\xff\x00")
    attacker.change("UPDATE candidate_version SET document = ? WHERE number = 1", b"[]")
    attacker.change("UPDATE decision SET document = ? WHERE number = 1", b"{}")
    attacker.change("UPDATE ledger SET root = ?, subject = ? WHERE seq = 1", b"short", "nonsense")
    said = named(sqlite_desk)
    for what in ("receipt rcpt_", "candidate cand_", "decision cand_", "entry 1 "):
        assert what in said


def test_record_bytes_taken_away_or_doubled_are_found(
    sqlite_desk: Desk, attacker: Attacker
) -> None:
    """The commitment covers digests; that the bytes themselves are there is checked too."""
    body = attacker.row("event_body")
    at = (body["file"], body["ordinal"])
    attacker.change("UPDATE event_body SET raw = NULL WHERE file = ? AND ordinal = ?", *at)
    event = attacker.row("event", f"file={at[0]} AND ordinal={at[1]}")
    assert event["id"].hex() in named(sqlite_desk)


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("event", "event 0 of file_"),
        ("event_body", "its content is missing"),
        ("decision", "decision cand_"),
        ("receipt", "receipt rcpt_"),
        ("candidate_version", "candidate cand_"),
        ("candidate", "candidate cand_"),
        ("source_file", "of file_"),
        ("ledger", "entry 1 is missing"),
        ("belief", "is promoted without the decision for it"),
    ],
)
def test_a_missing_row_is_named(
    sqlite_desk: Desk, attacker: Attacker, table: str, what: str
) -> None:
    """One row deleted behind the ledger's back."""
    row = attacker.row(table)
    keys = [c[1] for c in attacker.db.execute(f"PRAGMA table_info({table})") if c[5]]
    where = " AND ".join(f"{k} = ?" for k in keys)
    attacker.change(f"DELETE FROM {table} WHERE {where}", *(row[k] for k in keys))
    assert what in named(sqlite_desk)


def test_the_last_entry_cut_off_is_named(sqlite_desk: Desk, attacker: Attacker) -> None:
    """Deleting the newest entry leaves a head that points past the end."""
    seq = attacker.row("ledger_head")["seq"]
    attacker.change("DELETE FROM ledger WHERE seq = ?", seq)
    assert f"ledger.broken head {seq}" in named(sqlite_desk)


def test_an_added_event_is_named(sqlite_desk: Desk, attacker: Attacker) -> None:
    """An event that no ledger entry answers for."""
    for table in ("event", "event_body"):
        columns = [c[1] for c in attacker.db.execute(f"PRAGMA table_info({table})")]
        values = {"ordinal": "999", "id": "x'" + "ab" * 16 + "'"}
        chosen = ", ".join(values.get(c, c) for c in columns)
        attacker.change(
            f"INSERT INTO {table} SELECT {chosen} FROM {table} WHERE ordinal = 0 AND file = 1"
        )
    assert "ev_" + "ab" * 16 + " was added to file_" in named(sqlite_desk).replace("  ", " ")


def test_an_added_decision_version_and_receipt_are_named(
    sqlite_desk: Desk, attacker: Attacker
) -> None:
    """A decision nobody made, a version nobody proposed, a receipt nobody got."""
    attacker.change(
        "INSERT INTO decision SELECT ws, 2, version, turn, time, batch, document FROM decision LIMIT 1"
    )
    attacker.change(
        "INSERT INTO candidate_version SELECT ws, number, 7, state, document, digest, created "
        "FROM candidate_version LIMIT 1"
    )
    attacker.change(
        "INSERT INTO receipt SELECT ws, 999, 'rcpt_" + "0" * 32 + "', 'op_x', consumer, document "
        "FROM receipt"
    )
    said = named(sqlite_desk)
    second = attacker.row("candidate", "number = 2")["id"]
    first = attacker.row("candidate", "number = 1")["id"]
    assert f"decision {second}@1 was added" in said
    assert f"candidate {first}@7 was added" in said
    assert "receipt rcpt_" + "0" * 32 + " was added" in said


def test_swapped_entries_and_events_are_named(sqlite_desk: Desk, attacker: Attacker) -> None:
    """Two rows exchange their places."""
    swap = "UPDATE {0} SET {1} = CASE {1} WHEN {2} THEN 900 ELSE {2} END WHERE {1} IN ({2}, {3}){4}"
    attacker.change(swap.format("ledger", "seq", 1, 2, ""))
    attacker.change("UPDATE ledger SET seq = 2 WHERE seq = 900")
    for table in ("event", "event_body"):
        mine = " AND file = 1"
        attacker.change(swap.format(table, "ordinal", 0, 1, mine))
        attacker.change(f"UPDATE {table} SET ordinal = 1 WHERE ordinal = 900{mine}")
    said = named(sqlite_desk)
    assert "entry 1 " in said and "entry 2 " in said
    for ordinal in (0, 1):
        event = attacker.row("event", f"file = 1 AND ordinal = {ordinal}")
        assert event["id"].hex() in said


def test_a_verdict_turned_over_in_the_list_is_found(sqlite_desk: Desk, attacker: Attacker) -> None:
    """A rejected version set to accepted would otherwise be offered for promotion."""
    attacker.change("UPDATE candidate_version SET state = 'accepted' WHERE state = 'rejected'")
    attacker.change("UPDATE candidate SET state = 'accepted' WHERE state = 'rejected'")
    assert "is accepted without the decision for it" in named(sqlite_desk)


def test_each_missing_trigger_is_named(sqlite_desk: Desk) -> None:
    """A store whose rows could be rewritten is not sound, even before they are."""
    with closing(sqlite3.connect(sqlite_desk.workspace.folder / "memdesk.db")) as db:
        for n, trigger in enumerate(TRIGGERS, 1):
            db.execute(f"DROP TRIGGER {trigger}")
            said = named(sqlite_desk)
            assert f"trigger {trigger} is missing" in said
            assert said.count("is missing") == n


def test_a_trigger_that_refuses_nothing_is_named(sqlite_desk: Desk) -> None:
    """The name alone does not make a trigger."""
    with closing(sqlite3.connect(sqlite_desk.workspace.folder / "memdesk.db")) as db:
        db.execute("DROP TRIGGER event_no_update")
        db.execute("CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT 1; END")
    assert "trigger event_no_update was altered" in named(sqlite_desk)


def test_the_command_ends_with_status_1_and_names_what_is_wrong(
    sqlite_desk: Desk, attacker: Attacker, command: Command
) -> None:
    """Both outputs of `memdesk verify`, as a script and as a person see them."""
    assert command.json("verify")["ok"] is True
    row = attacker.row("event")
    attacker.change("UPDATE event_body SET text = ? WHERE file = 1 AND ordinal = 0", b"other")
    found = command.json("verify", status=1)
    assert [f["what"] for f in found["faults"]] == [f"ev_{row['id'].hex()}"]
    status, shown, _err = command.run("verify")
    assert status == 1
    assert f"evidence.altered  ev_{row['id'].hex()} was altered" in shown


DERIVED = (
    "UPDATE belief SET statement = 'evil'",
    "UPDATE belief_consumer SET state = 'revoked'",
    "UPDATE operation SET envelope = CAST(replace(CAST(envelope AS TEXT), 'promote', 'promoted') AS BLOB)",
    "DELETE FROM operation WHERE state = 'applied'",
    "DELETE FROM candidate_source",
    "UPDATE candidate_source SET version = 7",
    "UPDATE claim SET statement = 'evil'",
    "UPDATE session_total SET by_owner = 99",
    "UPDATE session_file SET high = high + 1",
)


@pytest.mark.parametrize("sql", DERIVED)
def test_rows_that_follow_from_sealed_ones_are_checked_against_them(
    sqlite_desk: Desk, attacker: Attacker, sql: str
) -> None:
    """What no entry seals still has to say what the sealed rows say."""
    assert verify(sqlite_desk).ok
    attacker.change(sql)
    assert not verify(sqlite_desk).ok
