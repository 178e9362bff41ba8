"""Roles, glyphs and themes: one language for every pane; state never by colour alone."""

from __future__ import annotations

import os
from dataclasses import dataclass

from textual.theme import Theme

ROLES = ("text", "muted", "accent", "good", "warn", "bad", "add", "del", "owner", "rule", "mark")
"""Colour roles of a line's pieces; each is a component class in memdesk.tcss."""

DARK = Theme(
    name="memdesk-dark",
    primary="#7aa2f7",
    secondary="#9ece6a",
    accent="#7dcfff",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#d5d8e5",
    background="#14161f",
    surface="#14161f",
    panel="#1d2030",
    dark=True,
)
LIGHT = Theme(
    name="memdesk-light",
    primary="#2553b5",
    secondary="#3f6f14",
    accent="#0b6a8a",
    warning="#8a5a00",
    error="#b3152f",
    success="#3f6f14",
    foreground="#20222c",
    background="#fbfbf8",
    surface="#fbfbf8",
    panel="#ecece6",
    dark=False,
)


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs of states and rules, in Unicode or ASCII."""

    pending: str = "◦"
    accepted: str = "✓"
    promoted: str = "◉"
    rejected: str = "✗"
    deferred: str = "⧖"
    superseded: str = "»"
    lapsed: str = "∅"
    stale: str = "⟳"
    hold: str = "⊝"
    cursor: str = "❯"
    folded: str = "▸"
    unfolded: str = "▾"
    rule: str = "─"
    divider: str = "│"
    quote: str = "▎"
    open: str = "‹"
    close: str = "›"
    arrow: str = "→"
    dot: str = "·"
    gap: str = "⋮"
    end: str = "↵"

    def state(self, name: str) -> str:
        """The sign of a candidate or operation state."""
        return {
            "pending": self.pending,
            "accepted": self.accepted,
            "promoted": self.promoted,
            "rejected": self.rejected,
            "deferred": self.deferred,
            "superseded": self.superseded,
            "lapsed": self.lapsed,
            "previewed": self.pending,
            "prepared": self.deferred,
            "applied": self.promoted,
            "failed": self.rejected,
            "diverged": self.stale,
            "cancelled": self.superseded,
        }.get(name, "?")


ASCII = Glyphs(
    pending="o",
    accepted="v",
    promoted="@",
    rejected="x",
    deferred="z",
    superseded="^",
    lapsed="E",
    stale="S",
    hold="H",
    cursor=">",
    folded="+",
    unfolded="-",
    rule="-",
    divider="|",
    quote="|",
    open="[",
    close="]",
    arrow="->",
    dot="-",
    gap=":",
    end="$",
)

STATE_ROLE = {
    "pending": "text",
    "accepted": "good",
    "promoted": "good",
    "rejected": "bad",
    "deferred": "muted",
    "superseded": "muted",
    "lapsed": "muted",
    "previewed": "text",
    "prepared": "warn",
    "applied": "good",
    "failed": "bad",
    "diverged": "warn",
    "cancelled": "muted",
}


def glyphs() -> Glyphs:
    """Unicode glyphs where the terminal's locale is UTF-8, ASCII elsewhere or on request."""
    if os.environ.get("MEMDESK_ASCII"):
        return ASCII
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    return Glyphs() if "utf" in locale.lower() else ASCII
