"""Overlays: help for the pane at hand, and the meaning of codes. Any key closes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui import keys
from tui.panes.reading import OneText
from tui.widgets.document import Document, Line
from tui.widgets.lines import Row

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key


class Overlay(ModalScreen[str | None], OneText):
    """A titled text over the pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "close", show=False),
        *keys.TEXT,
    ]

    def __init__(
        self, title: str, lines: Sequence[Line], through: tuple[str, str] | None = None
    ) -> None:
        super().__init__()
        self._through = through
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        """A box with a title row and the text."""
        with Vertical(id="overlay"):
            yield Row(id="overlay-title")
            yield Document(id="overlay-text")

    def on_mount(self) -> None:
        """Write it."""
        key = "  ".join(self._through) + "   " if self._through else ""
        self.query_one(Row).show([(f" {self._title}", "accent")], [(f"{key}esc closes ", "muted")])
        document = self.query_one(Document)
        document.show(self._lines)
        document.focus()

    def on_key(self, event: Key) -> None:
        """A key that is let through closes it and acts on the pane below."""
        if self._through is not None and event.key == self._through[0]:
            event.stop()
            event.prevent_default()
            self.dismiss(event.key)

    def action_close(self) -> None:
        """Close it."""
        self.dismiss(None)
