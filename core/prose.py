"""Markdown prose as statements are cut from it: paragraphs, list items, sentences, in their places.

What stands in code fences, indented code, quotes, tables and HTML is no prose. Places are character
offsets into the text that was given, so a span taken here stays in the stored text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^#{1,6}\s+(?=\S)")
EMPHASIS = re.compile(r"\*\*|(?<!\w)__|__(?!\w)")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_NO_PROSE = (">", "|", "<")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<![ .(][A-Z]\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)[\"'”’)]?\s+(?=[A-Z\"“`(\[]|[^\W\d_])"
)
_OPENS, _CLOSES = "<!--", "-->"

Continues = Callable[[str, str, bool], bool]
"""Whether a line goes on with the words before it, of a list item or not."""


def lines(text: str, continues: Continues) -> Iterator[tuple[int, str, bool]]:
    """Pieces of prose with where they start, and whether each is a list item.

    Soft-wrapped lines are joined in place: a piece is a stretch of the text.
    """
    fence: str | None = None
    at = 0
    rows = text.split("\n")
    i = 0
    while i < len(rows):
        line = rows[i]
        start, at = at, at + len(line) + 1
        i += 1
        if mark := _FENCE.match(line):
            fence = _fenced(fence, mark, line)
            continue
        plain = line.strip()
        if fence is not None or not plain or plain.startswith(_NO_PROSE):
            continue
        if line.startswith(("    ", "\t")) and not LIST_MARK.match(line):
            continue
        lead = LIST_MARK.match(line)
        offset = lead.end() if lead else len(line) - len(line.lstrip())
        words = line[offset:]
        if heading(plain) is None:
            listed = lead is not None
            while i < len(rows) and not opens(rows[i]) and continues(words, rows[i], listed):
                words += "\n" + rows[i]
                at += len(rows[i]) + 1
                i += 1
        yield start + offset, words, lead is not None


def _fenced(fence: str | None, mark: re.Match[str], line: str) -> str | None:
    """The fence that is open after a line that looks like one."""
    if fence is None:
        return mark[1]
    # As long as the one that opened it, and alone on its line.
    closes = mark[1].startswith(fence) and not line[mark.end() :].strip()
    return None if closes else fence


def heading(line: str) -> str | None:
    """The title a line is, without its marks; None for one that is no heading.

    No pattern looks for where the title ends: a stranger's line of blanks must not take for ever.
    """
    mark = _HEADING.match(line)
    return None if mark is None else line[mark.end() :].rstrip().rstrip("#").rstrip()


def opens(line: str) -> bool:
    """True for a line that can't go on with a paragraph: blank, list, heading, fence, quote, table."""
    plain = line.strip()
    if not plain or plain.startswith(_NO_PROSE):
        return True
    return bool(LIST_MARK.match(line) or _HEADING.match(line) or _FENCE.match(line))


def sentences(words: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a piece begins and ends."""
    at = 0
    for end in _SENTENCE_END.finditer(words):
        yield at, end.start()
        at = end.end()
    yield at, len(words)


def spoken(text: str, continues: Continues) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text's prose begins and ends, headings left out."""
    for start, line, _listed in lines(text, continues):
        if heading(line) is None:
            for a, b in sentences(line):
                yield start + a, start + b


def statement(words: str) -> str:
    """Words as one line without emphasis."""
    return " ".join(EMPHASIS.sub("", words).split())


def without_comments(text: str) -> str:
    """The text with HTML comments blanked out, every place and line number kept.

    What only looks like a comment inside a code fence is code; one that is never closed runs to
    the end, as Markdown has it.
    """
    out: list[str] = []
    fence: str | None = None
    inside = False
    for line in text.split("\n"):
        mark = None if inside else _FENCE.match(line)
        if mark is not None:
            fence = _fenced(fence, mark, line)
        elif fence is None:
            line, inside = _blanked(line, inside)
        out.append(line)
    return "\n".join(out)


def _blanked(line: str, inside: bool) -> tuple[str, bool]:
    """A line without the comments on it, and whether one is open behind it."""
    kept, at = "", 0
    while True:
        mark = _CLOSES if inside else _OPENS
        found = line.find(mark, at)
        end = len(line) if found < 0 else found + len(mark)
        if inside:
            kept += " " * (end - at)
        else:
            kept += line[at:end] if found < 0 else line[at:found] + " " * len(mark)
        if found < 0:
            return kept, inside
        at, inside = end, not inside
