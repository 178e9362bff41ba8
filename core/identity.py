"""Digests, canonical JSON, ids and locators (spec 0.2)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import struct
from dataclasses import dataclass
from typing import Any

import orjson

from schemas.common import ID_RE
from schemas.errors import NotFound, Refused

_SPAN = re.compile(r"#b(\d{1,12})-(\d{1,12})$")
_VERSION = re.compile(r"@(\d{1,9})$")
_PREFIX = re.compile(r"^(ev|file|art|cand|op|rcpt|bel|pack|aud|out)_([0-9a-f]{6,32})$")
_SESSION_LINE = re.compile(r"^session:(?P<session>[^#]+)#L(?P<line>\d{1,9})$")
TAGS = ("ev", "file", "art", "cand", "op", "rcpt", "bel", "pack", "aud", "out")


def sha256(data: bytes) -> bytes:
    """Bare 32-byte SHA-256 of exact bytes."""
    return hashlib.sha256(data).digest()


def digest(data: bytes) -> str:
    """`sha256:` + 64 hex over exact bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_text(raw: bytes) -> str:
    """The text form of a bare 32-byte digest."""
    return "sha256:" + raw.hex()


def digest_bytes(text: str) -> bytes:
    """The bare 32 bytes of a digest's text form."""
    return bytes.fromhex(text.removeprefix("sha256:"))


def canonical(value: Any) -> bytes:
    """RFC 8785 canonical JSON.

    Raises ValueError for what it can't hold exactly: integers past 2^53, lone surrogates.
    """
    if not holds_floats(value):
        # The same text, many times faster, where both sort keys alike: all of it is ASCII.
        with contextlib.suppress(TypeError):
            quick = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)
            if quick.isascii():
                return quick
    import rfc8785

    return rfc8785.dumps(value)


def holds_floats(value: Any) -> bool:
    """Whether a document holds a float anywhere: encoders print those each in their own way.

    Looked at a level at a time: asking every value alone costs more than writing it.
    """
    values = [value]
    while values:
        kinds = set(map(type, values))
        if float in kinds:
            return True
        below: list[Any] = []
        if dict in kinds:
            for d in values:
                if type(d) is dict:
                    below += d.values()
        if list in kinds or tuple in kinds:
            for v in values:
                if type(v) in (list, tuple):
                    below += v
        values = below
    return False


def digest_json(value: Any) -> str:
    """Digest of a structured value over its canonical JSON."""
    return digest(canonical(value))


def keyed(secret: bytes, *parts: bytes) -> bytes:
    """16 bytes that name content without allowing a guess at it (spec 0.2): keyed BLAKE2b."""
    return Namer(secret, *parts).name()


_SIZE = struct.Struct(">Q").pack
_IDENTITY = struct.Struct(">QQQ32sQI").pack
"""Start, digest and part of an event, each behind its size, as `keyed` writes parts."""
_ORDINALS = (1 << 24) - 1
_STEP_BITS = 30
_STEPS_BITS = 23
_MARK_BITS = 63 - _STEPS_BITS


class Namer:
    """Keyed names that share their first parts: `Namer(s, a).name(b) == keyed(s, a, b)`."""

    def __init__(self, secret: bytes, *first: bytes) -> None:
        self._mac = hashlib.blake2b(key=secret, digest_size=16)
        for part in first:
            self._mac.update(_SIZE(len(part)) + part)

    def name(self, *parts: bytes) -> bytes:
        """16 bytes for the first parts and these."""
        mac = self._mac.copy()
        for part in parts:
            mac.update(_SIZE(len(part)) + part)
        return mac.digest()

    def packed(self, parts: bytes) -> bytes:
        """The same, of parts that stand behind their sizes already."""
        mac = self._mac.copy()
        mac.update(parts)
        return mac.digest()


