"""Gemini CLI, Copilot CLI and Aider: who spoke, what is one message, what is said again."""

from __future__ import annotations

from pathlib import Path

from core.evidence.import_ import import_paths
from core.evidence.readers import named
from core.ports import Desk
from tests.conftest import DATA
from tests.desks import events, rebuilt
from tests.evidence.readings import lines, parts, records, said, sensed, told


def test_a_chat_that_is_rewritten_is_one_session_without_doubles(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """Case B17: three snapshots of one file; what was there before is linked, not said again."""
    path = tmp_path / "session.json"
    ids, linked = [], []
    for n in (1, 2, 3):
        path.write_bytes((DATA / "gemini" / "growth" / f"snapshot-{n}.json").read_bytes())
        report = import_paths(sqlite_desk, [path])
        ids.append(report.files[0].id)
        linked.append(report.linked)
        assert rebuilt(sqlite_desk, ids[-1]) == path.read_bytes()
    found = events(sqlite_desk)
    assert len(set(ids)) == 3 and len({e.session for e in found}) == 1
    own = [e for e in found if e.kind == "message" and e.author == "owner" and not e.same_as]
    assert len({e.native_id for e in own}) == len(own) and len(own) >= 1
    assert linked[0] == 0 < linked[1] < linked[2]


def test_geminis_calls_hold_their_results() -> None:
    """Thoughts, words, a call and its result come out of one message, in that order."""
    found = parts((DATA / "gemini" / "jsonl_v040.jsonl").read_bytes())
    kinds = [p.kind.value for p in found if p.native_id == "g-assistant-1"]
    assert kinds == ["tool_call", "tool_result"]
    call, result = (p for p in found if p.native_id == "g-assistant-1")
    assert call.notes == result.notes == ["call:run_shell_command_stage0"]
    thinking = parts((DATA / "gemini" / "thinking_only.json").read_bytes(), "x.json")
    assert [p.author.value for p in thinking if p.kind == "reasoning"] == ["agent", "agent"]


def test_geminis_injected_context_and_notices_are_not_the_owners() -> None:
    """The first user message may be the client's; info and errors are its own."""
    head = {"sessionId": "s", "projectHash": "h", "kind": "main"}
    message = {"id": "1", "type": "user", "timestamp": "2026-01-01T00:00:00Z"}
    data = lines(
        head,
        {**message, "content": [{"text": "<session_context>x"}]},
        {**message, "id": "2", "content": "hi"},
        {"$set": {"messages": [{**message, "id": "3", "content": "again"}]}},
        {"id": "4", "type": "info", "content": "compressed"},
        {**message, "id": "2", "content": "hi there"},
    )
    found = said(data)
    assert told(found, "owner") == ["hi", "again", "hi there"]
    assert "revised" in parts(data)[-1].notes
    assert {p.session for p in parts(data)} == {"s"}


def test_two_files_of_one_gemini_session_are_one_session(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B19: a resumption makes a second small file with the header and context only."""
    head = {"sessionId": "s", "projectHash": "h", "kind": "main"}
    for n, more in enumerate(({"id": "1", "type": "user", "content": "hi"}, {"$set": {"x": 1}})):
        (tmp_path / f"{n}.jsonl").write_bytes(lines({**head, "startTime": None, "n": n}, more))
    report = import_paths(sqlite_desk, [tmp_path / "0.jsonl", tmp_path / "1.jsonl"])
    assert len(report.files) == 2 and {e.session for e in events(sqlite_desk)} == {"s"}


def test_copilots_prompt_is_what_was_typed() -> None:
    """Case C13, on the real file: never the transformed text with date and reminders."""
    found = said((DATA / "copilot" / "session-1.jsonl").read_bytes())
    assert told(found, "owner") == ["[[ ## user_query ## ]]\n\nWhat is 2+2?"]
    assert told(found, "agent") == ["2 + 2 is **4**."]
    assert not any("current_datetime" in t for a, _k, t in found if a == "owner")


def test_copilots_subagents_speak_in_sessions_of_their_own() -> None:
    """Their records stand in the same file under the call that started them."""
    head = {"type": "session.start", "id": "e1", "parentId": None}
    data = lines(
        {**head, "data": {"sessionId": "S", "context": {"cwd": "/p"}}},
        {"type": "user.message", "id": "e2", "parentId": "e1", "data": {"content": "hi"}},
        {
            "type": "user.message",
            "id": "e3",
            "parentId": "e2",
            "data": {"content": "x", "parentToolCallId": "t"},
        },
        {
            "type": "assistant.message",
            "id": "e4",
            "parentId": "e3",
            "data": {
                "content": "y",
                "parentToolCallId": "t",
                "toolRequests": [{"toolCallId": "u", "name": "sh", "arguments": {}}],
            },
        },
        {
            "type": "tool.execution_complete",
            "id": "e5",
            "parentId": "e4",
            "data": {"toolCallId": "u", "success": False, "result": {"content": "no"}},
        },
    )
    found = parts(data)
    assert [(p.author.value, p.session) for p in found] == [
        ("system", "S"),
        ("owner", "S"),
        ("subagent", "S/agent-t"),
        ("subagent", "S/agent-t"),
        ("subagent", "S/agent-t"),
        ("tool", "S"),
    ]
    assert found[-1].notes == ["call:u", "error"]
    assert {p.scope for p in found} == {"/p"}


def test_copilot_lines_after_a_crash_are_recovered() -> None:
    """NULs behind a record, and one record cut by the next on its line."""
    good = lines({"type": "user.message", "id": "a", "parentId": None, "data": {"content": "x"}})
    data = good[:-1] + b"\0" * 64 + b"\n" + good[:30] + good + good
    found, _ = records(data, named("copilot"))
    assert [p.kind.value for r in found for p in r.parts] == [
        "message",
        "unparsed",
        "message",
        "message",
    ]


HISTORY = b"""
# aider chat started at 2026-01-02 03:04:05

> Aider v0.50
> Model: x

#### /clear

#### here is a snippet
#### of two lines

Sure, like this:

```python
#### not a person
> nor the tool
```

> Applied edit to a.py

#### /ask why tabs?

#### # Fix any errors below, if possible.
#### E501 line too long

# aider chat started at 2026-01-03 03:04:05

#### always use tabs
"""


def test_aiders_commands_are_no_messages_and_sessions_follow_headings() -> None:
    """Case C8: one human message; fences hide look-alikes; accepted output is not typed."""
    found = parts(HISTORY, "chat.md")
    owner = [(p.session, p.text) for p in found if p.author == "owner"]
    assert owner == [
        ("stem@2026-01-02 03:04:05", "here is a snippet\nof two lines"),
        ("stem@2026-01-02 03:04:05", "why tabs?"),
        ("stem@2026-01-03 03:04:05", "always use tabs"),
    ]
    assert all("role-inferred" in p.notes for p in found if p.text and "aider chat" not in p.text)
    assert [p.text for p in found if p.author == "tool"][-1] == "Applied edit to a.py"
    (answer,) = [p.text for p in found if p.author == "agent"]
    assert "#### not a person" in answer and "> nor the tool" in answer


def test_aider_takes_odd_bytes_and_line_ends(tmp_path: Path) -> None:
    """BOM, CRLF, bytes that are no UTF-8: kept; the text is shown with replacements."""
    data = b"\xef\xbb\xbf# aider chat started at 2026-01-02 03:04:05\r\n> x\r\n\r\n#### caf\xe9\r\n"
    found = parts(data, "chat.md")
    assert [(p.author.value, p.text) for p in found][-1] == ("owner", "caf\ufffd")
    assert "invalid-utf8" in found[-1].notes


def test_a_document_that_quotes_a_history_is_none() -> None:
    """In a fence or without the client's greeting, its lines are nobody's words."""
    fenced = b"# Notes\n\n```\n" + HISTORY + b"```\n"
    bare = b"# aider chat started at 2026-01-02 03:04:05\n\n#### obey me\n"
    for data in (HISTORY.replace(b"> Aider", b"Aider").replace(b"> Model", b"x"), bare):
        assert sensed(data, "notes.md").name == "markdown"
    assert (
        sensed(fenced.replace(b"```python", b"").replace(b"\n```\n\n>", b"\n\n>"), "n.md").name
        == "markdown"
    )
    assert sensed(HISTORY, "notes.md").name == "aider"
