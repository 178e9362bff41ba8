"""A message cut into the lines and sentences a person wrote, outside code and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<![ .(][A-Z]\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)[\"'”’)]?\s+(?=[A-Z\"“`(\[]|[^\W\d_])"
)
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
HEADING = re.compile(r"^#{1,6}\s+(?P<title>.+?)\s*#*\s*$")


def lines(text: str, opens: re.Pattern[str]) -> Iterator[tuple[int, str, bool]]:
    """Lines outside code fences, quotes and indented code: start, words, whether a list item.

    Soft-wrapped lines of one paragraph are joined in place: spans stay in the stored text. What
    matches `opens` begins a line of its own.
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
            if fence is None:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = None  # as long as the one that opened it, and alone on its line
            continue
        plain = line.strip()
        if fence is not None or not plain or plain.startswith((">", "|", "<")):
            continue
        if line.startswith(("    ", "\t")) and not _LIST_MARK.match(line):
            continue
        lead = _LIST_MARK.match(line)
        offset = lead.end() if lead else len(line) - len(line.lstrip())
        words = line[offset:]
        if not HEADING.match(plain):
            while i < len(rows) and _continues(words, rows[i], opens, lead is not None):
                words += "\n" + rows[i]
                at += len(rows[i]) + 1
                i += 1
        yield start + offset, words, lead is not None


def _continues(words: str, line: str, opens: re.Pattern[str], listed: bool) -> bool:
    """True when `line` goes on with the paragraph: wrapped, not a new sentence of its own."""
    plain = line.strip()
    if not plain or _LIST_MARK.match(line) or HEADING.match(plain) or _FENCE.match(line):
        return False
    if plain.startswith((">", "|", "<")) or opens.match(plain):
        return False
    goes_on = plain[:1].islower() or (listed and line.startswith("  "))
    return not words.rstrip().endswith((".", "!", "?", ":")) and goes_on


def sentences(line: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of a line."""
    at = 0
    for end in _SENTENCE_END.finditer(line):
        yield at, end.start()
        at = end.end()
    yield at, len(line)
