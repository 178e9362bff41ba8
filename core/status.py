"""Status: every layer, backend and degraded row (spec 8.4)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from core.ports import Desk
from core.promotion.consumers import line_memory_files as files
from core.wording import some
from schemas.errors import MemdeskError
from schemas.reasons import reason
from schemas.status import Degraded, Status

_CATALOG = ".aiwg/sessions/catalog.sqlite"


def status(desk: Desk) -> Status:
    """The whole desk at a glance; reads only, touches nothing."""
    with desk.store.read() as view:
        evidence, candidates = view.evidence.counts(), view.candidates.counts()
        operations, beliefs = view.operations.counts(), view.promotion.counts()
        receipts, head = view.operations.receipt_count(), view.ledger.head()
    line, degraded = _line_memory(desk)
    if desk.store.read_only:
        found = reason("store.read-only")
        effect = f"What is there can be read; nothing can be decided or written. {found.remedy}"
        degraded.append(Degraded(component="store", state=found.code, effect=effect))
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
        says=_operations_say(operations)
        | {
            "line-memory": _line_memory_says(line),
            "wiki": _wiki_says(wiki),
            "sessions": f"AIWG's session catalog is there; import it: memdesk evidence import {_CATALOG}"
            if sessions
            else "AIWG keeps no session catalog here; nothing to do",
            "embeddings": "off: search goes by words; nothing to do",
        },
        degraded=tuple(degraded),
    )


def _operations_say(counts: Mapping[str, int]) -> dict[str, str]:
    """What a preview that nobody confirmed is: no write, so the outbox doesn't count it."""
    shown = counts.get("previewed", 0)
    if not shown:
        return {}
    those = f"{some(shown, 'preview')} never confirmed: nothing was written"
    return {"operations": f"{those}; the outbox counts what a confirm left open"}


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
