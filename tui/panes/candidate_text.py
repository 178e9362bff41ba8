"""How a candidate is written out: evidence in its surroundings, what changed, its history."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from core.safe_text import Shown, visible
from core.textdiff import words
from core.wording import age, ago
from tui.theme import STATE_ROLE, Glyphs
from tui.widgets.document import Line
from tui.widgets.text import day, exact, header, name_of, short

if TYPE_CHECKING:
    from core.evidence.lookup import Passage
    from schemas.candidates import CandidateVersion, Related, Source
    from schemas.evidence import Event
    from tui.client import Detail
    from tui.widgets.rows import Group

_NEAR = 600
_QUOTE = 8_000


def mask(text: str) -> str:
    """Credentials out of sight; screening is loaded with the first detail, not the first frame."""
    from core.screening import mask as hide

    return hide(text)


_GROUPS: dict[int | str, str] = {
    0: "They contradict something that stands: in a rule file, in memory, or waiting beside them.",
    1: "The owner asked for these, in so many words.",
    2: "Decisions and labelled facts, said by the owner or written in a document.",
    3: "The owner asked for these once; done, they are no memory.",
    4: "Agents said these as if they were settled; no words of the owner stand behind them.",
    5: "A rule file says these already; agents are told them at every start.",
}


def group(g: Group, glyphs: Glyphs, marked: int) -> list[Line]:
    """What a group holds, and what a key on its header does; with marks, that is no decision on it."""
    fold = "unfolds" if g.folded else "folds"
    lines = [Line(), Line([(f" {_GROUPS.get(g.key, '')}", "text")], indent=1), Line()]
    if marked or g.open:
        what = f"{_on_marks(marked)}, not on this group" if marked else _these(g.open)
        bar = "        the bar names the count and what is hidden first."
        lines += [
            Line([(" r d a ", "accent"), (f" {what};", "muted")], indent=8),
            Line([(bar, "muted")], indent=8),
        ]
    return [
        *lines,
        Line([(" enter ", "accent"), (f" {fold} the group", "muted")]),
        Line(
            [
                (" ( )   ", "accent"),
                (f" previous, next group {glyphs.dot} u undoes a group at once", "muted"),
            ]
        ),
    ]


def _these(count: int) -> str:
    if count == 1:
        return "decide on exactly this one"
    return f"decide on exactly these {count:,}, one decision each"


def evidence(d: Detail, now: int, g: Glyphs, *, narrow: bool) -> list[Line]:
    """Statement, hazards, conflicts, and the source between its neighbours.

    Where there is little room the message itself comes first in it: what can be found in History
    is left out.
    """
    v, dot = d.version, f" {g.dot} "
    facts = [v.kind.value, v.key, v.scope, v.classification.value]
    if not narrow:
        facts += [f"proposed {ago(v.created, now)}", f"found as {v.method}"]
    lines = [Line([(" " + v.statement, "owner")], indent=1)]
    about = [(" " + dot.join(facts), "muted")]
    lines += [Line(about, right=[(" ", "text")], fill=" ") if narrow else Line(about, indent=1)]
    lines += [Line()]
    lines += _attention(d, now, g)
    for n, source in enumerate(v.sources):
        lines += _source(source, n + 1, len(v.sources), now, g, narrow=narrow)
        if n == 0:
            lines += surroundings(source, d.around, d.passage, g)
        else:
            lines.append(
                Line([(f" {g.quote} ", "accent"), (source.quote[:_QUOTE], "owner")], indent=3)
            )
    return lines


def _attention(d: Detail, now: int, g: Glyphs) -> list[Line]:
    """What stands in the way or beside: hazards, conflicts, duplicates, what the wiki still says."""
    v, lines = d.version, []
    for h in v.hazards:
        blocks = h.gate.value == "block"
        sign, role = ("#", "bad") if blocks else ("!", "warn")
        gate = "blocks acceptance" if blocks else "must be acknowledged"
        lines.append(
            Line([(f" {sign} {h.code}", role), (f"  {gate}; enter says why", "muted")], indent=3)
        )
    decision = v.decision
    if v.state.value == "deferred" and decision:
        until = f" until {day(decision.until)}" if decision.until else ""
        back = ", that is now" if decision.until and decision.until <= now else ""
        text = f"deferred{until}{back} by {name_of(decision.actor.reviewer)}"
        lines.append(Line([(f" {g.deferred} {text}", "warn" if back else "muted")], indent=3))
    for related in v.conflicts:
        lines += _beside("!", related, v.statement, now, g)
    lines += [_named("=", related, now, g) for related in v.duplicates]
    for related in v.near[:_NEAREST]:
        lines += _beside("~", related, v.statement, now, g)
    if more := len(v.near) - _NEAREST:
        text = f"   {more} more in the tab Near" if more > 0 else ""
        lines += [Line([(text, "muted")])] if text else []
    lines += [Line([(" ~ the wiki   ", "warn"), (told, "text")], indent=3) for told in d.leftovers]
    return [*lines, Line()] if lines else []


_NEAREST = 2
_END = " .;!"
"""A full stop more or less is no difference."""


def where(related: Related, now: int, g: Glyphs) -> str:
    """Where another statement stands, through whom, since when; a rule stands in its file."""
    if related.rule:
        return related.ref
    parts = [f"{related.state or 'in memory'} {short(related.ref)}"]
    parts += [related.layer] if related.state is None else []
    since = ago(related.since, now) if related.since is not None else ""
    parts += [", ".join(x for x in (name_of(related.by), since) if x)]
    return f" {g.dot} ".join(p for p in parts if p)


def _named(sign: str, related: Related, now: int, g: Glyphs) -> Line:
    """The code of what stands beside, and where that is."""
    return Line([(f" {sign} {related.code}   {where(related, now, g)}", "warn")], indent=3)


def _beside(sign: str, related: Related, statement: str, now: int, g: Glyphs) -> list[Line]:
    """Another statement and this one, with the words that differ between marks."""
    left, right = words(related.statement.rstrip(_END), statement.rstrip(_END))
    return [
        _named(sign, related, now, g),
        Line([(" - ", "del"), *marked(related.statement, left, "del", g)], indent=3),
        Line([(" + ", "add"), *marked(statement, right, "add", g)], indent=3),
    ]


def near(d: Detail, now: int, g: Glyphs) -> list[Line]:
    """Every statement that says the same or nearly the same, with its difference."""
    v = d.version
    lines = [Line([(" " + v.statement, "owner")], indent=1), Line()]
    lines += [_named("=", related, now, g) for related in v.duplicates]
    for related in v.near:
        lines += [*_beside("~", related, v.statement, now, g), Line()]
    return lines


def versions(d: Detail, now: int, g: Glyphs) -> list[Line]:
    """All versions in a row each, newest first, the shown one marked."""
    lines = [Line(), header("versions", "ages since made", g)]
    for v in list(reversed(d.versions))[:_VERSIONS]:
        state, shown = v.state.value, v.version == d.version.version
        words_ = "the words of its source" if v.editor is None else f"edited by {name_of(v.editor)}"
        text = words_ if shown else f"“{v.statement[:200]}”"
        cells = [
            (f" @{v.version:<3} ", "text"),
            (f"{g.state(state)} {state:<10} ", STATE_ROLE[state]),
            (f"{age(v.created, now):>4}  ", "muted"),
            (text, "muted"),
        ]
        right = [(f" {g.here} shown ", "accent")] if shown else []
        lines.append(Line(cells, right=right, fill=" "))
    return lines


_VERSIONS = 5
_KEYS = {
    "pending": (
        ("a", "records your decision on @{n}. Writes no memory."),
        ("A", "the same, then opens the preview of what would be written."),
        ("r d", "reject it, or put it off; s puts it off until a day, R says a reason first."),
        ("e", "opens @{n} in $EDITOR; saving makes @{m}, pending again."),
    ),
    "accepted": (
        ("p", "opens the preview of what would be written. Writes no memory."),
        ("u", "undoes your last decision: @{m}, pending, the same words."),
        ("e", "opens @{n} in $EDITOR; saving makes @{m}, pending again."),
    ),
    "rejected": (("u", "undoes your last decision: @{m}, pending, the same words."),),
}
_KEYS["deferred"] = (*_KEYS["pending"][:2], ("r", "rejects it."), _KEYS["pending"][3])


def keys_on_marks(count: int, g: Glyphs) -> list[Line]:
    """What the keys do while rows are marked, wherever the cursor is."""
    return [
        Line(),
        header("what a key does here", "", g),
        Line([(" r d a ", "accent"), (f" {_on_marks(count)}.", "muted")], indent=8),
        Line([(" *     ", "accent"), (" takes the marks away.", "muted")], indent=8),
    ]


def _on_marks(count: int) -> str:
    if count == 1:
        return "decide on the one marked row"
    return f"decide on the {count:,} marked rows, one decision each"


def keys_here(v: CandidateVersion, g: Glyphs, allowed: Set[str]) -> list[Line]:
    """What the keys valid now do to the version shown; what would be refused is left out."""
    known = [(k, text) for k, text in _KEYS.get(v.state.value, ()) if set(k.split()) <= allowed]
    lines = [Line(), header("what a key does here", "", g)] if known else []
    for key, text in known:
        words_ = text.format(n=v.version, m=v.newest + 1)
        lines.append(Line([(f" {key:<4}", "accent"), (words_, "muted")], indent=5))
    return lines


def marked(text: str, spans: list[tuple[int, int]], role: str, g: Glyphs) -> list[tuple[str, str]]:
    """Words with their changed spans between marks, so that colour is never needed."""
    out: list[tuple[str, str]] = []
    at = 0
    for start, end in spans:
        out += [
            (text[at:start], "text"),
            (Shown(g.open + visible(text[start:end]) + g.close), role),
        ]
        at = end
    return [*out, (text[at:], "text")]


def _source(s: Source, n: int, total: int, now: int, g: Glyphs, *, narrow: bool) -> list[Line]:
    state = "unchanged" if s.state == "current" else s.state
    title = f"source {n} of {total} {g.dot} {s.author}"
    said = f"said {ago(s.time, now)}" if s.time is not None else "said at no stated time"
    place = f" session:{s.session[:8]}#L{s.line} {g.dot} {said} {g.dot} {state}"
    role = "muted" if s.state == "current" else "bad"
    if narrow:
        count = f"{n} of {total} {g.dot} " if total > 1 else ""
        return [Line([(f" {count}{s.author} {g.dot}{place}", role)], indent=1)]
    return [header(title, "", g), Line([(place, role)], indent=1)]


def nearest(d: Detail, count: int) -> Sequence[Event]:
    """The first source's event and at most `count` neighbours on either side."""
    own = next((i for i, e in enumerate(d.around) if e.id == d.version.sources[0].event), 0)
    return d.around[max(0, own - count) : own + count + 1]


