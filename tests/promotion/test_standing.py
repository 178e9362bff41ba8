"""What moved under a preview: told by name and cause, and what of it is new to read (5.3, 5.8)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.candidates import review
from core.candidates.review import CandidateRef
from core.operations.confirm import confirm
from core.operations.preview import Exact
from core.ports import Desk
from core.promotion import preview, reading, standing
from core.textdiff import CONTEXT, compare, compared
from tests.making import TEXT, accepted, ref

FACT = "Refunds above 500 EUR need a second approver."
OTHER = "Ledger export runs at 02:00 UTC every night."


def exact(desk: Desk, statement: str = FACT) -> Exact:
    """The preview of a statement, accepted."""
    return preview.exact(desk, ref(accepted(desk, statement)), "line-memory")


def by_hand(desk: Desk, text: str) -> None:
    """Somebody outside the desk writes the file."""
    file = desk.workspace.root / TEXT
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def read_all(shown: Exact) -> set[reading.Identity]:
    """Everything a reader of the whole preview has read, derived files left folded."""
    pairs = zip(shown.targets, shown.compared, strict=True)
    return {
        name
        for t, c in pairs
        if not t.derived
        for hunk in reading.identities(t.path, c.at().hunks)
        for name in hunk
    }


def test_a_hand_edit_is_named_with_its_lines(desk: Desk) -> None:
    """The file moved, the rest did not; nobody is named; its line is all there is to read."""
    shown = exact(desk)
    by_hand(desk, "By hand.\n")
    now = standing.of(desk, shown.preview.operation_id, shown.targets)
    assert {(b.what, b.name.rpartition("/")[2]) for b in now.bound if b.moved} == {
        ("target", "line-memory.txt")
    }
    assert {b.now == b.then for b in now.bound if not b.moved} == {True}
    (cause,) = now.causes
    assert (cause.what, cause.name, cause.reviewer) == ("target", TEXT, "")
    (foreign,) = now.foreign
    assert [x.text for h in foreign.hunks for x in h.lines if x.sign == "+"] == ["By hand."]
    assert now.same_change(shown)
    assert now.left(read_all(shown)) == reading.Left(kept=1, new=1)
    assert now.left(set()) == reading.Left(kept=0, new=2)
    again = preview.exact(desk, _subject(shown), "line-memory")
    assert now.again is not None and now.again.targets == again.targets


def _subject(shown: Exact) -> CandidateRef:
    return CandidateRef(shown.preview.candidate, shown.preview.version)


def test_anothers_write_is_named_by_operation_and_receipt(desk: Desk) -> None:
    """A write by a reviewer explains both files; an edit on top of it is by hand as well."""
    shown = exact(desk)
    receipt = confirm(desk, exact(desk, OTHER).preview.operation_id)
    now = standing.of(desk, shown.preview.operation_id, shown.targets)
    (cause,) = now.causes
    assert (cause.operation, cause.receipt) == (receipt.operation_id, receipt.receipt_id)
    assert cause.reviewer == receipt.reviewer
    assert [f.path for f in now.foreign] == [TEXT]
    by_hand(desk, f"{OTHER}\nAnd by hand.\n")
    now = standing.of(desk, shown.preview.operation_id, shown.targets)
    assert [c.reviewer for c in now.causes] == [receipt.reviewer, ""]


def test_an_edited_candidate_and_a_changed_policy_are_named(desk: Desk) -> None:
    """The version says who made it and that no preview follows; the policy leaves nothing to read."""
    shown = exact(desk)
    config = desk.workspace.root / ".memdesk/config.toml"
    config.write_text(config.read_text().replace("_bytes = 500", "_bytes = 400"))
    now = standing.of(desk, shown.preview.operation_id, shown.targets)
    assert [(b.what, b.moved) for b in now.bound] == [
        ("candidate", False),
        ("source", False),
        ("policy", True),
        ("target", False),
        ("target", False),
    ]
    assert now.left(read_all(shown)) == reading.Left(kept=1, new=0)
    edited = review.edit(desk, _subject(shown), FACT + " (finance)")
    now = standing.of(desk, shown.preview.operation_id, shown.targets)
    assert now.again is None and now.refusal is not None
    assert now.refusal.code == "candidate.stale-version"
    (cause,) = [c for c in now.causes if c.what == "candidate"]
    assert cause.name == f"{edited.id}@2" and cause.said == "@2 is pending"
    assert cause.reviewer == desk.actor.reviewer


def test_a_deleted_file_is_gone(desk: Desk) -> None:
    """Every line of it is told as taken away."""
    by_hand(desk, "One.\nTwo.\n")
    shown = exact(desk)
    (desk.workspace.root / TEXT).unlink()
    now = standing.of(desk, shown.preview.operation_id, shown.targets)
    (moved,) = [b for b in now.bound if b.moved]
    assert (moved.name, moved.now) == (TEXT, None)
    (foreign,) = now.foreign
    assert [x.sign + x.text for h in foreign.hunks for x in h.lines] == ["-One.", "-Two."]


LINES = st.lists(st.sampled_from(["a", "b", "c", "a b"]), max_size=12).map("\n".join)


@given(LINES, LINES, st.integers(0, 6))
def test_a_line_is_the_same_however_much_is_shown_around_it(
    before: str, after: str, context: int
) -> None:
    """Identities do not hang on context, and no two changed lines of a file share one."""
    both = compared(before.encode(), after.encode())
    wide, narrow = (
        [n for hunk in reading.identities("f", both.at(c).hunks) for n in hunk]
        for c in (context, CONTEXT)
    )
    assert wide == narrow and len(set(wide)) == len(wide) == both.added + both.removed


@given(LINES, LINES, LINES)
def test_what_was_read_is_read_wherever_it_moved(before: str, after: str, above: str) -> None:
    """Lines put above a change renumber it and leave nothing new to read in it."""
    hunks = reading.identities("f", compare(before.encode(), after.encode()).hunks)
    read = {name for hunk in hunks for name in hunk}
    head = "!" + above.replace("\n", "!\n!") + "\n"
    later = compare((head + before).encode(), (head + after).encode())
    assert reading.left(reading.identities("f", later.hunks), read).new == 0
    assert reading.left(hunks, set()).new == len(read)
