"""Near duplicates: found through an index, shown beside the decision, never taken for conflicts."""

from __future__ import annotations

import pytest

from core import alike
from core.alike import Likeness, bands, compare
from core.candidates import review, rules
from core.candidates.lanes import Lane
from core.ports import Desk
from schemas.candidates import CandidateRow, Verdict
from schemas.storage import CandidateFilter
from tests.conftest import Command
from tests.desks import promoted
from tests.making import pending, ref

NEAR = [
    (
        "Webhook secrets rotate on the first of the month.",
        "The webhook secret rotates on the first of each month.",
    ),
    (
        "Ask me before adding a dependency to pyproject.toml.",
        "Always ask me before you add dependencies to pyproject.toml.",
    ),
    ("Staging runs in eu-north-1 only.", "Staging runs only in eu-north-1."),
    (
        "Commit subjects are imperative, at most 60 characters.",
        "Commit subject lines are imperative, max 60 characters.",
    ),
    ("Prefer uv over pip.", "Prefer uv over pip in this repository."),
    ("Tests need REDIS_URL set, or they hang.", "Tests hang unless REDIS_URL is set."),
    ("Payout batches close at 17:00 on bank days.", "Payout batches are closed at 17:00 on bank days."),
]  # fmt: skip
CHANGED = [
    ("Refunds above 250 EUR need a second approver.", "Refunds above 500 EUR need a second approver."),
    ("Ledger export runs at 02:00 UTC.", "Ledger export runs at 02:00 CET."),
    ("Use pnpm instead of npm here.", "Use yarn instead of npm here."),
    ("Never push to the main branch.", "Always push to the main branch."),
    ("Releases are tagged on Tuesdays.", "Releases are tagged on Fridays."),
    ("Retry the export three times.", "Retry the export four times."),
    ("Payment notices go to `ops-eu`.", "Payment notices go to `ops-us`."),
    ("The API listens on 10.0.0.1.", "The API listens on 10.0.0.2."),
    ("Amounts are integers in minor units.", "Amounts are never integers in minor units."),
    ("決済は17時に締め切られる。", "決済は18時に締め切られる。"),
]  # fmt: skip
APART = [
    (
        "Run the linter before each commit.",
        "Run the linter before each commit and keep its log in the build folder for 30 days.",
    ),
]


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [(*p, Likeness.NEAR) for p in NEAR]
    + [(*p, Likeness.CHANGED) for p in CHANGED]
    + [(*APART[0], Likeness.APART)],
)
def test_what_two_statements_are_to_each_other(a: str, b: str, wanted: Likeness) -> None:
    """Words may be inflected, moved or added; a number, a name, a word or a negation may not change."""
    assert compare(a, b) is wanted
    assert compare(b, a) is wanted, "the order makes no difference"


VALUES = [
    ("The staging database is db-stage.", "The staging database is db-stage2."),
    ("We use Postgres 15.", "Use PostgreSQL 16."),
    ("We run Postgres 15.", "Use Postgres 16."),
    ("Production uses Postgres15.", "Production runs on Postgres 16."),
    ("Tests run on python3.11.", "Tests run on Python 3.12."),
    ("Builds go through node-18.", "Builds go through Node 20."),
    ("Staging runs in eu-north-1 only.", "Staging runs in eu-west-1 only."),
    ("Hash passwords with md5.", "Hash passwords with sha256."),
    ("The API listens on port 8080.", "The API listens on port 9090."),
]
NO_VALUES = [
    ("Production runs Postgres 15.", "Staging runs Postgres 16."),
    ("Use Postgres 15 for billing.", "Use Redis 7 for billing queues."),
    ("stage has no cron jobs.", "stage2 has no cron jobs."),
    ("worker-1 handles payouts.", "worker-2 handles refunds."),
    ("Python 3.11 is required.", "Python 3.12 is supported."),
    ("Use Redis 7 for caching.", "Use Redis 7 for queues."),
    ("The payments database is db-pay.", "The staging database is db-pay2."),
    ("Run the linter with make check.", "Run the tests with make check2."),
    ("We use Postgres 15.", "We use Postgres 15 in production."),
]


