"""Beliefs end by preview and confirm, and close what they were formed from (spec 2.2, 5.5)."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from core.candidates import review
from core.operations import preview as operations
from core.operations.confirm import confirm
from core.operations.preview import Exact
from core.operations.together import confirm as all_of
from core.ports import Desk
from core.promotion import drift, lifecycle, preview, standing
from core.promotion.consumers.wiki_pages import page_path
from core.promotion.preview import Going
from core.sources import status
from core.verify import verify
from schemas.candidates import CandidateVersion, Verdict
from schemas.common import Page
from schemas.errors import MemdeskError, NotFound, Refused, Stale
from schemas.operations import Receipt
from schemas.promotion import Belief, BeliefState
from tests.making import META, TEXT, accepted, pending, ref, sha

OLD = "Refunds above 250 EUR need a second approver."
NEW = "Refunds above 500 EUR need a second approver."
OTHER = "Staging runs in eu-north-1."
ENDS = ["revoke", "archive", "remove"]


def promoted(
    desk: Desk, words: str = OLD, to: str = "line-memory"
) -> tuple[CandidateVersion, Receipt]:
    """A version that is in memory, and its receipt."""
    version = accepted(desk, words)
    shown = preview.exact(desk, ref(version), to).preview
    return version, confirm(desk, shown.operation_id)


def belief(desk: Desk, name: str | None) -> Belief:
    """A belief as it stands."""
    with desk.store.read() as view:
        found = view.promotion.belief(name or "")
    assert found is not None
    return found


def state(desk: Desk, name: str | None, at: str = "line-memory") -> str:
    """How it stands at a consumer."""
    return next(c.state.value for c in belief(desk, name).consumers if c.consumer == at)


def lines(desk: Desk) -> list[str]:
    """The fact file's lines."""
    return (desk.workspace.root / TEXT).read_text().splitlines()


def entries(desk: Desk) -> list[dict[str, Any]]:
    """The sidecar's entries in their order."""
    document = json.loads((desk.workspace.root / META).read_bytes())
    return list(document["entries"].values())


def fenced(desk: Desk) -> dict[str, str]:
    """Closed messages and why."""
    with desk.store.read() as view:
        found, _ = status.fenced(view, Page(limit=100))
    return {s.event_id: s.cause.code for s in found}


def sources(version: CandidateVersion) -> set[str]:
    """The messages it cites."""
    return {s.event for s in version.sources}


def written(desk: Desk, shown: Exact) -> Receipt:
    """Confirm it; the bytes on disk are the previewed ones."""
    exact = {t.path: t.after for t in operations.look(desk, shown.preview.operation_id).targets}
    receipt = confirm(desk, shown.preview.operation_id)
    found = {p: (desk.workspace.root / p).read_bytes() for p in exact}
    assert found == exact
    assert {t.path: t.after_digest for t in receipt.targets} == {
        p: sha(d) for p, d in found.items()
    }
    return receipt


def test_a_promotion_supersedes_what_it_contradicts(desk: Desk) -> None:
    """One preview: the old line leaves, its entry stays as a tombstone, its message is closed."""
    old, first = promoted(desk)
    promoted(desk, OTHER)
    new = accepted(desk, NEW)
    shown = preview.exact(desk, ref(new), "line-memory")
    assert shown.preview.supersedes == (first.belief,)
    assert set(shown.preview.closes) == sources(old)
    assert [e.code for e in shown.preview.affects if "closes" in e.code] == ["effect.closes"]
    assert fenced(desk) == {}
    receipt = written(desk, shown)
    assert lines(desk) == [OTHER, NEW]
    was, _, now = entries(desk)
    assert (was["value"], was["status"]) == (OLD, "superseded")
    assert was["disposition"]["replacement"] == now["id"]
    assert list(was)[-1] == "disposition"
    assert (state(desk, first.belief), state(desk, receipt.belief)) == ("superseded", "active")
    at = belief(desk, first.belief).consumers[0]
    assert (at.ended_by, at.replacement) == (receipt.receipt_id, receipt.belief)
    assert fenced(desk) == dict.fromkeys(sources(old), "belief.superseded")
    with desk.store.read() as view:
        answer = status.of(view, next(iter(sources(old))))
        assert status.of(view, next(iter(sources(new)))).status.value == "unknown"
    assert (answer.cause.operation, answer.cause.belief) == (receipt.operation_id, first.belief)
    assert answer.beliefs == (first.belief,)
    assert verify(desk).ok
    with pytest.raises(Refused) as err:
        review.undo_last(desk)
    assert err.value.code == "undo.promoted"


