"""Reading bytes without a store: what a reader makes of them, and that its places are true."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from core.evidence.readers import detect, sample
from core.evidence.readers.base import Format, Part, Record, Source, Waiting

MAX_RECORD = 1 << 26


def sensed(data: bytes, name: str = "s.jsonl") -> Format:
    """The format that recognises these bytes."""
    lines = tuple(x for x in data.split(b"\n") if x.strip())[:64]
    return detect(sample(data[: 1 << 20], lines, name, cut=False))


def records(
    data: bytes,
    format_: Format,
    *,
    end: int | None = None,
    offset: int = 0,
    continued: bool = False,
    known: Iterable[str] = (),
    max_record: int = MAX_RECORD,
) -> tuple[list[Record], Waiting | None]:
    """Records of a stretch of a file, whose bytes are theirs and stand in order."""
    file = BytesIO(data)
    file.seek(offset)
    end = len(data) if end is None else end
    line = data[:offset].count(b"\n")
    names = set(known)
    source = Source(file, offset, line, end, "stem", max_record, lambda: set(names), continued)
    found: list[Record] = []
    at = offset
    for item in format_.read(source):
        if isinstance(item, Waiting):
            assert at <= item.start <= end
            return found, item
        assert item.start >= at and item.parts
        assert data[item.start : item.start + len(item.raw)] == item.raw
        assert item.line == data[: item.start].count(b"\n") + 1
        at = item.start + len(item.raw)
        found.append(item)
    assert not data[at:end].strip(b"\0 \t\r\n\f\v,[]{}\xef\xbb\xbf"), "bytes of no record"
    return found, None


def parts(data: bytes, name: str = "s.jsonl", **options: Any) -> list[Part]:
    """All parts of a file whose format its content tells."""
    found, waiting = records(data, sensed(data, name), **options)
    assert waiting is None
    return [p for r in found for p in r.parts]


def said(data: bytes, name: str = "s.jsonl") -> list[tuple[str, str, str]]:
    """Author, kind and text of each part."""
    return [(p.author.value, p.kind.value, p.text) for p in parts(data, name)]


def told(found: list[tuple[str, str, str]], author: str) -> list[str]:
    """What one author says."""
    return [text for who, kind, text in found if who == author and kind == "message"]


def in_two(data: bytes, at: int, format_: Format) -> list[Record]:
    """Records of a file that was read when it ended at `at`, and again when it was whole."""
    first, waiting = records(data, format_, end=at)
    stop = waiting.start if waiting else at
    last = first[-1].start + len(first[-1].raw) if first else 0
    rest, _ = records(
        data,
        format_,
        offset=stop,
        continued=bool(first) and b"\n" not in data[last:stop],
        known={p.native_id for r in first for p in r.parts if p.native_id},
    )
    return first + rest


def lines(*documents: Any) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(d).encode() + b"\n" for d in documents)
