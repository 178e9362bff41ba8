"""Deciding on groups and marks: the bar says what will happen to how many before it happens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import work

from core.wording import some
from tui.messages import Changed, Hints
from tui.panes.candidate_hints import decidable
from tui.panes.deciding import Choice, DecidingPane
from tui.widgets.text import day

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from textual.events import Key

    from core.candidates.review import Undone
    from schemas.storage import CandidateFilter
    from tui.client import Client
    from tui.widgets.rows import Group

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
        elif decidable(row):
            self.marks[row.number] = (row.id, row.version)
        else:
            self.bar.say(f"{row.state.value}: nothing to decide, so nothing to mark", "warn")
            return
        self.list.repaint()
        self._say_marks()
        at = self.list.cursor
        self.list.move_to(at + 1)
        if self.list.cursor == at:
            self.show_marks()

    @work(exclusive=True, group="candidate-marks")
    async def action_mark_all(self) -> None:
        """Mark every row that can be decided and is not folded away, or take all marks away."""
        client, wanted, folded = self.client, self._filter(), self._folded()
        passed = 0
        if self.marks:
            self.marks.clear()
        elif client is not None:
            undecided = self._of(None)
            found = await self.ask(lambda: client.decidable(wanted, undecided, folded))
            if found is None:
                return
            refs, passed = found
            self.marks = {n: (id_, v) for n, id_, v in refs}
            if not refs:
                folds = "every row is folded away" if folded else "no row is here"
                why = f"{some(passed, 'row')}, all decided" if passed else folds
                self.bar.say(f"nothing to mark: {why}", "warn")
                return
        self.list.repaint()
        self._say_marks(passed)
        self.show_marks()

    def _folded(self) -> list[Group]:
        """Groups whose rows are not on screen wherever the list is scrolled to."""
        return [g for g in self.list.groups if g.folded]

    def _say_marks(self, passed: int = 0) -> None:
        count = len(self.marks)
        others = f", {passed:,} decided passed over" if passed else ""
        text = f"{count:,} marked{others}: a r d decide, * takes the marks away" if count else ""
        self.bar.say(text)

    def show_marks(self) -> None:
        """What the keys decide on is another thing now."""
        self.post_message(Hints())
        if self.list.group is not None:
            self.show_group(self.list.group)
        else:
            self.show_detail(keep_place=True)

    # deciding on many

    def _decide(
        self, choice: Choice, *, preview: bool = False, acknowledged: tuple[str, ...] = ()
    ) -> None:
        """On marks if there are any, on the group whose header is under the cursor, or one row."""
        if acknowledged or not (self.marks or self.list.group):
            super()._decide(choice, preview=preview, acknowledged=acknowledged)
        elif preview:
            many = "the marks" if self.marks else "the group"
            self.bar.say(f"A accepts one row and previews it; a accepts {many}", "warn")
        else:
            self._prepare(choice)

    @work(exclusive=True, group="candidate-batch")
    async def _prepare(self, choice: Choice) -> None:
        """Count exactly what would be decided, and what the filter hides; then arm."""
        client, group, dot = self.client, self.list.group, self.glyphs.dot
        if client is None:
            return
        if self.marks:
            refs = dict(self.marks)
            hidden = await self._hidden(client, refs.keys())
            if not hidden:
                return
            batch = _Batch(choice, tuple(refs), tuple(refs.values()), None)
            ways = [f"{len(refs):,} marked {dot} {way}" for way in hidden]
        elif group is not None:
            rows = await self.ask(lambda: client.refs(self._of(group.key)))
            everything = await self.ask(lambda: client.refs(self._of(group.key, words=False)))
            if not rows:
                self.bar.say("nothing in this group is still to be decided")
                return
            unseen = len(everything or ()) - len(rows)
            refs = {n: (id_, version) for n, id_, version in rows}
            if choice.verdict != "accept" and not choice.reason:
                choice = replace(choice, reason=group.title)
            batch = _Batch(choice, tuple(refs), tuple(refs.values()), group.key)
            what = f"{len(refs):,}: the whole group {group.title}"
            ways = [f"{what} {dot} {unseen:,} hidden{by}" for by in (" by the filter", "")]
        else:
            return
        until = f" {dot} until {day(choice.until)}" if choice.until else ""
        self._batch = batch
        verdict = choice.verdict.upper()
        tops = [f" {verdict} {way}{until}" for way in ways]
        keys = [("enter", "record one decision each"), ("any other key", "leave them")]
        self.bar.hold(tops, keys, "armed")

    async def _hidden(self, client: Client, marks: Set[int]) -> list[str]:
        """How many marks are not on the list as it stands, and what hides them; longest first."""
        wanted, folded = self._filter(), self._folded()
        found = await self.ask(lambda: client.refs_by_group(wanted, folded))
        if found is None:
            return []
        here = {key: {n for n, _, _ in refs} & marks for key, refs in found.items()}
        away = {g.title: len(here[g.key]) for g in folded if here[g.key]}
        elsewhere = marks - set[int]().union(*here.values())
        every = await self.ask(lambda: client.refs(replace(wanted, text=None))) if elsewhere else ()
        filtered = len(elsewhere & {n for n, _, _ in every or ()})
        causes = {"by the filter": filtered, "in another list": len(elsewhere) - filtered}
        named = causes | {f"folded away in {title}": n for title, n in away.items()}
        return [_hidden(named), _hidden(causes | {"folded away": sum(away.values())})]

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
        else:
            self.say_disarmed(event.key)

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
        self.show_marks()
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


def _hidden(causes: Mapping[str, int]) -> str:
    """`0 hidden`, `2 hidden by the filter`, `23 hidden: 2 by the filter, 21 folded away`."""
    real = {how: count for how, count in causes.items() if count}
    total = f"{sum(real.values()):,} hidden"
    if len(real) < 2:
        return " ".join((total, *real))
    return f"{total}: " + ", ".join(f"{count:,} {how}" for how, count in real.items())
