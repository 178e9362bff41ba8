"""`candidates extract|propose|list|show|diff|edit|accept|reject|defer|reopen` (spec 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from core.commands.app import app, desk_, diff_lines, emit, options
from core.safe_text import one_line
from core.wording import some
from schemas.choices import CandidateKind, CandidateState, Verdict
from schemas.errors import NotFound, Refused, Stale
from schemas.reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.candidates.review import CandidateRef
    from core.ports import Desk
    from schemas.candidates import CandidateVersion, Left

candidates = typer.Typer(help="Proposals that wait for a person.", no_args_is_help=True)
app.add_typer(candidates, name="candidates")


def item(version: CandidateVersion) -> dict[str, Any]:
    """A candidate version with the contract's key names; hazards as codes."""
    document = version.model_dump(mode="json")
    document["hazards"] = [h.code for h in version.hazards]
    document["hazard_spans"] = [h.model_dump(mode="json") for h in version.hazards]
    return document


_MOST = 10**9
"""No list of versions is longer; a number past it is a slip."""


@candidates.command("extract")
def extract(
    source: str | None = typer.Option(None, help="Only this source file (id or path)."),
    all_: bool = typer.Option(False, "--all", help="All evidence (the default)."),
) -> None:
    """Propose what is clearly a durable statement; nothing is accepted."""
    from core.candidates.extract import extract as run

    report = run(desk_(), source=source)
    emit(
        report,
        f"{some(report.messages, 'message')} read · {report.proposed} proposed"
        f" · {report.known} known already",
        *(f"  {count:,} {_SKIPPED[why]}" for why, count in sorted(report.skipped.items())),
    )


_SKIPPED = {
    "list-unnamed": "with lists, but none under a heading like Rules, Decisions, Facts, Conventions",
    "no-statement": "say nothing that is clearly a durable statement",
    "pasted": "are long pastes, not somebody's own words",
    "revoked": "are from a source that was revoked",
    "self": "are from runs of memdesk's own",
    "same-as-earlier": "repeat a message of another file or session, word for word",
}


@candidates.command("propose")
def propose(
    text: str = typer.Option(..., help="The statement."),
    kind: CandidateKind = typer.Option(CandidateKind.PROJECT_FACT, help="What it claims to be."),
    key: str | None = typer.Option(None, help="Subject key; proposed from the words without one."),
    source: list[str] = typer.Option(..., help="Locator of an event or a span of one."),
    scope: str = typer.Option("project"),
) -> None:
    """Propose a statement of your own with its sources; it is pending like any other."""
    from core.candidates.propose import propose as run

    version = run(desk_(), text=text, kind=kind, key=key, sources=source, scope=scope)
    emit(item(version), *_lines(version))


