"""Candidates beside the repository's rules: marked with file and line, out of the way, following."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.candidates import propose, review, rules
from core.candidates.lanes import IN_RULES, NEEDED, Lane
from core.candidates.rules import Followed, Follower, follow
from core.ports import Desk
from core.verify import verify
from schemas.candidates import CandidateKind, CandidateRow, CandidateVersion, Verdict
from schemas.storage import CandidateFilter
from tests.conftest import Command, write
from tests.making import pending, ref, said

UV = "Prefer uv over pip in this repository."


def ruled(desk: Desk, *lines: str, path: str = "CLAUDE.md") -> None:
    """A rule file of these lines, followed."""
    write(desk.workspace.root / path, "\n".join(lines).encode() + b"\n")
    follow(desk)


def row(desk: Desk, version: CandidateVersion) -> CandidateRow:
    with desk.store.read() as view:
        found = view.candidates.row(version.id)
    assert found is not None
    return found


def listed(desk: Desk, lanes: tuple[int, int]) -> list[str]:
    """Statements of the pending list, as far as it stands in these lanes."""
    with desk.store.read() as view:
        wanted = CandidateFilter(lanes=lanes)
        rows = view.candidates.window(wanted, 0, 100)
        assert view.candidates.count(wanted) == len(rows)
    return [r.statement for r in rows]


def test_what_a_rule_says_is_marked_and_out_of_the_way(desk: Desk) -> None:
    """Proposed before or after the rule was read: `=`, file and line, outside "needs you"."""
    before = pending(desk, UV)
    assert listed(desk, NEEDED) == [UV] and row(desk, before).rule == ""
    ruled(desk, "# Rules", "", "- Prefer **uv** over pip in this repository")
    after = pending(desk, "prefer uv over pip in this repository!")
    other = pending(desk, "Amounts are integers in minor units.")
    for version in (before, after):
        found = row(desk, version)
        assert (found.rule, found.duplicate, found.conflict) == ("CLAUDE.md:3", True, False)
        assert found.lane == Lane.RULED
        (first, *_) = review.show(desk, ref(version)).duplicates
        assert (first.ref, first.layer, first.code) == ("CLAUDE.md:3", "policy", "duplicate.rule")
    assert listed(desk, NEEDED) == [other.statement]
    assert len(listed(desk, IN_RULES)) == 2


def test_the_mark_follows_the_file(desk: Desk) -> None:
    """Another line, another file, gone: nothing has to be extracted again."""
    version = pending(desk, UV)
    ruled(desk, f"- {UV}")
    assert row(desk, version).rule == "CLAUDE.md:1"
    ruled(desk, "# Moved", "", f"- {UV}")
    assert row(desk, version).rule == "CLAUDE.md:3"
    ruled(desk, "- Nothing of the kind.")
    assert (row(desk, version).rule, row(desk, version).lane) == ("", Lane.ASKED)
    ruled(desk, f"- {UV}", path="docs/AGENTS.md")
    ruled(desk, f"- {UV}", path="AGENTS.md")
    assert row(desk, version).rule == "AGENTS.md:1"
    (desk.workspace.root / "AGENTS.md").unlink()
    (desk.workspace.root / "docs/AGENTS.md").unlink()
    assert follow(desk, known=True).changed
    assert row(desk, version).lane == Lane.ASKED
    assert not follow(desk).changed


def test_a_rule_that_says_otherwise_is_a_conflict_with_its_line(desk: Desk) -> None:
    """The same subject with another value: shown with file and line, first in the queue."""
    version = pending(desk, "Refunds above 500 EUR need a second approver.")
    ruled(desk, "- Refunds above 250 EUR need a second approver.")
    (conflict,) = review.show(desk, ref(version)).conflicts
    assert (conflict.ref, conflict.layer, conflict.code) == (
        "CLAUDE.md:1",
        "policy",
        "conflict.rule",
    )
    assert conflict.statement == "Refunds above 250 EUR need a second approver."
    assert (row(desk, version).lane, row(desk, version).conflict) == (Lane.CONFLICT, True)
    ruled(desk, "- Refunds above 500 EUR need a second approver.")
    assert (row(desk, version).lane, row(desk, version).conflict) == (Lane.RULED, False)


def test_two_rule_files_that_disagree_hide_nothing(desk: Desk) -> None:
    """What one says and another contradicts stays in the queue as a conflict."""
    version = pending(desk, "Refunds above 500 EUR need a second approver.")
    ruled(desk, "- Refunds above 500 EUR need a second approver.")
    ruled(desk, "- Refunds above 250 EUR need a second approver.", path="AGENTS.md")
    found = row(desk, version)
    assert (found.lane, found.conflict, found.rule) == (Lane.CONFLICT, True, "CLAUDE.md:1")


def test_a_rule_of_one_folder_marks_but_hides_and_contradicts_nothing(desk: Desk) -> None:
    """It holds there alone; what was said holds for the project."""
    same = pending(desk, UV)
    other = pending(desk, "Refunds above 500 EUR need a second approver.")
    lines = (f"- {UV}", "- Refunds above 250 EUR need a second approver.")
    ruled(desk, *lines, path="packages/api/CLAUDE.md")
    assert row(desk, same).rule == "packages/api/CLAUDE.md:1"
    assert row(desk, same).lane == Lane.ASKED
    assert (row(desk, other).conflict, review.show(desk, ref(other)).conflicts) == (False, ())


def test_a_rule_in_nearly_the_same_words_stands_beside_it(desk: Desk) -> None:
    """`~` with the line; the candidate stays in the queue."""
    version = pending(desk, "Ask me before adding a dependency to pyproject.toml.")
    ruled(desk, "- Always ask me before you add dependencies to pyproject.toml.")
    assert [r.ref for r in review.show(desk, ref(version)).near] == ["CLAUDE.md:1"]
    assert (row(desk, version).near, row(desk, version).lane) == (True, Lane.ASKED)


def test_words_under_a_key_of_their_own_are_known_too(desk: Desk) -> None:
    """Equal is equal whatever key somebody gave it."""
    (event,) = said(desk, UV)
    kind = CandidateKind.PREFERENCE
    version = propose.propose(desk, text=UV, kind=kind, key="tools", sources=[event.id])
    ruled(desk, f"- {UV}")
    assert row(desk, version).lane == Lane.RULED
    ruled(desk, "- Something else altogether.")
    assert row(desk, version).lane == Lane.ASKED


def test_an_edit_or_decision_takes_it_out_of_the_rules(desk: Desk) -> None:
    """Edited words are no rule any more; accepted ones can still be promoted by who wants to."""
    version = pending(desk, UV)
    ruled(desk, f"- {UV}")
    edited = review.edit(desk, ref(version), "Prefer uv over pip and poetry in this repository.")
    assert (row(desk, edited).lane, row(desk, edited).rule) == (Lane.ASKED, "")
    again = pending(desk, "Prefer uv over pip in this repository")
    assert row(desk, again).lane == Lane.RULED
    done = review.decide(desk, ref(again), Verdict.ACCEPT)
    assert done.state == "accepted"


def test_a_credential_in_a_rule_file_is_not_copied(desk: Desk, workspace: Path) -> None:
    """Outside evidence nothing holds one: the claim is masked."""
    token = "ghp_" + "a1B2" * 9
    ruled(desk, f"- The deploy token is {token} for now.")
    with desk.store.read() as view:
        (claim,) = view.claims.rules()
    assert token not in claim.statement and "deploy token" in claim.statement
    kept = [p for p in (workspace / ".memdesk").rglob("*") if p.is_file()]
    assert kept and not [p for p in kept if token.encode() in p.read_bytes()]


def test_rule_files_are_never_written_and_nothing_is_evidence(desk: Desk) -> None:
    """Reading them leaves bytes and times as they were, and no event."""
    pending(desk, UV)
    path = desk.workspace.root / "CLAUDE.md"
    write(path, f"- {UV}\n".encode())
    before, info = path.read_bytes(), path.stat()
    with desk.store.read() as view:
        counted, head = view.evidence.counts(), view.ledger.head()
    follow(desk)
    with desk.store.read() as view:
        assert (view.evidence.counts(), view.ledger.head()) == (counted, head)
    assert path.read_bytes() == before and path.stat().st_mtime_ns == info.st_mtime_ns


def test_a_follower_reads_only_when_something_moved(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks as often as it is asked, and reads the files again after a write."""
    version, read = pending(sqlite_desk, UV), []

    def noted(desk: Desk, *, known: bool = False) -> Followed:
        read.append(known)
        return follow(desk, known=known)

    monkeypatch.setattr(rules, "follow", noted)
    follower = Follower(sqlite_desk)
    for _ in range(3):
        follower.look()
    write(sqlite_desk.workspace.root / "AGENTS.md", f"- {UV}\n".encode())
    for _ in range(3):
        follower.look()
    assert read == [False, True]
    assert row(sqlite_desk, version).rule == "AGENTS.md:1"


