"""Opening and making a desk: the one place in core that knows the store (house.md)."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from core import config, workspace
from core.identity import random_id
from core.ports import Clock, Desk
from core.workspace import Workspace
from schemas.common import Actor, Door
from schemas.errors import Unusable

AGENT_MARKERS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "CURSOR_AGENT": "cursor",
    "OPENCODE": "opencode",
}
"""Environment variables by which an agent's process tree is known (spec 4.10)."""


def system_clock() -> int:
    """Microseconds since the epoch, UTC."""
    return time.time_ns() // 1000


def actor(door: Door, reviewer: str | None = None, root: Path | None = None) -> Actor:
    """Who is at the desk: the reviewer named, or git's user, or the system's; and from where."""
    agent = next((a for k, a in AGENT_MARKERS.items() if os.environ.get(k)), None)
    try:
        terminal = os.ttyname(0)
    except OSError:
        terminal = None
    name = reviewer or os.environ.get("MEMDESK_REVIEWER") or _git_user(root) or _system_user()
    return Actor(reviewer=name, door=door, terminal=terminal, agent=agent)


def _git_user(root: Path | None) -> str | None:
    values = []
    for key in ("user.name", "user.email"):
        try:
            found = subprocess.run(
                ["git", "config", key],
                cwd=root,
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
            return None
        values.append(found.stdout.strip())
    name, mail = values
    return f"{name} <{mail}>" if name and mail else name or None


def _system_user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def open_(
    root: Path,
    who: Actor,
    *,
    store_url: str | None = None,
    clock: Clock = system_clock,
) -> Desk:
    """The desk of an existing workspace.

    Raises Unusable `workspace.*`, `config.invalid`, `store.*`.
    """
    place = workspace.open_(root)
    policy = config.load(place.folder / "config.toml")
    url = store_url or os.environ.get("MEMDESK_STORE") or place.store_url
    from store import unit

    if url == place.store_url and not (place.folder / "memdesk.db").exists():
        raise Unusable("workspace.damaged", "memdesk.db is missing from .memdesk/.")
    store = unit.open_store(
        url, place.id, artifacts=place.folder / "artifacts", wait=policy.lock_timeout
    )
    return Desk(place, policy, store, who, clock, store.secret)


def examine(root: Path, store_url: str | None) -> str:
    """What the file of a SQLite store is, for one that can't be opened; empty for other stores.

    Raises Unusable `workspace.*`.
    """
    from store import examine as examining

    place = workspace.open_(root)
    url = store_url or os.environ.get("MEMDESK_STORE") or place.store_url
    kind, _, path = url.partition(":///")
    return examining.sqlite_file(Path(path)) if kind.partition("+")[0] == "sqlite" else ""


def init(
    root: Path,
    who: Actor,
    *,
    store_url: str | None = None,
    clock: Clock = system_clock,
) -> tuple[Desk, bool]:
    """Make a workspace in `root`, or open the one that is there; True when it is new.

    Raises Unusable `workspace.*`, `store.*`.
    """
    folder = root / workspace.FOLDER
    pending = folder / workspace.PENDING
    if (folder / "workspace.json").exists() and (folder / "checkout.json").exists():
        if not pending.exists():
            opened = open_(root, who, store_url=store_url, clock=clock)
            workspace.hide(root)
            return opened, False
        place = workspace.open_(root)
    else:
        ids = [random_id("x").removeprefix("x_") for _ in range(2)]
        place = workspace.create(root, ids[0], ids[1])
    _make_store(place, store_url, clock)
    pending.unlink(missing_ok=True)
    return open_(root, who, store_url=store_url, clock=clock), True


def _make_store(place: Workspace, store_url: str | None, clock: Clock) -> None:
    from store import unit

    policy = config.load(place.folder / "config.toml")
    url = store_url or os.environ.get("MEMDESK_STORE") or place.store_url
    unit.create_workspace(url, place.id, os.urandom(32), clock(), wait=policy.lock_timeout)
    database = place.folder / "memdesk.db"
    if database.exists():
        database.chmod(0o600)
