"""AIWG's serialisation and identities, byte for byte as its JavaScript makes them (spec 5.1).

AIWG hashes `JSON.stringify` of objects in construction order; there is no canonical form. The
rules are facts of its format, checked against independently computed vectors in the tests.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson

from core.identity import holds_floats

_SURROGATE = re.compile("[\ud800-\udfff]")
_JS_SPACE = re.compile(
    "[\\t\\n\\v\\f\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+"
)


def js_json(value: Any, indent: int | None = None) -> str:
    """`JSON.stringify(value, null, indent)`: key order kept, lone surrogates as `\\udXXX`."""
    if indent in (None, 2) and not holds_floats(value):
        try:
            # The same text, many times faster; floats and lone surrogates it prints otherwise.
            return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0).decode()
        except TypeError:
            pass
    return "".join(_pieces(value, indent, "\n"))


def _pieces(value: Any, indent: int | None, newline: str) -> Iterator[str]:
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        yield _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
    elif isinstance(value, float):
        yield _js_number(value)
    elif isinstance(value, dict | list) and value:
        keyed = isinstance(value, dict)
        colon = ":" if indent is None else ": "
        below = "" if indent is None else newline + " " * indent
        separator = "{" if keyed else "["
        for key in value:
            yield separator + below
            if keyed:
                yield from _pieces(key, None, "")
                yield colon
            yield from _pieces(value[key] if keyed else key, indent, below or newline)
            separator = ","
        yield ("" if indent is None else newline) + ("}" if keyed else "]")
    else:
        yield json.dumps(value)


def _js_number(value: float) -> str:
    """A number as JavaScript prints it: 1.0 is `1`, 1e-5 is `0.00001`, 1e-07 is `1e-7`."""
    if not math.isfinite(value):
        return "null"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    if -7 < int(exponent) < 0:
        return f"{Decimal(repr(value)):f}"
    return f"{digits}e{int(exponent):+d}"


def js_digest(text: str) -> str:
    """Digest of a bare string's UTF-8; lone surrogates hash as U+FFFD, as in JavaScript."""
    data = _SURROGATE.sub("\ufffd", text).encode()
    return "sha256:" + hashlib.sha256(data).hexdigest()


def json_digest(value: Any) -> str:
    """Digest of `JSON.stringify(value)`."""
    return "sha256:" + hashlib.sha256(js_json(value).encode()).hexdigest()


def nul_digest(*parts: str) -> str:
    """Digest of the parts joined by NUL."""
    return js_digest("\0".join(parts))


def pretty(value: Any) -> bytes:
    """A document as AIWG writes it: two-space indented, UTF-8, one final newline."""
    return (js_json(value, indent=2) + "\n").encode()


def normalised_line(text: str) -> str:
    """A fact as line memory stores it: JavaScript white space runs become one space, trimmed."""
    return _JS_SPACE.sub(" ", text).strip(" ")


def promotion_handle(candidate_id: str, version: int) -> str:
    """The handle a promotion derives for a new line, version nibble 5, variant a (format 2.10)."""
    h = nul_digest(candidate_id, str(version)).removeprefix("sha256:")
    return f"lm_{h[0:8]}-{h[8:12]}-5{h[13:16]}-a{h[17:20]}-{h[20:32]}"


def source_ref(candidate_id: str, version: int) -> str:
    """How a line's sidecar entry names the reviewed statement it came from."""
    return f"session-candidate:{candidate_id}:v{version}"


def line_after_hash(fact: str, handle: str, ref: str) -> str:
    """AIWG's afterHash of a line-memory destination."""
    return json_digest({"fact": fact, "handle": handle, "sourceRef": ref})


def journal_id(operation: str, memory: str, metadata: Any) -> str:
    """The bare-hex id of a line-memory redo journal (format 2.6)."""
    document = {"operation": operation, "memory": memory, "metadata": metadata}
    return json_digest(document).removeprefix("sha256:")


def iso_ms(micros: int) -> str:
    """A time as JavaScript's `toISOString` prints it, from integer microseconds UTC."""
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(micros // 1_000_000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{micros % 1_000_000 // 1000:03d}Z"
