"""The exact preview of one promotion: built, and stored by id (5.2)."""

from __future__ import annotations

from core import config
from core.candidates.review import CandidateRef
from core.evidence import intake, revoke
from core.identity import parse_locator
from core.operations import confirm, envelope
from core.operations import preview as operations
from core.operations.envelope import HANDLERS
from core.operations.preview import Exact
from core.ports import Desk
from core.promotion import ACTION
from schemas.errors import Refused
from schemas.operations import Preview
from schemas.storage import StoredOperation


def consumers() -> list[str]:
    """Consumers a candidate can be promoted to."""
    return sorted(consumer for action, consumer in HANDLERS if action == ACTION)


def build(desk: Desk, ref: CandidateRef, consumer: str) -> Preview:
    """The preview alone, as `exact` computes it."""
    return exact(desk, ref, consumer, text=True).preview


def exact(desk: Desk, ref: CandidateRef, consumer: str, *, text: bool = False) -> Exact:
    """Compute the preview and store its operation; no target is touched.

    With `text` each target has its unified diff as a string, which a screen does not need.

    A version already promoted to this consumer answers the operation that did it.
    Raises Refused `candidate.not-accepted`, `consumer.unknown`, `line-memory.*`; Stale.
    """
    desk = config.current(desk)
    if (ACTION, consumer) not in HANDLERS:
        raise Refused("consumer.unknown", f"There is no consumer {consumer} here.")
    if done := _applied(desk, ref, consumer):
        return operations.look(desk, done.operation_id, text=text)
    plan = envelope.handler(ACTION, consumer).plan(desk, str(ref), {})
    return operations.store(desk, plan, text=text)


def _applied(desk: Desk, ref: CandidateRef, consumer: str) -> StoredOperation | None:
    with desk.store.read() as view:
        found = view.operations.open_of(str(ref))
    same = [o for o in found if o.envelope.consumer == consumer]
    return same[0] if same else None


def again(desk: Desk, operation_id: str) -> Exact:
    """A new preview of what a stored operation is about, whatever it writes.

    Raises NotFound `id.not-found`; otherwise as the preview itself.
    """
    then = confirm.stored(desk, operation_id).envelope
    if then.action == intake.ACTION:
        return intake.preview(desk, desk.workspace.root / then.subject)
    if then.consumer == revoke.CONSUMER:
        return revoke.preview(desk, then.subject, reason=then.request.get("reason", ""))
    locator = parse_locator(then.subject, "cand")
    return exact(desk, CandidateRef(locator.id, locator.version or 0), then.consumer)
