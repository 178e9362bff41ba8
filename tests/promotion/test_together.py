"""Several candidates in one preview, to one consumer or more: one id, one confirm (spec 5.4)."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from core.candidates import review
from core.operations import preview as operations
from core.operations.together import confirm, receipts
from core.ports import Desk
from core.promotion import preview, standing
from core.promotion.preview import Going
from core.verify import verify
from schemas.candidates import CandidateVersion, Verdict
from schemas.errors import MemdeskError, Refused, Stale
from schemas.operations import OperationState
from tests.making import META, TEXT, accepted, files, pending, ref

WORDS = ["Releases are tagged on Tuesdays.", "Tests run in Docker.", "Staging is eu-north-1."]


def going(versions: list[CandidateVersion], *to: str) -> list[Going]:
    """Each version to its consumer, line memory if none is named."""
    names = [*to, *["line-memory"] * (len(versions) - len(to))]
    return [Going(ref(v), c) for v, c in zip(versions, names, strict=True)]


def test_several_facts_are_written_by_one_operation_in_the_order_they_were_decided(
    desk: Desk,
) -> None:
    """One diff, one receipt, a belief each; the order they are named in makes no other operation."""
    versions = [accepted(desk, w, reason=f"because {n}") for n, w in enumerate(WORDS)]
    shown = preview.together(desk, going(versions)).preview
    assert preview.together(desk, going(versions[::-1])).preview.operation_id == shown.operation_id
    assert [(v.statement, v.reason) for v in shown.versions] == [
        (w, f"because {n}") for n, w in enumerate(WORDS)
    ]
    assert [t.path for t in shown.targets] == [TEXT, META]
    assert (shown.sinks, shown.candidate, shown.subject.count(" ")) == ((), "", 2)
    written = confirm(desk, shown.operation_id)
    (receipt,) = written.receipts
    assert (desk.workspace.root / TEXT).read_text() == "".join(f"{w}\n" for w in WORDS)
    with desk.store.read() as view:
        held = {i: view.promotion.belief(i) for i in receipt.beliefs}
    assert [b.statement for b in held.values() if b] == WORDS
    assert receipt.belief is None
    entries = json.loads((desk.workspace.root / META).read_bytes())["entries"]
    assert [e["value"] for e in entries.values()] == WORDS
    assert [e["sources"][0]["reason"] for e in entries.values()] == [
        f"because {n}" for n in range(3)
    ]
    assert verify(desk).ok
    again = confirm(desk, shown.operation_id)
    assert again.receipts == (receipt.model_copy(update={"replayed": True}),)


def test_the_same_words_twice_are_one_line_with_both_sources(sqlite_desk: Desk) -> None:
    """Two candidates of one claim, told by two sessions."""
    versions = [accepted(sqlite_desk, WORDS[0]), accepted(sqlite_desk, WORDS[0])]
    shown = preview.together(sqlite_desk, going(versions)).preview
    confirm(sqlite_desk, shown.operation_id)
    assert (sqlite_desk.workspace.root / TEXT).read_text() == f"{WORDS[0]}\n"
    (entry,) = json.loads((sqlite_desk.workspace.root / META).read_bytes())["entries"].values()
    assert len(entry["sources"]) == 2


def test_several_consumers_are_one_preview_with_a_receipt_each(desk: Desk) -> None:
    """Nothing of it is stored but the whole until it is confirmed; each consumer then ends alone."""
    versions = [accepted(desk, w) for w in WORDS]
    shown = preview.together(desk, going(versions, "line-memory", "wiki", "wiki")).preview
    assert shown.consumer == "line-memory+wiki"
    assert [v.consumer for v in shown.versions] == ["line-memory", "wiki", "wiki"]
    assert [t.path.split("/")[1] for t in shown.targets] == ["memory", "memory", "wiki", "wiki"]
    with desk.store.read() as view:
        assert [view.operations.operation(s) for s in shown.sinks] == [None, None]
    wanted = {t.path: t.after for t in operations.look(desk, shown.operation_id, text=True).targets}
    written = confirm(desk, shown.operation_id)
    assert files(desk.workspace.root) == wanted
    assert [r.consumer for r in written.receipts] == ["line-memory", "wiki"]
    assert [r.operation_id for r in written.receipts] == list(shown.sinks)
    assert (written.state, written.failed) == (OperationState.APPLIED, ())
    assert [r.replayed for r in confirm(desk, shown.operation_id).receipts] == [True, True]
    assert verify(desk).ok
    with pytest.raises(Refused, match="promoted"):
        review.reopen(desk, ref(versions[1]))
    found = preview.exact(desk, ref(versions[1]), "wiki").preview
    assert found.operation_id == shown.sinks[1], "the operation that wrote it is answered"


def test_one_consumer_that_fails_leaves_the_others_receipt_and_is_retried_alone(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """The wiki's folder is a link out of the workspace only while it is written to."""
    desk = sqlite_desk
    versions = [accepted(desk, w) for w in WORDS[:2]]
    shown = preview.together(desk, going(versions, "line-memory", "wiki")).preview
    away = tmp_path / "away"

    def hook(name: str) -> None:
        if name == "recorded" and not away.exists():  # line memory is done, the wiki comes next
            away.mkdir()
            (desk.workspace.root / ".aiwg/wiki").symlink_to(away)

    written = confirm(dataclasses.replace(desk, on_step=hook), shown.operation_id)
    assert [r.consumer for r in written.receipts] == ["line-memory"]
    assert [(f.consumer, f.code) for f in written.failed] == [("wiki", "destination.link")]
    assert written.state is OperationState.FAILED
    assert list(away.iterdir()) == []
    assert (desk.workspace.root / TEXT).read_text() == f"{WORDS[0]}\n"
    (desk.workspace.root / ".aiwg/wiki").unlink()
    again = confirm(desk, shown.operation_id)
    assert [(r.consumer, r.replayed) for r in again.receipts] == [
        ("line-memory", True),
        ("wiki", False),
    ]
    assert (again.state, again.failed) == (OperationState.APPLIED, ())
    assert (desk.workspace.root / TEXT).read_text() == f"{WORDS[0]}\n", "not written again"
    assert verify(desk).ok


