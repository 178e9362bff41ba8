"""Fences: messages that are closed for good (spec 2.2)."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from schemas.common import Page
from schemas.sources import Fence
from store.keys import ID, WS, parse_cursor
from store.prepared import Prepared
from store.tables import FENCE

_F = FENCE.c
_ONE = Prepared(sa.select(FENCE).where(_F.ws == WS, _F.event == ID))
_HOLD = Prepared(sa.insert(FENCE))


class Sources:
    """Fences of one workspace on one connection."""

    def __init__(self, connection: sa.Connection, ws: int) -> None:
        self._c = connection
        self._ws = ws

    def fence(self, event: str) -> Fence | None:
        """What closed an event first, if anything did."""
        row = _ONE.first(self._c, ws_=self._ws, id_=event)
        return None if row is None else _fence(row)

    def fences(self, page: Page) -> tuple[list[Fence], str | None]:
        """All fences, the oldest first."""
        time, event = _place(page.after)
        later = sa.or_(_F.time > time, sa.and_(_F.time == time, _F.event > event))
        query = sa.select(FENCE).where(_F.ws == self._ws, later)
        rows = self._c.execute(query.order_by(_F.time, _F.event).limit(page.limit + 1)).all()
        items = [_fence(r) for r in rows[: page.limit]]
        last = items[-1] if len(rows) > page.limit else None
        return items, None if last is None else f"{last.time}.{last.event}"

    def cut_by(self, name: str) -> list[Fence]:
        """What one operation or decision closed, by event."""
        query = sa.select(FENCE).where(_F.ws == self._ws, _F.cut == name)
        return [_fence(r) for r in self._c.execute(query.order_by(_F.event))]

    def fence_count(self) -> int:
        """How many events are closed."""
        query = sa.select(sa.func.count()).select_from(FENCE).where(_F.ws == self._ws)
        return int(self._c.execute(query).scalar_one())

    def cuts(self) -> list[str]:
        """Names of everything that closed an event, for verification."""
        query = sa.select(_F.cut).where(_F.ws == self._ws).distinct().order_by(_F.cut)
        return list(self._c.execute(query).scalars())

    def hold(self, fences: Sequence[Fence]) -> None:
        """Close events; one that is closed already must not be among them."""
        for f in fences:
            _HOLD.run(self._c, ws=self._ws, **f.model_dump(exclude={"schema_version"}))


def _place(after: str | None) -> tuple[int, str]:
    if after is None:
        return -1, ""
    number, _, event = after.partition(".")
    return parse_cursor(number, 1, -1)[0], event


def _fence(r: object) -> Fence:
    return Fence.model_validate({n: getattr(r, n) for n in _NAMES})


_NAMES = ("event", "cause", "subject", "cut", "time")
