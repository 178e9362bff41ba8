"""One JSON document a file, read as a stream of its array items and what stands between them.

Agents that rewrite their whole file keep the conversation in one or two arrays of the document;
each item of those is a record at its exact bytes, so a file of any size is never held whole.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from core.evidence.readers.base import CHUNK, Part, Record, Source, Waiting
from core.evidence.readers.jsonl import TOO_DEEP, TooDeep, huge
from core.evidence.readers.records import finish, unparsed
from schemas.evidence import Author, EventKind

_BLANK = re.compile(r"[ \t\r\n\ufeff]*")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.S)
_PUNCTUATION = " \t\r\n\ufeff[]{},"
_LITERAL = 8
"""Characters the longest literal that may be cut at the end of a file has."""


@dataclass(slots=True)
class Piece:
    """An item of an array, or a stretch of the document's other members, at its bytes."""

    start: int
    raw: bytes
    line: int
    key: str | None
    """The member whose array the item stands in, "" for the document itself; None: a stretch."""
    value: Any
    """The item, or the members that stand whole in the stretch."""
    notes: list[str] = field(default_factory=list)
    broken: bool = False


class _Cut(Exception):
    """The file ends inside the document."""


class _Broken(Exception):
    """What stands here is no JSON, or `deep`er than it can be read."""

    def __init__(self, *, deep: bool = False) -> None:
        self.note = TOO_DEEP if deep else "malformed"


class Document:
    """State over one document. A format names its arrays and says what items and members hold."""

    arrays: frozenset[str] = frozenset()
    ahead: frozenset[str] = frozenset()
    """Members every item needs, which may stand behind the items."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.session = source.session

    def members(self, members: dict[str, Any], notes: list[str]) -> list[Part]:
        """The events of a stretch of members."""
        return [Part(EventKind.SYSTEM, Author.SYSTEM)]

    def item(self, key: str, value: Any, notes: list[str]) -> list[Part]:
        """The events of one array item, in order; at least one."""
        raise NotImplementedError

    def read(self) -> Iterator[Record | Waiting]:
        """Yield every piece in file order; a document that is not whole waits from its cut on."""
        if self.ahead and not self._look_ahead():
            yield Waiting(self.source.offset, self.source.end - self.source.offset)
            return
        for piece in pieces(self.source, self.arrays.__contains__):
            if isinstance(piece, Waiting):
                yield piece
                return
            record = self._record(piece)
            if piece.start >= self.source.offset:
                yield record

    def _look_ahead(self) -> bool:
        """Read to where all members that items need have been met; False when the file is cut."""
        found: dict[str, Any] = {}
        for piece in pieces(self.source, self.arrays.__contains__):
            if isinstance(piece, Waiting):
                return False
            if piece.key is None and not piece.broken:
                found.update(piece.value)
            if self.ahead <= found.keys():
                break
        self.members(found, [])
        return True

    def _record(self, piece: Piece) -> Record:
        if piece.broken:
            return unparsed(piece.start, piece.raw, piece.line, self.session, piece.notes)
        if piece.key is None:
            parts = self.members(piece.value, piece.notes)
        else:
            parts = self.item(piece.key, piece.value, piece.notes)
        finish(parts, self.session, piece.notes)
        return Record(piece.start, piece.raw, piece.line, parts)


def pieces(source: Source, arrays: Callable[[str], bool]) -> Iterator[Piece | Waiting]:
    """Items of the wanted arrays and the stretches between, from the file's beginning on."""
    scan = _Scan(source)
    try:
        yield from _document(scan, arrays)
    except _Cut:
        yield Waiting(scan.held_start(), max(0, source.end - scan.held_start()))
        return
    except _Broken as err:
        scan.notes = [err.note]
    else:
        if scan.blank() == "":
            return
        scan.notes = ["trailing"]
    if scan.held:
        yield scan.stretch({}, broken=True)
    yield from scan.rest()


def _document(scan: _Scan, arrays: Callable[[str], bool]) -> Iterator[Piece]:
    first = scan.blank()
    if first == "[":
        scan.take(scan.at + 1)
        yield from _items(scan, "")
        return
    if first != "{":
        raise _Cut if first == "" else _Broken
    scan.take(scan.at + 1)
    members: dict[str, Any] = {}
    while scan.blank(cut=True) != "}":
        key, end = scan.value()
        if not isinstance(key, str):
            raise _Broken
        scan.take(end)
        scan.expect(":")
        if scan.blank(cut=True) == "[" and arrays(key):
            scan.take(scan.at + 1)
            if scan.blank(cut=True) != "]":
                yield from scan.flushed(members)
                members = {}
            yield from _items(scan, key)
        else:
            members[key], end = scan.value()
            scan.take(end)
        if scan.blank(cut=True) == ",":
            scan.take(scan.at + 1)
            if sum(map(len, scan.held)) > CHUNK:
                yield from scan.flushed(members)
                members = {}
        elif scan.text[scan.at] != "}":
            raise _Broken
    scan.take(scan.at + 1)
    yield from scan.flushed(members)


def _items(scan: _Scan, key: str) -> Iterator[Piece]:
    """Items up to the end of the array; the bracket that ends it begins the next stretch."""
    first = True
    while scan.blank(cut=True) != "]":
        if first:
            yield from scan.flushed({})
            scan.holding = first = False
        start, line = scan.byte, scan.line
        try:
            value, end = scan.value()
            piece = Piece(start, b"", line, key, value)
        except _Broken as err:
            end = scan.balanced()
            piece = Piece(start, b"", line, key, None, [err.note], True)
        piece.raw = scan.skip(end)
        yield piece
        if scan.blank(cut=True) == ",":
            scan.skip(scan.at + 1)
        elif scan.text[scan.at] != "]":
            raise _Broken
    scan.holding = True
    scan.take(scan.at + 1)


