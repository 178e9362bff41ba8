"""Markdown and plain text: one record a section or block, places exact to the byte (spec 1.1).

Nobody can tell who wrote a document: its author is `external`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from core.evidence.readers.base import Format, Line, Part, Record, Sample, Source, Waiting, lines
from schemas.evidence import Author, EventKind

_SECTION_BYTES = 16_384
_HEADING = re.compile(rb"^#{1,6}\s")
_FENCE = re.compile(rb"^\s{0,3}(`{3,}|~{3,})")


def _is_markdown(sample: Sample) -> bool:
    suffix = PurePosixPath(sample.name).suffix.lower()
    return suffix in (".md", ".markdown", ".mdx") and not sample.binary


def _is_text(sample: Sample) -> bool:
    suffix = PurePosixPath(sample.name).suffix.lower()
    if sample.binary or suffix in (".jsonl", ".json", ".ndjson"):
        return not sample.head.strip()
    return True


def read_markdown(source: Source) -> Iterator[Record | Waiting]:
    """One record a section: a heading with what follows it, cut at blocks past 16 KiB."""
    yield from _records(source, headings=True)


def read_text(source: Source) -> Iterator[Record | Waiting]:
    """One record a block of lines between blank lines."""
    yield from _records(source, headings=False)


def _records(source: Source, *, headings: bool) -> Iterator[Record | Waiting]:
    block: list[Line] = []
    fence: bytes | None = None
    end = source.offset
    for line in lines(source):
        gap = bool(block) and line.start > end
        size = sum(len(x.data) for x in block) if gap or len(block) % 64 == 0 else 0
        starts = fence is None and bool(_HEADING.match(line.data)) if headings else gap
        full = size > _SECTION_BYTES and fence is None and (gap or not headings)
        if block and (starts or full or size > 64 * _SECTION_BYTES):
            yield _record(block, source)
            block = []
        if found := _FENCE.match(line.data):
            fence = _toggle(fence, found[1], line.data[found.end() :])
        block.append(line)
        end = line.start + line.size
    if block:
        yield _record(block, source)


def _toggle(fence: bytes | None, mark: bytes, rest: bytes) -> bytes | None:
    """Open a fence; close the one that is open with a mark as long, alone on its line."""
    if fence is None:
        return mark
    return None if mark.startswith(fence) and not rest.strip() else fence


def _record(block: list[Line], source: Source) -> Record:
    first, last = block[0], block[-1]
    length = last.start + len(last.data) - first.start
    place = source.file.tell()
    source.file.seek(first.start)
    raw = source.file.read(length)
    source.file.seek(place)
    notes: list[str] = []
    body = raw[3:] if first.start == 0 and raw.startswith(b"\xef\xbb\xbf") else raw
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        notes.append("invalid-utf8")
    part = Part(EventKind.MESSAGE, Author.EXTERNAL, text, session=source.session, notes=notes)
    return Record(first.start, raw, first.number, [part])


MARKDOWN = Format("markdown", _is_markdown, read_markdown)
TEXT = Format("text", _is_text, read_text)
