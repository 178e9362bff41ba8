"""JSON lines as agents really leave them: two on a line, cut in the middle, padded with NUL.

Nothing is guessed at: what parses is a value at its exact place, the rest is a fragment.
"""

from __future__ import annotations

import hashlib
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
_PADDING = b"\0 \t\r\n\v\f"
"""What may stand around records: blanks, and the NULs a crash leaves."""


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
    """Every value and fragment of one line; together they cover all its bytes but padding."""
    start, data, notes = line.start, line.data, []
    if line.cut:
        yield Value(start, data, line.number, None, ["too-long"], True)
        return
    if start == 0 and data.startswith(BOM):
        start, data, notes = start + 3, data[3:], ["bom"]
    stripped = data.strip(_PADDING)
    if not stripped:
        # Behind a record of the same line it is that record's padding, as if read at once.
        if b"\0" in data and not line.continued:
            yield Value(start, data, line.number, None, [*notes, "nul-run"], True)
        return
    if len(stripped) < len(data):
        if data[:1] == b"\0" or data[-1:] == b"\0":
            notes.append("nul-padded")
        start, data = start + data.index(stripped[:1]), stripped
    if len(data) > max_record:
        yield Value(start, data, line.number, None, [*notes, "too-long"], True)
        return
    try:
        yield Value(start, data, line.number, orjson.loads(data), notes)
    except orjson.JSONDecodeError:
        yield from _recovered(start, data, line.number, notes)


def _recovered(start: int, data: bytes, number: int, notes: list[str]) -> Iterator[Value]:
    """What a stricter parser refused: lenient values, neighbours on one line, spliced records."""
    at, cause = 0, "malformed"
    while at < len(data):
        try:
            found = _value_at(data[at:])
        except TooDeep:
            found, cause = None, TOO_DEEP
        if found is None:
            break
        value, length, lenient = found
        extra = ["joined"] if at or data[at + length :] else []
        raw = data[at : at + length]
        yield Value(start + at, raw, number, value, notes + extra + lenient)
        at = _skip(data, at + length)
    if at >= len(data):
        return
    rest = data[at:]
    for restart in list(_RESTART.finditer(rest, 1))[-_TRIES:]:
        try:
            found = _value_at(rest[restart.start() :])
        except TooDeep:
            continue
        if (
            found
            and isinstance(found[0], dict)
            and restart.start() + found[1] == len(rest.rstrip())
        ):
            cut = restart.start()
            yield Value(start + at, rest[:cut], number, None, [*notes, "fragment"], True)
            yield Value(start + at + cut, rest[cut:], number, found[0], [*notes, "spliced"])
            return
    yield Value(start + at, rest, number, None, [*notes, cause], True)


def _skip(data: bytes, at: int) -> int:
    """Past the padding at `at`."""
    return len(data) - len(data[at:].lstrip(_PADDING))


def padding(data: bytes) -> bool:
    """True when there is nothing but padding."""
    return not data.strip(_PADDING)


def whole(data: bytes) -> bool:
    """True when a line without its end is whole records that more bytes could not change.

    Only objects and arrays say themselves where they end; `12` may become `123`.
    """
    at = _skip(data, len(BOM) if data.startswith(BOM) else 0)
    seen = False
    while at < len(data):
        try:
            found = _value_at(data[at:]) if data[at : at + 1] in (b"{", b"[") else None
        except TooDeep:
            return False
        if found is None:
            return False
        seen, at = True, _skip(data, at + found[1])
    return seen


TOO_DEEP = "too-deep"
"""Note on what is nested deeper than it can be read."""


class TooDeep(ValueError):
    """JSON that may be sound and is nested deeper than it can be read."""


def huge(digits: str) -> Any:
    """An integer of any length: as text where it is longer than numbers are."""
    return int(digits) if len(digits) < _DIGITS else digits


_DIGITS = 4_000
_DECODER = json.JSONDecoder(parse_int=huge)


def _value_at(data: bytes) -> tuple[Any, int, list[str]] | None:
    """The first JSON value of `data`, its length in bytes, and what had to be forgiven.

    Raises TooDeep.
    """
    notes = []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        notes.append("invalid-utf8")
    if not text.lstrip().startswith(("{", "[")):
        try:
            return _DECODER.decode(text), len(data), notes
        except ValueError:
            return None
    lead = len(text) - len(text.lstrip())
    try:
        value, end = _DECODER.raw_decode(text, lead)
    except RecursionError as err:
        raise TooDeep from err
    except ValueError:
        return None
    return value, len(text[:end].encode("utf-8", "surrogateescape")), notes


def first_value(data: bytes) -> Any:
    """The first value of a line, read as leniently as records are; None when there is none.

    Raises TooDeep.
    """
    data = data.removeprefix(BOM).strip(_PADDING)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        found = _value_at(data)
        return found[0] if found else None


_NAME_BYTES = 1024


def name(text: str) -> str:
    """An id, folder or code as databases and notes take it: no NUL, no line end, bounded.

    The record keeps what was there; a long name keeps its beginning and a digest of the whole.
    """
    if text.isascii() and text.isprintable() and len(text) <= _NAME_BYTES:
        return text
    text = clean(text)
    if not text.isprintable():
        text = re.sub(r"[\0\r\n]", "\ufffd", text)
    data = text.encode()
    if len(data) > _NAME_BYTES:
        return f"{text[:200]}…{hashlib.sha256(data).hexdigest()[:32]}"
    return text


def clean(text: str) -> str:
    """Derived text without lone surrogates: each becomes U+FFFD (the bytes keep them)."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
