"""Deterministic extraction: what is not clearly a durable statement is not a candidate (spec 4.1).

A message is cut into sentences outside code and quotes; a sentence becomes a proposal only when
a rule below names it. Every proposal's span is the words themselves in the stored text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from core import claims, screening
from core.candidates import prose
from core.candidates.propose import Proposal, add
from core.evidence.lookup import source_of
from core.identity import Span
from core.ports import Desk
from schemas.candidates import CandidateKind, ExtractReport
from schemas.evidence import Author, Event

_BATCH = 200
_PASTED_LINES = 60
_MIN, _MAX = 8, 400
_WORDS, _ASKED_WORDS = 4, 3
"""Words a statement needs; what somebody asked to remember may be shorter."""
_TASK_MIN, _TASK_MAX = 8, 160

_K = CandidateKind
_LABELS: dict[str, CandidateKind] = {
    "decision": _K.DECISION,
    "decided": _K.DECISION,
    "requirement": _K.OPERATING_RULE,
    "constraint": _K.OPERATING_RULE,
    "rule": _K.OPERATING_RULE,
    "policy": _K.OPERATING_RULE,
    "convention": _K.OPERATING_RULE,
    "preference": _K.PREFERENCE,
    "fact": _K.PROJECT_FACT,
    "procedure": _K.PROCEDURE,
    "correction": _K.PROJECT_FACT,
}
_HEADINGS: dict[str, CandidateKind] = {
    "decisions": _K.DECISION,
    "key decisions": _K.DECISION,
    "facts": _K.PROJECT_FACT,
    "key facts": _K.PROJECT_FACT,
    "project facts": _K.PROJECT_FACT,
    "constraints": _K.OPERATING_RULE,
    "rules": _K.OPERATING_RULE,
    "conventions": _K.OPERATING_RULE,
    "preferences": _K.PREFERENCE,
}
_REMEMBER = re.compile(
    r"(?:(?:so|and|also|ok|okay|yes|no|hey)[,:]?\s+)*(?:please\s+|can you\s+|could you\s+)?"
    r"(?:remember|note for (?:the future|later)|keep in mind|make a note|for future reference|"
    r"don'?t forget|(?:save|add|write|put) (?:this |it )?(?:to|in|into) (?:your |the )?memory)"
    r"(?P<join>\s*[:,\-–—]\s*|\s+that\s+|\s+(?=to\s|not\s|never\s|always\s|we\s|the\s|our\s|I\s|my\s|this\s))",
    re.I,
)
_STANDING = re.compile(
    r"(?:(?:so|and|also|ok|okay|yes|no|but)[,:]?\s+)*(?:please\s+)?"
    r"(?:from now on|going forward|in (?:the )?future|as a rule|by default|whenever you|"
    r"every time (?:you|we)|(?:don'?t ever|always|never)\s+(?!mind|again\b|had|has|have|been|works?\b|seen)|"
    r"(?:you (?:should|must) |make sure (?:to |you |that you )?)(?:always|never)\s|"
    r"(?:when(?:ever)?|if|before|after|for|in) [^,.;:]{3,60}, (?:please )?(?:always|never)\s)",
    re.I,
)
_STANDING_END = re.compile(
    r"\b(?:from now on|from here on(?: out)?|going forward|in (?:the )?future,? please)"
    r"[\s,]*(?:please|thanks|thank you|ok|okay)?[\s.!)]*$",
    re.I,
)
_INSTEAD = re.compile(
    r"(?:(?:so|and|also|ok|okay|no|but|to be clear)[,:]?\s+)*(?:please\s+)?(?:don'?t|do not|never) use\s+"
    r"[^.;]{2,80}?[,;]?\s+(?:but |instead |rather )?use\s+\S",
    re.I,
)
_ASKED_LATER = re.compile(
    r"[,;–—-]\s+(?:(?:and|so|but|also|please)\s+)*(?:remember(?:\s+that\s+|\s+to\s+|\s*:\s+)|"
    r"(?:keep in mind|don'?t forget)\s+that\s+)",
    re.I,
)
"""A request to remember after other words of its sentence; at its start `_REMEMBER` names it."""
_DECIDED = re.compile(
    r"(?:(?:so|and|also|ok|okay|yes|no)[,:]?\s+)*(?:we|i)(?:'ve| have)?\s+"
    r"(?:decided|agreed|settled|standardi[sz]ed)\s+(?:to|on|that|against)\s",
    re.I,
)
_PREFERS = re.compile(
    r"(?:(?:so|and|also|ok|okay|yes|no)[,:]?\s+)*(?:i|we)\s+(?:strongly\s+|generally\s+|always\s+)?"
    r"(?:prefer|don'?t (?:want|like) (?:you to|it when)|want you to (?:always|never))\s",
    re.I,
)
_CORRECTS = re.compile(
    r"(?:no|nope|wrong|actually|correction|that'?s (?:wrong|not right))\b[^:\n]{0,60}?[:,]\s+"
    r"(?=(?:the|our|we|it|all|every|refunds?|\w+s)\b)",
    re.I,
)
_STATES_SOMETHING = re.compile(
    r"\b(?:is|are|was|were|must|needs?|should|has|have|uses?|runs?|goes|go|live|lives|costs?|"
    r"takes?|means?|closes?|starts?|ends?|expires?|requires?)\b",
    re.I,
)
_TASK = re.compile(
    r"(?:(?:ok|okay|yes|no|and|also|now|then|so|great|good|perfect|thanks|hey|please|just)[,:]?\s+)*"
    r"(?:(?:can|could|would) you (?:please )?|please |let'?s |i(?:'d| would) like (?:you )?to |"
    r"i want (?:you )?to )?"
    r"(?:add|align|apply|build|bump|change|check|clean|commit|convert|copy|create|debug|delete|"
    r"deploy|do|drop|explain|extract|fix|format|generate|give|implement|improve|include|install|"
    r"investigate|list|look|make|merge|migrate|move|open|optimi[sz]e|push|put|read|refactor|release|"
    r"remove|rename|replace|rerun|reset|restart|revert|review|rewrite|roll|run|search|send|set|show|"
    r"simplify|split|start|stop|summari[sz]e|switch|tell|test|try|undo|update|upgrade|use|verify|"
    r"watch|write)\b",
    re.I,
)
_RESTATES = re.compile(
    r"(?:noted|understood|got it|agreed|remember(?:ed)?|i(?:'ll| will) (?:remember|keep in mind)|"
    r"(?:the )?user (?:prefers|wants|asked|likes)|from now on|going forward|always|never|"
    r"we (?:decided|agreed)|decision)\b[:,.]?\s+(?:that\s+)?",
    re.I,
)
_TASKISH = re.compile(
    r"\b(?:this time|for now|right now|just this|here only|in this (?:pr|commit|branch|file|case|session)|"
    r"now (?:please|run|fix|do)|today only|for this (?:task|one|session)|in (?:those|these) \w+)\b",
    re.I,
)
_EMPHASIS = re.compile(r"\*\*|(?<!\w)__|__(?!\w)")
_CHOICE = re.compile(
    r"[*_]{0,3}(?:option|alternative|choice|variant)\s+[\w.]{1,3}[*_]{0,3}\s*(?:[-–—:,]+|is\b)\s*",
    re.I,
)
"""How a decision record names what it chose; the words after it are the decision."""
_LEANS = re.compile(
    r":$|\b(?i:option|alternative|choice|variant)\s+(?:\d+|[A-Z])\b|^`[^`]+\.\w{1,5}`\s+[-–—]|^\[[^\]]+\]\([^)]+\)\s*[-–—]"
)
"""Written words that say nothing without what stands around them: a list's opening, a reference
to an option elsewhere, a file or link with a note on it."""
_REFUSAL = re.compile(r"^(?:i(?:'m| am) sorry|sorry,|as an ai|i can(?:'t|not))", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence a rule named: character span of the durable words, kind, rule."""

    start: int
    end: int
    kind: CandidateKind
    method: str


