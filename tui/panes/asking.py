"""Decisions that need a word: put off until a day, for a reason, the last one again."""

from __future__ import annotations

from dataclasses import replace

from schemas.errors import MemdeskError
from tui.panes.bulk import BulkPane

_DAY = "put off until: monday, 3d, 2 weeks, 5 dec, 2026-12-05"
_REASON = "reason of the next decision, then a r d decides"


class AskingPane(BulkPane):
    """Asks in one row above the list, and decides on exactly what was under the cursor then."""

    async def action_defer_until(self) -> None:
        """Ask for a day, then put off the row, the group or the marks."""
        if self.current is None and self.list.group is None:
            return
        target = self._target()

        async def done(words: str | None) -> None:
            client = self.client
            if not words or client is None:
                await self.answered()
                self.bar.moved_on()
                return
            try:
                until = await self.attempt(lambda: client.until(words))
            except MemdeskError as err:
                self.refused(err)
                return
            await self.answered()
            if self._target() != target:
                self.bar.say("the row under the cursor is another now; nothing was put off", "warn")
                return
            self._decide(replace(self.choice("defer"), until=until))

        await self.ask_for("day", _DAY, done)

    async def action_reason(self) -> None:
        """Ask for the reason that the next decision carries."""

        async def done(words: str | None) -> None:
            await self.answered()
            if words is None:
                self.bar.moved_on()
                return
            self.reason = words
            text = f"reason “{words}”: the next a r d carries it" if words else "no reason"
            self.bar.say(text)

        await self.ask_for("reason", _REASON, done)

    async def action_clear(self) -> None:
        """One step back: from the detail, out of the filter, without the reason."""
        if self.in_detail:
            self.action_switch()
        elif self.words:
            await self.filtered("", close=True)
        elif self.reason:
            self.reason = ""
            self.bar.say("no reason")

    def action_again(self) -> None:
        """The last decision again, on what is under the cursor now."""
        if self.last is None:
            self.bar.say("no decision yet that could be made again", "warn")
        else:
            self._decide(self.last)

    def _target(self) -> tuple[object, ...]:
        """What a decision would be on now."""
        row, group = self.current, self.list.group
        return (
            tuple(self.marks.items()),
            (row.id, row.version) if row is not None else None,
            group.key if group is not None else None,
        )
