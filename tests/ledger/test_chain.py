"""The chain and its commitments, recomputed with nothing but sqlite3, hashlib and json (1.4)."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.evidence import known
from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from tests.conftest import Command, make_desk, record, write
from tests.desks import lived_in


def compact(value: object) -> bytes:
    """JSON without blanks, non-ASCII as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sha(data: bytes) -> bytes:
    """SHA-256."""
    return hashlib.sha256(data).digest()


def merkle(leaves: list[bytes]) -> bytes:
    """The root of a batch, written again from the format's description."""
    while len(leaves) > 1:
        pairs = [leaves[i : i + 2] for i in range(0, len(leaves), 2)]
        leaves = [sha(b"\1" + p[0] + p[1]) if len(p) == 2 else p[0] for p in pairs]
    return leaves[0]


def seal(secret: bytes, document: object) -> bytes:
    """The keyed digest over sorted, compact JSON."""
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.blake2b(data.encode(), key=secret, digest_size=32).digest()


def copied(desk: Desk, folder: Path) -> sqlite3.Connection:
    """A plain connection to a backup of the store."""
    target = folder / "copy.db"
    with closing(sqlite3.connect(desk.workspace.folder / "memdesk.db")) as source:
        out = sqlite3.connect(target)
        source.backup(out)
    out.row_factory = sqlite3.Row
    return out


