"""What verification found, and how much it looked at."""

from __future__ import annotations

from collections import Counter

from schemas.status import Finding


class Findings:
    """Faults in the order they were met, and counts of what was checked."""

    def __init__(self) -> None:
        self.faults: list[Finding] = []
        self.checked: Counter[str] = Counter()

    def fault(self, code: str, what: str, detail: str) -> None:
        """Note a fault under its reason code."""
        self.faults.append(Finding(code=code, what=what, detail=detail))

    def altered(self, what: str, detail: str) -> None:
        """Note a row that is not what the chain committed to."""
        self.fault("evidence.altered", what, detail)

    def broken(self, what: str, detail: str) -> None:
        """Note a fault of the chain itself."""
        self.fault("ledger.broken", what, detail)
