"""Readers: each one generator in one module, chosen by content, never by name (spec 1.1)."""

from __future__ import annotations

from collections.abc import Sequence

from core.evidence.readers import claude_code, markdown
from core.evidence.readers.base import Format, Sample
from schemas.errors import Refused

FORMATS: tuple[Format, ...] = (claude_code.FORMAT, markdown.MARKDOWN, markdown.TEXT)
"""Tried in this order; the first that recognises a sample reads the file."""


def names() -> Sequence[str]:
    """Names `--format` accepts."""
    return [f.name for f in FORMATS]


def named(name: str) -> Format:
    """The format of that name. Raises Refused `evidence.unknown-format`."""
    for format_ in FORMATS:
        if format_.name == name:
            return format_
    raise Refused(
        "evidence.unknown-format", f"No reader is called {name}; there are {', '.join(names())}."
    )


def detect(sample: Sample) -> Format:
    """The format whose shape the first records have.

    Raises Refused `evidence.binary`, `evidence.encoding`, `evidence.unknown-format`.
    """
    if sample.head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        raise Refused("evidence.encoding")
    for format_ in FORMATS:
        if format_.detect(sample):
            return format_
    if sample.binary:
        raise Refused("evidence.binary")
    raise Refused("evidence.unknown-format")
