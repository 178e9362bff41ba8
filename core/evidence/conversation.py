"""A session's events as a conversation: what is read, what is folded to one line (spec 1.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from schemas.evidence import Author, Event, EventKind
from schemas.storage import Spot, Turn

MAX_CHILDREN = 200
"""Sub-agents' sessions that are read together with their session."""
_QUIET = (EventKind.SYSTEM, EventKind.SNAPSHOT)
_TOOLS = (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
_WHAT = (
    *("file_path", "path", "notebook_path", "filename", "command", "cmd", "pattern", "query"),
    *("url", "description", "prompt"),
)
"""Arguments that say best what a call is about, the first that is there."""
_OLD_NEW = (("old_string", "new_string"), ("old_str", "new_str"))
_NAME = re.compile(r"\S{1,80}")
_LOOSE = re.compile(r'"(file_path|path|command|cmd|pattern|query|url)":"((?:[^"\\]|\\.){1,400})')


Key = tuple[Spot, int]
"""Where an item begins, and its depth."""


class Shape(StrEnum):
    """How an item stands in a conversation."""

    SAID = "said"
    TOOL = "tool"
    REASONING = "reasoning"
    SUMMARY = "summary"
    BOUNDARY = "boundary"
    QUIET = "quiet"
    """What the system said and snapshots in a row, counted."""
    SUBAGENT = "subagent"
    """A stretch of a sub-agent's events, counted."""
    UNPARSED = "unparsed"


@dataclass(frozen=True, slots=True)
class Item:
    """What stands on its own in a conversation: an event, a call with its result, a folded run."""

    shape: Shape
    turns: tuple[Turn, ...]
    depth: int = 0
    """1 for what stands unfolded below a run."""

    @property
    def first(self) -> Turn:
        """The event it stands for."""
        return self.turns[0]

    @property
    def key(self) -> Key:
        """What names it, however its neighbours are folded."""
        return self.first.spot, self.depth

    @property
    def run(self) -> bool:
        """True for several events under one line that opens them one by one."""
        return self.shape in (Shape.QUIET, Shape.SUBAGENT)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in short: its name, what it is about, lines it adds and removes."""

    name: str
    what: str = ""
    added: int | None = None
    removed: int | None = None


def items(turns: Sequence[Turn], session: str, open_: Collection[Key]) -> list[Item]:
    """The items of neighbouring events; runs whose key is in `open_` are unfolded.

    A result joins its call where both are there; it is a line of its own elsewhere.
    """
    out: list[Item] = []
    for shape, run in _runs(turns, session):
        if shape is None:
            out += _single(run, 0)
            continue
        out.append(Item(shape, tuple(run)))
        if out[-1].key in open_:
            out += _single(run, 1)
    return out


def _runs(turns: Sequence[Turn], session: str) -> list[tuple[Shape | None, list[Turn]]]:
    runs: list[tuple[Shape | None, list[Turn]]] = []
    name, own = "", "/" in session  # a sub-agent's own session is read like any other
    for turn in turns:
        e = turn.event
        shape = None
        if e.session != session or (e.author is Author.SUBAGENT and not own):
            shape = Shape.SUBAGENT
        elif e.kind in _QUIET or (e.kind is EventKind.MESSAGE and e.author is Author.SYSTEM):
            shape = Shape.QUIET
        if runs and runs[-1][0] is shape and (shape is not Shape.SUBAGENT or name == e.session):
            runs[-1][1].append(turn)
        else:
            runs.append((shape, [turn]))
        name = e.session
    return runs


def _single(turns: Sequence[Turn], depth: int) -> list[Item]:
    results: dict[str, Turn] = {}
    for turn in turns:
        if turn.event.kind is EventKind.TOOL_RESULT and (id_ := call_id(turn.event)):
            results.setdefault(id_, turn)
    calls = {call_id(t.event) for t in turns if t.event.kind is EventKind.TOOL_CALL} - {""}
    out: list[Item] = []
    for turn in turns:
        kind, id_ = turn.event.kind, call_id(turn.event)
        if kind is EventKind.TOOL_RESULT and id_ in calls and results.get(id_) is turn:
            continue
        found = results.get(id_) if kind is EventKind.TOOL_CALL and id_ else None
        out.append(Item(_shape(kind), (turn, found) if found else (turn,), depth))
    return out


def _shape(kind: EventKind) -> Shape:
    if kind in _TOOLS:
        return Shape.TOOL
    return {
        EventKind.REASONING: Shape.REASONING,
        EventKind.SUMMARY: Shape.SUMMARY,
        EventKind.COMPACT_BOUNDARY: Shape.BOUNDARY,
        EventKind.UNPARSED: Shape.UNPARSED,
    }.get(kind, Shape.SAID)


def call_id(event: Event) -> str:
    """What pairs a call with its result; empty where the host states nothing."""
    return next((n.removeprefix("call:") for n in event.notes if n.startswith("call:")), "")


def call_of(text: str) -> Call:
    """A stored call in short. Lines are counted only when its arguments are there whole."""
    named = _NAME.match(text)
    name = named[0] if named else "call"
    rest = text[len(name) :].strip()
    try:
        arguments = orjson.loads(rest) if rest.startswith("{") else None
    except orjson.JSONDecodeError:
        found = _LOOSE.search(rest)
        return Call(name, found[2] if found else rest)
    if not isinstance(arguments, dict):
        return Call(name, rest)
    return Call(name, _about(arguments), *_changed(arguments))


def _about(arguments: dict[str, Any]) -> str:
    named = (arguments.get(n) for n in (*_WHAT, *arguments))
    return next((v for v in named if isinstance(v, str) and v), "")


def _changed(arguments: dict[str, Any]) -> tuple[int | None, int | None]:
    for old, new in _OLD_NEW:
        before, after = arguments.get(old), arguments.get(new)
        if isinstance(before, str) and isinstance(after, str):
            return _only(after, before), _only(before, after)
    content = arguments.get("content")
    return (len(content.splitlines()), None) if isinstance(content, str) else (None, None)


def _only(text: str, other: str) -> int:
    """Lines of a text that the other one does not have."""
    from collections import Counter

    return (Counter(text.splitlines()) - Counter(other.splitlines())).total()


def boundary_of(text: str) -> tuple[str, int | None]:
    """Trigger and tokens before, as the host states them with a compaction."""
    at = text.find("{")
    try:
        facts = orjson.loads(text[at:]) if at >= 0 else {}
    except orjson.JSONDecodeError:
        facts = {}
    if not isinstance(facts, dict):
        return "", None
    tokens, trigger = facts.get("preTokens"), facts.get("trigger")
    known = isinstance(tokens, int) and not isinstance(tokens, bool)
    return (trigger if isinstance(trigger, str) else ""), (tokens if known else None)
