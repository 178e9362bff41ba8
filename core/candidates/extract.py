"""Deterministic extraction: what is not clearly a durable statement is not a candidate (spec 4.1).

A message is cut into sentences outside code and quotes; a sentence becomes a proposal only when
a rule names it. Every proposal's span is the words themselves in the stored text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from core import claims, screening
from core.candidates import rules
from core.candidates.propose import Proposal, add
from core.evidence.lookup import source_of
from core.identity import Span
from core.ports import Desk
from schemas.candidates import ExtractReport
from schemas.evidence import Author, Event

_BATCH = 200
_PASTED_LINES = 60
_EMPHASIS = re.compile(r"\*\*|(?<!\w)__|__(?!\w)")


def _pasted(text: str) -> bool:
    """A long paste is evidence of something, not a person's own statement."""
    return text.count("\n") > _PASTED_LINES


def _why_not(event: Event) -> str:
    """Why a message proposes nothing, by a word of `ExtractReport.skipped`."""
    if event.author is Author.OWNER and _pasted(event.text):
        return "pasted"
    if event.author is Author.EXTERNAL and rules.has_list(event.text):
        return "list-unnamed"
    return "no-statement"


def proposals(event: Event) -> Iterator[Proposal]:
    """Proposals of one message, each with its exact span."""
    owner = event.author is Author.OWNER
    if owner and _pasted(event.text):
        return
    taken: set[str] = set()
    agent = event.author is Author.AGENT
    for found in rules.restated(event.text) if agent else rules.find(event.text, owner=owner):
        words = event.text[found.start : found.end]
        statement = " ".join(_EMPHASIS.sub("", words).split())
        name = claims.normalised(statement)
        if name in taken:
            continue
        taken.add(name)
        start = len(event.text[: found.start].encode())
        span = Span(start, start + len(words.encode()))
        yield Proposal(
            statement=statement,
            kind=found.kind,
            key=claims.key_of(screening.mask(statement)),
            scope="project",
            sources=(source_of(event, span),),
            method=found.method,
            author=event.author.value,
        )


def extract(desk: Desk, *, source: str | None = None) -> ExtractReport:
    """Propose from all evidence, or one file; a second run proposes nothing new.

    Raises NotFound `id.not-found` for an unknown source.
    """
    from core.evidence.sources import file_number

    skipped: Counter[str] = Counter()
    messages, known, new = 0, 0, []
    file = file_number(desk, source) if source else None
    after = (-1, -1)
    while True:
        with desk.store.read() as view:
            batch = view.evidence.messages(
                after=after, authors=desk.policy.policy.extract_authors, file=file, limit=_BATCH
            )
        if not batch:
            break
        after = batch[-1][0]
        found: list[Proposal] = []
        for _place, event in batch:
            messages += 1
            if event.same_as is not None:
                skipped["same-as-earlier"] += 1
                continue
            here = list(proposals(event))
            if not here:
                skipped[_why_not(event)] += 1
            found += here
        if not found:
            continue
        with desk.store.write() as unit:
            for proposal in found:
                version, fresh = add(desk, unit, proposal)
                known += not fresh
                new += [version.id] if fresh else []
    return ExtractReport(
        messages=messages,
        proposed=len(new),
        known=known,
        skipped=dict(skipped),
        candidates=tuple(new),
    )
