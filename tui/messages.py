"""Messages panes send to the app; bursts collapse."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class OpenPreview(Message):
    """Go to the promotion pane and preview this version."""

    candidate: str
    version: int


@dataclass
class Explain(Message):
    """Show meaning and remedy of these codes."""

    codes: list[str]
    through: tuple[str, str] | None = None
    """A key of the pane that works over the explanation too, and what it does."""


class Changed(Message):
    """The store may have changed, by us or by others."""

    def can_replace(self, message: Message) -> bool:
        """A burst of changes is one."""
        return isinstance(message, Changed)


class Hints(Message):
    """The keys valid now are others."""

    def can_replace(self, message: Message) -> bool:
        """Only the last one counts."""
        return isinstance(message, Hints)
