"""Extracts are derived, say what they miss, and never stand in for their source (spec 1.5)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from core.evidence import artifacts, extracts
from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused, Unusable
from tests.conftest import Cli, Command, make_desk, record, write
from tests.desks import events

LINES = [b"line %d\n" % n for n in range(1, 21)]


def test_an_extract_states_what_it_covers_and_misses(desk: Desk, tmp_path: Path) -> None:
    """Overlaps and neighbours become one stretch; together with the misses it is every line."""
    source, _ = artifacts.add(desk, write(tmp_path / "a.log", *LINES))
    made, new = extracts.make(desk, source.id, ["9:9", "2:3", "4:5", "3:4", "18:20"])
    assert new and made.derived and not made.complete and not made.stale
    assert [(r.first, r.last) for r in made.covers] == [(2, 5), (9, 9), (18, 20)]
    assert [(r.first, r.last) for r in made.misses] == [(1, 1), (6, 8), (10, 17)]
    both = [*made.covers, *made.misses]
    assert sorted(n for r in both for n in range(r.first, r.last + 1)) == list(range(1, 21))
    wanted = b"".join(LINES[1:5] + LINES[8:9] + LINES[17:])
    assert made.digest == "sha256:" + hashlib.sha256(wanted).hexdigest()
    shown = extracts.rendered(desk, made)
    assert "".join(p.text for p in shown.parts).encode() == wanted
    again, new = extracts.make(desk, source.id, ["2:5", "9:9", "18:20"])
    assert (again, new) == (made, False)
    assert extracts.make(desk, source.id, ["1:20"])[0].complete
    assert verify(desk).ok


def test_an_extract_of_an_older_revision_is_stale_and_says_the_old_words(
    desk: Desk, tmp_path: Path
) -> None:
    """The source moved on; what was extracted is still what it was, and marked."""
    path = write(tmp_path / "a.log", *LINES)
    source, _ = artifacts.add(desk, path)
    extracts.make(desk, source.id, ["1:2"])
    newer, _ = artifacts.add(desk, write(path, b"other\n", *LINES))
    fresh, _ = extracts.make(desk, newer.id, ["1:2"])
    listed = extracts.listed(desk, newer.id)
    assert [(e.artifact.revision, e.stale) for e in listed] == [(1, True), (2, False)]
    assert listed[1] == fresh
    assert extracts.rendered(desk, listed[0]).parts[0].text == "line 1\nline 2\n"


def test_the_source_is_always_read_whole(sqlite_desk: Desk, tmp_path: Path) -> None:
    """No read of an artifact gives an extract in its place, and an extract's name reads nothing."""
    source, _ = artifacts.add(sqlite_desk, write(tmp_path / "a.log", *LINES))
    made, _ = extracts.make(sqlite_desk, source.id, ["2:3"])
    for ref in (source.id, source.locator):
        whole = artifacts.read(sqlite_desk, artifacts.part(sqlite_desk, ref))
        assert b"".join(whole) == b"".join(LINES)
    with pytest.raises(Exception, match=r"id\.malformed"):
        artifacts.part(sqlite_desk, made.locator)


