"""What memdesk itself said, met again in a transcript: never a source of memory (spec 4.2, case C17).

A run of its own works in `.memdesk/`; a message it handed out to be pasted says where it is from.
Either is kept as evidence like anything else, and is told apart.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from core.workspace import FOLDER

NOTE = "self"
"""Note on events of a run of memdesk's own."""
_HANDED_OUT = "from earlier in this work, lost when it was compacted"
_MESSAGE = re.compile(rf"“.*?”\n\n\([a-z -]+ {_HANDED_OUT}: session:[^)]*\)", re.S)


def is_run(scope: str | None) -> bool:
    """True for a folder that only memdesk works in."""
    if scope is None or FOLDER not in scope:
        return False
    return FOLDER in PurePosixPath(scope.replace("\\", "/")).parts


def handed_out(quote: str, what: str, origin: str) -> str:
    """A quote as a message to paste to an agent: the words, what they are, where they were said."""
    return f"“{quote}”\n\n({what} {_HANDED_OUT}: {origin})"


def others(text: str) -> str:
    """A text of the same length in which what memdesk handed out is blank."""
    if _HANDED_OUT not in text:
        return text
    return _MESSAGE.sub(lambda found: " " * len(found[0]), text)
