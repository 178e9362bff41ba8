"""Real sessions and nasty files: no crash, no dropped byte, counts that add up (spec 1.1, 1.3)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from schemas.evidence import ImportReport
from tests.conftest import DATA, record, write
from tests.desks import events, rebuilt

SESSIONS = sorted((DATA / "claude-code").glob("*.jsonl"))
NASTY = sorted((DATA / "nasty").iterdir())
JSON_SUITE = sorted((DATA / "json-test-suite").iterdir())
DOCUMENTS = sorted((DATA / "documents").iterdir())


def imported(desk: Desk, path: Path, format_: str | None = None) -> ImportReport:
    """Import one file twice; every byte is rebuilt and the second import finds all known."""
    first = import_paths(desk, [path], format_=format_)
    data = path.read_bytes()
    got = rebuilt(desk, first.files[0].id)
    assert first.read == first.new + first.duplicate + first.waiting
    assert got == data if not first.waiting else data.startswith(got)
    again = import_paths(desk, [path], format_=format_)
    assert (again.new, again.duplicate, again.bytes) == (0, first.events, 0)
    assert (again.waiting, again.files[0].id) == (first.waiting, first.files[0].id)
    return first


def test_every_session_is_imported_whole(sqlite_desk: Desk) -> None:
    """Sessions of versions 1.0.43 to 2.1.210, forks, cycles, cut and joined lines."""
    found = {}
    for path in SESSIONS:
        report = imported(sqlite_desk, path)
        assert report.files[0].format == "claude-code", path.name
        assert report.waiting == 0, path.name
        found[path.name] = report.unparsed
    assert {name: n for name, n in found.items() if n} == {"edge_cases.jsonl": 3}
    assert verify(sqlite_desk).ok


def test_nasty_lines_cost_no_byte(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Each file in a desk of its own path: BOM, CRLF, NUL runs, splices, cut tails, deep nesting."""
    waiting = {}
    for n, path in enumerate([*NASTY, *JSON_SUITE]):
        own = tmp_path / str(n) / path.name
        own.parent.mkdir()
        # A first line of its own keeps every file apart from the others.
        own.write_bytes(b'{"type":"mode","sessionId":"n%d"}\n' % n + path.read_bytes())
        waiting[path.name] = imported(sqlite_desk, own, "claude-code").waiting
    assert waiting["truncated-last-line.jsonl"] == 1
    assert waiting["crlf.jsonl"] == waiting["splice.jsonl"] == 0
    assert verify(sqlite_desk).ok


def test_nothing_that_is_no_session_is_taken_for_one(sqlite_desk: Desk) -> None:
    """JSON files, UTF-16 and binary data are refused by name, not guessed at."""
    codes = {}
    for path in [*JSON_SUITE, DATA / "nasty" / "utf16le-bom.jsonl"]:
        with pytest.raises(Refused) as refused:
            import_paths(sqlite_desk, [path])
        codes[path.name] = refused.value.code
    assert codes["utf16le-bom.jsonl"] == "evidence.encoding"
    assert codes["y_object_duplicated_key.json"] == "evidence.unknown-format"
    assert not events(sqlite_desk)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("crlf.md", b"# One\r\n\r\ntext\r\n\r\n## Two\r\nmore\r\n"),
        ("bom.md", b"\xef\xbb\xbf# One\ntext\n"),
        (
            "fence.md",
            b"# One\n```sh\n# not a heading\n```\n# Two\n~~~\n# nor this\n```\n~~~\nend\n",
        ),
        ("no-newline.md", b"# One\n\nlast words"),
        ("invalid.md", b"# One\n\xff\xfe bad \xe2\x82 bytes\n"),
        ("blank.md", b"\n\n  \n\t\n"),
        ("long.md", b"# One\n" + b"word " * 20_000 + b"\n" + b"line\n\n" * 9_000),
        ("nul.md", b"# One\n\0\0text\n"),
        ("empty.md", b""),
        ("breaks.md", "# One\u2028\u0085# not two\n\f\v\n".encode()),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_documents_keep_their_exact_bytes(
    sqlite_desk: Desk, tmp_path: Path, name: str, data: bytes
) -> None:
    """Line ends, BOM, fences, bad bytes and a missing last newline are all given back."""
    path = tmp_path / name
    path.write_bytes(data)
    report = imported(sqlite_desk, path, "markdown")
    assert report.waiting == 0
    assert {e.author for e in events(sqlite_desk)} <= {"external"}


def test_a_heading_inside_a_fence_begins_no_section(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Sections are cut at real headings only; the text of each is its bytes."""
    text = "# One\n```sh\n# not a heading\n```\nafter\n# Two\nx\n"
    path = tmp_path / "fence.md"
    path.write_text(text)
    import_paths(sqlite_desk, [path])
    assert [e.text for e in events(sqlite_desk)] == [text[: text.index("# Two")][:-1], "# Two\nx"]


def test_invalid_utf8_is_noted_and_shown_with_replacement(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """The derived text holds U+FFFD, the record its own bytes."""
    path = tmp_path / "bad.md"
    path.write_bytes(b"# One\nbad \xff byte\n")
    import_paths(sqlite_desk, [path])
    (event,) = events(sqlite_desk)
    assert event.text == "# One\nbad � byte"
    assert "invalid-utf8" in event.notes


def test_real_documents_come_through_a_folder(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A folder is walked in a stable order; links and other suffixes are left alone."""
    folder = tmp_path / "docs"
    shutil.copytree(DATA / "documents", folder)
    (folder / "link.md").symlink_to("/etc/hosts")
    (folder / "x.bin").write_bytes(b"\0")
    report = import_paths(sqlite_desk, [folder])
    assert [f.path.rsplit("/", 1)[1] for f in report.files] == [p.name for p in DOCUMENTS]
    for file, path in zip(report.files, DOCUMENTS, strict=True):
        assert rebuilt(sqlite_desk, file.id) == path.read_bytes()


def test_one_document_that_begins_another_is_not_taken_for_it(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Notes made from one template are files of their own; a copy of the same bytes is not."""
    template = tmp_path / "template.md"
    note, copy = tmp_path / "note.md", tmp_path / "copy.md"
    template.write_bytes(b"# Day\n\n- first\n")
    note.write_bytes(b"# Day\n\n- first\n- ran the tests\n")
    copy.write_bytes(note.read_bytes())
    ids = {p.name: import_paths(sqlite_desk, [p]).files[0].id for p in (template, note, copy)}
    assert ids["copy.md"] == ids["note.md"] != ids["template.md"]
    for path in (template, note):
        assert import_paths(sqlite_desk, [path]).files[0].id == ids[path.name]
        assert rebuilt(sqlite_desk, ids[path.name]) == path.read_bytes()


def test_ten_megabytes_on_one_line_are_one_record(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A tool output that a client wrote into the line whole, between two ordinary records."""
    big = record("x" * 10_000_000, "u2", "u1")
    path = write(tmp_path / "big.jsonl", record("before", "u1"), big, record("after", "u3", "u2"))
    report = imported(sqlite_desk, path)
    assert (report.new, report.unparsed) == (3, 0)
    assert [e.text[:6] for e in events(sqlite_desk)] == ["before", "xxxxxx", "after"]
