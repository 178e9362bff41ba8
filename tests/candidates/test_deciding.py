"""Deciding: exactly one decider wins, deferral ends, nothing accepts by itself (spec 4.4)."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from core.candidates import review
from core.candidates.extract import extract
from core.ports import Desk
from core.promotion import preview
from core.verify import verify
from schemas.candidates import CandidateKind, CandidateState, Verdict
from schemas.common import Page
from schemas.errors import MemdeskError, Refused, Stale
from schemas.storage import CandidateFilter
from tests.making import accepted, pending, ref, said

DECIDER = """
import json, sys
from pathlib import Path
from core import desk as desks
from core.candidates import review
from schemas.candidates import Verdict
from schemas.common import Actor, Door
from schemas.errors import MemdeskError
root, name, url, *refs = sys.argv[1:]
desk = desks.open_(Path(root), Actor(reviewer=name, door=Door.COMMAND), store_url=url or None)
out = []
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
for n, one in enumerate(refs):
    verdict = Verdict.ACCEPT if (n + len(name)) % 2 else Verdict.REJECT
    try:
        review.decide(desk, review.CandidateRef(one, 1), verdict)
        out.append("won")
    except MemdeskError as err:
        out.append(err.code)
print(json.dumps(out))
"""


def test_a_deferred_version_can_be_accepted_or_rejected(desk: Desk) -> None:
    """Deferring is no end: the same version is decided later, and both decisions are kept."""
    for verdict, state in ((Verdict.ACCEPT, "accepted"), (Verdict.REJECT, "rejected")):
        version = pending(desk, f"The {state} port is 8443.")
        review.decide(desk, ref(version), Verdict.DEFER, reason="later", until=5)
        done = review.decide(desk, ref(version), verdict, reason="now")
        assert done.state.value == state
        assert done.decision is not None and done.decision.reason == "now"
        with desk.store.read() as view:
            both = view.candidates.decisions(version.id, 1)
        assert [d.verdict for d in both] == [Verdict.DEFER, verdict]
    assert verify(desk).ok


def test_an_altered_decision_is_found(sqlite_desk: Desk) -> None:
    """Each ledger entry answers for one stored decision, also when a version has two."""
    version = pending(sqlite_desk)
    review.decide(sqlite_desk, ref(version), Verdict.DEFER)
    review.decide(sqlite_desk, ref(version), Verdict.ACCEPT, reason="fine")
    database = sqlite3.connect(sqlite_desk.workspace.folder / "memdesk.db")
    database.execute("DROP TRIGGER decision_no_update")
    database.execute(
        "UPDATE decision SET document = CAST(replace(CAST(document AS TEXT), 'defer', 'reject') AS BLOB)"
        " WHERE turn = 1"
    )
    database.commit()
    database.close()
    found = [f.code for f in verify(sqlite_desk).faults]
    assert "evidence.altered" in found


def test_old_and_decided_versions_are_refused_by_their_codes(desk: Desk) -> None:
    """An old version is stale, a decided one decided, with who did it."""
    version = pending(desk)
    review.decide(desk, ref(version), Verdict.REJECT, reason="no")
    with pytest.raises(Stale) as decided:
        review.decide(desk, ref(version), Verdict.ACCEPT)
    assert decided.value.code == "candidate.decided"
    assert decided.value.details["reason"] == "no"
    second = review.reopen(desk, ref(version))
    assert (second.version, second.renews, second.state) == (2, 1, CandidateState.PENDING)
    with pytest.raises(Stale) as stale:
        review.decide(desk, ref(version), Verdict.ACCEPT)
    assert stale.value.code == "candidate.stale-version"
    assert stale.value.details["newest"] == 2


def test_of_many_threads_exactly_one_decides(desk: Desk) -> None:
    """Eight reviewers at once: one decision, seven refusals."""
    version = pending(desk)
    outcome: Counter[str] = Counter()

    def one(n: int) -> None:
        who = desk.actor.model_copy(update={"reviewer": f"r{n}"})
        mine = dataclasses.replace(desk, actor=who)
        verdict = Verdict.ACCEPT if n % 2 else Verdict.REJECT
        try:
            review.decide(mine, ref(version), verdict)
            outcome["won"] += 1
        except MemdeskError as err:
            outcome[err.code] += 1

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert outcome == {"won": 1, "candidate.decided": 7}


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_of_two_processes_exactly_one_decides_each(
    backend: str, request: pytest.FixtureRequest, workspace: Path
) -> None:
    """Two processes run over the same eight candidates: each is decided once."""
    from tests.conftest import make_desk

    url = request.getfixturevalue("postgres_url") if backend == "postgresql" else None
    desk = make_desk(workspace, url)
    ids = [pending(desk, f"Service {n} listens on port 9{n:03}.").id for n in range(8)]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", DECIDER, str(workspace), name, url or "", *ids],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "bb")
    ]
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    results = [child.communicate("go\n", timeout=60)[0] for child in children]
    for a, b in zip(*(json.loads(r) for r in results), strict=True):
        assert sorted([a, b]) == ["candidate.decided", "won"]
    assert verify(desk).ok
    desk.store.close()


def test_two_editors_at_once_make_one_version_each_or_are_refused(desk: Desk) -> None:
    """Eight edits of version 1 at once: one version 2, seven `candidate.stale-version`."""
    version = pending(desk)
    outcome: Counter[str] = Counter()

    def one(n: int) -> None:
        try:
            review.edit(desk, ref(version), f"Releases are tagged on day {n}.")
            outcome["won"] += 1
        except MemdeskError as err:
            outcome[err.code] += 1

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert outcome == {"won": 1, "candidate.stale-version": 7}


def test_nothing_but_a_decision_accepts(desk: Desk) -> None:
    """Import, extraction, proposal, edit, preview and verify leave every version pending."""
    said(desk, "Remember: releases are tagged on Tuesdays.", "From now on always use ruff here.")
    extract(desk)
    version = pending(desk, "The API listens on port 8443.")
    edited = review.edit(desk, ref(version), "The API listens on port 8444.")
    with pytest.raises(Refused) as refused:
        preview.build(desk, ref(edited), "line-memory")
    assert refused.value.code == "candidate.not-accepted"
    extract(desk)
    verify(desk)
    with desk.store.read() as view:
        rows, _ = view.candidates.rows(CandidateFilter(()), Page())
        assert {r.state for r in rows} == {CandidateState.PENDING}
        assert not view.candidates.names()["decision"]


def test_only_review_decides_in_the_code() -> None:
    """One place in core calls the store's `decide`."""
    root = Path(__file__).parents[2]
    callers = [
        str(p.relative_to(root))
        for floor in ("core", "store", "tui")
        for p in sorted((root / floor).rglob("*.py"))
        if "candidates.decide(" in p.read_text()
    ]
    assert callers == ["core/candidates/review.py"]


