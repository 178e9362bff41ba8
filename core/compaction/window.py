"""What is in a session's window as its events go by, and what stood in it at each cut (spec 7.7).

Fed with events in file order; keeps sizes, the words that bind, and the calls of the running turn,
never the events themselves.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

from core import alike
from core.claims import key_of
from core.compaction.standing import Said, said
from schemas.compaction import ItemClass
from schemas.evidence import Author, Event, EventKind
from schemas.storage import Walked

BYTES_A_TOKEN = 4
"""What an estimate divides by; everything counted so is marked as an estimate."""
STEERING, TASKS, SUMMARY, EVIDENCE, HISTORY = (
    "steering", "task state", "summary", "evidence", "history",
)  # fmt: skip
_PLANS = ("TodoWrite ", "update_plan ")
_WRITES = ("Edit ", "Write ", "MultiEdit ", "NotebookEdit ", "apply_patch ")
_PATH = re.compile(
    r'"(?:file_path|notebook_path)":"((?:[^"\\]|\\.)+)"|^\*\*\* (?:Update|Add|Delete) File: (.+)$',
    re.M,
)
_OPEN_STATES = ("pending", "in_progress")


@dataclass(slots=True)
class Action:
    """A call of the running turn: one without a result, or one that wrote a file."""

    event: Event
    quote: str
    start: int
    call: str = ""


@dataclass(slots=True)
class Held:
    """What stood in the window at a cut."""

    standing: list[Said]
    open: list[Said]
    once: list[Said]
    replaced: list[Said]
    """Standing words that later ones of this session replaced."""
    unanswered: list[Action]
    written: list[Action]
    sizes: Counter[str]


@dataclass(slots=True)
class Window:
    """The window of one session."""

    sizes: Counter[str] = field(default_factory=Counter)
    standing: dict[str, Said] = field(default_factory=dict)
    replaced: list[Said] = field(default_factory=list)
    tasks: dict[str, Said] = field(default_factory=dict)
    once: dict[str, Said] = field(default_factory=dict)
    plan: list[Said] = field(default_factory=list)
    _keys: dict[str, set[str]] = field(default_factory=dict)
    """Names of standing words by subject."""
    _calls: dict[str, Action] = field(default_factory=dict)
    _written: dict[str, Action] = field(default_factory=dict)
    _results: dict[str, int] = field(default_factory=dict)
    _aside: set[str] = field(default_factory=set)
    """Calls of sub-agents: their results never enter this window."""
    _heard: set[tuple[str, int]] = field(default_factory=set)
    _answered: bool = False

    def feed(self, walked: Walked) -> list[Said]:
        """Take the next event; answers the words it adds that bind or ask."""
        event = walked.event
        if event.author is Author.SUBAGENT:
            self._aside.update(_calls_of(event))
            return []
        if event.kind is EventKind.TOOL_RESULT:
            self._result(event, walked.size)
        elif event.kind is EventKind.TOOL_CALL:
            self._call(event, walked.size)
        elif event.kind is EventKind.REASONING:
            self.sizes[HISTORY] += walked.size
        elif event.kind is EventKind.MESSAGE:
            return self._message(event, walked.size)
        elif event.kind is EventKind.SYSTEM and _shown(event):
            self.sizes[STEERING] += walked.size
        return []

    def _message(self, event: Event, size: int) -> list[Said]:
        if event.author is not Author.OWNER:
            self.sizes[HISTORY if event.author is Author.AGENT else STEERING] += size
            self._answered = event.author is Author.AGENT or self._answered
            return []
        key = (event.native_id or event.id, event.part)
        if key in self._heard:
            return []  # some versions append copies of old records after a compaction
        self._heard.add(key)
        self.sizes[STEERING] += size
        if self._answered:
            self.once |= self.tasks
            self.tasks = {}
            self._written = {}
        self._answered = False
        found = list(said(event))
        for words in found:
            self._keep(words)
        return found

    def _keep(self, words: Said) -> None:
        name = words.name
        if words.class_ is ItemClass.TASK:
            self.tasks[name] = words
            return
        speaking = self._keys.setdefault(key_of(words.quote), set())
        for other in sorted(speaking - {name}):
            older = self.standing.get(other)
            if older is not None and _changes(older.quote, words.quote):
                self.replaced.append(self.standing.pop(other))
        speaking.add(name)
        self.standing.pop(name, None)
        self.standing[name] = words

    def _call(self, event: Event, size: int) -> None:
        self._answered = False
        plan = event.text.startswith(_PLANS)
        self.sizes[TASKS if plan else HISTORY] += size
        if plan:
            self.plan = _plan(event)
        for call in _calls_of(event):
            self._calls[call] = Action(event, event.text[:160], 0, call)
        if event.text.startswith(_WRITES):
            for m in _PATH.finditer(event.text):
                group = 1 if m[1] else 2
                self._written[m[group]] = Action(event, m[group], m.start(group))

    def _result(self, event: Event, size: int) -> None:
        calls = _calls_of(event)
        if any(c in self._aside for c in calls):
            return
        self._answered = False
        self.sizes[EVIDENCE] += size
        for call in calls:
            self._calls.pop(call, None)
            self._results[call] = size

    def held(self) -> Held:
        """What stands in it now; of a turn the agent has answered no task is open."""
        done = self._answered
        return Held(
            standing=list(self.standing.values()),
            open=[*([] if done else self.tasks.values()), *self.plan],
            once=[*self.once.values(), *(self.tasks.values() if done else ())],
            replaced=list(self.replaced),
            unanswered=list(self._calls.values()),
            written=[] if done else list(self._written.values()),
            sizes=Counter(self.sizes),
        )

    def clear_results(self, calls: frozenset[str]) -> int:
        """Drop the results of these calls; answers how many were there."""
        there = [c for c in calls if c in self._results]
        self.sizes[EVIDENCE] -= sum(self._results.pop(c) for c in there)
        return len(there)

    def cut(self, kept: set[str], sizes: Counter[str]) -> None:
        """The host cut: what is named in `kept` (and open tasks among it) stays in the window."""
        self.standing = {n: s for n, s in self.standing.items() if n in kept}
        self.tasks = {n: s for n, s in self.tasks.items() if n in kept}
        self.plan = [s for s in self.plan if s.name in kept]
        self.replaced, self.once = [], {}
        self._calls, self._written, self._results = {}, {}, {}
        self.sizes = sizes


def tokens(size: int) -> int:
    """Estimated tokens of some bytes."""
    return -(-max(0, size) // BYTES_A_TOKEN)


def _changes(older: str, newer: str) -> bool:
    """True when the newer words set another value; of things forbidden each stands by itself."""
    if alike.read(older).denied and alike.read(newer).denied:
        return False
    return alike.compare(older, newer) is alike.Likeness.CHANGED


def _calls_of(event: Event) -> list[str]:
    return [n.removeprefix("call:") for n in event.notes if n.startswith("call:")]


def _shown(event: Event) -> bool:
    """True for client text that the model is shown beside messages."""
    return any(n == "inert" or n.startswith("attachment:") for n in event.notes)


def _plan(event: Event) -> list[Said]:
    """Entries of an agent's own list that are not done, where their words stand as they are."""
    try:
        given = json.loads(event.text.partition(" ")[2])
    except ValueError:
        return []
    entries = given.get("todos") or given.get("plan") if isinstance(given, dict) else None
    out: list[Said] = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get("status") in _OPEN_STATES:
            words = entry.get("content") or entry.get("step")
            if not isinstance(words, str) or not words.strip():
                continue
            at = event.text.find(words)
            if at >= 0:
                out.append(Said(event, at, at + len(words), ItemClass.TASK, None))
    return out
