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
    """A refusal with its reason code; `details` are JSON-ready facts about this case.

    `remedy` replaces the registered one where this case needs another.
    """

    def __init__(
        self, code: str, message: str | None = None, *, remedy: str = "", **details: object
    ) -> None:
        self.reason: Reason = reason(code)
        self.message = message or self.reason.meaning
        self.remedy = remedy or self.reason.remedy
        """One sentence that says what to do."""
        self.details: dict[str, object] = details
        super().__init__(f"{code}: {self.message}")

    @property
    def code(self) -> str:
        """The stable reason code."""
        return self.reason.code

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
