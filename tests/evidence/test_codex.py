"""Codex rollouts: one message once, forks and reopened threads, who spoke (cases A, B, C)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.evidence.import_ import import_paths
from core.evidence.readers import named
from core.ports import Desk
from schemas.errors import Refused
from tests.conftest import DATA, write
from tests.desks import events
from tests.evidence.readings import lines, parts, records, said, sensed, told


def line(kind: str, payload: dict[str, Any], time: str = "2026-03-01T10:00:00Z") -> dict[str, Any]:
    return {"timestamp": time, "type": kind, "payload": payload}


def header(id_: str = "T", **more: Any) -> dict[str, Any]:
    payload = {"id": id_, "timestamp": "2026-03-01T10:00:00Z", "cwd": "/p", "source": "cli"}
    return line("session_meta", {**payload, **more})


def item(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return line("response_item", {"type": "message", "role": role, "content": content, **more})


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **payload})


def test_each_message_is_one_whichever_form_comes_first() -> None:
    """Cases C10, C11: the event before the item, behind it, and 0.149's completed item."""
    data = lines(
        header(),
        event("user_message", message="hi"),
        item("user", "hi"),
        item("assistant", "ok"),
        event("agent_message", message="ok\n"),
        event("item_completed", item={"id": "m1", "type": "AgentMessage", "text": "done"}),
        item("assistant", "done", id="m1"),
        event("agent_message", message="alone"),
    )
    found = said(data)
    assert told(found, "owner") == ["hi"]
    assert told(found, "agent") == ["ok", "done", "alone"]
    assert sum("copy" in p.notes for p in parts(data)) == 3


def test_the_same_words_said_twice_are_two_messages() -> None:
    """A copy stands in the other form; a repetition in the same one is said again."""
    turn = [event("user_message", message="go on"), item("user", "go on")]
    assert told(said(lines(header(), *turn, *turn)), "owner") == ["go on", "go on"]


def test_what_the_client_puts_into_the_users_role_is_the_systems() -> None:
    """Fragments of environment, instructions, skills and aborted turns; developer text."""
    fragments = (
        "<environment_context>x",
        "# AGENTS.md instructions for /p",
        "<turn_aborted>",
        "<skill>x",
        "<user_shell_command>ls",
        "<user_instructions>always obey",
        "\n<recommended_plugins>",
    )
    data = lines(header(), *(item("user", t) for t in fragments), item("developer", "d"))
    assert {a for a, k, _t in said(data) if k == "message"} == {"system"}


def test_in_a_subagents_thread_the_prompts_are_another_agents() -> None:
    """`source` is an object there; a real file of a review says so."""
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "P", "depth": 1}}}
    data = lines(header(source=spawned), item("user", "do it"))
    assert told(said(data), "subagent") == ["do it"]
    assert parts(data)[0].parent == "P"
    real = (DATA / "codex" / "rollout-subagent-019b88e5.jsonl").read_bytes()
    assert "owner" not in {a for a, _k, _t in said(real)}


def test_a_thread_opened_again_is_one_session() -> None:
    """Case B13: its header repeated in mid-file is no new session and no fork."""
    found = parts((DATA / "codex" / "reopened-short-lines.jsonl").read_bytes())
    assert len({p.session for p in found}) == 1
    assert [n for p in found for n in p.notes if n in ("session", "reopened")] == [
        "session",
        "session",
        "reopened",
    ]


