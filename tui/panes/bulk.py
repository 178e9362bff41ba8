"""Deciding on groups and marks: the bar says what will happen to how many before it happens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import work

from tui.messages import Changed
from tui.panes.deciding import Choice, DecidingPane
from tui.widgets.text import day

if TYPE_CHECKING:
    from textual.events import Key

    from core.candidates.review import Undone
    from schemas.storage import CandidateFilter

_DONE = {"accept": "accepted", "reject": "rejected", "defer": "deferred"}


@dataclass(frozen=True, slots=True)
class _Batch:
    """Exactly these versions, named and counted in the bar."""

    choice: Choice
    numbers: tuple[int, ...]
    refs: tuple[tuple[str, int], ...]
    group: int | str | None


class BulkPane(DecidingPane):
    """Groups that fold, marks, and one decision each on exactly what the bar counted."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.order = "group"
        self.folds: dict[tuple[str, int | str], bool] = {}
        """Groups folded or unfolded by hand; others stand as they start."""
        self.marks: dict[int, tuple[str, int]] = {}
        """Marked versions by the row's number."""
        self._batch: _Batch | None = None

    def _filter(self) -> CandidateFilter:
        raise NotImplementedError

    # groups

    def toggle_fold(self) -> bool:
        """Fold or unfold the group under the cursor; False when there is none."""
        group = self.list.group
        if group is None:
            return False
        self.folds[self.order, group.key] = not group.folded
        self.list.fold(group.key, folded=not group.folded)
        return True

    def action_group_next(self) -> None:
        """To the next group."""
        self.list.next_group(1)

    def action_group_back(self) -> None:
        """To the previous group."""
        self.list.next_group(-1)

    # marks

    def action_mark(self) -> None:
        """Mark the row, or take its mark away; the cursor goes on."""
        row = self.current
        if row is None:
            return
        if row.number in self.marks:
            del self.marks[row.number]
        else:
            self.marks[row.number] = (row.id, row.version)
        self.list.repaint()
        self.list.move_to(self.list.cursor + 1)
        self._say_marks()

    @work(exclusive=True, group="candidate-marks")
    async def action_mark_all(self) -> None:
        """Mark everything the list holds, or take all marks away."""
        client, wanted = self.client, self._filter()
        if self.marks:
            self.marks.clear()
        elif client is not None:
            found = await self.ask(lambda: client.refs(wanted))
            self.marks = {n: (id_, version) for n, id_, version in found or ()}
        self.list.repaint()
        self._say_marks()

    def _say_marks(self) -> None:
        count = len(self.marks)
        text = f"{count} marked: a r d decide on them, * takes the marks away" if count else ""
        self.bar.say(text)

    # deciding on many

    def _decide(
        self, choice: Choice, *, preview: bool = False, acknowledged: tuple[str, ...] = ()
    ) -> None:
        """On marks if there are any, on the group whose header is under the cursor, or one row."""
        if acknowledged or not (self.marks or self.list.group):
            super()._decide(choice, preview=preview, acknowledged=acknowledged)
        else:
            self._prepare(choice)

    @work(exclusive=True, group="candidate-batch")
    async def _prepare(self, choice: Choice) -> None:
        """Count exactly what would be decided, and what the filter hides; then arm."""
        client, group = self.client, self.list.group
        if client is None:
            return
        shown = await self.ask(lambda: client.refs(self._of(None)))
        if shown is None:
            return
        visible = {n for n, _, _ in shown}
        if self.marks:
            refs = dict(self.marks)
            hidden = len(refs.keys() - visible)
            batch = _Batch(choice, tuple(refs), tuple(refs.values()), None)
            what = f"{len(refs)} marked {self.glyphs.dot} {hidden} hidden by the filter"
        elif group is not None:
            rows = await self.ask(lambda: client.refs(self._of(group.key)))
            everything = await self.ask(lambda: client.refs(self._of(group.key, words=False)))
            if not rows:
                self.bar.say("nothing in this group is still to be decided")
                return
            hidden = len(everything or ()) - len(rows)
            refs = {n: (id_, version) for n, id_, version in rows}
            if choice.verdict != "accept" and not choice.reason:
                choice = replace(choice, reason=group.title)
            batch = _Batch(choice, tuple(refs), tuple(refs.values()), group.key)
            dot = self.glyphs.dot
            what = f"{len(refs)} {dot} {group.title} {dot} {hidden} hidden by the filter"
        else:
            return
        until = f" {self.glyphs.dot} until {day(choice.until)}" if choice.until else ""
        self._batch = batch
        self.bar.hold(
            [(f" {choice.verdict.upper()} {what}{until}", "text")],
            [("        enter  record one decision each       any other key  leave them", "text")],
            "armed",
        )

    def _of(self, group: int | str | None, *, words: bool = True) -> CandidateFilter:
        """What is still open of the list, or of one group of it, with or without its words."""
        wanted = replace(self._filter(), keep=tuple(sorted(self.due)), group=group)
        return wanted if words else replace(wanted, text=None)

    def disarm(self) -> None:
        """Leave everything undecided."""
        super().disarm()
        if self._batch is not None:
            self._batch = None
            self.bar.release()

    def on_key(self, event: Key) -> None:
        """While a batch is armed, enter decides and any other key only disarms."""
        batch = self._batch
        if batch is None:
            super().on_key(event)
            return
        event.stop()
        event.prevent_default()
        self.disarm()
        if event.key == "enter":
            self._decide_batch(batch)

    @work(exclusive=True, group="candidate-batch")
    async def _decide_batch(self, batch: _Batch) -> None:
        from schemas.candidates import Verdict

        client = self.client
        if client is None:
            return
        choice, verdict = batch.choice, Verdict(batch.choice.verdict)
        report = await self.ask(
            lambda: client.decide_all(batch.refs, verdict, choice.reason, choice.until)
        )
        if report is None:
            return
        self.made(choice)
        self.kept.update(batch.numbers)
        self.due -= set(batch.numbers)
        self.marks.clear()
        done, left = len(report.decided), len(report.left)
        # Where nothing was recorded, `u` would take back a decision made before.
        undo = f" {self.glyphs.dot} u undoes" if done else ""
        text = f"{_DONE[choice.verdict]} {done}{undo}"
        if left:
            codes = ", ".join(sorted({x.code for x in report.left}))
            text += f" {self.glyphs.dot} {left} left: {codes}"
        self.bar.say(text, "warn" if left else "good")
        if batch.group is not None and not left:
            self._past(batch.group)
        self.post_message(Changed())

    def _past(self, key: int | str) -> None:
        """From a decided group to the next header, or the next row still to be decided."""
        headers = self.list.headers()
        at = next((n for n, (_, g) in enumerate(headers) if g.key == key), len(headers))
        if at + 1 < len(headers):
            self.list.move_to(headers[at + 1][0])

    async def _undone(self, undone: Undone) -> None:
        """Decisions on marks were undone: what was marked is marked again."""
        client = self.client
        if client is None or not undone.marked:
            return
        refs = {v.id: (v.id, v.version) for v in undone.versions}
        found = await self.ask(lambda: client.numbers(tuple(refs)))
        self.marks.update({number: refs[id_] for id_, number in (found or {}).items()})
        self.list.repaint()
