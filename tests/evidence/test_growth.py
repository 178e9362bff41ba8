"""Files that grow, move, shrink and are killed half-way: nothing lost, nothing twice (spec 1.3)."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from tests.conftest import DATA, Cli, Command, make_desk, record, write
from tests.desks import events, rebuilt

EMOJI = "a 🦉 cut in the middle"


def told(desk: Desk) -> list[tuple[int, str, str, str]]:
    """What the store says was said: line, text, author and kind of each event, in order."""
    return [(e.line, e.text, e.author.value, e.kind.value) for e in events(desk)]


def test_growth_in_many_steps_is_one_file(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Each import adds exactly the records appended since the one before."""
    path, data = tmp_path / "s.jsonl", b""
    ids = set()
    for n in range(6):
        data += record(f"text {n}", f"u{n}")
        path.write_bytes(data)
        report = import_paths(sqlite_desk, [path])
        assert (report.new, report.duplicate) == (1, n)
        ids.add(report.files[0].id)
    assert len(ids) == 1
    assert [e.line for e in events(sqlite_desk)] == [1, 2, 3, 4, 5, 6]
    assert rebuilt(sqlite_desk, ids.pop()) == data


def test_a_process_restart_inside_an_emoji_loses_and_repeats_nothing(
    cli: Cli, tmp_path: Path
) -> None:
    """Case A7: the first process sees half a character, the second the rest."""
    data = record("whole", "u1") + json.dumps(
        {**json.loads(record("", "u2", "u1")), "message": {"role": "user", "content": EMOJI}},
        ensure_ascii=False,
    ).encode() + b"\n"  # fmt: skip
    cut = data.index("🦉".encode()) + 2
    path = write(tmp_path / "s.jsonl", data[:cut])
    cli.json("init")
    first = cli.json("evidence", "import", str(path))
    assert (first["new"], first["waiting"]) == (1, 1)
    path.write_bytes(data)
    second = cli.json("evidence", "import", str(path))
    assert (second["new"], second["duplicate"], second["waiting"]) == (1, 1, 0)
    items = cli.json("evidence", "list")["items"]
    assert [i["text"] for i in items] == ["whole", EMOJI]


