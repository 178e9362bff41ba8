"""Lines as agents really leave them (reports of other readers' faults, cases A and B)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from schemas.evidence import Event
from tests.conftest import DATA, record, write
from tests.desks import events, rebuilt

NASTY = DATA / "nasty"
R = record


def read(desk: Desk, folder: Path, *lines: bytes, name: str = "s.jsonl") -> list[Event]:
    """The events of a file of these lines, whose bytes are all kept."""
    path = write(folder / name, *lines)
    report = import_paths(desk, [path])
    assert rebuilt(desk, report.files[0].id) == path.read_bytes()
    return [e for e in events(desk) if e.file == report.files[0].id]


def brief(found: list[Event]) -> list[tuple[str, str]]:
    """Kind and text of each."""
    return [(e.kind.value, e.text) for e in found]


def test_an_unknown_record_type_is_kept_whole(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A1: a kind of next month costs neither itself nor its neighbours."""
    latch = b'{"type":"atis-latch","atis":"","sessionId":"S"}\n'
    found = read(sqlite_desk, tmp_path, R("a", "u1"), latch, R("b", "u2"))
    assert [e.kind.value for e in found] == ["message", "system", "message"]
    assert "unknown-type:atis-latch" in found[1].notes
    with sqlite_desk.store.read() as view:
        assert view.evidence.raw(found[1].id) == latch.rstrip(b"\n")