def find(text: str, *, owner: bool) -> Iterator[Found]:
    """Durable statements of one message; `owner` opens the rules for a person's own words."""
    heading: CandidateKind | None = None
    for start, line, listed in prose.prose_lines(text):
        title = prose.HEADING.match(line)
        if title:
            heading = _HEADINGS.get(title["title"].strip().strip(":").lower())
            continue
        if heading is not None and listed:
            yield from _kept(text, start, start + len(line), heading, "heading")
            continue
        for a, b in prose.split(line):
            yield from _sentence(text, start + a, start + b, owner)


def _sentence(text: str, start: int, end: int, owner: bool) -> Iterator[Found]:
    words = text[start:end]
    if label := prose.LABEL.match(words):
        kind = _LABELS[label["label"].lower()]
        at = start + label.end()
        chosen = _CHOICE.match(words, label.end())
        yield from _kept(text, start + chosen.end() if chosen else at, end, kind, "label")
        return
    if words.rstrip().endswith("?"):
        return
    if not owner:
        return
    if _TASKISH.search(words):
        yield from _task(text, start, end)
    elif asked := _REMEMBER.match(words):
        rest = start + asked.end()
        yield from _kept(text, rest, end, _kind_of(text[rest:end]), "explicit-request")
    elif later := _ASKED_LATER.search(words):
        rest = start + later.end()
        yield from _kept(text, rest, end, _kind_of(text[rest:end]), "explicit-request")
    elif _STANDING.match(words) or _STANDING_END.search(words) or _INSTEAD.match(words):
        yield from _kept(text, start, end, _K.OPERATING_RULE, "standing-rule")
    elif _DECIDED.match(words):
        yield from _kept(text, start, end, _K.DECISION, "decision")
    elif _PREFERS.match(words):
        yield from _kept(text, start, end, _K.PREFERENCE, "preference")
    elif (wrong := _CORRECTS.match(words)) and _STATES_SOMETHING.search(words, wrong.end()):
        clause = _clause(text, start + wrong.end(), end)
        yield from _kept(text, start + wrong.end(), clause, _kind_of(words), "correction")
    else:
        yield from _task(text, start, end)


