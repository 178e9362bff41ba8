"""How a candidate is written out: evidence in its surroundings, what changed, its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.textdiff import words
from tui.theme import STATE_ROLE, Glyphs
from tui.widgets.document import Line
from tui.widgets.text import age, exact, header, name_of, short

if TYPE_CHECKING:
    from schemas.candidates import CandidateVersion, Related, Source
    from schemas.evidence import Event
    from tui.client import Detail
    from tui.widgets.rows import Group

_AROUND = 1_500
_NEAR = 600
_QUOTE = 8_000


def mask(text: str) -> str:
    """Credentials out of sight; screening is loaded with the first detail, not the first frame."""
    from core.screening import mask as hide

    return hide(text)


_GROUPS = {
    0: "They contradict something that stands: in memory, or waiting beside them.",
    1: "The owner asked for these, in so many words.",
    2: "Decisions and labelled facts, said by the owner or written in a document.",
    3: "The owner asked for these once; done, they are no memory.",
    4: "Agents said these as if they were settled; no words of the owner stand behind them.",
}


def group(g: Group, glyphs: Glyphs) -> list[Line]:
    """What a group holds, and what a key on its header does."""
    fold = "unfolds" if g.folded else "folds"
    return [
        Line(),
        Line([(f" {_GROUPS.get(g.key, '')}", "text")], indent=1),
        Line(),
        Line(
            [
                (" r d a ", "accent"),
                (f" decide on exactly these {g.count:,}, one decision each;", "muted"),
            ]
        ),
        Line([("        the bar names the count and what the filter hides first.", "muted")]),
        Line([(" enter ", "accent"), (f" {fold} the group", "muted")]),
        Line(
            [
                (" ( )   ", "accent"),
                (f" previous, next group {glyphs.dot} u undoes a group at once", "muted"),
            ]
        ),
    ]


def evidence(d: Detail, now: int, g: Glyphs) -> list[Line]:
    """Statement, hazards, conflicts, and the source between its neighbours."""
    v, dot = d.version, f" {g.dot} "
    facts = [v.kind.value, v.key, v.scope, v.classification.value, f"{age(v.created, now)} ago"]
    lines = [
        Line([(" " + v.statement, "owner")], indent=1),
        Line([(" " + dot.join([*facts, f"found as {v.method}"]), "muted")], indent=1),
        Line(),
    ]
    for h in v.hazards:
        gate = "blocks acceptance" if h.gate.value == "block" else "must be acknowledged"
        lines.append(
            Line([(f" # {h.code}", "bad"), (f"  {gate}; enter says why", "muted")], indent=3)
        )
    for related in v.conflicts:
        lines += _conflict(v, related, g)
    for related in v.duplicates:
        text = f" = {related.code}   {related.layer} {short(related.ref)}"
        lines.append(Line([(text, "warn")], indent=3))
    if v.hazards or v.conflicts or v.duplicates:
        lines.append(Line())
    for n, source in enumerate(v.sources):
        lines += _source(source, n + 1, len(v.sources), now, g)
        if n == 0:
            lines += _surroundings(source, d.around, g)
        else:
            lines.append(
                Line([(f" {g.quote} ", "accent"), (source.quote[:_QUOTE], "owner")], indent=3)
            )
    return lines


def _conflict(v: CandidateVersion, related: Related, g: Glyphs) -> list[Line]:
    left, right = words(related.statement, v.statement)
    where = f" ! {related.code}   {related.layer} {short(related.ref)}"
    return [
        Line([(where, "warn")], indent=3),
        Line([(" - ", "del"), *marked(related.statement, left, "del", g)], indent=3),
        Line([(" + ", "add"), *marked(v.statement, right, "add", g)], indent=3),
    ]


def marked(text: str, spans: list[tuple[int, int]], role: str, g: Glyphs) -> list[tuple[str, str]]:
    """Words with their changed spans between marks, so that colour is never needed."""
    out: list[tuple[str, str]] = []
    at = 0
    for start, end in spans:
        out += [(text[at:start], "text"), (f"{g.open}{text[start:end]}{g.close}", role)]
        at = end
    return [*out, (text[at:], "text")]


def _source(s: Source, n: int, total: int, now: int, g: Glyphs) -> list[Line]:
    state = "unchanged" if s.state == "current" else s.state
    title = f"source {n} of {total} {g.dot} {s.author}"
    where = f" session:{s.session[:36]}#L{s.line} {g.dot} {age(s.time, now)} {g.dot} {state}"
    role = "muted" if s.state == "current" else "bad"
    return [header(title, "", g), Line([(where, role)], indent=1)]


def nearest(d: Detail, count: int) -> Sequence[Event]:
    """The first source's event and at most `count` neighbours on either side."""
    own = next((i for i, e in enumerate(d.around) if e.id == d.version.sources[0].event), 0)
    return d.around[max(0, own - count) : own + count + 1]


