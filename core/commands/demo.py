"""`demo`: a sample workspace laid only by public commands from sample transcripts (contract)."""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer

from core.commands.app import app, emit, options, run
from schemas.errors import Refused

SAMPLE = Path(__file__).parent.parent / "samples" / "payments-api"
MARA = "Mara <mara@payments-api.example>"
PRIYA = "Priya <priya@payments-api.example>"
_RECORDED = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_KEY = "sk_" + "test_" + "51Hx" * 6
"""Looks like a credential and is none; put together here so that no file holds one."""

PROMOTED = (
    "refunds above 250",
    "idempotent",
    "ledger clock",
    "payout batches close",
    "03:00 UTC",
    "eu-north-1",
    "REDIS_URL",
)
ACCEPTED = ("schwifty", "uv over pip", "cut on Thursdays", "200 ms", "06:30 CET", "fee table")
REJECTED = (
    ("sandbox payouts settle", PRIYA, "only true for the old provider"),
    ("Acme Test", PRIYA, "one-off"),
)
DEFERRED = (
    "chargebacks are booked",
    "currency codes",
    "retried for three days",
    "closed list",
    "rollback script",
    "payments-ops",
    "legal entity",
    "vault service",
    "second replica",
)
_LATER = "until the new handbook is out"


@app.command()
def demo(
    folder: Path = typer.Argument(Path("payments-api"), help="Where to lay it."),
    no_ui: bool = typer.Option(False, "--no-ui", help="Lay it and end."),
) -> None:
    """Lay a sample workspace with input at every stage, and open the desk on it."""
    if (folder / ".memdesk").is_dir():
        emit({"workspace": str(folder), "laid": False}, f"{folder} has a workspace already.")
    elif folder.exists() and not folder.is_dir():
        raise Refused("path.not-regular", f"{folder} is a file; name a new folder.")
    elif folder.is_dir() and any(folder.iterdir()):
        raise Refused("path.not-regular", f"{folder} is not empty; name a new folder.")
    else:
        lay(folder)
        parts = "three sessions, a document, decisions, receipts"
        emit(
            {"workspace": str(folder), "laid": True},
            f"Laid a sample workspace in {folder}: {parts}.",
        )
    given = options()
    if not no_ui and given.open_ui is not None:
        raise typer.Exit(given.open_ui(folder, None, given.reviewer or MARA))


def lay(folder: Path) -> None:
    """Copy the sample input, moved to today, and run the public commands on it."""
    _copy(folder)
    _memdesk(folder, "init")
    _memdesk(folder, "evidence", "import", str(folder / "sessions"), str(folder / "docs"))
    _memdesk(folder, "candidates", "extract", "--all")
    items = _memdesk(folder, "candidates", "list", "--limit", "1000")["items"]
    for words in (*PROMOTED, *ACCEPTED):
        ref = _ref(items, words)
        _memdesk(folder, "candidates", "accept", ref, "--reason", "said by the owner")
        if words in PROMOTED:
            seen = _memdesk(folder, "promotion", "preview", ref, "--to", "line-memory")
            _memdesk(folder, "promotion", "confirm", seen["operation_id"])
    for words, who, why in REJECTED:
        _memdesk(folder, "candidates", "reject", _ref(items, words), "--reason", why, who=who)
    for words in DEFERRED:
        _memdesk(folder, "candidates", "defer", _ref(items, words), "--reason", _LATER, who=PRIYA)


def _copy(folder: Path) -> None:
    shift = datetime.fromtimestamp(time.time(), UTC) - _RECORDED
    for path in sorted(SAMPLE.rglob("*")):
        target = folder / path.relative_to(SAMPLE)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        text = _TIME.sub(lambda m: _moved(m[0], shift), path.read_text("utf-8"))
        target.write_text(text.replace("{{SANDBOX_KEY}}", _KEY), "utf-8")


def _moved(text: str, shift: timedelta) -> str:
    moment = datetime.fromisoformat(text) + shift
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _ref(items: list[dict[str, Any]], words: str) -> str:
    found = next(i for i in items if words.lower() in str(i["statement"]).lower())
    return f"{found['id']}@{found['version']}"


def _memdesk(folder: Path, *args: str, who: str = MARA) -> Any:
    """One public command, with its document; a failure ends the demo as that command ended."""
    out = io.StringIO()
    front = ["--workspace", str(folder), "--reviewer", who, "--json"]
    with contextlib.redirect_stdout(out):
        status = run(None, front, list(args))
    if status:
        raise typer.Exit(status)
    return json.loads(out.getvalue())
