"""The line-memory preview to the byte, and every destination that is refused (spec 5.1, 5.2)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.operations import preview as operations
from core.operations.confirm import confirm
from core.ports import Desk
from core.promotion import preview
from schemas.errors import Refused
from schemas.operations import OperationState
from tests.making import CONFIG, JOURNALS, META, TEXT, accepted, files, previewed, ref, sha

FACT = "Releases are tagged on Tuesdays."
HANDLE = re.compile(r"lm_[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}")


def lay(desk: Desk, path: str, data: bytes | str) -> Path:
    """A file in the workspace."""
    full = desk.workspace.root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(data if isinstance(data, bytes) else data.encode())
    return full


def sidecar(desk: Desk) -> dict[str, Any]:
    """The sidecar on disk."""
    found: dict[str, Any] = json.loads((desk.workspace.root / META).read_bytes())
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"FACT\n"),
        (b"", b"FACT\n"),
        (b"One.\n", b"One.\nFACT\n"),
        (b"One.", b"One.\nFACT\n"),
        (b"One.\r\nTwo.\r\n", b"One.\r\nTwo.\r\nFACT\r\n"),
        (b"One.\r\nTwo.\r\nX", b"One.\r\nTwo.\r\nX\r\nFACT\r\n"),
        (b"One.\nTwo.\r\nThree.\n", b"One.\nTwo.\r\nThree.\nFACT\n"),
        (b"\xef\xbb\xbfOne.\n", b"\xef\xbb\xbfOne.\nFACT\n"),
        (b"One.\n\n  \n\nTwo.\n", b"One.\n\n  \n\nTwo.\nFACT\n"),
        (b"FACT\nOne.\n", b"One.\nFACT\n"),
        (b"One.\nFACT", b"One.\nFACT\n"),
        (b"FACT\nOne.\nFACT\n", b"One.\nFACT\n"),
        (b"\n\nFACT\n", b"\n\nFACT\n"),
        (b"FACT\r\nOne.\r\n", b"One.\r\nFACT\r\n"),
        (b"  FACT\n", b"  FACT\nFACT\n"),
        ("é\u2028x\x85y\n".encode(), "é\u2028x\x85y\nFACT\n".encode()),
    ],
)  # fmt: skip
def test_the_text_after_a_promotion_to_the_byte(
    sqlite_desk: Desk, before: bytes | None, after: bytes
) -> None:
    """Line ends, BOM, blank lines, duplicates and other people's bytes are kept as they are."""
    before = before and before.replace(b"FACT", FACT.encode())
    if before is not None:
        lay(sqlite_desk, TEXT, before)
    shown = previewed(sqlite_desk, FACT)
    wanted = after.replace(b"FACT", FACT.encode())
    text = shown.targets[0]
    assert (text.path, text.after_digest) == (TEXT, sha(wanted))
    assert text.before_digest == (None if before is None else sha(before))
    assert shown.duplicate is (before is not None and FACT.encode() in before.replace(b"  R", b""))
    exact = {t.path: t.after for t in operations.look(sqlite_desk, shown.operation_id).targets}
    untouched = {} if before is None else {TEXT: before}
    assert (files(sqlite_desk.workspace.root) if untouched else {}) == untouched
    confirm(sqlite_desk, shown.operation_id)
    assert files(sqlite_desk.workspace.root) == exact
    assert exact[TEXT] == wanted
    values = [e["value"] for e in sidecar(sqlite_desk)["entries"].values()]
    lines = {x.removesuffix("\r") for x in wanted.decode().split("\n") if x.strip()}
    assert sorted(values) == sorted(lines), "one entry a line, also for lines added by hand"


def test_a_new_sidecar_has_aiwgs_members_in_aiwgs_order(sqlite_desk: Desk) -> None:
    """Two spaces, one final newline, digests and times as AIWG writes them (G1-G3, L5)."""
    version = accepted(sqlite_desk, FACT, reason="checked")
    shown = preview.build(sqlite_desk, ref(version), "line-memory")
    confirm(sqlite_desk, shown.operation_id)
    data = (sqlite_desk.workspace.root / META).read_bytes()
    document = sidecar(sqlite_desk)
    assert data.decode() == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    assert list(document) == ["schemaVersion", "version", "store", "entries"]
    assert document["store"] == {"memoryPath": TEXT, "metadataPath": META}
    ((handle, entry),) = document["entries"].items()
    assert HANDLE.fullmatch(handle)
    assert list(entry) == [
        "id", "value", "digest", "status", "createdAt", "updatedAt", "lastAccessedAt",
        "accessCount", "sources",
    ]  # fmt: skip
    assert (entry["id"], entry["value"], entry["digest"]) == (handle, FACT, sha(FACT.encode()))
    assert (entry["status"], entry["accessCount"]) == ("active", 0)
    assert version.decision is not None
    from datetime import UTC, datetime

    when = datetime.fromtimestamp(version.decision.time / 1e6, UTC)
    text = when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"
    assert entry["createdAt"] == entry["updatedAt"] == entry["lastAccessedAt"] == text
    assert entry["sources"] == [
        {
            "ref": f"session-candidate:{version.id}:v1",
            "reviewer": version.decision.actor.reviewer,
            "reason": "checked",
            "recordedAt": text,
        }
    ]


