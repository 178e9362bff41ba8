"""Revoking a source: bytes kept and readable, nothing may rest on them, dependents told (1.7)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import core.promotion  # noqa: F401  (registers the handlers)
from core.candidates import propose, review
from core.candidates.extract import extract
from core.evidence import revoke
from core.evidence.import_ import import_paths
from core.operations import preview as operations
from core.operations.confirm import confirm
from core.ports import Desk
from core.promotion import preview as promotion
from core.verify import verify
from schemas.candidates import CandidateKind, CandidateVersion, Verdict
from schemas.errors import NotFound, Refused, Stale
from schemas.evidence import Event
from schemas.operations import OperationState, Preview
from tests.conftest import Command, make_desk, record, write
from tests.desks import events, promoted, rebuilt
from tests.faults import child
from tests.making import files, ref, said


def revoked(desk: Desk, source: str) -> None:
    """Preview and confirm."""
    confirm(desk, revoke.preview(desk, source).preview.operation_id)


def proposed(desk: Desk, text: str, *sources: Event) -> CandidateVersion:
    """A pending version that cites these events."""
    ids = [e.id for e in sources]
    return propose.propose(desk, text=text, kind=CandidateKind.PROJECT_FACT, key=None, sources=ids)


def accepted(desk: Desk, text: str, *sources: Event) -> CandidateVersion:
    """The same, accepted."""
    return review.decide(desk, ref(proposed(desk, text, *sources)), Verdict.ACCEPT, reason="ok")


def told(shown: Preview) -> list[tuple[str, str]]:
    """Code and first word of each disposition."""
    return [(e.code, e.text.split()[0]) for e in shown.affects if e.code != "revoke"]


def test_each_dependent_gets_its_disposition_before_anything_changes(desk: Desk) -> None:
    """Withheld, kept by another source, a belief retained; rejected ones are no dependents."""
    one, two = said(desk, "Tags are cut on Tuesdays.", "Tags are signed.", session="A")
    (three,) = said(desk, "Tags are cut on Tuesdays, says the lead.", session="B")
    waiting = proposed(desk, "Tags are signed.", two)
    both = accepted(desk, "Tags are cut on Tuesdays.", one, three)
    rejected = proposed(desk, "Nobody signs anything.", two)
    review.decide(desk, ref(rejected), Verdict.REJECT, reason="no")
    belief = promoted(desk, proposed(desk, "The lead signs tags.", two)).belief
    shown = revoke.preview(desk, one.file, reason="left the company").preview
    assert told(shown) == [
        ("withhold", f"{waiting.id}@1"),
        ("retain", f"{both.id}@1"),
        ("retain", belief),
    ]
    assert (shown.action, shown.targets, shown.reason) == ("revoke", (), "left the company")
    assert "2 events stay readable" in shown.affects[0].text
    assert "line-memory" in shown.affects[3].text
    assert not any(e.revoked for e in events(desk))
    other = revoke.preview(desk, three.file).preview
    assert told(other) == [("retain", f"{both.id}@1")]


def test_revoked_evidence_stays_readable_whole_and_sound(desk: Desk) -> None:
    """Marked, rebuilt to the byte, verified; other sources are untouched."""
    path = write(desk.workspace.root.parent / "s.jsonl", record("Tags are signed.", "u1"))
    import_paths(desk, [path])
    (event,) = events(desk)
    said(desk, "Others stay.", session="B")
    receipt = confirm(desk, revoke.preview(desk, str(path)).preview.operation_id)
    assert (receipt.action, receipt.targets, receipt.subject) == ("revoke", (), event.file)
    assert {e.session: e.revoked for e in events(desk)} == {"S": True, "B": False}
    assert rebuilt(desk, event.file) == path.read_bytes()
    with desk.store.read() as view:
        whole = view.evidence.event(event.id)
    assert whole is not None and (whole.text, whole.revoked) == ("Tags are signed.", True)
    assert verify(desk).ok
    again = revoke.preview(desk, event.file).preview
    assert (again.operation_id, again.state) == (receipt.operation_id, OperationState.APPLIED)
    assert confirm(desk, again.operation_id).replayed


def test_nothing_new_rests_on_a_revoked_source(sqlite_desk: Desk) -> None:
    """Extraction skips and counts it, also what is appended later; proposals are refused."""
    path = sqlite_desk.workspace.root.parent / "s.jsonl"
    first = record("Remember: tags are cut on Tuesdays.", "u1")
    import_paths(sqlite_desk, [write(path, first)])
    (event,) = events(sqlite_desk)
    revoked(sqlite_desk, event.file)
    import_paths(sqlite_desk, [write(path, first, record("Remember: tags are signed.", "u2"))])
    report = extract(sqlite_desk)
    assert (report.proposed, report.skipped) == (0, {"revoked": 2})
    with pytest.raises(Refused) as refused:
        proposed(sqlite_desk, "Tags are cut on Tuesdays.", event)
    assert refused.value.code == "evidence.revoked"


def test_a_session_that_repeats_revoked_words_stands_for_itself(sqlite_desk: Desk) -> None:
    """Linked to the revoked event, its own is extracted all the same."""
    line = record("Remember: tags are cut on Tuesdays.", "u1")
    for name, more in (("one", b""), ("two", record("Hello there.", "u2"))):
        head = record(f"This is {name}.", f"h-{name}")
        import_paths(
            sqlite_desk, [write(sqlite_desk.workspace.root / f"{name}.jsonl", head, line, more)]
        )
    first, second = [e for e in events(sqlite_desk) if "Tuesdays" in e.text]
    assert second.same_as == first.id and second.file != first.file
    revoked(sqlite_desk, first.file)
    report = extract(sqlite_desk)
    assert report.proposed == 1
    with sqlite_desk.store.read() as view:
        version = view.candidates.version(report.candidates[0])
    assert version is not None and version.sources[0].event == second.id


def test_a_candidate_of_revoked_sources_only_is_blocked_from_promotion(desk: Desk) -> None:
    """An open preview goes stale by the rule's name; a new one is blocked; nothing is written."""
    (one,) = said(desk, "Tags are cut on Tuesdays.", session="A")
    (two,) = said(desk, "Tags are cut on Tuesdays, always.", session="B")
    lone = accepted(desk, "Tags are cut on Tuesdays.", one)
    backed = accepted(desk, "The lead cuts tags.", one, two)
    early = promotion.build(desk, ref(lone), "line-memory")
    revoked(desk, one.file)
    with pytest.raises(Stale) as stale:
        confirm(desk, early.operation_id)
    assert "candidate.source-revoked" in stale.value.message
    (moved,) = operations.show(desk, early.operation_id).moved
    assert (moved.what, moved.name) == ("rule", "candidate.source-revoked")
    states = [[s.state for s in review.show(desk, ref(v)).sources] for v in (lone, backed)]
    assert states == [["revoked"], ["revoked", "current"]]
    late = promotion.build(desk, ref(lone), "line-memory")
    assert late.blocked_by == ("candidate.source-revoked",)
    with pytest.raises(Refused):
        confirm(desk, late.operation_id)
    assert files(desk.workspace.root) == {}
    fine = promotion.build(desk, ref(backed), "line-memory")
    assert fine.blocked_by == ()
    assert "1 of 2 sources revoked" in [c.text for c in fine.checks]
    assert confirm(desk, fine.operation_id).state is OperationState.APPLIED


