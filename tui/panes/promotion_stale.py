"""A stale preview written out: what it was bound to, who moved that, what is new to read (5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.wording import ago, some, verb
from schemas.subject import parted
from tui.panes import promotion_text as write
from tui.theme import Glyphs
from tui.widgets.diff import View
from tui.widgets.document import Line
from tui.widgets.lines import fit, width_of
from tui.widgets.text import digest8, header, name_of, short, subject

if TYPE_CHECKING:
    from collections.abc import Hashable

    from core.operations.preview import Exact
    from core.promotion.standing import Cause, Standing


def binding(exact: Exact, now: Standing, g: Glyphs, width: int, time: int) -> list[Line]:
    """Then and now of everything bound, who changed it, and what the preview would have done."""
    room = max(12, width - 36)
    lines = [
        Line(
            [(f" {short(exact.preview.operation_id, 8)}  ", "text"), (f"{g.stale} STALE", "warn")]
        ),
        Line(),
        Line([(f" {'bound to':<{room + 14}}{'then':<10}now", "muted")]),
    ]
    for b in now.bound:
        sign, role = (g.stale, "warn") if b.moved else (g.accepted, "text")
        there = digest8(b.now) if b.now else "gone"
        known = b.now is not None or b.then is None
        word = there if b.moved else "same" if known else "not asked"
        name = fit([(_name(b.what, b.name), role)], room)
        rest = f"{' ' * (room - width_of(name))}{digest8(b.then):<10}{word}"
        lines.append(Line([(f" {sign} {b.what:<10} ", role), *name, (rest, role)]))
        if b.detail:
            lines.append(Line([(f"   {b.detail}", "warn")]))
    lines += who(now, g, time)
    lines.append(Line())
    return lines + write.effects(exact.preview, g)


def _name(what: str, name: str) -> str:
    if what == "target":
        return name.rpartition("/")[2]
    if what == "source" and name.startswith("ev_"):
        return short(name, 8)
    return subject(name)


def who(now: Standing, g: Glyphs, time: int) -> list[Line]:
    """Who moved what; somebody outside the desk is nobody it knows."""
    lines = [header("who changed it", "", g)]
    dot = f" {g.dot} "
    for c in now.causes:
        parts = [by(c, time)]
        parts += [short(x) for x in (c.operation, c.receipt) if x]
        parts += [_name(c.what, c.name)] if not c.operation else []
        parts += [c.said] if c.said else []
        lines.append(Line([(" " + dot.join(parts), "text")], indent=3))
    return lines


def by(cause: Cause, time: int) -> str:
    """A reviewer and how long ago, or by hand."""
    if not cause.reviewer:
        return "by hand"
    return f"{name_of(cause.reviewer)}, {ago(cause.time, time)}"


def stale(
    exact: Exact,
    now: Standing,
    g: Glyphs,
    view: View,
    *,
    unfolded: bool,
    read: set[Hashable],
) -> list[Line]:
    """What moved under a preview and what p would bring, then the preview that was read."""
    lines = [header("what moved under you", f"then {g.arrow} now", g)]
    if now.foreign:
        # Told here, read after p: only then they stand beside what would be written.
        lines += [x._replace(keys=()) for x in write.foreign(now.foreign, exact, g, view)]
    else:
        names = ", ".join(dict.fromkeys(f"{m.what} {_name(m.what, m.name)}" for m in now.moved))
        lines.append(Line([(f" {names}: no line of the destination.", "text")], indent=1))
    lines += [header("after p", "", g), *after(exact, now, read), Line()]
    if exact.targets:
        lines.append(header("the preview you read, kept for reference", "", g))
    else:
        text = " The bytes of this preview were not kept; p makes them anew."
        lines.append(Line([(text, "muted")], indent=1))
    return lines + write.preview(exact, g, view, unfolded=unfolded, bytes_only=True)


def after(exact: Exact, now: Standing, read: set[Hashable]) -> list[Line]:
    """What p would show, in words."""
    if now.refusal is not None and len(parted(exact.preview.subject)) > 1:
        text = f" p leaves out what can't be written any more: {now.refusal.code}."
        return [Line([(text, "warn")], indent=1)]
    if now.refusal is not None:
        text = f" p is refused: {now.refusal.code}. {now.refusal.remedy}"
        return [Line([(text, "warn")], indent=1)]
    left = now.left(read)
    stay, are = verb(left.kept, "stays", "stay"), verb(left.new, "is", "are")
    kept = f" {some(left.kept, 'hunk')} you have read {stay}"
    new = f"{some(left.new, 'line')} {are} new to read."
    lines = [Line([(f"{kept} marked as seen, {new}", "text")], indent=1)]
    if now.same_change(exact):
        same = " The same change, on top of what is there now."
        lines.insert(0, Line([(same, "text")], indent=1))
    return lines
