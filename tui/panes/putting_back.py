"""Acting on what a compaction lost: copy it back, make it a candidate, say what it is (spec 7.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import work

from tui.messages import Changed, OpenEvidence, OpenPreview
from tui.panes import compaction_text as write
from tui.panes.listing import ListingPane
from tui.widgets.text import short

if TYPE_CHECKING:
    from schemas.candidates import CandidateVersion
    from schemas.compaction import Boundary, Item, MarkVerdict, Observation
    from tui.client import Client

_REASON = "why it is no loss"


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of one cut, by its place in the whole list."""

    number: int
    session: Observation
    cut: Boundary
    item: Item

    @property
    def place(self) -> int:
        """Its number is its place."""
        return self.number


class PuttingBackPane(ListingPane):
    """What the keys do with the item under the cursor."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.entries: list[Entry] = []
        self.cuts: dict[str, tuple[Observation, Boundary]] = {}
        self.next_at: tuple[str, str] | None = None
        """Where the cursor goes once the list is loaded again."""

    @property
    def entry(self) -> Entry | None:
        """The item under the cursor."""
        return cast("Entry | None", self.list.row)

    @property
    def cut(self) -> tuple[Observation, Boundary] | None:
        """The cut under the cursor, or the one its item belongs to."""
        if (entry := self.entry) is not None:
            return entry.session, entry.cut
        group = self.list.group
        return None if group is None else self.cuts.get(str(group.key))

    @staticmethod
    def identity(entry: Entry | None) -> tuple[str, str] | None:
        """What an item is, wherever it stands."""
        return None if entry is None else (entry.cut.at, entry.item.locator)

    def _after(self, entry: Entry) -> tuple[str, str] | None:
        """The next item of the same cut, or the one before the last."""
        beside = [
            e
            for n in (entry.number + 1, entry.number - 1)
            if 0 <= n < len(self.entries) and (e := self.entries[n]).cut.at == entry.cut.at
        ]
        return self.identity(beside[0]) if beside else self.identity(entry)

    # acting

    def codes(self) -> list[str]:
        """Codes of the item, or of the cut."""
        if (entry := self.entry) is not None:
            return list(entry.item.reasons)
        return list(self.cut[1].reasons) if self.cut else []

    def action_why_not(self) -> None:
        """Meaning and remedy of the codes shown."""
        if codes := self.codes():
            self.explain(codes)
        else:
            self.bar.say("nothing here has a code")

    def action_copy_id(self) -> None:
        """Copy the locator."""
        if (entry := self.entry) is not None:
            self.desk_app.copy(entry.item.locator)
        elif self.cut is not None:
            self.desk_app.copy(self.cut[1].at)

    def action_copy_text(self) -> None:
        """Copy the words with their origin, to paste them to the agent."""
        if (entry := self.entry) is not None:
            self.desk_app.copy(write.copied(entry.item))
        else:
            self.bar.say("enter unfolds it; Y copies an item")

    def action_source(self) -> None:
        """Read the item, or the cut, where it stands in its conversation."""
        if (entry := self.entry) is not None:
            self.post_message(OpenEvidence(entry.item.locator, known=True))
        elif self.cut is not None:
            self.post_message(OpenEvidence(self.cut[1].at, known=True))

    @work(group="compaction-acts")
    async def action_export(self) -> None:
        """Write what is shown into a file."""
        client, cut = self.client, self.cut
        path = await self.ask(lambda: client.export(cut[0].session)) if client and cut else None
        if path is not None:
            self.bar.say(f"exported to {path}", "good")

    async def _candidate(self, client: Client, entry: Entry) -> CandidateVersion | None:
        """A candidate whose source is the original message, never the summary."""
        from schemas.choices import CandidateKind

        i = entry.item
        kind = i.kind or CandidateKind.GOAL
        words = " ".join(i.quote.split())
        return await self.ask(lambda: client.propose_from(words, kind, i.locator))

    @work(group="compaction-acts")
    async def action_accept(self) -> None:
        """Make it a candidate, accept exactly that, and open the preview of what it would write.

        What must be acknowledged first is read in the candidates pane: nothing is waved through.
        """
        client, entry = self.client, self.entry
        if client is None or entry is None or not self._binds(entry):
            return
        from schemas.choices import CandidateState, Verdict

        made = await self._candidate(client, entry)
        if made is None:
            return
        if made.state is not CandidateState.PROMOTED and made.state is not CandidateState.ACCEPTED:
            reason = f"put back: lost at L{entry.cut.line}"
            made = await self.ask(
                lambda: client.decide(made.id, made.version, Verdict.ACCEPT, reason, ())
            )
        if made is not None:
            self.post_message(OpenPreview(made.id, made.version))
        self.post_message(Changed())

    @work(group="compaction-acts")
    async def action_candidate(self) -> None:
        """Make a candidate whose source is the original message, never the summary."""
        client, entry = self.client, self.entry
        if client is None or entry is None or not self._binds(entry):
            return
        i = entry.item
        made = await self._candidate(client, entry)
        if made is not None:
            dot = self.glyphs.dot
            self.bar.say(
                f"{short(made.id)}@{made.version} {made.state.value} {dot} source L{i.line} {dot} "
                "1 opens candidates",
                "good",
            )
            self.post_message(Changed())

    def _binds(self, entry: Entry) -> bool:
        if entry.item.class_.value == "evidence":
            self.bar.say("an action is no statement; its result stands in the evidence", "warn")
            return False
        return True

    async def action_not_a_loss(self) -> None:
        """Ask why, then keep exactly this item out of the count."""
        from schemas.compaction import MarkVerdict

        entry = self.entry
        if entry is None or not self._binds(entry):
            return

        async def done(words: str | None) -> None:
            await self.answered()
            if words is not None:
                self._mark(entry, MarkVerdict.NOT_A_LOSS, words)

        await self.ask_for("loss", _REASON, done)

    def action_reclass(self) -> None:
        """A one-off becomes a standing instruction, anything else a one-off."""
        from schemas.compaction import MarkVerdict

        entry = self.entry
        if entry is not None and self._binds(entry):
            once = entry.item.class_.value == "one-off"
            self._mark(entry, MarkVerdict.STANDING if once else MarkVerdict.ONE_OFF, "")

    def action_undo(self) -> None:
        """Take back what was said of the item."""
        from schemas.compaction import MarkVerdict

        entry = self.entry
        if entry is None or entry.item.mark is None:
            self.bar.say("nothing was said of this item")
        else:
            self._mark(entry, MarkVerdict.LIFTED, "")

    @work(group="compaction-acts")
    async def _mark(self, entry: Entry, verdict: MarkVerdict, reason: str) -> None:
        client = self.client
        if client is None:
            return
        said = await self.ask(lambda: client.mark(entry.item, entry.cut.at, verdict, reason))
        if said is not None:
            self.next_at = self._after(entry)
            words = f", “{reason}”" if reason else ""
            self.bar.say(
                f"L{entry.item.line}: {said.verdict.value}{words} {self.glyphs.dot} u takes it back"
            )
            self.post_message(Changed())
