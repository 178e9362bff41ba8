"""`status`, `verify`, `explain`, `schemas`: the commands about the whole (spec 8)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from core.commands.app import app, desk_, emit, options, progress
from schemas.errors import NotFound, Unusable
from schemas.reasons import REASONS, Exit

if TYPE_CHECKING:
    from schemas.status import Anchor, Status

schemas = typer.Typer(help="The contracts as JSON Schema.", no_args_is_help=True)
app.add_typer(schemas, name="schemas")


@app.command()
def status() -> None:
    """Every layer, backend and degraded row."""
    from core.status import status as whole

    found = whole(desk_())
    emit(found, *_status(found))


def _status(s: Status) -> list[str]:
    def row(name: str, counts: dict[str, int]) -> str:
        shown = " · ".join(f"{k} {v:,}" for k, v in counts.items()) or "none yet"
        return f"  {name:<12} {shown}"

    lines = [
        f"workspace {s.workspace[:8]} · checkout {s.checkout[:8]} · {s.reviewer}",
        row("evidence", s.evidence),
        row("candidates", s.candidates),
        row("operations", s.operations),
        row("beliefs", s.beliefs),
        f"  {'receipts':<12} {s.receipts}",
        f"  {'ledger':<12} {s.ledger.seq} entries · head {s.ledger.digest[7:15]}",
        f"  {'store':<12} {s.store['backend']} revision {s.store['revision']}",
    ]
    lines += [f"  {name:<12} {text}" for name, text in s.says.items()]
    for d in s.degraded:
        lines.append(f"! {d.component}: {d.state}. {d.effect}")
    return lines


@app.command()
def verify(
    head: str | None = typer.Option(
        None, help="A ledger head to compare with: digest, receipt or checkpoint file."
    ),
    signers: Path | None = typer.Option(
        None, help="Who may have signed that file: ssh's allowed_signers."
    ),
) -> None:
    """Check the ledger, what it commits to, and receipts against files."""
    from core.verify import verify as check

    if signers is not None and head is None:
        raise typer.BadParameter("--signers judges the file of --head.")
    try:
        report = check(desk_(), head, signers=signers, progress=progress)
    except Unusable as err:
        raise _examined(err) from err
    shown = " · ".join(f"{k} {v:,}" for k, v in report.checked.items()) or "nothing yet"
    lines = [f"{'sound' if report.ok else 'FAULTS'}: {shown}"]
    lines += [f"✗ {f.code}  {f.what} {f.detail}" for f in report.faults]
    lines += [f"· {d.code}  {d.what} {d.detail}" for d in report.drift]
    lines += [_anchor(report.anchor)] if report.anchor else []
    lines.append(f"head {report.head.seq} {report.head.digest}")
    emit(report, *lines)
    if not report.ok:
        raise typer.Exit(int(Exit.FAULTS))


def _examined(err: Unusable) -> Unusable:
    """A store that can't be verified, with what can be said of its file and what to do."""
    from core import desk
    from core.workspace import locate

    given = options()
    what = (
        desk.examine(locate(given.workspace), given.store) if err.code == "store.unusable" else ""
    )
    if not what:
        return err
    return Unusable(
        err.code,
        f"{err.message.rstrip('.')}. {what}",
        remedy="Close what may still write to it, set the file aside and put a backup in its place. "
        "Promoted memory stands under .aiwg/ without it, and sessions can be imported again.",
    )


def _anchor(a: Anchor) -> str:
    """What the anchor proves, in one line."""
    signed = "unsigned"
    if a.signature:
        whose = f"of {a.signer}" if a.signer else "nobody was asked about (--signers)"
        signed = f"signed by {a.signature}, a key {whose}"
    return f"anchor {'found' if a.found else 'NOT FOUND'} · {signed}"


@app.command()
def explain(
    code: str | None = typer.Argument(None, help="A reason code; all without one."),
) -> None:
    """What a reason code means and what to do about it."""
    if code is not None and code not in REASONS:
        near = [c for c in REASONS if code.split(".")[-1] in c or c.split(".")[0] == code]
        raise NotFound("reason.unknown", f"There is no code {code}.", near=near[:8])
    found = [REASONS[code]] if code else [REASONS[c] for c in sorted(REASONS)]
    items = [
        {"code": r.code, "meaning": r.meaning, "remedy": r.remedy, "exit": int(r.exit)}
        for r in found
    ]
    lines = [f"{r.code}\n  {r.meaning}\n  {r.remedy}" for r in found]
    emit(items[0] if code else {"items": items, "next": None}, *lines)


@schemas.command("export")
def export(folder: Path = typer.Argument(..., help="Where to write *.schema.json.")) -> None:
    """Write every contract as JSON Schema."""
    from core.contracts import export as write

    names = write(folder)
    emit({"items": names, "next": None}, *(f"{folder}/{n}" for n in names))
