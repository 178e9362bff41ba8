"""Names, ids and receipts of an intake, byte for byte as AIWG makes them (spec 1.6, 5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from core.aiwg_identity import iso_ms, json_digest, nul_digest
from core.evidence import raw

RECEIPTS = ".aiwg/memory/compound-memory/intake-receipts"
_SCHEMA = "aiwg.compound-memory.intake-receipt.v1"
_KINDS = {
    "session-transcript": (".jsonl", ".transcript"),
    "image": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"),
    "pdf": (".pdf",),
    "structured": (".yaml", ".yml", ".json"),
    "document": (".md", ".txt", ".html", ".htm"),
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Intake:
    """One source as AIWG takes it in; equal members are the same operation."""

    locator: str
    digest: str
    size: int

    @property
    def kind(self) -> str:
        """What the file's extension makes of it."""
        name = self.locator.rpartition("/")[2]
        dot = name.rfind(".")
        extension = name[dot:].lower() if dot > 0 else ""
        return next((k for k, known in _KINDS.items() if extension in known), "artifact")

    @property
    def route(self) -> str:
        """Which part of AIWG goes on with it: `sessions` or `llm-wiki`."""
        return "sessions" if self.kind == "session-transcript" else "llm-wiki"

    @property
    def raw_path(self) -> str:
        """Where the copy stands: 16 hex digits of its digest and a safe form of its name."""
        name = _UNSAFE.sub("-", self.locator.rpartition("/")[2])
        return f"{raw.ROOT}/{self.digest.removeprefix('sha256:')[:16]}-{name}"

    @property
    def operation_id(self) -> str:
        """AIWG's id of the operation: source, copy and route, neither time nor reviewer."""
        source = {
            "locator": self.locator,
            "digest": self.digest,
            "byteLength": self.size,
            "kind": self.kind,
        }
        return json_digest({"source": source, "rawLocator": self.raw_path, "route": self.route})

    @property
    def receipt_path(self) -> str:
        """The receipt's file: the operation's id with its first colon replaced."""
        return f"{RECEIPTS}/{self.operation_id.replace(':', '_', 1)}.json"

    def receipt(self, *, duplicate: bool, time: int) -> dict[str, Any]:
        """AIWG's receipt, its members in their order; `time` is in microseconds."""
        return {
            "schemaVersion": _SCHEMA,
            "receiptId": nul_digest(self.operation_id, self.raw_path),
            "operationId": self.operation_id,
            "sourceLocator": self.locator,
            "sourceDigest": self.digest,
            "rawLocator": self.raw_path,
            "route": self.route,
            "duplicate": duplicate,
            "registeredAt": iso_ms(time),
        }

    def is_receipt(self, data: bytes) -> bool:
        """True for a receipt of this very intake, whoever wrote it and whenever."""
        try:
            found = orjson.loads(data)
        except orjson.JSONDecodeError:
            return False
        wanted = self.receipt(duplicate=False, time=0)
        own = [k for k in wanted if k not in ("duplicate", "registeredAt")]
        return isinstance(found, dict) and all(found.get(k) == wanted[k] for k in own)
