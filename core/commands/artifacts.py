"""`evidence artifact add|read|list|extract` (spec 1.5)."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from core.commands.app import desk_, emit, options, say
from core.commands.evidence import evidence
from core.safe_text import visible

if TYPE_CHECKING:
    from core.evidence.artifacts import Part
    from schemas.evidence import Extract, LineRange

artifact = typer.Typer(
    help="Files kept whole: read again exactly, whole or in part.", no_args_is_help=True
)
evidence.add_typer(artifact, name="artifact")


@artifact.command("add")
def add(path: Path = typer.Argument(..., help="Any file, text or not.")) -> None:
    """Keep a file's bytes as the newest revision of its path."""
    from core.evidence import artifacts

    found, new = artifacts.add(desk_(), path)
    state = "kept" if new else "known"
    emit(
        found.model_dump(mode="json") | {"new": new},
        f"{state} {found.path} revision {found.revision} · {found.size:,} bytes · {found.id}",
        f"  {found.locator}",
    )


@artifact.command("list")
def list_(
    limit: int = typer.Option(100, min=1, max=10_000),
    after: str | None = typer.Option(None, help="Cursor of the page before."),
) -> None:
    """Revisions in the order they were added."""
    from schemas.common import Page

    with desk_().store.read() as view:
        items, cursor = view.artifacts.list(Page(limit=limit, after=after))
    lines = [
        f"{a.id[:12]}  {a.size:>12,}  @{a.revision}{' stale' if a.stale else ''}  {a.path}"
        for a in items
    ]
    emit(
        {"items": [a.model_dump(mode="json") for a in items], "next": cursor},
        *(lines or ["No artifacts."]),
    )


@artifact.command("read")
def read(
    ref: str = typer.Argument(..., help="artifact://sha256/HEX[#bA-B] or art_…"),
    lines: str | None = typer.Option(None, help="A:B, counted from 1, both given."),
    bytes_: str | None = typer.Option(None, "--bytes", help="A:B, from 0, B left out."),
) -> None:
    """Bytes of an artifact on stdout, each verified; a stale revision is named on stderr."""
    from core.evidence import artifacts

    desk = desk_()
    part = artifacts.part(desk, ref, lines=lines, bytes_=bytes_)
    pieces = artifacts.read(desk, part)
    if options().json:
        _document(part, b"".join(pieces))
        return
    if part.artifact.stale:
        newest = f"{part.artifact.path} has revision {part.artifact.newest}"
        print(
            f"! stale: this is revision {part.artifact.revision}, {visible(newest)}",
            file=sys.stderr,
        )
    _write(pieces)


@artifact.command("extract")
def extract(
    ref: str = typer.Argument(..., help="artifact://sha256/HEX or art_…"),
    lines: list[str] = typer.Option([], help="A:B, counted from 1; may be repeated."),
) -> None:
    """Chosen lines with what they leave out; without --lines, the extracts of that path."""
    from core.evidence import extracts

    desk = desk_()
    if not lines:
        found = extracts.listed(desk, ref)
        items = [e.model_dump(mode="json", exclude={"parts"}) for e in found]
        shown = [_coverage(e) for e in found] or ["No extracts."]
        emit({"items": items, "next": None}, *shown)
        return
    made, new = extracts.make(desk, ref, lines)
    whole = extracts.rendered(desk, made)
    emit(whole.model_dump(mode="json") | {"new": new}, _coverage(whole), *_rendered(whole))


def _coverage(e: Extract) -> str:
    """One line that says of what, how much, and whether the source has moved on."""
    left = "nothing left out" if e.complete else f"misses {_ranges(e.misses)}"
    stale = f" · stale: {e.artifact.path} has revision {e.artifact.newest}" if e.stale else ""
    return (
        f"extract of {e.artifact.path} revision {e.artifact.revision} · lines {_ranges(e.covers)} "
        f"of {e.artifact.lines:,} · {left}{stale}"
    )


def _ranges(ranges: Sequence[LineRange]) -> str:
    shown = [f"{r.first}-{r.last}" for r in ranges[:8]]
    return ", ".join(shown) + (f" and {len(ranges) - 8} more" if len(ranges) > 8 else "")


def _rendered(e: Extract) -> Iterator[str]:
    """The words, with a line for each stretch that is left out."""
    at = 1
    for part in e.parts:
        if part.first > at:
            yield f"  ⋯ lines {at}-{part.first - 1} are left out"
        yield part.text.removesuffix("\n")
        at = part.last + 1
    if at <= e.artifact.lines:
        yield f"  ⋯ lines {at}-{e.artifact.lines} are left out"


def _write(pieces: Iterator[bytes]) -> None:
    """Exact bytes into a file or pipe; on a terminal only what is safe to show there."""
    for data in pieces:
        if sys.stdout.isatty():
            say(data.decode("utf-8", "replace"))
        else:
            sys.stdout.buffer.write(data)


def _document(part: Part, data: bytes) -> None:
    from schemas.evidence import ArtifactRange

    try:
        text, encoded = data.decode(), None
    except UnicodeDecodeError:
        text, encoded = None, base64.b64encode(data).decode()
    emit(
        ArtifactRange(
            artifact=part.artifact,
            start=part.start,
            end=part.end,
            first_line=part.line,
            text=text,
            base64=encoded,
        )
    )
