"""Any bit of any row, on both databases: `verify` names it (spec 1.4)."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from core.candidates import rules
from core.compaction import marks
from core.compaction.observe import observe
from core.evidence import artifacts, extracts
from core.evidence.import_ import import_paths
from core.operations import together
from core.ports import Desk
from core.promotion import preview
from core.verify import verify
from schemas.compaction import MarkVerdict
from tests.compaction.sessions import agent, boundary, imported, owner, summary
from tests.conftest import make_desk, record, write
from tests.desks import lived_in
from tests.making import accepted, pending, previewed, ref

Row = dict[str, Any]
MIB = 1 << 20
TABLES = [
    "label",
    "ledger",
    "ledger_head",
    "source_file",
    "source_path",
    "session_file",
    "session_total",
    "event",
    "event_body",
    "artifact",
    "artifact_chunk",
    "artifact_revision",
    "artifact_extract",
    "artifact_bytes",
]
REVIEWED = [
    "candidate",
    "candidate_version",
    "candidate_source",
    "decision",
    "claim",
    "claim_band",
    "likeness",
    "operation",
    "operation_about",
    "receipt",
    "belief",
    "belief_consumer",
    "compaction_mark",
]
"""What is no database's own behaviour: tried on one."""
EVERYWHERE = [(db, t) for db in ("sqlite", "postgresql") for t in TABLES]
EVERYWHERE += [("sqlite", t) for t in REVIEWED]


def named_by(table: str, row: Row) -> list[str]:
    """What the finding about a row may say; one of these is enough to find it."""
    return {
        "label": lambda: [f"label {row['label']} ", "ev_", f"session_file {row['text']}"],
        "ledger": lambda: [f"entry {row['seq']} ", f"head {row['seq']} "],
        "ledger_head": lambda: ["head "],
        "source_file": lambda: [row["id"], f"file number {row['file']} "],
        "source_path": lambda: [f"source_path {row['path']} "],
        "session_file": lambda: ["session_file "],
        "session_total": lambda: ["session_total "],
        "event": lambda: [row["id"].hex(), f"event {row['ordinal']} of file_", "events 0 to"],
        "event_body": lambda: ["ev_", "contents of no event"],
        "artifact": lambda: [f"artifact number {row['artifact']} ", "artifact art_"],
        "artifact_chunk": lambda: ["artifact art_", "artifact_chunk of"],
        "artifact_revision": lambda: [row["id"]],
        "artifact_extract": lambda: ["extract art_"],
        "artifact_bytes": lambda: ["artifact art_"],
        "candidate": lambda: [row["id"]],
        "candidate_version": lambda: ["candidate cand_", "decision cand_"],
        "candidate_source": lambda: ["candidate_source "],
        "decision": lambda: ["decision cand_"],
        "claim": lambda: [f"claim {row['ref']} "],
        "claim_band": lambda: [f"claim_band {row['claim'].hex()} "],
        "likeness": lambda: [row["claim"].hex()],
        "operation": lambda: [row["id"]],
        "operation_about": lambda: ["operation_about op_"],
        "receipt": lambda: [row["id"]],
        "belief": lambda: [row["id"]],
        "belief_consumer": lambda: ["belief bel_"],
        "compaction_mark": lambda: ["compaction-mark "],
    }[table]()


