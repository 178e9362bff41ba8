"""The canonical-context consumer: a reviewed statement as an entry of AIWG's store (spec 5.6).

Only under `.aiwg/context/compound-memory/`, only after its own init. History is appended: an entry
that ended stays as it is, under its own name, whatever is said later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager

from core.aiwg_identity import iso_ms, source_ref
from core.operations.envelope import Plan
from core.ports import Desk, Reader, Writer
from core.promotion.consumers import aiwg_lock, ending, reviewed, wiki
from core.promotion.consumers import context_files as files
from core.promotion.consumers.context_files import Document, Writing
from core.promotion.consumers.ending import Ended, Ending
from schemas.candidates import CandidateVersion
from schemas.operations import Effect, Envelope, Receipt
from schemas.promotion import Belief, BeliefState
from schemas.storage import OutboxTarget, StoredOperation

NAME = "canonical-context"
_REF = re.compile(r"session-candidate:(cand_[0-9a-f]{32}):v(\d+)")
_REMOVED = "(removed)"
"""In the place of a removed value; AIWG takes no empty one. The entry's name stays its handle."""


class CanonicalContext:
    """`promote` for `.aiwg/context/compound-memory/context.json` and AIWG's receipts."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """AIWG's lock of its context store."""
        return aiwg_lock.lock(desk, files.LOCK, "canonical.locked")

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The exact bytes of the store with an entry for each version, and of AIWG's receipts.

        Raises Refused `canonical.*`, `candidate.not-accepted`, `destination.link`; Stale
        `candidate.stale-version`.
        """
        before, store = files.read(desk.workspace)
        with desk.store.read() as view:
            replaced = _replaced(desk, view, store, subject)
        names = [*request.get(reviewed.SUPERSEDES, "").split(), *replaced]
        asked = {**request, reviewed.SUPERSEDES: " ".join(names)} if names else request
        made = reviewed.change(desk, subject, NAME, asked)
        writing, blocked, told = Writing(before, store, []), [], []
        standing = []
        for found in made.every:
            proposal = proposed(found.version)
            others = list(files.active(store, proposal["target"], proposal["key"]))
            if fault := files.faults(proposal):
                blocked.append(fault)
            new = any(e["sourceRef"] != proposal["sourceRef"] for e in others)
            if new and (reviewed.BESIDE in request or _named_twice(made.every, proposal)):
                blocked.append("canonical.one-a-key")
            if files.entry_id(proposal) in store["entries"]:
                told.append(_stands(found.version))
                standing.append(True)
                continue
            standing.append(False)
            told += [*reviewed.new_belief(found, made), *_overtakes(others)]
            _upsert(writing, proposal, others, _when(found.version))
        for e in made.endings:
            _end(writing, e)
        return reviewed.plan(
            desk,
            made,
            NAME,
            request,
            writing.targets(desk.workspace),
            duplicate=all(standing),
            blocked=tuple(dict.fromkeys(blocked)),
            affects=[*told, *made.told, *wiki.leftovers(desk, made.every)],
        )

    def ended(self, desk: Desk, endings: Sequence[Ending]) -> Ended:
        """The exact bytes of the store with these entries ended. Raises Refused `canonical.*`."""
        before, store = files.read(desk.workspace)
        writing = Writing(before, store, [])
        marked = [_end(writing, e) for e in endings]
        gone = Effect(code="effect.page-gone", text=f"the entry is gone from {files.PATH}")
        if not any(marked):
            return Ended((), affects=(gone,))
        return Ended(writing.targets(desk.workspace))

    def stands(self, desk: Desk, beliefs: Sequence[tuple[Belief, CandidateVersion]]) -> list[bool]:
        """Which of these statements have an active entry of their words."""
        _, store = files.read(desk.workspace)
        found = {
            (e.get("sourceRef"), e["value"])
            for e in store["entries"].values()
            if e["status"] == "active"
        }
        return [(source_ref(v.id, v.version), v.statement) in found for _, v in beliefs]

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """The version is still accepted and the newest."""
        reviewed.recheck(unit, envelope)

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """AIWG has no journal here; the outbox holds every byte."""

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """Nothing to remove."""

    def tidy(self, desk: Desk) -> None:
        """Remove a lock whose owner is dead; AIWG itself never does."""
        aiwg_lock.remove_dead(desk.workspace, files.LOCK)

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """Form the belief of the promoted version."""
        return reviewed.record(desk, unit, operation, receipt)


def proposed(version: CandidateVersion) -> Document:
    """A version as AIWG's proposal, its members in AIWG's order."""
    decision = version.decision
    until = version.valid_until
    kind = version.kind.value
    return {
        "target": kind if kind in files.TARGETS else "operating-rule",
        "key": _key(version.key),
        "value": version.statement,
        "sourceRef": source_ref(version.id, version.version),
        "sourceDigest": version.sources[0].digest if version.sources else None,
        "reviewer": (decision.actor.reviewer if decision else "?")[:128],
        "reason": ((decision.reason if decision else "") or "accepted")[:1024],
        "scope": version.scope,
        "classification": version.classification.value,
        "reviewAt": None,
        "expiresAt": iso_ms(until) if until is not None else None,
    }


def _named_twice(every: Sequence[reviewed.Reviewed], proposal: Document) -> bool:
    """True when one preview would give two values to one target and key."""
    names = [proposed(r.version) for r in every]
    same = [p for p in names if (p["target"], p["key"]) == (proposal["target"], proposal["key"])]
    return len({p["value"] for p in same}) > 1


def _key(key: str) -> str:
    """A key in AIWG's letters; equal keys stay equal."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", key.casefold()).strip("-._")
    return plain[:128] or "note"


