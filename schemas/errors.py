"""The error tree, drawn once; mapped to exit status, toast or modal in one place each.

MemdeskError            code, message, remedy, details -> exit status by its reason
  Refused               a rule said no; nothing changed
  NotFound              no such id, path or code
  Stale                 something moved, or a conflicting decision stands
  Unusable              workspace, store or destination can't serve
"""

from __future__ import annotations

from schemas.reasons import Exit, Reason, reason


class MemdeskError(Exception):
    """A refusal with its reason code; `details` are JSON-ready facts about this case."""

    def __init__(self, code: str, message: str | None = None, **details: object) -> None:
        self.reason: Reason = reason(code)
        self.message = message or self.reason.meaning
        self.details: dict[str, object] = details
        super().__init__(f"{code}: {self.message}")

    @property
    def code(self) -> str:
        """The stable reason code."""
        return self.reason.code

    @property
    def remedy(self) -> str:
        """One sentence that says what to do."""
        return self.reason.remedy

    @property
    def exit(self) -> Exit:
        """Exit status of a command that ends with this error."""
        return self.reason.exit


class Refused(MemdeskError):
    """A rule said no; nothing changed."""


class NotFound(MemdeskError):
    """No such id, path or code."""


class Stale(MemdeskError):
    """Something moved since it was looked at, or a conflicting decision stands."""


class Unusable(MemdeskError):
    """Workspace, store or destination can't serve."""