@candidates.command("list")
def list_(
    state: CandidateState | None = typer.Option(None, help="Only this state."),
    filter_: str | None = typer.Option(None, "--filter", help="Only with these words."),
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Candidates in the order they were proposed."""
    from core.candidates import rules
    from core.candidates.lanes import NAMES, Lane
    from core.candidates.review import CandidateRef, show
    from schemas.common import Page
    from schemas.storage import CandidateFilter

    desk = desk_()
    rules.follow(desk, known=True)
    wanted = CandidateFilter((state.value,) if state else (), filter_)
    with desk.store.read() as view:
        rows, cursor = view.candidates.rows(wanted, Page(limit=limit, after=after))
    items = [
        {**item(show(desk, CandidateRef(r.id, r.version))), "group": NAMES[Lane(r.lane)]}
        for r in rows
    ]
    lines = [
        f"{r.id[:11]}@{r.version} {r.state:<10} {r.kind:<14} {r.author:<8} {one_line(r.statement, 80)}"
        + (f"  = {r.rule}" if r.rule else "")
        for r in rows
    ]
    emit({"items": items, "next": cursor}, *(lines or ["No candidates."]))


@candidates.command("show")
def show(ref: str = typer.Argument(..., help="ID or ID@N.")) -> None:
    """One exact version with its sources, hazards, conflicts and history."""
    from core.candidates import review, rules

    desk = desk_()
    rules.follow(desk, known=True)
    with desk.store.read() as view:
        found = review.resolve(view, ref)
        history = view.candidates.versions(found.id)
    version = review.show(desk, found)
    document = item(version)
    document["versions"] = [
        {
            "version": v.version,
            "state": v.state.value,
            "statement": v.statement,
            "created": v.created,
        }
        for v in history
    ]
    document["leftovers"] = leftovers(desk, version)
    emit(document, *_lines(version), *(f"  ~ {x}" for x in document["leftovers"]))


def leftovers(desk: Desk, version: CandidateVersion) -> list[str]:
    """Wiki lines that still say what a conflicting statement says (spec 5.8)."""
    from core.promotion.consumers import wiki

    return wiki.still_say(desk, version, version.conflicts)


def _lines(v: CandidateVersion) -> list[str]:
    lines = [
        f"{v.id}@{v.version} · {v.state} · {v.kind} · {v.key} · {v.scope} · {v.classification}",
        f"  {v.statement}",
    ]
    lines += [f"  # {h.code} ({h.gate})" for h in v.hazards]
    lines += [f"  ! {c.code} {c.layer} {c.brief}: {c.statement}" for c in v.conflicts]
    lines += [f"  = {c.code} {c.layer} {c.brief}" for c in v.duplicates]
    lines += [f"  ~ {c.code} {c.state or c.layer} {c.brief}: {c.statement}" for c in v.near]
    for s in v.sources:
        lines.append(f"  {s.author} session:{s.session}#L{s.line} {s.locator}")
        lines.append(f"    “{one_line(s.quote, 300)}”")
    if v.decision:
        reason = f": {v.decision.reason}" if v.decision.reason else ""
        lines.append(f"  {v.decision.verdict} by {v.decision.actor.reviewer}{reason}")
    return lines


@candidates.command("diff")
def diff(
    ref: str = typer.Argument(..., help="Candidate id."),
    left: int = typer.Argument(..., max=_MOST, help="Version N."),
    right: int = typer.Argument(..., max=_MOST, help="Version M."),
) -> None:
    """What changed between two versions."""
    from core.candidates import review

    desk = desk_()
    with desk.store.read() as view:
        found = review.resolve(view, ref)
    result = review.diff(desk, found.id, left, right)
    text = result.unified(f"{found.id[:11]}@{left}..{right}")
    document = {"id": found.id, "from": left, "to": right, "diff": text}
    emit(document, *(diff_lines(text) if text else ["The statements are equal."]))


@candidates.command("edit")
def edit(
    ref: str = typer.Argument(..., help="ID or ID@N."),
    text: str | None = typer.Option(None, help="The new statement; $EDITOR opens without it."),
) -> None:
    """Append an edited version, pending again."""
    from core.candidates import editor, review

    desk = desk_()
    with desk.store.read() as view:
        found = review.resolve(view, ref)
    if text is None:
        if options().json:
            raise typer.BadParameter("--json needs --text; an editor needs the terminal.")
        text = editor.edit(desk, review.show(desk, found).statement)
    version = review.edit(desk, found, text)
    emit(item(version), *_lines(version))


def _resolved(desk: Desk, refs: list[str]) -> list[CandidateRef]:
    """Exact versions; one reference that names none stops the call before any decision."""
    from core.candidates import review

    with desk.store.read() as view:
        return [review.resolve(view, r, deciding=True) for r in refs]


def _answer(done: Sequence[CandidateVersion], left: Sequence[Left]) -> None:
    """What became of every reference. Raises Refused by the code, of those left, whose exit
    status is the worst."""
    lines = [f"{v.state} {v.id[:11]}@{v.version}  {one_line(v.statement, 90)}" for v in done]
    lines += [f"! {x.ref[:11]}@{x.ref.partition('@')[2]} {x.code}: {x.message}" for x in left]
    wrong = [{**x.model_dump(mode="json"), "remedy": REASONS[x.code].remedy} for x in left]
    emit({"items": [item(v) for v in done], "left": wrong, "next": None}, *lines)
    if left:
        worst = max(left, key=lambda x: REASONS[x.code].exit)
        message = f"{len(left)} of {len(done) + len(left)} were left as they are. {worst.message}"
        raise Refused(worst.code, message, left=[x.ref for x in left])


def _decide(
    refs: list[str],
    verdict: Verdict,
    reason: str,
    until: int | None = None,
    acknowledged: list[str] | None = None,
) -> None:
    from core.candidates import review

    desk = desk_()
    found, given = _resolved(desk, refs), acknowledged or ()
    if len(found) == 1:
        version = review.decide(
            desk, found[0], verdict, reason=reason, until=until, acknowledged=given
        )
        _answer([version], ())
        return
    report = review.decide_all(desk, found, verdict, reason=reason, until=until, acknowledged=given)
    _answer(report.decided, report.left)


_REFS = typer.Argument(..., help="Exact versions, ID@N; ID alone while it has one version.")
_REASON = typer.Option("", help="Why; recorded with the decision.")


@candidates.command("accept")
def accept(
    refs: list[str] = _REFS,
    reason: str = _REASON,
    acknowledge: list[str] = typer.Option([], help="A hazard code you have looked at."),
) -> None:
    """Accept exact versions; writes no memory."""
    _decide(refs, Verdict.ACCEPT, reason, acknowledged=acknowledge)


@candidates.command("reject")
def reject(refs: list[str] = _REFS, reason: str = _REASON) -> None:
    """Reject exact versions."""
    _decide(refs, Verdict.REJECT, reason)


@candidates.command("defer")
def defer(
    refs: list[str] = _REFS,
    reason: str = _REASON,
    until: str | None = typer.Option(None, help="A date, monday, 3d, or a date-time with zone."),
) -> None:
    """Put exact versions off, until a date if one is given."""
    from core.candidates import dates

    moment = dates.until(until, desk_().clock()) if until is not None else None
    _decide(refs, Verdict.DEFER, reason, until=moment)


@candidates.command("reopen")
def reopen(refs: list[str] = _REFS) -> None:
    """Append a new pending version of decided ones; the decided version stays as it is."""
    from core.candidates import review
    from schemas.candidates import Left

    desk = desk_()
    found = _resolved(desk, refs)
    if len(found) == 1:
        _answer([review.reopen(desk, found[0])], ())
        return
    opened: list[CandidateVersion] = []
    left: list[Left] = []
    for ref in found:
        try:
            opened.append(review.reopen(desk, ref))
        except (Refused, Stale, NotFound) as err:
            left.append(Left(ref=str(ref), code=err.code, message=err.message))
    _answer(opened, left)
