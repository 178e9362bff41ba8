"""The line-memory consumer: one reviewed fact becomes one line and one sidecar entry (5.1, 5.2).

Every time inside the written bytes is the stored decision time of the candidate version, so equal
state gives equal bytes and equal operation ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from core.aiwg_identity import (
    iso_ms,
    js_digest,
    normalised_line,
    nul_digest,
    pretty,
    promotion_handle,
    source_ref,
)
from core.operations.envelope import Plan, Target
from core.ports import Desk, Writer
from core.promotion.consumers import aiwg_lock, reviewed, wiki
from core.promotion.consumers import line_memory_files as files
from core.promotion.consumers.ending import Ended, Ending
from core.wording import some
from schemas.candidates import CandidateVersion
from schemas.operations import Effect, Envelope, Receipt
from schemas.promotion import Belief
from schemas.storage import OutboxTarget, StoredOperation

NAME = "line-memory"
_NAMED, _SHOWN = 3, 60
"""Of lines an effect names: how many, and how many characters of each."""


class LineMemory:
    """`promote` for `.aiwg/memory/line-memory.txt` and its sidecar."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """AIWG's line-memory lock."""
        return aiwg_lock.lock(desk, files.LOCK, "line-memory.locked")

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The exact bytes of both files with the fact promoted.

        Raises Refused `candidate.not-accepted`, `line-memory.*`, `destination.link`; Stale
        `candidate.stale-version`.
        """
        made = reviewed.change(desk, subject, NAME, request)
        every = made.every
        own = files.settings(desk.workspace)
        before_text = desk.workspace.read(own.path)
        before_meta = desk.workspace.read(own.metadata)
        text = files.read_text(before_text, own.path)
        sidecar = files.read_sidecar(before_meta, own)
        facts = [normalised_line(r.version.statement) for r in every]
        old = _going(made.endings)
        by_hand = [x for x in _untracked(text, sidecar) if x not in facts and x not in old]
        kept = files.without(text, old)
        after_text, count = files.with_facts(kept, facts, dedupe=own.dedupe)
        standing = [fact in text.lines for fact in facts]
        _promoted(sidecar, by_hand, facts, [r.version for r in every])
        for e in made.endings:
            _end(sidecar["entries"], e, _handle(sidecar["entries"], facts[0]))
        after_meta = pretty(sidecar)
        blocked = _blocked(desk)
        if count > own.max_lines:
            blocked.append("line-memory.full")
        return reviewed.plan(
            desk,
            made,
            NAME,
            request,
            (
                Target(own.path, before_text, after_text),
                Target(own.metadata, before_meta, after_meta, derived=True),
            ),
            duplicate=all(standing),
            blocked=blocked,
            affects=(
                *_effects(made, standing),
                *made.told,
                _lines(count, own.max_lines),
                *_adopted(by_hand),
                *wiki.leftovers(desk, [r for r, s in zip(every, standing, strict=True) if not s]),
            ),
        )

    def ended(self, desk: Desk, endings: Sequence[Ending]) -> Ended:
        """The exact bytes of both files without these lines; their entries stay as tombstones.

        Raises Refused `line-memory.*`, `destination.link`.
        """
        own = files.settings(desk.workspace)
        before_text = desk.workspace.read(own.path)
        before_meta = desk.workspace.read(own.metadata)
        text = files.read_text(before_text, own.path)
        sidecar = files.read_sidecar(before_meta, own)
        entries, old = sidecar["entries"], _going(endings)
        by = [_handle_of(desk, entries, e.replacement) for e in endings]
        marked = [_end(entries, e, b) for e, b in zip(endings, by, strict=True)]
        after_text = files.without(text, old).data
        targets = []
        if before_text is not None:
            targets.append(Target(own.path, before_text, after_text))
        if any(marked):
            targets.append(Target(own.metadata, before_meta, pretty(sidecar), derived=True))
        count = len(text.lines) - len(files.without(text, old).lines)
        told = Effect(code="effect.line-leaves", text=f"{some(count, 'line')} leaves {own.path}")
        return Ended(tuple(targets), tuple(_blocked(desk)), (told,) if count else ())

    def stands(self, desk: Desk, beliefs: Sequence[tuple[Belief, CandidateVersion]]) -> list[bool]:
        """Which of these lines stand as memdesk left them: in the text, and not ended beside it."""
        own = files.settings(desk.workspace)
        text = files.read_text(desk.workspace.read(own.path), own.path)
        sidecar = files.read_sidecar(desk.workspace.read(own.metadata), own)
        active = {e["value"] for e in sidecar["entries"].values() if e["status"] == "active"}
        there = set(text.lines) & (active or set(text.lines))
        return [normalised_line(v.statement) in there for _, v in beliefs]

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """The version is still accepted and the newest."""
        reviewed.recheck(unit, envelope)

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """AIWG's redo journal: should we die now, its next command completes both files."""
        found = files.settings(desk.workspace)
        if len(plan.targets) != 2:
            return  # one file alone is whole after its own exchange
        memory, metadata = (t.after for t in plan.targets)
        files.write_journal(desk.workspace, _journal_key(plan.envelope), found, memory, metadata)
        desk.on_step("journalled")

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """Remove our journal, named by the bytes it holds."""
        if len(targets) == 2:
            memory, metadata = (t.after for t in targets)
            key = _journal_key(operation.envelope)
            files.remove_journal(desk.workspace, key, memory, metadata)
            desk.on_step("journal-removed")

    def tidy(self, desk: Desk) -> None:
        """Remove a lock whose owner is dead."""
        aiwg_lock.remove_dead(desk.workspace, files.LOCK)

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """Form the belief of the promoted version."""
        return reviewed.record(desk, unit, operation, receipt)


