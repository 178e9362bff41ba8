"""The first row: panes with their counts, in as many words as the width has room for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from textual.strip import Strip

from tui.widgets.lines import Row, fit, strip_of, width_of

NAMES = {
    1: "Candidates",
    2: "Promotion",
    3: "Context",
    4: "Compaction",
    5: "Sources",
    6: "Outputs",
    7: "Evidence",
    0: "Status",
}
"""Panes by the digit that brings them to the front."""
BRIEF = {1: "Cand", 2: "Prom", 3: "Ctx", 4: "Comp", 5: "Src", 6: "Out", 7: "Evid", 0: "Stat"}
"""The same where there is no room for all of it."""
_SHORTENED = (0, 7, 6, 5, 3, 4, 2, 1)
"""Whose label is shortened first, then becomes a digit, where there is no room for all; never that
of the pane in front."""


def tabs(counts: Mapping[int, int | str | None], active: int, width: int) -> list[tuple[str, str]]:
    """The row's cells: as much of the labels as fits."""
    cells: list[tuple[str, str]] = []
    for brief, short, gap in _ways(active):
        cells = []
        for number, name in NAMES.items():
            count = counts.get(number)
            shown = BRIEF[number] if number in brief else name
            label = f"{number}" if number in short else f"{number} {shown}"
            text = count if isinstance(count, str) else f"{count:,}" if count is not None else ""
            label += f" {text}" if text and number not in short else ""
            front = number == active
            text = f"[{label}]" if front else f" {label} "
            cells.append((text + gap, "accent" if front else "text"))
        if width_of(cells) <= width:
            break
    return cells


def _ways(active: int) -> Iterator[tuple[set[int], set[int], str]]:
    """Which labels are brief, which are digits, and the gap, from the widest row to the narrowest."""
    others = [n for n in _SHORTENED if n != active]
    yield set(), set(), " "
    for count in range(len(others) + 1):
        yield set(others[:count]), set(), ""
    for count in range(1, len(others) + 1):
        yield set(others), set(others[:count]), ""


class Tabs(Row):
    """The row itself, laid anew for every width it is drawn at."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._counts: Mapping[int, int | str | None] = {}
        self._active = 1

    def show_panes(self, counts: Mapping[int, int | str | None], active: int) -> None:
        """Show these counts, and which pane is in front."""
        self._counts, self._active = dict(counts), active
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The labels that have room now."""
        width = self.size.width
        return strip_of(fit(tabs(self._counts, self._active, width), width), width, self.roles)
