"""What a reviewer says of an item: recorded with a reason, correctable, sealed in the ledger."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from core.compaction import marks
from core.compaction.observe import observe
from core.compaction.overview import Overview
from core.ports import Desk
from core.verify import verify
from schemas.compaction import MarkVerdict
from schemas.errors import NotFound, Refused
from schemas.reasons import REASONS
from tests.compaction.sessions import agent, boundary, imported, item, owner, seen, summary
from tests.conftest import Command

RULE = "Never push to the main branch."
ONCE = "Rename the batch class to Settlement."


def lossy(desk: Desk) -> str:
    """A session that lost one rule; answers the rule's locator."""
    lines = (owner(ONCE), agent("done"), owner(RULE), agent("ok"), boundary(), summary("n"))
    return item(seen(desk, *lines).boundaries[0], "main").locator


def test_a_loss_leaves_the_count_with_a_reason_only(desk: Desk) -> None:
    """The item stays, with who said it and why; without a reason nothing changes."""
    rule = lossy(desk)
    at = observe(desk, "S").boundaries[0].at
    with pytest.raises(Refused, match=r"compaction\.reason-missing"):
        marks.mark(desk, "S", rule, MarkVerdict.NOT_A_LOSS, boundary=at, reason="  ")
    assert observe(desk, "S").boundaries[0].lost == {"standing": 1}
    marks.mark(desk, "S", rule, MarkVerdict.NOT_A_LOSS, boundary=at, reason="it is in\nCLAUDE.md")
    (cut,) = observe(desk, "S").boundaries
    found = item(cut, "main")
    assert (cut.lost, found.state.value) == ({}, "not-a-loss")
    assert found.reasons == ("compaction.marked",)
    assert found.mark is not None and found.mark.reason == "it is in CLAUDE.md"
    assert found.mark.reviewer == desk.actor.reviewer
    marks.mark(desk, "S", rule, MarkVerdict.LIFTED, boundary=at)
    assert observe(desk, "S").boundaries[0].lost == {"standing": 1}


def test_a_class_is_corrected_at_every_compaction(desk: Desk) -> None:
    """A request that stands is compared like a rule; a rule that was for once is no loss."""
    rule = lossy(desk)
    once = item(observe(desk, "S").boundaries[0], "Settlement").locator
    marks.mark(desk, "S", once, MarkVerdict.STANDING)
    marks.mark(desk, "S", rule, MarkVerdict.ONE_OFF)
    (cut,) = observe(desk, "S").boundaries
    assert (item(cut, "Settlement").class_.value, item(cut, "Settlement").state.value) == (
        "standing",
        "missing",
    )
    assert (item(cut, "main").class_.value, item(cut, "main").state.value) == (
        "one-off",
        "not-a-loss",
    )
    assert cut.lost == {"standing": 1}


def test_saying_it_twice_writes_once(desk: Desk) -> None:
    """A repeated call answers the first mark and adds no row and no entry."""
    rule = lossy(desk)
    first = marks.mark(desk, "S", rule, MarkVerdict.ONE_OFF)
    with desk.store.read() as view:
        before = view.ledger.head().seq
    assert marks.mark(desk, "S", rule, MarkVerdict.ONE_OFF) == first
    with desk.store.read() as view:
        assert view.ledger.head().seq == before
        assert len(view.compaction.mark_numbers()) == 1


def test_only_items_of_the_session_can_be_marked(desk: Desk) -> None:
    """A locator that no compaction names is refused."""
    lossy(desk)
    with pytest.raises(NotFound, match=r"compaction\.no-item"):
        marks.mark(desk, "S", "ev_" + "0" * 32 + "#b0-4", MarkVerdict.ONE_OFF)


def test_marks_are_sealed_and_verify_finds_what_was_done_to_them(desk: Desk) -> None:
    """Altered, added behind the chain's back, removed: each is named."""
    rule = lossy(desk)
    marks.mark(desk, "S", rule, MarkVerdict.ONE_OFF)
    assert verify(desk).ok
    mine = f"ws = {desk.store._ws}"  # type: ignore[attr-defined]

    def faults(*statements: str) -> list[str]:
        engine = sa.create_engine(desk.store._db.url, poolclass=sa.NullPool)  # type: ignore[attr-defined]
        with engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
        engine.dispose()
        return [f"{f.what} {f.detail}" for f in verify(desk).faults]

    assert faults(f"UPDATE compaction_mark SET item = 'other' WHERE {mine}") == [
        "compaction-mark 1 was altered"
    ]
    added = (
        "INSERT INTO compaction_mark SELECT ws, 2, session, item, boundary, document "
        f"FROM compaction_mark WHERE {mine}"
    )
    assert "compaction-mark 2 was added" in faults(added)
    assert faults(f"DELETE FROM compaction_mark WHERE {mine}") == ["compaction-mark 1 is missing"]