def test_an_extract_whose_source_was_altered_is_refused(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Nothing is shown that is not what was registered."""
    source, _ = artifacts.add(sqlite_desk, write(tmp_path / "a.log", *LINES))
    made, _ = extracts.make(sqlite_desk, source.id, ["2:3"])
    name = source.digest.removeprefix("sha256:")
    kept = sqlite_desk.workspace.folder / "artifacts" / name[:2] / name
    kept.chmod(0o600)
    kept.write_bytes(b"".join(LINES).replace(b"line 2", b"lime 2"))
    with pytest.raises(Unusable, match=r"artifact\.altered"):
        extracts.rendered(sqlite_desk, made)


@pytest.mark.parametrize("lines", [["0:1"], ["1:21"], ["3:2"], ["x"], []])
def test_lines_that_are_not_there_make_no_extract(
    sqlite_desk: Desk, tmp_path: Path, lines: list[str]
) -> None:
    """Refused with the bounds; nothing is registered."""
    source, _ = artifacts.add(sqlite_desk, write(tmp_path / "a.log", *LINES))
    with pytest.raises(Refused, match=r"artifact\.range"):
        extracts.make(sqlite_desk, source.id, lines)
    assert extracts.listed(sqlite_desk, source.id) == []


def test_by_command_every_gap_is_shown(sqlite_desk: Desk, tmp_path: Path, command: Command) -> None:
    """A person sees where lines are left out; a script gets ranges and words."""
    source, _ = artifacts.add(sqlite_desk, write(tmp_path / "a.log", *LINES))
    asked = ["evidence", "artifact", "extract", source.id[:12], "--lines", "2:3", "--lines", "9:9"]
    _status, out, _err = command.run(*asked)
    assert out.splitlines()[1:] == [
        "  ⋯ lines 1-1 are left out",
        "line 2",
        "line 3",
        "  ⋯ lines 4-8 are left out",
        "line 9",
        "  ⋯ lines 10-20 are left out",
    ]
    document = command.json(*asked)
    assert document["new"] is False
    assert [p["text"] for p in document["parts"]] == ["line 2\nline 3\n", "line 9\n"]
    (item,) = command.json("evidence", "artifact", "extract", source.id)["items"]
    assert item["misses"][0] == {"first": 1, "last": 1} and "parts" not in item


# what a client cut


def result(text: str) -> bytes:
    """A tool's result as Claude Code writes it."""
    block = {"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": False}
    return record("", "r1", message={"role": "user", "content": [block]})


def test_cut_output_is_partial_and_names_the_narrower_read(
    sqlite_desk: Desk, tmp_path: Path, command: Command, cli: Cli
) -> None:
    """Case D7: without the file, how to keep it; with it, the artifact and the lines to read."""
    rest = tmp_path / "S" / "tool-results" / "b1.txt"
    text = (
        f"<persisted-output>\nOutput too large (31.3KB). Full output saved to: {rest}\n\n"
        "Preview (first 2KB):\ndiff --git a/x b/x\n</persisted-output>"
    )
    import_paths(sqlite_desk, [write(tmp_path / "s.jsonl", result(text))])
    (event,) = events(sqlite_desk)
    assert "partial" in event.notes and event.author == "tool"
    shown = command.json("evidence", "show", event.id)["partial"]
    assert shown["whole"] == str(rest) and shown["artifact"] is None
    assert shown["read"] == f"memdesk evidence artifact add {rest}"
    kept, _ = artifacts.add(sqlite_desk, write(rest, *LINES))
    shown = command.json("evidence", "show", event.id)["partial"]
    assert shown["artifact"] == kept.locator
    assert cli.run(*shown["read"].split()[1:]).stdout.encode() == b"".join(LINES)
    assert (
        "! partial: all but the beginning of 31.3KB left out"
        in command.run("evidence", "show", event.id)[1]
    )


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("a\n\n... [600615 characters truncated] ...\n\nb", "600615 characters"),
        ("head…19210 tokens truncated…tail", "19210 tokens"),
        ("<persisted-output>\nother words", "all but the beginning"),
    ],
)
def test_other_notices_say_how_much_is_missing(
    sqlite_desk: Desk, tmp_path: Path, command: Command, text: str, left_out: str
) -> None:
    """The clients' fixed words; where the rest is they don't say."""
    import_paths(sqlite_desk, [write(tmp_path / "s.jsonl", result(text))])
    shown = command.json("evidence", "show", events(sqlite_desk)[0].id)["partial"]
    assert (shown["left_out"], shown["whole"], shown["read"]) == (left_out, None, None)


@pytest.mark.parametrize(
    "text",
    ["72 more lines truncated", "the log said: <persisted-output>", "10 lines truncated…", ""],
)
def test_words_like_a_notice_make_nothing_partial(
    sqlite_desk: Desk, tmp_path: Path, command: Command, text: str
) -> None:
    """A tool may print anything; only a client's own notice at its place counts."""
    import_paths(sqlite_desk, [write(tmp_path / "s.jsonl", result(text))])
    (event,) = events(sqlite_desk)
    assert "partial" not in event.notes
    assert command.json("evidence", "show", event.id)["partial"] is None


@pytest.mark.parametrize("where", ["relative/b.txt", "/a\0b", "/" + "x" * 4000, "/proc/self/mem"])
def test_the_file_a_notice_names_is_never_opened(
    workspace: Path, tmp_path: Path, where: str
) -> None:
    """A path in a tool's output is a name: odd ones break nothing, none is followed."""
    desk = make_desk(workspace)
    text = f"<persisted-output>\nOutput too large (1MB). Full output saved to: {where}\n"
    import_paths(desk, [write(tmp_path / "s.jsonl", result(text))])
    from core.evidence import lookup

    found = lookup.partial(desk, events(desk)[0])
    assert found is not None and found.artifact is None and found.file is None
    desk.store.close()