def _blocked(desk: Desk) -> list[str]:
    return ["line-memory.journal-pending"] if files.pending_journals(desk.workspace) else []


def _going(endings: Sequence[Ending]) -> set[str]:
    """The lines that leave the file; words that another statement says too stay."""
    return {normalised_line(e.version.statement) for e in endings if not e.shared}


def _handle(entries: dict[str, Any], fact: str) -> str | None:
    """The active entry of a line."""
    return next(
        (h for h, e in entries.items() if e["status"] == "active" and e["value"] == fact), None
    )


def _handle_of(desk: Desk, entries: dict[str, Any], belief: str | None) -> str | None:
    """The entry that stands for a belief; its id where there is none."""
    if belief is None:
        return None
    with desk.store.read() as view:
        found = view.promotion.belief(belief)
    return (_handle(entries, normalised_line(found.statement)) if found else None) or belief


def _end(entries: dict[str, Any], e: Ending, replacement: str | None) -> bool:
    """Make the statement's entry a tombstone, as AIWG's own command does; False if there is none."""
    ref = source_ref(e.version.id, e.version.version)
    entry = _cited(entries, ref, normalised_line(e.version.statement))
    if entry is None or e.shared:
        return False
    when = iso_ms(e.time)
    entry["status"] = e.state.value
    entry["updatedAt"] = when
    entry["disposition"] = {
        "reviewer": e.reviewer or None,
        "reason": e.reason or None,
        "replacement": replacement,
        "recordedAt": when,
    }
    return True


def _cited(entries: dict[str, dict[str, Any]], ref: str, fact: str) -> dict[str, Any] | None:
    """The active entry that names a promotion as its source, or else that holds its words."""
    active = [e for e in entries.values() if e["status"] == "active"]
    for entry in active:
        sources = entry.get("sources")
        if isinstance(sources, list) and any(
            isinstance(s, dict) and s.get("ref") == ref for s in sources
        ):
            return entry
    return next((e for e in active if e["value"] == fact), None)


def _journal_key(envelope: Envelope) -> str:
    return envelope.subject