def test_a_killed_import_goes_on_where_it_stopped(cli: Cli, tmp_path: Path) -> None:
    """SIGKILL of a real process between two batches: the next import adds only the rest."""
    lines = [record(f"line {n} " + "x" * 900, f"u{n}") for n in range(3_000)]
    path = write(tmp_path / "long.jsonl", *lines)
    cli.json("init")
    config = cli.root / ".memdesk" / "config.toml"
    config.write_text(config.read_text().replace("batch_events = 500", "batch_events = 10"))
    command = [str(cli.script), "--workspace", str(cli.root), "evidence", "import", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wal = cli.root / ".memdesk" / "memdesk.db-wal"
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if wal.exists() and wal.stat().st_size > 300_000:
            break
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    report = cli.json("evidence", "import", str(path))
    assert 0 < report["duplicate"] < 3_000
    assert report["new"] + report["duplicate"] == report["read"] == 3_000
    assert cli.json("verify")["checked"]["events"] == 3_000
    desk = make_desk(cli.root)
    assert rebuilt(desk, report["files"][0]["id"]) == path.read_bytes()
    desk.store.close()


def test_a_record_appended_while_the_file_is_read_comes_once(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Case A8: the file grows after it was opened, at each point progress is told."""
    path = write(tmp_path / "s.jsonl", *(record(f"t{n}", f"u{n}") for n in range(700)))
    late: list[int] = []

    def grow(_path: str, _read: int, _size: int) -> None:
        with open(path, "ab") as file:
            file.write(record(f"late {len(late)}", f"late{len(late)}"))
        late.append(1)

    import_paths(sqlite_desk, [path], progress=grow)
    assert len(late) >= 2
    import_paths(sqlite_desk, [path])
    texts = [e.text for e in events(sqlite_desk)]
    assert texts == [f"t{n}" for n in range(700)] + [f"late {n}" for n in range(len(late))]
    assert verify(sqlite_desk).ok


def test_a_truncated_file_is_a_new_revision_and_keeps_the_old_evidence(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Case B7: three lines imported, the file cut to nothing, one other line written."""
    path = write(tmp_path / "s.jsonl", *(record(f"old {n}", f"u{n}") for n in range(3)))
    first = import_paths(sqlite_desk, [path])
    path.write_bytes(record("new", "n1"))
    second = import_paths(sqlite_desk, [path])
    assert (second.new, second.duplicate) == (1, 0)
    assert second.files[0].id != first.files[0].id
    assert [e.text for e in events(sqlite_desk)] == ["old 0", "old 1", "old 2", "new"]


def test_a_moved_file_brings_no_new_evidence(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B8: the path is added to the file it belongs to, also when the file then grows."""
    data = record("one", "u1")
    path = write(tmp_path / "s.jsonl", data)
    first = import_paths(sqlite_desk, [path])
    moved = tmp_path / "archived" / "s.jsonl"
    moved.parent.mkdir()
    shutil.move(path, moved)
    report = import_paths(sqlite_desk, [moved])
    assert (report.new, report.files[0].id) == (0, first.files[0].id)
    moved.write_bytes(data + record("two", "u2", "u1"))
    grown = import_paths(sqlite_desk, [moved])
    assert (grown.new, grown.duplicate, grown.files[0].id) == (1, 1, first.files[0].id)


def test_a_source_that_is_gone_keeps_its_evidence(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B20: clients delete their sessions after 30 days; what was imported stays readable."""
    path = write(tmp_path / "s.jsonl", record("kept", "u1"))
    import_paths(sqlite_desk, [path])
    path.unlink()
    (event,) = events(sqlite_desk)
    assert event.text == "kept"
    assert verify(sqlite_desk).ok


def test_a_real_growing_session_adds_only_its_tail(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A real session cut at arbitrary bytes, imported as it grew, equals one import."""
    data = (DATA / "claude-code" / "growth-2.1.12-1.jsonl").read_bytes()
    other = make_desk(tmp_path / "whole")
    import_paths(other, [write(tmp_path / "w" / "s.jsonl", data)])
    path = tmp_path / "g" / "s.jsonl"
    cuts = sorted(random.Random(7).sample(range(len(data)), 12))
    for cut in [*cuts, len(data)]:
        import_paths(sqlite_desk, [write(path, data[:cut])])
    assert told(sqlite_desk) == told(other)
    other.store.close()


def test_a_record_of_many_hundred_parts_keeps_each(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Parallel tool results in one message, more than a byte can number."""
    blocks = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"r{n}"} for n in range(600)
    ]
    line = record("", "u1", message={"role": "user", "content": blocks})
    import_paths(sqlite_desk, [write(tmp_path / "s.jsonl", line)])
    found = events(sqlite_desk)
    assert [e.text for e in found] == [f"r{n}" for n in range(600)]
    assert len({e.id for e in found}) == 600


# any lines, cut anywhere

RECORDS = st.sampled_from(["plain", "with 🦉 emoji", "é\u2028line", 'quote " and \\ slash', ""])
VALID = st.tuples(RECORDS, st.integers(0, 99)).map(
    lambda x: json.dumps(json.loads(record(x[0], f"u{x[1]}")), ensure_ascii=False).encode()
)
JUNK = st.sampled_from(
    [b"junk", b"12", b"[1, 2]", b'"text"', b"{", b"}", b'{"a":', b"\xff\xfe", b"null", b"\x85"]
)
PADDING = st.sampled_from([b"", b" ", b"\t ", b"\0\0", b"\0 \0", b"\r"])
SPLICED = st.tuples(VALID, st.integers(5, 60), VALID).map(lambda x: x[0][: x[1]] + x[2])
JOINED = st.tuples(VALID, PADDING, VALID | JUNK).map(b"".join)
PADDED = st.tuples(PADDING, VALID | JUNK, PADDING).map(b"".join)
LINE = st.one_of(VALID, JUNK, PADDING, SPLICED, JOINED, PADDED)
FILE = st.lists(st.tuples(LINE, st.sampled_from([b"\n", b"\r\n"])).map(b"".join), max_size=8)


@given(lines=FILE, data=st.data())
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_growth_step_by_step_equals_one_import(
    sqlite_desk: Desk, lines: list[bytes], data: st.DataObject
) -> None:
    """Valid, broken, blank, padded, joined and spliced lines, cut at any bytes."""
    # A first line of its own keeps each example's files apart in the one desk.
    once_mark, steps_mark = (record("mark", "mark", sessionId=os.urandom(8).hex()) for _ in "ab")
    rest = b"".join(lines)
    whole, other = once_mark + rest, steps_mark + rest
    cuts = data.draw(st.lists(st.integers(1, len(whole)), max_size=5).map(sorted))
    with tempfile.TemporaryDirectory() as name:
        once = write(Path(name) / "once" / "s.jsonl", whole + b"\n")
        one = import_paths(sqlite_desk, [once], format_="claude-code")
        steps = Path(name) / "steps" / "s.jsonl"
        for cut in [*cuts, len(other)]:
            many = import_paths(sqlite_desk, [write(steps, other[:cut])], format_="claude-code")
            assert many.read == many.new + many.duplicate + many.waiting
        many = import_paths(sqlite_desk, [write(steps, other + b"\n")], format_="claude-code")
    assert _of(sqlite_desk, many.files[0].id) == _of(sqlite_desk, one.files[0].id)
    assert rebuilt(sqlite_desk, many.files[0].id) == other + b"\n"
    assert rebuilt(sqlite_desk, one.files[0].id) == whole + b"\n"
    assert many.read == one.read


def _of(desk: Desk, file: str) -> list[tuple[int, str, str, str]]:
    with desk.store.read() as view:
        stored = view.evidence.file_by_id(file)
        assert stored is not None
        leaves = [e for e, _present in view.proving.leaves(file, 0, 10_000)]
    return [(e.line, e.text.decode(), e.author, e.kind) for e in leaves]


@pytest.mark.parametrize("size", [1, 1 << 16, 1 << 20, 3 << 20])
def test_batches_end_at_records_whatever_their_size(
    sqlite_desk: Desk, tmp_path: Path, size: int
) -> None:
    """Records longer than a batch, a chunk, or the sample that detection reads."""
    lines = [record("y" * size, f"u{n}") for n in range(3)]
    path = write(tmp_path / "s.jsonl", *lines)
    report = import_paths(sqlite_desk, [path])
    assert (report.new, report.waiting) == (3, 0)
    assert rebuilt(sqlite_desk, report.files[0].id) == b"".join(lines)
    assert verify(sqlite_desk).ok


def test_a_known_file_that_was_rewritten_says_so(desk: Desk, tmp_path: Path) -> None:
    """Appended, moved or copied it does not; what was imported before is told from what is now."""
    path = write(tmp_path / "s.jsonl", record("one", "u1"))
    import_paths(desk, [path])
    write(path, record("one", "u1"), record("two", "u2", "u1"))
    copied = write(tmp_path / "copy.jsonl", path.read_bytes())
    assert import_paths(desk, [path, copied]).rewritten == 0
    copied.unlink()
    write(path, record("other", "u7"))
    report = import_paths(desk, [path])
    assert (report.rewritten, report.files[0].rewritten, report.new) == (1, True, 1)
    assert import_paths(desk, [path]).rewritten == 0


def test_a_rewrite_shows_in_lists_and_status(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """The report counts and names it, the list marks what stood there, the status counts it."""
    path = write(tmp_path / "s.jsonl", record("one", "u1"))
    command.json("evidence", "import", str(path))
    write(path, record("other", "u7"))
    said = command.run("evidence", "import", str(path))[1]
    assert "1 known file was rewritten" in said and "rewritten outside:" in said
    listed = command.json("evidence", "list")["items"]
    assert [(i["text"], i["rewritten"]) for i in listed] == [("one", True), ("other", False)]
    assert "before a rewrite · one" in command.run("evidence", "list")[1]
    assert command.json("status")["evidence"]["rewritten"] == 1


def test_a_prefix_names_a_session_before_its_sub_agents(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """A whole name wins over longer ones; a prefix that reaches into a sub-agent's name means it."""
    agent = {"isSidechain": True, "sessionId": "7acd-1"}
    write(
        tmp_path / "logs/s.jsonl",
        record("main", "u1", sessionId="7acd-1"),
        *(record(f"by {a}", f"u{a}", agentId=a, **agent) for a in ("abc", "abcd", "b")),
        record("longer", "u5", sessionId="7acd-12"),
    )
    import_paths(sqlite_desk, [tmp_path / "logs"])

    def texts(name: str) -> list[str]:
        items = command.json("evidence", "list", "--session", name)["items"]
        return [i["text"] for i in items]

    assert texts("7acd-1") == ["main"] and texts("7acd-12") == ["longer"]
    assert texts("7acd-1/agent-abc") == ["by abc"] and texts("7acd-1/agent-b") == ["by b"]
    ambiguous = command.json("evidence", "list", "--session", "7acd", status=4)
    assert ambiguous["error"]["code"] == "id.ambiguous"
