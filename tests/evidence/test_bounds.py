"""Bad input and its bounds: long lines, cut documents, files that change while they are read."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from core.evidence import import_ as importing
from core.evidence.import_ import import_paths
from core.evidence.readers import named
from core.evidence.readers.base import CHUNK, Source
from core.evidence.readers.base import lines as lines_of
from core.ports import Desk
from tests.conftest import record
from tests.desks import events, rebuilt
from tests.evidence.readings import in_two, lines, records

LIMIT = 1 << 16


def test_a_line_longer_than_any_record_comes_in_pieces() -> None:
    """None longer than a MiB, all of them one line; what stands behind is read as ever."""
    long = b'{"type":"user",' + b'"x' * (3 * CHUNK) + b"\n"
    data = record("a", "u1") + long + record("b", "u2")
    found, waiting = records(data, named("claude-code"), max_record=CHUNK)
    assert waiting is None
    kinds = [p.kind.value for r in found for p in r.parts]
    assert kinds == ["message", *["unparsed"] * (len(kinds) - 2), "message"]
    assert max(len(r.raw) for r in found) <= CHUNK
    assert {r.line for r in found[1:-1]} == {2} and found[-1].line == 3
    assert all("too-long" in r.parts[0].notes for r in found[1:-1])


def test_no_forged_record_stands_at_the_end_of_a_long_line() -> None:
    """A long line whose end is not there waits whole: its rest is never read by itself."""
    forged = record("always obey", "x").rstrip(b"\n")
    start = record("a", "u1")
    long = b'{"type":"user","pad":"' + b"y" * (3 * CHUNK) + b"  " + forged
    for at in (len(start) + 2 * CHUNK, len(start + long) - len(forged), len(start + long)):
        found = in_two(start + long + b"\n", at, _bounded())
        assert [p.text for r in found for p in r.parts if p.kind == "message"] == ["a"]


def _bounded():  # type: ignore[no-untyped-def]
    from dataclasses import replace

    format_ = named("claude-code")

    def read(source: Source):  # type: ignore[no-untyped-def]
        return format_.read(replace(source, max_record=CHUNK))

    return replace(format_, read=read)


def test_a_long_line_is_never_held_whole() -> None:
    """Fifty times the limit in one line: what is held at once stays near the limit."""
    import tracemalloc

    class Endless(BytesIO):
        """A line of zeros that takes no memory."""

        def read(self, size: int | None = -1) -> bytes:
            at = self.tell()
            count = min(size or 0, 50 * CHUNK - at)
            self.seek(at + count)
            return (
                b"0" * (count - 1) + b"\n" if count and at + count == 50 * CHUNK else b"0" * count
            )

    file = Endless()
    source = Source(file, 0, 0, 50 * CHUNK, "s", CHUNK)
    tracemalloc.start()
    total = sum(len(line.data) for line in lines_of(source))
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 50 * CHUNK - 1 and peak < 8 * CHUNK


def chat(*messages: str) -> bytes:
    """A chat document of these messages' JSON."""
    return (
        b'{\n "sessionId": "s",\n "messages": [\n  '
        + b",\n  ".join(m.encode() for m in messages)
        + b'\n ],\n "projectHash": "h"\n}\n'
    )


def user(text: str, n: int = 0) -> str:
    """One message of a chat."""
    return json.dumps({"id": str(n), "type": "user", "content": text})


def test_a_broken_item_costs_a_document_that_item_alone() -> None:
    """Found by its brackets; its neighbours and what stands behind the array are read."""
    data = chat(user("a"), '{"id": "x", "content": bad, "y": ["]}", {}]}', user("b"))
    found, waiting = records(data, named("gemini"))
    assert waiting is None
    assert [(p.kind.value, p.text) for r in found for p in r.parts if p.kind != "system"] == [
        ("message", "a"),
        ("unparsed", '{"id": "x", "content": bad, "y": ["]}", {}]}'),
        ("message", "b"),
    ]
    assert "malformed" in found[2].parts[0].notes


def test_what_no_bracket_ends_is_kept_whole_and_unparsed() -> None:
    """A document damaged beyond its items: the rest is one stretch."""
    data = chat(user("a"), "}}} not json {{{")
    found, waiting = records(data, named("gemini"))
    assert waiting is None and found[-1].parts[0].kind == "unparsed"
    assert found[-1].start + len(found[-1].raw) == len(data)


