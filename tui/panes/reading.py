"""A place with one text: the same keys scroll it in every pane and overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tui.widgets.document import Document

if TYPE_CHECKING:
    from textual.widget import Widget


class OneText:
    """What scrolls a Document; mixed into panes and overlays that hold exactly one.

    No widget itself: Textual finds a widget's styles along its first base only.
    """

    @property
    def text(self) -> Document:
        """The text."""
        return cast("Widget", self).query_one(Document)

    def action_scroll(self, rows: int) -> None:
        """Scroll by rows."""
        self.text.scroll_rows(rows)

    def action_scroll_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.text.scroll_rows(pages * max(1, self.text.size.height - 1))

    def action_scroll_top(self) -> None:
        """To the beginning."""
        self.text.jump(0)

    def action_scroll_bottom(self) -> None:
        """To the end."""
        self.text.jump(self.text.virtual_size.height)
