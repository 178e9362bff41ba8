"""Destinations that are not what they should be: refused by code, bytes unchanged (spec 5.1)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.candidates.review import CandidateRef
from core.operations.confirm import confirm
from core.ports import Desk
from core.promotion import preview
from schemas.errors import MemdeskError
from tests.making import CONFIG, META, TEXT, accepted, previewed, ref

FACT = "Releases are tagged on Tuesdays."


def _link_out(root: Path) -> None:
    (root.parent / "out.txt").write_bytes(b"outside\n")
    (root / TEXT).parent.mkdir(parents=True)
    (root / TEXT).symlink_to(root.parent / "out.txt")


def _link_in(root: Path) -> None:
    (root / "in.txt").write_bytes(b"outside\n")
    (root / TEXT).parent.mkdir(parents=True)
    (root / TEXT).symlink_to("../../in.txt")


def _folder_link(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / ".aiwg").mkdir()
    (root / ".aiwg/memory").symlink_to(root.parent / "elsewhere")


def _root_link(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / ".aiwg").symlink_to(root.parent / "elsewhere")


def _fifo(root: Path) -> None:
    (root / TEXT).parent.mkdir(parents=True)
    os.mkfifo(root / TEXT)


def _folder(root: Path) -> None:
    (root / TEXT).mkdir(parents=True)


def _file_as_folder(root: Path) -> None:
    (root / ".aiwg").mkdir()
    (root / ".aiwg/memory").write_bytes(b"a file\n")


def _laid(path: str, data: bytes) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)

    return act


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "link out": (_link_out, "destination.link"),
    "link inside": (_link_in, "destination.link"),
    "folder is a link": (_folder_link, "destination.link"),
    "root folder is a link": (_root_link, "destination.link"),
    "fifo": (_fifo, "path.not-regular"),
    "folder": (_folder, "path.not-regular"),
    "file for a folder": (_file_as_folder, "path.not-regular"),
    "not utf-8": (_laid(TEXT, b"ok\n\xff\xfe\n"), "line-memory.not-utf8"),
    "utf-16": (_laid(TEXT, "One.\n".encode("utf-16")), "line-memory.not-utf8"),
    "sidecar broken": (_laid(META, b"{broken"), "line-memory.metadata-broken"),
    "sidecar version": (
        _laid(META, b'{"schemaVersion":"aiwg.line-memory.v1","version":2,"entries":{}}'),
        "line-memory.metadata-broken",
    ),
    "sidecar bom": (
        _laid(
            META, b'\xef\xbb\xbf{"schemaVersion":"aiwg.line-memory.v1","version":1,"entries":{}}'
        ),
        "line-memory.metadata-broken",
    ),
    "sidecar utf-16": (
        _laid(
            META,
            '{"schemaVersion":"aiwg.line-memory.v1","version":1,"entries":{}}'.encode("utf-16-le"),
        ),
        "line-memory.metadata-broken",
    ),
    "sidecar NaN": (
        _laid(META, b'{"schemaVersion":"aiwg.line-memory.v1","version":1,"x":NaN,"entries":{}}'),
        "line-memory.metadata-broken",
    ),
    "sidecar deep": (_laid(META, b"[" * 100_000), "line-memory.metadata-broken"),
    "sidecar foreign handle": (
        _laid(
            META,
            b'{"schemaVersion":"aiwg.line-memory.v1","version":1,'
            b'"entries":{"lm_x":{"id":"lm_y","value":"v","status":"active"}}}',
        ),
        "line-memory.metadata-broken",
    ),
    "config broken": (_laid(CONFIG, b"{"), "line-memory.config-broken"),
    "config list": (_laid(CONFIG, b"[]"), "line-memory.config-broken"),
    "config zero": (_laid(CONFIG, b'{"maxLines": 0}'), "line-memory.config-broken"),
    "config true": (_laid(CONFIG, b'{"maxLines": true}'), "line-memory.config-broken"),
    "config escape": (_laid(CONFIG, b'{"path": ".aiwg/../../x"}'), "line-memory.config-broken"),
    "config absolute": (_laid(CONFIG, b'{"path": "/etc/x"}'), "line-memory.config-broken"),
    "config one file": (
        _laid(CONFIG, b'{"path": ".aiwg/x", "metadataPath": ".aiwg/./x"}'),
        "line-memory.config-broken",
    ),
    "config itself": (
        _laid(CONFIG, b'{"path": ".aiwg/memory/line-memory.config.json"}'),
        "line-memory.config-broken",
    ),
    "config CLAUDE.md": (_laid(CONFIG, b'{"path": "CLAUDE.md"}'), "line-memory.config-broken"),
    "config AGENTS.md": (
        _laid(CONFIG, b'{"metadataPath": "./AGENTS.md"}'),
        "line-memory.config-broken",
    ),
}


def state(root: Path) -> dict[str, object]:
    """Everything in the workspace but the store, links and odd files by what they are."""
    found: dict[str, object] = {}
    for path in sorted(root.parent.rglob("*")):
        if ".memdesk" in path.parts or path.suffix == ".jsonl":
            continue
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        else:
            found[str(path)] = path.read_bytes() if path.is_file() else path.stat().st_mode
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_a_destination_that_is_not_what_it_should_be(sqlite_desk: Desk, name: str) -> None:
    """Refused with its code and a remedy, before a preview and after one; nothing is changed."""
    make, code = REFUSED[name]
    root = sqlite_desk.workspace.root
    early = previewed(sqlite_desk, "Made before it broke.")
    version = accepted(sqlite_desk, FACT)
    make(root)
    before = state(root)
    with pytest.raises(MemdeskError) as refused:
        preview.build(sqlite_desk, ref(version), "line-memory")
    assert refused.value.code == code
    assert refused.value.remedy
    with pytest.raises(MemdeskError) as stale:
        confirm(sqlite_desk, early.operation_id)
    assert stale.value.code in ("preview.stale", code)
    if stale.value.code == "preview.stale":
        (moved,) = stale.value.details["moved"]  # type: ignore[misc]
        assert (moved["what"], moved["detail"]) == ("target", code)
        assert (root / moved["name"]).is_relative_to(root / ".aiwg")
        assert moved["name"] in stale.value.message
        assert stale.value.remedy == f"{refused.value.remedy} Then preview again."
    assert state(root) == before


@pytest.mark.parametrize("linked", [TEXT, META, ".aiwg/memory", ".aiwg"])
def test_a_link_after_the_preview_is_named_by_its_path(sqlite_desk: Desk, linked: str) -> None:
    """As it stands in the workspace; replacing the link is a remedy that works."""
    root = sqlite_desk.workspace.root
    shown = previewed(sqlite_desk, FACT)
    away = root.parent / "away"
    away.mkdir()
    path = root / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(away)
    with pytest.raises(MemdeskError) as refused:
        confirm(sqlite_desk, shown.operation_id)
    assert f"{linked} is a link." in refused.value.message
    assert "Replace the link by a real folder or file" in refused.value.remedy
    path.unlink()
    again = preview.build(sqlite_desk, CandidateRef(shown.candidate, shown.version), "line-memory")
    assert confirm(sqlite_desk, again.operation_id).state == "applied"
    assert list(away.iterdir()) == []


def test_a_hard_link_at_the_destination_is_said_before_it_is_broken(sqlite_desk: Desk) -> None:
    """The other name keeps its bytes; a destination with one name says nothing."""
    root = sqlite_desk.workspace.root
    version = accepted(sqlite_desk, FACT)
    _laid(TEXT, b"By hand.\n")(root)
    plain = preview.build(sqlite_desk, ref(version), "line-memory")
    assert "effect.hard-link" not in [e.code for e in plain.affects]
    os.link(root / TEXT, root / "other.txt")
    shown = preview.build(sqlite_desk, ref(version), "line-memory")
    (said,) = [e.text for e in shown.affects if e.code == "effect.hard-link"]
    assert TEXT in said
    confirm(sqlite_desk, shown.operation_id)
    assert (root / "other.txt").read_bytes() == b"By hand.\n"
    assert (root / TEXT).read_bytes() == f"By hand.\n{FACT}\n".encode()
