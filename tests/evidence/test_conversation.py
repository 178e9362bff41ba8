"""Events as a conversation: what joins, what folds, and how a call is told in a line (1.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.evidence import search
from core.evidence.conversation import Call, Item, Shape, boundary_of, call_of, items
from core.evidence.import_ import import_paths
from core.evidence.search import Words
from core.ports import Desk
from schemas.storage import Turn
from tests.conftest import Command, record, write
from tests.tui.talks import SESSION, everything, many


@pytest.fixture
def turns(sqlite_desk: Desk, tmp_path: Path) -> list[Turn]:
    """Everything a session can hold, in order."""
    import_paths(sqlite_desk, [write(tmp_path / "s.jsonl", *everything())])
    with sqlite_desk.store.read() as view:
        names = [SESSION, *view.evidence.children(SESSION, 9)]
        return view.evidence.turns(names, None, 100)


def shapes(found: list[Item]) -> list[str]:
    return [i.shape.value + "+" * i.depth for i in found]


def test_a_conversation_has_an_item_for_each_thing_that_is_read(turns: list[Turn]) -> None:
    """Results join their calls, quiet records and sub-agents are one line, the rest stands alone."""
    found = items(turns, SESSION, ())
    assert shapes(found) == [
        *("said", "reasoning", "said", "said", "tool", "tool", "quiet", "subagent"),
        *("boundary", "summary", "said", "unparsed", "said"),
    ]
    assert [t.spot for i in found for t in i.turns] != []
    assert sorted(t.spot for i in found for t in i.turns) == [t.spot for t in turns]


def test_an_unfolded_run_is_followed_by_its_events(turns: list[Turn]) -> None:
    """Each on its own, one step deeper; the run's line stays."""
    agent = next(i for i in items(turns, SESSION, ()) if i.shape is Shape.SUBAGENT)
    found = items(turns, SESSION, {agent.key})
    at = shapes(found).index("subagent")
    assert shapes(found)[at : at + 3] == ["subagent", "said+", "tool+"]


def test_a_subagents_own_session_is_read_like_any_other(turns: list[Turn]) -> None:
    own = [t for t in turns if t.event.session != SESSION]
    assert shapes(items(own, own[0].event.session, ())) == ["said", "tool"]


def test_a_result_without_its_call_stands_alone(turns: list[Turn]) -> None:
    """As at the edge of a page."""
    at = next(n for n, t in enumerate(turns) if t.event.kind == "tool_result")
    assert shapes(items(turns[at : at + 1], SESSION, ())) == ["tool"]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            'Edit {"file_path":"a.py","old_string":"x\\ny","new_string":"x\\nz\\nw"}',
            Call("Edit", "a.py", 2, 1),
        ),
        ('Write {"file_path":"a.py","content":"1\\n2\\n"}', Call("Write", "a.py", 2, None)),
        ('Bash {"description":"d","command":"make"}', Call("Bash", "make")),
        ('Odd {"n":1,"words":"some"}', Call("Odd", "some")),
        ('Cut {"file_path":"b.py","old_string":"never end', Call("Cut", "b.py")),
        ("shell plain words", Call("shell", "plain words")),
        ("List [1,2]", Call("List", "[1,2]")),
        ("", Call("call")),
    ],
)
def test_a_call_is_told_in_a_line(text: str, call: Call) -> None:
    """Name, what it is about, lines changed where the arguments are whole."""
    assert call_of(text) == call


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('Conversation compacted {"trigger":"auto","preTokens":12}', ("auto", 12)),
        ('x {"trigger":1,"preTokens":true}', ("", None)),
        ("x {broken", ("", None)),
        ("plain", ("", None)),
    ],
)
def test_a_boundary_says_what_the_host_states(text: str, facts: tuple[str, int | None]) -> None:
    assert boundary_of(text) == facts


@pytest.mark.parametrize(
    ("typed", "text", "span"),
    [
        ("webHOOK", "a Webhook here", b"Webhook"),
        ("two words", "words, and Two", b"words"),
        ("straße", "in der STRASSE", None),
        ("ÅNGSTRÖM", "én ångström", "ångström".encode()),
        ("missing word", "a word", None),
    ],
)
def test_all_words_must_occur_whatever_their_case(
    typed: str, text: str, span: bytes | None
) -> None:
    """The span is the first of them, in bytes of the text."""
    data = text.encode()
    found = Words.of(typed).find(data)
    assert (None if found is None else data[found[0] : found[1]]) == span


def test_a_search_goes_in_steps_through_every_session(desk: Desk, tmp_path: Path) -> None:
    """Bounded steps, the newest session first, every event passed once, long texts as well."""
    long = "x" * 1_500_000 + " needle"
    lines = many(70, "aa-1")
    lines[10] = record(long, "n1", sessionId="aa-1", timestamp="2026-02-01T00:00:10.000Z")
    import_paths(desk, [write(tmp_path / "a.jsonl", *lines)])
    late = [record("a Needle", "n2", sessionId="zz-9", timestamp="2026-03-01T00:00:00.000Z")]
    import_paths(desk, [write(tmp_path / "b.jsonl", *late)])
    steps = list(search.everywhere(desk, "needle", step=32))
    assert [s.session for s in steps] == ["zz-9", "aa-1", "aa-1", "aa-1"]
    assert sum(s.passed for s in steps) == 71 and max(s.passed for s in steps) <= 32
    hits = [h for s in steps for h in s.hits]
    assert [h.event.session for h in hits] == ["zz-9", "aa-1"]
    assert hits[1].excerpt[1] == "needle" and hits[1].start == 1_500_001


def test_the_command_lists_events_with_words(command: Command, tmp_path: Path) -> None:
    """Paged like any list, complete, beside the other choices; a long text is read to its end."""
    command.json("init")
    lines = many(20, "aa-1")
    lines[3] = record("z" * 9_000 + " number", "n1", sessionId="aa-1")
    command.json("evidence", "import", str(write(tmp_path / "a.jsonl", *lines)))
    met, after = [], []
    while True:
        found = command.json("evidence", "list", "--filter", "NUMBER", "--limit", "3", *after)
        met += [e["line"] for e in found["items"]]
        if found["next"] is None:
            break
        after = ["--after", found["next"]]
    assert met == list(range(1, 21))
    wanted = ("evidence", "list", "--filter", "number 1", "--author", "agent", "--session", "aa")
    assert [e["line"] for e in command.json(*wanted)["items"]] == [2, 12, 14, 16, 18, 20]