def test_a_contradicted_belief_may_stay_beside(sqlite_desk: Desk) -> None:
    """The reviewer says so: nothing ends, nothing is closed, and it is another operation."""
    desk = sqlite_desk
    _, first = promoted(desk)
    new = accepted(desk, NEW)
    over = preview.exact(desk, ref(new), "line-memory").preview
    beside = preview.other_way(desk, over.operation_id)
    assert beside.preview.operation_id != over.operation_id
    assert (beside.preview.supersedes, beside.preview.closes) == ((), ())
    assert preview.other_way(desk, beside.preview.operation_id).preview.operation_id == (
        over.operation_id
    )
    written(desk, beside)
    assert lines(desk) == [OLD, NEW]
    assert (state(desk, first.belief), fenced(desk)) == ("active", {})


@pytest.mark.parametrize("action", ENDS)
def test_a_line_ends_by_preview_and_confirm(desk: Desk, action: str) -> None:
    """The line leaves in every copy, hand-written lines stay, the tombstone says who and why."""
    version, first = promoted(desk)
    text = desk.workspace.root / TEXT
    text.write_bytes(b"By hand.\r\n" + text.read_bytes() + f"{OLD}\n  {OLD}\n".encode())
    shown = lifecycle.preview(desk, action, belief(desk, first.belief), reason="no longer so")
    again = lifecycle.preview(desk, action, belief(desk, first.belief), reason="no longer so")
    assert again.preview.operation_id == shown.preview.operation_id, "the clock moved, the id not"
    assert (lines(desk).count(OLD), state(desk, first.belief)) == (2, "active")
    receipt = written(desk, shown)
    ended = lifecycle.STATES[action].value
    assert text.read_bytes() == b"By hand.\r\n  " + OLD.encode() + b"\n"
    (entry,) = (e for e in entries(desk) if e["value"] == OLD)
    assert (entry["status"], entry["disposition"]["reason"]) == (ended, "no longer so")
    assert entry["disposition"]["reviewer"] == desk.actor.reviewer
    assert (state(desk, first.belief), receipt.belief) == (ended, first.belief)
    assert fenced(desk) == dict.fromkeys(sources(version), f"belief.{ended}")
    assert verify(desk).ok
    replayed = confirm(desk, shown.preview.operation_id)
    assert replayed == receipt.model_copy(update={"replayed": True})
    same = lifecycle.preview(desk, action, belief(desk, first.belief), reason="other words")
    assert same.preview.operation_id == receipt.operation_id, "what did it is answered"
    with pytest.raises(Stale) as err:
        other = next(a for a in ENDS if a != action)
        lifecycle.preview(desk, other, belief(desk, first.belief), at="line-memory")
    assert err.value.code == "belief.ended"


@pytest.mark.parametrize("action", ENDS)
def test_a_page_ends_marked_or_removed(desk: Desk, action: str) -> None:
    """Its words stay, marked in front matter and by a last line; removed, none of them does."""
    version, first = promoted(desk, to="wiki")
    path = desk.workspace.root / page_path(version)
    before = path.read_bytes()
    shown = lifecycle.preview(desk, action, belief(desk, first.belief), reason="it | moved")
    written(desk, shown)
    after, ended = path.read_bytes(), lifecycle.STATES[action].value
    assert f"\nstatus: {ended}\n".encode() in after
    assert b"status: active" not in after
    if action == "remove":
        assert b"250" not in after and b"approver" not in after
    else:
        assert after.startswith(before.replace(b"active", ended.encode()))
        assert rb"it \| moved" in after
    assert (state(desk, first.belief, "wiki"), verify(desk).ok) == (ended, True)
    assert set(fenced(desk)) == sources(version)