def test_a_dependent_that_came_since_makes_the_preview_stale(sqlite_desk: Desk) -> None:
    """What was not told is not disposed of; nothing is revoked."""
    (one,) = said(sqlite_desk, "Tags are cut on Tuesdays.")
    shown = revoke.preview(sqlite_desk, one.file).preview
    proposed(sqlite_desk, "Tags are cut on Tuesdays.", one)
    with pytest.raises(Stale) as stale:
        confirm(sqlite_desk, shown.operation_id)
    assert one.file in stale.value.message
    assert not events(sqlite_desk)[0].revoked
    again = revoke.preview(sqlite_desk, one.file).preview
    assert len(told(again)) == 1 and again.operation_id != shown.operation_id


def test_many_dependents_are_counted_and_bound_all_the_same(sqlite_desk: Desk) -> None:
    """A hundred by name, the rest by number; one more beyond them still goes stale."""
    (one,) = said(sqlite_desk, "Tags are cut on Tuesdays.")
    for n in range(103):
        proposed(sqlite_desk, f"Service {n} listens on port 8{n:03}.", one)
    shown = revoke.preview(sqlite_desk, one.file).preview
    assert len(shown.affects) == 102
    assert shown.affects[-1].text == "3 more: 3 withheld, 0 retained"
    proposed(sqlite_desk, "One more depends on it.", one)
    with pytest.raises(Stale):
        confirm(sqlite_desk, shown.operation_id)


STEPS = ["locked", "planned", "prepared", "written", "recorded"]


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_it_is_revoked_exactly_once(step: str, workspace: Path) -> None:
    """Another process confirms the same id: one receipt, a sound ledger."""
    desk = make_desk(workspace)
    (one,) = said(desk, "Tags are cut on Tuesdays.")
    shown = revoke.preview(desk, one.file).preview
    status, reached = child.run(workspace, shown.operation_id, step)
    assert (status, reached) == (-signal.SIGKILL, STEPS[: STEPS.index(step) + 1])
    confirm(desk, shown.operation_id)
    assert [e.revoked for e in events(desk)] == [True]
    with desk.store.read() as view:
        assert view.operations.receipt_count() == 1
    assert verify(desk).ok
    desk.store.close()


def test_the_command_previews_marks_and_refuses(command: Command, workspace: Path) -> None:
    """`evidence revoke` by path or id, then `promotion confirm`; lists carry the mark."""
    command.json("init")
    path = write(workspace / "s.jsonl", record("Remember: tags are signed.", "u1"))
    command.json("evidence", "import", str(path))
    shown = command.json("evidence", "revoke", str(path), "--reason", "wrong person")
    file = shown["subject"]
    assert (
        command.json("evidence", "revoke", file, "--reason", "wrong person")["operation_id"]
        == (shown["operation_id"])
    )
    receipt = command.json("promotion", "confirm", shown["operation_id"])
    assert (receipt["consumer"], receipt["state"]) == ("evidence", "applied")
    (item,) = command.json("evidence", "list")["items"]
    assert item["revoked"] is True
    assert "revoked · " in command.run("evidence", "list")[1]
    assert command.run("evidence", "show", item["id"])[1].startswith("revoked · owner")
    assert command.json("evidence", "revoke", file)["duplicate"] is True
    error = command.json("evidence", "revoke", "nothing.jsonl", status=4)["error"]
    assert error["code"] == "id.not-found"


def test_an_unknown_source_is_not_found(sqlite_desk: Desk) -> None:
    """Named in the refusal."""
    with pytest.raises(NotFound) as missing:
        revoke.preview(sqlite_desk, "file_" + "0" * 32)
    assert missing.value.code == "id.not-found"
