"""The configuration: AIWG's closed table and memdesk's own settings (spec 0.10).

An invalid file is refused with the key that is wrong, never replaced by defaults.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.identity import digest_json
from schemas.errors import Unusable

if TYPE_CHECKING:
    from core.ports import Desk


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class AiwgPaths(_Table):
    """AIWG's fixed locations; constants of its schema."""

    lineMemory: Literal[".aiwg/memory/line-memory.txt"]  # noqa: N815
    lineMetadata: Literal[".aiwg/memory/line-memory.meta.json"]  # noqa: N815
    wiki: Literal[".aiwg/wiki"]
    canonicalContext: Literal[".aiwg/context/compound-memory"]  # noqa: N815


class AiwgContext(_Table):
    """Pack budgets in bytes and the touching default."""

    totalCharacters: int = Field(ge=256, le=65_536)  # noqa: N815
    lineCharacters: int = Field(ge=0, le=65_536)  # noqa: N815
    wikiCharacters: int = Field(ge=0, le=65_536)  # noqa: N815
    citationCharacters: int = Field(ge=0, le=16_384)  # noqa: N815
    instructionCharacters: int = Field(ge=0, le=8_192)  # noqa: N815
    defaultNoTouch: bool  # noqa: N815


class AiwgMaintenance(_Table):
    """Bounds of scans and waits."""

    previewByDefault: Literal[True]  # noqa: N815
    scanLimit: int = Field(ge=1, le=10_000)  # noqa: N815
    lockTimeoutMs: int = Field(ge=100, le=60_000)  # noqa: N815


class CompoundMemory(_Table):
    """Exactly the members of AIWG's `aiwg.compound-memory.config.v1`, all required."""

    schemaVersion: Literal["aiwg.compound-memory.config.v1"]  # noqa: N815
    reviewPolicy: Literal["explicit"]  # noqa: N815
    paths: AiwgPaths
    context: AiwgContext
    maintenance: AiwgMaintenance


class PolicyTable(_Table):
    """What may become memory; bound into every preview together with `[compound_memory]`."""

    statement_bytes: int = Field(default=500, ge=40, le=8_192)
    procedure_sources: int = Field(default=2, ge=1, le=9)
    extract_authors: tuple[Literal["owner", "external", "agent"], ...] = (
        "owner",
        "external",
        "agent",
    )


class EvidenceTable(_Table):
    """Import settings; no policy."""

    batch_events: int = Field(default=500, ge=1, le=500)
    record_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    """A longer line is stored as `unparsed`, whole, without being parsed."""
    unpacked_bytes: int = Field(default=4 * 1024 * 1024 * 1024, ge=1024)
    """A compressed file that holds more is refused."""
    roots: tuple[str, ...] = ()
    """Further folders in which `init` looks for sessions, relative to the workspace or under `~`."""


class DeskTable(_Table):
    """The screen's settings; no policy."""

    auto_advance: bool = True
    ascii: bool | None = None
    theme: str = "memdesk-dark"
    keys: dict[str, str] = Field(default_factory=dict)


class Policy(_Table):
    """The whole configuration file."""

    schema_version: Literal[1] = 1
    compound_memory: CompoundMemory
    policy: PolicyTable = PolicyTable()
    evidence: EvidenceTable = EvidenceTable()
    desk: DeskTable = DeskTable()

    @cached_property
    def digest(self) -> str:
        """Digest of what previews are bound to: `[policy]` and `[compound_memory]` (spec 5.2)."""
        return digest_json(
            {
                "policy": self.policy.model_dump(mode="json"),
                "compound_memory": self.compound_memory.model_dump(mode="json"),
            }
        )

    @property
    def lock_timeout(self) -> float:
        """Seconds to wait for another writer."""
        return self.compound_memory.maintenance.lockTimeoutMs / 1000


DEFAULT_TOML = """\
# memdesk's configuration. A wrong key or value is refused, never ignored.
schema_version = 1

# What may become memory. Previews are bound to this table and to [compound_memory].
[policy]
statement_bytes = 500          # longer statements need an acknowledgement
procedure_sources = 2          # independent sources a procedure needs
extract_authors = ["owner", "external", "agent"]   # agents' restatements are folded

[evidence]
batch_events = 500
roots = []                     # more folders in which `init` looks for agent sessions

[desk]
auto_advance = true
theme = "memdesk-dark"

# AIWG's compound-memory configuration: closed, every member required.
[compound_memory]
schemaVersion = "aiwg.compound-memory.config.v1"
reviewPolicy = "explicit"

[compound_memory.paths]
lineMemory = ".aiwg/memory/line-memory.txt"
lineMetadata = ".aiwg/memory/line-memory.meta.json"
wiki = ".aiwg/wiki"
canonicalContext = ".aiwg/context/compound-memory"

[compound_memory.context]
totalCharacters = 8000
lineCharacters = 2000
wikiCharacters = 4000
citationCharacters = 1500
instructionCharacters = 500
defaultNoTouch = true

[compound_memory.maintenance]
previewByDefault = true
scanLimit = 1000
lockTimeoutMs = 5000
"""


@lru_cache(maxsize=4)
def parse(text: str) -> Policy:
    """The policy in `text`. Raises Unusable `config.invalid` naming the first wrong key."""
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as err:
        raise Unusable(
            "config.invalid",
            f"config.toml is no TOML: {err}",
            remedy="Mend what the message names; an invalid file is never replaced by defaults.",
            key=None,
        ) from err
    version = table.get("schema_version", 1)
    if isinstance(version, bool):  # Literal[1] would take true for 1
        key = "schema_version"
        raise Unusable("config.invalid", f"config.toml: {key} is a number", key=key)
    if isinstance(version, int) and version > 1:
        raise Unusable("schema.newer", f"config.toml has schema_version {version}.", given=version)
    try:
        # TOML has no tuples: lists are validated in lax mode field by field, the rest strictly.
        return Policy.model_validate(_tuples(table))
    except ValidationError as err:
        first = err.errors()[0]
        key = ".".join(str(p) for p in first["loc"])
        raise Unusable("config.invalid", f"config.toml: {key}: {first['msg']}", key=key) from err


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _tuples(v) for k, v in value.items()}
    return tuple(value) if isinstance(value, list) else value


def load(path: Path) -> Policy:
    """The policy at `path`.

    Raises Unusable `config.invalid`, or `workspace.damaged` when the file is gone or unreadable.
    """
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as err:
        line = err.object.count(b"\n", 0, err.start) + 1
        raise Unusable(
            "config.invalid",
            f"config.toml is not UTF-8: line {line}, byte {err.start} of the file.",
            remedy="Save .memdesk/config.toml as UTF-8 again; it is never replaced by defaults.",
            key=None,
        ) from err
    except OSError as err:
        raise Unusable("workspace.damaged", f"config.toml: {err.strerror}") from err
    return parse(text)


def current(desk: Desk) -> Desk:
    """The desk under the policy that is in force now: a desk may be open for hours.

    Raises as `load` does.
    """
    policy = load(desk.workspace.folder / "config.toml")
    return desk if policy == desk.policy else replace(desk, policy=policy)
