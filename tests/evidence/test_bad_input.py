"""Input nobody should write and somebody does: kept to the byte, told apart, never a crash (1.3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from tests.conftest import record, write
from tests.desks import events, rebuilt

GOOD = record("before", "u1")
AFTER = record("after", "u9", "u1")


def between(desk: Desk, folder: Path, *odd: bytes) -> list[tuple[str, str]]:
    """Kind and text of what stands between two good records, whose file is kept to the byte."""
    path = write(folder / "s.jsonl", GOOD, *odd, AFTER)
    report = import_paths(desk, [path])
    assert report.read == report.new + report.duplicate + report.waiting
    assert rebuilt(desk, report.files[0].id) == path.read_bytes()
    found = [(e.kind.value, e.text) for e in events(desk)]
    assert found[0] == ("message", "before") and found[-1] == ("message", "after")
    assert verify(desk).ok
    return found[1:-1]


def test_of_a_key_written_twice_the_last_counts_as_for_the_client(
    desk: Desk, tmp_path: Path
) -> None:
    """JavaScript, which wrote it, reads the last; both stay in the record's bytes."""
    line = record("second", "u2", "u1").replace(
        b'"uuid"', b'"type": "mode", "type": "user", "uuid"'
    )
    assert between(desk, tmp_path, line) == [("message", "second")]


@pytest.mark.parametrize(
    "number",
    [
        "1e999",
        "-1e400",
        "9" * 400,
        "9" * 5_000,
        "0." + "1" * 400,
        "-0",
        "1E+2",
        "18446744073709551616",
    ],
)
def test_numbers_beyond_any_machine_cost_nothing(
    sqlite_desk: Desk, tmp_path: Path, number: str
) -> None:
    """As a member nobody needs, and as the time of the record."""
    for n, member in enumerate((b'"size": ', b'"timestamp": ')):
        line = record("big", "u2", "u1").replace(b'"timestamp": ', b'"old": ', n)
        line = line.replace(b'{"type"', b"{" + member + number.encode() + b', "type"', 1)
        assert between(sqlite_desk, tmp_path / str(n), line)[-1][1] in ("big", "")


DEEP = record("deep", "u2", "u1")[:-2] + b', "x": ' + b"[" * 2_000 + b"]" * 2_000 + b"}\n"


def test_what_is_nested_too_deep_says_so(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Between others it costs itself; alone, the cause is named and a named format keeps it whole."""
    assert between(sqlite_desk, tmp_path, DEEP)[0][0] == "unparsed"
    assert events(sqlite_desk)[1].notes == ("too-deep",)
    alone = write(tmp_path / "alone.jsonl", DEEP)
    with pytest.raises(Refused) as refused:
        import_paths(sqlite_desk, [alone])
    assert refused.value.code == "evidence.too-deep"
    report = import_paths(sqlite_desk, [alone], format_="claude-code")
    assert (report.unparsed, rebuilt(sqlite_desk, report.files[0].id)) == (1, DEEP)


def test_one_item_too_deep_costs_a_document_that_item(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A chat whose second message nobody can read is a chat all the same."""
    nested = "[" * 2_000 + "]" * 2_000
    said = {"id": "1", "timestamp": "2026-01-02T03:04:05Z", "type": "user", "content": "hi"}
    chat = {"sessionId": "g", "projectHash": "h", "messages": [said, {"id": "2", "x": "deep"}]}
    text = json.dumps(chat).replace('"deep"', nested)
    (report,) = import_paths(sqlite_desk, [write(tmp_path / "c.json", text.encode())]).files
    assert (report.format, report.unparsed) == ("gemini", 1)
    assert rebuilt(sqlite_desk, report.id) == text.encode()


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_are_no_json_numbers_are_forgiven(
    sqlite_desk: Desk, tmp_path: Path, word: str
) -> None:
    """Python's encoder writes them; the record is read all the same."""
    line = record("odd", "u2", "u1").replace(b'{"type"', f'{{"x": {word}, "type"'.encode(), 1)
    assert between(sqlite_desk, tmp_path, line) == [("message", "odd")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "utf-16-le", "utf-7"])
