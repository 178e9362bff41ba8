"""Canonical context: init and import by preview and confirm, export as AIWG's bundle (spec 5.6)."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core import config, screening
from core.aiwg_identity import iso_ms, json_digest, pretty
from core.identity import digest, digest_json
from core.operations import preview as operations
from core.operations.envelope import HANDLERS, Plan, Quiet, Target, bound_source
from core.operations.preview import Exact
from core.ports import Desk
from core.promotion.consumers import aiwg_lock
from core.promotion.consumers import context_files as files
from core.promotion.consumers.canonical_context import NAME
from core.promotion.consumers.context_files import Document, Writing
from core.promotion.consumers.line_memory_files import parse
from core.workspace import read_at
from schemas.common import Classification
from schemas.errors import NotFound, Refused
from schemas.operations import BoundTarget, Effect, Envelope, OperationState

INIT = "init"
IMPORT = "import"
EXPORT_SCHEMA = "aiwg.canonical-context-export.v1"
_MOST = 16 << 20
"""Bytes of a bundle."""
_TOLD = 20
_LOOKED_AT = 20


def initialised(desk: Desk) -> bool:
    """True once the store stands, made here or by AIWG."""
    return desk.workspace.digest(files.PATH) is not None


# init


def preview_init(desk: Desk, *, text: bool = False) -> Exact:
    """The exact preview of making the empty store. Raises Refused `canonical.*`."""
    desk = config.current(desk)
    plan = HANDLERS[INIT, NAME].plan(desk, files.PATH, {})
    return operations.store(desk, plan, text=text)


class Init(Quiet):
    """`init` for canonical context: the empty store, as AIWG sees a missing one."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """AIWG's lock of its context store."""
        return aiwg_lock.lock(desk, files.LOCK, "canonical.locked")

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The store's bytes; one that stands stays as it is, to the byte."""
        before = desk.workspace.read(files.PATH)
        if before is not None:
            files.document(before, files.workspace_id(desk.workspace))
        after = before if before is not None else pretty(files.empty(desk.workspace))
        told = "stands already and stays as it is" if before is not None else "is made, empty"
        effect = Effect(code="effect.context", text=f"{files.PATH} {told}")
        return _plan(desk, INIT, subject, request, (Target(files.PATH, before, after),), [effect])


# export


def export(desk: Desk) -> dict[str, Any]:
    """AIWG's bundle of every entry, whatever its status, sorted by name.

    Raises Refused `canonical.not-initialised`, `canonical.broken`, `canonical.workspace`.
    """
    _, store = files.read(desk.workspace)
    return {
        "schemaVersion": EXPORT_SCHEMA,
        "sourceWorkspaceId": store["workspaceId"],
        "exportedAt": iso_ms(desk.clock()),
        "entries": [entry for _, entry in sorted(store["entries"].items())],
    }


# import


def preview_import(desk: Desk, path: str, *, across: bool = False, text: bool = False) -> Exact:
    """The exact preview of taking a bundle's active entries in.

    `path` is inside the workspace or any file the operator names. A bundle of another workspace
    needs `across`. Raises Refused `canonical.*`; NotFound `path.not-found`.
    """
    desk = config.current(desk)
    # Relative, also to a place outside: what is stored names no home folder (spec 0.9).
    subject = os.path.relpath(Path(path).resolve(), desk.workspace.root.resolve())
    request = {"reviewer": desk.actor.reviewer, **({"across": "yes"} if across else {})}
    with desk.store.read() as view:
        known = view.operations.newest_of(subject, _LOOKED_AT)
    open_ = (OperationState.PREVIEWED, OperationState.FAILED)
    same = [o for o in known if o.state in open_ and _asked(o.envelope.request) == request]
    as_of = same[0].envelope.request["as_of"] if same else str(desk.clock())
    plan = HANDLERS[IMPORT, NAME].plan(desk, subject, {**request, "as_of": as_of})
    return operations.store(desk, plan, text=text)


def _asked(request: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in request.items() if k != "as_of"}


@dataclass(frozen=True, slots=True)
class _Bundle:
    """A bundle as it was found: its bytes, its document, whose it is."""

    data: bytes
    document: Document
    origin: str