def _untracked(text: files.TextFile, sidecar: dict[str, Any]) -> list[str]:
    """Lines no active entry answers for: somebody wrote them by hand."""
    active = {e["value"] for e in sidecar["entries"].values() if e["status"] == "active"}
    return list(dict.fromkeys(x for x in text.lines if x.strip() and x not in active))


def _promoted(
    sidecar: dict[str, Any],
    by_hand: Sequence[str],
    facts: Sequence[str],
    versions: Sequence[CandidateVersion],
) -> None:
    """An active entry for every line, and each fact's source recorded."""
    entries: dict[str, Any] = sidecar["entries"]
    when = _decided(versions[0])
    for n, line in enumerate(by_hand):
        handle = _free(entries, nul_digest("memdesk-untracked", line), n)
        entries[handle] = _entry(handle, line, when)
    for fact, version in zip(facts, versions, strict=True):
        _promote(entries, fact, version)


def _decided(version: CandidateVersion) -> str:
    decision = version.decision
    return iso_ms(decision.time if decision else version.created)


def _promote(entries: dict[str, Any], fact: str, version: CandidateVersion) -> None:
    decision, when = version.decision, _decided(version)
    handle = _handle(entries, fact)
    if handle is None:
        handle = promotion_handle(version.id, version.version)
        if handle in entries:
            handle = _free(entries, nul_digest(version.id, str(version.version), "again"), 0)
        entries[handle] = _entry(handle, fact, when)
    entry = entries[handle]
    ref = source_ref(version.id, version.version)
    reviewer = decision.actor.reviewer if decision else None
    sources = entry.setdefault("sources", [])
    known = isinstance(sources, list) and any(
        isinstance(s, dict) and s.get("ref") == ref and s.get("reviewer") == reviewer
        for s in sources
    )
    if isinstance(sources, list) and not known:
        reason = (decision.reason or None) if decision else None
        sources.append({"ref": ref, "reviewer": reviewer, "reason": reason, "recordedAt": when})
        entry["updatedAt"] = when


def _entry(handle: str, value: str, when: str) -> dict[str, Any]:
    return {
        "id": handle,
        "value": value,
        "digest": js_digest(value),
        "status": "active",
        "createdAt": when,
        "updatedAt": when,
        "lastAccessedAt": when,
        "accessCount": 0,
        "sources": [],
    }


def _free(entries: dict[str, Any], seed: str, n: int) -> str:
    """A derived handle that no entry, active or tombstone, has."""
    while True:
        handle = promotion_handle(seed, n)
        if handle not in entries:
            return handle
        n += 1


def _effects(made: reviewed.Change, standing: Sequence[bool]) -> list[Effect]:
    out = []
    for found, stands in zip(made.every, standing, strict=True):
        if stands:
            line = "The line" if len(made.every) == 1 else f"“{found.version.statement}”"
            again = f"{line} stands already; it becomes the newest."
            out.append(Effect(code="duplicate.same-claim", text=again))
        else:
            out += reviewed.new_belief(found, made)
    return out


def _lines(count: int, limit: int) -> Effect:
    text = f"line memory will hold {count} of at most {limit} lines"
    return Effect(code="line-memory.lines", text=text)


def _adopted(by_hand: Sequence[str]) -> list[Effect]:
    """Hand-written lines that get an entry of the sidecar; AIWG treats them as its own then."""
    if not by_hand:
        return []
    many = "s" if len(by_hand) > 1 else ""
    shown = ", ".join(f"“{x[:_SHOWN]}{'…' if len(x) > _SHOWN else ''}”" for x in by_hand[:_NAMED])
    more = f" and {len(by_hand) - _NAMED} more" if len(by_hand) > _NAMED else ""
    text = f"{len(by_hand)} hand-written line{many} enter{'' if many else 's'} the sidecar"
    return [Effect(code="line-memory.adopted", text=f"{text}: {shown}{more}")]