def test_links_of_the_chain_fit_when_recomputed_elsewhere(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Each entry's digest is SHA-256 over its members and the digest before it."""
    lived_in(sqlite_desk, tmp_path)
    previous, seq = bytes(32), 0
    with closing(copied(sqlite_desk, tmp_path)) as db:
        for r in db.execute("SELECT * FROM ledger ORDER BY seq"):
            assert (r["seq"], r["previous"]) == (seq + 1, previous)
            members = [r["seq"], r["kind"], r["subject"], r["time"], r["count"]]
            document = [*members, r["root"].hex(), r["previous"].hex()]
            assert sha(compact(document)) == r["digest"]
            previous, seq = r["digest"], r["seq"]
        head = db.execute("SELECT seq, digest FROM ledger_head").fetchone()
    assert (head["seq"], head["digest"]) == (seq, previous)
    assert seq >= 9


def test_each_batch_commits_to_every_event_through_its_salt(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Leaf and Merkle root from the rows; no two salts are equal."""
    lived_in(sqlite_desk, tmp_path)
    query = (
        "SELECT e.*, b.salt, b.digest, b.text, b.lead, b.raw, s.text AS session_name, "
        "c.text AS scope_name FROM event e JOIN event_body b USING (ws, file, ordinal) "
        "JOIN source_file f USING (ws, file) JOIN label s ON s.ws = e.ws AND s.label = e.session "
        "LEFT JOIN label c ON c.ws = e.ws AND c.label = e.scope "
        "WHERE f.id = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal"
    )
    salts = []
    with closing(copied(sqlite_desk, tmp_path)) as db:
        for entry in db.execute("SELECT * FROM ledger WHERE kind = 'events'").fetchall():
            file, span = entry["subject"].split(":")
            leaves = []
            for e in db.execute(query, (file, *span.split("-"))):
                salts.append(e["salt"])
                names = "part kind author session_name time native_id parent scope_name line"
                document = [
                    file,
                    e["ordinal"],
                    e["id"].hex(),
                    *(e[n] for n in names.split()),
                    e["byte_start"],
                    e["byte_length"],
                    e["notes"],
                    e["twin"],
                    e["digest"].hex(),
                    sha(e["text"]).hex(),
                    None if e["lead"] is None else e["lead"].hex(),
                ]
                assert sha(b"\0" + e["salt"] + compact(document)) == e["commitment"]
                assert e["raw"] is None or sha(e["raw"]) == e["digest"]
                leaves.append(e["commitment"])
            assert merkle(leaves) == entry["root"]
            assert len(leaves) == entry["count"]
    assert len(set(salts)) == len(salts) > 10


def test_versions_decisions_and_receipts_are_sealed_with_the_workspace_secret(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """The root of each such entry is a keyed digest of the stored document."""
    lived_in(sqlite_desk, tmp_path)
    checked = []
    with closing(copied(sqlite_desk, tmp_path)) as db:
        secret = db.execute("SELECT secret FROM workspace").fetchone()[0]
        for entry in db.execute("SELECT * FROM ledger WHERE kind <> 'events'").fetchall():
            subject = entry["subject"]
            if entry["kind"] == "receipt":
                query = "SELECT document FROM receipt WHERE id = ?"
                document = json.loads(db.execute(query, (subject,)).fetchone()[0])
                del document["replayed"]
            elif entry["kind"] == "source":
                file, path = subject.split(" ", 1)
                query = (
                    "SELECT id, path, format, head, revision, notes, created FROM source_file "
                    "WHERE id = ?"
                )
                document = [path, *db.execute(query, (file,)).fetchone()]
            else:
                table = {"candidate": "candidate_version", "decision": "decision"}[entry["kind"]]
                id_, version = subject.split("@")
                query = (
                    f"SELECT v.document FROM {table} v JOIN candidate c USING (ws, number) "
                    "WHERE c.id = ? AND v.version = ?"
                )
                document = json.loads(db.execute(query, (id_, version)).fetchone()[0])
                for name in ("state", "newest", "decision", "conflicts", "duplicates", "near"):
                    document.pop(name, None)
                document = [subject, document] if entry["kind"] == "decision" else document
            assert seal(secret, document) == entry["root"], subject
            checked.append(entry["kind"])
    assert set(checked) == {"candidate", "decision", "receipt", "source"}


def test_a_receipt_is_an_anchor_for_the_chain(
    sqlite_desk: Desk, tmp_path: Path, command: Command
) -> None:
    """`verify --head` takes a receipt's file, an exported head, or a digest of the chain."""
    receipt = lived_in(sqlite_desk, tmp_path)
    exported = command.json("promotion", "receipts", "--export", str(tmp_path / "out"))["items"]
    file = tmp_path / "out" / f"{receipt.receipt_id}.json"
    assert exported[0]["ledger_head"] == json.loads(file.read_text())["ledger_head"]
    assert command.json("verify", "--head", str(file))["ok"]
    report = command.json("verify", "--head", receipt.ledger_head)
    head = tmp_path / "head.json"
    head.write_text(json.dumps(report["head"]))
    assert command.json("verify", "--head", str(head))["ok"]
    assert command.json("verify", "--head", report["head"]["digest"])["ok"]


def test_a_head_of_another_chain_is_a_fault(
    sqlite_desk: Desk, tmp_path: Path, command: Command
) -> None:
    """A digest that no entry has means the chain was rewritten, shortened, or is another's."""
    lived_in(sqlite_desk, tmp_path)
    foreign = "sha256:" + "5" * 64
    report = command.json("verify", "--head", foreign, status=1)
    assert [(f["code"], f["what"]) for f in report["faults"]] == [("ledger.broken", "anchor")]


def test_a_chain_restored_to_an_earlier_state_is_found_by_its_anchor_only(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """An old copy of the whole store fits itself; the later head is what tells."""
    old = tmp_path / "old.db"
    with closing(copied(sqlite_desk, tmp_path)):
        shutil.copy(tmp_path / "copy.db", old)
    lived_in(sqlite_desk, tmp_path)
    later = verify(sqlite_desk).head.digest
    sqlite_desk.store.close()
    database = sqlite_desk.workspace.folder / "memdesk.db"
    for name in ("memdesk.db-wal", "memdesk.db-shm"):
        database.with_name(name).unlink(missing_ok=True)
    shutil.copy(old, database)
    again = make_desk(sqlite_desk.workspace.root)
    assert verify(again).ok
    assert not verify(again, later).ok
    again.store.close()


@pytest.mark.parametrize("text", ["sha256:12", "sha256:" + "G" * 64, "nowhere.json", "{}", "\xff"])
def test_an_anchor_that_is_none_is_wrong_usage(
    sqlite_desk: Desk, tmp_path: Path, text: str
) -> None:
    """Neither a digest, nor a file that holds a head: refused before anything is checked."""
    if not text.startswith(("sha256", "nowhere")):
        file = tmp_path / "anchor.json"
        file.write_bytes(text.encode("latin-1"))
        text = str(file)
    with pytest.raises(Refused, match=r"usage\.invalid"):
        verify(sqlite_desk, text)


def test_files_of_a_store_made_before_the_chain_named_files_verify(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no entry of their own, and what is registered later has one."""
    with monkeypatch.context() as before:
        before.setattr(known, "_sealed", lambda *_: None)
        import_paths(sqlite_desk, [write(tmp_path / "old.jsonl", record("old", "u1"))])
    assert verify(sqlite_desk).ok
    shutil.move(tmp_path / "old.jsonl", tmp_path / "moved.jsonl")
    new = write(tmp_path / "new.jsonl", record("new", "u2"))
    import_paths(sqlite_desk, [tmp_path / "moved.jsonl", new])
    report = verify(sqlite_desk)
    assert report.ok, report.faults
    assert (report.checked["source"], report.checked["path"]) == (1, 1)
