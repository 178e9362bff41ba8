"""A person's own prose: the lines and sentences of a message outside code and quotes (spec 4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<![ .(][A-Z]\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)[\"'”’)]?\s+(?=[A-Z\"“`(\[]|[^\W\d_])"
)
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
LABEL = re.compile(
    r"(?:[-*]\s+)?(?:\*\*)?(?P<label>decision|decided|requirement|constraint|rule|policy|convention|"
    r"preference|fact|procedure|correction)(?:\*\*)?\s*:(?:\*\*)?\s+",
    re.I,
)
"""What a person writes before a statement to say what it is."""
HEADING = re.compile(r"^#{1,6}\s+(?P<title>.+?)\s*#*\s*$")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Every sentence of a person's own prose: outside code, quotes and headings."""
    for start, line, _listed in prose_lines(text):
        if not HEADING.match(line):
            for a, b in split(line):
                yield start + a, start + b


def prose_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Lines outside code fences, quotes and indented code: start, words, whether a list item.

    Soft-wrapped lines of one paragraph are joined in place: spans stay in the stored text.
    """
    fence: str | None = None
    at = 0
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
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
            while i < len(lines) and _continues(words, lines[i]):
                words += "\n" + lines[i]
                at += len(lines[i]) + 1
                i += 1
        yield start + offset, words, lead is not None


def _continues(words: str, line: str) -> bool:
    """True when `line` goes on with the paragraph: wrapped, not a new sentence of its own."""
    plain = line.strip()
    if not plain or _LIST_MARK.match(line) or HEADING.match(plain) or _FENCE.match(line):
        return False
    if plain.startswith((">", "|", "<")) or LABEL.match(plain):
        return False
    return not words.rstrip().endswith((".", "!", "?", ":")) and plain[:1].islower()


def split(line: str) -> Iterator[tuple[int, int]]:
    """The sentences of one line."""
    at = 0
    for end in _SENTENCE_END.finditer(line):
        yield at, end.start()
        at = end.end()
    yield at, len(line)
