"""Handlers and plans: what an operation is before it is confirmed (spec 0.3).

A handler computes, from the store and the destination alone, the exact plan of its operation;
promotion, intake, erase and maintain each register one and write none of the rest themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from core.identity import canonical, keyed_id
from core.ports import Desk, Writer
from core.sources.fences import Closing
from schemas.candidates import Related
from schemas.common import Classification
from schemas.errors import MemdeskError
from schemas.operations import (
    BoundSource,
    BoundTarget,
    Effect,
    Envelope,
    Moved,
    PreviewedVersion,
    Receipt,
    TargetChange,
)
from schemas.storage import OutboxTarget, StoredOperation


@dataclass(frozen=True, slots=True)
class Target:
    """One file's exact bytes before and after; `derived` marks one computed from another."""

    path: str
    before: bytes | None
    after: bytes
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """A file of any size that becomes the exact copy of a source; its bytes are never held whole."""

    path: str
    source: str
    """Where the bytes are read from, inside the workspace."""
    before_digest: str | None
    after_digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What an operation would do now: bound facts, exact bytes, and what a person must be told."""

    envelope: Envelope
    targets: tuple[Target, ...]
    classification: Classification
    conflicts: tuple[Related, ...] = ()
    affects: tuple[Effect, ...] = ()
    checks: tuple[Effect, ...] = ()
    versions: tuple[PreviewedVersion, ...] = ()
    """The versions a promotion is about."""
    reason: str = ""
    """Why, where no candidate says it."""
    copies: tuple[Copy, ...] = ()
    """Files that are copied; they are written before the targets."""
    parts: tuple[Plan, ...] = ()
    """The plans of each consumer, of an operation over several."""
    closes: tuple[Closing, ...] = ()
    """Messages that the change closes for good, before its first byte is written (spec 2.2)."""


class Handler(Protocol):
    """One action on one consumer."""

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The plan as things stand now; touches no target."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """The consumer's own lock, by its own protocol."""

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """Raise unless the subject still allows it, in the transaction that prepares (5.2).

        Raises Refused, Stale or NotFound.
        """

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """Whatever the consumer's mechanics do before the first byte (a journal)."""

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """Whatever they do after the last byte, or after an undo; must be repeatable."""

    def tidy(self, desk: Desk) -> None:
        """Remove what a process that died after its receipt left (its lock)."""

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """The consequences that commit together with the receipt; may complete the receipt."""


class Quiet:
    """Steps of a `Handler` that an operation without consequences of its own leaves out."""

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """Nothing in the store can forbid it."""

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """Nothing comes before the first byte."""

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """Nothing comes after the last byte."""

    def tidy(self, desk: Desk) -> None:
        """Nothing is left behind."""

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """No belief, no claim: the receipt is complete."""
        return receipt


HANDLERS: dict[tuple[str, str], Handler] = {}
"""Handlers by action and consumer; filled by `core.promotion` and others when first used."""

SEVERAL = "several"
"""Under this consumer stands the handler of an action that is confirmed for several at once."""
SINKS = "sinks"
"""In the request of such an operation: the operations of its consumers, in their order."""
_TO = "to "
"""In such a request, before a consumer's name: what goes to it."""
_AND = "+"


def handler(action: str, consumer: str) -> Handler:
    """The registered handler. KeyError names a programming fault, not a user's."""
    return HANDLERS[action, SEVERAL if _AND in consumer else consumer]


def several(consumers: Iterable[str]) -> str:
    """One name for several consumers; of one it is its own."""
    return _AND.join(sorted(consumers))


