"""The exact preview of a promotion, of one version or several: built, and stored by id (5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core import config
from core.candidates.review import CandidateRef
from core.evidence import intake, revoke
from core.identity import parse_locator
from core.operations import confirm, envelope
from core.operations import preview as operations
from core.operations.envelope import HANDLERS, SEVERAL
from core.operations.preview import Exact
from core.ports import Desk, Reader
from core.promotion import ACTION, context, lifecycle
from core.promotion.consumers import reviewed
from core.wording import some
from schemas.errors import MemdeskError, Refused
from schemas.operations import Effect, Envelope, Preview
from schemas.storage import StoredOperation

USUAL = "line-memory"
MOST = 200
"""Versions in one preview: what a person can be expected to read at once."""


@dataclass(frozen=True, slots=True)
class Going:
    """A version and the consumer it is to go to."""

    ref: CandidateRef
    consumer: str


def consumers() -> list[str]:
    """Consumers a candidate can be promoted to."""
    return sorted(c for action, c in HANDLERS if action == ACTION and c != SEVERAL)


def offered(desk: Desk) -> list[str]:
    """Those of them that can be written now, the usual one first (spec 8.9)."""
    ready = context.initialised(desk)
    found = [c for c in consumers() if ready or c != "canonical-context"]
    return sorted(found, key=lambda c: (c != USUAL, c))


def build(desk: Desk, ref: CandidateRef, consumer: str) -> Preview:
    """The preview alone, as `exact` computes it."""
    return exact(desk, ref, consumer, text=True).preview


def exact(desk: Desk, ref: CandidateRef, consumer: str, *, text: bool = False) -> Exact:
    """Compute the preview and store its operation; no target is touched.

    With `text` each target has its unified diff as a string, which a screen does not need.

    A version already promoted to this consumer answers the operation that did it.
    Raises Refused `candidate.not-accepted`, `consumer.unknown`, `line-memory.*`; Stale.
    """
    return together(desk, [Going(ref, consumer)], text=text)


def together(
    desk: Desk,
    going: Sequence[Going],
    *,
    beside: bool = False,
    supersedes: Sequence[str] = (),
    text: bool = False,
) -> Exact:
    """One preview of several versions, each to its consumer: one operation, one confirm.

    Beliefs that they contradict at their consumer are superseded, unless `beside` keeps them; those
    in `supersedes` are in any case.
    Equal sets give the equal operation: they are written in the order they were decided in.
    What a consumer holds already is left out; if that is all, the operation that wrote the first
    of it is answered. Raises as `exact`; Refused `promotion.too-many`.
    """
    desk = config.current(desk)
    known = consumers()
    for g in going:
        if g.consumer not in known:
            raise Refused("consumer.unknown", f"There is no consumer {g.consumer} here.")
    with desk.store.read() as view:
        done = {g: _writer(view, g) for g in dict.fromkeys(going)}
        left = sorted((g for g, o in done.items() if o is None), key=lambda g: _turn(view, g.ref))
    if not left:
        written = next(o for o in done.values() if o is not None)
        return operations.look(desk, written.operation_id, text=text)
    if len(left) > MOST:
        raise Refused("promotion.too-many", f"{len(left)} versions; at most {MOST} at once.")
    options = {reviewed.BESIDE: "yes"} if beside else {}
    if supersedes:
        options[reviewed.SUPERSEDES] = " ".join(sorted(supersedes))
    return operations.store(desk, _plan(desk, left, options), text=text)


def _plan(desk: Desk, going: Sequence[Going], options: dict[str, str]) -> envelope.Plan:
    """One consumer is written by its own operation, several by one over theirs."""
    asked: dict[str, str] = {}
    for g in going:
        asked[g.consumer] = f"{asked[g.consumer]} {g.ref}" if g.consumer in asked else str(g.ref)
    subject = " ".join(refs for _, refs in sorted(asked.items()))
    name = envelope.several(asked)
    request = envelope.shared_out(asked, options) if len(asked) > 1 else options
    return envelope.handler(ACTION, name).plan(desk, subject, request)


def _turn(view: Reader, ref: CandidateRef) -> tuple[int, str]:
    """When a version was decided, and its id."""
    version = view.candidates.version(ref.id, ref.version)
    decided = version.decision.time if version and version.decision else 0
    return decided, str(ref)


def _writer(view: Reader, going: Going) -> StoredOperation | None:
    """The operation that wrote a version to its consumer, or is just writing it."""
    for o in view.operations.open_of(str(going.ref)):
        if o.envelope.action == ACTION and o.envelope.consumer == going.consumer:
            return o
    return None


def promotable(desk: Desk, going: Iterable[Going]) -> tuple[list[Going], dict[str, int]]:
    """Those that nothing keeps out of memory, and by code how many others there are.

    At most `MOST` of them: the rest is counted under `promotion.too-many`.
    """
    free: list[Going] = []
    kept: dict[str, int] = {}
    for g in going:
        try:
            codes = reviewed.blocking(reviewed.reviewed(desk, str(g.ref)))
        except MemdeskError as err:
            codes = [err.code]
        if not codes and len(free) == MOST:
            codes = ["promotion.too-many"]
        if codes:
            kept[codes[0]] = kept.get(codes[0], 0) + 1
        else:
            free.append(g)
    return free, kept


def waiting(desk: Desk, going: Sequence[Going]) -> Exact:
    """One preview of all of these that nothing keeps out; it says how many others it leaves out.

    Raises Refused `promotion.none-free` when nothing is left of them; otherwise as `together`.
    """
    free, kept = _some(desk, going)
    found = together(desk, free)
    out = [
        Effect(code="left-out", text=f"{some(count, 'candidate')} left out: {code}")
        for code, count in sorted(kept.items())
    ]
    told = found.preview.model_copy(update={"affects": (*out, *found.preview.affects)})
    return replace(found, preview=told)


def _some(desk: Desk, going: Sequence[Going]) -> tuple[list[Going], dict[str, int]]:
    free, kept = promotable(desk, going)
    if not free:
        raise Refused("promotion.none-free", kept=kept)
    return free, kept


def again(desk: Desk, operation_id: str, *, turned: bool = False) -> Exact:
    """A new preview of what a stored operation is about, whatever it writes.

    Of several versions those are left out that can't be promoted any more.
    Raises NotFound `id.not-found`; otherwise as the preview itself.
    """
    then = confirm.stored(desk, operation_id).envelope
    if then.action == intake.ACTION:
        return intake.preview(desk, desk.workspace.root / then.subject)
    if then.consumer == revoke.CONSUMER:
        return revoke.preview(desk, then.subject, reason=then.request.get("reason", ""))
    if then.action == context.INIT:
        return context.preview_init(desk)
    if then.action == context.IMPORT:
        return context.preview_import(desk, then.subject, across="across" in then.request)
    if then.action in lifecycle.STATES:
        return _ended_again(desk, then)
    asked, options = envelope.by_consumer(then.request)
    if not envelope.sinks(then):
        asked = {then.consumer: then.subject}
    going = [Going(_ref(r), c) for c, refs in asked.items() for r in refs.split(" ")]
    if len(going) > 1:
        going, _kept = _some(desk, going)
    beside, ended = (
        (reviewed.BESIDE in options) is not turned,
        options.get(reviewed.SUPERSEDES, "").split(),
    )
    return together(desk, going, beside=beside, supersedes=ended)


def other_way(desk: Desk, operation_id: str) -> Exact:
    """A stored promotion anew: what it supersedes is kept beside it, or was and is superseded.

    Raises as `again`.
    """
    return again(desk, operation_id, turned=True)


def _ended_again(desk: Desk, then: Envelope) -> Exact:
    with desk.store.read() as view:
        belief = lifecycle.resolve(view, then.subject)
    reason, by = then.request.get("reason", ""), then.request.get("by")
    return lifecycle.preview(desk, then.action, belief, reason=reason, at=then.consumer, by=by)


def _ref(text: str) -> CandidateRef:
    locator = parse_locator(text, "cand")
    return CandidateRef(locator.id, locator.version or 0)