def _when(version: CandidateVersion) -> str:
    return iso_ms(version.decision.time if version.decision else version.created)


def _replaced(desk: Desk, view: Reader, store: Document, subject: str) -> list[str]:
    """Beliefs whose entries have the target and key of one of these versions."""
    out = []
    for ref in subject.split(" "):
        proposal = proposed(reviewed.accepted(view, ref))
        for entry in files.active(store, proposal["target"], proposal["key"]):
            found = _REF.fullmatch(str(entry.get("sourceRef")))
            if found and entry["sourceRef"] != proposal["sourceRef"]:
                out.append(ending.belief_id(desk, f"{found[1]}@{found[2]}"))
    return out


def _upsert(writing: Writing, proposal: Document, others: list[Document], when: str) -> None:
    asked = {
        "operation": "upsert",
        "proposal": proposal,
        "snapshot": files.snapshot(writing.store),
    }
    for other in others:
        files.end(other, "superseded", proposal["reviewer"], proposal["reason"], when)
    old = [e["entryId"] for e in others]
    entry = files.entry_of(proposal, when, old[0] if old else None, None)
    writing.store["entries"][entry["entryId"]] = entry
    writing.change("upsert", asked, [*old, entry["entryId"]], when, duplicate=False)


def _end(writing: Writing, e: Ending) -> bool:
    """End the entry of a statement, unless a new one of its key has done so; False without one."""
    ref = source_ref(e.version.id, e.version.version)
    entry = next(
        (
            x
            for x in writing.store["entries"].values()
            if x.get("sourceRef") == ref and x["status"] == "active"
        ),
        None,
    )
    if entry is None:
        return False
    when, reason = iso_ms(e.time), e.reason or e.state.value
    asked = {
        "operation": "revoke",
        "entryId": entry["entryId"],
        "reviewer": e.reviewer[:128],
        "reason": reason[:1024],
        "snapshot": files.snapshot(writing.store),
    }
    status = "superseded" if e.state is BeliefState.SUPERSEDED else "revoked"
    files.end(entry, status, e.reviewer[:128], reason[:1024], when)
    if e.state is BeliefState.REMOVED:
        entry["value"] = _REMOVED
    writing.change("revoke", asked, [entry["entryId"]], when, duplicate=False)
    return True


def _stands(version: CandidateVersion) -> Effect:
    text = f"an entry of “{version.statement}” stands under this name already"
    return Effect(code="duplicate.same-claim", text=text)


def _overtakes(others: list[Document]) -> list[Effect]:
    """Entries that nobody promoted here, but that stand under the same target and key."""
    return [
        Effect(
            code="effect.entry-superseded",
            text=f"supersedes the entry {e['entryId'][:15]}… “{e['value'][:80]}”",
        )
        for e in others
        if not _REF.fullmatch(str(e.get("sourceRef")))
    ]
