"""The one registry of reason codes: code, meaning, remedy, exit status (spec 0.4).

Codes are stable API: panes, `--json` errors and `memdesk explain CODE` all read this table.
"""

from __future__ import annotations

from schemas.reasons import candidates, compaction, evidence, promotion, whole
from schemas.reasons.rows import Exit, Reason

__all__ = ["REASONS", "Exit", "Reason", "reason"]

_ROOMS = (whole, evidence, candidates, promotion, compaction)
REASONS: dict[str, Reason] = {code: row for room in _ROOMS for code, row in room.ROWS.items()}


def reason(code: str) -> Reason:
    """The registered reason for `code`; KeyError when the registry does not know it."""
    return REASONS[code]
