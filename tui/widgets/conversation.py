"""A conversation read page by page in both directions: blocks of rows, a cursor that is on one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from textual.message import Message

from tui.theme import glyphs
from tui.widgets.lines import Cells, LineView, wrap

_KEPT = 6
"""Stretches held at once; what lies further away is asked for again."""
_NEAR = 12
"""Blocks from an edge at which more is wanted."""
_STEP = 5


@dataclass(frozen=True, slots=True)
class Block:
    """One item, written out for a width; its first `lead` rows are a rule above it."""

    key: Hashable
    rows: Sequence[Cells]
    what: Any
    lead: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring blocks that came together, and what they were written from."""

    blocks: Sequence[Block]
    source: Any


class Conversation(LineView):
    """Holds a few stretches around the cursor, however long the whole is."""

    DEFAULT_CSS = "Conversation { height: 1fr; }"

    class Moved(Message):
        """The cursor is on another block, or the block is another now."""

        def can_replace(self, message: Message) -> bool:
            """A burst of moves is one."""
            return isinstance(message, Conversation.Moved)

    class Wants(Message):
        """More is wanted before the first or after the last stretch."""

        def __init__(self, *, back: bool) -> None:
            super().__init__()
            self.back = back

    class Resized(Message):
        """Rows were written for another width."""

        def can_replace(self, message: Message) -> bool:
            """A storm of them is one."""
            return isinstance(message, Conversation.Resized)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.stretches: list[Stretch] = []
        self.begins = self.ends = True
        """Whether the first and last stretch are the conversation's own."""
        self.empty: Cells = [(" …", "muted")]
        self._blocks: list[Block] = []
        self._tops: list[int] = [0]
        self._version = 0
        self.cursor = 0

    # content

    def show(self, stretch: Stretch, key: Hashable, *, begins: bool, ends: bool) -> None:
        """Another place: only this stretch, the cursor on the block named `key`."""
        self.stretches, self.begins, self.ends = [stretch], begins, ends
        self._arrange()
        self.cursor = self._find(key)
        top = self._tops[self.cursor] if self._blocks else 0
        # A third of the screen before it: what was said just before belongs to it.
        self._settle(top - self.size.height // 3)

    def extend(self, stretch: Stretch | None, *, back: bool, done: bool) -> None:
        """More came; what is on screen stays where it is, what is far away is dropped."""
        anchor, below = self._anchor()
        key = self.current.key if self.current else None
        if back:
            self.begins = self.begins or done
        else:
            self.ends = done
        if stretch is not None and stretch.blocks:
            self.stretches.insert(0 if back else len(self.stretches), stretch)
            while len(self.stretches) > _KEPT:
                self.stretches.pop(-1 if back else 0)
                if back:
                    self.ends = False
                else:
                    self.begins = False
        self._arrange()
        self.cursor = self._find(key)
        self._settle(self._tops[self._find(anchor)] + below if self._blocks else 0)

    def rewrite(self, stretches: Sequence[Stretch]) -> None:
        """The same places written anew: folded otherwise, or for another width."""
        anchor, below = self._anchor()
        key, on_screen = (self.current.key, True) if self.current else (None, False)
        self.stretches = list(stretches)
        self._arrange()
        self.cursor = self._find(key)
        top = self._tops[self._find(anchor)] + below if self._blocks and on_screen else 0
        self._settle(top)
        self._into_view()

    def _anchor(self) -> tuple[Hashable, int]:
        """The block at the top of the screen, and how far above it begins."""
        if not self._blocks:
            return None, 0
        i = self._at(self.scroll_offset.y)
        return self._blocks[i].key, self.scroll_offset.y - self._tops[i]

    def _arrange(self) -> None:
        self._blocks = [b for s in self.stretches for b in s.blocks]
        self._tops, top = [], 0
        for b in self._blocks:
            self._tops.append(top)
            top += len(b.rows)
        self._tops.append(top)
        self._version += 1
        self.strips.clear()
        self.set_count(top)

    def _find(self, key: Hashable) -> int:
        found = next((i for i, b in enumerate(self._blocks) if b.key == key), None)
        return min(self.cursor, max(0, len(self._blocks) - 1)) if found is None else found

    def _settle(self, top: int) -> None:
        self.jump(top)
        self.refresh()
        self.post_message(self.Moved())
        self._look_ahead()

    @property
    def current(self) -> Block | None:
        """The block under the cursor."""
        return self._blocks[self.cursor] if self.cursor < len(self._blocks) else None

    def on_resize(self) -> None:
        """Keep the cursor in view, and have the rows written anew."""
        self.set_count(self._tops[-1])
        self._into_view()
        self.post_message(self.Resized())

    # drawing

    def _at(self, y: int) -> int:
        return max(0, min(len(self._blocks) - 1, bisect_right(self._tops, y) - 1))

    def cells(self, y: int, width: int) -> tuple[Cells, str | None, object]:
        """A row of a block; the cursor's first one is reversed."""
        if not self._blocks:
            rows = wrap(self.empty, width, 1)
            return (rows[y] if y < len(rows) else ()), None, None
        if y >= self._tops[-1]:
            return (), None, "blank"
        i = self._at(y)
        block, part = self._blocks[i], y - self._tops[i]
        here = i == self.cursor and part == block.lead
        gutter = f"{glyphs().cursor} " if here else "  "
        row = [(gutter, "accent"), *block.rows[part]] if part >= block.lead else block.rows[part]
        return row, "cursor" if here else None, (self._version, y)

    # moving

    def step(self, by: int) -> None:
        """The next block; a block longer than the screen is read to its end first."""
        height, top = max(1, self.size.height), self.scroll_offset.y
        if self._blocks:
            first, last = self._tops[self.cursor], self._tops[self.cursor + 1]
            if by > 0 and top + height < last and first <= top + height:
                self.jump(min(top + _STEP, last - height))
                return
            if by < 0 and first < top:
                self.jump(max(top - _STEP, first))
                return
        self._put(self.cursor + by)

    def page(self, by: int) -> None:
        """A page of rows; the cursor goes to the block at the top."""
        rows = max(1, self.size.height - 1)
        last = max(0, self._tops[-1] - self.size.height)
        top = max(0, min(self.scroll_offset.y + by * rows, last))
        if top == self.scroll_offset.y:
            self._put(0 if by < 0 else len(self._blocks) - 1)
            return
        self.jump(top)
        i = self._at(top)
        self._put(i if self._tops[i] >= top or i + 1 >= len(self._blocks) else i + 1, keep=True)

    def edge(self, by: int) -> None:
        """The first or last block that is here."""
        self._put(0 if by < 0 else len(self._blocks) - 1)

    def go_to(self, key: Hashable) -> bool:
        """Put the cursor on a block that is here."""
        found = next((i for i, b in enumerate(self._blocks) if b.key == key), None)
        if found is not None:
            self._put(found)
        return found is not None

    def _put(self, i: int, *, keep: bool = False) -> None:
        i = max(0, min(i, len(self._blocks) - 1))
        if not self._blocks:
            return
        if i != self.cursor:
            old, self.cursor = self.cursor, i
            for b in (old, i):
                self.refresh_rows((self._tops[b] + self._blocks[b].lead,))
            self.post_message(self.Moved())
        if not keep:
            self._into_view()
        self._look_ahead()

    def _into_view(self) -> None:
        if not self._blocks:
            return
        height, top = max(1, self.size.height), self.scroll_offset.y
        first, last = self._tops[self.cursor], self._tops[self.cursor + 1]
        if first < top or last - first >= height:
            self.jump(first)
        elif last > top + height:
            self.jump(last - height)

    def _look_ahead(self) -> None:
        if not self.begins and self.cursor < _NEAR:
            self.post_message(self.Wants(back=True))
        if not self.ends and self.cursor >= len(self._blocks) - _NEAR:
            self.post_message(self.Wants(back=False))

    def on_click(self, event: object) -> None:
        """A click puts the cursor there."""
        if self._blocks:
            self._put(self._at(getattr(event, "y", 0) + self.scroll_offset.y), keep=True)
