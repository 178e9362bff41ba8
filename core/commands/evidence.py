"""`evidence import|intake|revoke|list|show` (spec 1)."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from core.commands.app import app, desk_, emit, options, progress
from core.safe_text import one_line
from core.wording import some, verb
from schemas.errors import Refused

if TYPE_CHECKING:
    from schemas.evidence import Event, ImportReport, Partial

evidence = typer.Typer(
    help="Sessions, messages and files as immutable evidence.", no_args_is_help=True
)
app.add_typer(evidence, name="evidence")


@evidence.command("import")
def import_(
    paths: list[Path] = typer.Argument(..., help="Files or folders."),
    format_: str | None = typer.Option(None, "--format", help="Read as this format."),
) -> None:
    """Import sessions and documents; a second import of the same bytes changes nothing."""
    from core.evidence.import_ import import_paths

    report = import_paths(desk_(), paths, format_=format_, progress=progress)
    emit(report, *_report(report))
    left = len(report.refused)
    if left:
        files, were = some(left + report.sources, "file"), verb(left, "was", "were")
        raise Refused("evidence.not-read", f"{left} of {files} {were} not read.")
    if not report.sources and (report.skipped or report.others):
        raise Refused("evidence.not-read", "Nothing that was found there is evidence.")


def _report(r: ImportReport) -> list[str]:
    same = f" ({r.different} different)" if r.different != r.sources else ""
    lines = [
        f"{some(r.sources, 'file')}{same} · {some(r.records, 'record')} read · "
        f"{some(r.events, 'event')}: "
        f"{r.new:,} new, {r.duplicate:,} known, {r.unparsed:,} unparsed · {r.waiting} waiting"
    ]
    if r.by_author:
        lines.append("  said by " + " · ".join(f"{k} {v:,}" for k, v in r.by_author.items()))
    if r.linked:
        lines.append(f"  {r.linked:,} repeat an event of another session and are linked to it")
    if r.rewritten:
        what = f"{some(r.rewritten, 'known file')} {verb(r.rewritten, 'was', 'were')} rewritten"
        lines.append(f"! {what}, not added to; what stood there before stays as it was imported")
        lines += [f"  rewritten {x.path}" for x in r.files if x.rewritten]
    lines += [f"! {x.path}: {x.code}: {x.message}" for x in r.refused]
    lines += [f"- {x.path}: {x.code}: {x.message}" for x in r.skipped]
    if r.others:
        kinds = ", ".join(f"{n:,} {end or 'without ending'}" for end, n in r.others.items())
        lines.append(f"- {some(sum(r.others.values()), 'file')} of other kinds: {kinds}")
    lines += [f"! {note}" for note in r.notes]
    return lines


@evidence.command("intake")
def intake(path: Path = typer.Argument(..., help="A file inside the workspace.")) -> None:
    """Preview a raw copy under .aiwg/wiki/raw/; `promotion confirm` makes it."""
    from core.commands.promotion import preview_lines
    from core.evidence.intake import preview

    shown = preview(desk_(), path, text=True).preview
    emit(shown, *preview_lines(shown))


@evidence.command("revoke")
def revoke(
    source: str = typer.Argument(..., help="A source file, by id or path."),
    reason: str = typer.Option("", help="Why; stands in the preview and is bound to it."),
) -> None:
    """Preview withdrawing a source for good; its bytes stay. `promotion confirm` does it."""
    from core.commands.promotion import preview_lines
    from core.evidence.revoke import preview

    shown = preview(desk_(), source, reason=reason, text=True).preview
    emit(shown, *preview_lines(shown))


@evidence.command("list")
def list_(
    session: str | None = typer.Option(None, help="Only this session (or a prefix of its id)."),
    kind: str | None = typer.Option(None, help="Only this kind."),
    author: str | None = typer.Option(None, help="Only this author."),
    filter_: str | None = typer.Option(None, "--filter", help="Only with these words."),
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Events in the order they stand in their files."""
    from core.evidence.lookup import session_named
    from schemas.common import Page
    from schemas.evidence import Author, EventKind

    _one_of(kind, "--kind", [k.value for k in EventKind])
    _one_of(author, "--author", [a.value for a in Author])
    desk = desk_()
    with desk.store.read() as view:
        if session is not None:
            session = session_named(view, session)
        page = Page(limit=limit, after=after)
        if filter_ is None:
            events, cursor = view.evidence.events(page, session=session, kind=kind, author=author)
    if filter_ is not None:
        from core.evidence.search import listed

        events, cursor = listed(desk, filter_, page, session=session, kind=kind, author=author)
    with desk.store.read() as view:
        before = view.evidence.rewritten(list({e.file for e in events}))
    lines = [
        f"{e.id[:15]}  {e.author:<8} {e.kind:<12} L{e.line:<5} "
        f"{_mark(e, before)}{one_line(e.text, 90)}"
        for e in events
    ]
    items = [item(e.model_copy(update={"rewritten": e.file in before})) for e in events]
    emit({"items": items, "next": cursor}, *(lines or ["No events."]))


def _mark(event: Event, before: Set[str] = frozenset()) -> str:
    """What of an event a person must know first; `before` are files that were rewritten since."""
    rewritten = "before a rewrite · " if event.file in before else ""
    return rewritten + ("revoked · " if event.revoked else "")


def _one_of(value: str | None, name: str, allowed: list[str]) -> None:
    if value is not None and value not in allowed:
        raise typer.BadParameter(f"{name} is one of {', '.join(allowed)}.")


def item(event: Event) -> dict[str, Any]:
    """An event with the contract's key names."""
    return event.model_dump(mode="json")


@evidence.command("show")
def show(
    locator: str = typer.Argument(..., help="ev_…[#bS-E] or session:ID#L12."),
    raw: bool = typer.Option(False, "--raw", help="The record's exact bytes on stdout."),
) -> None:
    """One event, whole; with a span, the quoted words."""
    import sys

    from core.evidence import lookup

    desk = desk_()
    event, span = lookup.show(desk, locator)
    if raw and not options().json:
        with desk.store.read() as view:
            sys.stdout.buffer.write(view.evidence.raw(event.id) or b"")
        return
    document = item(event)
    quote = event.text
    if span is not None:
        quote = span.cut(event.text.encode()).decode()
        document["span"] = {"start": span.start, "end": span.end, "quote": quote}
    where = f"{_mark(event)}{event.author} · {event.kind} · session:{event.session}#L{event.line} · {event.id}"
    lacks = lookup.partial(desk, event)
    document["partial"] = lacks.model_dump(mode="json") if lacks else None
    emit(document, where, *(_partial(lacks) if lacks else ()), "", quote)


def _partial(p: Partial) -> list[str]:
    """That a tool's output is not whole, and what to do about it."""
    lines = [f"! partial: {p.left_out} left out" + (f", whole in {p.whole}" if p.whole else "")]
    return [*lines, f"  {p.read}"] if p.read else lines
