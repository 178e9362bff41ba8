"""`promotion supersede|revoke|archive|remove|beliefs` and `sources list|show` (spec 2.3, 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from core.commands.app import app, desk_, emit
from core.commands.promotion import preview_lines, promotion
from schemas.errors import Refused

if TYPE_CHECKING:
    from schemas.promotion import Belief
    from schemas.sources import Source

sources = typer.Typer(help="Which messages may be read again.", no_args_is_help=True)
app.add_typer(sources, name="sources")
_BELIEF = typer.Argument(..., help="The belief, bel_….")
_AT = typer.Option(None, "--at", help="The consumer where it ends, when it stands in several.")
_REASON = typer.Option("", help="Why; recorded with the change.")


@promotion.command("supersede")
def supersede(
    belief: str = _BELIEF,
    by: str = typer.Option(..., "--by", help="What replaces it: a belief, or a version ID@N."),
    reason: str = _REASON,
    at: str | None = _AT,
) -> None:
    """Preview another statement taking a belief's place."""
    from core.candidates.review import resolve
    from core.promotion import drift, lifecycle
    from core.promotion.preview import Going, together

    desk = desk_()
    drift.follow(desk)
    with desk.store.read() as view:
        old = lifecycle.resolve(view, belief)
        new = lifecycle.resolve(view, by).id if by.startswith("bel_") else None
        ref = None if new else resolve(view, by)
    if ref is None:
        _show("supersede", old, reason=reason, at=at, by=new)
        return
    where = at or lifecycle.only_consumer(old)
    found = together(desk, [Going(ref, where)], supersedes=[old.id], text=True).preview
    emit(found, *preview_lines(found))


@promotion.command("revoke")
def revoke(belief: str = _BELIEF, reason: str = _REASON, at: str | None = _AT) -> None:
    """Preview revoking a belief: it was wrong, or may not be used."""
    _end("revoke", belief, reason, at)


@promotion.command("archive")
def archive(belief: str = _BELIEF, reason: str = _REASON, at: str | None = _AT) -> None:
    """Preview archiving a belief: it was right and is of no more use."""
    _end("archive", belief, reason, at)


@promotion.command("remove")
def remove(belief: str = _BELIEF, reason: str = _REASON, at: str | None = _AT) -> None:
    """Preview taking a belief's words out of its consumer."""
    _end("remove", belief, reason, at)


def _end(action: str, belief: str, reason: str, at: str | None) -> None:
    from core.promotion import drift, lifecycle

    desk = desk_()
    drift.follow(desk)
    with desk.store.read() as view:
        found = lifecycle.resolve(view, belief)
    _show(action, found, reason=reason, at=at, by=None)


def _show(action: str, belief: Belief, *, reason: str, at: str | None, by: str | None) -> None:
    from core.promotion import lifecycle

    found = lifecycle.preview(
        desk_(), action, belief, reason=reason, at=at, by=by, text=True
    ).preview
    emit(found, *preview_lines(found))


@promotion.command("beliefs")
def beliefs(
    as_of: str | None = typer.Option(
        None, "--as-of", help="What was in memory at a past day or moment."
    ),
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Statements that were promoted, where they stand, and what ended them."""
    from core.candidates import dates
    from core.promotion import drift
    from schemas.common import Page

    desk = desk_()
    moment = None if as_of is None else dates.moment(as_of, desk.clock())
    drift.follow(desk)
    with desk.store.read() as view:
        found, cursor = view.promotion.beliefs(Page(limit=limit, after=after), moment)
    lines = [
        f"{b.id[:10]}  {', '.join(f'{c.consumer} {c.state}' for c in b.consumers)}  {b.statement}"
        for b in found
    ]
    items = [b.model_dump(mode="json") for b in found]
    emit({"items": items, "next": cursor}, *(lines or ["Nothing has been promoted."]))


@sources.command("list")
def list_(
    status: str = typer.Option("fenced", help="Only `fenced` ones are listed."),
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Messages that are closed for good, and what closed them."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.promotion import drift
    from core.sources import status as standing
    from schemas.common import Page

    if status != "fenced":
        raise Refused("source.status", f"“{status}” can't be listed.")
    desk = desk_()
    drift.follow(desk)
    with desk.store.read() as view:
        found, cursor = standing.fenced(view, Page(limit=limit, after=after))
    lines = [_line(s) for s in found]
    items = [s.model_dump(mode="json") for s in found]
    emit({"items": items, "next": cursor}, *(lines or ["No message is closed."]))


@sources.command("show")
def show(event: str = typer.Argument(..., help="An event, ev_… or session:…#L12.")) -> None:
    """Whether a message could be read again, why not, and the beliefs formed from it."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.evidence import lookup
    from core.promotion import drift
    from core.sources import status as standing

    desk = desk_()
    drift.follow(desk)
    with desk.store.read() as view:
        found, _ = lookup.find(view, event)
        source = standing.of(view, found.id)
    emit(source, _line(source), *(f"  {b}" for b in source.beliefs))


def _line(s: Source) -> str:
    cause = s.cause
    by = f"  {cause.operation[:11]}" if cause.operation else ""
    return f"{s.event_id[:15]}  {s.status:<8} {cause.code}  {cause.belief or ''}{by}".rstrip()