def test_another_value_of_the_same_is_a_conflict_whichever_came_first(sqlite_desk: Desk) -> None:
    """The number of a name and a version are values, wherever the key is proposed; no other word is."""
    pairs = [(*p, True) for p in VALUES] + [(*p, False) for p in NO_VALUES]
    for a, b, conflict in [*pairs, *((b, a, c) for a, b, c in pairs)]:
        one, two = (pending(sqlite_desk, text) for text in (a, b))
        found = [review.show(sqlite_desk, ref(v)).conflicts for v in (one, two)]
        wanted = [[b], [a]] if conflict else [[], []]
        assert [[c.statement for c in f] for f in found] == wanted
        for version in (one, two):
            review.decide(sqlite_desk, ref(version), Verdict.REJECT)


def test_a_rules_value_is_contradicted_by_another(sqlite_desk: Desk) -> None:
    """What a rule file says of a version stands against what the owner says of it."""
    (sqlite_desk.workspace.root / "CLAUDE.md").write_text(
        "# Stack\n\n- Production runs PostgreSQL 16.\n"
    )
    rules.follow(sqlite_desk)
    said = pending(sqlite_desk, "Production runs on Postgres 15.")
    (found,) = review.show(sqlite_desk, ref(said)).conflicts
    assert (found.code, found.ref) == ("conflict.rule", "CLAUDE.md:3")


@pytest.mark.parametrize(("a", "b"), NEAR)
def test_near_duplicates_share_a_band(a: str, b: str) -> None:
    """Under the same secret alone; under another one the bands say nothing."""
    assert set(bands(b"s" * 32, a)) & set(bands(b"s" * 32, b))
    assert not set(bands(b"s" * 32, a)) & set(bands(b"t" * 32, a))
    assert all(0 <= x < 1 << 63 for x in bands(b"s" * 32, a))


@pytest.mark.parametrize("text", ["", " ", "...", "!", "the", "\x00", "a" * 9_000, "no " * 3_000])
def test_any_text_can_be_compared(text: str) -> None:
    """Empty, all stop words, very long: an answer, and it is its own equal or nothing alike."""
    assert compare(text, "Releases are tagged on Tuesdays.") is not Likeness.NEAR
    assert compare(text, text) in Likeness and len(bands(b"k", text)) > 0


def rows(desk: Desk) -> list[CandidateRow]:
    """Every candidate as the list has it."""
    with desk.store.read() as view:
        return view.candidates.window(CandidateFilter(()), 0, 100)


def test_a_near_duplicate_is_marked_and_shown_with_what_it_is_near_to(desk: Desk) -> None:
    """Both rows carry the mark; the accepted one is named first, with its state; no conflict."""
    first = pending(desk, NEAR[0][0], key="webhook.rotation")
    third = pending(desk, "Webhook secrets rotate on the first of every month.", key="other")
    second = pending(desk, NEAR[0][1], key="webhook.rotation")
    review.decide(desk, ref(third), Verdict.ACCEPT)
    shown = review.show(desk, ref(second))
    assert [(n.statement, n.state, n.code) for n in shown.near] == [
        (third.statement, "accepted", "duplicate.near"),
        (first.statement, "pending", "duplicate.near"),
    ]
    assert not shown.conflicts and not shown.duplicates
    assert all(r.near and not r.conflict for r in rows(desk))
    assert {r.lane for r in rows(desk)} == {Lane.ASKED}
    review.decide(desk, ref(first), Verdict.REJECT)
    assert [n.ref for n in review.show(desk, ref(second)).near] == [third.id]


def test_a_changed_value_is_a_conflict_and_an_addition_is_neither(desk: Desk) -> None:
    """Under one key: another number contradicts, saying more does not."""
    for a, b in CHANGED[:3]:
        one, two = (pending(desk, t, key=a[:20]) for t in (a, b))
        found = review.show(desk, ref(two))
        assert [c.ref for c in found.conflicts] == [one.id] and not found.near
    one, two = (pending(desk, t, key="linter") for t in APART[0])
    found = review.show(desk, ref(two))
    assert not found.conflicts and not found.near
    mine = [r for r in rows(desk) if r.key == "linter"]
    assert [(r.conflict, r.near, r.lane) for r in mine] == [(False, False, Lane.ASKED)] * 2


