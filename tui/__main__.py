"""The console script `memdesk`: the command line, and the screen when no command is given."""

from __future__ import annotations

import sys
from pathlib import Path


def open_ui(root: Path, store: str | None, reviewer: str | None) -> int:
    """Open the desk; Textual is loaded only here."""
    from tui.app import run

    return run(root, store, reviewer)


def main() -> None:
    """Entry point; ends the process with the contract's exit status."""
    from core.commands.entry import main as run

    sys.exit(run(open_ui))
