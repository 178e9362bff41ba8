"""What an owner's message asks for: what stands from then on, and what is done once (spec 7.7).

The sentences and most rules are those of candidate extraction. A candidate must be true for months;
a window also holds what binds for this session only, which the rules here add.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core import claims
from core.candidates import extract, statements
from schemas.choices import CandidateKind
from schemas.compaction import ItemClass
from schemas.evidence import Author, Event, EventKind

_NOT_ORDERS = (
    "know|think|see|understand|worry|forget|have|remember|mind|get|want|like|believe|care|feel|"
    "recall|necessarily|really|seem|work"
)
_OPENS = (
    r"(?:(?:so|and|also|ok|okay|yes|no|but|then|again|well|btw|note|important|please|just|great|"
    r"good|sure|right|thanks|now)\b[,:!.]?\s+)*(?:(?:you|we|it) (?:should|must|may|can)\s+)?"
)
_BINDS = tuple(
    re.compile(_OPENS + rule, re.I)
    for rule in (
        # what must not be done
        rf"(?:don'?t|do not|never|must not|mustn'?t|should not|shouldn'?t|(?<=should )not|"
        rf"(?<=must )not|avoid|stop)\s+(?!(?:{_NOT_ORDERS})\b)\w",
        r"no (?:new|more|extra|external|further|emojis?|comments?|mocks?|abbreviations?)\b",
        r"only (?:ever )?(?:use|change|edit|touch|write|modify|commit|run|add|read|look)\b",
        r"leave [^.;]{2,80}\b(?:alone|as (?:it |they )?(?:is|are)|untouched|unchanged)\b",
        r"keep (?:the|all|every|things|your|our|to|existing|public|commits?|functions?)\s",
        r"(?:preserve|retain|maintain) (?:the|all|every|our|existing|current)\b",
        r"keep it (?:simple|small|short|minimal|as (?:it )?is|compatible|backwards?)\b",
        r"(?:[^.;?]{0,80}[,;] )?(?:but |and |as )?(?:i|we) (?:don'?t want|do not want|never want|"
        r"no longer (?:use|want|need|support))\b",
        # how things are to be done
        r"(?:use|prefer|write|call|name|run|put) [^.;]{1,80}?(?:,? (?:instead of|rather than|not|never)\s|"
        r"\b(?:everywhere|at all times|consistently)\b)",
        r"(?:stick (?:to|with)|follow|respect|obey|adhere to)\s+(?:the|our|this|these|my|its?|\w+'s)\b",
        r"(?:make sure|ensure|be sure|be careful)\b[^.;]*\b(?:always|never|every|all|any|before|after|"
        r"whenever|each|no|not)\b",
        # asking first
        r"(?:always )?(?:ask|check with|confirm with|tell|warn|show) me\b[^.;]{0,40}"
        r"\b(?:before|first|if|when|whenever)\b",
        r"(?:before|after|when|whenever|if|for) [^.;:]{3,60}, (?:please )?(?:first )?(?:ask|check|confirm|"
        r"run|use|do|don'?t|do not|tell|show|stop|wait)\b",
        # how things are here
        rf"we (?:always|never|only|use|don'?t|do not|no longer|deprecated|stopped|avoid|keep|name)\s+"
        rf"(?!(?:{_NOT_ORDERS})\b)\w",
        r"(?:all|every|each) [^.;?]{2,60}\b(?:must|should|needs? to|has to|have to|in|as|are|is|goes?|"
        r"belongs?)\b",
        r"(?:tests?|commits?|code|files?|docs?|comments?|functions?|names?|errors?|logs?|messages?|"
        r"branches|migrations?|secrets?|types?)\b[^.;?]{0,60}\b(?:must|should|need to|have to|may not|"
        r"can'?t|cannot)\b",
        r"[^.;?]{0,30}\bthe (?:pattern|convention|rule|standard|policy|style|agreement) (?:is|was)\b",
    )
)
_DONE_ONCE = "one-off"


@dataclass(frozen=True, slots=True)
class Said:
    """Words that an owner's message, or an agent's own list of tasks, put into the window."""

    event: Event
    start: int
    end: int
    class_: ItemClass
    kind: CandidateKind | None

    @property
    def quote(self) -> str:
        """The words."""
        return self.event.text[self.start : self.end]

    @property
    def name(self) -> str:
        """What a repetition of them has in common."""
        return claims.normalised(self.quote)

    @property
    def locator(self) -> str:
        """Their place: event and half-open byte span."""
        first = len(self.event.text[: self.start].encode())
        return f"{self.event.id}#b{first}-{first + len(self.quote.encode())}"


def said(event: Event) -> Iterator[Said]:
    """What one message asks for, in its order; nothing of what others than the owner say.

    A long paste is no person's own statement, here as in candidates.
    """
    if event.author is not Author.OWNER or event.kind is not EventKind.MESSAGE:
        return
    if extract.pasted(event.text):
        return
    found = list(statements.find(event.text, owner=True))
    binding = [f for f in found if f.method != _DONE_ONCE]
    taken = [(f.start, f.end) for f in binding]
    for start, end in statements.sentences(event.text):
        if not any(start <= a and b <= end for a, b in taken) and _binds(event.text[start:end]):
            end -= len(event.text[start:end]) - len(event.text[start:end].rstrip())
            kind = CandidateKind.OPERATING_RULE
            binding.append(statements.Found(start, end, kind, "constraint"))
            taken.append((start, end))
    once = [
        f
        for f in found
        if f.method == _DONE_ONCE and not any(a <= f.start and f.end <= b for a, b in taken)
    ]
    for f in sorted((*binding, *once), key=lambda f: f.start):
        class_ = ItemClass.TASK if f.method == _DONE_ONCE else ItemClass.STANDING
        yield Said(event, f.start, f.end, class_, f.kind)


def _binds(words: str) -> bool:
    if words.rstrip().endswith("?") or statements.passing(words) or not 8 <= len(words) <= 400:
        return False
    return len(words.split()) >= 3 and any(rule.match(words) for rule in _BINDS)
