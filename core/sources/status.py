"""How a message stands as a source: closed for good, or never admitted (spec 2.3)."""

from __future__ import annotations

from core.ports import Reader
from schemas.common import Page
from schemas.sources import Cause, Fence, Source, SourceStatus

_CITING = 1_000


def of(view: Reader, event: str) -> Source:
    """One message: the first status that holds, its cause, and the beliefs formed from it.

    What was never admitted is unknown, and so withheld (2.1).
    """
    fence = view.sources.fence(event)
    if fence is not None:
        return _closed(view, fence)
    return Source(
        event_id=event,
        status=SourceStatus.UNKNOWN,
        cause=Cause(code="source.unknown"),
        beliefs=_formed(view, event),
    )


def fenced(view: Reader, page: Page) -> tuple[list[Source], str | None]:
    """Messages that are closed for good, in the order they were closed."""
    found, cursor = view.sources.fences(page)
    return [_closed(view, f) for f in found], cursor


def _closed(view: Reader, fence: Fence) -> Source:
    return Source(
        event_id=fence.event,
        status=SourceStatus.FENCED,
        cause=Cause(
            code=fence.cause,
            belief=fence.subject if fence.subject.startswith("bel_") else None,
            operation=fence.cut if fence.cut.startswith("op_") else None,
            time=fence.time,
        ),
        beliefs=_formed(view, fence.event),
    )


def _formed(view: Reader, event: str) -> tuple[str, ...]:
    cited = view.candidates.citing(event, _CITING)
    found = [view.promotion.belief_of(id_, number) for id_, number in cited]
    return tuple(b.id for b in found if b is not None)