def test_pages_edited_by_their_owner_keep_every_byte(sqlite_desk: Desk) -> None:
    """Without front matter, with CRLF, without status: a mark is added and nothing else moves."""
    desk = sqlite_desk
    for own in (b"# Mine\r\n\r\nwords\r\n", b"---\ntitle: x\n---\nwords", b"---\n"):
        version, first = promoted(desk, f"Fact {len(own)} holds.", to="wiki")
        path = desk.workspace.root / page_path(version)
        path.write_bytes(own)
        held = belief(desk, first.belief)
        blocked = lifecycle.preview(desk, "remove", held).preview
        assert blocked.blocked_by == ("belief.drifted",)
        with pytest.raises(Refused):
            confirm(desk, blocked.operation_id)
        assert path.read_bytes() == own
        written(desk, lifecycle.preview(desk, "archive", held))
        after = path.read_bytes()
        kept = own.replace(b"---\ntitle: x\n---\n", b"").strip()
        assert kept in after and b"status: archived" in after
        assert (b"\r\n" in after) is (b"\r\n" in own)


def test_what_memory_says_is_answered_as_of_a_date(desk: Desk) -> None:
    """Before, between and after: each date gets what was in memory then."""
    _, first = promoted(desk)
    between = desk.clock()
    _, second = promoted(desk, NEW)
    after = desk.clock()
    written(desk, lifecycle.preview(desk, "revoke", belief(desk, second.belief)))
    for moment, wanted in ((0, []), (between, [OLD]), (after, [NEW]), (desk.clock(), [])):
        with desk.store.read() as view:
            found, _ = view.promotion.beliefs(Page(limit=10), moment)
        assert [b.statement for b in found] == wanted
        assert all(c.state is BeliefState.ACTIVE for b in found for c in b.consumers)
    with desk.store.read() as view:
        assert len(view.promotion.beliefs(Page(limit=10))[0]) == 2
    assert first.belief != second.belief


def test_one_consumer_ends_and_the_other_stays(desk: Desk) -> None:
    """It must be named where there are two; the claim stands while one holds it."""
    version, first = promoted(desk)
    confirm(desk, preview.exact(desk, ref(version), "wiki").preview.operation_id)
    held = belief(desk, first.belief)
    with pytest.raises(Refused) as err:
        lifecycle.preview(desk, "revoke", held)
    assert err.value.code == "belief.consumer"
    shown = lifecycle.preview(desk, "revoke", held, at="line-memory")
    assert "effect.elsewhere" in [e.code for e in shown.preview.affects]
    written(desk, shown)
    assert (state(desk, first.belief), state(desk, first.belief, "wiki")) == ("revoked", "active")
    again = review.show(desk, ref(pending(desk, OLD)))
    assert [d.ref for d in again.duplicates if d.ref.startswith("bel_")] == [first.belief]
    written(desk, lifecycle.preview(desk, "archive", belief(desk, first.belief)))
    again = review.show(desk, ref(pending(desk, OLD)))
    assert [d.ref for d in again.duplicates if d.ref.startswith("bel_")] == []
    assert verify(desk).ok


def test_words_that_another_belief_says_too_stay(sqlite_desk: Desk) -> None:
    """Two candidates of the same words share a line: ending one leaves it for the other."""
    desk = sqlite_desk
    both = [accepted(desk, OLD), accepted(desk, OLD)]
    going = [Going(ref(v), "line-memory") for v in both]
    receipt = confirm(desk, preview.together(desk, going).preview.operation_id)
    one, two = receipt.beliefs
    shown = lifecycle.preview(desk, "revoke", belief(desk, one))
    assert "another statement says them too" in shown.preview.affects[0].text
    written(desk, shown)
    assert (lines(desk), state(desk, one), state(desk, two)) == ([OLD], "revoked", "active")
    assert entries(desk)[0]["status"] == "active"
    written(desk, lifecycle.preview(desk, "revoke", belief(desk, two)))
    assert (lines(desk), entries(desk)[0]["status"]) == ([], "revoked")
    assert verify(desk).ok