def test_the_overview_reads_again_only_what_changed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that grew or was marked is observed anew; the others are known."""
    rule = lossy(desk)
    imported(desk, owner(RULE, sessionId="T"), boundary(sessionId="T"), summary("n", sessionId="T"))
    read: list[str] = []
    whole = observe

    def counted(desk: Desk, session: str) -> object:
        read.append(session)
        return whole(desk, session)

    monkeypatch.setattr("core.compaction.overview.observe.observe", counted)
    overview = Overview(desk)
    assert (overview.losing(), sorted(read)) == (2, ["S", "T"])
    assert (overview.losing(), len(read)) == (2, 2)
    marks.mark(desk, "S", rule, MarkVerdict.ONE_OFF)
    read.clear()
    assert (overview.losing(), read) == (1, ["S"])


def test_the_command_prints_what_scripts_rely_on(desk: Desk, command: Command) -> None:
    """The keys of the contract; a session that was never compacted has an empty list."""
    lossy(desk)
    imported(desk, owner("hi", sessionId="T"))
    options = []
    if desk.store.describe()["backend"] == "postgresql":
        options = ["--store", desk.store._db.url]  # type: ignore[attr-defined]
    found = command.json(*options, "compaction", "observe", "S")
    (cut,) = found["boundaries"]
    assert found["session"] == "S" and found["host"] == "claude-code"
    assert {"at", "trigger", "window", "segments", "items"} <= set(cut)
    assert [(i["class"], i["state"], i["quote"]) for i in cut["items"]] == [
        ("standing", "missing", RULE),
        ("one-off", "not-a-loss", ONCE),
    ]
    assert all(i["locator"].startswith("ev_") for i in cut["items"])
    assert command.json(*options, "compaction", "observe", "T")["boundaries"] == []
    missing = command.json(*options, "compaction", "observe", "nowhere", status=4)
    assert missing["error"]["code"] == "id.not-found"


def test_the_list_of_all_is_by_loss_and_pages_by_session(
    sqlite_desk: Desk, command: Command
) -> None:
    """The most rules lost first; the report counts a fork's copy once."""
    for n, name in enumerate("ABC"):
        rules = [owner(f"Never touch the {w} table.", sessionId=name) for w in ("x1", "y2")[:n]]
        imported(sqlite_desk, *rules, boundary(sessionId=name), summary("nothing", sessionId=name))
    found = command.json("compaction", "observe", "--all")
    assert [r["session"] for r in found["items"]] == ["C", "B", "A"]
    assert found["report"]["lost_standing"] == 3 and found["next"] is None
    first = command.json("compaction", "observe", "--all", "--limit", "2")
    rest = command.json("compaction", "observe", "--all", "--after", first["next"])
    assert [r["session"] for r in (*first["items"], *rest["items"])] == ["B", "A", "C"]
    status, out, _err = command.run("compaction", "observe", "--all")
    assert status == 0 and "rules lost 3" in out
    assert command.run("compaction", "observe")[0] == 2
    assert command.run("compaction", "observe", "A", "--all")[0] == 2


def test_a_credential_in_a_rule_is_masked_for_people(sqlite_desk: Desk, command: Command) -> None:
    """Its value stays in the evidence."""
    key = "sk_" + "test_" + "51Hx" * 6
    seen(sqlite_desk, owner(f"Remember: the sandbox key is {key}"), boundary(), summary("n"))
    _status, out, _err = command.run("compaction", "observe", "S")
    assert "the sandbox key is" in out and key not in out


def test_every_code_of_an_observation_is_registered() -> None:
    """`explain` knows each."""
    assert {c for c in REASONS if c.startswith("compaction.")} >= {
        "compaction.missing",
        "compaction.value-changed",
        "compaction.superseded",
        "compaction.turn-ended",
        "compaction.marked",
        "compaction.summary-sealed",
        "compaction.summary-absent",
        "compaction.other-script",
        "compaction.window-elsewhere",
        "compaction.results-cleared",
        "compaction.unanswered-call",
    }
