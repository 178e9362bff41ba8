"""How rows of the promotion lists are drawn: what waits, writes, receipts, statements in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.wording import age, some
from tui.theme import STATE_ROLE, Glyphs
from tui.widgets.lines import Cells, fit, justified, width_of
from tui.widgets.text import kind, name_of, short, subject

if TYPE_CHECKING:
    from schemas.candidates import CandidateRow
    from tui.written import Held, Item


def waiting(
    row: CandidateRow, consumer: str, g: Glyphs, width: int, now: int, *, stale: bool
) -> Cells:
    """A candidate and where it would go; one that is written already is dimmed."""
    sign = g.stale if stale else g.state(row.state.value)
    left: list[tuple[str, str]] = [
        (f"{sign} ", "warn" if stale else STATE_ROLE[row.state.value]),
        (f"{kind(row.kind.value):<10}", "muted"),
    ]
    right: list[tuple[str, str]] = [(f"{consumer} {age(row.created, now):>4} ", "muted")]
    role = "text" if row.state == "accepted" else "muted"
    words = " ".join(row.statement[:600].split())
    left += fit([(words, role)], max(0, width - 13 - width_of(right)))
    return justified(left, right, width)


def written(item: Item, g: Glyphs, width: int, now: int) -> Cells:
    """A write, a receipt or a statement held, with its age."""
    if item.held is not None:
        return _held(item.held, g, width, now)
    if (w := item.write) is not None:
        state = w.state.value
        left = [
            (f"{g.state(state)} ", STATE_ROLE[state]),
            (f"{short(w.operation_id)}  {state:<10}", "text"),
            (f" {w.consumer} {subject(w.subject)}", "muted"),
        ]
        who, then = w.reviewer, w.created
    elif (r := item.receipt) is not None:
        left = [
            (f"{g.promoted} ", "good"),
            (f"{short(r.receipt_id)}  {some(len(r.targets), 'file')}", "text"),
            (f"  {r.consumer} {subject(r.subject)}", "muted"),
        ]
        who, then = r.reviewer, r.time
    else:
        return ()
    return justified(left, [(f"{name_of(who)[:24]} {age(then, now):>4} ", "muted")], width)


def _held(held: Held, g: Glyphs, width: int, now: int) -> Cells:
    b, at = held.belief, held.at
    state = at.state.value
    ended = "" if state == "active" else f"{state} "
    since = at.since if ended and at.since is not None else b.recorded
    right = [(f"{ended}{at.consumer} {age(since, now):>4} ", "muted")]
    role = "text" if state in ("active", "drifted") else "muted"
    words = [(f"{g.state(state)} ", STATE_ROLE[state]), (" ".join(b.statement[:600].split()), role)]
    return justified(fit(words, max(0, width - width_of(right) - 1)), right, width)


def id_of(item: Item) -> str:
    """The id of an operation, a receipt or a belief."""
    if item.held is not None:
        return item.held.belief.id
    if item.receipt is not None:
        return item.receipt.receipt_id
    return item.write.operation_id if item.write else ""
