"""Panes whose columns are not built yet: each says what will be there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from tui import keys
from tui.panes.base import Pane
from tui.panes.reading import OneText
from tui.widgets.document import Document, Line
from tui.widgets.lines import Row

if TYPE_CHECKING:
    from textual.app import ComposeResult

WHAT: dict[int, tuple[str, str, str]] = {
    3: (
        "Context",
        "What an agent was given: each pack with what is in and out, and why not.",
        "Nothing serves packs yet; promoted lines are in .aiwg/memory/line-memory.txt.",
    ),
    5: (
        "Sources",
        "Which messages may be read again, which are closed for good, and by what.",
        "No message is admitted yet, so none can be read again.",
    ),
    6: (
        "Outputs",
        "What agents wrote in the workspace, with its lineage, registered as it appears.",
        "The watcher is not built yet.",
    ),
}


class LaterPane(Pane, OneText):
    """One such pane."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.TEXT]

    def __init__(self, number: int) -> None:
        super().__init__(id=f"pane-{number}")
        self.number = number

    def compose(self) -> ComposeResult:
        """A title and three sentences."""
        yield Row(id="summary")
        yield Document(id="detail")

    def on_mount(self) -> None:
        """Write them."""
        title, what, now = WHAT[self.number]
        self.query_one("#summary", Row).show(
            [(f" {title}", "accent"), (" is not built yet", "muted")]
        )
        lines = [
            Line(),
            Line([(" Here will be: ", "muted"), (what, "text")], indent=1),
            Line(),
            Line([(" Until then: ", "muted"), (now, "text")], indent=1),
        ]
        self.query_one(Document).show(lines)

    def focus_list(self) -> None:
        """The text is what has the focus here."""
        self.query_one(Document).focus()

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        return [
            ("1", "candidates"),
            ("2", "promotion"),
            ("0", "status"),
            ("?", "help"),
            ("q", "quit"),
        ]
