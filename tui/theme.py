"""Roles, glyphs and themes: one language for every pane; state never by colour alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from textual.theme import Theme

from core.safe_text import Shown

ROLES = (
    *("text", "muted", "accent", "good", "warn", "bad", "add", "del", "owner", "rule", "mark"),
    *("space", "space-mark"),
)
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
    fenced: str = "⊘"
    lapsed: str = "∅"
    stale: str = "⟳"
    hold: str = "⊝"
    cursor: str = "❯"
    mark: str = "✱"
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
    here: str = "◂"
    edited: str = "✎"
    bar: str = "█"

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
            "active": self.promoted,
            "revoked": self.rejected,
            "archived": self.superseded,
            "removed": self.lapsed,
            "drifted": self.edited,
        }.get(name, "?")


UNICODE = Glyphs()
ASCII = Glyphs(
    pending="o",
    accepted="v",
    promoted="@",
    rejected="x",
    deferred="z",
    superseded="^",
    fenced="F",
    lapsed="E",
    stale="S",
    hold="H",
    cursor=">",
    mark="*",
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
    here="<",
    edited="w",
    bar="#",
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
    "active": "good",
    "revoked": "bad",
    "archived": "muted",
    "removed": "muted",
    "drifted": "warn",
}


_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
_OWN = {
    "…": "..",
    "·": ".",
    "→": "->",
    "←": "<-",
    "•": "*",
    "⋮": ":",
    "↵": "$",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "‹": "[",
    "›": "]",
    "␡": "^?",
}
_OWN_ASCII = str.maketrans(_OWN | {chr(0x2400 + c): "^" + chr(0x40 + c) for c in range(32)})
"""Fallbacks for the marks that the desk itself writes: ellipsis, quotes, control pictures."""


def _ascii_terminal() -> bool:
    """True on request, or where the locale's encoding is not UTF-8."""
    if wanted := os.environ.get("MEMDESK_ASCII"):
        return wanted != "0"
    locale = os.environ.get("LC_ALL") or _given_ctype() or os.environ.get("LANG") or ""
    return "utf" not in locale.lower()


def _given_ctype() -> str:
    """`LC_CTYPE` as the desk was started with: where it meets the C locale Python sets one of its own
    (PEP 538), which says nothing about the terminal."""
    found = os.environ.get("LC_CTYPE", "")
    if found not in _COERCED:
        return found
    try:
        started = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return found
    return found if f"LC_CTYPE={found}".encode() in started else ""


_plain = _ascii_terminal()


def choose(ascii_only: bool | None) -> None:
    """Draw in ASCII or not; None asks the environment."""
    global _plain
    _plain = _ascii_terminal() if ascii_only is None else ascii_only


def is_plain() -> bool:
    """True in ASCII mode."""
    return _plain


def in_ascii(text: Shown) -> Shown:
    """The desk's own marks in ASCII mode; every other character stays what it is."""
    return text if not _plain or text.isascii() else Shown(text.translate(_OWN_ASCII))


def glyphs() -> Glyphs:
    """The signs to draw with."""
    return ASCII if _plain else UNICODE
