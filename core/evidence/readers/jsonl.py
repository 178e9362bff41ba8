"""JSON lines as agents really leave them: two on a line, cut in the middle, padded with NUL.

Nothing is guessed at: what parses is a value at its exact place, the rest is a fragment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from core.evidence.readers.base import Line

BOM = b"\xef\xbb\xbf"
_RESTART = re.compile(
    rb'\{\s*"(?:type|parentUuid|uuid|sessionId|timestamp|isSidechain|messageId|summary)"\s*:'
)
_TRIES = 8


@dataclass(slots=True)
class Value:
    """A parsed value, or None with `broken`, at its place in the file."""

    start: int
    raw: bytes
    line: int
    value: Any
    notes: list[str]
    broken: bool = False


def values(line: Line, max_record: int) -> Iterator[Value]:
    """Every value and fragment of one line; together they cover all its bytes that are not NUL."""
    start, data, notes = line.start, line.data, []
    if start == 0 and data.startswith(BOM):
        start, data, notes = start + 3, data[3:], ["bom"]
    if data[:1] == b"\0" or data[-1:] == b"\0":
        stripped = data.strip(b"\0 \t\r")
        if not stripped:
            yield Value(start, data, line.number, None, [*notes, "nul-run"], True)
            return
        start += data.index(stripped[:1])
        data = stripped
        notes.append("nul-padded")
    if len(data) > max_record:
        yield Value(start, data, line.number, None, [*notes, "too-long"], True)
        return
    try:
        yield Value(start, data, line.number, orjson.loads(data), notes)
    except orjson.JSONDecodeError:
        yield from _recovered(start, data, line.number, notes)


def _recovered(start: int, data: bytes, number: int, notes: list[str]) -> Iterator[Value]:
    """What a stricter parser refused: lenient values, neighbours on one line, spliced records."""
    at = 0
    while at < len(data):
        found = _value_at(data[at:])
        if found is None:
            break
        value, length, lenient = found
        extra = ["joined"] if at or data[at + length :].strip() else []
        raw = data[at : at + length]
        yield Value(start + at, raw, number, value, notes + extra + lenient)
        at += length
        at += len(data[at:]) - len(data[at:].lstrip())
    if at >= len(data):
        return
    rest = data[at:]
    for restart in list(_RESTART.finditer(rest, 1))[-_TRIES:]:
        found = _value_at(rest[restart.start() :])
        if (
            found
            and isinstance(found[0], dict)
            and restart.start() + found[1] == len(rest.rstrip())
        ):
            cut = restart.start()
            yield Value(start + at, rest[:cut], number, None, [*notes, "fragment"], True)
            yield Value(start + at + cut, rest[cut:], number, found[0], [*notes, "spliced"])
            return
    yield Value(start + at, rest, number, None, [*notes, "malformed"], True)


def _value_at(data: bytes) -> tuple[Any, int, list[str]] | None:
    """The first JSON value of `data`, its length in bytes, and what had to be forgiven."""
    notes = []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        notes.append("invalid-utf8")
    if not text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text), len(data), notes
        except (ValueError, RecursionError):
            return None
    lead = len(text) - len(text.lstrip())
    try:
        value, end = json.JSONDecoder().raw_decode(text, lead)
    except (ValueError, RecursionError):
        return None
    return value, len(text[:end].encode("utf-8", "surrogateescape")), notes


def clean(text: str) -> str:
    """Derived text without lone surrogates: each becomes U+FFFD (the bytes keep them)."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
