"""How a compaction is written out: the window by segment, an item where it was, the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.evidence.own import handed_out
from core.wording import age
from tui.panes import candidate_text
from tui.theme import Glyphs
from tui.widgets.document import Line
from tui.widgets.text import exact, header, name_of

if TYPE_CHECKING:
    from schemas.compaction import Boundary, Count, Item, Observation
    from tui.cutting import Where

_BAR = 9
_SHOWN = 600
_STATES = {
    "missing": "missing from the summary",
    "reworded": "reworded in the summary",
    "verbatim": "word for word",
    "unknown": "can't be told",
    "not-a-loss": "not a loss",
}
_CLASSES = {
    "standing": "standing instruction",
    "task": "open task",
    "one-off": "one-off request",
    "evidence": "live action",
}
SHORT = {"standing": "rule", "task": "task", "one-off": "once", "evidence": "live"}
"""Classes as lists show them."""
ROLES = {
    "missing": "bad",
    "reworded": "warn",
    "unknown": "warn",
    "verbatim": "good",
    "not-a-loss": "muted",
}
"""Roles of the states; the sign says the same."""
_HOSTS = {"claude-code": "claude"}


def sign(state: str, g: Glyphs) -> str:
    """The sign of a state."""
    return {
        "missing": g.rejected,
        "reworded": g.edited,
        "unknown": "?",
        "verbatim": g.promoted,
        "not-a-loss": g.dot,
    }[state]


def size(count: Count | None) -> str:
    """Tokens; `~` marks an estimate."""
    return "?" if count is None else f"{'' if count.stated else '~'}{count.tokens:,}"


def outcome(b: Boundary) -> str:
    """What a compaction came to, in few words."""
    if b.lost:
        words = [f"{n} {SHORT[c]}{'s' if n > 1 else ''}" for c, n in sorted(b.lost.items())]
        return "lost " + " ".join(words)
    if b.summary.value == "none":
        return "tool results only"
    if b.counts.get("unknown"):
        return "can't be told"
    bound = b.counts.get("verbatim", 0) + b.counts.get("reworded", 0)
    return "all kept" if bound else "nothing that binds"


def title(o: Observation, b: Boundary, g: Glyphs) -> str:
    """A compaction in one row."""
    host = _HOSTS.get(o.host, o.host)
    sizes = f"{size(b.before)}{g.arrow}{size(b.after)}"
    return f"{host} {o.session[:8]} {b.trigger} {sizes}"


def window(o: Observation, b: Boundary, now: int, g: Glyphs) -> list[Line]:
    """What a cut did: in a sentence, by segment, and what the figures are worth."""
    count = b.counts
    rules = sum(i.class_.value == "standing" and i.state.value != "not-a-loss" for i in b.items)
    tasks = sum(i.class_.value == "task" and i.state.value != "not-a-loss" for i in b.items)
    lines = [
        Line(
            [
                (f" The host cut this session at L{b.line}, {age(b.time, now)} ago. ", "text"),
                (
                    f"In the window were {rules} standing instructions and {tasks} open tasks. ",
                    "text",
                ),
                (_sentence(b, count), "text"),
            ],
            indent=1,
        ),
        Line(),
    ]
    widest = max((c.tokens for s in b.segments for c in (s.before, s.after) if c), default=0)
    lines.append(Line([(f" {'segment':<17}{'before':>9}{'':{_BAR + 1}} {'after':>9}", "muted")]))
    for s in b.segments:
        lines.append(
            Line(
                [
                    (f" {s.name:<17}", "text"),
                    (f"{size(s.before):>9} ", "text"),
                    (f"{_bar(s.before, widest, g):<{_BAR}} ", "accent"),
                    (f"{size(s.after):>9} ", "text"),
                    (_bar(s.after, widest, g), "accent"),
                ]
            )
        )
    lines.append(
        Line([(f" {'in all':<17}{size(b.before):>9} {'':{_BAR}} {size(b.after):>9}", "text")])
    )
    if b.window and b.before:
        free = b.window - b.before.tokens
        share = f"{100 * free / b.window:.1f}%"
        lines.append(Line([(f" {'free':<17}{free:>9,} {share} of {b.window:,}", "text")]))
    lines += [Line(), *(Line([(f" {code}   w says why", "warn")]) for code in b.reasons)]
    note = (
        " ~ an estimate: bytes divided by four; prompt and tools are the rest of what the host"
        " states. Figures without ~ are the host's own."
    )
    lines.append(Line([(note, "muted")], indent=3))
    if b.copy_of:
        lines.append(Line([(" Copied from the session this one was forked from.", "muted")]))
    keys = [("enter", "unfolds its items"), (") (", "next, previous"), ("]", "the summary")]
    for key, what in keys:
        lines.append(Line([(f" {key:<6}", "accent"), (what, "muted")]))
    return lines


def _sentence(b: Boundary, count: dict[str, int]) -> str:
    total = sum(count.get(k, 0) for k in ("verbatim", "reworded", "missing", "unknown"))
    if b.summary.value == "none":
        return f"It dropped {count.get('results-cleared', 0)} tool results and wrote no summary."
    if not total:
        return "Nothing in it binds."
    words = (
        f"Of these {total} the summary keeps {count.get('verbatim', 0)} word for word, rewords "
        f"{count.get('reworded', 0)} and drops {count.get('missing', 0)}."
    )
    unknown = count.get("unknown", 0)
    return words + (f" Of {unknown} nothing can be told." if unknown else "")


def _bar(count: Count | None, widest: int, g: Glyphs) -> str:
    if count is None or not widest:
        return ""
    return g.bar * round(_BAR * count.tokens / widest)


def item(i: Item, where: Where, now: int, g: Glyphs, *, narrow: bool) -> list[Line]:
    """An item: what became of it, where it was, what the summary says, what happened since."""
    state = i.state.value
    lines = [
        Line([(f" {sign(state, g)} {_STATES[state]}", ROLES[state])]),
        Line(),
        Line([(f" “{candidate_text.mask(i.quote)}”", "owner")], indent=2),
        Line(
            [
                (
                    f" {i.author.value} {g.dot} session:{i.session[:8]}#L{i.line} {g.dot} "
                    f"{age(i.time, now)} ago {g.dot} {_CLASSES[i.class_.value]}",
                    "muted",
                )
            ],
            indent=1,
        ),
    ]
    lines += [Line([(f" {code}   w says why", "warn")]) for code in i.reasons]
    if i.call:
        lines.append(Line([(f" call {i.call}", "muted")]))
    if i.mark is not None:
        m = i.mark
        said = f" {name_of(m.reviewer)}, {exact(m.time)}: {m.verdict.value}"
        lines.append(Line([(said + (f", “{m.reason}”" if m.reason else ""), "text")], indent=1))
    shown = candidate_text.surroundings(where.source, where.around, where.passage, g)
    was = [header("where it was", f"L{i.line}", g), *shown]
    said_near = _nearest(i, g)
    lines += [*said_near, *_since(i, g), *_back(i, g), *was] if narrow else [
        *was, *said_near, *_since(i, g), *_back(i, g)
    ]  # fmt: skip
    return lines


def _nearest(i: Item, g: Glyphs) -> list[Line]:
    if i.nearest is None:
        if i.state.value != "missing" or i.class_.value == "evidence":
            return []
        lines = [header("what the summary says nearest", "", g)]
        return [*lines, Line([(" Nothing like it is there.", "muted")])]
    lines = [header("what the summary says nearest", f"summary line {i.nearest.line}", g)]
    lines.append(Line([(f" “{candidate_text.mask(i.nearest.quote[:_SHOWN])}”", "text")], indent=2))
    if i.state.value == "missing":
        lines.append(Line([(" The words themselves are not there.", "muted")]))
    return lines


def _since(i: Item, g: Glyphs) -> list[Line]:
    if not i.since:
        return []
    lines = [header("since then, perhaps against it", str(len(i.since)), g)]
    for q in i.since:
        words = " ".join(candidate_text.mask(q.quote[:_SHOWN]).split())
        lines.append(Line([(f" ! L{q.line} ", "warn"), (words, "text")], indent=3))
    return lines


def _back(i: Item, g: Glyphs) -> list[Line]:
    if i.class_.value == "evidence":
        return []
    keys = [
        ("Y", "copy as a message for the agent, with its origin"),
        ("m", f"make it a candidate, L{i.line} as its source"),
        ("A", "make it a candidate, accept it and open its preview"),
        ("o", "read it in its conversation; backspace comes back"),
        ("r", "not a loss (recorded, with a reason)"),
        ("s", "correct: standing instruction or one-off request"),
    ]
    lines = [header("put it back", "", g)]
    return [*lines, *(Line([(f" {k}  ", "accent"), (what, "muted")]) for k, what in keys)]


def summary(text: str, g: Glyphs) -> list[Line]:
    """The host's summary, whole."""
    lines = [header("the host's summary: an agent's words, no evidence", "", g)]
    masked = candidate_text.mask(text)
    return [*lines, *(Line([(f" {row}", "text")], indent=1) for row in masked.split("\n"))]


def copied(i: Item) -> str:
    """An item as a message to paste: the words, and where they were said."""
    origin = f"session:{i.session}#L{i.line}, {exact(i.time)}, by the {i.author.value}"
    what = _CLASSES[i.class_.value]
    quote = candidate_text.mask(i.quote)
    return handed_out(quote, what, origin)