STANDING = {
    "schemaVersion": "aiwg.line-memory.v1",
    "version": 1,
    "zebra": {"kept": [1.5, "é😀", None, 12345678901234567890123]},
    "store": {"memoryPath": TEXT, "metadataPath": META, "more": True},
    "entries": {
        "lm_11111111-1111-4111-8111-111111111111": {
            "id": "lm_11111111-1111-4111-8111-111111111111",
            "value": "One.",
            "status": "active",
            "custom": {"b": 1, "a": 2},
        },
        "lm_22222222-2222-4222-8222-222222222222": {
            "id": "lm_22222222-2222-4222-8222-222222222222",
            "value": FACT,
            "status": "removed",
            "disposition": {"reviewer": "bo", "reason": None, "replacement": None},
        },
    },
}


def test_unknown_members_order_and_tombstones_stay(sqlite_desk: Desk) -> None:
    """A removed fact that is promoted again gets a new handle; its tombstone is not touched."""
    lay(sqlite_desk, TEXT, "One.\n")
    lay(sqlite_desk, META, json.dumps(STANDING, indent=4))
    confirm(sqlite_desk, previewed(sqlite_desk, FACT).operation_id)
    document = sidecar(sqlite_desk)
    assert list(document) == list(STANDING)
    assert document["zebra"] == STANDING["zebra"]
    before: dict[str, Any] = STANDING["entries"]  # type: ignore[assignment]
    after = document["entries"]
    assert list(after)[:2] == list(before)
    assert {h: after[h] for h in before} == before
    (new,) = list(after)[2:]
    assert (after[new]["value"], after[new]["status"]) == (FACT, "active")
    assert (
        json.dumps(after["lm_11111111-1111-4111-8111-111111111111"]["custom"]) == '{"b": 1, "a": 2}'
    )


def test_the_derived_handle_never_replaces_a_tombstone(sqlite_desk: Desk) -> None:
    """A tombstone that has just the handle this promotion derives keeps it (format 7.1, 12)."""
    from core.aiwg_identity import promotion_handle

    version = accepted(sqlite_desk, FACT)
    handle = promotion_handle(version.id, 1)
    standing = json.loads(json.dumps(STANDING))
    standing["entries"] = {handle: {"id": handle, "value": "Old.", "status": "revoked"}}
    lay(sqlite_desk, META, json.dumps(standing))
    confirm(sqlite_desk, preview.build(sqlite_desk, ref(version), "line-memory").operation_id)
    entries = sidecar(sqlite_desk)["entries"]
    assert entries[handle] == {"id": handle, "value": "Old.", "status": "revoked"}
    assert [e["value"] for h, e in entries.items() if h != handle] == [FACT]


def test_a_standing_line_keeps_its_handle_and_gains_the_source(sqlite_desk: Desk) -> None:
    """A duplicate is refreshed: newest place, same handle, one more source (L1)."""
    standing = json.loads(json.dumps(STANDING))
    entry = standing["entries"]["lm_11111111-1111-4111-8111-111111111111"]
    entry["value"], entry["sources"] = FACT, [{"ref": "elsewhere", "reviewer": "bo"}]
    lay(sqlite_desk, TEXT, f"{FACT}\nTwo.\n")
    lay(sqlite_desk, META, json.dumps(standing))
    shown = previewed(sqlite_desk, FACT)
    assert shown.duplicate
    confirm(sqlite_desk, shown.operation_id)
    assert (sqlite_desk.workspace.root / TEXT).read_text() == f"Two.\n{FACT}\n"
    found = sidecar(sqlite_desk)["entries"]["lm_11111111-1111-4111-8111-111111111111"]
    assert [s["ref"][:17] for s in found["sources"]] == ["elsewhere", "session-candidate"]


