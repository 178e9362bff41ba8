"""JSON lines of no known agent, read only when they are asked for by name (spec 1.1).

Nothing is guessed: a record's text is its text, its author `external`, and it is never owned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.evidence.readers.base import Format, Part, Record, Source, Waiting
from core.evidence.readers.fields import iso_time, plain, string, table
from core.evidence.readers.records import Reading
from schemas.evidence import Author, EventKind

_TEXT = ("text", "content", "message", "body", "prompt", "output", "value")


class _Lines(Reading):
    recalls = False

    def parts(self, d: dict[str, Any], notes: list[str]) -> list[Part]:
        words = next((t for key in _TEXT if (t := _text(d.get(key)))), "")
        part = Part(EventKind.MESSAGE, Author.EXTERNAL, words)
        part.native_id = string(d, "id", []) or string(d, "uuid", [])
        time = d.get("timestamp") or d.get("created_at")
        part.time = iso_time(time, notes) if isinstance(time, str) else None
        return [part]


def _text(value: object) -> str:
    facts = table(value)
    return plain(facts.get("content", facts.get("text")) if facts else value)


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield every record in file order; an incomplete last line waits."""
    return _Lines(source).read()


FORMAT = Format("jsonl", lambda _sample: False, read, log=True)
