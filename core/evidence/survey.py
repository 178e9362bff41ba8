"""One pass over a source of any size: its digest, and where it holds credentials (spec 0.3, 4.3)."""

from __future__ import annotations

import codecs
import hashlib
import os
import time
from dataclasses import dataclass, field
from typing import BinaryIO

from core.screening import secret_spans
from core.workspace import Workspace
from schemas.errors import Stale

_PIECE = 1 << 20
_BLOCK = 8192
_OVERLAP = 512
_KEPT = 64
_FRESH_NS = 2_000_000_000
"""A file touched more lately than this may change again without its times telling."""


@dataclass(frozen=True, slots=True)
class Survey:
    """A file as it was read: digest, bytes, and lines (from 1) on which a credential was found."""

    digest: str
    size: int
    secrets: tuple[int, ...]


_known: dict[tuple[object, ...], Survey] = {}


def survey(workspace: Workspace, path: str, *, screened: bool = True) -> Survey:
    """Read a regular file inside the workspace once; again only when it was touched since.

    A preview on screen is compared every second. What is written is read anew and compared with
    the digest, so a stale answer here can only be refused there. Not `screened`, no credential is
    looked for.

    Raises NotFound `path.not-found`; Refused `destination.link`, `path.not-regular`,
    `path.unreadable`; Stale `intake.source-changing`.
    """
    with workspace.open(path) as file:
        stamp = _stamp(file)
        key = (workspace.root, path, screened, *stamp)
        if (found := _known.get(key)) is not None:
            return found
        found = _read(file, path, stamp, screened)
        if time.time_ns() - max(stamp[-2:]) > _FRESH_NS:
            if len(_known) >= _KEPT:
                _known.clear()
            _known[key] = found
        return found


def _stamp(file: BinaryIO) -> tuple[int, ...]:
    info = os.fstat(file.fileno())
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _read(file: BinaryIO, path: str, stamp: tuple[int, ...], screened: bool) -> Survey:
    hasher, left, scan = hashlib.sha256(), stamp[2], _Scan()
    # A file that grows as fast as it is read would never end.
    while left and (data := file.read(min(_PIECE, left))):
        hasher.update(data)
        if screened:
            scan.feed(data)
        left -= len(data)
    if _stamp(file) != stamp:
        raise Stale("intake.source-changing", path=path)
    return Survey("sha256:" + hasher.hexdigest(), stamp[2], scan.done())


@dataclass(slots=True)
class _Scan:
    """Screens text that comes in pieces, a block at a time; blocks overlap and begin at a word."""

    text: str = ""
    line: int = 1
    found: set[int] = field(default_factory=set)
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take more of the file. Without its NULs, UTF-16 reads like the letters it holds."""
        self.text += self.decoder.decode(data, final).replace("\0", "")
        at = 0
        while len(self.text) - at >= 2 * _BLOCK:
            end = _cut(self.text, at + _BLOCK // 2, at + _BLOCK)
            self._screen(self.text[at:end])
            following = _cut(self.text, end - _OVERLAP, end - _OVERLAP // 2)
            self.line += self.text.count("\n", at, following)
            at = following
        self.text = self.text[at:]

    def done(self) -> tuple[int, ...]:
        """The lines with credentials, in order."""
        self.feed(b"", final=True)
        self._screen(self.text)
        return tuple(sorted(self.found))

    def _screen(self, block: str) -> None:
        for start, _ in secret_spans(block):
            self.found.add(self.line + block.count("\n", 0, start))


def _cut(text: str, low: int, high: int) -> int:
    """After the last line end or else space between two places; where there is none, the last."""
    at = text.rfind("\n", low, high)
    if at < 0:
        at = text.rfind(" ", low, high)
    return at + 1 if at >= 0 else high
