"""Sessions in the store: counted as they come, listed by key, read in both directions (1.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from core.evidence import dependents
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.storage import SessionFilter
from tests.conftest import record, write
from tests.desks import events, promoted, proposed
from tests.tui.talks import everything, many, owner


def lay(desk: Desk, folder: Path) -> None:
    """Sessions in one file and over two, interleaved, grown in a second import."""
    mixed = [x for pair in zip(many(40, "aa-1"), many(40, "bb-2"), strict=True) for x in pair]
    files = {
        "talk.jsonl": everything(),
        "mixed.jsonl": mixed,
        "again.jsonl": [record(f"later {n}", f"l{n}", sessionId="aa-1") for n in range(5)],
        "quiet.jsonl": [record("x", "q", sessionId="cc-3", timestamp=None)],
    }
    paths = [write(folder / name, *lines) for name, lines in files.items()]
    import_paths(desk, paths)
    write(
        folder / "mixed.jsonl",
        *mixed,
        *many(30, "bb-2", 40),
        owner("o9", "the end", sessionId="dd-4"),
    )
    import_paths(desk, [folder / "mixed.jsonl"])


def test_what_was_counted_on_the_way_equals_what_is_there(desk: Desk, tmp_path: Path) -> None:
    """Every figure of every session, counted again from all its events."""
    lay(desk, tmp_path)
    by_session = defaultdict(list)
    for event in events(desk):
        by_session[event.session].append(event)
    with desk.store.read() as view:
        rows = view.evidence.sessions(SessionFilter(), None, 100)
    assert {r.name for r in rows} == set(by_session) and len(rows) == 6
    for row in rows:
        own = by_session[row.name]
        times = [e.time for e in own if e.time is not None]
        assert row.events == len(own)
        assert row.authors == Counter(e.author.value for e in own)
        assert row.bytes == sum(e.byte_length for e in own if e.part == 0)
        assert (row.first, row.last) == ((min(times), max(times)) if times else (None, None))
        assert row.unparsed == sum(e.kind == "unparsed" for e in own)
        assert row.boundaries == sum(e.kind == "compact_boundary" for e in own)
        assert row.files == len({e.file for e in own})


def test_the_list_is_paged_by_key_in_each_order(desk: Desk, tmp_path: Path) -> None:
    """Pages joined are the whole list, sorted; anchors begin them; a filter narrows both."""
    lay(desk, tmp_path)
    with desk.store.read() as view:
        for order, value in (("newest", "last"), ("events", "events"), ("bytes", "bytes")):
            wanted = SessionFilter(order=order)
            whole = view.evidence.sessions(wanted, None, 100)
            anchors, total = view.evidence.session_anchors(wanted, 2)
            assert total == len(whole) == 6
            assert anchors == [r.place for r in whole[::2]]
            assert [r for a in anchors for r in view.evidence.sessions(wanted, a, 2)] == whole
            figures = [getattr(r, value) or 0 for r in whole]
            assert figures == sorted(figures, reverse=True)
        found = view.evidence.sessions(SessionFilter("BB-"), None, 9)
        assert [r.name for r in found] == ["bb-2"]
        assert view.evidence.session_anchors(SessionFilter("100%"), 2) == ([], 0)


def test_a_session_is_read_in_pages_from_either_side(desk: Desk, tmp_path: Path) -> None:
    """Over two files and between another session's events, nothing is left out or repeated."""
    lay(desk, tmp_path)
    own = [e.id for e in events(desk) if e.session == "aa-1"]
    with desk.store.read() as view:
        for back in (False, True):
            met, spot = [], None
            while turns := view.evidence.turns(["aa-1"], spot, 7, back=back):
                met += [t.event.id for t in turns]
                spot = turns[-1].spot
            assert met == (own[::-1] if back else own)
            texts = view.evidence.texts(["aa-1"], None, 100, back=back)
            assert [t.id for t in texts] == met
        middle = view.evidence.spot(own[20])
        assert middle is not None
        assert view.evidence.turns(["aa-1"], (middle[0], middle[1] - 1), 1)[0].event.id == own[20]


def test_a_subagents_events_come_with_their_session(desk: Desk, tmp_path: Path) -> None:
    """Those in its own files, in file order."""
    lay(desk, tmp_path)
    name = "7acd37a8-aaaa"
    with desk.store.read() as view:
        names = [name, *view.evidence.children(name, 9)]
        turns = view.evidence.turns(names, None, 100)
    assert len(names) == 2
    assert [t.event.id for t in turns] == [e.id for e in events(desk) if e.session in names]


def test_an_event_knows_what_depends_on_it(desk: Desk, tmp_path: Path) -> None:
    """The citing version, the belief, the write and its receipt; nothing of another event."""
    import_paths(desk, [write(tmp_path / "s.jsonl", record("We deploy."), record("Else.", "u2"))])
    one, two = events(desk)
    version = proposed(desk, "We deploy.", one.id)
    receipt = promoted(desk, version)
    found = dependents.of(desk, one.id)
    kinds = {d.kind: d for d in found.items}
    assert set(kinds) == {"candidate", "belief", "operation", "receipt"} and not found.more
    assert kinds["candidate"].id == version.id and kinds["candidate"].state == "promoted"
    assert kinds["receipt"].id == receipt.receipt_id
    assert kinds["operation"].id == receipt.operation_id
    assert kinds["belief"].id == receipt.belief
    assert dependents.of(desk, two.id).items == ()
