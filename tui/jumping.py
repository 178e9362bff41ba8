"""Jumps from pane to pane: by a message of a pane, by an id typed, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.app import App

from tui.messages import OpenCandidate, OpenEvidence, OpenWrites
from tui.panes.base import Pane
from tui.panes.candidates import CandidatesPane
from tui.widgets.bar import Bar

if TYPE_CHECKING:
    from tui.client import Client
    from tui.looking import RuleText

_TRAIL = 50


@dataclass(frozen=True, slots=True)
class _Jump:
    """Where a jump began, and what stood where it led: backspace brings both back."""

    here: int
    mark: object
    there: int
    stood: object


_GOTO = "go to: an id, session:ID#L12, FILE:12, or a rule as CLAUDE.md:4"


class Jumping(App[int]):
    """What the desk does when a pane points to something in another one."""

    client: Client | None = None
    active = 1

    def __init__(self) -> None:
        super().__init__()
        self._trail: list[_Jump] = []

    @property
    def pane(self) -> Pane:
        """The pane in front."""
        raise NotImplementedError

    async def show_pane(self, number: int) -> Pane:
        """Bring a pane to the front."""
        raise NotImplementedError

    async def _jump(self, there: int) -> Pane:
        """Bring a pane to the front and remember where one was: backspace comes back."""
        here, mark = self.active, self.pane.bookmark()
        pane = await self.show_pane(there)
        jump = _Jump(here, mark, there, pane.bookmark())
        self._trail = [*self._trail[1 - _TRAIL :], jump]
        return pane

    async def action_back(self) -> None:
        """Back to where the last jump began; where it led is as it was."""
        if not self._trail:
            self.query_one(Bar).say("no jump to go back from", "muted")
            return
        jump = self._trail.pop()
        if jump.there != jump.here:
            self.query_one(f"#pane-{jump.there}", Pane).return_to(jump.stood)
        pane = await self.show_pane(jump.here)
        pane.return_to(jump.mark)

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
        from tui.looking import RuleText
        from tui.panes.evidence import EvidencePane

        event.stop()
        client, here = self.client, self.pane
        if event.known:
            await self._jump(7)
        found = await here.ask(lambda: client.locate(event.locator)) if client else None
        if found is None or not self.query(Bar):
            return
        if isinstance(found, RuleText):
            self._show_rule(found)
            return
        pane = await (self.show_pane(7) if event.known else self._jump(7))
        if isinstance(pane, EvidencePane):
            pane.show_found(found)

    def _show_rule(self, found: RuleText) -> None:
        """The line of a rule file in its place: policy is no evidence, so no pane lists it."""
        from tui.panes.overlay import Overlay
        from tui.widgets.document import Line

        lines = [
            Line([(f" {n:>5} ", "muted"), (text, "owner" if n == found.line else "text")], indent=7)
            for n, text in enumerate(found.lines, found.first)
        ]
        lines += [Line(), Line([(" read as policy, never evidence and never written", "muted")])]
        self.push_screen(Overlay(f"{found.path}:{found.line}", lines))

    async def on_open_candidate(self, event: OpenCandidate) -> None:
        """Go to a candidate."""
        event.stop()
        pane = await self._jump(1)
        if isinstance(pane, CandidatesPane):
            pane.show_candidate(event.candidate.partition("@")[0])

    async def on_open_writes(self, event: OpenWrites) -> None:
        """Go to a write, a receipt or a belief."""
        from tui.panes.promotion import PromotionPane

        event.stop()
        pane = await self._jump(2)
        if isinstance(pane, PromotionPane):
            pane.show_write(event.id)