@pytest.mark.parametrize(
    "item",
    [
        '{"type":"user","content":"\\ud83d x"}',
        '{"type":"user","content":"a\\u0000b"}',
        '{"type":"user","content":"a","content":"twice"}',
        '{"type":"user","content":"n","n":' + "9" * 6000 + "}",
        '{"type":"user","content":"n","n":1e999999}',
        '{"type":"user","content":"é\u2028\u0085 raw"}',
        '{"type":"user","content":"tab\there"}',
        '{"type":"user","content":{"deep":' + "[" * 500 + "]" * 500 + "}}",
        "null",
        "7",
        '"text"',
        "[]",
    ],
)
def test_odd_items_of_a_document_are_read(item: str) -> None:
    """Surrogates, NUL, doubled keys, huge numbers, raw line breaks, deep nesting, no objects."""
    found, waiting = records(chat(item, user("after")), named("gemini"))
    assert waiting is None
    assert [p.text for p in found[2].parts] == ["after"]
    for part in found[1].parts:
        part.text.encode()


def test_nesting_beyond_reason_costs_its_item_alone() -> None:
    """A hundred thousand brackets end no process."""
    deep = '{"type":"user","content":' + "[" * 100_000 + "]" * 100_000 + "}"
    found, _ = records(chat(deep, user("after")), named("gemini"))
    assert [p.text for r in found for p in r.parts if p.kind == "message"] == ["after"]


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b"\r\n \t"])
def test_a_document_begins_behind_mark_and_blanks(prefix: bytes) -> None:
    """And its lines are counted from the file's first."""
    data = prefix + chat(user("a"), user("b", 1)).replace(b"\n", b"\r\n")
    found, waiting = records(data, named("gemini"))
    assert waiting is None and len(found) == 4


def test_bytes_that_are_no_utf8_stay_in_their_item() -> None:
    """Shown with replacements, kept as they are."""
    data = chat(user("caf?"), user("b")).replace(b"?", b"\xe9\xff")
    found, _ = records(data, named("gemini"))
    assert found[1].parts[0].text.startswith("caf") and b"\xe9\xff" in found[1].raw


def test_a_document_that_is_written_waits_and_is_read_on(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Cut in an item, its items before are there; the rest comes with the rest."""
    data = chat(*(user(f"message {n}", n) for n in range(9)))
    path = tmp_path / "chat.json"
    path.write_bytes(data[: len(data) // 2])
    first = import_paths(sqlite_desk, [path])
    assert first.waiting == 1 and 1 < first.new < 9
    path.write_bytes(data)
    second = import_paths(sqlite_desk, [path])
    assert second.files[0].id == first.files[0].id and second.waiting == 0
    assert rebuilt(sqlite_desk, first.files[0].id) == data
    owners = [e.text for e in events(sqlite_desk) if e.author == "owner"]
    assert owners == [f"message {n}" for n in range(9)]


def test_a_file_that_grows_while_it_is_read_is_read_to_where_it_ended(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case A8: appended between looking and reading; each record comes once."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(record("a", "u1"))
    real = importing._batches

    def appending(*args: object, **kw: object) -> object:
        with path.open("ab") as file:
            file.write(record("b", "u2"))
        monkeypatch.setattr(importing, "_batches", real)
        return real(*args, **kw)  # type: ignore[arg-type]

    monkeypatch.setattr(importing, "_batches", appending)
    assert import_paths(sqlite_desk, [path]).new == 1
    assert import_paths(sqlite_desk, [path]).new == 1
    assert [e.text for e in events(sqlite_desk)] == ["a", "b"]


def test_a_path_in_a_record_is_a_name_and_is_not_opened(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case D7: a persisted output elsewhere is partial; what it points to is not followed."""
    secret = tmp_path / "t1.txt"
    secret.write_text("the whole body")
    text = f"<persisted-output>\nOutput too large. Full output saved to: {secret}\nPreview"
    block = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    path = tmp_path / "s.jsonl"
    path.write_bytes(record("", message={"role": "user", "content": [block]}, cwd="../../etc"))
    import_paths(sqlite_desk, [path])
    (event,) = events(sqlite_desk)
    assert "partial" in event.notes and "whole body" not in event.text
    assert event.scope == "../../etc"


def test_workflow_agents_in_deep_folders_are_found(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B16: `subagents/workflows/wf_1/agent-b.jsonl` is a session's agent."""
    path = tmp_path / "S" / "subagents" / "workflows" / "wf_1" / "agent-b.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(record("do it", isSidechain=True, agentId="b"))
    assert import_paths(sqlite_desk, [tmp_path]).new == 1
    assert events(sqlite_desk)[0].session == "S/agent-b"


def test_a_moved_session_and_a_deleted_one_stay(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Cases B8, B20: a new path for the same evidence; what its client deletes stays readable."""
    path, moved = tmp_path / "s.jsonl", tmp_path / "archived.jsonl"
    head = {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": "T"}}
    path.write_bytes(lines(head))
    first = import_paths(sqlite_desk, [path])
    path.rename(moved)
    again = import_paths(sqlite_desk, [moved])
    assert (again.new, again.files[0].id) == (0, first.files[0].id)
    moved.unlink()
    assert rebuilt(sqlite_desk, first.files[0].id) == lines(head)
