"""A preview that moved: what it was bound to then and now, who moved it, what is new to read (5.3).

The bytes a preview was computed from are not stored; whoever read it hands them back here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

from core import config, textdiff
from core.operations import envelope
from core.operations.envelope import Target
from core.operations.preview import Exact, Present, of_plan, present
from core.ports import Desk
from core.promotion import reading
from core.textdiff import Hunk
from schemas.errors import MemdeskError
from schemas.operations import Moved, Receipt

_RECEIPTS = 50
"""How far back the cause of a change is looked for."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One thing a preview is bound to: its digest then and, as far as it can be told, now."""

    what: str
    name: str
    then: str | None
    now: str | None
    moved: bool
    detail: str = ""
    """The code of what stands in the way, if that is how it moved."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Who moved something: a reviewer by an operation or an edit, or somebody outside the desk."""

    what: str
    name: str
    reviewer: str = ""
    """Empty when it was done by hand, or by another program."""
    time: int | None = None
    operation: str = ""
    receipt: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Foreign:
    """What others changed in one file since the preview was made."""

    path: str
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything about a stale preview that a person must be told."""

    moved: tuple[Moved, ...]
    bound: tuple[Bound, ...]
    foreign: tuple[Foreign, ...]
    causes: tuple[Cause, ...]
    again: Exact | None
    """What a new preview would show."""
    refusal: MemdeskError | None
    """Why there would be none."""

    def left(self, read: Set[Hashable]) -> reading.Left:
        """What a new preview leaves to read for somebody who has read these lines."""
        if self.again is None:
            return reading.Left(0, 0)
        under = [
            hunk
            for f in self.foreign
            for hunk in reading.identities(f.path, f.hunks, reading.FOREIGN)
        ]
        return reading.left([*_own(self.again), *under], read)

    def same_change(self, read: Exact) -> bool:
        """True when a new preview would change no line that this one does not."""
        if self.again is None:
            return False
        known = {name for hunk in _own(read) for name in hunk}
        return all(name in known for hunk in _own(self.again) for name in hunk)


def _own(exact: Exact) -> list[list[reading.Identity]]:
    """The lines of a preview that must be read, hunk by hunk; derived files may stay folded."""
    copies = [[reading.of_copy(c.path, c.after_digest)] for c in exact.copies]
    return copies + [
        hunk
        for target, compared in zip(exact.targets, exact.compared, strict=True)
        if not target.derived
        for hunk in reading.identities(target.path, compared.at().hunks)
    ]


def of(desk: Desk, operation_id: str, then: Sequence[Target]) -> Standing:
    """How an operation stands now; `then` is what it was when it was read. Raises NotFound."""
    desk = config.current(desk)
    now = present(desk, operation_id)
    there = {t.path: _digest(desk, t.path) for t in now.operation.envelope.targets}
    return Standing(
        moved=now.moved,
        bound=_bound(desk, now, there),
        foreign=foreign(then, {t.path: _bytes(desk, t.path) for t in then if t.path in there}),
        causes=_causes(desk, now, there),
        again=None if now.plan is None else of_plan(now.operation, now.plan),
        refusal=now.refusal,
    )


def written(desk: Desk, receipts: Sequence[Receipt]) -> dict[str, str]:
    """How each written file stands now, by `RECEIPT PATH`: as written, written later, or changed.

    A later receipt that left the file as it stands answers for it; anything else was done outside.
    """
    with desk.store.read() as view:
        newest = view.operations.newest_receipts(_RECEIPTS)
    out = {}
    for r in receipts:
        for t in r.targets:
            now = _digest(desk, t.path)
            later = next((n for n in newest if any(x.path == t.path for x in n.targets)), None)
            left = {x.path: x.after_digest for x in later.targets} if later else {}
            if now == t.after_digest:
                state = "as written"
            elif later and later.ledger_seq > r.ledger_seq and left[t.path] == now:
                state = f"written later by {later.receipt_id}"
            else:
                state = "gone" if now is None else "changed outside memdesk"
            out[f"{r.receipt_id} {t.path}"] = state
    return out


def _digest(desk: Desk, path: str) -> str | None:
    try:
        return desk.workspace.digest(path)
    except MemdeskError:
        return None


def _bytes(desk: Desk, path: str) -> bytes | None:
    try:
        return desk.workspace.read(path)
    except MemdeskError:
        return None


def _bound(desk: Desk, now: Present, there: dict[str, str | None]) -> tuple[Bound, ...]:
    then = now.operation.envelope
    moved = {(m.what, m.name): m for m in now.moved}
    known = now.plan is not None

    def one(what: str, name: str, before: str | None, after: str | None) -> Bound:
        m = moved.get((what, name))
        other = before != after if m is None and (known or what != "source") else m is not None
        return Bound(what, name, before, m.now if m else after, other, m.detail if m else "")

    policy = ".memdesk/config.toml"
    out = []
    if then.subject not in {s.locator for s in then.sources}:
        digest = then.subject_digest
        out.append(one(envelope.subject_word(then), then.subject, digest, digest))
    out += [one("source", s.locator, s.digest, s.digest if known else None) for s in then.sources]
    out.append(one("policy", policy, then.policy_digest, desk.policy.digest))
    for t in then.targets:
        out.append(one("target", t.path, t.before_digest, there[t.path]))
    named = {(b.what, b.name) for b in out}
    out += [
        Bound(m.what, m.name, m.then, m.now, moved=True, detail=m.detail)
        for key, m in moved.items()
        if key not in named
    ]
    return tuple(out)


def foreign(then: Sequence[Target], now: dict[str, bytes | None]) -> tuple[Foreign, ...]:
    """What others changed in the files that are written as they are; of derived ones if only there."""
    found = [
        (t.derived, Foreign(t.path, textdiff.compare(t.before, now[t.path] or b"", 1).hunks))
        for t in then
        if t.path in now and t.before != now[t.path]
    ]
    own = tuple(f for derived, f in found if not derived and f.hunks)
    return own or tuple(f for _, f in found if f.hunks)


def _causes(desk: Desk, now: Present, there: dict[str, str | None]) -> tuple[Cause, ...]:
    then = now.operation.envelope
    with desk.store.read() as view:
        receipts = [
            r
            for r in reversed(view.operations.newest_receipts(_RECEIPTS))
            if r.time >= now.operation.created and r.operation_id != now.operation.operation_id
        ]
    out: dict[tuple[str, str], Cause] = {}
    for t in then.targets:
        if there[t.path] != t.before_digest:
            for cause in _of_target(t.path, there[t.path], receipts):
                out.setdefault((cause.what, cause.operation or cause.name), cause)
    for m in now.moved:
        if m.what == "candidate":
            cause = _of_candidate(desk, m)
            out[m.what, m.name] = cause
        elif m.what != "target":
            out[m.what, m.name] = Cause(m.what, m.name)
    return tuple(out.values())


def _of_target(path: str, now: str | None, receipts: Sequence[Receipt]) -> list[Cause]:
    """The writes of this desk's reviewers since then; by hand, if they do not explain the bytes."""
    out: list[Cause] = []
    last = None
    for r in receipts:
        for t in r.targets:
            if t.path == path:
                last = t.after_digest
                out.append(Cause("target", path, r.reviewer, r.time, r.operation_id, r.receipt_id))
    if now is None or last != now:
        out.append(Cause("target", path))
    return out


def _of_candidate(desk: Desk, moved: Moved) -> Cause:
    id_ = moved.name.partition("@")[0]
    with desk.store.read() as view:
        newest = view.candidates.version(id_)
    if newest is None:
        return Cause("candidate", moved.name)
    name, said = f"{id_}@{newest.version}", f"@{newest.version} is {newest.state.value}"
    if newest.decision is not None:
        done = newest.decision
        return Cause("candidate", name, done.actor.reviewer, done.time, said=said)
    return Cause("candidate", name, newest.editor or newest.author, newest.created, said=said)