def test_a_procedure_needs_two_independent_sources(desk: Desk) -> None:
    """Two messages of one session are one source; two sessions are two."""
    from core.candidates import propose

    text = "Run the linter before each commit."
    first, again = said(desk, text, f"{text} Yes.", session="one")
    (second,) = said(desk, text, session="two")
    kind = CandidateKind.PROCEDURE
    alone = propose.propose(desk, text=text, kind=kind, key="lint", sources=[first.id, again.id])
    with pytest.raises(Refused) as refused:
        review.decide(desk, ref(alone), Verdict.ACCEPT)
    assert refused.value.code == "candidate.second-source"
    both = propose.propose(desk, text=text, kind=kind, key="lint2", sources=[first.id, second.id])
    assert review.decide(desk, ref(both), Verdict.ACCEPT).state is CandidateState.ACCEPTED


def test_reopen_is_refused_once_an_operation_has_been_applied(desk: Desk) -> None:
    """A promoted version can't be undone by review."""
    from core.operations.confirm import confirm

    version = accepted(desk)
    confirm(desk, preview.build(desk, ref(version), "line-memory").operation_id)
    for call in (review.reopen, lambda d, r: review.edit(d, r, "Another statement here.")):
        with pytest.raises(Refused) as refused:
            call(desk, ref(version))
        assert refused.value.code == "candidate.in-promotion"


def test_a_list_finds_words_as_they_are_written(desk: Desk) -> None:
    """Capitals outside ASCII, and `%` and `_` as themselves, on both databases."""
    for text in ("Österreich is the first market.", "Coverage is 100% in snake_case."):
        pending(desk, text)
    for words, count in (
        ("Österreich", 1),
        ("first MARKET", 1),
        ("100%", 1),
        ("e_c", 1),
        ("1_0", 0),
    ):
        with desk.store.read() as view:
            rows, _ = view.candidates.rows(CandidateFilter((), words), Page())
        assert len(rows) == count, words
