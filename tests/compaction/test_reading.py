"""What a person read, held against what the rules say: the figures `docs/compaction.md` states."""

from __future__ import annotations

import json
import re
from pathlib import Path

from core.compaction.observe import observe
from core.compaction.standing import said
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.compaction import ItemClass, ItemState, SummaryState
from tests.compaction.sessions import owners
from tests.conftest import DATA

ROOT = Path(__file__).parent.parent.parent


def reading(name: str) -> dict[str, object]:
    """A file of readings."""
    found: dict[str, object] = json.loads((DATA / "compaction" / name).read_text("utf-8"))
    return found


def stands(quote: str) -> bool:
    """What the rules say of an owner's message."""
    event = owners(quote)
    return any(w.class_ is ItemClass.STANDING for w in said(event))


def test_precision_and_recall_of_standing_instructions_are_what_the_docs_say() -> None:
    """Counted from the readings; a rule that makes them worse must say so in the docs."""
    readings = reading("standing.json")["readings"]
    assert isinstance(readings, list) and len(readings) > 30
    found = [(r["standing"], stands(r["quote"])) for r in readings]
    hits, wrong = found.count((True, True)), found.count((False, True))
    missed = found.count((True, False))
    text = (ROOT / "docs/compaction.md").read_text("utf-8")
    told = re.search(r"(\d+) found, (\d+) wrongly, (\d+) missed", text)
    assert told is not None
    assert [int(n) for n in told.groups()] == [hits, wrong, missed]
    assert hits / (hits + wrong) >= 0.8


def test_the_boundaries_read_by_hand_are_counted_in_the_docs() -> None:
    """How many there were, how many could be read, what was lost in them."""
    cuts = reading("boundaries.json")["boundaries"]
    assert isinstance(cuts, list)
    readable = [b for b in cuts if b["readable"]]
    text = " ".join((ROOT / "docs/compaction.md").read_text("utf-8").split())
    assert f"{len(cuts)} boundaries" in text and f"{len(readable)} of them" in text
    assert sum(b["lost"] for b in readable) == 0


def test_a_real_boundary_is_observed_from_its_file(sqlite_desk: Desk) -> None:
    """The slice at hand: trigger, size and a summary that quotes the owner's words."""
    path = DATA / "claude-code/compact-auto-2.1.5-slice.jsonl"
    import_paths(sqlite_desk, [path])
    with sqlite_desk.store.read() as view:
        (name, _stamp), *more = view.compaction.cut_sessions("", 10)
    assert more == []
    (cut,) = observe(sqlite_desk, name).boundaries
    assert (cut.trigger, cut.before and cut.before.tokens) == ("auto", 155_461)
    assert cut.summary is SummaryState.READ and cut.lost == {}


def test_trimmed_boundaries_of_codex_claim_nothing(sqlite_desk: Desk) -> None:
    """Six boundaries whose words the origin had taken out."""
    import_paths(sqlite_desk, [DATA / "codex/drift-small.jsonl"])
    with sqlite_desk.store.read() as view:
        names = [n for n, _ in view.compaction.cut_sessions("", 10)]
    cuts = [b for n in names for b in observe(sqlite_desk, n).boundaries]
    assert len(cuts) == 6
    assert not any(i.state is ItemState.MISSING for b in cuts for i in b.items)
