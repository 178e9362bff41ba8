"""The two bottom rows: what happened last and the keys valid now, or the one bar for every write."""

from __future__ import annotations

from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.lines import COMPONENTS, Cells, Roles, fit, justified, safe, strip_of, width_of

_PLACE = 12
"""Cells below which a workspace's name says nothing."""


class Bar(Widget):
    """Height 2; when it takes over, nothing above it moves."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    DEFAULT_CSS = "Bar { height: 2; dock: bottom; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.roles = Roles(self)
        self.last: Cells = ()
        self.where: Cells = ()
        self.hints: list[tuple[str, str]] = []
        self._held: tuple[Cells, Cells, str | None] | None = None
        self._notice: Cells = ()

    def notify_style_update(self) -> None:
        """Styles changed: take them anew."""
        self.roles.clear()
        super().notify_style_update()

    def say(self, text: str, role: str = "text") -> None:
        """The last thing that happened; stays until the next."""
        self.last = [(" " + text, role)]
        if self._held is not None:
            self._notice = self.last
        self.refresh()

    def place(self, text: str) -> None:
        """Workspace, branch and reviewer, at the right edge."""
        self.where = [(text + " ", "muted")]
        self.refresh()

    def keys(self, hints: list[tuple[str, str]]) -> None:
        """The keys valid now."""
        if hints != self.hints:
            self.hints = hints
            self.refresh()

    def hold(self, top: Cells, bottom: Cells, over: str | None = None) -> None:
        """Take both rows for a write; `over` reverses them (armed, stale).

        What is said meanwhile shows in the upper row until the bar says something else; never
        over an armed one, which must say what would be written.
        """
        if self._held != (top, bottom, over):
            self._notice = ()
        self._held = (top, bottom, over)
        self.refresh()

    def release(self) -> None:
        """Give the rows back."""
        if self._held is not None:
            self._held, self._notice = None, ()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One of the two rows."""
        width = self.size.width
        if self._held is not None:
            top, bottom, over = self._held
            if self._notice and over != "armed":
                top = self._notice
            return strip_of(fit(top if y == 0 else bottom, width), width, self.roles, over)
        if y == 0:
            # What happened comes first; where it happened gets the room that is left.
            left = width - width_of(safe(self.last)) - 1
            where = fit(self.where, left) if left >= _PLACE else ()
            return strip_of(justified(self.last, where, width), width, self.roles)
        return strip_of(self._hints_in(width), width, self.roles)

    def _hints_in(self, width: int) -> list[tuple[str, str]]:
        """As many keys as there is room for; `?`, which tells the others, is never left out."""
        pieces = [[(key, "accent"), (f" {label}  ", "muted")] for key, label in self.hints]
        asks = [p for p, (key, _) in zip(pieces, self.hints, strict=True) if key == "?"]
        room = width - 1 - sum(width_of(p) - 2 for p in asks)
        cells: list[tuple[str, str]] = [(" ", "text")]
        full = False
        for piece in pieces:
            size = width_of(piece)
            if piece in asks:
                cells += piece
            elif not full and size <= room:
                cells += piece
                room -= size
            else:
                full = True
        return cells
