"""Every format on real files: recognised by content, whole, the same however it is read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from core.evidence.import_ import import_paths
from core.evidence.readers import named, names
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from tests.conftest import DATA, make_desk, record, write
from tests.desks import events, rebuilt
from tests.evidence.readings import in_two, lines, parts, records, sensed

FORMATS = {
    "codex": "codex",
    "copilot": "copilot",
    "aider": "aider",
    "swe-agent": "swe-agent",
    "openhands": "openhands",
    "atif": "atif",
    "requests": "model-request",
}
FILES = [
    *((path, FORMATS[folder]) for folder in FORMATS for path in sorted((DATA / folder).iterdir())),
    *((path, "gemini") for path in sorted((DATA / "gemini").rglob("*.json"))),
    *((path, "gemini-log") for path in sorted((DATA / "gemini").glob("*.jsonl"))),
    (DATA / "opencode" / "run-stream.jsonl", "opencode"),
]
IDS = [f"{p.parent.name}/{p.name}" for p, _f in FILES]


def brief(found: list[object]) -> list[tuple[object, ...]]:
    """What two readings of one file must agree on."""
    return [
        (p.kind, p.author, p.text, p.session, p.scope, p.native_id, p.parent, p.time, p.notes)
        for r in found
        for p in r.parts  # type: ignore[attr-defined]
    ]


def test_real_files_are_recognised_and_imported_whole(tmp_path: Path) -> None:
    """By content, whatever they are called; every byte is rebuilt; the second import adds none."""
    desk = make_desk(tmp_path / "ws")
    for number, (path, format_) in enumerate(FILES):
        data = path.read_bytes()
        odd = tmp_path / f"{number}.bin"
        odd.write_bytes(data)
        first = import_paths(desk, [odd])
        (file,) = first.files
        assert (file.format, first.waiting, first.unparsed) == (format_, 0, 0), path
        assert rebuilt(desk, file.id) == data, path
        assert first.read == first.new + first.duplicate
        again = import_paths(desk, [odd])
        assert (again.new, again.bytes, again.files[0].id) == (0, 0, file.id), path
    assert verify(desk).ok
    desk.store.close()


@pytest.mark.parametrize(("path", "format_"), FILES, ids=IDS)
def test_a_file_read_as_it_grows_holds_the_same(path: Path, format_: str) -> None:
    """Cut anywhere, in a record or between two, the rest read later: no event more or less."""
    data = path.read_bytes()
    reader = named(format_)
    whole = brief(records(data, reader)[0])
    ends = [i for i in range(len(data)) if data[i : i + 1] == b"\n"]
    cuts = {1, len(data) // 3, len(data) // 2, len(data) - 2, *ends[:: max(1, len(ends) // 5)]}
    for at in sorted(cuts):
        found = brief(in_two(data, at, reader))
        if format_ == "aider":
            # A block that was cut is two blocks of the same author.
            assert _merged(found) == _merged(whole), at
        else:
            assert found == whole, at


def _merged(found: list[tuple[object, ...]]) -> list[tuple[object, str]]:
    """Who says what, neighbours of one author as one, blanks left out."""
    merged: list[tuple[object, str]] = []
    for _kind, author, text, *_ in found:
        bare = "".join(str(text).split())
        if merged and merged[-1][0] == author:
            merged[-1] = (author, merged[-1][1] + bare)
        else:
            merged.append((author, bare))
    return merged


@pytest.mark.parametrize(("path", "format_"), FILES, ids=IDS)
def test_nobody_but_people_is_the_owner(path: Path, format_: str) -> None:
    """Where a format has a person at the keyboard they speak; in recorded runs nobody does."""
    authors = {p.author.value for p in parts(path.read_bytes(), path.name)}
    if format_ in ("swe-agent", "atif", "model-request"):
        assert "owner" not in authors
    for part in parts(path.read_bytes(), path.name):
        if part.kind in ("tool_result", "summary", "compact_boundary", "snapshot"):
            assert part.author.value not in ("owner", "unknown"), part


BUILDERS = {
    "claude-code": lambda n, t: {
        "type": "user",
        "uuid": f"u{n}",
        "parentUuid": None,
        "sessionId": "S",
        "isSidechain": False,
        "message": {"role": "user", "content": t},
    },
    "codex": lambda n, t: {
        "timestamp": "2026-01-02T03:04:05Z",
        "type": "event_msg",
        "payload": {"type": "user_message", "message": t},
    },
    "copilot": lambda n, t: {
        "type": "user.message",
        "data": {"content": t},
        "id": f"u{n}",
        "parentId": None,
    },
    "gemini-log": lambda n, t: {"id": f"u{n}", "type": "user", "content": t, "projectHash": "h"},
    "openhands": lambda n, t: {
        "id": f"u{n}",
        "timestamp": "2026-01-02T03:04:05",
        "source": "user",
        "kind": "MessageEvent",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": t}]},
    },
    "opencode": lambda n, t: {
        "table": "part",
        "role": "user",
        "row": {"id": f"p{n}", "session_id": "S", "data": json.dumps({"type": "text", "text": t})},
    },
    "jsonl": lambda n, t: {"id": f"u{n}", "text": t},
}


@pytest.mark.parametrize("format_", BUILDERS)
def test_naughty_strings_come_through_every_log_as_they_are(format_: str) -> None:
    """Each as the words of a person: no string breaks a record or changes its neighbours."""
    strings = [s for s in json.loads((DATA / "nasty-strings.json").read_bytes()) if s]
    data = lines(*(BUILDERS[format_](n, t) for n, t in enumerate(strings)))
    found, _ = records(data, named(format_))
    assert [p.text for r in found for p in r.parts] == strings


@pytest.mark.parametrize("format_", [n for n in BUILDERS if n != "jsonl"])
def test_the_json_suite_between_two_records_costs_neither(format_: str) -> None:
    """318 files of valid, invalid and doubtful JSON, each as a line of every log."""
    first, last = (lines(BUILDERS[format_](n, f"words {n}")) for n in (1, 2))
    with zipfile.ZipFile(DATA / "json-test-suite.zip") as suite:
        members = {n: suite.read(n) for n in suite.namelist()}
    assert len(members) == 318
    for name, content in members.items():
        data = first + content + b"\n" + last
        found, waiting = records(data, named(format_))
        texts = [p.text for r in found for p in r.parts]
        assert waiting is None, name
        assert texts[0] == "words 1", name
        # A record that ends in the middle of a line keeps the next one from standing on its own.
        assert texts[-1] == "words 2", name


def test_the_json_suite_as_documents_keeps_every_byte() -> None:
    """Each file as the message of a chat: broken ones become unparsed, whole, or wait."""
    head = b'{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"a"},'
    with zipfile.ZipFile(DATA / "json-test-suite.zip") as suite:
        for name in suite.namelist():
            data = head + suite.read(name) + b"]}"
            found, _waiting = records(data, named("gemini"))
            assert found[1].parts[0].text == "a", name


def test_other_agents_files_are_taken_for_none_of_ours() -> None:
    """A Qwen file of telemetry alone has Claude Code's chain, and is not one."""
    with pytest.raises(Refused, match=r"evidence\.unknown-format"):
        sensed((DATA / "others" / "qwen-telemetry.jsonl").read_bytes())


