"""Recorded runs and request bodies: steps paired, copies not said again, nobody owns them."""

from __future__ import annotations

import json

import pytest

from tests.conftest import DATA
from tests.evidence.readings import lines, parts, said, told


def test_a_trajectory_and_its_history_tell_one_run() -> None:
    """Five steps of thought, call and result; the history adds the prompts alone."""
    found = parts((DATA / "swe-agent" / "trajectory.traj").read_bytes(), "x.traj")
    kinds = [p.kind.value for p in found if p.author in ("agent", "tool")]
    assert kinds == ["message", "tool_call", "tool_result"] * 5
    pairs = [p.notes[0] for p in found if p.kind in ("tool_call", "tool_result")]
    assert pairs == [f"call:step-{n}" for n in range(5) for _ in range(2)]
    task = [p.text for p in found if p.author == "external"]
    assert len(task) == 1 and "solving the following issue" in task[0]


def test_a_history_alone_is_the_run() -> None:
    """Demonstrations hold no trajectory: calls by their ids."""
    found = parts((DATA / "swe-agent" / "history-only.traj").read_bytes(), "x.traj")
    calls = [n for p in found if p.kind == "tool_call" for n in p.notes]
    results = [n for p in found if p.kind == "tool_result" for n in p.notes if n[:5] == "call:"]
    assert calls == results and len(calls) == 5


def test_in_mini_runs_what_follows_an_answer_is_its_output() -> None:
    """The same role carries the task and every observation."""
    found = said((DATA / "swe-agent" / "mini.traj.json").read_bytes(), "x.json")
    assert [a for a, _k, _t in found] == ["system", "external", "agent", "tool", "agent", "tool"]


def test_an_openhands_run_is_a_session_with_paired_events() -> None:
    """Actions with ids, observations with their cause; exit codes decide the outcome."""
    run = {
        "instance_id": "x__y-1",
        "instruction": "fix it",
        "history": [
            {"id": 1, "source": "user", "action": "message", "args": {"content": "fix it please"}},
            {
                "id": 2,
                "source": "agent",
                "action": "run",
                "args": {"command": "ls", "thought": "hm"},
            },
            {
                "id": 3,
                "source": "agent",
                "observation": "run",
                "content": "no",
                "cause": 2,
                "extras": {"metadata": {"exit_code": 1}},
            },
            [
                {"id": 4, "action": "think", "args": {"thought": "so"}},
                {"id": 5, "observation": "null", "content": ""},
            ],
            {"id": 6, "source": "agent", "action": "finish", "args": {}, "message": "done"},
        ],
    }
    found = parts(lines(run, run))
    assert {p.session for p in found} == {"stem/x__y-1"}
    half = found[: len(found) // 2]
    assert [(p.author.value, p.kind.value, p.text) for p in half] == [
        ("external", "message", "fix it"),
        ("external", "message", "fix it please"),
        ("agent", "reasoning", "hm"),
        ("agent", "tool_call", 'run {"command":"ls"}'),
        ("tool", "tool_result", "no"),
        ("agent", "reasoning", "so"),
        ("system", "system", ""),
        ("agent", "message", "done"),
    ]
    assert half[4].parent == half[3].native_id and "error" in half[4].notes


def test_in_an_sdk_conversation_the_person_speaks() -> None:
    """Words a client adds for the model are a part of their own; times without zone are left out."""
    base = {"id": "a", "timestamp": "2026-06-16T05:39:18.8", "source": "user"}
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    extra = [{"type": "text", "text": "<SKILLS>"}]
    action = {
        "kind": "ActionEvent",
        "tool_name": "sh",
        "tool_call_id": "t",
        "thought": [],
        "action": {"c": 1},
    }
    data = lines(
        {**base, "kind": "MessageEvent", "llm_message": message, "extended_content": extra},
        {**base, "kind": "MessageEvent", "llm_message": message, "sender": "other-agent"},
        {**base, "id": "b", "source": "agent", **action},
        {
            **base,
            "id": "c",
            "source": "environment",
            "kind": "AgentErrorEvent",
            "tool_call_id": "t",
            "error": "x",
        },
        {**base, "id": "d", "source": "environment", "kind": "Condensation", "summary": "so far"},
    )
    found = parts(data)
    assert [(p.author.value, p.kind.value, p.text) for p in found] == [
        ("owner", "message", "hi"),
        ("system", "system", "<SKILLS>"),
        ("subagent", "message", "hi"),
        ("agent", "tool_call", 'sh {"c":1}'),
        ("tool", "tool_result", "x"),
        ("system", "compact_boundary", "Condensation"),
        ("agent", "summary", "so far"),
    ]
    assert {p.time for p in found} == {None} and "odd:timestamp" in found[0].notes


def test_parallel_calls_of_a_step_pair_with_their_results() -> None:
    """ATIF names the call of each result; one without content stays a result."""
    found = parts((DATA / "atif" / "parallel_tools_mixed_results.json").read_bytes(), "x.json")
    calls = [p.notes[0] for p in found if p.kind == "tool_call"]
    results = [p.notes[0] for p in found if p.kind == "tool_result"]
    assert calls == results == ["call:call_weather", "call:call_stock", "call:call_news"]
    assert {p.session for p in found} == {"sess-parallel-mixed"}


def test_embedded_subagents_and_copied_steps_are_marked() -> None:
    """A subagent's steps are a session of its own; a continuation's copies are noted."""
    found = parts((DATA / "atif" / "v17_embedded_subagents.json").read_bytes(), "x.json")
    children = [p for p in found if p.session == "run-v17-001/agent-child-doc"]
    assert children and {p.author.value for p in children} <= {"subagent", "tool", "system"}
    assert [p.kind.value for p in found if p.author == "system"][1:2] == ["compact_boundary"]
    data = (DATA / "atif" / "harbor_terminus2_continuation_cont1.json").read_bytes()
    steps = [s for s in json.loads(data)["steps"] if s.get("is_copied_context")]
    copied = {p.native_id for p in parts(data, "x.json") if "copied" in p.notes}
    assert len(copied) == len(steps) > 0


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("anthropic-messages-01", 1),
        ("openai-chat-04", 2),
        ("openai-responses-04", 2),
        ("gemini-generate-01", 1),
    ],
)
def test_a_request_body_says_roles_and_not_who_wrote(name: str, calls: int) -> None:
    """Calls and results of four wire formats are paired; the user's role is nobody's name."""
    found = parts((DATA / "requests" / f"{name}.json").read_bytes(), "x.json")
    kinds = [p.kind.value for p in found]
    assert kinds.count("tool_call") == kinds.count("tool_result") == calls
    assert next(p.author.value for p in found if p.kind == "message") in ("unknown", "system")
    assert told([(p.author.value, p.kind.value, p.text) for p in found], "owner") == []


def test_a_body_with_server_state_is_partial() -> None:
    """Case of Responses: what the server remembers is not in the bytes."""
    body = {"model": "m", "previous_response_id": "r", "instructions": "be kind", "input": "hi"}
    found = parts(json.dumps(body).encode(), "x.json")
    assert [(p.author.value, p.text) for p in found] == [("system", "be kind"), ("unknown", "hi")]
    assert "partial" in found[0].notes
