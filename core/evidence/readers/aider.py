"""Aider's chat history: one growing Markdown file for all sessions of a repository (spec 1.1).

Rules: formats of transcripts, section 6. Nothing in the file says for certain who spoke: a line
that begins with `#### ` outside a fence is what was entered, noted as `role-inferred`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.evidence.readers.base import Format, Line, Part, Record, Sample, Source, Waiting, lines
from core.evidence.readers.jsonl import BOM, clean
from schemas.evidence import Author, EventKind

_START = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_FENCE = re.compile(rb"^(`{3,}|~{3,})([^`]*)$")
_COMMAND = re.compile(r"/[a-z-]+(?:\s|\Z)|![^\s]")
_ASKING = re.compile(r"/(?:ask|code|architect|chat-mode)\s+(?=\S)")
"""Commands whose argument is a message to the model."""
_ECHO = ("# Fix any errors below", "## Running:", "I ran this command:")
"""What the client enters for the person: lint and test output they accepted."""
_MARKS = (b"#", b">", b"`", b"~")
"""What a line that is no answer's begins with."""
_HEAD, _ENTERED, _TOOL, _ANSWER = range(4)
_BLOCK_BYTES = 1 << 18


class _History:
    """Blocks of lines of one kind; the fence and session they stand in."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.session = source.session
        self.fence: bytes | None = None
        self.block: list[Line] = []
        self.kind = _ANSWER
        self.end = 0
        self.size = 0

    def read(self) -> Iterator[Record | Waiting]:
        """Yield blocks in file order; the file is read from its start, since fences span it."""
        source = self.source
        source.file.seek(0)
        whole = Source(source.file, 0, 0, source.end, source.session, source.max_record)
        begun = source.offset
        for line in lines(whole):
            if not line.ended and line.cut:
                if self.block:
                    yield self._record()
                yield Waiting(line.start, line.size)
                return
            kind = self._kind(line)
            if line.start < begun < line.start + len(line.data):
                # The committed part ended inside this line; what was added is a block of its own.
                data = line.data[begun - line.start :]
                line = Line(begun, data, line.number, line.ended, line.size, continued=True)
            blank = self.block and line.start > self.end
            full = self.size > _BLOCK_BYTES
            new = kind != self.kind or kind == _HEAD or full or (blank and kind == _ENTERED)
            grown = self.block and self.block[0].start < begun <= line.start
            if self.block and (new or grown or line.cut):
                record = self._record()
                if record.start >= begun:
                    yield record
            if not self.block:
                self.kind = kind
            self.block.append(line)
            self.size += line.size
            self.end = line.start + line.size
        if self.block and self.block[0].start >= begun:
            yield self._record()

    def _kind(self, line: Line) -> int:
        data = line.data.removeprefix(BOM) if line.start == 0 else line.data
        if data[:1] not in _MARKS:
            return _ANSWER
        if _START.match(data):
            # A session never begins inside an answer: whatever fence was open is over.
            self.fence = None
            return _HEAD
        if found := _FENCE.match(data):
            if self.fence is None:
                self.fence = found[1]
            elif found[1].startswith(self.fence) and not found[2].strip():
                self.fence = None
            return _ANSWER
        after = self.end == 0 or line.start > self.end or self.kind in (_ENTERED, _HEAD)
        if self.fence is None and data.startswith(b"#### ") and after:
            return _ENTERED
        if self.fence is None and data.startswith(b"> "):
            return _TOOL
        return _ANSWER

    def _record(self) -> Record:
        first, last = self.block[0], self.block[-1]
        notes: list[str] = []
        length = last.start + len(last.data) - first.start
        place = self.source.file.tell()
        self.source.file.seek(first.start)
        raw = self.source.file.read(length)
        self.source.file.seek(place)
        body = raw.removeprefix(BOM) if first.start == 0 else raw
        try:
            text = body.decode()
        except UnicodeDecodeError:
            text = body.decode("utf-8", "replace")
            notes.append("invalid-utf8")
        part = self._part(clean(text.replace("\r\n", "\n")), notes)
        part.session, part.notes = self.session, notes
        self.block, self.size = [], 0
        return Record(first.start, raw, first.number, [part])

    def _part(self, text: str, notes: list[str]) -> Part:
        if self.kind == _HEAD:
            started = text.removeprefix("# aider chat started at ").strip()
            self.session = f"{self.source.session}@{started}"
            return Part(EventKind.SYSTEM, Author.SYSTEM, text)
        notes.append("role-inferred")
        if self.kind == _TOOL:
            shown = "\n".join(x.removeprefix("> ").rstrip() for x in text.split("\n"))
            return Part(EventKind.SYSTEM, Author.TOOL, shown.strip())
        if self.kind == _ANSWER:
            return Part(EventKind.MESSAGE, Author.AGENT, text)
        entered = "\n".join(x.removeprefix("#### ").rstrip() for x in text.split("\n")).strip()
        entered = _ASKING.sub("", entered, count=1) if _ASKING.match(entered) else entered
        if _COMMAND.match(entered) and "\n" not in entered:
            return Part(EventKind.SYSTEM, Author.SYSTEM, entered)
        if entered.startswith(_ECHO):
            return Part(EventKind.MESSAGE, Author.SYSTEM, entered)
        return Part(EventKind.MESSAGE, Author.OWNER, entered)


def _detect(sample: Sample) -> bool:
    """A session's heading outside any fence, with the client's greeting behind it.

    A document that only quotes a history must not pass for one: its lines would be the owner's.
    """
    if sample.binary or b"# aider chat started at " not in sample.head:
        return False
    fenced = begun = False
    for line in sample.head.removeprefix(BOM).split(b"\n"):
        if begun and line.strip():
            if line.startswith(b"> "):
                return True
            begun = False
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _START.match(line):
            begun = True
    return False


def read(source: Source) -> Iterator[Record | Waiting]:
    """Yield the history's blocks in file order."""
    return _History(source).read()


FORMAT = Format("aider", _detect, read)