def shared_out(asked: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """The request of an operation over several consumers: what goes to each, and what holds for all."""
    return {**{_TO + consumer: subject for consumer, subject in asked.items()}, **options}


def by_consumer(request: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What a request sends to each consumer, by name, and the options that hold for all."""
    asked = {k.removeprefix(_TO): v for k, v in sorted(request.items()) if k.startswith(_TO)}
    rest = {k: v for k, v in request.items() if not k.startswith(_TO) and k != SINKS}
    return asked, rest


def sinks(envelope: Envelope) -> tuple[str, ...]:
    """The operations that an operation over several consumers is made of; none for any other."""
    return tuple(envelope.request[SINKS].split()) if _AND in envelope.consumer else ()


def operation_id(desk: Desk, envelope: Envelope) -> str:
    """The id over everything that matters; equal documents are the same operation."""
    return keyed_id("op", desk.secret, canonical(envelope.model_dump(mode="json")))


def subject_word(envelope: Envelope) -> str:
    """What the subject of an operation is called: a candidate, a belief, or a source taken in."""
    tag = envelope.subject.partition("_")[0]
    return {"cand": "candidate", "bel": "belief"}.get(tag, "source")


def bound(target: TargetChange | BoundTarget) -> BoundTarget:
    """A target without the diff a person reads."""
    return BoundTarget(
        path=target.path, before_digest=target.before_digest, after_digest=target.after_digest
    )


def moved(then: Envelope, now: Envelope) -> tuple[Moved, ...]:
    """What differs between a stored envelope and the present one, each thing by name."""
    out: list[Moved] = []
    if then.subject_digest != now.subject_digest or _asked(then) != _asked(now):
        out.append(
            Moved(
                what=subject_word(then),
                name=now.subject,
                then=then.subject_digest,
                now=now.subject_digest,
            )
        )
    sources = {s.locator: s.digest for s in now.sources}
    for s in then.sources:
        if sources.get(s.locator) != s.digest:
            out.append(
                Moved(what="source", name=s.locator, then=s.digest, now=sources.get(s.locator))
            )
    if then.policy_digest != now.policy_digest:
        out.append(
            Moved(
                what="policy",
                name=".memdesk/config.toml",
                then=then.policy_digest,
                now=now.policy_digest,
            )
        )
    targets = {t.path: t for t in now.targets}
    for t in then.targets:
        there = targets.get(t.path)
        current = there.before_digest if there else None
        if there is None and out:
            continue  # a file named after what moved is no other thing that moved
        if there is None or current != t.before_digest:
            out.append(Moved(what="target", name=t.path, then=t.before_digest, now=current))
    if not out:
        out += _other_differences(then, now)
    return tuple(out)


def _asked(envelope: Envelope) -> Mapping[str, str]:
    """The request itself: the ids of sinks follow from all that they are bound to."""
    return {k: v for k, v in envelope.request.items() if k != SINKS}


def gone(then: Envelope, err: MemdeskError) -> Moved:
    """What moved when a plan can no longer be made: the destination an error names, or the subject."""
    path = str(err.details.get("path", ""))
    subject = str(err.details.get("subject", then.subject))
    if not path or path == subject:
        known = {s.locator: s.digest for s in then.sources}
        digest = known.get(subject, then.subject_digest)
        return Moved(what=subject_word(then), name=subject, then=digest, now=None, detail=err.code)
    for target in then.targets:
        if PurePosixPath(target.path).is_relative_to(path):
            name, before = target.path, target.before_digest
            return Moved(what="target", name=name, then=before, now=None, detail=err.code)
    return Moved(what="target", name=path, then=None, now=None, detail=err.code)


def _other_differences(then: Envelope, now: Envelope) -> list[Moved]:
    rules = [c for c in now.blocked_by if c not in then.blocked_by]
    if rules:
        return [Moved(what="rule", name=c, then=None, now=c, detail=c) for c in rules]
    before, after = then.model_dump(mode="json"), now.model_dump(mode="json")
    return [
        Moved(what=name, name=name, then=str(before[name]), now=str(after[name]))
        for name in before
        if before[name] != after[name]
    ]


def bound_source(locator: str, digest: str, level: Classification) -> BoundSource:
    """A source as an operation is bound to it."""
    return BoundSource(locator=locator, digest=digest, classification=level)
