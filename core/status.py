"""Status: every layer, backend and degraded row; and what `init` finds in a project (8.4, 4.9)."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

from core.ports import Desk
from core.promotion.consumers import line_memory_files as files
from schemas.errors import MemdeskError
from schemas.status import Degraded, Discovery, Status

RULE_FILES = (
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
    ".windsurfrules",
)
_DAY = 86_400
_CATALOG = ".aiwg/sessions/catalog.sqlite"


def status(desk: Desk) -> Status:
    """The whole desk at a glance; reads only, touches nothing."""
    with desk.store.read() as view:
        evidence, candidates = view.evidence.counts(), view.candidates.counts()
        operations, beliefs = view.operations.counts(), view.promotion.counts()
        receipts, head = view.operations.receipt_count(), view.ledger.head()
    line, degraded = _line_memory(desk)
    wiki = _wiki(desk)
    sessions = (desk.workspace.root / _CATALOG).is_file()
    return Status(
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        root=str(desk.workspace.root),
        reviewer=desk.actor.reviewer,
        store=dict(desk.store.describe()),
        ledger=head,
        evidence=evidence,
        candidates=candidates,
        operations=operations,
        beliefs=beliefs,
        receipts=receipts,
        layers={
            "line-memory": line,
            "wiki": wiki,
            "sessions": {"catalog": sessions, "required": False},
            "embeddings": {"configured": False, "required": False},
        },
        says={
            "line-memory": _line_memory_says(line),
            "wiki": _wiki_says(wiki),
            "sessions": f"AIWG's session catalog is there; import it: memdesk evidence import {_CATALOG}"
            if sessions
            else "AIWG keeps no session catalog here; nothing to do",
            "embeddings": "off: search goes by words; nothing to do",
        },
        degraded=tuple(degraded),
    )


def _line_memory_says(row: Mapping[str, str | int | bool]) -> str:
    if row["integrity"] == "invalid":
        return f"can't be written: memdesk explain {row['detail']}"
    if not row["initialised"]:
        return f"no file yet; the first confirmed promotion makes {row['path']}"
    text = f"{row['facts']} of at most {row['limit']} lines in {row['path']}"
    if row["journals"]:
        return f"{text}; AIWG left a write unfinished: run `aiwg line-memory list`, it finishes it"
    if row["untracked"]:
        return (
            f"{text}, {row['untracked']} of them written by hand and not in the sidecar yet; "
            "the next promotion takes them in and says so first"
        )
    return f"{text}, all in the sidecar"


def _wiki_says(row: Mapping[str, str | int | bool]) -> str:
    if not row["initialised"]:
        return f"no page yet; the first promotion with --to wiki makes {row['path']}"
    return f"{row['pages']} pages in {row['path']}"


def _line_memory(desk: Desk) -> tuple[dict[str, str | int | bool], list[Degraded]]:
    try:
        found = files.settings(desk.workspace)
        data = desk.workspace.read(found.path)
        text = files.read_text(data, found.path)
        meta = desk.workspace.read(found.metadata)
        facts = [x for x in text.lines if x.strip()]
        row: dict[str, str | int | bool] = {
            "path": found.path,
            "facts": len(facts),
            "limit": found.max_lines,
            "initialised": data is not None,
        }
        sidecar = files.read_sidecar(meta, found)
        active = {e["value"] for e in sidecar["entries"].values() if e["status"] == "active"}
        untracked = [x for x in facts if x not in active]
        row["integrity"] = "repairable" if untracked else "ok"
        row["untracked"] = len(untracked)
        journals = files.pending_journals(desk.workspace)
        row["journals"] = len(journals)
    except MemdeskError as err:
        row = {"integrity": "invalid", "detail": err.code}
        effect = f"{err.message} Nothing is written to it; {err.remedy}"
        return row, [Degraded(component="line-memory", state=err.code, effect=effect)]
    return row, []


def _wiki(desk: Desk) -> dict[str, str | int | bool]:
    root = desk.workspace.root / ".aiwg/wiki"
    pages, limit = 0, desk.policy.compound_memory.maintenance.scanLimit
    for _folder, names, found in os.walk(root, followlinks=False):
        names[:] = sorted(n for n in names if n != "raw")
        pages += sum(f.endswith(".md") for f in found)
        if pages > limit:
            break
    cut = pages > limit
    shown: str | int = f">{limit}" if cut else pages
    return {"path": ".aiwg/wiki", "pages": shown, "initialised": root.is_dir()}


def discover(desk: Desk, *, created: bool) -> Discovery:
    """What is there to begin with: AIWG's folder, session folders, rule and memory files."""
    root = desk.workspace.root
    folders = _session_folders(root)
    memory = [p for p in (files.Settings().path, files.Settings().metadata) if (root / p).is_file()]
    return Discovery(
        workspace=desk.workspace.id,
        root=str(root),
        created=created,
        aiwg=(root / ".aiwg").is_dir(),
        session_folders=tuple(str(f) for f in folders),
        sessions=sum(len(list(f.glob("*.jsonl"))) for f in folders),
        rule_files=tuple(p for p in RULE_FILES if (root / p).is_file()),
        memory_files=tuple(memory),
    )


def _session_folders(root: Path) -> list[Path]:
    """Claude Code's folder for this project; its name can't be decoded, only computed."""
    base = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
    encoded = re.sub(r"[^A-Za-z0-9-]", "-", str(root))
    return [base / encoded] if (base / encoded).is_dir() else []


def session_files(found: Discovery, *, days: int | None) -> list[Path]:
    """Session files of a discovery, at most `days` old when given, in a stable order."""
    limit = None if days is None else time.time() - days * _DAY
    out = []
    for folder in found.session_folders:
        for path in sorted(Path(folder).rglob("*.jsonl")):
            regular = path.is_file() and not path.is_symlink()
            if regular and (limit is None or path.stat().st_mtime >= limit):
                out.append(path)
    return out
