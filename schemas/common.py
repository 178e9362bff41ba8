"""What every contract shares: the base model, ids, locators, digests, classifications (spec 0.2)."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

SCHEMA_VERSION = 1
"""Version of every document in this package; a newer one is refused, never guessed (spec 0.6)."""

DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
ID_PATTERN = r"^(ev|file|art|cand|op|rcpt|bel|pack|aud|out)_[0-9a-f]{32}$"

Digest = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]
"""`sha256:` and 64 lower hex digits, over exact bytes or RFC 8785 JSON."""

ID_RE = re.compile(ID_PATTERN)


class Contract(BaseModel):
    """Base of every document that crosses a floor: frozen, closed, compared by value."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64")


class Document(Contract):
    """A contract that is stored or exchanged on its own and so carries its version."""

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1)


class Classification(StrEnum):
    """How far a text may travel (spec 4.2). `restricted` and `secret` reach no consumer."""

    PUBLIC = "public"
    INTERNAL = "internal"
    RESTRICTED = "restricted"
    SECRET = "secret"


class Door(StrEnum):
    """Through which door something was done (spec 4.10)."""

    TUI = "tui"
    COMMAND = "command"
    HOOK = "hook"
    MCP = "mcp"
    WATCHER = "watcher"


class Actor(Contract):
    """Who did something and from where: reviewer, door, terminal, marker of an agent's process tree."""

    reviewer: str
    door: Door
    terminal: str | None = None
    agent: str | None = None


class Page(Contract):
    """Where a list continues: an opaque cursor, or None at its end."""

    limit: int = Field(default=100, ge=1, le=10_000)
    after: str | None = None