def test_commands_show_the_mark_and_follow_the_file(sqlite_desk: Desk, command: Command) -> None:
    """`candidates list` and `show --json` name file and line under `duplicates`."""
    version = pending(sqlite_desk, UV)
    write(sqlite_desk.workspace.root / "CLAUDE.md", f"# Rules\n\n- {UV}\n".encode())
    shown = command.json("candidates", "show", version.id)
    assert [d["ref"] for d in shown["duplicates"]] == ["CLAUDE.md:3"]
    _status, text, _err = command.run("candidates", "list")
    assert "= CLAUDE.md:3" in text
    (item,) = command.json("candidates", "list")["items"]
    assert item["group"] == "said by a rule file"
    (sqlite_desk.workspace.root / "CLAUDE.md").unlink()
    assert command.json("candidates", "show", version.id)["duplicates"] == []


def test_a_place_among_the_rules_without_a_rule_is_a_fault(desk: Desk) -> None:
    """`verify` knows the lane of what a rule says, and finds who hides something else there."""
    ruled(desk, f"- {UV}")
    pending(desk, UV)
    hidden = pending(desk, "Amounts are integers in minor units.")
    assert verify(desk).ok
    with desk.store.write() as unit:
        unit.candidates.move(hidden.id, Lane.RULED)
    (fault,) = verify(desk).faults
    assert hidden.id in fault.what and fault.detail == "is listed in another place"
