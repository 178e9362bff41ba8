"""The rules by which a sentence is clearly a durable statement (spec 4.1). Pure: text in, spans out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core import prose
from schemas.candidates import CandidateKind

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
    "facts": _K.PROJECT_FACT,
    "constraints": _K.OPERATING_RULE,
    "rules": _K.OPERATING_RULE,
    "conventions": _K.OPERATING_RULE,
    "preferences": _K.PREFERENCE,
}
_TITLE_WORDS = 4
_NOT_THESE = re.compile(
    r"\b(?:open|pending|rejected|proposed|future|old|former|no|deprecated|"
    r"draft|related|relevant|previous|other|see)\b",
    re.I,
)
_LABEL = re.compile(
    rf"(?:[-*]\s+)?(?:\*\*)?(?P<label>{'|'.join(_LABELS)})(?:\*\*)?\s*:(?:\*\*)?\s+", re.I
)
_LEAD = r"(?:(?:so|and|also|ok|okay|yes|no|hey|but|to be clear)[,:]?\s+)*"
"""What may stand before the words that count."""
_VERBS = (
    r"(?:add|align|append|apply|ask|avoid|build|bump|call|change|check|clean|commit|convert|copy|"
    r"create|debug|delete|deploy|do|drop|explain|extract|fix|format|generate|give|implement|"
    r"improve|include|install|investigate|keep|list|look|make|merge|migrate|move|name|open|"
    r"optimi[sz]e|prefer|push|put|read|refactor|release|remove|rename|replace|rerun|reset|restart|"
    r"revert|review|rewrite|roll|run|search|send|set|show|simplify|split|start|stop|store|"
    r"summari[sz]e|support|switch|tag|tell|test|treat|try|undo|update|upgrade|use|verify|wait|watch|"
    r"write)\b"
)
_REMEMBER = re.compile(
    _LEAD
    + r"(?:please\s+|(?:can|could|will|would) you (?:please )?|(?:i want|i need|i'd like) you to )*"
    r"(?:remember|memori[sz]e|note (?:for (?:the future|later|next time)|to self)|keep in mind|"
    r"(?:make|take) a note|for (?:future reference|next time)|don'?t forget|"
    r"(?:save|add|write|put|store|note|record) (?:this |it |that )?"
    r"(?:to|in|into) (?:(?:your |the )?memory|(?:the )?(?:CLAUDE|AGENTS|GEMINI)\.md))"
    r"(?:\s+(?:this|the following|for (?:the future|later|next time)))?"
    r"(?P<join>\s*[:,\-–—]\s*|\s+that\s+|\s+(?=to\s|not\s|never\s|always\s|we\s|the\s|our\s|I\s|my\s|this\s))",
    re.I,
)
_NAMED = re.compile(
    r"(?:my|our|your|the|this|that|these|those|it|its)(?: (?:[a-z-]+'s|[a-z-]*[a-rt-z])){0,3}"
    r"(?: [a-z-]+)?[\s.!?]*$",
    re.I,
)
"""A thing to remember that is named and not said: "my build command". What it is stands elsewhere."""
_ASKED_ABOUT = re.compile(
    r"(?:what|how|where|why|which)\b[^,:;]*$|to do (?:so|that|this|it)\W*$", re.I
)
_POLITE = re.compile(_LEAD + r"(?:please )?(?:can|could|will|would) you\b", re.I)
_NO_ORDER = (
    r"(?:(?:mind|again|had|has|have|been|is|are|was|were|works?|seen|saw|heard|knew|thought|felt|got|"
    r"happy|glad|good|great|nice|fun|here|there|on|in|at|up|down|too|a|the)\b|"
    r"(?!embed|shed|shred)\w+[^e\W]ed\b|(?!bring|ping|string)\w{2,}ing\b)"
)
"""What follows "always" and "never" where they tell something instead of asking for it."""
_STANDING = re.compile(
    _LEAD + r"(?:please\s+)?"
    r"(?:from now on|going forward|as a rule|"
    rf"(?:in (?:the )?future|by default|next time),? (?:please )?"
    rf"(?:(?:always|only|you|don'?t|never)\b|{_VERBS})|"
    r"whenever you(?! want| like| need| can| feel|'re (?:ready|done)| are (?:ready|done))|"
    rf"every time (?:you|we)\b[^,.;:]{{3,60}}, (?:please |always )?{_VERBS}|"
    rf"(?:don'?t ever|always|never)\s+(?!{_NO_ORDER})|"
    r"(?:you (?:should|must) |make sure (?:to |you |that you )?)(?:always|never)\s|"
    r"(?:when(?:ever)?|if|before|after|for|in) [^,.;:]{3,60}, (?:please )?(?:always|never)\s|"
    r"stop (?:using|adding|writing|creating|committing|pushing|putting)\s|"
    r"(?:in|for) (?:this|our) (?:repo|repository|project|codebase|team),? (?:we|you|always|never|only|use)\s|"
    r"we (?:only |always )?use [^,.;]{2,60}, (?:not|never)\s)",
    re.I,
)
_STANDING_END = re.compile(
    r"\b(?:from now on|from here on(?: out)?|going forward|in (?:the )?future,? please)"
    r"[\s,]*(?:please|thanks|thank you|ok|okay)?[\s.!)]*$",
    re.I,
)
_INSTEAD = re.compile(
    _LEAD + r"(?:please\s+)?(?:don'?t|do not|never) use\s+"
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
    _LEAD + r"(?:we|i)(?:'ve| have)?\s+"
    r"(?:decided|agreed|settled|standardi[sz]ed)\s+(?:to|on|that|against)\s",
    re.I,
)
_PREFERS = re.compile(
    _LEAD + r"(?:i|we)\s+(?:strongly\s+|generally\s+|always\s+)?"
    r"(?:prefer|no longer use|don'?t (?:want|like) (?:you to|it when)|want you to (?:always|never))\s",
    re.I,
)
_CORRECTS = re.compile(
    r"(?:no|nope|wrong|actually|correction|that'?s (?:wrong|not right))\b[^:\n]{0,60}?[:,]\s+"
    r"(?=(?:the|our|we|all|every|(?!(?:this|is|was|its|has|does|yes|thanks|always|as|sometimes|besides)\b)\w+s)\b)",
    re.I,
)
_PASSING = re.compile(
    r"\b(?:still|again|now|already|yet|just|failing|fails|failed|broken|works?|working|stuck)\b(?!-)",
    re.I,
)
"""How things stand at the moment; no fact to keep."""
_ANSWERS = re.compile(
    r"\b(?:the (?:first|second|third|last|latter|former|other)(?: (?:one|option|approach|version))?|"
    r"(?:option|approach|version|choice) (?:\d+|[A-Z])|(?:that|this) one|"
    r"(?:that|this|it|both|neither))[\s.!]*$",
    re.I,
)
"""A choice among what was offered: true of this conversation alone."""
_STATES_SOMETHING = re.compile(
    r"\b(?:is|are|was|were|be|must|needs?|should|can|cannot|can'?t|will|won'?t|has|have|uses?|runs?|"
    r"goes|go|live|lives|costs?|takes?|means?|closes?|starts?|ends?|expires?|requires?|stays?|keeps?|"
    r"holds?|needs|never|always|doesn'?t|don'?t|happens?)\b",
    re.I,
)
_BIDS = re.compile(rf"(?:we |you )?(?:always |never |only |no |not |no longer )*{_VERBS}", re.I)
_DOES = re.compile(
    r"(?:the|our|an?|all|every|each|any|no|its?|we) [^,;:]*?\b\w+s (?:\w+ly\b|on|in|at|to|for|from|by|"
    r"into|the|an?|only|no|not|its|every|all|as|over|under|per|\d)",
    re.I,
)
"""A subject that does something: "the API listens on port 8443"."""
_TASK = re.compile(
    r"(?:(?:ok|okay|yes|no|and|also|now|then|so|great|good|perfect|thanks|hey|please|just)[,:]?\s+)*"
    r"(?:(?:can|could|would) you (?:please )?|please |let'?s |i(?:'d| would) like (?:you )?to |"
    rf"i want (?:you )?to )?{_VERBS}",
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
_CHOICE = re.compile(
    r"[*_]{0,3}(?:option|alternative|choice|variant)\s+[\w.]{1,3}[*_]{0,3}\s*(?:[-–—:,]+|is\b)\s*",
    re.I,
)
"""How a decision record names what it chose; the words after it are the decision."""
_LEANS = re.compile(
    r":$|\b(?i:option|alternative|choice|variant)\s+(?:\d+|[A-Z])\b|"
    r"^[`*_]*[^`*\s]+\.\w{1,5}[`*_]*(?:\s+[-–—]|:[*_\s])|^@\S|^\[[^\]]+\]\([^)]+\)\s*[-–—]"
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
    for start, line, listed in prose.lines(text, _continues):
        title = prose.heading(line)
        if title is not None:
            heading = heading_kind(title)
            continue
        if heading is not None and listed:
            yield from _kept(text, start, start + len(line), heading, "heading")
            continue
        for a, b in prose.sentences(line):
            yield from _sentence(text, start + a, start + b, owner)


def heading_kind(title: str) -> CandidateKind | None:
    """What a list under a heading holds: "Rules", "Coding conventions", "Key facts"."""
    words = title.strip().strip(":").lower().split()
    if not 0 < len(words) <= _TITLE_WORDS or _NOT_THESE.search(title):
        return None
    return _HEADINGS.get(words[-1])


def has_list(text: str) -> bool:
    """True when a text holds list items, which count only under a heading that names them."""
    return any(listed for _, _, listed in prose.lines(text, _continues))


def _sentence(text: str, start: int, end: int, owner: bool) -> Iterator[Found]:
    words = text[start:end]
    if label := _LABEL.match(words):
        kind = _LABELS[label["label"].lower()]
        at = start + label.end()
        chosen = _CHOICE.match(words, label.end())
        if kind is _K.DECISION and not (owner or _stands_alone(words[label.end() :])):
            return
        yield from _kept(text, start + chosen.end() if chosen else at, end, kind, "label")
        return
    if not owner:
        return
    if words.rstrip(" !").endswith("?"):
        if not (_POLITE.match(words) and _REMEMBER.match(words)):
            return
        words = words.rstrip("?! ")
        end = start + len(words)
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


def _stands_alone(words: str) -> bool:
    """True for a decision of a document that says something without its heading."""
    bare = words.lstrip("*_ ")
    return bool(_BIDS.match(bare) or _STATES_SOMETHING.search(bare) or _DOES.match(bare))


def _clause(text: str, start: int, end: int) -> int:
    """Where the corrected statement itself ends: at a comma that opens another thought."""
    comma = re.search(r",\s|;\s", text[start:end])
    return start + comma.start() if comma and comma.start() > _MIN else end


def _task(text: str, start: int, end: int) -> Iterator[Found]:
    """A one-off request: kept and counted, folded in the queue (spec 4.8)."""
    words = text[start:end]
    if _TASK.match(words) and _TASK_MIN <= len(words.strip()) <= _TASK_MAX and "\n" not in words:
        yield Found(start, end - (len(words) - len(words.rstrip())), _K.GOAL, "one-off")


def restated(text: str) -> Iterator[Found]:
    """What an agent repeats as if it were settled; its own words prove nothing."""
    for start, line, _listed in prose.lines(text, _continues):
        for a, b in prose.sentences(line):
            words = line[a:b]
            if words.rstrip().endswith("?") or prose.heading(words) is not None:
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
    if method == "explicit-request" and _says_nothing(words):
        return
    if method in ("preference", "decision") and _ANSWERS.search(words):
        return
    if method == "correction" and _PASSING.search(words):
        return
    yield Found(start, end, kind, method)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Every sentence of a message's own prose: outside code, quotes and headings."""
    return prose.spoken(text, _continues)


def passing(words: str) -> bool:
    """True for words that bind only here and now, whatever else they say."""
    return _TASKISH.search(words) is not None


def _continues(words: str, line: str, listed: bool) -> bool:
    """True when `line` goes on with the paragraph: wrapped, not a new sentence of its own."""
    plain = line.strip()
    if _LABEL.match(plain):
        return False
    goes_on = plain[:1].islower() or (listed and line.startswith("  "))
    return not words.rstrip().endswith((".", "!", "?", ":")) and goes_on


def _says_nothing(words: str) -> bool:
    """True when somebody asks to remember a thing that only stands elsewhere."""
    if _ASKED_ABOUT.match(words):
        return True
    return bool(_NAMED.match(words)) and not _STATES_SOMETHING.search(words)


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