def test_a_forks_copied_history_is_linked_to_its_parent(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Case B11: the child has one message of its own; times rewritten or not, header or none."""
    said_before = [item("user", "one"), item("assistant", "two"), item("user", "three")]
    later = [{**x, "timestamp": "2026-03-02T11:00:00Z"} for x in said_before]
    fork = header("C", forked_from_id="T", timestamp="2026-03-02T11:00:00Z")
    own = item("user", "mine")
    parent = write(tmp_path / "p.jsonl", lines(header(), *said_before))
    child = write(tmp_path / "c.jsonl", lines(fork, *later, own))
    second = write(tmp_path / "d.jsonl", lines(fork, header(), *later, own))
    import_paths(sqlite_desk, [parent])
    for path in (child, second):
        report = import_paths(sqlite_desk, [path])
        found = [e for e in events(sqlite_desk) if e.file == report.files[0].id]
        copied = [e.same_as is not None for e in found if e.kind == "message"]
        assert copied[:3] == [True, True, True]
        assert {e.session for e in found} == {"C"}
    mine = [e for e in events(sqlite_desk) if e.text == "mine"]
    assert mine[0].same_as is None


def test_a_fork_whose_parent_is_missing_says_what_is_copied() -> None:
    """What was said before the fork was made can't be said in it."""
    old = item("user", "one")
    fork = header("C", forked_from_id="T", timestamp="2026-03-02T11:00:00Z")
    own = {**item("user", "mine"), "timestamp": "2026-03-02T11:00:05Z"}
    found = parts(lines(fork, old, own))
    assert [any(n == "copied-from:T" for n in p.notes) for p in found[1:]] == [True, False]


def test_a_damaged_header_costs_nothing_else() -> None:
    """Case A14: the session is listed under its file's name, its records are all there."""
    data = b'{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payl\n' + lines(
        *(event("user_message", message=f"m{n}") for n in range(5))
    )
    found = parts(data)
    assert [p.kind.value for p in found] == ["unparsed"] + ["message"] * 5
    assert {p.session for p in found} == {"stem"}
    assert "header-missing" in found[1].notes


def test_the_stream_of_exec_is_no_rollout() -> None:
    """Case A5: another grammar, never an empty rollout."""
    with pytest.raises(Refused, match=r"evidence\.unknown-format"):
        sensed(lines({"type": "thread.started", "thread_id": "t"}, {"type": "item.completed"}))


def test_a_byte_order_mark_costs_no_thread() -> None:
    """Case A13: the first record begins behind it."""
    found, _ = records(b"\xef\xbb\xbf" + lines(header(), item("user", "hi")), named("codex"))
    assert found[0].start == 3
    assert [r.parts[0].session for r in found] == ["T", "T"]


def test_calls_and_results_are_paired_and_their_outcome_stated() -> None:
    """Arguments are text, results text, blocks or JSON in text; parallel calls by their ids."""
    data = lines(
        header(),
        line(
            "response_item",
            {"type": "function_call", "name": "sh", "arguments": '{"c":1}', "call_id": "a"},
        ),
        line(
            "response_item",
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** B", "call_id": "b"},
        ),
        line(
            "response_item",
            {"type": "function_call_output", "call_id": "b", "output": "Exit code: 0\nok"},
        ),
        line(
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "a",
                "output": '{"output":"boom","metadata":{"exit_code":2}}',
            },
        ),
        line(
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [{"type": "input_text", "text": "x"}],
            },
        ),
    )
    found = parts(data)[1:]
    assert [(p.kind.value, p.text) for p in found] == [
        ("tool_call", 'sh {"c":1}'),
        ("tool_call", "apply_patch *** B"),
        ("tool_result", "Exit code: 0\nok"),
        ("tool_result", "boom"),
        ("tool_result", "x"),
    ]
    assert [p.notes for p in found] == [
        ["call:a"],
        ["call:b"],
        ["call:b"],
        ["call:a", "error"],
        ["call:c", "outcome-unknown"],
    ]


def test_a_compaction_is_a_boundary_and_nobody_speaks_again() -> None:
    """Its replacement history holds copies; only a summary of its own is new text."""
    copies = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    ]
    found = said(
        lines(
            header(),
            item("user", "hi"),
            line("compacted", {"message": "", "replacement_history": copies}),
            line("compacted", {"message": "So far: tabs"}),
        )
    )
    assert told(found, "owner") == ["hi"]
    assert [k for _a, k, _t in found[2:]] == ["compact_boundary", "compact_boundary", "summary"]


def test_rollouts_of_2025_without_envelopes_are_read() -> None:
    """A bare header with instructions, bare items, and state records."""
    content = [{"type": "input_text", "text": "hi"}]
    data = lines(
        {"id": "old", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": content},
    )
    assert sensed(data).name == "codex"
    assert told(said(data), "owner") == ["hi"]
    assert {p.session for p in parts(data)} == {"old"}
