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
class OpenEvidence(Message):
    """Go to the evidence pane, to what this locator names.

    At once when it is `known`, so that the next key already goes there; a locator that somebody
    typed is looked for first.
    """

    locator: str
    known: bool = False


@dataclass
class OpenCandidate(Message):
    """Go to the candidates pane, to this candidate."""

    candidate: str


@dataclass
class OpenWrites(Message):
    """Go to the promotion pane, to the list that holds this operation, receipt or belief."""

    id: str


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
