"""Any words, any records: an observation ends, and its locators cut what it quotes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.compaction.kept import Text, bare
from core.compaction.observe import of_events
from core.compaction.standing import said
from core.evidence.readers import claude_code, codex
from core.evidence.readers.base import Record, Source
from schemas.compaction import ItemState
from schemas.evidence import Event
from schemas.storage import Walked
from tests.compaction.sessions import (
    agent,
    boundary,
    call,
    micro,
    owner,
    owners,
    result,
    spoken,
    summary,
)
from tests.compaction.sessions import codex as rollout

ORDERS = st.sampled_from(
    ["Never ", "Always ask me before ", "Remember: ", "add ", "Don't ", "use a not ", "", "- [ ] "]
)
WORDS = st.text(max_size=80)
SAID = st.builds(str.__add__, ORDERS, WORDS)
RECORDS = st.one_of(
    SAID.map(owner),
    WORDS.map(agent),
    WORDS.map(summary),
    st.just(boundary()),
    st.just(boundary(None, facts={"preservedSegment": {"headUuid": 1}, "preTokens": -1})),
    st.just(micro("t1")),
    WORDS.map(lambda w: call("t1", "TodoWrite", {"todos": [{"content": w, "status": "pending"}]})),
    WORDS.map(lambda w: call("t2", "Edit", {"file_path": w})),
    WORDS.map(lambda w: result("t1", w)),
)


def walked(data: bytes, reader: Any = claude_code) -> Iterator[Walked]:
    """Events as the store would give them, without a store."""
    source = Source(io.BytesIO(data), 0, 0, len(data), "S", 1 << 24)
    ordinal = 0
    for record in reader.read(source):
        for n, part in enumerate(record.parts if isinstance(record, Record) else ()):
            text = part.text.encode("utf-8", "replace").decode()
            yield Walked(
                (1, ordinal),
                Event(
                    id=f"ev_{ordinal:032x}",
                    file="f",
                    session="S",
                    ordinal=ordinal,
                    kind=part.kind,
                    author=part.author,
                    time=part.time,
                    text=text,
                    native_id=part.native_id,
                    line=record.line,
                    byte_start=record.start,
                    byte_length=len(record.raw),
                    part=n,
                    notes=tuple(part.notes),
                ),
                len(text.encode()),
            )
            ordinal += 1


def observed(data: bytes, reader: Any = claude_code) -> None:
    """Observe records and hold every locator against the words."""
    events = list(walked(data, reader))
    lines = data.split(b"\n")
    texts = {w.event.id: w.event.text for w in events}
    raw = {w.event.id: lines[w.event.line - 1] for w in events}
    found = of_events("S", iter(events), raw.get)
    assert found.events == len(events)
    for cut in found.boundaries:
        assert sum(cut.lost.values()) <= sum(i.state is ItemState.MISSING for i in cut.items)
        for item in cut.items:
            event, _, span = item.locator.partition("#b")
            start, end = map(int, span.split("-"))
            assert texts[event].encode()[start:end].decode() == item.quote
    assert found == of_events("S", iter(events), raw.get)


@settings(max_examples=80, deadline=None)
@given(st.lists(RECORDS, max_size=12))
def test_any_order_of_records_is_observed_and_every_locator_cuts_its_quote(
    records: list[bytes],
) -> None:
    """Boundaries, summaries and messages in orders no host writes; equal input, equal answer."""
    observed(b"".join(records))


@settings(max_examples=30, deadline=None)
@given(st.lists(SAID, max_size=6), st.lists(WORDS, max_size=3), st.sampled_from(["", "text"]))
def test_any_replacement_history_is_observed(
    texts: list[str], kept: list[str], message: str
) -> None:
    """Also with items of odd types in it."""
    history: list[Any] = [{"type": "message", "role": "user", "content": k} for k in kept]
    payload = {"message": message, "replacement_history": [*history, None, 7, {"type": []}]}
    spoken_ = [spoken("user", t) for t in texts]
    observed(rollout(*spoken_, ("compacted", payload), *spoken_), codex)


@settings(max_examples=200, deadline=None)
@given(SAID, WORDS, WORDS)
def test_words_that_a_summary_quotes_are_verbatim_in_it(rule: str, before: str, after: str) -> None:
    """Whatever stands around them, in whatever case."""
    if bare(rule):
        assert Text(f"{before}\n{rule.upper().lower()}\n{after}").holds(rule.upper().lower())


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_what_is_said_lies_inside_the_message(text: str) -> None:
    """Spans are within the text, in order, and none overlaps another."""
    event = owners(text)
    at = 0
    for words in said(event):
        assert at <= words.start < words.end <= len(text)
        at = words.end


def test_a_record_that_is_no_json_states_nothing() -> None:
    """The boundary is there, its figures are not."""
    events = list(walked(owner("Never push.") + boundary(170_000) + agent("on")))
    (cut,) = of_events("S", iter(events), lambda _id: b"{broken").boundaries
    assert cut.before is not None and not cut.before.stated
    assert json.loads(cut.model_dump_json())["trigger"] == "unknown"
