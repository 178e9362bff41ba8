"""What an operation is bound to: equal state, equal id; anything moved, refused (spec 5.2, 5.3)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from core import config
from core.candidates import review
from core.operations import preview as operations
from core.operations.confirm import confirm
from core.ports import Desk
from core.promotion import preview
from core.verify import verify
from schemas.candidates import CandidateState, Verdict
from schemas.errors import Refused, Stale
from schemas.operations import OperationState, Preview
from tests.making import CONFIG, META, TEXT, accepted, files, pending, previewed, ref

PREVIEWER = """
import sys
from pathlib import Path
import core.promotion
from core import desk as desks
from core.candidates.review import CandidateRef
from core.promotion.preview import build
from schemas.common import Actor, Door
desk = desks.open_(Path(sys.argv[1]), Actor(reviewer="someone else", door=Door.COMMAND))
print(build(desk, CandidateRef(sys.argv[2], 1), "line-memory").operation_id)
"""


def test_the_id_is_the_same_in_every_process(sqlite_desk: Desk) -> None:
    """Other hash seeds, time zones, locales, clocks and reviewers give the same id and bytes."""
    root = sqlite_desk.workspace.root
    (root / TEXT).parent.mkdir(parents=True)
    (root / TEXT).write_text("By hand.\nAnother by hand.\n")
    shown = previewed(sqlite_desk)
    for seed, zone, tongue in (
        ("0", "UTC", "C"),
        ("1", "Asia/Kathmandu", "C.UTF-8"),
        ("77", "XXX+9", "tr_TR.UTF-8"),
    ):
        extra = {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": tongue, "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-c", PREVIEWER, str(root), shown.candidate],
            env={**os.environ, **extra}, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.stdout.strip() == shown.operation_id, done.stderr


def test_a_preview_touches_nothing_and_keeps_no_words(sqlite_desk: Desk) -> None:
    """No file, and an operation row without a statement (spec 0.3)."""
    shown = previewed(sqlite_desk)
    assert not (sqlite_desk.workspace.root / ".aiwg").exists()
    connection = sqlite3.connect(sqlite_desk.workspace.folder / "memdesk.db")
    ((envelope,),) = connection.execute("SELECT envelope FROM operation").fetchall()
    connection.close()
    assert b"Tuesdays" not in envelope
    assert json.loads(envelope)["subject"] == f"{shown.candidate}@1"


def _text(desk: Desk, _p: Preview) -> Desk:
    (desk.workspace.root / TEXT).write_text("By hand.\n")
    return desk


def _meta(desk: Desk, _p: Preview) -> Desk:
    path = desk.workspace.root / META
    path.write_bytes(path.read_bytes() + b"\n")
    return desk


def _gone(desk: Desk, _p: Preview) -> Desk:
    (desk.workspace.root / TEXT).unlink()
    return desk


def _edited(desk: Desk, p: Preview) -> Desk:
    review.edit(desk, review.CandidateRef(p.candidate, p.version), "Other words are used now.")
    return desk


def _reopened(desk: Desk, p: Preview) -> Desk:
    review.reopen(desk, review.CandidateRef(p.candidate, p.version))
    return desk


def _policy(desk: Desk, _p: Preview) -> Desk:
    text = config.DEFAULT_TOML.replace("statement_bytes = 500", "statement_bytes = 400")
    (desk.workspace.folder / "config.toml").write_text(text)
    return desk


def _limit(desk: Desk, _p: Preview) -> Desk:
    (desk.workspace.root / CONFIG).write_text('{"path": ".aiwg/memory/other.txt"}')
    return desk


def _conflict(desk: Desk, p: Preview) -> Desk:
    with desk.store.read() as view:
        version = view.candidates.version(p.candidate)
    assert version is not None
    pending(desk, "Releases are tagged on Mondays.", key=version.key)
    return desk


MOVES: dict[str, tuple[Callable[[Desk, Preview], Desk], str, str]] = {
    "target text": (_text, "target", TEXT),
    "target removed": (_gone, "target", TEXT),
    "sidecar": (_meta, "target", META),
    "candidate edited": (_edited, "candidate", "cand_"),
    "decision reopened": (_reopened, "candidate", "cand_"),
    "policy": (_policy, "policy", ".memdesk/config.toml"),
    "destination moved": (_limit, "target", TEXT),
    "conflict": (_conflict, "conflicts", "conflicts"),
}


@pytest.mark.parametrize("name", MOVES)
def test_anything_moved_is_named_and_nothing_is_written(sqlite_desk: Desk, name: str) -> None:
    """One bound thing at a time: `preview.stale`, exit 5, the thing by name, all bytes as found."""
    move, what, which = MOVES[name]
    confirm(sqlite_desk, previewed(sqlite_desk, "The first fact stands here.").operation_id)
    shown = previewed(sqlite_desk)
    moved = move(sqlite_desk, shown)
    before = files(moved.workspace.root)
    with pytest.raises(Stale) as refused:
        confirm(moved, shown.operation_id)
    assert (refused.value.code, int(refused.value.exit)) == ("preview.stale", 5)
    named = [(m["what"], m["name"]) for m in refused.value.details["moved"]]  # type: ignore[attr-defined]
    assert any(w == what and n.startswith(which) for w, n in named), named
    assert files(moved.workspace.root) == before
    looked = operations.show(moved, shown.operation_id)
    assert any(m.what == what for m in looked.moved)
    with moved.store.read() as view:
        assert view.operations.receipt_count() == 1


def test_what_is_not_policy_leaves_a_preview_fresh(sqlite_desk: Desk) -> None:
    """The screen's and the importer's settings are not bound."""
    shown = previewed(sqlite_desk)
    text = config.DEFAULT_TOML.replace("auto_advance = true", "auto_advance = false")
    other = replace(
        sqlite_desk, policy=config.parse(text.replace("batch_events = 500", "batch_events = 9"))
    )
    assert confirm(other, shown.operation_id).state is OperationState.APPLIED


def test_a_version_reopened_between_plan_and_commit_is_not_promoted(sqlite_desk: Desk) -> None:
    """Prepare looks again in its own transaction: no window for a newer version."""
    shown = previewed(sqlite_desk)
    version = review.CandidateRef(shown.candidate, 1)

    def step(name: str) -> None:
        if name == "planned":
            review.reopen(sqlite_desk, version)

    with pytest.raises(Stale) as refused:
        confirm(replace(sqlite_desk, on_step=step), shown.operation_id)
    assert refused.value.code == "preview.stale"
    assert not (sqlite_desk.workspace.root / TEXT).exists()
    with sqlite_desk.store.read() as view:
        found = view.candidates.version(shown.candidate, 1)
    assert found is not None and found.state is CandidateState.ACCEPTED


def test_confirming_again_returns_the_first_receipt(desk: Desk) -> None:
    """Also by someone else and after a hand edit: the same receipt, replayed, no second write."""
    shown = previewed(desk)
    first = confirm(desk, shown.operation_id)
    assert not first.replayed
    (desk.workspace.root / TEXT).write_text("By hand since.\n")
    who = desk.actor.model_copy(update={"reviewer": "Bo"})
    again = confirm(replace(desk, actor=who), shown.operation_id)
    assert again == first.model_copy(update={"replayed": True})
    assert (desk.workspace.root / TEXT).read_text() == "By hand since.\n"
    shown_again = preview.build(desk, review.CandidateRef(shown.candidate, 1), "line-memory")
    assert (shown_again.operation_id, shown_again.duplicate) == (shown.operation_id, True)
    report = verify(desk)
    assert (report.ok, [d.what for d in report.drift]) == (True, [TEXT])


def test_a_promotion_forms_one_belief_and_moves_the_version(desk: Desk) -> None:
    """Belief, receipt and candidate name each other; the claim stands under its new layer."""
    version = accepted(desk)
    receipt = confirm(desk, preview.build(desk, ref(version), "line-memory").operation_id)
    with desk.store.read() as view:
        found = view.candidates.version(version.id, 1)
        belief = view.promotion.belief_of(version.id, 1)
        beliefs, _ = view.promotion.beliefs(page())
    assert found is not None and found.state is CandidateState.PROMOTED
    assert belief is not None and beliefs == [belief]
    assert (belief.id, belief.consumers[0].receipt) == (receipt.belief, receipt.receipt_id)
    other = pending(desk, "releases are tagged on TUESDAYS")
    related = review.show(desk, ref(other)).duplicates
    assert [(d.layer, d.ref) for d in related] == [("line-memory", belief.id)]


def page():  # type: ignore[no-untyped-def]
    """The first page."""
    from schemas.common import Page

    return Page()


@pytest.mark.parametrize("verdict", [None, Verdict.REJECT, Verdict.DEFER])
def test_only_an_accepted_version_is_previewed(desk: Desk, verdict: Verdict | None) -> None:
    """Pending, rejected and deferred are refused (G1)."""
    version = pending(desk)
    if verdict:
        review.decide(desk, ref(version), verdict)
    with pytest.raises(Refused) as refused:
        preview.build(desk, ref(version), "line-memory")
    assert refused.value.code == "candidate.not-accepted"


def test_an_old_accepted_version_is_stale(desk: Desk) -> None:
    """Accepted once, but a newer version exists."""
    version = accepted(desk)
    review.edit(desk, ref(version), "Releases are tagged on Fridays.")
    with pytest.raises(Stale) as refused:
        preview.build(desk, ref(version), "line-memory")
    assert refused.value.code == "candidate.stale-version"


def test_a_conflict_is_shown_and_a_number_is_no_duplicate(desk: Desk) -> None:
    """Same key, other value: a conflict beside the preview, never ranked away (spec 4.7)."""
    confirm(
        desk,
        preview.build(
            desk, ref(accepted(desk, "The API listens on port 8443.")), "line-memory"
        ).operation_id,
    )
    shown = previewed(desk, "The API listens on port 9443.")
    assert [c.statement for c in shown.conflicts] == ["The API listens on port 8443."]
    assert not shown.duplicate
    assert shown.blocked_by == ()
