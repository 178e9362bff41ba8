"""How a conversation is written: the owner's words in full, what tools did in one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.evidence.conversation import Item, Key, Shape, boundary_of, call_of, items
from tui.theme import Glyphs
from tui.widgets.conversation import Block, Stretch
from tui.widgets.lines import Cells, fit, justified, width_of, wrap

if TYPE_CHECKING:
    from schemas.evidence import Event
    from schemas.storage import Turn

_SAID_ROWS = 24
_INSIDE_ROWS = 40
_AROUND = 1_200
_FIRST_WORDS = 300
_IMAGE = "[image"


@dataclass(frozen=True, slots=True)
class Focus:
    """A span that is to be seen in its event: the one a candidate cites, or what a search found."""

    event: Event
    """With its whole text."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Style:
    """Everything besides the events that decides how they are written."""

    width: int
    glyphs: Glyphs
    session: str
    open: frozenset[Key] = field(default_factory=frozenset)
    """Where what is folded was unfolded."""
    focus: Focus | None = None


def mask(text: str) -> str:
    """Credentials out of sight; screening is loaded with the first text, not the first frame."""
    from core.screening import mask as hide

    return hide(text)


def amount(size: int) -> str:
    """Bytes in three digits and a unit."""
    value, unit = float(size), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if value < 1_000:
            break
        value, unit = value / 1_000, bigger
    return f"{value:.1f} {unit}" if value < 10 and unit != "B" else f"{value:.0f} {unit}"


def stretch(turns: Sequence[Turn], style: Style) -> Stretch:
    """Neighbouring events as blocks of rows; touches no widget, so it runs in a thread."""
    out: list[Block] = []
    file = turns[0].spot[0] if turns else 0
    for item in items(turns, style.session, style.open):
        rows = _WRITERS[item.shape](item, style)
        lead = 0
        if item.first.spot[0] != file:
            file, lead = item.first.spot[0], 1
            rows = [_rule("the next file of this session", "", style), *rows]
        out.append(Block(item.key, rows, item, lead))
    return Stretch(out, (tuple(turns), style))


# rows


def _prefix(e: Event, sign: str, depth: int, name: str = "") -> str:
    who = name or e.author.value
    return f"{sign} {'  ' * depth}{e.line:>5} {who:<8} "


def _first_words(text: str) -> str:
    return " ".join(mask(text[:_FIRST_WORDS]).split())


def _folds(item: Item, style: Style) -> str:
    g = style.glyphs
    return g.unfolded if item.key in style.open else g.folded


def _said(item: Item, style: Style) -> list[Cells]:
    e, g = item.first.event, style.glyphs
    owner = e.author.value == "owner"
    role = "owner" if owner else "muted" if e.author.value in ("system", "tool") else "text"
    sign = g.quote if owner else " "
    lead = _prefix(e, sign, item.depth)
    if style.focus is not None and style.focus.event.id == e.id:
        return _focused(style.focus, lead, sign, role, style)
    rows = list(_paragraphs(mask(e.text) or f"({e.kind.value}, no words)", lead, sign, role, style))
    more = len(rows) - _SAID_ROWS
    left = item.first.size - len(e.text.encode()) if e.truncated else 0
    shown = rows[:_SAID_ROWS] if more > 2 or left else rows
    if len(shown) < len(rows) or left:
        cut = f"{g.gap} {left:,} more bytes" if left else f"{g.gap} {more:,} more rows"
        shown.append([(f"{' ' * len(lead)}{cut}, v reads all {amount(item.first.size)}", "accent")])
    if _IMAGE in e.text:
        # What a picture weighs is known of its whole record alone.
        size = f"the record with its images is {amount(e.byte_length)}"
        shown.append([(sign + " " * (len(lead) - 1), "accent"), (size, "muted")])
    return shown


def _paragraphs(text: str, lead: str, sign: str, role: str, style: Style) -> Iterator[Cells]:
    """A text line by line, each wrapped beside its sign."""
    width = max(8, style.width - len(lead))
    accent = "accent" if sign.strip() else "muted"
    for line in text.split("\n"):
        for row in wrap([(line.removesuffix("\r"), role)], width):
            yield [(lead, accent), *row]
            lead = sign + " " * (len(lead) - 1)


def _focused(focus: Focus, lead: str, sign: str, role: str, style: Style) -> list[Cells]:
    """The message around a span of it, the span between marks."""
    data, g = focus.event.text.encode(), style.glyphs
    first, last = max(0, focus.start - _AROUND), focus.end + _AROUND
    left = len(data) - last
    pieces = [
        (f"({first:,} bytes before) " if first else "", "muted"),
        (mask(data[first : focus.start].decode("utf-8", "ignore")), role),
        (g.open + mask(data[focus.start : focus.end].decode("utf-8", "replace")) + g.close, "mark"),
        (mask(data[focus.end : last].decode("utf-8", "ignore")), role),
        (f" ({left:,} more bytes, v reads all)" if left > 0 else "", "accent"),
    ]
    lines: list[list[tuple[str, str]]] = [[]]
    for text, part in pieces:
        head, *rest = text.split("\n")
        lines[-1].append((head, part))
        lines += [[(r, part)] for r in rest]
    rows: list[Cells] = []
    for line in lines:
        for row in wrap(line, max(8, style.width - len(lead))):
            rows.append([(lead, "accent"), *row])
            lead = sign + " " * (len(lead) - 1)
    return rows


def _one_row(lead: str, cells: Cells, right: Cells, width: int) -> Cells:
    return justified([(lead, "muted"), *cells], right, width)


