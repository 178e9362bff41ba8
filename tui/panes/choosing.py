"""One of the things that depend on an event, chosen from a list over the pane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.panes.evidence_detail import dependent
from tui.widgets.lines import Cells, Row, justified
from tui.widgets.rows import PAGE, Numbered, PagedList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from schemas.evidence import Dependent, Dependents
    from tui.theme import Glyphs


@dataclass(frozen=True, slots=True)
class _Choice:
    number: int
    what: Dependent

    @property
    def place(self) -> int:
        return self.number


class Choosing(ModalScreen["Dependent | None"]):
    """Enter takes the row under the cursor, esc none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("enter", "take", show=False),
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("ctrl+d,pagedown", "move(10)", show=False),
        Binding("ctrl+u,pageup", "move(-10)", show=False),
        Binding("g,home", "move(-100000)", show=False),
        Binding("G,end", "move(100000)", show=False),
    ]

    def __init__(self, found: Dependents, now: int, glyphs: Glyphs) -> None:
        super().__init__()
        self._found, self._now, self._glyphs = found, now, glyphs

    def compose(self) -> ComposeResult:
        """A box with a title row and the list."""
        with Vertical(id="overlay"):
            yield Row(id="overlay-title")
            yield PagedList(
                self._draw,
                lambda _p, _s: None,
                lambda _g, _w: (),
                lambda: self._glyphs.cursor,
                id="choices",
            )

    def on_mount(self) -> None:
        """Fill it."""
        more = " and more" if self._found.more else ""
        title = f" depends on it: {len(self._found.items):,}{more}"
        self.query_one(Row).show([(title, "accent")], [("enter goes there, esc closes ", "muted")])
        rows = [_Choice(n, d) for n, d in enumerate(self._found.items)]
        pages = {n: rows[n * PAGE : (n + 1) * PAGE] for n in range(-(-len(rows) // PAGE))}
        choices = self.query_one(PagedList)
        choices.load([p[0].place for p in pages.values()], len(rows), pages)
        choices.focus()

    def _draw(self, item: Numbered, width: int) -> Cells:
        left, _i, _k, _g, right = dependent(cast("_Choice", item).what, self._now, self._glyphs)
        return justified(left, right, width)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        choices = self.query_one(PagedList)
        choices.move_to(choices.cursor + by)

    def action_take(self) -> None:
        """Take the row under the cursor."""
        row = self.query_one(PagedList).row
        self.dismiss(cast("_Choice", row).what if row is not None else None)

    def action_close(self) -> None:
        """Take none."""
        self.dismiss(None)