class Intruder:
    """Changes rows behind the store's back; no trigger is in the way while it does."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        url = sa.make_url(desk.store._db.url)  # type: ignore[attr-defined]
        self.sqlite = url.drivername.startswith("sqlite")
        # Python's driver begins no transaction before it drops a trigger, so we do.
        driver: Row = {"isolation_level": None} if self.sqlite else {}
        self.engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=driver)

    @contextlib.contextmanager
    def inside(self, table: str) -> Iterator[sa.Connection]:
        """A transaction without the triggers of a table, which stand again afterwards."""
        with self.engine.begin() as connection:
            made = []
            if self.sqlite:
                connection.exec_driver_sql("PRAGMA synchronous=OFF")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                query = (
                    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
                )
                made = list(connection.exec_driver_sql(query, (table,)))
                for name, _text in made:
                    connection.exec_driver_sql(f"DROP TRIGGER {name}")
            else:
                connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            yield connection
            for _name, text in made:
                connection.exec_driver_sql(text)

    def rows(self, table: str) -> list[Row]:
        """All rows of this workspace, in the order of their keys."""
        t = SQLModel.metadata.tables[table]
        mine = sa.select(t).where(t.c.ws == self.desk.store._ws)  # type: ignore[attr-defined]
        with self.engine.connect() as connection:
            found = connection.execute(mine.order_by(*t.primary_key.columns))
            return [dict(r._mapping) for r in found]

    def replace(self, table: str, old: Row | None, new: Row | None) -> None:
        """Put `new` where `old` stood; None on either side adds or takes away."""
        t = SQLModel.metadata.tables[table]
        with self.inside(table) as connection:
            if old is not None:
                keys = [c == old[c.name] for c in t.primary_key.columns]
                assert connection.execute(sa.delete(t).where(*keys)).rowcount == 1
            if new is not None:
                connection.execute(sa.insert(t).values(**new))

    def said(self) -> str:
        """What `verify` finds, as one text; empty for a sound store."""
        report = verify(self.desk)
        assert report.ok is not bool(report.faults)
        return " | ".join(f"{f.what} {f.detail} " for f in report.faults)


def reviewed(desk: Desk) -> None:
    """Near duplicates, a rule file's claim, several facts by one operation, an open preview, a mark."""
    pending(desk, "Releases are tagged on Tuesdays.")
    pending(desk, "The releases are always tagged on Tuesdays.")
    write(desk.workspace.root / "CLAUDE.md", b"# Rules\n\n- We deploy on day 2.\n")
    rules.follow(desk)
    several = [accepted(desk, w) for w in ("Tests run in Docker.", "Staging is eu-north-1.")]
    going = [preview.Going(ref(v), "line-memory") for v in several]
    together.confirm(desk, preview.together(desk, going).preview.operation_id)
    previewed(desk, "Backups are kept for a week.")
    lines = (owner("Never push to main."), agent("ok"), boundary(), summary("n"))
    imported(desk, *(x.replace(b'"S"', b'"C"') for x in lines), name="cut")
    (cut,) = observe(desk, "C").boundaries
    marks.mark(desk, "C", cut.items[0].locator, MarkVerdict.ONE_OFF, reason="once")
    marks.mark(
        desk, "C", cut.items[0].locator, MarkVerdict.NOT_A_LOSS, boundary=cut.at, reason="is in it"
    )


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def intruder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Intruder]:
    """An intruder at a lived-in store: sessions, a moved file, artifacts with revisions, extracts.

    Each test puts back what it changed, so one store serves all.
    """
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    folder = tmp_path_factory.mktemp("intruder")
    desk = make_desk(folder / "project", url)
    lived_in(desk, folder)
    write(folder / "c.jsonl", record("more", "c1", sessionId="U", cwd="/other"))
    import_paths(desk, [folder / "c.jsonl"])
    shutil.move(folder / "c.jsonl", folder / "moved.jsonl")
    import_paths(desk, [folder / "moved.jsonl"])
    log = write(folder / "run.log", b"one\ntwo\nthree\n" * (MIB // 10))
    first, _new = artifacts.add(desk, log)
    extracts.make(desk, first.id, ["2:3", "9:9"])
    artifacts.add(desk, write(log, b"a second revision\n"))
    if request.param == "sqlite":
        reviewed(desk)
    made = Intruder(desk)
    assert made.said() == ""
    yield made
    made.engine.dispose()
    desk.store.close()


def flipped(value: Any, chosen: random.Random) -> Any:
    """The value with one bit of it turned over; what has no bits gains some."""
    if isinstance(value, int):
        return value ^ (1 << chosen.randrange(20))
    if isinstance(value, str):
        at = chosen.randrange(len(value)) if value else 0
        return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :] if value else "x"
    data = bytearray(value or b"\0")
    data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    return bytes(data)


def answered(intruder: Intruder, table: str) -> list[Row]:
    """Rows that something answers for. A preview has done nothing and is made again at will; what
    rule files claim is read from them anew whenever a desk opens."""
    odd = {"operation": ("state", "previewed"), "claim": ("layer", "policy")}
    column, value = odd.get(table, ("ws", None))
    return [r for r in intruder.rows(table) if r[column] != value]


@pytest.mark.parametrize(("intruder", "table"), EVERYWHERE, indirect=["intruder"])
def test_one_bit_of_any_column_is_named(intruder: Intruder, table: str) -> None:
    """Each column in rows chosen at random, salts, ordinals and keys among them; put back after."""
    chosen = random.Random(table)
    rows = answered(intruder, table)
    assert rows or (table == "artifact_bytes" and intruder.sqlite)
    columns = [c.name for c in SQLModel.metadata.tables[table].columns]
    silent = []
    for column in columns if rows else ():
        held = [r for r in rows if r[column] is not None]
        if not held:
            continue
        row = chosen.choice(held)
        for _ in range(20):
            new = {**row, column: flipped(row[column], chosen)}
            with contextlib.suppress(sa.exc.IntegrityError):
                intruder.replace(table, row, new)
                break
        else:
            raise AssertionError(f"no bit of {table}.{column} can be turned over")
        said = intruder.said()
        if not any(name in said for name in named_by(table, row)):
            silent.append((column, said[:300]))
        intruder.replace(table, new, row)
    assert silent == []
    assert intruder.said() == ""


@pytest.mark.parametrize(("intruder", "table"), EVERYWHERE, indirect=["intruder"])
def test_any_row_taken_away_is_named(intruder: Intruder, table: str) -> None:
    """The first and the last of each table, one at a time."""
    rows = answered(intruder, table)
    for row in [rows[0], rows[-1]] if rows else ():
        intruder.replace(table, row, None)
        said = intruder.said()
        assert any(name in said for name in named_by(table, row)), (row, said)
        intruder.replace(table, None, row)
    assert intruder.said() == ""


ADDED: dict[str, tuple[Row, str]] = {
    "label": ({"label": 900, "text": "nobody"}, "label 900 names nothing"),
    "ledger": ({"seq": 901}, "entry 901 "),
    "source_file": ({"file": 900, "id": "file_" + "a" * 32}, "source file_" + "a" * 32),
    "source_path": ({"path": "elsewhere"}, "source_path elsewhere"),
    "session_file": ({"file": 3}, "session_file "),
    "event": ({"ordinal": 900, "id": b"\xab" * 16}, "ev_" + "ab" * 16 + " was added"),
    "event_body": ({"ordinal": 900}, "contents of no event"),
    "artifact": ({"artifact": 900, "digest": b"d" * 32}, "artifact number 900 was added"),
    "artifact_chunk": ({"chunk": 900}, "artifact art_"),
    "artifact_revision": (
        {"number": 900, "id": "art_" + "b" * 32, "path": "p"},
        "artifact art_" + "b" * 32 + " was added",
    ),
    "artifact_extract": ({"lines": "4-5"}, "#l4-5 was added"),
}


@pytest.mark.parametrize("table", ADDED)
def test_a_row_that_no_entry_answers_for_is_named(intruder: Intruder, table: str) -> None:
    """A copy of a true row under keys of its own."""
    changes, wanted = ADDED[table]
    new = {**intruder.rows(table)[0], **changes}
    intruder.replace(table, None, new)
    assert wanted in intruder.said()
    intruder.replace(table, new, None)
    assert intruder.said() == ""


def test_a_chunk_digest_of_no_artifact_is_named(intruder: Intruder) -> None:
    """It stands under a number that nothing has."""
    row = intruder.rows("artifact_chunk")[0]
    stray = {**row, "artifact": 900}
    intruder.replace("artifact_chunk", None, stray)
    assert "artifact_chunk of artifact number 900 was added" in intruder.said()
    intruder.replace("artifact_chunk", stray, None)


@pytest.mark.parametrize("table", ["ledger", "event", "event_body", "artifact_chunk"])
def test_two_rows_in_each_others_place_are_named(intruder: Intruder, table: str) -> None:
    """Their keys are exchanged, everything else stays."""
    key = list(SQLModel.metadata.tables[table].primary_key.columns)[-1].name
    one, two = intruder.rows(table)[:2]
    moved = {**one, key: two[key]}, {**two, key: one[key]}
    for old, new in ((one, None), (two, moved[0]), (None, moved[1])):
        intruder.replace(table, old, new)
    said = intruder.said()
    assert any(n in said for r in (one, two) for n in named_by(table, r)), said
    for old, new in ((moved[1], None), (moved[0], two), (None, one)):
        intruder.replace(table, old, new)
    assert intruder.said() == ""


@pytest.mark.parametrize("harm", ["flip", "longer", "shorter", "gone"])
def test_a_kept_file_that_was_changed_is_named(
    sqlite_desk: Desk, tmp_path: Path, harm: str
) -> None:
    """Also bytes behind a last chunk that is full, which no chunk digest covers."""
    found, _new = artifacts.add(sqlite_desk, write(tmp_path / "a", bytes(2 * MIB)))
    name = found.digest.removeprefix("sha256:")
    path = sqlite_desk.workspace.folder / "artifacts" / name[:2] / name
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[MIB + 7] ^= 4
    change = {"flip": bytes(data), "longer": bytes(2 * MIB + 1), "shorter": bytes(2 * MIB - 1)}
    path.unlink() if harm == "gone" else path.write_bytes(change[harm])
    report = verify(sqlite_desk)
    assert [f.what for f in report.faults] == [f"artifact {found.id}"]
