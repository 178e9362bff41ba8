"""The frame of the command line: global options anywhere, output, errors to exit statuses."""

from __future__ import annotations

import json
import os
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.exceptions import TyperException

from core.commands.entry import OpenUi, Options, unusable
from core.safe_text import Shown, exact_line, visible
from schemas.errors import MemdeskError, Refused, Unusable
from schemas.reasons import Exit

if TYPE_CHECKING:
    from pydantic import BaseModel

    from core.ports import Desk

app = typer.Typer(
    name="memdesk",
    help="The desk where a maintainer decides what coding agents may remember.\n\n"
    "It is drawn in ASCII where the locale is not UTF-8; MEMDESK_ASCII=1 asks for that, 0 for signs.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


_CURRENT: ContextVar[Options] = ContextVar("options")


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    workspace: Path | None = typer.Option(None, help="Workspace folder (default: nearest above)."),
    store: str | None = typer.Option(None, help="Store URL (default: .memdesk/memdesk.db)."),
    reviewer: str | None = typer.Option(None, help="Who decides (default: git's user)."),
    as_json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks."),
    version: bool = typer.Option(False, "--version", help="Show the version and end."),
) -> None:
    """Without a command the desk opens."""
    given = options()
    given.workspace, given.store, given.reviewer = workspace, store, reviewer
    given.json, given.debug = as_json, debug
    if version:
        from importlib.metadata import version as installed

        print(f"memdesk {installed('memdesk')}")
        raise typer.Exit(0)
    if ctx.invoked_subcommand is None:
        from core.workspace import locate

        root_ = locate(workspace)
        if given.open_ui is None or as_json:
            raise typer.BadParameter("A command is needed here.")
        raise typer.Exit(given.open_ui(root_, store, reviewer))


def options() -> Options:
    """The global options of the call at hand."""
    return _CURRENT.get()


def desk_() -> Desk:
    """The desk the call names. Raises Unusable as `core.desk.open_` does."""
    from core import desk
    from core.workspace import locate
    from schemas.common import Door

    given = options()
    root_ = locate(given.workspace)
    who = desk.actor(Door.COMMAND, given.reviewer, root_)
    opened = desk.open_(root_, who, store_url=given.store)
    given.opened.append(opened)
    return opened


# output


def emit(document: BaseModel | dict[str, Any], *human: str) -> None:
    """Print one document: as JSON, or the lines meant for a person."""
    if options().json:
        value = document if isinstance(document, dict) else document.model_dump(mode="json")
        print(to_json(value))
        return
    for line in human:
        say(line)


def diff_lines(unified: str) -> list[str]:
    """A unified diff for a person: what could mislead in a line is marked, as on the desk."""
    named, rows = unified.split("\n")[:2], unified.removesuffix("\n").split("\n")[2:]
    return [*named, *(_diff_line(r) for r in rows)] if unified else []


def _diff_line(row: str) -> Shown:
    words, ending = row[1:].removesuffix("\r"), "␍" if row.endswith("\r") else ""
    return Shown(visible(row[:1]) + exact_line(words, every=False) + ending)


def to_json(value: Any) -> str:
    """JSON with everything but printable ASCII escaped (spec 0.7)."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("\x7f", "\\u007f")


def say(text: str) -> None:
    """Lines for a person, through the safe border."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in [text] if isinstance(text, Shown) else text.split("\n"):
        console.print(Text(visible(line)))


def progress(path: str, read: int, size: int) -> None:
    """Progress of long work on stderr, on a terminal only."""
    if sys.stderr.isatty() and not options().json and size > 4_000_000:
        share = 100 * read // max(1, size)
        end = "\n" if read >= size else "\r"
        print(f"{visible(path)[-60:]} {share:3d}%", end=end, file=sys.stderr, flush=True)


# errors


def run(open_ui: OpenUi | None, front: list[str], rest: list[str]) -> int:
    """Run one call with its global options in front; errors become statuses and lines."""
    import core.commands.artifacts
    import core.commands.candidates
    import core.commands.compaction
    import core.commands.context
    import core.commands.demo
    import core.commands.evidence
    import core.commands.lifecycle
    import core.commands.onboarding
    import core.commands.promotion
    import core.commands.whole  # noqa: F401

    given = Options(open_ui=open_ui)
    given.json, given.debug = "--json" in front, "--debug" in front
    token = _CURRENT.set(given)
    try:
        if fault := unusable([*front, *rest]):
            raise Refused("usage.invalid", fault)
        status = app(args=front + rest, prog_name="memdesk", standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except MemdeskError as err:
        return _failed(given, err)
    except (typer.Abort, KeyboardInterrupt):
        return int(Exit.INTERRUPTED)
    except typer.Exit as err:
        return err.exit_code
    except TyperException as err:
        return _usage(given, err)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)
    except Exception as err:
        if given.debug:
            raise
        return _failed(given, Unusable("internal.fault", f"{type(err).__name__}: {err}"))
    finally:
        _CURRENT.reset(token)
        for desk in given.opened:
            desk.store.close()


def _failed(given: Options, err: MemdeskError) -> int:
    if given.debug and err.__cause__ is not None:
        import traceback

        traceback.print_exception(err)
    if given.json:
        error = {
            "code": err.code,
            "message": err.message,
            "remedy": err.remedy,
            "details": err.details,
        }
        print(to_json({"error": error}), file=sys.stderr)
    else:
        print(f"{visible(err.code)}: {visible(err.message)}", file=sys.stderr)
        print(f"  {visible(err.remedy)}", file=sys.stderr)
    return int(err.exit)


def _usage(given: Options, err: TyperException) -> int:
    if given.json:
        error = {
            "code": "usage.invalid",
            "message": err.format_message(),
            "remedy": "See `memdesk COMMAND --help`.",
            "details": {},
        }
        print(to_json({"error": error}), file=sys.stderr)
    else:
        print(f"usage.invalid: {visible(err.format_message())}", file=sys.stderr)
        print("  See `memdesk COMMAND --help`.", file=sys.stderr)
    return int(Exit.USAGE)
