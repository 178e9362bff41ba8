"""One row that asks for words: a reason, a day. Loaded when first asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.widgets.words import WordsInput


class AskInput(WordsInput):
    """Enter gives the words to whoever asked, esc gives none; no letter in it acts as a key."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(
        self, label: str, done: Callable[[str | None], Awaitable[None]], value: str = ""
    ) -> None:
        super().__init__(value, placeholder=label, compact=True)
        self.cursor_blink = False
        self._done = done

    def on_input_changed(self, event: Input.Changed) -> None:
        """Only the asker cares."""
        event.stop()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the words."""
        event.stop()
        await self._done(event.value.strip())

    async def action_leave(self) -> None:
        """Give none."""
        await self._done(None)
