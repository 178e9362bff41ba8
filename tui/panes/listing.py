"""A pane with a list and a detail: moving, switching, filtering, scrolling the one from the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.containers import Container, Vertical
from textual.css.query import NoMatches
from textual.widget import Widget

from tui.messages import Hints
from tui.panes.base import Keys, Pane
from tui.widgets.document import Document
from tui.widgets.lines import Row
from tui.widgets.rows import PagedList
from tui.widgets.words import WordsInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.events import DescendantBlur


class ListingPane(Pane):
    """List on the left (or above), detail beside it (or below it under 100 columns)."""

    words = ""
    _due = False
    _loading = False

    def make_list(self) -> PagedList:
        """The list widget."""
        raise NotImplementedError

    def below_list(self) -> Iterable[Widget]:
        """What stands under the list where there is room."""
        return ()

    def compose(self) -> ComposeResult:
        """Summary, list, detail."""
        yield Row(id="summary")
        with Container(id="split"):
            with Vertical(id="left"):
                yield self.make_list()
                yield from self.below_list()
            with Vertical(id="right"):
                yield Row(id="detail-title")
                yield Document(id="detail")

    @property
    def list(self) -> PagedList:
        """The list."""
        return self.query_one(PagedList)

    @property
    def front(self) -> Widget:
        """The list."""
        return self.list

    @property
    def detail(self) -> Document:
        """The detail."""
        return self.query_one("#detail", Document)

    @property
    def in_detail(self) -> bool:
        """True when keys move in the detail."""
        return self.app.focused is self.detail

    def focus_list(self) -> None:
        """Let keys move in the list."""
        self.list.focus()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """Keys go elsewhere now: nothing stays armed. An input that closes gives them back."""
        if not isinstance(event.widget, WordsInput):
            self.disarm()

    def on_descendant_focus(self) -> None:
        """Other keys are valid where the focus is now."""
        self.post_message(Hints())

    def hints_now(self) -> Keys:
        """While words are typed, letters are letters."""
        if not self.query(PagedList):  # the desk is being left
            return []
        if not self.asking and isinstance(self.app.focused, WordsInput):
            return [("enter", "keep the words"), ("esc", "clear them")]
        return super().hints_now()

    # moving

    def action_down(self) -> None:
        """Next row."""
        self.detail.scroll_rows(1) if self.in_detail else self.list.move_to(self.list.cursor + 1)

    def action_up(self) -> None:
        """Previous row."""
        self.detail.scroll_rows(-1) if self.in_detail else self.list.move_to(self.list.cursor - 1)

    def action_top(self) -> None:
        """First row."""
        self.detail.jump(0) if self.in_detail else self.list.go_top()

    def action_bottom(self) -> None:
        """Last row."""
        if self.in_detail:
            self.detail.jump(self.detail.virtual_size.height)
        else:
            self.list.move_to(self.list.rows_shown - 1)

    def action_page_down(self) -> None:
        """A page down."""
        self._page(1)

    def action_page_up(self) -> None:
        """A page up."""
        self._page(-1)

    def _page(self, direction: int) -> None:
        if self.in_detail:
            self.detail.scroll_rows(direction * max(1, self.detail.size.height - 1))
        else:
            self.list.move_to(self.list.cursor + direction * self.list.page_rows())

    def action_switch(self) -> None:
        """Between list and detail."""
        (self.list if self.in_detail else self.detail).focus()
        self.post_message(Hints())

    def action_detail_down(self) -> None:
        """Scroll the detail from the list."""
        self.detail.scroll_rows(3)

    def action_detail_up(self) -> None:
        """Scroll the detail from the list."""
        self.detail.scroll_rows(-3)

    # filter

    async def action_filter(self) -> None:
        """Open the filter; no letter typed in it acts as a key."""
        from tui.widgets.filter import FilterInput

        if found := self.query(FilterInput):
            found.first().focus()
            return
        box = FilterInput(self.words)
        await self.mount(box, before=self.query_one("#split", Widget))
        box.focus()

    async def filtered(self, words: str, *, close: bool) -> None:
        """The filter holds other words."""
        from tui.widgets.filter import FilterInput

        if close:
            self.focus_list()
            if not words:
                await self.query(FilterInput).remove()
        if words != self.words:
            self.words = words
            self.narrowed()
            self.reload()

    @work(exclusive=True, group="filter-box")
    async def show_words(self) -> None:
        """The box holds the words the list is narrowed by, however they came; none without any."""
        from tui.widgets.filter import FilterInput

        found = self.query(FilterInput)
        if not self.words:
            await found.remove()
        elif found:
            found.first(FilterInput).value = self.words
        else:
            await self.mount(FilterInput(self.words), before=self.query_one("#split", Widget))

    def narrowed(self) -> None:
        """The list is about to be another one."""

    def reload(self) -> None:
        """Ask for the list anew; asked again while it comes, it is asked for once more."""
        self._due = True
        if not self._loading:
            self._loading = True
            self._load_due()

    @work(group="reload")
    async def _load_due(self) -> None:
        try:
            while self._due and self.query(PagedList):
                self._due = False
                await self.load_list()
        except NoMatches:
            if self.query(PagedList):  # else the desk is being left while its list comes
                raise
        finally:
            self._loading = False

    async def load_list(self) -> None:
        """Load the list as it is now wanted."""
        raise NotImplementedError