def test_what_is_in_memory_is_near_too(desk: Desk) -> None:
    """A promoted statement keeps its likeness under its belief, without a candidate's state."""
    promoted(desk, pending(desk, NEAR[2][0]))
    later = pending(desk, NEAR[2][1])
    (near,) = review.show(desk, ref(later)).near
    assert (near.layer, near.state, near.statement) == ("line-memory", None, NEAR[2][0])
    assert near.ref.startswith("bel_")


def test_an_edit_is_compared_anew(desk: Desk) -> None:
    """A version with another number is near nothing any more."""
    one, two = (pending(desk, t, key="k") for t in NEAR[6])
    assert review.show(desk, ref(two)).near
    edited = review.edit(desk, ref(two), NEAR[6][1].replace("17", "18"))
    found = review.show(desk, ref(edited))
    assert not found.near and [c.ref for c in found.conflicts] == [one.id]
    assert not review.show(desk, ref(one)).near


def test_scripts_see_near_duplicates(command: Command, workspace: object) -> None:
    """`show --json` has them under `near`, the plain form in a line, `explain` says what it means."""
    from tests.conftest import make_desk

    desk = make_desk(command.root)
    pending(desk, NEAR[0][0])
    later = pending(desk, NEAR[0][1])
    desk.store.close()
    shown = command.json("--json", "candidates", "show", later.id)
    assert [n["statement"] for n in shown["near"]] == [NEAR[0][0]]
    assert "~ duplicate.near pending" in command.run("candidates", "show", later.id)[1]
    assert "nearly the same" in command.json("--json", "explain", "duplicate.near")["meaning"]


def test_a_statement_is_compared_with_few_others(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is unlike never meets the comparison, however much there is."""
    for n in range(60):
        pending(
            sqlite_desk, f"Service number {n} listens on port {9000 + n} of host h{n}.", key=f"{n}"
        )
    met: list[str] = []
    real = alike.compare
    monkeypatch.setattr(alike, "compare", lambda a, b: met.append(b) or real(a, b))
    pending(sqlite_desk, "The service number 7 is listening on port 9007 of host h7.", key="new")
    assert len(met) <= 3 and any("9007" in m for m in met)


def test_a_candidate_is_not_beside_the_belief_formed_from_it(desk: Desk) -> None:
    """Promoted, it is no duplicate of itself, in the row as in the detail; another one still is."""
    one = pending(desk, "Releases are tagged on Tuesdays.")
    promoted(desk, one)
    shown = review.show(desk, ref(one))
    assert (shown.duplicates, shown.near, shown.conflicts) == ((), (), ())
    with desk.store.read() as view:
        row = view.candidates.row(one.id)
    assert row is not None and not (row.duplicate or row.near or row.conflict)
    two = pending(desk, "Releases are tagged on Tuesdays", key="releases")
    beside = review.show(desk, ref(two)).duplicates
    with desk.store.read() as view:
        belief = view.promotion.belief_of(one.id, 1)
        row = view.candidates.row(two.id)
    assert belief is not None and [d.ref for d in beside] == [belief.id]
    assert row is not None and row.duplicate


def test_what_stands_beside_is_named_with_who_and_when(desk: Desk) -> None:
    """In memory: who promoted it and when, as its receipt has it; a candidate: its author, its time."""
    old = pending(desk, "Releases are tagged on Tuesdays.", key="releases")
    receipt = promoted(desk, old)
    waiting = pending(desk, "Releases are tagged on Fridays.", key="releases")
    third = pending(desk, "Releases are tagged on Mondays.", key="releases")
    new = review.show(desk, ref(third))
    found = {c.ref: (c.by, c.since, c.state) for c in new.conflicts}
    assert found == {
        receipt.belief: (receipt.reviewer, receipt.time, None),
        waiting.id: ("owner", waiting.created, "pending"),
    }
