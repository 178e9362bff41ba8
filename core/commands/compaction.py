"""`compaction observe` (spec 7.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from core.commands.app import app, desk_, emit
from core.safe_text import one_line
from core.wording import some

if TYPE_CHECKING:
    from core.ports import Desk
    from schemas.compaction import Boundary, Count, Item, LossRow, Observation

compaction = typer.Typer(help="What happens to a window that no longer fits.", no_args_is_help=True)
app.add_typer(compaction, name="compaction")

_SIGNS = {"missing": "✗", "reworded": "✎", "unknown": "?", "verbatim": "◉", "not-a-loss": "·"}


@compaction.command("observe")
def observe(
    session: str | None = typer.Argument(None, help="Session, or a prefix of its id."),
    all_: bool = typer.Option(False, "--all", help="All compacted sessions, by loss."),
    limit: int = typer.Option(100, min=1, max=10_000, help="Sessions a page, with --all."),
    after: str | None = typer.Option(None, help="Cursor of the page before, with --all."),
) -> None:
    """What hosts' own compactions kept of a session, reworded and lost; nothing is stored."""
    from core.compaction import observe as rules

    if (session is None) is not all_:
        raise typer.BadParameter("Name a session, or --all.")
    desk = desk_()
    if session is None:
        _all(desk, limit, after)
        return
    found = rules.observe(desk, session)
    emit(found, *_lines(found))


def _all(desk: Desk, limit: int, after: str | None) -> None:
    from core.compaction import observe as rules
    from schemas.common import Page

    names, cursor = rules.sessions(desk, Page(limit=limit, after=after))
    rows = [r for name, _stamp in names for r in rules.rows(rules.observe(desk, name))]
    rows.sort(key=rules.by_loss)
    total = rules.report(rows)
    items = [r.model_dump(mode="json") for r in rows]
    lines = [_row(r) for r in rows] or ["No compaction in what was imported."]
    summary = (
        f"{some(len(names), 'session')} · {some(total['compactions'], 'compaction')}"
        f" · lost something {total.get('with_loss', 0)}"
        f" · rules lost {total.get('lost_standing', 0)} · tasks lost {total.get('lost_task', 0)}"
        f" · reworded {total.get('reworded', 0)} · kept {total.get('verbatim', 0)}"
        f" · can't be told {total.get('unknown', 0)}"
    )
    emit({"items": items, "next": cursor, "report": total}, summary, *lines)


def _row(r: LossRow) -> str:
    lost = " ".join(f"{n} {_NAMES[k]}" for k, n in sorted(r.lost.items()))
    what = f"lost {lost}" if lost else _outcome(r)
    copy = "  (copy)" if r.copy_of else ""
    sizes = f"{size(r.before)} → {size(r.after)}"
    sign = "✗" if lost and not copy else "·"
    return f"{sign} {r.session[:24]:<24} L{r.line:<6} {r.trigger:<8} {sizes:<22} {what}{copy}"


_NAMES = {"standing": "rule", "task": "task"}


def _outcome(r: LossRow) -> str:
    if r.summary == "none":
        return "tool results only"
    if not any(r.counts.get(k) for k in ("verbatim", "reworded", "unknown")):
        return "nothing that binds"
    return "can't be told" if r.counts.get("unknown") else "all kept"


def size(count: Count | None) -> str:
    """Tokens as a person reads them; `~` marks an estimate."""
    if count is None:
        return "?"
    return f"{'' if count.stated else '~'}{count.tokens:,}"


def _lines(found: Observation) -> list[str]:
    lines = [
        f"session {found.session} · {some(found.events, 'event')}"
        f" · {some(len(found.boundaries), 'compaction')}"
    ]
    for b in found.boundaries:
        lines += ["", *_boundary(b)]
    return lines


def _boundary(b: Boundary) -> list[str]:
    window = f" of {b.window:,}" if b.window else ""
    lines = [
        f"L{b.line} · {b.kind} · {b.trigger} · {size(b.before)}{window} → {size(b.after)} · summary {b.summary}"
    ]
    lines += [f"  {code}" for code in b.reasons]
    for s in b.segments:
        lines.append(f"  {s.name:<24}{size(s.before):>10} → {size(s.after)}")
    for item in b.items:
        if item.class_ != "one-off":
            lines += _item(item)
    if once := b.counts.get("one-off"):
        lines.append(f"  · {once} one-off requests, done before the cut: not a loss")
    return lines


def _item(i: Item) -> list[str]:
    from core.screening import mask

    sign = _SIGNS[i.state]
    lines = [f"  {sign} {i.class_:<9} L{i.line:<6} {i.state:<11} {one_line(mask(i.quote), 90)}"]
    lines += [f"      {code}" for code in i.reasons]
    if i.nearest is not None and i.state != "verbatim":
        lines.append(f"      summary line {i.nearest.line}: {one_line(mask(i.nearest.quote), 90)}")
    lines += [f"      ! since: L{q.line} {one_line(mask(q.quote), 80)}" for q in i.since]
    return lines
