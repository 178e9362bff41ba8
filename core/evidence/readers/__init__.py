"""Readers: each one generator in one module, chosen by content, never by name (spec 1.1)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from typing import BinaryIO

import orjson

from core.evidence.readers.base import Format, Sample, Source
from core.evidence.readers.documents import top_level
from core.evidence.readers.jsonl import BOM, TooDeep, first_value
from core.evidence.readers.registry import formats
from schemas.errors import Refused

_BYTES = 1 << 20
_LINE_BYTES = 1 << 24
_LINES = 64
_BLANK = BOM + b" \t\r\n"


def names() -> Sequence[str]:
    """Names `--format` accepts."""
    return [f.name for f in formats()]


def named(name: str) -> Format:
    """The format of that name. Raises Refused `evidence.unknown-format`."""
    for format_ in formats():
        if format_.name == name:
            return format_
    raise Refused(
        "evidence.unknown-format", f"No reader is called {name}; there are {', '.join(names())}."
    )


def sampled(file: BinaryIO, name: str) -> Sample:
    """The beginning of a file: 1 MiB, or its whole first line when that is not much longer.

    What detection looks at, its records and its document, is parsed once.
    """
    data = os.pread(file.fileno(), _BYTES, 0)
    cut = len(data) == _BYTES
    while cut and b"\n" not in data and len(data) < _LINE_BYTES:
        more = os.pread(file.fileno(), len(data), len(data))
        cut = len(more) == len(data)
        data += more
    split = data.split(b"\n")
    whole = split[:-1] if cut else split
    lines = tuple(x for x in whole if x.strip())[:_LINES]
    return sample(data[:_BYTES], lines, name, cut=cut)


def sample(head: bytes, lines: tuple[bytes, ...], name: str, *, cut: bool) -> Sample:
    """A sample of a file that goes on behind it when it is `cut`."""
    values, deep = [], False
    for line in lines:
        try:
            values.append(first_value(line))
        except TooDeep:
            deep = True
    records = tuple(v for v in values if isinstance(v, dict))
    # Where the first line is an object of its own and more follows, the file is lines.
    log = len(lines) > 1 or (cut and bool(lines))
    document = None
    if head.lstrip(_BLANK)[:1] in (b"{", b"[") and not (log and _complete(lines[0])):
        document, inside = top_level(Source(BytesIO(head), 0, 0, len(head), "", len(head)))
        deep = deep or inside
    return Sample(head, lines, name, records, document, deep)


def _complete(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line.removeprefix(BOM)), dict)
    except orjson.JSONDecodeError:
        return False


def detect(sample: Sample) -> Format:
    """The format whose shape the first records have.

    Raises Refused `evidence.binary`, `evidence.encoding`, `evidence.too-deep`,
    `evidence.unknown-format`.
    """
    if sample.head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        raise Refused("evidence.encoding")
    for format_ in formats():
        if _recognises(format_, sample):
            return format_
    if sample.binary:
        raise Refused("evidence.binary")
    if sample.deep:
        raise Refused("evidence.too-deep")
    raise Refused("evidence.unknown-format")


def _recognises(format_: Format, sample: Sample) -> bool:
    """Whether a format knows its own; a foreign one that fails at it does not."""
    if not format_.foreign:
        return format_.detect(sample)
    try:
        return bool(format_.detect(sample))
    except Exception:
        return False