def _clause(text: str, start: int, end: int) -> int:
    """Where the corrected statement itself ends: at a comma that opens another thought."""
    comma = re.search(r",\s|;\s", text[start:end])
    return start + comma.start() if comma and comma.start() > _MIN else end


def passing(words: str) -> bool:
    """True for words that bind only here and now, whatever else they say."""
    return _TASKISH.search(words) is not None


def _task(text: str, start: int, end: int) -> Iterator[Found]:
    """A one-off request: kept and counted, folded in the queue (spec 4.8)."""
    words = text[start:end]
    if _TASK.match(words) and _TASK_MIN <= len(words.strip()) <= _TASK_MAX and "\n" not in words:
        yield Found(start, end - (len(words) - len(words.rstrip())), _K.GOAL, "one-off")


def restated(text: str) -> Iterator[Found]:
    """What an agent repeats as if it were settled; its own words prove nothing."""
    for start, line, _listed in prose.prose_lines(text):
        for a, b in prose.split(line):
            words = line[a:b]
            if words.rstrip().endswith("?") or prose.HEADING.match(words):
                continue
            if said := _RESTATES.match(words):
                bare = (
                    said[0].lower().startswith(("noted", "understood", "got", "agreed", "rem", "i"))
                )
                from_ = start + a + (said.end() if bare else 0)
                yield from _kept(text, from_, start + b, _kind_of(words), "restated")


def _kept(text: str, start: int, end: int, kind: CandidateKind, method: str) -> Iterator[Found]:
    """The span trimmed of space, list marks and emphasis, if what is left can stand alone."""
    while start < end and text[start] in " \t*_-–—:":
        start += 1
    while end > start and text[end - 1] in " \t*_\r":
        end -= 1
    words = text[start:end]
    least = _ASKED_WORDS if method == "explicit-request" else _WORDS
    enough = len(words.split()) >= least or not words.isascii()
    if not (_MIN <= len(words) <= _MAX and enough) or _REFUSAL.match(words):
        return
    if method in ("label", "heading") and _LEANS.search(words):
        return
    yield Found(start, end, kind, method)


def _kind_of(words: str) -> CandidateKind:
    low = words.lower()
    if re.match(r"to \w+ [^,]{3,60}, (?:run|do|use|start|first|call)\b", low):
        return _K.PROCEDURE
    if re.match(r"(?:to|not|never|always|don'?t|only|ask|use|run)\b", low):
        return _K.OPERATING_RULE
    if re.match(r"(?:i|we) (?:prefer|like|want)\b|my preference", low):
        return _K.PREFERENCE
    if re.search(r"\b(?:must|should|never|always|needs? to|has to|have to)\b", low):
        return _K.OPERATING_RULE
    return _K.PROJECT_FACT


def pasted(text: str) -> bool:
    """A long paste is evidence of something, not a person's own statement."""
    return text.count("\n") > _PASTED_LINES


def proposals(event: Event) -> Iterator[Proposal]:
    """Proposals of one message, each with its exact span."""
    owner = event.author is Author.OWNER
    if owner and pasted(event.text):
        return
    taken: set[str] = set()
    agent = event.author is Author.AGENT
    for found in restated(event.text) if agent else find(event.text, owner=owner):
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
            if event.author is Author.OWNER and pasted(event.text):
                skipped["pasted"] += 1
                continue
            found += proposals(event)
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
