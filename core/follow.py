"""Following a workspace: a hint whenever something below the watched folders changed (terminal.md).

The hint is only a hint; whoever gets it asks the store and the destination themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

STEP_MS = 50
DEBOUNCE_MS = 200


def follow(workspace: Path, stop: threading.Event, changed: Callable[[], None]) -> None:
    """Call `changed` after changes under `.memdesk/` and `.aiwg/` until `stop` is set.

    Returns at once where the system can't watch (no inotify left, a network mount): the caller's
    own clock is the fallback.
    """
    from watchfiles import DefaultFilter, watch

    roots = [p for p in (workspace / ".memdesk", workspace / ".aiwg") if p.is_dir()]
    quiet = DefaultFilter(ignore_entity_patterns=(r"\.tmp$", r"-shm$", r"\.lock$"))
    try:
        for _changes in watch(
            *roots,
            stop_event=stop,
            watch_filter=quiet,
            step=STEP_MS,
            debounce=DEBOUNCE_MS,
            rust_timeout=500,
            yield_on_timeout=False,
            raise_interrupt=False,
        ):
            changed()
    except (OSError, RuntimeError):
        return
