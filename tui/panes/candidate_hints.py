"""The keys that can do something to what is under the cursor, most needed first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.choices import OPEN_STATES

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow
    from tui.widgets.rows import Group

Hint = tuple[str, str]
_EDITABLE = ("pending", "deferred", "accepted", "rejected")


def acceptable(row: CandidateRow) -> bool:
    """False when accepting would be refused: a hazard blocks it, or a second source is missing."""
    return row.attention == "" or (row.attention == "look" and bool(row.hazards))


def decidable(row: CandidateRow) -> bool:
    """True while a decision may still be recorded on the row."""
    return row.state in OPEN_STATES


def on_marks(count: int, *, row: bool) -> list[Hint]:
    """Marks come first: whatever is under the cursor, the keys decide on them."""
    what = f"{count:,} marked"
    keys = [("r", f"reject {what}"), ("d", f"defer {what}"), ("a", f"accept {what}")]
    mark = [("space", "mark")] if row else []
    return [*keys, *mark, ("*", "unmark all"), ("?", "help")]


def on_group(group: Group, count: int) -> list[Hint]:
    """On a header; `count` is how many headers there are."""
    out = [("enter", "unfold" if group.folded else "fold")]
    if group.open:
        out += [("r", "reject all"), ("d", "defer all"), ("a", "accept all")]
    if count > 1:
        out += [(")", "next group"), ("(", "previous")]
    return [*out, ("?", "help")]


def on_row(row: CandidateRow, *, due: bool, undo: bool, groups: bool, words: bool) -> list[Hint]:
    """On a candidate; `due` when its deferral is over, `undo` when there is something to undo."""
    state, open_ = row.state.value, decidable(row)
    out: list[Hint] = []
    if open_:
        if acceptable(row):
            out += [("a", "accept"), ("A", "accept+preview")]
        out.append(("r", "reject"))
        if state == "pending" or due:
            out += [("d", "defer"), ("s", "defer until")]
    if state in ("accepted", "promoted"):
        out.append(("p", "preview"))
    if undo and not open_:
        out.append(("u", "undo last"))
    if state in _EDITABLE:
        out.append(("e", "edit"))
    if open_:
        out.append(("space", "mark"))
    if groups:
        out.append((")", "group"))
    out += [("J/K", "scroll"), ("]", "tab"), ("/", "filter")]
    out += [("esc", "clear filter")] if words else []
    return [*out, ("f", "by state"), ("?", "help")]


def on_nothing(*, words: bool) -> list[Hint]:
    """On an empty list."""
    out = [("esc", "clear filter")] if words else []
    return [
        *out,
        ("f", "by state"),
        ("/", "filter"),
        ("2", "promotion"),
        ("?", "help"),
        ("q", "quit"),
    ]
