"""Members of foreign documents as events take them: text, ids, times, calls (spec 1.2).

A member of an unusual type is noted and left out; it never costs its record.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson

from core.evidence.readers.jsonl import name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS = 253_402_300_799_999
"""The last millisecond of year 9999."""
_BLOCK_TEXT = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
_BLOCK_IMAGE = frozenset({"image", "input_image", "image_url", "inlineData"})


def text_of(value: object) -> str:
    """A string as it is, nothing for null, anything else as compact JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)


def as_json(value: object) -> str:
    """Compact JSON; what no strict encoder takes (lone surrogates, huge numbers) is escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, orjson.JSONEncodeError):
        import json

        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)


def table(value: object) -> dict[str, Any]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """A list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def string(d: dict[str, Any], key: str, notes: list[str]) -> str | None:
    """A member as an id or name; noted when it is no string."""
    value = d.get(key)
    if value is None or isinstance(value, str):
        return name(value) if value else None
    notes.append(f"odd:{key}")
    return None


def iso_time(value: object, notes: list[str]) -> int | None:
    """Microseconds UTC of an ISO time with zone; anything else is noted and left out."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)  # type: ignore[arg-type]
        if moment.tzinfo is None:
            raise ValueError("naive")
    except (ValueError, TypeError):
        notes.append("odd:timestamp")
        return None
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def epoch_time(value: object, notes: list[str]) -> int | None:
    """Microseconds UTC of milliseconds since the epoch; anything else is noted and left out."""
    if value is None:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= _LATEST_MS:  # type: ignore[operator]
        notes.append("odd:time")
        return None
    return int(value * 1000)  # type: ignore[operator]


def call_note(id_: object) -> list[str]:
    """The note that pairs a call with its result."""
    return [f"call:{name(id_)[:120]}"] if isinstance(id_, str) and id_ else []


def call_text(tool: object, arguments: object) -> str:
    """A tool call as one line: its name and what it was given."""
    return f"{text_of(tool)} {text_of(arguments)}".rstrip()


def plain(content: object) -> str:
    """The text of a content member: a string, or its blocks joined."""
    if isinstance(content, list):
        return "\n".join(t for block in content if (t := block_text(block, [])))
    if isinstance(content, dict):
        return block_text(content, [])
    return text_of(content)


def block_text(block: object, notes: list[str]) -> str:
    """The text of one content block; images and references as words in brackets."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        notes.append("odd:block")
        return ""
    kind = block.get("type")
    if kind in _BLOCK_TEXT or (kind is None and "text" in block):
        return text_of(block.get("text"))
    if kind in _BLOCK_IMAGE or (kind is None and "inlineData" in block):
        source = block.get("source") or block.get("inlineData")
        media = table(source).get("media_type") or table(source).get("mimeType")
        return f"[image {text_of(media)}]" if media else "[image]"
    if kind == "tool_reference":
        return f"[tool {text_of(block.get('tool_name') or block.get('name'))}]"
    notes.append(f"unknown-block:{name(str(kind))[:60]}")
    return ""
