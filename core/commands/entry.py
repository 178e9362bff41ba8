"""Global options wherever they stand, and the short way to the screen (contract).

Nothing heavy is imported here: a call without a command must paint its first frame soon.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import MemdeskError

if TYPE_CHECKING:
    from core.ports import Desk

OpenUi = Callable[[Path, str | None, str | None], int]
"""Opens the screen on a workspace: root, store URL, reviewer; answers an exit status."""

_FLAGS = ("--json", "--debug")
_VALUES = ("--workspace", "--store", "--reviewer")
_TEXT_OPTIONS = ("--text", "--reason", "--filter", "--key")
"""Options whose value may look like a global option and is left alone."""


@dataclass(slots=True)
class Options:
    """Global options of one call."""

    workspace: Path | None = None
    store: str | None = None
    reviewer: str | None = None
    json: bool = False
    debug: bool = False
    open_ui: OpenUi | None = None
    opened: list[Desk] = field(default_factory=list)
    """Desks to close when the call ends."""


def hoist(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Global options, and the rest of the arguments, each in their order."""
    front: list[str] = []
    rest: list[str] = []
    i, args = 0, list(argv)
    while i < len(args):
        arg = args[i]
        name = arg.split("=", 1)[0]
        if arg == "--":
            rest += args[i:]
            break
        if arg in _TEXT_OPTIONS and i + 1 < len(args):
            rest += args[i : i + 2]
            i += 2
        elif arg in _FLAGS or (name in _VALUES and "=" in arg):
            front.append(arg)
            i += 1
        elif arg in _VALUES:
            front += args[i : i + 2]
            i += 2
        else:
            rest.append(arg)
            i += 1
    return front, rest


def unusable(args: Sequence[str]) -> str | None:
    """Why an argument can't be meant: empty where words are needed, or bytes that are no UTF-8.

    An unset variable in a script must not pass for an option that was not given. Names of files
    may be any bytes.
    """
    before = ""
    for arg in args:
        name, sign, value = arg.partition("=")
        bare = sign and not value and name.startswith("--") and name not in _TEXT_OPTIONS
        if bare or (not arg and before not in _TEXT_OPTIONS):
            return f"{name or before or 'An argument'} is empty."
        if not arg.isascii() and not _decodes(arg) and not os.path.lexists(arg):
            return "An argument is not UTF-8 and names no file."
        before = arg
    return None


def _decodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def main(open_ui: OpenUi, argv: Sequence[str] | None = None) -> int:
    """Run one call; every error ends as a line with a code, never as a traceback."""
    front, rest = hoist(sys.argv[1:] if argv is None else argv)
    if (
        not rest
        and not unusable(front)
        and "--json" not in front
        and len(front) % 2 == 0
        and "--debug" not in front
    ):
        values = _values(front)
        if values is not None:
            return _screen(open_ui, values)
    from core.commands.app import run

    return run(open_ui, front, rest)


def _values(front: list[str]) -> dict[str, str] | None:
    """`--name value` pairs of a plain call, or None for one that the parser should judge."""
    pairs = dict(zip(front[::2], front[1::2], strict=True))
    return pairs if all(name in _VALUES for name in pairs) else None


def _screen(open_ui: OpenUi, values: dict[str, str]) -> int:
    from core import workspace
    from core.safe_text import visible

    given = values.get("--workspace")
    try:
        root = workspace.locate(Path(given) if given else None)
    except MemdeskError as err:
        print(f"{err.code}: {visible(err.message)}\n  {err.remedy}", file=sys.stderr)
        return int(err.exit)
    return open_ui(root, values.get("--store"), values.get("--reviewer"))
