"""The status pane: every layer, backend and degraded row in one screen (spec 8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType

from tui import keys
from tui.panes.base import Pane
from tui.panes.reading import OneText
from tui.theme import glyphs
from tui.widgets.document import Document, Line
from tui.widgets.lines import Row
from tui.widgets.text import header

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from schemas.status import Status


class StatusPane(Pane, OneText):
    """The whole at a glance."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.TEXT]

    def __init__(self) -> None:
        super().__init__(id="pane-0")
        self._found: Status | None = None

    def compose(self) -> ComposeResult:
        """A title and the document."""
        yield Row(id="summary")
        yield Document(id="detail")

    def opened(self) -> None:
        """The store is open."""
        self.load()

    def store_changed(self) -> None:
        """Follow the store."""
        if self.display:
            self.load()

    def shown(self) -> None:
        """The pane came to the front."""
        self.load()

    @work(exclusive=True, group="status")
    async def load(self) -> None:
        """Ask for the status and write it."""
        client = self.client
        found = await self.ask(client.status) if client else None
        if found is not None:
            self._found = found
            self._write()

    def _write(self) -> None:
        s, g = self._found, glyphs()
        if s is None:
            return
        self.query_one("#summary", Row).show(
            [
                (" Status", "accent"),
                (f"  workspace {s.workspace[:8]} {g.dot} checkout {s.checkout[:8]}", "muted"),
            ]
        )
        lines = [header("store", s.store.get("backend", ""), g)]
        lines.append(
            _row("ledger", f"{s.ledger.seq:,} entries {g.dot} head {s.ledger.digest[7:15]}")
        )
        lines.append(_row("root", s.root))
        lines.append(_row("reviewer", s.reviewer))
        for title, counts in (
            ("evidence", s.evidence),
            ("candidates", s.candidates),
            ("operations", s.operations),
            ("in memory", s.beliefs),
        ):
            lines.append(header(title, "", g))
            lines += [_row(k, f"{v:,}") for k, v in sorted(counts.items())] or [
                _row("none yet", "")
            ]
        lines.append(header("layers", "", g))
        lines += [_row(name, text) for name, text in s.says.items()]
        lines.append(header("degraded", str(len(s.degraded)), g))
        for d in s.degraded:
            lines.append(Line([(f" ! {d.component}: {d.state}. {d.effect}", "warn")], indent=3))
        if not s.degraded:
            lines.append(Line([(f" {g.accepted} nothing", "good")]))
        self.query_one(Document).show(lines, keep_place=True)

    def focus_list(self) -> None:
        """The text is what has the focus here."""
        self.query_one(Document).focus()

    def hints(self) -> list[tuple[str, str]]:
        """Keys valid now."""
        return [
            ("j/k", "scroll"),
            ("1", "candidates"),
            ("2", "promotion"),
            ("?", "help"),
            ("q", "quit"),
        ]


def _row(name: str, value: str) -> Line:
    return Line([(f" {name:<14}", "muted"), (value, "text")], indent=15)