def test_without_dedupe_the_line_is_added_again(sqlite_desk: Desk) -> None:
    """The owner's configuration decides (L2)."""
    lay(sqlite_desk, CONFIG, '{"dedupe": false, "unknown": 1}')
    lay(sqlite_desk, TEXT, f"{FACT}\nTwo.\n")
    confirm(sqlite_desk, previewed(sqlite_desk, FACT).operation_id)
    assert (sqlite_desk.workspace.root / TEXT).read_text() == f"{FACT}\nTwo.\n{FACT}\n"


def test_configured_paths_are_the_targets(sqlite_desk: Desk) -> None:
    """Unlike upstream's promotion, the owner's paths count."""
    lay(sqlite_desk, CONFIG, '{"path": ".aiwg/a/facts.txt", "metadataPath": ".aiwg/b/m.json"}')
    shown = previewed(sqlite_desk, FACT)
    assert [t.path for t in shown.targets] == [".aiwg/a/facts.txt", ".aiwg/b/m.json"]
    confirm(sqlite_desk, shown.operation_id)
    assert (sqlite_desk.workspace.root / ".aiwg/a/facts.txt").read_text() == FACT + "\n"


def test_a_full_store_blocks_and_the_preview_says_so(sqlite_desk: Desk) -> None:
    """No line is pushed out: blocked, confirm refused with the code, bytes unchanged."""
    lay(sqlite_desk, CONFIG, '{"maxLines": 2}')
    lay(sqlite_desk, TEXT, "One.\n\nTwo.\n")
    shown = previewed(sqlite_desk, FACT)
    assert shown.blocked_by == ("line-memory.full",)
    with pytest.raises(Refused) as refused:
        confirm(sqlite_desk, shown.operation_id)
    assert (refused.value.code, bool(refused.value.remedy)) == ("line-memory.full", True)
    assert (sqlite_desk.workspace.root / TEXT).read_text() == "One.\n\nTwo.\n"
    lay(sqlite_desk, TEXT, f"{FACT}\nTwo.\n")
    assert previewed(sqlite_desk, FACT + " ").blocked_by == ()


def test_a_pending_journal_blocks(sqlite_desk: Desk) -> None:
    """AIWG finishes its own unfinished write; we neither replay nor overtake it (L8)."""
    journal = lay(sqlite_desk, f"{JOURNALS}/{'a' * 64}.json", "{}")
    shown = previewed(sqlite_desk, FACT)
    assert shown.blocked_by == ("line-memory.journal-pending",)
    with pytest.raises(Refused):
        confirm(sqlite_desk, shown.operation_id)
    assert files(sqlite_desk.workspace.root) == {f"{JOURNALS}/{'a' * 64}.json": b"{}"}
    journal.unlink()
    assert previewed(sqlite_desk, FACT + "!").blocked_by == ()


def test_provider_files_are_never_written(sqlite_desk: Desk) -> None:
    """CLAUDE.md and AGENTS.md stay to the byte, and the receipt says so."""
    root = sqlite_desk.workspace.root
    for name in ("CLAUDE.md", "AGENTS.md", ".cursorrules"):
        (root / name).write_bytes(b"# rules\n")
    receipt = confirm(sqlite_desk, previewed(sqlite_desk, FACT).operation_id)
    assert receipt.provider_adapters_modified is False
    assert receipt.state is OperationState.APPLIED
    for name in ("CLAUDE.md", "AGENTS.md", ".cursorrules"):
        assert (root / name).read_bytes() == b"# rules\n"
    assert {t.path for t in receipt.targets} == {TEXT, META}


def test_lines_written_by_hand_are_named_before_the_sidecar_takes_them(sqlite_desk: Desk) -> None:
    """Each that no entry answers for; none the second time."""
    version = accepted(sqlite_desk, FACT)
    lay(sqlite_desk, TEXT, "One.\n\nTwo.\nOne.\nThree.\nFour.\n")
    shown = preview.build(sqlite_desk, ref(version), "line-memory")
    (said,) = [e.text for e in shown.affects if e.code == "line-memory.adopted"]
    assert said == "4 hand-written lines enter the sidecar: “One.”, “Two.”, “Three.” and 1 more"
    confirm(sqlite_desk, shown.operation_id)
    values = [e["value"] for e in sidecar(sqlite_desk)["entries"].values()]
    assert values == ["One.", "Two.", "Three.", "Four.", FACT]
    again = previewed(sqlite_desk, "Deploys happen from the release branch only.")
    assert "line-memory.adopted" not in [e.code for e in again.affects]
