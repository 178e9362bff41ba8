"""The first row: panes with their counts, in as many words as the width has room for."""

from __future__ import annotations

from collections.abc import Mapping

from tui.widgets.lines import width_of

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


def tabs(counts: Mapping[int, int | str | None], active: int, width: int) -> list[tuple[str, str]]:
    """The row's cells; under 100 columns 6, 7 and 0 are digits, on a tiny screen all others too."""
    ways: list[tuple[set[int], str]] = [
        (set(), " "),
        (set(), ""),
        ({6, 7, 0} - {active}, ""),
        (set(NAMES) - {active}, ""),
    ]
    cells: list[tuple[str, str]] = []
    for short, gap in ways if width >= 100 else ways[2:]:
        cells = []
        for number, name in NAMES.items():
            count = counts.get(number)
            label = f"{number}" if number in short else f"{number} {name}"
            text = count if isinstance(count, str) else f"{count:,}" if count is not None else ""
            label += f" {text}" if text and number not in short else ""
            front = number == active
            text = f"[{label}]" if front else f" {label} "
            cells.append((text + gap, "accent" if front else "text"))
        if width_of(cells) <= width:
            break
    return cells
