"""`evidence artifact add|read|list` (spec 1.5)."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from core.commands.app import desk_, emit, options, say
from core.commands.evidence import evidence
from core.safe_text import visible

if TYPE_CHECKING:
    from core.evidence.artifacts import Part

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