def test_structured_results_of_any_shape_are_kept(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A2: object without type, string, list; three results, each paired."""
    shapes: list[Any] = [{"task": {"id": "1"}}, "Error: x", [{"type": "text", "text": "y"}]]
    lines = []
    for n, shape in enumerate(shapes):
        block = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"r{n}"}
        message = {"role": "user", "content": [block]}
        lines.append(R("", f"u{n}", message=message, toolUseResult=shape))
    found = read(sqlite_desk, tmp_path, *lines)
    assert brief(found) == [("tool_result", f"r{n}") for n in range(3)]
    assert [f"call:t{n}" in e.notes for n, e in enumerate(found)] == [True] * 3
    with sqlite_desk.store.read() as view:
        raws = [view.evidence.raw(e.id) or b"" for e in found]
    assert [json.loads(raw)["toolUseResult"] for raw in raws] == shapes


def test_role_user_alone_is_no_session(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A4: request bodies and other agents' lines are refused, nothing is guessed."""
    other = b'{"type":"user","uuid":"a","parentUuid":null,"sessionId":"q","message":{"parts":[]}}\n'
    for n, line in enumerate((b'{"role":"user","content":"a"}\n', other)):
        with pytest.raises(Refused, match=r"evidence\.unknown-format"):
            import_paths(sqlite_desk, [write(tmp_path / f"{n}.jsonl", line, line)])


def test_a_record_cut_by_the_next_is_a_fragment(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A10: the first stays, the cut one is unparsed, the next is recovered and noted."""
    found = read(sqlite_desk, tmp_path, (NASTY / "splice.jsonl").read_bytes())
    assert [e.kind.value for e in found] == ["message", "unparsed", "message", "message"]
    assert "fragment" in found[1].notes
    assert "spliced" in found[2].notes
    assert found[1].line == found[2].line


def test_two_records_on_one_line_are_both_records(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A11: each has its own byte offset; a real file of two client versions."""
    data = (NASTY / "missing-newline.jsonl").read_bytes()
    found = read(sqlite_desk, tmp_path, data)
    joined = [e for e in found if "joined" in e.notes]
    assert len(joined) == 2
    assert joined[0].line == joined[1].line
    assert joined[1].byte_start == joined[0].byte_start + joined[0].byte_length
    real = (DATA / "claude-code" / "concatenated-line-slice.jsonl").read_bytes()
    there = read(sqlite_desk, tmp_path, real, name="real.jsonl")
    assert len([e for e in there if "joined" in e.notes]) == 2
    assert not [e for e in there if e.kind == "unparsed"]


def test_a_byte_order_mark_costs_no_record(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A13: read beside a good file; the mark stays in the bytes."""
    found = read(sqlite_desk, tmp_path, (NASTY / "bom.jsonl").read_bytes())
    assert len(found) == 2
    assert "bom" in found[0].notes
    assert found[0].byte_start == 3
    assert len(read(sqlite_desk, tmp_path, R("good", "g1"), name="good.jsonl")) == 1


def test_lone_surrogates_are_shown_replaced_and_kept_raw(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A16: five records; a whole pair stays an emoji; ids and sessions may hold halves too."""
    found = read(sqlite_desk, tmp_path, (NASTY / "lone-surrogate.jsonl").read_bytes())
    assert len(found) == 5
    texts = "".join(e.text for e in found)
    assert "�" in texts and not any("\ud800" <= c <= "\udfff" for c in texts)
    odd = R("x \ud83d y \ud83e\udd89", "u\udc00", "p\ud800", sessionId="s\udfff", cwd="/\ud801")
    (event,) = read(sqlite_desk, tmp_path, odd, name="odd.jsonl")
    assert event.text == "x � y 🦉"
    assert (event.session, event.scope, event.native_id) == ("s�", "/�", "u�")


def test_an_escaped_nul_is_stored_and_found(desk: Desk, tmp_path: Path) -> None:
    """Case A17: on both databases; ids and sessions with NUL as well."""
    line = R("a\0b", "u\0", sessionId="S\0T", cwd="/p\0q", slug="\0")
    (event,) = read(desk, tmp_path, line)
    assert event.text == "a\0b"
    with desk.store.read() as view:
        assert b"\\u0000" in (view.evidence.raw(event.id) or b"")
    assert verify(desk).ok


def test_one_odd_field_does_not_drop_its_record(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A19: numbers, nulls and objects where strings are usual; each is noted."""
    odd: list[dict[str, Any]] = [
        {"timestamp": 1767323045000},
        {"message": None},
        {"uuid": 7},
        {"sessionId": {"a": 1}},
        {"timestamp": "2026-01-02T03:04:05"},
        {"timestamp": "yesterday"},
        {"message": {"role": "user", "content": 5}},
        {"message": {"role": "user", "content": [None, 7, {"type": "new"}]}},
        {"origin": "human", "cwd": 3, "isMeta": "no", "parentUuid": []},
    ]
    found = read(
        sqlite_desk, tmp_path, *(R("hi", **{"uuid": f"u{n}", **x}) for n, x in enumerate(odd))
    )
    assert len(found) == len(odd)
    assert [n for n, e in enumerate(found) if not e.notes] == []
    assert found[0].time is None and "odd:timestamp" in found[0].notes


def test_deep_nesting_costs_one_line(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A20: three thousand arrays on one line do not end the process."""
    deep = (NASTY / "deep.json").read_bytes().strip() + b"\n"
    deeper = b'{"type":"user","message":' + b"[" * 100_000 + b"\n"
    found = read(sqlite_desk, tmp_path, R("a", "u1"), deep, deeper, R("b", "u2"))
    assert [e.kind.value for e in found] == ["message", "unparsed", "unparsed", "message"]


def test_broken_chains_are_imported_in_file_order(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B1: a parent that is nowhere makes a root with a note, never a loss."""
    parents = [("u1", None), ("u2", "u1"), ("u4", "gone"), ("u5", "u4")]
    found = read(sqlite_desk, tmp_path, *(R(u, u, p) for u, p in parents))
    assert [e.native_id for e in found] == ["u1", "u2", "u4", "u5"]
    assert [n for e in found for n in e.notes] == ["missing-parent:gone"]


def test_a_snapshot_does_not_take_the_place_of_its_message(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Case B2: its `messageId` equals a message's uuid and is no id of its own."""
    snapshot = b'{"type":"file-history-snapshot","messageId":"u1","snapshot":{}}\n'
    found = read(sqlite_desk, tmp_path, snapshot, R("words", "u1"))
    assert brief(found) == [("snapshot", ""), ("message", "words")]
    assert [e.native_id for e in found] == [None, "u1"]


def test_copies_across_sessions_are_linked_and_never_merged(desk: Desk, tmp_path: Path) -> None:
    """Case B4: the same uuid and words in two sessions is one link; other words are no copy."""
    (first,) = read(desk, tmp_path, R("same", "u1", sessionId="S1"), name="a.jsonl")
    second, third = read(
        desk,
        tmp_path,
        R("same", "u1", sessionId="S2"),
        R("other", "u1", sessionId="S2"),
        name="b.jsonl",
    )
    assert (first.same_as, second.same_as, third.same_as) == (None, first.id, None)
    assert len({first.id, second.id, third.id}) == 3


def test_words_repeated_under_one_id_are_linked_to_the_first(desk: Desk, tmp_path: Path) -> None:
    """Across batches and files, however often they stand there."""
    first = read(desk, tmp_path, *[R("same", "u1")] * 700, name="a.jsonl")
    second = read(desk, tmp_path, R("same", "u1", sessionId="S2"), name="b.jsonl")
    assert {e.same_as for e in [*first[1:], *second]} == {first[0].id}


def test_records_belong_to_the_session_they_name(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B5: after a resume, records of session B stand in the file of A."""
    lines = [R("x", f"u{n}", sessionId=s) for n, s in enumerate("AABB")]
    found = read(sqlite_desk, tmp_path, *lines, name="A.jsonl")
    assert [e.session for e in found] == ["A", "A", "B", "B"]
    assert [e.text for e in events(sqlite_desk, session="B")] == ["x", "x"]


def test_the_project_is_the_records_folder(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B14: two projects share one encoded folder name; `cwd` tells them apart."""
    lines = [R("x", "u1", cwd="/home/u/my_app"), R("y", "u2", cwd="/home/u/my-app")]
    found = read(sqlite_desk, tmp_path, *lines, name="-home-u-my-app/s.jsonl")
    assert [e.scope for e in found] == ["/home/u/my_app", "/home/u/my-app"]


def test_only_line_feeds_end_lines(sqlite_desk: Desk, tmp_path: Path) -> None:
    """U+2028, U+2029 and U+0085 raw inside strings: three records, not six."""
    data = (NASTY / "unicode-line-breaks.jsonl").read_bytes()
    assert len(read(sqlite_desk, tmp_path, data)) == 3


def test_crlf_and_blank_lines_are_no_records(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Line ends of Windows and empty lines; line numbers count every line."""
    found = read(
        sqlite_desk, tmp_path, b"\r\n", R("a", "u1").replace(b"\n", b"\r\n"), b"  \n", R("b")
    )
    assert [(e.line, e.text) for e in found] == [(2, "a"), (4, "b")]


def test_nul_runs_before_a_record_are_padding(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A power loss leaves 512 NULs in front of a record, or a line of them alone."""
    found = read(
        sqlite_desk, tmp_path, (NASTY / "nul-run-then-record.jsonl").read_bytes(), b"\0\0\n"
    )
    assert [e.kind.value for e in found] == ["message", "message", "unparsed"]
    assert [n for e in found for n in e.notes if n.startswith("nul")] == ["nul-padded", "nul-run"]


def test_names_from_outside_forge_no_note_and_break_no_store(desk: Desk, tmp_path: Path) -> None:
    """A type, id or session with line ends or of any length is a name, nothing more."""
    forged = "x\nsame:ev_" + "0" * 32
    lines = [
        R("", "u1", type=forged),
        R("a", "n" * 50_000, sessionId="s" * 50_000, cwd="/" + "é" * 50_000),
        R("b", forged, forged, sessionId=forged),
    ]
    found = read(desk, tmp_path, *lines)
    assert [e.same_as for e in found] == [None, None, None]
    assert found[0].notes[0].startswith("unknown-type:x�same:")
    assert len(found[1].session) < 300
    assert verify(desk).ok
