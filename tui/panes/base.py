"""What every pane is: a summary row, a place in the frame, hints for the bar, safe calls to core."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.worker import Worker

from schemas.errors import MemdeskError, Unusable
from tui.messages import Explain, Hints
from tui.theme import Glyphs, glyphs
from tui.widgets.bar import Bar
from tui.widgets.lines import LineView
from tui.widgets.text import brief

if TYPE_CHECKING:
    from tui.app import DeskApp
    from tui.client import Client

T = TypeVar("T")
Keys = list[tuple[str, str]]
"""Keys, and what each does."""

_ENTER = {
    "place": "go there",
    "words": "look for it",
    "statement": "go on",
    "kind": "propose",
    "day": "decide",
    "reason": "keep",
    "loss": "not a loss",
    "why": "preview it",
}
"""What enter does with the words that are asked for."""


class Pane(Vertical):
    """One pane of the desk. Subclasses compose, load when the store is open, and give hints."""

    number = 0
    asking = ""
    """What is asked for in a row of its own, as `_ENTER` names it, or nothing."""

    @property
    def glyphs(self) -> Glyphs:
        """The signs to draw with."""
        return glyphs()

    @property
    def desk_app(self) -> DeskApp:
        """The app, typed."""
        return cast("DeskApp", self.app)

    @property
    def bar(self) -> Bar:
        """The two bottom rows."""
        return self.app.query_one(Bar)

    @property
    def client(self) -> Client | None:
        """Core, once the store is open."""
        return self.desk_app.client

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now, most needed first, while nothing is typed."""
        return []

    def hints_now(self) -> Keys:
        """Keys valid now, most needed first."""
        if self.asking:
            return [("enter", _ENTER[self.asking]), ("esc", "leave it")]
        return self.hints()

    def focus_list(self) -> None:
        """Put the focus where keys belong first."""

    @property
    def front(self) -> Widget:
        """What has the keys when nothing is asked."""
        return self.query(LineView).first()

    async def ask_for(
        self,
        what: str,
        label: str,
        done: Callable[[str | None], Awaitable[None]],
        *,
        value: str = "",
    ) -> None:
        """Ask for words in a row below the summary; `done` gets them, or None.

        The footer says what enter does with them, so `label` need not.
        """
        from tui.widgets.ask import AskInput

        await self.query(AskInput).remove()
        self.asking = what
        # What is typed already covers what is asked; else nothing of an earlier question stays.
        self.bar.say(label, passing=True) if value else self.bar.moved_on()
        box = AskInput(label, done, value)
        await self.mount(box, after=0)
        box.focus()
        self.post_message(Hints())

    async def answered(self) -> None:
        """The row that asked goes away, keys go back to where they were."""
        from tui.widgets.ask import AskInput

        self.asking = ""
        self.bar.moved_on()
        self.post_message(Hints())
        # At once, not after the next message: what is armed next must not be disarmed by it.
        self.screen.set_focus(self.front)
        await self.query(AskInput).remove()

    def bookmark(self) -> object:
        """Where one is, for a way back."""
        return None

    def return_to(self, mark: Any) -> None:
        """Go where `bookmark` was made."""

    def opened(self) -> None:
        """The store is open: load."""

    def shown(self) -> None:
        """The pane came to the front."""

    def store_changed(self) -> None:
        """Something in the store or the workspace may be another now."""

    def tick(self) -> None:
        """A second went by."""

    def left(self) -> None:
        """Another pane comes to the front: nothing stays armed behind it."""
        self.disarm()

    def disarm(self) -> None:
        """Give up what a next key would confirm."""

    def run_worker(self, work: Any, *args: Any, **options: Any) -> Worker[Any]:
        """As for any widget, but work that outlives its pane ends without a word."""
        if not options.get("thread"):
            work = partial(self.while_here, work)
        return super().run_worker(work, *args, **options)

    async def while_here(self, work: Any) -> Any:
        """Run work; that its pane is being taken down is no fault of it."""
        try:
            return await (work() if callable(work) else work)
        except NoMatches:
            if self.is_attached and self.app.is_running:
                raise
            return None

    async def attempt(self, call: Callable[[], T]) -> T:
        """Run a call to core off the event loop; whatever goes wrong has a code.

        Raises MemdeskError.
        """
        try:
            return await asyncio.to_thread(call)
        except MemdeskError:
            raise
        except Exception as err:
            raise Unusable("internal.fault", f"{type(err).__name__}: {err}") from err

    async def ask(self, call: Callable[[], T]) -> T | None:
        """The same, and a refusal becomes a line with its code."""
        try:
            return await self.attempt(call)
        except MemdeskError as err:
            self.refused(err)
            return None

    def refused(self, err: MemdeskError) -> None:
        """Say a refusal where everything is said: on the last row but one."""
        self.bar.say(f"{err.code}: {brief(err.message)} {err.remedy}", "warn", passing=True)

    def explain(self, codes: list[str], through: tuple[str, str] | None = None) -> None:
        """Open meaning and remedy of codes; the key `through` still acts on the pane."""
        if codes:
            self.post_message(Explain(codes, through))
