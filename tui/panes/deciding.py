"""Deciding on the row under the cursor: one key, one exact version, undone with one key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import work
from textual.app import SuspendNotSupported

from schemas.errors import MemdeskError
from tui import keys
from tui.messages import Changed, OpenPreview
from tui.panes.detailing import DetailingPane
from tui.widgets.text import day, short

if TYPE_CHECKING:
    from textual.events import Key

    from core.candidates.review import Undone
    from schemas.candidates import CandidateRow, CandidateVersion


@dataclass(frozen=True, slots=True)
class Choice:
    """What a key decides: verdict, reason, and for a deferral its end (microseconds, UTC)."""

    verdict: str
    reason: str = ""
    until: int | None = None


class DecidingPane(DetailingPane):
    """Accept, reject, defer, undo, edit; hazards that need it are acknowledged in the bar."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.kept: set[int] = set()
        """Numbers of rows that stay where they are though they left the view's states."""
        self.due: frozenset[int] = frozenset()
        """Numbers of deferred rows whose day has come."""
        self.reason = ""
        """What the next decision carries as its reason."""
        self.last: Choice | None = None
        self._armed: tuple[CandidateRow, Choice, tuple[str, ...]] | None = None
        self._deciding = False

    @property
    def states(self) -> tuple[str, ...]:
        """States of the view; none means all."""
        raise NotImplementedError

    def undecided(self, row: CandidateRow) -> bool:
        """True for a row that the view is about; others only stay where they are."""
        return not self.states or row.state.value in self.states or row.number in self.due

    def choice(self, verdict: str) -> Choice:
        """A verdict with the reason that was said for the next decision."""
        return Choice(verdict, self.reason)

    def action_accept(self) -> None:
        """Accept this exact version."""
        self._decide(self.choice("accept"))

    def action_accept_preview(self) -> None:
        """Accept, then open the preview."""
        row = self.current
        if row is not None and row.state.value in ("accepted", "promoted"):
            self.post_message(OpenPreview(row.id, row.version))
        else:
            self._decide(self.choice("accept"), preview=True)

    def action_reject(self) -> None:
        """Reject this exact version."""
        self._decide(self.choice("reject"))

    def action_defer(self) -> None:
        """Put it off."""
        self._decide(self.choice("defer"))

    def _decide(
        self, choice: Choice, *, preview: bool = False, acknowledged: tuple[str, ...] = ()
    ) -> None:
        """Decide on the row that is on screen now; a key that comes too early is not kept."""
        row = self.current
        if row is None or self._deciding:
            return
        self._deciding = True
        self._decide_row(row, choice, preview, acknowledged)

    @work(group="candidate-decide")
    async def _decide_row(
        self, row: CandidateRow, choice: Choice, preview: bool, acknowledged: tuple[str, ...]
    ) -> None:
        from schemas.candidates import Verdict

        client, g, verdict = self.client, self.glyphs, Verdict(choice.verdict)
        try:
            if client is None:
                return
            decided = await self.attempt(
                lambda: client.decide(
                    row.id, row.version, verdict, choice.reason, acknowledged, choice.until
                )
            )
            self.made(choice)
            self.kept.add(row.number)
            self.due -= {row.number}
            sign, state = g.state(decided.state.value), decided.state.value
            until = f" until {day(choice.until)}" if choice.until else ""
            name = f"{short(decided.id)}@{decided.version}"
            done = f"{sign} {state} {name}{until} {g.dot} u undoes"
            self.bar.say(done, "good")
            await self._refresh_row(row.id)
            if preview:
                self.post_message(OpenPreview(decided.id, decided.version))
            elif client.settings.auto_advance:
                self._advance()
        except MemdeskError as err:
            if err.details.get("gate") == "acknowledge":
                self._arm(row, choice, (*acknowledged, err.code))
                return
            self.refused(err)
        finally:
            self._deciding = False
        self.post_message(Changed())

    def made(self, choice: Choice) -> None:
        """A decision is recorded: `.` makes it again; its reason is used up."""
        self.last, self.reason = choice, ""

    async def _refresh_row(self, id_: str) -> None:
        client = self.client
        fresh = await self.ask(lambda: client.row(id_)) if client else None
        if fresh is not None:
            self.list.update_row(fresh)

    def _advance(self) -> None:
        """To the next row that is still to be decided, as far as its page is here."""
        y = self.list.cursor + 1
        while y < self.list.rows_shown:
            group, index = self.list.entry(y)
            row = cast("CandidateRow | None", self.list.row_at(y))
            header = index is None and group is not None
            if header and not group.folded:  # type: ignore[union-attr]
                y += 1
                continue
            if (header and group.open) or (not header and (row is None or self.undecided(row))):  # type: ignore[union-attr]
                self.list.move_to(y)
                return
            y += 1

    # what must be acknowledged

    def _arm(self, row: CandidateRow, choice: Choice, acknowledged: tuple[str, ...]) -> None:
        """Ask for the acknowledgement of a hazard, in the one bar."""
        if not self.display or self.current != row:
            return
        self._armed = (row, choice, acknowledged)
        what = f" ACCEPT {short(row.id)}@{row.version} and acknowledge {', '.join(acknowledged)}"
        ways = [("enter", "accept, recorded with your name"), ("any other key", "leave it")]
        self.bar.hold(what, ways, "armed")

    def disarm(self) -> None:
        """Leave it undecided."""
        if self._armed is not None:
            self._armed = None
            self.bar.release()

    def disarm_unless(self, row: CandidateRow | None) -> None:
        """Leave it when the cursor is on another row, or the row is another now."""
        if self._armed is not None and self._armed[0] != row:
            self.disarm()

    def on_key(self, event: Key) -> None:
        """While armed, enter decides and any other key only disarms."""
        if self._armed is None:
            return
        event.stop()
        event.prevent_default()
        row, choice, acknowledged = self._armed
        self.disarm()
        if event.key == "enter" and self.current == row:
            self._decide(choice, acknowledged=acknowledged)
        else:
            self.say_disarmed(event.key)

    def say_disarmed(self, key: str) -> None:
        """The key that disarmed did nothing else: say so, or it looks swallowed."""
        again = "" if key in ("enter", "escape") else f"; {keys.shown(key)} only took it back"
        self.bar.say(f"left undecided{again}", "muted", passing=True)

    # taking back, writing anew

    @work(group="candidate-decide")
    async def action_undo(self) -> None:
        """Undo the last decision of this reviewer, and go back to it."""
        client = self.client
        reopened = await self.ask(client.undo) if client else None
        if reopened is None:
            return
        first, count = reopened.versions[0], len(reopened.versions)
        name = f"{short(first.id)}@{first.version} is" if count == 1 else f"{count} are"
        self.bar.say(f"undone: {name} pending again", "good")
        await self._back_to(first)
        await self._undone(reopened)

    async def _undone(self, undone: Undone) -> None:
        """More than one may have been undone."""

    async def _back_to(self, version: CandidateVersion) -> None:
        client = self.client
        fresh = await self.ask(lambda: client.row(version.id)) if client else None
        if fresh is not None:
            self.list.update_row(fresh)
            self.list.go_to(fresh.number)
        self.post_message(Changed())

    @work(group="candidate-decide")
    async def action_edit(self) -> None:
        """Edit the statement as a new version."""
        client, row, found = self.client, self.current, self.found
        if client is None or row is None or found is None or found.version.id != row.id:
            return
        v = found.version
        try:
            try:
                with self.app.suspend():
                    text = client.in_editor(v.statement)
            finally:
                self.app.refresh(layout=True)
            edited = await self.attempt(lambda: client.edit(v.id, v.version, text))
        except SuspendNotSupported:
            self.bar.say("this terminal can't make room for an editor: candidates edit", "warn")
            return
        except MemdeskError as err:
            self.refused(err)
            return
        self.bar.say(f"{short(edited.id)}@{edited.version} is pending; you are its editor", "good")
        self.kept.add(row.number)
        self.tab = "Diff"
        await self._back_to(edited)
