"""What every pane is: a summary row, a place in the frame, hints for the bar, safe calls to core."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from textual.containers import Vertical

from schemas.errors import MemdeskError, Unusable
from tui.messages import Explain
from tui.theme import Glyphs, glyphs
from tui.widgets.bar import Bar
from tui.widgets.text import brief

if TYPE_CHECKING:
    from tui.app import DeskApp
    from tui.client import Client

T = TypeVar("T")


class Pane(Vertical):
    """One pane of the desk. Subclasses compose, load when the store is open, and give hints."""

    number = 0

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
        """Keys valid now, most needed first."""
        return []

    def focus_list(self) -> None:
        """Put the focus where keys belong first."""

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