class _Scan:
    """A window of decoded text that moves over the file; knows the byte and line it stands at."""

    def __init__(self, source: Source) -> None:
        self.source = source
        source.file.seek(0)
        self.decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self.text = ""
        self.at = self.byte = self.read = 0
        self.line = 1
        self.ended = False
        self.held: list[str] = []
        """What was taken since the last piece: the stretch that is being collected."""
        self.held_at = (0, 1)
        self.holding = True
        """False between the items of an array."""
        self.notes: list[str] = []

    def fill(self, count: int = CHUNK) -> bool:
        """Read on; False at the end of the file."""
        if self.ended:
            return False
        data = self.source.file.read(min(count, self.source.end - self.read))
        self.read += len(data)
        self.ended = not data
        self.text = self.text[self.at :] + self.decode(data, self.ended)
        self.at = 0
        return True

    def blank(self, *, cut: bool = False) -> str:
        """Skip blanks; the character that stands there, "" at the end (which may be a cut)."""
        while True:
            found = _BLANK.match(self.text, self.at)
            end = found.end() if found else self.at
            if end > self.at:
                self.take(end)
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.fill():
                if cut:
                    raise _Cut
                return ""

    def expect(self, character: str) -> None:
        """Step over one character."""
        if self.blank(cut=True) != character:
            raise _Broken
        self.take(self.at + 1)

    def value(self) -> tuple[Any, int]:
        """The value that stands here and where it ends; nothing is taken."""
        count = CHUNK
        while True:
            deep = cut = False
            try:
                found, cut = _decoded(self.text, self.at)
            except TooDeep:
                # Read on all the same: its brackets must be there to say where it ends.
                found, deep = None, True
            if found is not None and (found[1] < len(self.text) or self.ended):
                return found
            if len(self.text) - self.at > self.source.max_record or not self.fill(count):
                if self.ended and cut:
                    raise _Cut
                raise _Broken(deep=deep)
            count *= 2

    def balanced(self) -> int:
        """Where an item nobody can parse ends by its brackets alone."""
        depth = 0
        for token in _TOKEN.finditer(self.text, self.at):
            mark = token[0]
            depth += (mark in "{[") - (mark in "}]")
            if depth <= 0:
                if depth < 0 or mark[0] == '"':
                    break
                return token.end()
        raise _Broken

    def take(self, end: int) -> None:
        """Step to `end`; what is stepped over belongs to the stretch that is being collected."""
        if not self.held:
            self.held_at = (self.byte, self.line)
        if self.holding:
            self.held.append(self.text[self.at : end])
        self.skip(end)

    def skip(self, end: int) -> bytes:
        """Step to `end` and answer the bytes stepped over."""
        passed = self.text[self.at : end]
        raw = passed.encode("utf-8", "surrogateescape")
        self.byte += len(raw)
        self.line += passed.count("\n")
        self.at = end
        return raw

    def flushed(self, members: dict[str, Any]) -> Iterator[Piece]:
        """The stretch collected so far, unless it is punctuation alone."""
        if members or "".join(self.held).strip(_PUNCTUATION):
            yield self.stretch(members)
        self.held = []

    def stretch(self, members: dict[str, Any], *, broken: bool = False) -> Piece:
        """The stretch collected so far, without the blanks around it."""
        start, line = self.held_at
        text = "".join(self.held)
        bare = text.lstrip(" \t\r\n\ufeff")
        lead = text[: len(text) - len(bare)]
        start += len(lead.encode("utf-8", "surrogateescape"))
        raw = bare.rstrip().encode("utf-8", "surrogateescape")
        self.held = []
        return Piece(start, raw, line + lead.count("\n"), None, members, list(self.notes), broken)

    def held_start(self) -> int:
        """Where what is not yet a piece begins."""
        return self.held_at[0] if self.held else self.byte

    def rest(self) -> Iterator[Piece]:
        """What is left of the file, in pieces of at most about 1 MiB."""
        while self.blank() != "":
            self.held = []
            start, line = self.byte, self.line
            raw = self.skip(min(len(self.text), self.at + CHUNK))
            yield Piece(start, raw, line, None, {}, list(self.notes), True)


_STRICT = json.JSONDecoder(strict=False)
_LENIENT = json.JSONDecoder(strict=False, parse_int=huge)


def _decoded(text: str, at: int) -> tuple[tuple[Any, int] | None, bool]:
    """The value at `at` with its end, or None and whether the text may only be cut there.

    Raises TooDeep.
    """
    for decoder in (_STRICT, _LENIENT):
        try:
            return decoder.raw_decode(text, at), False
        except json.JSONDecodeError as err:
            unended = err.msg.startswith(("Unterminated", "Invalid \\"))
            return None, unended or err.pos >= len(text) - _LITERAL
        except RecursionError as err:
            raise TooDeep from err
        except ValueError:
            continue
    return None, False


def top_level(source: Source) -> tuple[dict[str, Any] | None, bool]:
    """Members of the document a sample begins, arrays as far as they are there; None for others;
    True where something of it is nested deeper than it can be read.

    The member "" holds the items of a document that is a list.
    """
    found: dict[str, Any] = {}
    deep = False
    for piece in pieces(source, lambda _key: True):
        if isinstance(piece, Waiting):
            break
        deep = deep or TOO_DEEP in piece.notes
        if piece.broken and not (piece.key and deep):
            return None, deep
        if piece.broken:
            continue
        if piece.key is None:
            found.update(piece.value)
        else:
            found.setdefault(piece.key, []).append(piece.value)
    return found or None, deep
