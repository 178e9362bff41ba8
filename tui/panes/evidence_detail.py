"""What stands beside a list of evidence: a session's figures, an event with what depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.evidence.conversation import Item
from core.wording import age, some
from tui.panes.evidence_text import amount, mask
from tui.theme import STATE_ROLE, Glyphs
from tui.widgets.document import Line
from tui.widgets.text import digest8, exact, header, short

if TYPE_CHECKING:
    from core.evidence.search import Hit
    from schemas.evidence import Dependent, Dependents, Event, SessionRow

_PIECE = 4_000
_CHILDREN = 12
_SHOWN = 8
_SIGNS = {"belief": "promoted", "receipt": "accepted"}


def session(row: SessionRow, children: Sequence[str], now: int, g: Glyphs) -> list[Line]:
    """What a session is and holds."""
    dot = f" {g.dot} "
    lines = [Line([(f" {' '.join(mask(row.title).split())}", "owner")], indent=1)]
    files = f"{row.files:,} file{'s' if row.files != 1 else ''}"
    lines += [
        Line([(f" {dot.join((row.host, row.project or 'no project', files))}", "muted")], indent=1),
        Line([(f" {row.path}", "muted")], indent=1),
        Line(),
        Line([(" first  ", "muted"), (exact(row.first), "text")]),
        Line(
            [(" last   ", "muted"), (exact(row.last), "text"), (f"  {age(row.last, now)}", "muted")]
        ),
        Line(
            [
                (" size   ", "muted"),
                (f"{some(row.events, 'event')}{dot}{amount(row.bytes)}", "text"),
            ]
        ),
        Line(),
        header("who said it", f"{row.events:,}", g),
    ]
    lines += [
        Line([(f" {name:<10}", "owner" if name == "owner" else "muted"), (f"{n:>9,}", "text")])
        for name, n in row.authors.items()
    ]
    lines += [Line(), *_marks(row, g)]
    if children:
        lines += [Line(), header("sub-agents' own sessions", f"{len(children):,}", g)]
        names = [c.removeprefix(row.name).strip("/") for c in children[:_CHILDREN]]
        lines += [Line([(f" {name}", "text")], indent=1) for name in names]
        if more := len(children) - _CHILDREN:
            lines += [Line([(f" {g.gap} {more:,} more", "muted")])] if more > 0 else []
    return [*lines, Line(), Line([(" enter ", "accent"), ("reads it as a conversation", "muted")])]


def _marks(row: SessionRow, g: Glyphs) -> list[Line]:
    lines: list[Line] = []
    if row.boundaries:
        text = f" {g.superseded} compacted by its host {row.boundaries:,} time"
        lines.append(Line([(text + ("s" if row.boundaries != 1 else ""), "warn")]))
    if row.unparsed:
        lines.append(Line([(f" ! {row.unparsed:,} unparsed, kept with their bytes", "warn")]))
    if row.partial:
        text = f" ! {row.partial:,} results the host itself cut (partial)"
        lines.append(Line([(text, "warn")], indent=3))
    return lines or [Line([(f" {g.accepted} every record was understood", "good")])]


def event(item: Item, path: str, found: Dependents | None, now: int, g: Glyphs) -> list[Line]:
    """Where an event stands, down to the byte, and what depends on it."""
    dot = f" {g.dot} "
    lines: list[Line] = []
    if item.run and not item.depth:
        lines += [
            Line([(f" {some(len(item.turns), 'event')}, folded; enter unfolds them", "text")]),
            Line(),
        ]
    for turn in item.turns[: 1 if item.run else None]:
        e = turn.event
        lines += [
            Line(
                [
                    (
                        f" {e.author.value}{dot}{e.kind.value}",
                        "owner" if e.author == "owner" else "text",
                    )
                ]
            ),
            Line([(f" session:{e.session}#L{e.line}", "accent")], indent=1),
            Line([(f" {exact(e.time)}{dot}{age(e.time, now)}", "muted")], indent=1),
            Line([(f" {turn.size:,} bytes of text", "muted")]),
            Line([(f" {_record(e, path, dot)}", "muted")], indent=1),
        ]
        lines += [Line([(f" {n}", "warn")], indent=1) for n in e.notes]
        if e.same_as:
            text = f" repeats {short(e.same_as)}, said before in another file"
            lines.append(Line([(text, "muted")], indent=1))
        lines.append(Line())
    if found is not None:
        lines += _depends(found.items, more=found.more, now=now, g=g)
    return lines


def _record(e: Event, path: str, dot: str) -> str:
    end = e.byte_start + e.byte_length
    part = f"{dot}part {e.part}" if e.part else ""
    return f"bytes {e.byte_start:,}-{end:,} of {path}{part}{dot}{digest8(e.digest)}"


def _depends(items: Sequence[Dependent], *, more: bool, now: int, g: Glyphs) -> list[Line]:
    lines = [header("depends on it", f"{len(items):,}{'+' if more else ''}", g)]
    if not items:
        return [*lines, Line([(" nothing; m makes a candidate from it", "muted")])]
    lines += [Line(*dependent(d, now, g), fill=" ") for d in items[:_SHOWN]]
    left = len(items) - _SHOWN
    text = f" d lists {'them all' if left > 0 else 'them'}, enter there goes to one"
    return [*lines, Line([(text, "muted")], indent=1)]


def dependent(
    d: Dependent, now: int, g: Glyphs
) -> tuple[list[tuple[str, str]], int, tuple[()], int, list[tuple[str, str]]]:
    """A dependent as one row: sign, id, state, words; its age at the edge."""
    state = _SIGNS.get(d.kind, d.state)
    name = f"{short(d.id)}@{d.version}" if d.kind == "candidate" else short(d.id)
    left = [
        (f" {g.state(state)} ", STATE_ROLE.get(state, "text")),
        (f"{name:<15} ", "text"),
        (f"{d.state:<10} ", "muted"),
        (" ".join(d.text[:300].split()), "text" if d.kind == "candidate" else "muted"),
    ]
    return left, 0, (), 0, [(f"{age(d.time, now)} ", "muted")]


def hit(found: Hit, now: int, g: Glyphs) -> list[Line]:
    """An event that a search found, around its first word."""
    e, (before, words, after) = found.event, found.excerpt
    about = f" {e.author.value} {g.dot} session:{e.session}#L{e.line} {g.dot} {age(e.time, now)}"
    text = [
        (f" {' '.join(mask(before).split())} ", "text"),
        (f"{g.open}{words}{g.close}", "mark"),
        (f" {' '.join(mask(after).split())}", "text"),
    ]
    return [
        Line([(about, "muted")], indent=1),
        Line(),
        Line(text, indent=1),
        Line(),
        Line([(" enter ", "accent"), ("reads it where it was said", "muted")]),
    ]


def whole(events: Sequence[Event], g: Glyphs, *, quick: bool) -> list[Line]:
    """Texts to their last byte; long lines in pieces, so that none is ever laid out at once.

    With `quick` lines of ASCII are counted by their length and screened when they come into view;
    they break at the edge then, not at words.
    """
    lines: list[Line] = []
    for e in events:
        title = f"{e.author.value} {e.kind.value} L{e.line}"
        size = f"{len(e.text.encode()):,} bytes"
        lines.append(header(title, size, g))
        for text in e.text.split("\n"):
            line = text.removesuffix("\r")
            pieces = [line[i : i + _PIECE] for i in range(0, len(line), _PIECE)] or [""]
            lines += [_piece(p, quick=quick) for p in pieces]
    return lines


def _piece(text: str, *, quick: bool) -> Line:
    if quick and text.isascii() and text.isprintable():
        return Line((), 1, (), 0, (), "", _drawn, text, len(text) + 1)
    return Line([(f" {mask(text)}", "text")], indent=1)


def _drawn(text: str) -> list[tuple[str, str]]:
    """A line as it is screened, in exactly as many characters as it was counted with."""
    shown = mask(text)
    while len(shown) > len(text) and "••" in shown:
        shown = shown.replace("••", "•", 1)
    return [(f" {shown.ljust(len(text))}", "text")]
