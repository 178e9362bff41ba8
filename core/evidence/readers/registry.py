"""Formats of this house and of others: the entry points of the group `memdesk.readers` (spec 1.1).

An entry point names a `Format`. One that can't be loaded, is none, or takes a name that is taken
is named in the report of an import and left out; it never keeps memdesk from starting.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from core.evidence.readers import (
    aider,
    aiwg_catalog,
    atif,
    claude_code,
    codex,
    copilot,
    gemini,
    generic,
    markdown,
    opencode,
    openhands,
    requests,
    swe_agent,
)
from core.evidence.readers.base import Format

GROUP = "memdesk.readers"
_OWN: tuple[Format, ...] = (
    aiwg_catalog.FORMAT,
    opencode.FORMAT,
    claude_code.FORMAT,
    codex.FORMAT,
    copilot.FORMAT,
    openhands.FORMAT,
    gemini.LOG,
    gemini.CHAT,
    atif.FORMAT,
    swe_agent.FORMAT,
    requests.FORMAT,
    generic.FORMAT,
    aider.FORMAT,
)
_DOCUMENTS = (markdown.MARKDOWN, markdown.TEXT)


def formats() -> tuple[Format, ...]:
    """In the order they are tried; the first that recognises a sample reads the file."""
    return _found()[0]


def problems() -> tuple[str, ...]:
    """Why an installed reader was left out, one line each."""
    return _found()[1]


@cache
def _found() -> tuple[tuple[Format, ...], tuple[str, ...]]:
    taken = {f.name for f in (*_OWN, *_DOCUMENTS)}
    foreign: list[Format] = []
    left_out: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda p: p.name):
        found = _loaded(point)
        if isinstance(found, Format) and found.name not in taken:
            taken.add(found.name)
            foreign.append(replace(found, foreign=True))
        elif isinstance(found, Format):
            left_out.append(f"reader {point.name}: the name {found.name} is taken")
        else:
            left_out.append(f"reader {point.name}: {found}")
    return (*_OWN, *foreign, *_DOCUMENTS), tuple(left_out)


def _loaded(point: EntryPoint) -> Format | str:
    """The format an entry point names, or what is wrong with it."""
    try:
        found = point.load()
    except Exception as err:  # whatever foreign code raises, it is only left out
        return f"{type(err).__name__}: {err}"
    return found if isinstance(found, Format) else f"{point.value} is no Format"