def _mask(text: str) -> str:
    """Secrets that stand beside a quote; loaded late, screening brings pydantic along."""
    from core.screening import mask

    return mask(text)


def _surroundings(source: Source, around: Sequence[Event], g: Glyphs) -> list[Line]:
    lines: list[Line] = []
    for event in around:
        own = event.id == source.event
        place = f"{event.line:>5} {event.author.value:<8} "
        if own:
            lines += _own(event, source, place, g)
            continue
        text = " ".join(_mask(event.text[:_NEAR]).split()) or f"({event.kind.value})"
        shown = text if len(text) <= 240 else f"{text[:240]}…"
        lines.append(Line([("  " + place, "muted"), (shown, "muted")], indent=17))
    return lines


def _own(event: Event, source: Source, place: str, g: Glyphs) -> list[Line]:
    """The message itself: the quote between marks, at most so much of it on either side."""
    data = event.text.encode()
    first, last = max(0, source.start - _AROUND), source.end + _AROUND
    before = data[first : source.start].decode("utf-8", "ignore")
    after = data[source.end : last].decode("utf-8", "ignore")
    left = len(data) - last
    quote, more = source.quote[:_QUOTE], len(source.quote) - _QUOTE
    pieces: list[tuple[str, str]] = [
        (f"(… {first:,} bytes before) " if first else "", "muted"),
        (_mask(before), "text"),
        (f"{g.open}{quote}", "owner"),
        (f" (… {more:,} more characters quoted) " if more > 0 else "", "muted"),
        (g.close, "owner"),
        (_mask(after), "text"),
        (f" (… {left:,} bytes after)" if left > 0 else "", "muted"),
    ]
    lines: list[Line] = []
    row: list[tuple[str, str]] = [(f" {g.quote}{place}", "accent")]
    for text, role in pieces:
        head, *rest = text.split("\n")
        row.append((head, role))
        for part in rest:
            lines.append(Line(row, indent=17))
            row = [(f" {g.quote}{' ' * len(place)}", "accent"), (part, role)]
    return [*lines, Line(row, indent=17)]


def change(d: Detail, _now: int, g: Glyphs) -> list[Line]:
    """What changed since the version last decided, or since the one before."""
    old, new = d.base, d.version
    if old is None:
        return [Line([(" This is the first version.", "muted")])]
    left, right = words(old.statement, new.statement)
    state = old.state.value
    if old.decision:
        state = f"{state} by {name_of(old.decision.actor.reviewer)}"
    lines = [
        header(f"@{old.version} {g.arrow} @{new.version}", f"@{old.version} {state}", g),
        Line([(" - ", "del"), *marked(old.statement, left, "del", g)], indent=3),
        Line([(" + ", "add"), *marked(new.statement, right, "add", g)], indent=3),
        Line(),
    ]
    if old.statement == new.statement:
        lines.append(Line([(" The words are the same; the version was opened again.", "muted")]))
    if new.editor:
        lines.append(Line([(f" edited by {new.editor}", "muted")], indent=1))
    return lines


def history(d: Detail, now: int, g: Glyphs) -> list[Line]:
    """Every version, its decision, by whom, when, through which door."""
    lines: list[Line] = []
    for v in reversed(d.versions):
        shown = " (shown)" if v.version == d.version.version else ""
        state = v.state.value
        lines.append(header(f"@{v.version}{shown}", exact(v.created), g))
        lines.append(
            Line(
                [(f" {g.state(state)} {state}", STATE_ROLE[state]), (f"  {v.statement}", "text")],
                indent=3,
            )
        )
        if v.renews:
            lines.append(Line([(f"   reopened from @{v.renews}", "muted")]))
        if v.editor:
            lines.append(Line([(f"   edited by {v.editor}", "muted")], indent=3))
        if v.decision:
            who = v.decision.actor
            verdict = f"   {v.decision.verdict.value} by {who.reviewer}"
            text = f"{verdict} {g.dot} {exact(v.decision.time)} {g.dot} {who.door.value}"
            lines.append(Line([(text, "muted")], indent=3))
            if who.agent:
                lines.append(Line([(f"   decided inside {who.agent}'s process tree", "warn")]))
            if v.decision.reason:
                lines.append(Line([(f"   “{v.decision.reason}”", "text")], indent=3))
            for code in v.decision.acknowledged:
                lines.append(Line([(f"   acknowledged {code}", "muted")]))
    return lines
