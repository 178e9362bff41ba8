"""The bottom rows: what happened last and the keys valid now, or the one bar for every write.

They are two; where what was said is longer it takes more of them for as long as it is said, so that
a remedy is never cut. It is drawn over the pane, and nothing above moves; but a pane whose rows count
as seen gives them up instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.lines import (
    COMPONENTS,
    Cells,
    Roles,
    fit,
    justified,
    safe,
    strip_of,
    width_of,
    wrap,
)

_INDENT = 8
_MOST = 5
"""Rows that a message may take, and at most a quarter of the screen."""
_TINY = 8
"""Rows of a screen under which the bar has one: what was said, or else the keys."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What both rows say about a write."""

    tops: tuple[str, ...]
    keys: tuple[tuple[str, str], ...]
    over: str | None
    role: str

    def top(self, width: int) -> Cells:
        """The first way to say it that has room."""
        ways: list[Cells] = [[(text, self.role)] for text in self.tops]
        return next((w for w in ways if width_of(safe(w)) <= width), ways[-1])

    def bottom(self, width: int) -> Cells:
        """The keys, closer together where there is little room, and left out from the end."""
        role = "text" if self.over else "muted"
        texts = [f"{key}  {label}" for key, label in self.keys]
        for shown in range(len(texts), 0, -1):
            for indent, gap in ((_INDENT, 5), (1, 3)):
                row: Cells = [(" " * indent + (" " * gap).join(texts[:shown]), role)]
                if width_of(safe(row)) <= width:
                    return row
        return fit([(f" {texts[0]}", role)], width) if texts else ()


class Bar(Widget):
    """Drawn over the pane's margin of two rows; when it takes over, nothing above it moves."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    DEFAULT_CSS = "Bar { height: 2; dock: bottom; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.roles = Roles(self)
        self.last: Cells = ()
        self.wheres: list[Cells] = []
        """Where this is, from the longest way to say it to the shortest."""
        self.hints: list[tuple[str, str]] = []
        self._held: _Held | None = None
        self._passing = False
        self._notice: Cells = ()

    def notify_style_update(self) -> None:
        """Styles changed: take them anew."""
        self.roles.clear()
        super().notify_style_update()

    def say(self, text: str, role: str = "text", *, passing: bool = False) -> None:
        """The last thing that happened; stays until the next.

        What is `passing` is about the row, the pane or the question at hand and goes with it.
        """
        self.last = [(" " + text, role)]
        self._passing = passing
        if self._held is not None:
            self._notice = self.last
        self._changed()

    def _changed(self) -> None:
        """Draw what is said now, in as many rows as it needs."""
        keys = 0 if self._short_of_rows else 1
        height = len(self._said(self.size.width)) + keys
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        # Under a write stands what must have been on screen before it: none of it is covered.
        margin = height if self._held is not None else 1 + keys
        for panes in self.app.query("#panes"):
            if panes.styles.margin.bottom != margin:
                panes.styles.margin = (0, 0, margin, 0)
        self.refresh()

    @property
    def _short_of_rows(self) -> bool:
        """True where the screen has room for one row of ours only."""
        return self.app.size.height < _TINY

    def on_resize(self) -> None:
        """Another width, other rows."""
        self._changed()

    def moved_on(self) -> None:
        """What was said about something else than is at hand now is over."""
        if self._passing:
            self.say("")
            self._notice = ()

    def place(self, names: Sequence[str], dot: str) -> None:
        """Workspace, branch and reviewer, at the right edge."""
        ends = [names[n:] for n in range(len(names))]
        self.wheres = [[(dot.join(end) + " ", "muted")] for end in ends]
        self.refresh()

    def keys(self, hints: list[tuple[str, str]]) -> None:
        """The keys valid now."""
        if hints != self.hints:
            self.hints = hints
            self.refresh()

    def hold(
        self,
        tops: str | Sequence[str],
        keys: Sequence[tuple[str, str]],
        over: str | None = None,
        *,
        role: str = "text",
    ) -> None:
        """Take both rows for a write; `over` reverses them (armed, stale).

        Of `tops` the first is shown that has room; keys are left out from the end. What is said
        meanwhile shows in the upper row until the bar says something else; never over an armed
        one, which must say what would be written.
        """
        held = _Held((tops,) if isinstance(tops, str) else tuple(tops), tuple(keys), over, role)
        if self._held != held:
            self._notice = ()
        self._held = held
        self._changed()

    def release(self) -> None:
        """Give the rows back."""
        if self._held is not None:
            self._held, self._notice = None, ()
            self._changed()

    def _said(self, width: int) -> list[Cells]:
        """Everything above the keys: one row, or what was said in as many as it takes."""
        held = self._held
        told = self.last
        if held is not None:
            if not self._notice or held.over == "armed":
                return [fit(held.top(width), width)]
            told = self._notice
        most = 1 if self._short_of_rows else max(1, min(_MOST, self.app.size.height // 4))
        if most > 1 and width_of(safe(told)) > width:
            rows = wrap(told, width - 1, 1)
            rest: Cells = [piece for row in rows[most - 1 :] for piece in row]
            return [*rows[: most - 1], *([fit(rest, width)] if rest else [])]
        if held is not None:
            return [fit(told, width)]
        # What happened comes first; where it happened gets the room that is left, the
        # reviewer before the branch before the workspace.
        left = width - width_of(safe(told)) - 1
        where = next((w for w in self.wheres if width_of(safe(w)) <= left), ())
        return [justified(told, where, width)]

    def render_line(self, y: int) -> Strip:
        """One of the rows."""
        width, held = self.size.width, self._held
        over = held.over if held else None
        rows = self._said(width)
        if self._short_of_rows and not (held or width_of(safe(self.last)) > 1):
            rows = []
        if y < len(rows):
            return strip_of(rows[y], width, self.roles, over)
        keys = held.bottom(width) if held else self._hints_in(width)
        return strip_of(keys, width, self.roles, over)

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