def test_nothing_is_written_when_anything_of_it_moved(desk: Desk) -> None:
    """A hand edit of one file, an edit of one candidate: the whole is stale, and says by what."""
    versions = [accepted(desk, w) for w in WORDS]
    shown = preview.together(desk, going(versions, "line-memory", "wiki", "wiki"))
    text = desk.workspace.root / TEXT
    text.parent.mkdir(parents=True)
    text.write_text("By hand.\n")
    with pytest.raises(Stale) as moved:
        confirm(desk, shown.preview.operation_id)
    assert [(m["what"], m["name"]) for m in moved.value.details["moved"]] == [("target", TEXT)]
    found = standing.of(desk, shown.preview.operation_id, shown.targets)
    assert [(c.what, c.name, c.reviewer) for c in found.causes] == [("target", TEXT, "")]
    assert found.again is not None
    second = preview.again(desk, shown.preview.operation_id).preview
    edited = review.edit(desk, ref(versions[2]), "Staging is eu-west-1.")
    with pytest.raises(Stale) as moved:
        confirm(desk, second.operation_id)
    (what,) = moved.value.details["moved"]
    assert (what["what"], what["name"]) == ("candidate", str(ref(versions[2])))
    assert not (desk.workspace.root / ".aiwg/wiki").exists()
    assert text.read_text() == "By hand.\n"
    assert edited.version == 2


def test_a_new_preview_leaves_out_what_is_written_already(sqlite_desk: Desk) -> None:
    """One of three was promoted meanwhile; if all were, the operation that wrote it is answered."""
    desk = sqlite_desk
    versions = [accepted(desk, w) for w in WORDS]
    shown = preview.together(desk, going(versions)).preview
    alone = preview.exact(desk, ref(versions[0]), "line-memory").preview
    confirm(desk, alone.operation_id)
    rest = preview.again(desk, shown.operation_id).preview
    assert [v.statement for v in rest.versions] == WORDS[1:]
    confirm(desk, rest.operation_id)
    assert preview.together(desk, going(versions)).preview.operation_id == alone.operation_id


def test_what_can_not_be_promoted_blocks_it_or_is_left_out_by_name(sqlite_desk: Desk) -> None:
    """Named by a person it blocks; of all that wait it is left out and counted by its code."""
    desk = sqlite_desk
    good = accepted(desk, WORDS[0])
    waiting = pending(desk, WORDS[1])
    every = going([good, waiting])
    free, kept = preview.promotable(desk, every)
    assert free == every[:1]
    assert kept == {"candidate.not-accepted": 1}
    with pytest.raises(Refused, match="pending"):
        preview.together(desk, every)


def test_more_than_a_person_reads_at_once_is_refused(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is named; what waits beyond it is counted and left out."""
    monkeypatch.setattr(preview, "MOST", 2)
    versions = [accepted(sqlite_desk, w) for w in WORDS]
    with pytest.raises(Refused) as err:
        preview.together(sqlite_desk, going(versions))
    assert err.value.code == "promotion.too-many"
    free, kept = preview.promotable(sqlite_desk, going(versions))
    assert (len(free), kept) == (2, {"promotion.too-many": 1})


def test_receipts_of_an_operation_that_is_none(sqlite_desk: Desk) -> None:
    """It is refused as unknown."""
    with pytest.raises(MemdeskError) as err:
        receipts(sqlite_desk, "op_" + "0" * 32)
    assert err.value.code == "id.not-found"


def test_a_decision_on_one_of_several_is_refused_while_they_are_written(sqlite_desk: Desk) -> None:
    """It is found by each of its subjects, prepared or applied."""
    desk = sqlite_desk
    versions = [accepted(desk, w) for w in WORDS]
    shown = preview.together(desk, going(versions)).preview
    review.decide(desk, ref(pending(desk, "Another.")), Verdict.ACCEPT, reason="ok")
    with desk.store.write() as unit:
        assert unit.operations.prepare(shown.operation_id, (), desk.actor)
    for version in versions:
        with pytest.raises(Refused) as err:
            review.edit(desk, ref(version), "Other words.")
        assert err.value.code == "candidate.in-promotion"