def _tool(item: Item, style: Style) -> list[Cells]:
    e, g = item.first.event, style.glyphs
    lead = _prefix(e, " ", item.depth, "tool")
    sign = _folds(item, style)
    result = item.turns[1] if len(item.turns) > 1 else None
    if e.kind.value == "tool_result":
        cells: Cells = [(f"{sign} result ", "muted"), (_first_words(e.text), "muted")]
        result = item.first
    else:
        call = call_of(e.text)
        about = _first_words(call.what.removeprefix(f"{e.scope}/") if e.scope else call.what)
        changed = [(f"  +{call.added:,}", "add")] if call.added is not None else []
        changed += [(f" -{call.removed:,}", "del")] if call.removed is not None else []
        room = style.width - len(lead) - width_of(changed) - 14
        cells = [
            (f"{sign} ", "muted"),
            *fit([(call.name, "text"), (f" {about}", "muted")], max(8, room)),
            *changed,
        ]
    rows = [_one_row(lead, cells, _result_mark(result, g), style.width)]
    if item.key in style.open:
        for turn in item.turns:
            rows += _inside(turn, len(lead), style)
    return rows


def _result_mark(result: Turn | None, g: Glyphs) -> Cells:
    if result is None:
        return [("no result ", "muted")]
    notes = result.event.notes
    bad = [(f"{n} ", "bad" if n == "error" else "warn") for n in ("error", "partial") if n in notes]
    return [*bad, (f"{g.arrow} {amount(result.size)} ", "muted")]


def _inside(turn: Turn, indent: int, style: Style) -> list[Cells]:
    """The words of what was unfolded."""
    e, g = turn.event, style.glyphs
    pad = " " * indent
    rows = list(_paragraphs(mask(e.text), pad, " ", "muted", style))
    if e.kind.value == "tool_result":
        title = f"{pad}{g.arrow} L{e.line} {g.dot} {turn.size:,} bytes"
        rows.insert(0, [(title, "accent")])
    if e.truncated or len(rows) > _INSIDE_ROWS:
        rows = rows[:_INSIDE_ROWS]
        rows.append([(f"{pad}{g.gap} more, v reads all {amount(turn.size)}", "accent")])
    return rows


def _reasoning(item: Item, style: Style) -> list[Cells]:
    turn = item.first
    lead = _prefix(turn.event, " ", item.depth)
    cells = [
        (f"{_folds(item, style)} reasoning  ", "muted"),
        (_first_words(turn.event.text), "muted"),
    ]
    rows = [_one_row(lead, cells, [(f"{amount(turn.size)} ", "muted")], style.width)]
    if item.key in style.open:
        rows += _inside(turn, len(lead), style)
    return rows


def _rule(title: str, right: str, style: Style) -> Cells:
    rule = style.glyphs.rule
    end = [(f" {right} {rule * 2}", "rule")] if right else []
    return justified([(f"{rule * 2} {title} ", "rule")], end, style.width, rule)


def _summary(item: Item, style: Style) -> list[Cells]:
    turn = item.first
    title = f"{_folds(item, style)} summary {style.glyphs.dot} {_first_words(turn.event.text)}"
    rows = [_rule(title, f"L{turn.event.line} {style.glyphs.dot} {amount(turn.size)}", style)]
    if item.key in style.open:
        rows += _inside(turn, 3, style)
    return rows


def _boundary(item: Item, style: Style) -> list[Cells]:
    e, dot = item.first.event, f" {style.glyphs.dot} "
    trigger, tokens = boundary_of(e.text)
    parts = ["compacted here", _first_words(trigger)]
    parts.append(f"{tokens:,} tokens before" if tokens is not None else "")
    return [_rule(dot.join(p for p in parts if p), f"L{e.line}", style)]


def _quiet(item: Item, style: Style) -> list[Cells]:
    kinds: dict[str, int] = {}
    for turn in item.turns:
        kinds[turn.event.kind.value] = kinds.get(turn.event.kind.value, 0) + 1
    what = ", ".join(f"{n:,} {k}" for k, n in kinds.items())
    lead = _prefix(item.first.event, " ", 0, "-")
    first = next((w for t in item.turns if (w := _first_words(t.event.text))), "")
    if item.depth:
        return _said(item, style)
    cells = [(f"{_folds(item, style)} {what}  ", "muted"), (first, "muted")]
    return [_one_row(lead, cells, [], style.width)]


def _subagent(item: Item, style: Style) -> list[Cells]:
    e = item.first.event
    lead = _prefix(e, " ", 0, "subagent")
    name = e.session.removeprefix(style.session).strip("/")[:24]
    many = len(item.turns)
    count = f"{many:,} event{'s' if many != 1 else ''}"
    cells = [
        (f"{_folds(item, style)} ", "muted"),
        (f"{name}  " if name else "", "text"),
        (_first_words(e.text), "muted"),
    ]
    return [_one_row(lead, cells, [(f"{count} ", "muted")], style.width)]


def _unparsed(item: Item, style: Style) -> list[Cells]:
    e = item.first.event
    lead = _prefix(e, " ", item.depth, "unparsed")
    where = f"bytes {e.byte_start:,}-{e.byte_start + e.byte_length:,}  "
    words = _first_words(e.text)
    return [_one_row(lead, [(where, "warn"), (words, "muted")], [], style.width)]


_WRITERS = {
    Shape.SAID: _said,
    Shape.TOOL: _tool,
    Shape.REASONING: _reasoning,
    Shape.SUMMARY: _summary,
    Shape.BOUNDARY: _boundary,
    Shape.QUIET: _quiet,
    Shape.SUBAGENT: _subagent,
    Shape.UNPARSED: _unparsed,
}