def test_a_belief_takes_anothers_place(sqlite_desk: Desk) -> None:
    """Both stand already: only the old one ends, naming the other's handle."""
    desk = sqlite_desk
    _, first = promoted(desk)
    _, second = promoted(desk, OTHER)
    shown = lifecycle.preview(
        desk, "supersede", belief(desk, first.belief), by=second.belief, reason="moved"
    )
    assert shown.preview.supersedes == (first.belief,)
    written(desk, shown)
    was, by = entries(desk)
    assert (lines(desk), was["status"]) == ([OTHER], "superseded")
    assert was["disposition"]["replacement"] == by["id"]
    assert belief(desk, first.belief).consumers[0].replacement == second.belief
    with pytest.raises(Stale):
        lifecycle.preview(desk, "supersede", belief(desk, second.belief), by=first.belief)
    with pytest.raises(Refused) as err:
        lifecycle.preview(desk, "supersede", belief(desk, second.belief), by=second.belief)
    assert err.value.code == "belief.itself"


def test_what_was_revoked_can_be_reviewed_anew_under_a_new_handle(desk: Desk) -> None:
    """The tombstone stays as it is; the new version forms a belief and an entry of its own."""
    version, first = promoted(desk)
    with pytest.raises(Refused, match="promoted"):
        review.reopen(desk, ref(version))
    written(desk, lifecycle.preview(desk, "revoke", belief(desk, first.belief), reason="why"))
    tombstone = entries(desk)[0]
    again = review.reopen(desk, ref(version))
    review.decide(desk, ref(again), Verdict.ACCEPT, reason="so again")
    receipt = confirm(desk, preview.exact(desk, ref(again), "line-memory").preview.operation_id)
    assert receipt.belief != first.belief
    old, new = entries(desk)
    assert (old, new["status"], new["value"]) == (tombstone, "active", OLD)
    assert old["id"] != new["id"]
    assert lines(desk) == [OLD]
    assert verify(desk).ok


def test_a_formed_statement_that_changes_closes_its_messages(desk: Desk) -> None:
    """Edited or reopened after it was accepted; what was never accepted closes nothing."""
    never = pending(desk, "Pending words.")
    review.edit(desk, ref(never), "Other pending words.")
    refused = review.decide(desk, ref(pending(desk, "Refused words.")), Verdict.REJECT)
    review.reopen(desk, ref(refused))
    assert fenced(desk) == {}
    edited, reopened = accepted(desk, OLD), accepted(desk, OTHER)
    review.edit(desk, ref(edited), NEW)
    again = review.reopen(desk, ref(reopened))
    wanted = dict.fromkeys(sources(edited) | sources(reopened), "candidate.changed")
    assert fenced(desk) == wanted
    review.decide(desk, ref(again), Verdict.ACCEPT)
    assert (fenced(desk), verify(desk).ok) == (wanted, True)


def test_a_refused_or_moved_operation_closes_nothing_and_an_undone_one_leaves_its_fence(
    sqlite_desk: Desk,
) -> None:
    """Before it is prepared nothing is closed; once it is, whatever becomes of it."""
    desk = sqlite_desk
    version, first = promoted(desk)
    shown = lifecycle.preview(desk, "revoke", belief(desk, first.belief)).preview
    text = desk.workspace.root / TEXT
    text.write_text("Edited.\n" + text.read_text())
    with pytest.raises(Stale):
        confirm(desk, shown.operation_id)
    assert fenced(desk) == {}
    shown = lifecycle.preview(desk, "revoke", belief(desk, first.belief)).preview

    def hook(name: str) -> None:
        if name == "prepared":
            text.write_text("Edited again.\n" + text.read_text())

    with pytest.raises(Stale) as err:
        confirm(dataclasses.replace(desk, on_step=hook), shown.operation_id)
    assert err.value.code == "operation.diverged"
    assert fenced(desk) == dict.fromkeys(sources(version), "belief.revoked")
    assert (state(desk, first.belief), verify(desk).ok) == ("active", True)
    assert text.read_text() == f"Edited again.\nEdited.\n{OLD}\n"


