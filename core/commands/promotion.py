"""`promotion preview|confirm|list|retry|receipts` (spec 5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from core.commands.app import app, desk_, diff_lines, emit
from core.wording import some
from schemas.errors import Refused
from schemas.reasons import reason
from schemas.subject import parted

if TYPE_CHECKING:
    from core.ports import Desk
    from schemas.operations import Preview, Receipt

promotion = typer.Typer(help="Exact previews into durable memory.", no_args_is_help=True)
app.add_typer(promotion, name="promotion")


@promotion.command("preview")
def preview(
    refs: list[str] = typer.Argument(
        ..., metavar="ID@N[=CONSUMER]...", help="Accepted versions; several make one preview."
    ),
    to: str = typer.Option("line-memory", "--to", help="The consumer of those that name none."),
    target: list[str] = typer.Option([], help="Not used by line-memory."),
    beside: bool = typer.Option(
        False, help="Leave beliefs that contradict it as they are, instead of superseding them."
    ),
) -> None:
    """Show the exact bytes a confirm would write; nothing is touched."""
    from core.candidates import rules
    from core.candidates.review import resolve
    from core.promotion.preview import Going, together

    if target:
        raise Refused("consumer.target")
    desk = desk_()
    rules.follow(desk, known=True)
    with desk.store.read() as view:
        named = [ref.partition("=") for ref in refs]
        going = [Going(resolve(view, ref), own or to) for ref, _, own in named]
    result = together(desk, going, beside=beside, text=True).preview
    emit(result, *preview_lines(result))


def preview_lines(p: Preview) -> list[str]:
    """A preview for a person: files with their diffs, effects, what stands in the way."""
    lines = [f"{p.operation_id} · {p.action} {_about(p.subject)} → {p.consumer} · {p.state}"]
    several = len(p.versions) > 1
    lines += [f"  {_about(v.ref)} → {v.consumer}  {v.statement}" for v in p.versions if several]
    for t in p.targets:
        before = t.before_digest[7:15] if t.before_digest else "new"
        size = "" if t.size is None else f"  {t.size:,} bytes, copied from {t.copied_from}"
        lines.append(f"{t.path}  {before} → {t.after_digest[7:15]}{size}")
        lines += diff_lines(t.diff) if t.diff else []
    lines += [f"  {e.text}" for e in p.affects]
    lines += [f"! {c.code} {c.layer} {c.brief}: {c.statement}" for c in p.conflicts]
    lines += [f"# blocked by {code}" for code in p.blocked_by]
    lines += [f"  {e.text}" for e in p.checks if e.code in p.blocked_by]
    if not p.blocked_by and p.state == "previewed":
        lines.append(f"Confirm exactly this with: memdesk promotion confirm {p.operation_id}")
    return lines


@promotion.command("confirm")
def confirm(operation: str = typer.Argument(..., help="The operation id of a preview.")) -> None:
    """Write exactly what was previewed, once."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.operations.confirm import resolve
    from core.operations.together import confirm as apply

    desk = desk_()
    name = resolve(desk, operation)
    written = apply(desk, name)
    lines = [line for r in written.receipts for line in _receipt(r)]
    alone = len(written.receipts) == 1 and written.receipts[0].operation_id == name
    lines += [f"! {f.consumer}  {f.code}: {f.message} {f.remedy}" for f in written.failed]
    emit(written.receipts[0] if alone else written, *lines)
    if written.failed:
        raise typer.Exit(int(reason(written.failed[0].code).exit))


def _receipt(r: Receipt) -> list[str]:
    again = " (already applied)" if r.replayed else ""
    lines = [f"{r.receipt_id} · {r.state}{again} · {r.operation_id} · {r.reviewer}"]
    return lines + [f"  {t.path} {t.after_digest[7:15]}" for t in r.targets]


@promotion.command("list")
def list_(
    state: str | None = typer.Option(None, help="Only this state."),
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Operations and where they stand."""
    from schemas.common import Page
    from schemas.operations import OperationState

    if state is not None and state not in [s.value for s in OperationState]:
        raise typer.BadParameter(f"--state is one of {', '.join(OperationState)}.")
    desk = desk_()
    with desk.store.read() as view:
        rows, cursor = view.operations.operations(
            Page(limit=limit, after=after), [state] if state else None
        )
    lines = [
        f"{r.operation_id[:11]}  {r.state:<10} {r.action} → {r.consumer}  {_about(r.subject)}  {r.reviewer}"
        for r in rows
    ]
    items = [r.model_dump(mode="json") for r in rows]
    for item, r in zip(items, rows, strict=True):
        if r.state == OperationState.DIVERGED:
            item["divergence"] = _divergence(desk, r.operation_id)
            for d in item["divergence"]:
                lines += [f"{r.operation_id} diverged:", *diff_lines(d["diff"])]
    emit({"items": items, "next": cursor}, *(lines or ["No operations."]))


def _about(subject: str) -> str:
    """One version, how many there are, or a path."""
    named = parted(subject)
    if len(named) > 1:
        return some(len(named), "candidate")
    id_, at, number = subject.partition("@")
    return f"{id_[:11]}{at}{number}" if subject.startswith("cand_") else subject


def _divergence(desk: Desk, operation: str) -> list[dict[str, str]]:
    """Both versions of each file that held neither the bytes before nor after, and their diff."""
    from core import textdiff

    with desk.store.read() as view:
        kept = view.operations.divergence(operation)
    return [
        {
            "path": path,
            "found": found.decode("utf-8", "replace"),
            "wanted": wanted.decode("utf-8", "replace"),
            "diff": textdiff.compare(found, wanted).unified(path),
        }
        for path, found, wanted in kept
    ]


@promotion.command("retry")
def retry(operation: str | None = typer.Argument(None, help="A failed operation.")) -> None:
    """Finish what a crash interrupted; with an id, confirm that failed operation again."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.operations import confirm as operations
    from core.operations import together

    desk = desk_()
    outcomes = dict(operations.recover(desk))
    if operation is not None:
        written = together.confirm(desk, operations.resolve(desk, operation))
        outcomes[written.operation_id] = written.state.value
    items = [{"operation_id": o, "outcome": s} for o, s in outcomes.items()]
    lines = [f"{i['operation_id']}  {i['outcome']}" for i in items]
    emit({"items": items, "next": None}, *(lines or ["Nothing to finish."]))


@promotion.command("receipts")
def receipts(
    export: Path | None = typer.Option(
        None, help="Write each receipt and a checkpoint of the ledger as files here."
    ),
    sign: Path | None = typer.Option(None, help="SSH key to sign those files with."),
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Receipts in the order they were made."""
    from schemas.common import Page

    if sign is not None and export is None:
        raise typer.BadParameter("--sign signs what --export writes.")
    desk = desk_()
    if export is not None:
        from core.promotion.exporting import export as write

        write(desk, export, sign)
    with desk.store.read() as view:
        found, cursor = view.operations.receipts(Page(limit=limit, after=after))
    lines = [line for r in found for line in _receipt(r)]
    items = [r.model_dump(mode="json") for r in found]
    emit({"items": items, "next": cursor}, *(lines or ["No receipts."]))
