"""The filter box: words that narrow the list above it; loaded when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.widgets.words import WordsInput

if TYPE_CHECKING:
    from tui.panes.listing import ListingPane


class FilterInput(WordsInput):
    """One row; enter keeps the words, esc clears them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", show=False)]

    def __init__(self, words: str) -> None:
        super().__init__(
            words, placeholder="filter by words, enter keeps, esc clears", compact=True
        )
        self.cursor_blink = False

    @property
    def pane(self) -> ListingPane:
        """The pane whose list it narrows."""
        from tui.panes.listing import ListingPane

        return next(a for a in self.ancestors if isinstance(a, ListingPane))

    async def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow as you type."""
        event.stop()
        await self.pane.filtered(event.value, close=False)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the words and go back to the list."""
        event.stop()
        await self.pane.filtered(event.value, close=True)

    async def action_clear(self) -> None:
        """Clear the words and go back to the list."""
        await self.pane.filtered("", close=True)
