"""Python's cycle collector kept off the screen's back.

A full collection visits every object there is while all threads stand still: with the libraries
alone a tenth of a second, with a huge diff several times that, again and again while it is built.
What stays for long is therefore put where collections do not look; it is freed by its references.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_depth = 0


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No collection inside; for the event loop's own thread, may be nested."""
    global _depth
    _depth += 1
    gc.disable()
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            gc.enable()


def keep() -> None:
    """Let collections pass over everything that is there now."""
    gc.freeze()