def test_generic_lines_are_read_only_by_name(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case A4: nothing is guessed; asked for by name they are external text."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(lines({"role": "user", "content": "a"}, {"role": "user", "content": "b"}))
    with pytest.raises(Refused, match=r"evidence\.unknown-format"):
        import_paths(sqlite_desk, [path])
    assert "jsonl" in names()
    import_paths(sqlite_desk, [path], format_="jsonl")
    assert [(e.author.value, e.text) for e in events(sqlite_desk)] == [
        ("external", "a"),
        ("external", "b"),
    ]


def test_a_folder_is_searched_for_sessions_of_any_kind(sqlite_desk: Desk, tmp_path: Path) -> None:
    """JSON that is none of ours is passed over; a broken session beside it is named."""
    folder = tmp_path / "in"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "package.json").write_text('{"name":"x"}')
    (folder / "deep" / "er" / "chat.json").write_bytes(
        (DATA / "gemini" / "tool_calls.json").read_bytes()
    )
    (folder / "deep" / "run.traj").write_bytes(
        (DATA / "swe-agent" / "history-only.traj").read_bytes()
    )
    (folder / "strange.jsonl").write_bytes(lines({"a": 1}))
    report = import_paths(sqlite_desk, [folder])
    assert sorted(f.format for f in report.files) == ["gemini", "swe-agent"]
    assert [x.code for x in report.refused] == ["evidence.unknown-format"]


def test_a_label_is_not_believed(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case C16: records that call themselves another agent's, under that agent's name and folder."""
    line = record("hi", "u1", agent="Gemini CLI", producer="copilot-agent", projectHash="h")
    path = write(tmp_path / ".gemini/tmp/h/chats/session-1.json", line, record("more", "u2", "u1"))
    (report,) = import_paths(sqlite_desk, [path]).files
    assert (report.format, report.new) == ("claude-code", 2)
