"""The one registry of reason codes: code, meaning, remedy, exit status (spec 0.4).

Codes are stable API: panes, `--json` errors and `memdesk explain CODE` all read this table.
"""

from __future__ import annotations

from schemas.reasons import candidates, evidence, promotion, whole
from schemas.reasons.rows import Exit, Reason

__all__ = ["REASONS", "Exit", "Reason", "reason"]

REASONS: dict[str, Reason] = whole.ROWS | evidence.ROWS | candidates.ROWS | promotion.ROWS


def reason(code: str) -> Reason:
    """The registered reason for `code`; KeyError when the registry does not know it."""
    return REASONS[code]