class Import(Quiet):
    """`import` for canonical context: ids, states and dates are made anew, never trusted."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """AIWG's lock of its context store."""
        return aiwg_lock.lock(desk, files.LOCK, "canonical.locked")

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The store with every entry that may come in. Raises as `preview_import`."""
        before, store = files.read(desk.workspace)
        bundle = _read(desk.workspace.root.resolve() / subject)
        if bundle.origin != store["workspaceId"] and "across" not in request:
            raise Refused("canonical.other-workspace", bundle=subject)
        when = iso_ms(int(request["as_of"]))
        snapshot = files.snapshot(store)
        told: list[Effect] = []
        added = []
        for entry in bundle.document["entries"]:
            verdict = _verdict(store, entry)
            told.append(_told(entry, verdict))
            if not verdict:
                proposal = {**files.proposal_of(entry), "reviewer": request["reviewer"][:128]}
                new = files.entry_of(proposal, when, None, bundle.origin)
                store["entries"][new["entryId"]] = new
                added.append(new["entryId"])
        writing = Writing(before, store, [])
        asked = {
            "operation": "import",
            "bundleDigest": json_digest(bundle.document),
            "allowCrossWorkspace": "across" in request,
            "snapshot": snapshot,
        }
        writing.change("import", asked, added, when, duplicate=not added)
        plan = _plan(desk, IMPORT, subject, request, writing.targets(desk.workspace), _most(told))
        source = bound_source(subject, digest(bundle.data), Classification.INTERNAL)
        return replace(plan, envelope=plan.envelope.model_copy(update={"sources": (source,)}))


def _read(path: Path) -> _Bundle:
    """A bundle outside or inside the workspace, no link followed in its last part."""
    broken = Refused("canonical.bundle", f"{path.name} is no bundle of canonical context.")
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as err:
        raise NotFound("path.not-found", f"{path}: {err.strerror}", given=str(path)) from err
    try:
        data = read_at(folder, path.name, path.name)
    finally:
        os.close(folder)
    if data is None:
        raise NotFound("path.not-found", f"There is no {path}.", given=str(path))
    try:
        found = parse(data) if len(data) <= _MOST else None
    except (ValueError, RecursionError) as err:
        raise broken from err
    if not isinstance(found, dict) or found.get("schemaVersion") != EXPORT_SCHEMA:
        raise broken
    origin, entries = found.get("sourceWorkspaceId"), found.get("entries")
    if not isinstance(origin, str) or not files.DIGEST.fullmatch(origin):
        raise broken
    if not isinstance(entries, list) or not all(_whole(e) for e in entries):
        raise broken
    return _Bundle(data, found, origin)


def _whole(entry: object) -> bool:
    """True for an entry with every member of a proposal, each of its own type."""
    if not isinstance(entry, dict) or not isinstance(entry.get("status"), str):
        return False
    optional = ("sourceDigest", "reviewAt", "expiresAt")
    needed = all(isinstance(entry.get(k), str) for k in files.PROPOSAL if k not in optional)
    given = all(isinstance(entry.get(k), str | None) and k in entry for k in optional)
    return needed and given


def _verdict(store: Document, entry: Document) -> str:
    """Why an entry does not come in: a reason code, or nothing."""
    if entry["status"] != "active":
        return "canonical.not-active"
    if fault := files.faults(files.proposal_of(entry)):
        return fault
    said = screening.screen(entry["value"], owner=False, limit=8192)
    if said.blocked:
        return said.blocked[0]
    name = files.entry_id(files.proposal_of(entry))
    if entry.get("entryId") != name:
        return "canonical.forged"
    if name in store["entries"]:
        return "canonical.known"
    if any(files.active(store, entry["target"], entry["key"])):
        return "canonical.conflict"
    return ""


def _told(entry: Document, verdict: str) -> Effect:
    words = f"{entry['target']}.{entry['key'][:40]} “{screening.mask(entry['value'])[:80]}”"
    if not verdict:
        return Effect(code="effect.entry-in", text=f"comes in: {words}")
    return Effect(code="left-out", text=f"stays out, {verdict}: {words}")


def _most(told: list[Effect]) -> list[Effect]:
    """The first of them; of the others how many there are."""
    told.sort(key=lambda e: e.code != "left-out")
    if len(told) <= _TOLD:
        return told
    out = sum(e.code == "left-out" for e in told[_TOLD:])
    rest = f"{len(told) - _TOLD - out:,} more come in, {out:,} more stay out"
    return [*told[:_TOLD], Effect(code="left-out", text=rest)]


def _plan(
    desk: Desk,
    action: str,
    subject: str,
    request: dict[str, str],
    targets: tuple[Target, ...],
    told: list[Effect],
) -> Plan:
    bound = tuple(
        BoundTarget(
            path=t.path,
            before_digest=None if t.before is None else digest(t.before),
            after_digest=digest(t.after),
        )
        for t in targets
    )
    document = Envelope(
        action=action,
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        subject=subject,
        subject_digest=digest_json([action, [e.text for e in told]]),
        consumer=NAME,
        request=request,
        targets=bound,
        sources=(),
        policy_digest=desk.policy.digest,
        duplicate=all(t.before == t.after for t in targets),
    )
    return Plan(
        envelope=document,
        targets=targets,
        classification=Classification.INTERNAL,
        affects=tuple(told),
    )
