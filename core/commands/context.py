"""`promotion context init|export|import` (spec 5.6)."""

from __future__ import annotations

from pathlib import Path

import typer

from core.commands.app import desk_, emit, options, say, to_json
from core.commands.promotion import preview_lines, promotion

context = typer.Typer(help="AIWG's canonical context.", no_args_is_help=True)
promotion.add_typer(context, name="context")


@context.command("init")
def init() -> None:
    """Preview making the empty store; before that nothing is written there."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.promotion.context import preview_init

    found = preview_init(desk_(), text=True).preview
    emit(found, *preview_lines(found))


@context.command("export")
def export(
    file: Path | None = typer.Argument(None, help="Where to write it; stdout if none is named."),
) -> None:
    """Print every entry as a bundle that another workspace can preview."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.aiwg_identity import pretty
    from core.promotion.context import export as bundle
    from schemas.errors import Unusable

    found = bundle(desk_())
    if file is None:
        print(to_json(found))
        return
    try:
        file.write_bytes(pretty(found))
    except OSError as err:
        raise Unusable("destination.unwritable", f"{file}: {err.strerror}") from err
    if options().json:
        emit({"file": str(file), "entries": len(found["entries"])})
    else:
        say(f"{len(found['entries'])} entries in {file}")


@context.command("import")
def import_(
    file: str = typer.Argument(..., help="A bundle."),
    across: bool = typer.Option(
        False, "--allow-cross-workspace", help="Take entries of another workspace."
    ),
) -> None:
    """Preview taking a bundle's active entries in; ids, states and dates are made anew."""
    import core.promotion  # noqa: F401  (registers the handlers)
    from core.promotion.context import preview_import

    found = preview_import(desk_(), file, across=across, text=True).preview
    emit(found, *preview_lines(found))
