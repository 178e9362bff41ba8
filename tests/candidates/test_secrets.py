"""A secret's value stays in the evidence alone (spec 4.3)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.candidates import propose, review
from core.candidates.extract import extract
from core.ports import Desk
from core.promotion import preview
from schemas.candidates import CandidateKind, CandidateState, Verdict
from schemas.common import Classification
from schemas.errors import Refused
from tests.making import files, pending, ref, said

LETTERS = "QwErTyUiOpAsDfGhJkLzXcVbNm"
VALUE = "gh" + "p_" + LETTERS
WORD = "s" + "k-" + LETTERS


def columns_holding(database: Path, needle: bytes) -> set[str]:
    """Every table and column of the store whose bytes hold `needle`, by plain sqlite3."""
    found = set()
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    tables = [r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    for table in tables:
        names = [r[1] for r in connection.execute(f"PRAGMA table_info({table})")]
        for row in connection.execute(f"SELECT * FROM {table}"):
            for name, value in zip(names, row, strict=True):
                data = value if isinstance(value, bytes) else str(value).encode()
                if needle in data:
                    found.add(f"{table}.{name}")
    connection.close()
    return found


def test_a_secret_stands_in_event_bodies_and_nowhere_else(sqlite_desk: Desk) -> None:
    """Extraction, proposal, key, scope, reason, edit: none of them copies it."""
    desk = sqlite_desk
    text = f"Remember: the deploy token is {VALUE} for all hosts."
    (event,) = said(desk, text, f"Remember that deploys use {WORD} in staging.")[:1]
    report = extract(desk)
    assert report.proposed == 2
    kind = CandidateKind.PROJECT_FACT
    made = propose.propose(
        desk, text=f"Token {VALUE} is used.", kind=kind, key=f"k {VALUE}",
        scope=f"s {VALUE}", sources=[event.id],
    )  # fmt: skip
    assert VALUE not in made.model_dump_json()
    review.edit(desk, ref(made), f"Another {VALUE} is used.")
    clean = pending(desk, "Deploys need a token from the vault.")
    done = review.decide(desk, ref(clean), Verdict.ACCEPT, reason=f"it is {VALUE}")
    assert done.decision is not None and VALUE not in done.decision.reason
    preview.build(desk, ref(clean), "line-memory")

    database = desk.workspace.folder / "memdesk.db"
    for needle in (VALUE, WORD, LETTERS, LETTERS.lower()):
        where = columns_holding(database, needle.encode())
        assert where <= {"event_body.text", "event_body.raw"}, (needle, where)
    held = [p.name for p in desk.workspace.folder.rglob("*") if p.is_file()]
    assert {"memdesk.db", "memdesk.db-wal"} <= set(held)
    for path in desk.workspace.folder.rglob("*"):
        if path.is_file() and not path.name.startswith("memdesk.db"):
            assert LETTERS.encode() not in path.read_bytes(), path


def test_the_bytes_of_the_store_hold_the_value_as_often_as_the_evidence(sqlite_desk: Desk) -> None:
    """A byte search over database and WAL after a checkpoint: nothing but the two event copies."""
    desk = sqlite_desk
    said(desk, f"Remember: the deploy token is {VALUE} for all hosts.")
    before = count(desk, VALUE)
    extract(desk)
    with desk.store.read() as view:
        (found,) = view.candidates.last_decisions(0) or [
            view.candidates.version(i) for i in ids(desk)
        ]
    assert found is not None and found.classification is Classification.SECRET
    review.edit(desk, ref(found), f"The token {VALUE} is for hosts.")
    assert count(desk, VALUE) == before


def ids(desk: Desk) -> list[str]:
    """All candidate ids."""
    with desk.store.read() as view:
        return view.candidates.find("cand_", 100)


def count(desk: Desk, needle: str) -> int:
    """Occurrences in all files under `.memdesk/`, the WAL truncated into the database first."""
    connection = sqlite3.connect(desk.workspace.folder / "memdesk.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    paths = [p for p in desk.workspace.folder.rglob("*") if p.is_file()]
    return sum(p.read_bytes().count(needle.encode()) for p in paths)


def test_a_masked_version_can_not_be_laundered(desk: Desk) -> None:
    """Rewording around the mask, reopening, keeping a piece: blocked until it is gone."""
    version = pending(desk, f"The deploy token is {VALUE} now.")
    for text in (version.statement + " Really.", version.statement.replace("The", "Our")):
        edited = review.edit(desk, ref(version), text)
        assert edited.classification is Classification.SECRET
        with pytest.raises(Refused) as refused:
            review.decide(desk, ref(edited), Verdict.ACCEPT, acknowledged=["hazard.secret"])
        assert refused.value.code == "hazard.secret"
        review.decide(desk, ref(edited), Verdict.REJECT)
        version = review.reopen(desk, ref(edited))
        assert [h.code for h in version.hazards] == ["hazard.secret"]


def test_a_clean_edit_may_be_accepted_and_promoted(desk: Desk) -> None:
    """`secret` is a finding about words: words without one are internal again."""
    version = pending(desk, f"The deploy token is {VALUE} now.")
    assert version.classification is Classification.SECRET
    clean = review.edit(desk, ref(version), "The deploy token comes from the vault.")
    assert (clean.classification, clean.hazards) == (Classification.INTERNAL, ())
    assert VALUE not in clean.sources[0].quote
    done = review.decide(desk, ref(clean), Verdict.ACCEPT)
    assert done.state is CandidateState.ACCEPTED
    assert preview.build(desk, ref(clean), "line-memory").blocked_by == ()
    assert not files(desk.workspace.root) if (desk.workspace.root / ".aiwg").exists() else True


def test_restricted_is_never_promoted(desk: Desk) -> None:
    """A classification a person chose stays with later versions and blocks the consumer."""
    (event,) = said(desk, "Salaries are reviewed in March.")
    version = propose.propose(
        desk, text="Salaries are reviewed in March.", kind=CandidateKind.PROJECT_FACT,
        key=None, sources=[event.id], classification=Classification.RESTRICTED,
    )  # fmt: skip
    edited = review.edit(desk, ref(version), "Salaries are reviewed in April.")
    assert edited.classification is Classification.RESTRICTED
    review.decide(desk, ref(edited), Verdict.ACCEPT)
    assert preview.build(desk, ref(edited), "line-memory").blocked_by == (
        "promotion.classification",
    )


@pytest.mark.parametrize("code", ["hazard.personal-data", "hazard.too-long"])
def test_an_acknowledgement_is_asked_for_and_recorded(desk: Desk, code: str) -> None:
    """Without it refused, with it accepted and in the decision."""
    text = "Ask ana.b@example.org for access." if "personal" in code else "word " * 120
    version = pending(desk, text)
    with pytest.raises(Refused) as refused:
        review.decide(desk, ref(version), Verdict.ACCEPT)
    assert refused.value.code == code
    done = review.decide(desk, ref(version), Verdict.ACCEPT, acknowledged=[code])
    assert done.decision is not None and done.decision.acknowledged == (code,)