def surroundings(
    source: Source, around: Sequence[Event], passage: Passage | None, g: Glyphs
) -> list[Line]:
    """A quoted message between its neighbours, the quote between marks."""
    lines: list[Line] = []
    for event in around:
        own = event.id == source.event
        place = f"{event.line:>5} {event.author.value:<8} "
        if own:
            lines += _own(passage, source, place, g) if passage else []
            continue
        text = " ".join(mask(event.text[:_NEAR]).split()) or f"({event.kind.value})"
        shown = text if len(text) <= 240 else f"{text[:240]}…"
        lines.append(Line([("  " + place, "muted"), (shown, "muted")], indent=17))
    return lines


def _own(around: Passage, source: Source, place: str, g: Glyphs) -> list[Line]:
    """The message itself: the quote between marks, with what stands around it."""
    first, left = around.first, around.left
    quote, more = source.quote[:_QUOTE], len(source.quote) - _QUOTE
    start, *quoted = quote.split("\n")
    pieces: list[tuple[list[str], str]] = [
        ([f"(… {first:,} bytes before) " if first else ""], "muted"),
        (mask(around.before).split("\n"), "text"),
        ([Shown(g.open + visible(start)), *quoted], "owner"),
        ([f" (… {more:,} more characters quoted) " if more > 0 else ""], "muted"),
        ([Shown(g.close)], "owner"),
        (mask(around.after).split("\n"), "text"),
        ([f" (… {left:,} bytes after)" if left > 0 else ""], "muted"),
    ]
    lines: list[Line] = []
    row: list[tuple[str, str]] = [(f" {g.quote}{place}", "accent")]
    for (head, *rest), role in pieces:
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
        shown = f" {g.here} shown" if v.version == d.version.version else ""
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
            until = f" until {day(v.decision.until)}" if v.decision.until else ""
            verdict = f"   {v.decision.verdict.value}{until} by {who.reviewer}"
            text = f"{verdict} {g.dot} {exact(v.decision.time)} {g.dot} {who.door.value}"
            lines.append(Line([(text, "muted")], indent=3))
            if who.agent:
                lines.append(Line([(f"   decided inside {who.agent}'s process tree", "warn")]))
            if v.decision.reason:
                lines.append(Line([(f"   “{v.decision.reason}”", "text")], indent=3))
            for code in v.decision.acknowledged:
                lines.append(Line([(f"   acknowledged {code}", "muted")]))
    return lines
