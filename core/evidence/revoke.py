"""Revoking a source: its bytes stay and stay readable, but nothing may rest on them (spec 1.7).

By preview and confirm, for good. The preview gives every dependent its disposition: a candidate is
withheld, a belief retained until its owner ends it, what cites other sources as well stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from core import config
from core.evidence.sources import source_file
from core.identity import digest_json
from core.operations import preview as operations
from core.operations.envelope import HANDLERS, Plan, Quiet, bound_source
from core.operations.preview import Exact
from core.ports import Desk, Reader
from core.wording import some, verb
from schemas.common import Classification
from schemas.errors import NotFound
from schemas.operations import Effect, Envelope
from schemas.storage import Citing, StoredFile

ACTION = "revoke"
CONSUMER = "evidence"
_PAGE = 500
_TOLD = 100
"""Dependents told one by one; the rest is counted, and bound all the same."""


def preview(desk: Desk, source: str, *, reason: str = "", text: bool = False) -> Exact:
    """The exact preview of revoking a source file, named by id or path; stored by id.

    A source that is revoked already answers the operation that did it.
    Raises NotFound `id.not-found`.
    """
    desk = config.current(desk)
    file = source_file(desk, source)
    with desk.store.read() as view:
        done = [o for o in view.operations.open_of(file.id) if o.envelope.action == ACTION]
    if done:
        return operations.look(desk, done[0].operation_id, text=text)
    plan = HANDLERS[ACTION, CONSUMER].plan(desk, file.id, {"reason": reason} if reason else {})
    return operations.store(desk, plan, text=text)


class Revoke(Quiet):
    """`revoke` for evidence: no file is written, the receipt alone withdraws the source."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """The operations lock is enough: a promotion takes it as well."""
        return nullcontext()

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """What depends on the source as things stand. Raises NotFound `id.not-found`."""
        with desk.store.read() as view:
            file = view.evidence.file_by_id(subject)
            if file is None:
                raise NotFound("id.not-found", f"There is no source {subject}.")
            dependents = list(_dependents(view, file))
        return _plan(desk, file, dependents, request)


HANDLERS[ACTION, CONSUMER] = Revoke()


def _dependents(view: Reader, file: StoredFile) -> Iterator[tuple[Effect, str]]:
    """Each live version that cites the source with its disposition, and what it is named by."""
    after = (-1, -1)
    while found := view.candidates.live(after, _PAGE):
        after = found[-1].place
        files = view.evidence.files_of([e for c in found for e in c.events])
        for cited in found:
            own = {files.get(e, "") for e in cited.events}
            if file.id in own:
                others = sum(not view.evidence.revoked(f) for f in own - {file.id, ""})
                yield _disposition(view, cited, others), f"{cited.id}@{cited.version}"


def _disposition(view: Reader, cited: Citing, others: int) -> Effect:
    name = f"{cited.id}@{cited.version}"
    if cited.state == "promoted":
        belief = view.promotion.belief_of(cited.id, cited.version)
        where = ", ".join(at.consumer for at in belief.consumers) if belief else "memory"
        name = belief.id if belief else name
        why = "cites other sources as well" if others else "until it is ended itself"
        return Effect(code="retain", text=f"{name} stays in {where}, {why}: “{cited.statement}”")
    if others:
        text = f"{name} {cited.state} stays, it cites other sources as well: “{cited.statement}”"
        return Effect(code="retain", text=text)
    text = f"{name} {cited.state} can't be promoted any more: “{cited.statement}”"
    return Effect(code="withhold", text=text)


def _plan(
    desk: Desk,
    file: StoredFile,
    dependents: Sequence[tuple[Effect, str]],
    request: dict[str, str],
) -> Plan:
    bound = digest_json([[name, effect.code] for effect, name in dependents])
    document = Envelope(
        action=ACTION,
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        subject=file.id,
        subject_digest=bound,
        consumer=CONSUMER,
        request=request,
        targets=(),
        sources=(bound_source(file.id, file.digest, Classification.INTERNAL),),
        policy_digest=desk.policy.digest,
    )
    stay = verb(file.events, "stays", "stay")
    first = (
        f"{file.path}: {some(file.events, 'event')} {stay} readable, nothing new may rest on them"
    )
    told = [Effect(code="revoke", text=first)]
    told += [effect for effect, _ in dependents[:_TOLD]]
    if len(dependents) > _TOLD:
        rest = dependents[_TOLD:]
        held = sum(effect.code == "withhold" for effect, _ in rest)
        text = f"{len(rest):,} more: {held:,} withheld, {len(rest) - held:,} retained"
        told.append(Effect(code="retain", text=text))
    return Plan(
        envelope=document,
        targets=(),
        classification=Classification.INTERNAL,
        affects=tuple(told),
        checks=(Effect(code="source", text="its bytes stay in the store, `verify` covers them"),),
        reason=request.get("reason", ""),
    )