def test_an_owners_change_is_found_once_and_never_overwritten(desk: Desk) -> None:
    """The belief drifts, its messages close, the line stays away; archiving only marks it."""
    version, first = promoted(desk)
    page, second = promoted(desk, OTHER, to="wiki")
    assert drift.follow(desk) == []
    (desk.workspace.root / TEXT).write_text("Refunds need nobody.\n")
    with (desk.workspace.root / page_path(page)).open("a") as file:
        file.write("A word of mine.\n")
    assert sorted(drift.follow(desk)) == sorted(filter(None, [first.belief, second.belief]))
    assert drift.follow(desk) == []
    assert state(desk, first.belief) == "drifted"
    assert state(desk, second.belief, "wiki") == "drifted"
    assert fenced(desk) == dict.fromkeys(sources(version) | sources(page), "belief.drifted")
    assert verify(desk).ok
    written(desk, lifecycle.preview(desk, "archive", belief(desk, first.belief)))
    assert lines(desk) == ["Refunds need nobody."]
    assert entries(desk)[0]["status"] == "archived"
    assert (state(desk, first.belief), verify(desk).ok) == ("archived", True)


def test_several_versions_supersede_each_what_it_contradicts(sqlite_desk: Desk) -> None:
    """One preview over two consumers: each ends what stands there, and both messages close."""
    desk = sqlite_desk
    one, _ = promoted(desk)
    two, _ = promoted(desk, "Payouts close at 16:00 on bank days.", to="wiki")
    new = accepted(desk, NEW)
    late = accepted(desk, "Payouts close at 17:00 on bank days.")
    going = [Going(ref(new), "line-memory"), Going(ref(late), "wiki")]
    shown = preview.together(desk, going)
    assert len(shown.preview.supersedes) == 2
    assert set(shown.preview.closes) == sources(one) | sources(two)
    assert len(all_of(desk, shown.preview.operation_id).receipts) == 2
    assert lines(desk) == [NEW]
    assert b"status: superseded" in (desk.workspace.root / page_path(two)).read_bytes()
    assert set(fenced(desk)) == sources(one) | sources(two)
    assert verify(desk).ok


def test_a_fence_is_never_lifted_nor_altered(sqlite_desk: Desk) -> None:
    """Not by the store's own hands, and verify names what somebody else took away."""
    desk = sqlite_desk
    _, first = promoted(desk)
    written(desk, lifecycle.preview(desk, "revoke", belief(desk, first.belief)))
    with closing(sqlite3.connect(desk.workspace.folder / "memdesk.db")) as lite:
        for verb in ("DELETE FROM fence", "UPDATE fence SET cause = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="immutable"):
                lite.execute(verb)
        made = lite.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE 'fence_no_%'")
        triggers = made.fetchall()
        for name, _sql in triggers:
            lite.execute(f"DROP TRIGGER {name}")
        lite.execute("DELETE FROM fence")
        for _name, sql in triggers:
            lite.execute(sql)
        lite.commit()
    report = verify(desk)
    assert not report.ok and any(f.what.startswith("fence op_") for f in report.faults)


def test_unknown_beliefs_and_consumers_are_refused(sqlite_desk: Desk) -> None:
    """By an id that is none, and at a consumer where it never was."""
    _, first = promoted(sqlite_desk)
    with sqlite_desk.store.read() as view, pytest.raises(NotFound):
        lifecycle.resolve(view, "bel_" + "0" * 32)
    with pytest.raises(MemdeskError) as err:
        lifecycle.preview(sqlite_desk, "revoke", belief(sqlite_desk, first.belief), at="wiki")
    assert err.value.code == "belief.consumer"


def test_a_receipt_says_how_its_files_stand_now(desk: Desk) -> None:
    """As written, written later by another receipt, changed by hand, gone."""
    _, first = promoted(desk)
    assert set(standing.written(desk, [first]).values()) == {"as written"}
    _, second = promoted(desk, OTHER)
    found = standing.written(desk, [first, second])
    assert found[f"{first.receipt_id} {TEXT}"] == f"written later by {second.receipt_id}"
    assert found[f"{second.receipt_id} {TEXT}"] == "as written"
    path = desk.workspace.root / TEXT
    path.write_text("Mine.\n")
    assert standing.written(desk, [second])[f"{second.receipt_id} {TEXT}"] == (
        "changed outside memdesk"
    )
    path.unlink()
    assert standing.written(desk, [first])[f"{first.receipt_id} {TEXT}"] == "gone"
