"""Jumps from pane to pane: by a message of a pane, by an id typed, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import App

from tui.messages import OpenCandidate, OpenEvidence, OpenWrites
from tui.panes.candidates import CandidatesPane
from tui.widgets.bar import Bar

if TYPE_CHECKING:
    from tui.client import Client
    from tui.panes.base import Pane

_TRAIL = 50
_GOTO = "go to: an id, session:ID#L12, or FILE:12 (enter; esc leaves it)"


class Jumping(App[int]):
    """What the desk does when a pane points to something in another one."""

    client: Client | None = None
    active = 1

    def __init__(self) -> None:
        super().__init__()
        self._trail: list[tuple[int, object]] = []

    @property
    def pane(self) -> Pane:
        """The pane in front."""
        raise NotImplementedError

    async def show_pane(self, number: int) -> Pane:
        """Bring a pane to the front."""
        raise NotImplementedError

    def _jump_from(self) -> None:
        """Remember where one is: backspace comes back."""
        self._trail = [*self._trail[1 - _TRAIL :], (self.active, self.pane.bookmark())]

    async def action_back(self) -> None:
        """Back to where the last jump began."""
        if not self._trail:
            self.query_one(Bar).say("no jump to go back from", "muted")
            return
        number, mark = self._trail.pop()
        pane = await self.show_pane(number)
        pane.return_to(mark)

    async def action_goto(self) -> None:
        """Ask for an id or a locator and go there."""
        if self.client is None:
            return
        pane = self.pane
        pane.disarm()

        async def done(words: str | None) -> None:
            await pane.answered()
            if words and words.startswith("cand_"):
                self.post_message(OpenCandidate(words))
            elif words and words.startswith(("op_", "rcpt_", "bel_")):
                self.post_message(OpenWrites(words))
            elif words:
                self.post_message(OpenEvidence(words))

        await pane.ask_for("place", _GOTO, done)

    @work(exclusive=True, group="goto")
    async def on_open_evidence(self, event: OpenEvidence) -> None:
        """Go to the evidence pane, if the locator names something."""
        from tui.panes.evidence import EvidencePane

        event.stop()
        client, here = self.client, self.pane
        if event.known:
            self._jump_from()
            await self.show_pane(7)
        found = await here.ask(lambda: client.locate(event.locator)) if client else None
        if found is None or not self.query(Bar):
            return
        if not event.known:
            self._jump_from()
        pane = await self.show_pane(7)
        if isinstance(pane, EvidencePane):
            pane.show_found(found)

    async def on_open_candidate(self, event: OpenCandidate) -> None:
        """Go to a candidate."""
        event.stop()
        self._jump_from()
        pane = await self.show_pane(1)
        if isinstance(pane, CandidatesPane):
            pane.show_candidate(event.candidate.partition("@")[0])

    async def on_open_writes(self, event: OpenWrites) -> None:
        """Go to a write, a receipt or a belief."""
        from tui.panes.promotion import PromotionPane

        event.stop()
        self._jump_from()
        pane = await self.show_pane(2)
        if isinstance(pane, PromotionPane):
            pane.show_write(event.id)
