"""The one border between stored bytes and any screen or human output (spec 0.7).

Everything that could act on a terminal or hide from a reader becomes a visible mark: C0, DEL and
C1 controls, ANSI and OSC through their ESC, bidi and zero-width characters, tags, surrogates,
unassigned and private characters. The result holds nothing but printable characters and spaces.

A mark is never mistaken for the same characters written in the text: a written `␛` shows as
`‹241B›`, and a written `‹202E›` as `‹2039›202E›`, because `‹2039›` can only stand for `‹`. What has
passed is `Shown` and passes again unchanged.
"""

from __future__ import annotations

import re
import unicodedata

TAB = 4
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
_BLANK = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)]
)
_EMOJI_STYLE = re.compile("(?<=[\u203c-\u3299\U0001f000-\U0001faff])\ufe0f")
_COMBINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_STORM = re.compile(f"([{_COMBINING}]{{4}})([{_COMBINING}]+)")
"""More marks on one letter than any script writes: they would paint over other rows."""
_SELECTORS = frozenset([0xFE0E, 0xFE0F])
_LIKE_MARK = re.compile("‹(?=[0-9A-Fa-f]{0,6}(?:›|$))")
"""A written `‹` that would read as the start of a mark, also one whose rest is in another piece."""


class Shown(str):
    """Text that is drawn as it is: it has passed the border, or is a sign of the desk's own."""

    __slots__ = ()


def _mark(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return _number(code)


def _number(code: int) -> str:
    return f"‹{code:04X}›"


def hidden(char: str) -> bool:
    """True for a character that acts, hides or reorders instead of showing itself."""
    code = ord(char)
    if code < 0x7F:
        return code < 0x20
    if code in _SELECTORS or 0xFE00 <= code <= 0xFE0D or 0xE0100 <= code <= 0xE01EF:
        return True
    return code in _BLANK or unicodedata.category(char) in _HIDDEN_CATEGORIES


class _Visible(dict[int, str]):
    """A translation table that fills itself; most code points map to themselves."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if 0x2400 <= code <= 0x2421:
            shown = _number(code)
        elif unicodedata.category(char) == "Zs":
            shown = " " if code in (0x20, 0xA0, 0x202F, 0x3000) else _mark(code)
        else:
            shown = _mark(code) if hidden(char) else char
        self[code] = shown
        return shown


_VISIBLE = _Visible()


def visible(text: str) -> Shown:
    """One line of `text` with every hidden character as a visible mark; tabs become spaces.

    A newline is a control like any other here: split first where lines matter.
    """
    if isinstance(text, Shown):
        return text
    if text.isascii() and text.isprintable():
        return Shown(text)
    if "\t" in text:
        text = text.expandtabs(TAB)
    return _marked(_LIKE_MARK.sub(_number(0x2039), text) if "‹" in text else text)


def _marked(text: str) -> Shown:
    shown = _EMOJI_STYLE.sub("", text).translate(_VISIBLE)
    return Shown(_STORM.sub(lambda m: m[1] + "".join(_mark(ord(c)) for c in m[2]), shown))


def visible_lines(text: str) -> list[Shown]:
    """`text` split on LF (a CR before it dropped) and each line made visible."""
    return [visible(line.removesuffix("\r")) for line in text.split("\n")]


def has_hidden(text: str) -> bool:
    """True when `visible` would replace something other than tab and newline."""
    if text.isascii() and text.isprintable():
        return False
    return any(hidden(c) and c not in "\n\t\r" for c in text)


def one_line(text: str, limit: int = 400) -> str:
    """The start of `text`, white space runs folded, that is `limit` wide once it is visible.

    Still as it was written: the border marks it when the line it stands in is shown.
    """
    line = " ".join(text[: limit * 4].split())
    if len(visible(line)) <= limit:
        return line
    end = min(len(line), limit - 1)
    while len(visible(line[:end])) >= limit:
        end -= 1
    return line[:end] + "…"


_SPACES = re.compile(r" +|\t|[^ \t]+")
_OWN = re.compile("[\u00a0\u202f\u3000\u00b7\u2192\u21b5\u2039\u2400-\u2421\ufe0f]")
"""What a diff's own marks are made of, and spaces that are none: shown by number."""


def exact_pieces(text: str, *, every: bool = True) -> list[tuple[Shown, bool]]:
    """One line of a diff as pieces `(shown, white)`; no two texts give equal pieces.

    White space is its own piece: spaces as `·`, a tab as `→`. A character of the text that looks
    like one of these marks is shown by its number. With `every` off a single space between two
    words is left blank; spaces at the ends, runs of them and tabs are marked all the same.
    """
    out: list[tuple[str, bool]] = []
    for found in _SPACES.finditer(text):
        piece = found[0]
        if piece[0] == " ":
            inside = len(piece) == 1 and found.start() > 0 and found.end() < len(text)
            lone = inside and "\t" not in (text[found.start() - 1], text[found.end()])
            out.append((" " if lone and not every else "\u00b7" * len(piece), True))
        elif piece == "\t":
            out.append(("→   ", True))
        else:
            out.append((piece if piece.isascii() else _by_number(piece), False))
    return [(Shown(text) if white else _marked(text), white) for text, white in out]


def _by_number(piece: str) -> str:
    return _OWN.sub(lambda m: _number(ord(m[0])), piece)


def exact_line(text: str, *, every: bool = True) -> Shown:
    """One line of a diff: spaces as `·`, tabs as `→`, whatever looks like them by its number."""
    return Shown("".join(shown for shown, _ in exact_pieces(text, every=every)))