def test_a_line_in_another_encoding_costs_itself_at_most(
    sqlite_desk: Desk, tmp_path: Path, encoding: str
) -> None:
    """One client's line among others'; what can't be read is unparsed, and kept."""
    words = "日本" if encoding == "shift_jis" else "größer"
    document = {**json.loads(record("", "u2", "u1")), "message": {"role": "user", "content": words}}
    data = json.dumps(document, ensure_ascii=False).encode(encoding)
    found = between(sqlite_desk, tmp_path, data.replace(b"\n", b" "), b"\n")
    assert found and all(kind in ("message", "unparsed", "system") for kind, _text in found)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"])
def test_a_file_in_utf_16_or_32_is_refused_by_name(
    sqlite_desk: Desk, tmp_path: Path, mark: bytes
) -> None:
    """Spans could not be byte offsets into it."""
    path = write(tmp_path / "s.jsonl", mark, b"{\0}\0\n\0" * 50)
    with pytest.raises(Refused, match=r"evidence\.(encoding|binary)"):
        import_paths(sqlite_desk, [path])


def test_fifteen_megabytes_on_one_line_are_one_record(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Just below what a record may be: whole, and the one after it too."""
    text = "0123456789abcde\n" * 937_500
    assert between(sqlite_desk, tmp_path, record(text, "u2", "u1")) == [("message", text[:4096])]


@pytest.mark.soak
def test_a_hundred_megabytes_on_one_line_cost_that_line_alone(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Beyond any record: in pieces, unparsed, every byte kept."""
    found = between(sqlite_desk, tmp_path, record("x" * 100_000_000, "u2", "u1"))
    assert len(found) > 90 and {kind for kind, _text in found} == {"unparsed"}


def test_a_compaction_is_a_boundary_with_its_facts_and_a_summary_of_the_agents(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Cases C1 and D5: trigger and size are there; the summary is nobody's preference."""
    boundary = record(
        "", "u2", type="system", subtype="compact_boundary", content="Conversation compacted",
        compactMetadata={"trigger": "auto", "preTokens": 170240}, message=None,
    )  # fmt: skip
    summary = record("The user prefers tabs", "u3", "u2", isCompactSummary=True)
    (kind, text), said = between(sqlite_desk, tmp_path, boundary, summary)
    assert kind == "compact_boundary" and '"trigger":"auto"' in text and "170240" in text
    assert said == ("summary", "The user prefers tabs")
    by = {e.text: e.author.value for e in events(sqlite_desk)}
    assert by["The user prefers tabs"] == "agent"


def test_two_texts_under_one_id_are_two_events(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B4: an id that a client gave twice merges nothing and links nothing."""
    write(tmp_path / "a.jsonl", record("one text", "same", sessionId="S1"))
    write(tmp_path / "b.jsonl", record("another text", "same", sessionId="S2"))
    import_paths(sqlite_desk, [tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    found = events(sqlite_desk)
    assert [(e.session, e.text) for e in found] == [("S1", "one text"), ("S2", "another text")]
    assert all(e.same_as is None for e in found)


def test_a_damaged_file_beside_a_good_one_costs_the_good_one_nothing(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Cases A1 and A13: the refused one is named, the rest of the folder is read."""
    write(tmp_path / "t" / "bad.jsonl", b"\0\1\2\3" * 400)
    write(tmp_path / "t" / "bom.jsonl", b"\xef\xbb\xbf", record("with a mark", "u1"))
    write(tmp_path / "t" / "good.jsonl", record("good", "u2"))
    report = import_paths(sqlite_desk, [tmp_path / "t"])
    assert [r.code for r in report.refused] == ["evidence.binary"]
    assert sorted(e.text for e in events(sqlite_desk)) == ["good", "with a mark"]
    assert verify(sqlite_desk).ok
