"""Lanes: how the queue is grouped, most deserving of a person's time first (spec 4.8).

A plain list is nine in ten junk: the owner's explicit requests and conflicts come first; one-off
tasks and agents' restatements are kept, counted and folded.
"""

from __future__ import annotations

from enum import IntEnum

from schemas.evidence import Author


class Lane(IntEnum):
    """Groups in their order; a candidate stands in exactly one."""

    CONFLICT = 0
    ASKED = 1
    DECIDED = 2
    ONE_OFF = 3
    RESTATED = 4
    RULED = 5


NEEDED = (Lane.CONFLICT, Lane.RULED)
"""Lanes that need a person, half-open: what a rule file says already needs nobody."""
IN_RULES = (Lane.RULED, Lane.RULED + 1)
NAMES = {
    Lane.CONFLICT: "conflicts",
    Lane.ASKED: "asked to remember",
    Lane.DECIDED: "decisions and facts",
    Lane.ONE_OFF: "one-off requests",
    Lane.RESTATED: "restated by agents",
    Lane.RULED: "said by a rule file",
}
FOLDED = frozenset({Lane.ONE_OFF, Lane.RESTATED})
"""Groups that start folded."""

_ASKED = {"explicit-request", "standing-rule", "preference", "correction", "proposed"}
_AGENTS = {Author.AGENT.value, Author.SUBAGENT.value, Author.TOOL.value}


def lane_of(method: str, author: str, *, conflict: bool, ruled: bool = False) -> Lane:
    """The lane of a pending version: how it was found, who said it, whether it contradicts
    something, whether a rule file says the same."""
    if ruled:
        return Lane.RULED
    if author in _AGENTS:
        return Lane.RESTATED
    if method == "one-off":
        return Lane.ONE_OFF
    if conflict:
        return Lane.CONFLICT
    return Lane.ASKED if method in _ASKED else Lane.DECIDED
