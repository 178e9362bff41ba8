"""`init`: make the workspace, say what is there, offer it (spec 4.9)."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from core.commands.app import app, emit, options, say
from core.safe_text import one_line
from core.wording import ago, some
from schemas.errors import Refused

if TYPE_CHECKING:
    from core.onboarding import Offer, Taken
    from core.ports import Desk
    from schemas.evidence import ImportReport
    from schemas.onboarding import Discovery, StoredSessions

_NAME = 18
_PATHS = 12
_SIZES = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))


class Take(StrEnum):
    """What `--import` takes without asking."""

    RECENT = "recent"
    ALL = "all"


@app.command()
def init(
    take: Take | None = typer.Option(
        None,
        "--import",
        help="Import without asking: recent (14 days, owner's words) or all (everything).",
    ),
) -> None:
    """Make the workspace here; says what it found, imports only what you agree to.

    Inside another workspace only where --workspace or MEMDESK_WORKSPACE names the folder.
    """
    from core import desk as desks
    from core import workspace
    from core.onboarding import discover
    from schemas.common import Door

    given = options()
    named = workspace.named(given.workspace)
    where = named or Path.cwd()
    above = None if named else workspace.find(where)
    if above is not None and above != where:
        message = f"{above} is a workspace already, and this folder is inside it."
        raise Refused("workspace.nested", message, workspace=str(above))
    who = desks.actor(Door.COMMAND, given.reviewer, where if where.is_dir() else None)
    desk, created = desks.init(where, who, store_url=given.store)
    given.opened.append(desk)
    offer = discover(desk, created=created)
    if given.json:
        _as_json(desk, offer, take)
        return
    for line in _found(offer.found, desk.clock()):
        say(line)
    try:
        if take is None and offer.found.sessions:
            take = _ask(offer) if _on_terminal() else None
            if take is None:
                _how(offer)
        if take is not None:
            _report(_take(desk, offer, take), offer)
    except (KeyboardInterrupt, typer.Abort):
        text = "\nInterrupted. What was imported stays; `memdesk init` offers the rest again."
        print(text, file=sys.stderr)
        raise
    if not offer.found.sessions:
        say("Next: `memdesk evidence import PATH`, `memdesk candidates extract --all`, `memdesk`.")


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _as_json(desk: Desk, offer: Offer, take: Take | None) -> None:
    """One document; what was imported is in it only when the command named it."""
    found = offer.found
    if take is not None:
        taken = _take(desk, offer, take)
        found = found.model_copy(
            update={
                "imported": taken.imported,
                "extracted": taken.extracted,
                "ruled": taken.ruled,
            }
        )
    emit(found)


# what is there


def _found(found: Discovery, now: int) -> list[str]:
    made = "Made" if found.created else "Found"
    lines = [f"{made} the workspace {found.workspace[:8]} in {found.root}"]
    if found.aiwg:
        what = ", ".join(Path(p).name for p in found.memory_files) or "no line memory yet"
        lines.append(_row(".aiwg/", f"an AIWG project: {what}"))
    for path, count in list(found.rules.items())[:_PATHS]:
        lines.append(_row(path, f"{some(count, 'rule')}, read as policy, never written"))
    if (more := len(found.rules) - _PATHS) > 0:
        lines.append(_row("", f"and {some(more, 'more rule file')}"))
    for left in found.rules_not_read[:_PATHS]:
        lines.append(_row(left.path, f"not read: {left.code}"))
    for stored in found.stored:
        lines += _sessions(stored, found, now)
    if found.left_out:
        counts = ", ".join(f"{n:,} {cause}" for cause, n in found.left_out.items())
        lines.append(_row("left alone", counts))
    if not found.sessions:
        lines.append(_row("sessions", "none that agents stored for this folder"))
    return lines


def _row(name: str, text: str) -> str:
    shown = one_line(name, 48)
    return f"  {shown:<{_NAME}}{'' if len(shown) < _NAME else '  '}{text}"


def _sessions(s: StoredSessions, found: Discovery, now: int) -> list[str]:
    parts = [some(s.sessions, "conversation"), _size(s.bytes)]
    if s.newest is not None:
        parts.append(f"newest {ago(s.newest, now)}")
    parts.append(f"{s.recent:,} in {found.window_days} days")
    more = [f"{s.undated:,} without a time"] if s.undated else []
    more += [f"{s.known:,} imported already"] if s.known else []
    lines = [_row(s.agent, ", ".join(parts))]
    return [*lines, _row("", ", ".join(more))] if more else lines


def _size(n: int) -> str:
    for unit, name in _SIZES:
        if n >= unit:
            return f"{n / unit:.1f} {name}"
    return f"{n} bytes"


# the question


def _ask(offer: Offer) -> Take | None:
    """The one question; anything but an answer to it is asked again."""
    found = offer.found
    words = f"last {found.window_days} days, owner's words only? [Y/n/all]"
    _forget_typed()
    text = f"Import {found.recent:,} of {some(found.sessions, 'conversation')}: {words}"
    while True:
        answer = (
            typer.prompt(text, default="Y", show_default=False, prompt_suffix=" ").strip().lower()
        )
        if answer in ("y", "yes"):
            return Take.RECENT
        if answer in ("n", "no"):
            return None
        if answer == "all":
            return Take.ALL
        say("  enter or y: those; all: every conversation, agents' words too; n: nothing now.")


def _forget_typed() -> None:
    """What was typed before the question was shown is no answer to it."""
    import termios

    termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _how(offer: Offer) -> None:
    """What would import, for whoever was not asked or said no."""
    found = offer.found
    days = f"{found.recent:,} of the last {found.window_days} days, owner's words"
    say("Nothing was imported. To import later:")
    say(f"  memdesk init --import recent    {days}")
    say(f"  memdesk init --import all       all {found.sessions:,}, agents' words too")


# importing


class _Meter:
    """Progress of an import on stderr, rewritten in place; nothing where that is no terminal."""

    def __init__(self, files: int) -> None:
        self.files = files
        self.shown = sys.stderr.isatty() and not options().json
        self.seen: set[str] = set()

    def importing(self, path: str, read: int, size: int) -> None:
        self.seen.add(path)
        share = 100 * read // max(1, size)
        self._show(f"importing {len(self.seen):,} of {self.files:,} · {share:3d}%")

    def reading(self, done: int) -> None:
        self._show(f"looking for what was said {done:,} of {len(self.seen) or self.files:,}")

    def _show(self, text: str) -> None:
        if self.shown:
            print(f"\r  {text:<60}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.shown:
            print(f"\r{'':<64}\r", end="", file=sys.stderr, flush=True)


def _take(desk: Desk, offer: Offer, take: Take) -> Taken:
    from core import onboarding

    everything = take is Take.ALL
    files = sum(len(s.files) for s in offer.chosen(everything=everything))
    meter = _Meter(files)
    try:
        return onboarding.take(
            desk,
            offer,
            everything=everything,
            importing=meter.importing,
            reading=meter.reading,
        )
    finally:
        meter.clear()


def _report(taken: Taken, offer: Offer) -> None:
    r, e = taken.imported, taken.extracted
    say(f"Read {some(r.sources, 'file')}, {_size(r.bytes)} of them new.")
    say(
        f"  {r.read:,} read = {r.new:,} new + {r.duplicate:,} known + {r.waiting:,} waiting"
        f" · {r.unparsed:,} unparsed"
    )
    if r.by_author:
        say("  said by " + " · ".join(f"{k} {v:,}" for k, v in r.by_author.items()))
    for line in _left(r):
        say(line)
    again = f", {e.known:,} known already" if e.known else ""
    say(f"{some(e.proposed, 'candidate')} from {some(e.messages, 'message')}{again}.")
    if taken.ruled:
        does = "says" if taken.ruled == 1 else "say"
        say(f"  {taken.ruled:,} {does} what a rule file says already; out of the way, marked =.")
    say("Decide on them with `memdesk`.")


def _left(r: ImportReport) -> list[str]:
    """What waits and what was refused, by name: nothing is dropped silently."""
    lines = [
        f"  waiting: {Path(f.path).name} ends in the middle of a record; the next import takes it"
        for f in r.files
        if f.waiting
    ][:_PATHS]
    lines += [f"! {x.path}: {x.code}: {x.message}" for x in r.refused][:_PATHS]
    if (more := len(r.refused) - _PATHS) > 0:
        lines.append(f"! and {some(more, 'more refused file')}")
    return lines
