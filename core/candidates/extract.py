"""Deterministic extraction: what is not clearly a durable statement is not a candidate (spec 4.1).

A message is cut into sentences outside code and quotes; a sentence becomes a proposal only when
a rule names it. Every proposal's span is the words themselves in the stored text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from core import claims, prose, screening
from core.candidates import statements
from core.candidates.propose import Proposal, add
from core.evidence import own
from core.evidence.lookup import source_of
from core.identity import Span
from core.ports import Desk
from schemas.candidates import ExtractReport
from schemas.evidence import Author, Event

_BATCH = 200
_PASTED_LINES = 60


def pasted(text: str) -> bool:
    """A long paste is evidence of something, not a person's own statement."""
    return text.count("\n") > _PASTED_LINES


def _why_not(event: Event) -> str:
    """Why a message proposes nothing, by a word of `ExtractReport.skipped`."""
    if event.author is Author.OWNER and pasted(event.text):
        return "pasted"
    if event.author is Author.EXTERNAL and statements.has_list(event.text):
        return "list-unnamed"
    return "no-statement"


def proposals(event: Event) -> Iterator[Proposal]:
    """Proposals of one message, each with its exact span."""
    owner, text = event.author is Author.OWNER, own.others(event.text)
    if owner and pasted(text):
        return
    taken: set[str] = set()
    agent = event.author is Author.AGENT
    for found in statements.restated(text) if agent else statements.find(text, owner=owner):
        words = event.text[found.start : found.end]
        statement = prose.statement(words)
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


def _revoked(desk: Desk, id_: str) -> bool:
    """True for an event whose source was revoked: another that repeats it stands for itself."""
    with desk.store.read() as view:
        files = view.evidence.files_of([id_])
        return any(view.evidence.revoked(f) for f in files.values())


def extract(
    desk: Desk,
    *,
    source: str | None = None,
    files: Sequence[str] | None = None,
    authors: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExtractReport:
    """Propose from all evidence, one file, or these files; a second run proposes nothing new.

    `authors` narrows whose messages are read, the policy's if not given. `progress` is told how
    many of the files are done. Raises NotFound `id.not-found` for an unknown source.
    """
    from core.candidates import rules
    from core.evidence.sources import file_number

    rules.follow(desk)
    wanted: list[int | None] = [None]
    if files is not None or source:
        wanted = [file_number(desk, f) for f in (files or ()) or ([source] if source else ())]
    run = _Extraction(desk, authors or desk.policy.policy.extract_authors)
    for done, number in enumerate(wanted, 1):
        run.file(number)
        if progress is not None:
            progress(done)
    return ExtractReport(
        messages=run.messages,
        proposed=len(run.new),
        known=run.known,
        skipped=dict(run.skipped),
        candidates=tuple(run.new),
    )


class _Extraction:
    """Counts of one run over messages."""

    def __init__(self, desk: Desk, authors: Sequence[str]) -> None:
        self.desk = desk
        self.authors = authors
        self.messages = self.known = 0
        self.skipped: Counter[str] = Counter()
        self.new: list[str] = []

    def file(self, number: int | None) -> None:
        """Propose from one file, or from all."""
        after = (-1, -1)
        while True:
            with self.desk.store.read() as view:
                batch = view.evidence.messages(
                    after=after, authors=self.authors, file=number, limit=_BATCH
                )
            if not batch:
                return
            after = batch[-1][0]
            found = [p for _place, event in batch for p in self._said(event)]
            if not found:
                continue
            with self.desk.store.write() as unit:
                for proposal in found:
                    version, fresh = add(self.desk, unit, proposal)
                    self.known += not fresh
                    self.new += [version.id] if fresh else []

    def _said(self, event: Event) -> list[Proposal]:
        self.messages += 1
        if event.revoked:
            self.skipped["revoked"] += 1
            return []
        if own.NOTE in event.notes:
            self.skipped["self"] += 1
            return []
        if event.same_as is not None and not _revoked(self.desk, event.same_as):
            self.skipped["same-as-earlier"] += 1
            return []
        found = list(proposals(event))
        if not found:
            self.skipped[_why_not(event)] += 1
        return found