class EventNamer:
    """Ids and twin keys of one file's events (spec 0.2, 1.3).

    Both begin with where and when an event stands, so that events stored together are neighbours
    in every index: a random key costs one written page an event once an index outgrows the cache.
    """

    def __init__(self, secret: bytes, file: str) -> None:
        self._file = bytes.fromhex(file.removeprefix("file_"))[:3]
        self._names = Namer(secret, b"ev", file.encode())
        self._twins = Namer(secret)

    def event(self, ordinal: int, start: int, digest: bytes, part: int) -> bytes:
        """16 bytes: 3 of the file's id, 3 of the ordinal, 10 keyed by what identifies the event:
        where its record starts, that record's digest, which part of it.

        So 12 hex digits name an event wherever ids are typed or shown short.
        """
        place = self._file + (ordinal & _ORDINALS).to_bytes(3, "big")
        return place + self._names.packed(_IDENTITY(8, start, 32, digest, 4, part))[:10]

    def twin(self, time: int | None, *words: bytes) -> int:
        """64 bits, equal for records that resumed sessions repeat: they keep id, words and time.

        23 bits say the time in steps of 18 minutes, 40 are keyed; without a time all 63 are, and
        the number is negative.
        """
        mark = int.from_bytes(self._twins.name(*words)[:8], "big") >> 1
        step = -1 if time is None else time >> _STEP_BITS
        if not 0 <= step < 1 << _STEPS_BITS:
            return -1 - mark
        return step << _MARK_BITS | mark >> 63 - _MARK_BITS


def keyed_id(tag: str, secret: bytes, *parts: bytes) -> str:
    """`TAG_` + 32 hex derived from parts under the workspace secret; equal parts, equal id."""
    return f"{tag}_{keyed(secret, tag.encode(), *parts).hex()}"


def seal(secret: bytes, document: bytes) -> str:
    """A keyed digest of a document: verifiable here, nothing to guess by elsewhere."""
    return "sha256:" + hashlib.blake2b(document, key=secret, digest_size=32).hexdigest()


def random_id(tag: str) -> str:
    """`TAG_` + 32 random hex, for things that have no content to be named by."""
    return f"{tag}_{os.urandom(16).hex()}"


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open UTF-8 byte offsets into a stored text."""

    start: int
    end: int

    def cut(self, text: bytes) -> bytes:
        """The spanned bytes.

        Raises Refused `span.outside-text` when they do not lie inside or cut a character.
        """
        part = text[self.start : self.end]
        inside = 0 <= self.start < self.end <= len(text)
        try:
            part.decode()
        except UnicodeDecodeError:
            inside = False
        if not inside:
            raise Refused("span.outside-text", start=self.start, end=self.end, size=len(text))
        return part


@dataclass(frozen=True, slots=True)
class Locator:
    """A parsed locator: an id (or its prefix) with version and span, or a session line."""

    id: str = ""
    version: int | None = None
    span: Span | None = None
    session: str | None = None
    line: int | None = None

    @property
    def complete(self) -> bool:
        """True when the id is whole, not a prefix."""
        return bool(ID_RE.match(self.id))

    def __str__(self) -> str:
        text = f"session:{self.session}#L{self.line}" if self.session else self.id
        if self.version is not None:
            text += f"@{self.version}"
        if self.span is not None:
            text += f"#b{self.span.start}-{self.span.end}"
        return text


def parse_locator(text: str, *tags: str) -> Locator:
    """Parse `ID[@N][#bS-E]` or `session:ID#L12`; ids may be prefixes of 6 or more hex digits.

    Raises NotFound `id.malformed` when it is neither, or not of one of `tags`.
    """
    rest = text.strip()
    span = version = None
    if found := _SPAN.search(rest):
        span, rest = Span(int(found[1]), int(found[2])), rest[: found.start()]
    if line := _SESSION_LINE.match(rest):
        return Locator(span=span, session=line["session"], line=int(line["line"]))
    if found := _VERSION.search(rest):
        version, rest = int(found[1]), rest[: found.start()]
    named = _PREFIX.match(rest)
    if not named or (tags and named[1] not in tags):
        wanted = " or ".join(f"{t}_…" for t in tags) or "an id"
        raise NotFound(
            "id.malformed",
            f"“{text}” is not {wanted} or a prefix of it with at least 6 digits.",
            given=text,
        )
    return Locator(id=rest, version=version, span=span)


def one_id(prefix: str, found: list[str]) -> str:
    """The one id that `prefix` names among `found` (at most a few matches are needed).

    Raises NotFound `id.not-found` or `id.ambiguous`.
    """
    if prefix in found:
        return prefix
    if not found:
        raise NotFound("id.not-found", f"Nothing here has the id {prefix}.", given=prefix)
    if len(found) > 1:
        raise NotFound(
            "id.ambiguous", f"{prefix} begins more than one id.", given=prefix, matches=found[:5]
        )
    return found[0]
