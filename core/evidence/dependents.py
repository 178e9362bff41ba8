"""From an event to everything that depends on it (spec 1.7, 2.2): candidates, beliefs, writes."""

from __future__ import annotations

from collections.abc import Iterator

from core.ports import Desk, Reader
from schemas.candidates import CandidateVersion
from schemas.evidence import Dependent, Dependents

MAX = 100
"""Citing versions that are followed, and writes of each; of more it is only said that they are."""


def of(desk: Desk, event: str) -> Dependents:
    """What cites an event, and what was made of that; the newest candidate first."""
    found: list[Dependent] = []
    with desk.store.read() as view:
        cited = view.candidates.citing(event, MAX + 1)
        for id_, number in cited[:MAX]:
            version = view.candidates.version(id_, number)
            if version is not None:
                found += _made_of(view, version)
    return Dependents(items=tuple(found), more=len(cited) > MAX)


def _made_of(view: Reader, v: CandidateVersion) -> Iterator[Dependent]:
    def one(kind: str, id_: str, state: str, text: str, time: int) -> Dependent:
        return Dependent(
            kind=kind, id=id_, candidate=v.id, version=v.version, state=state, text=text, time=time
        )

    yield one("candidate", v.id, v.state.value, v.statement, v.created)
    subjects = [f"{v.id}@{v.version}"]
    if belief := view.promotion.belief_of(v.id, v.version):
        subjects.append(belief.id)
        for at in belief.consumers:
            yield one("belief", belief.id, at.state.value, at.consumer, belief.recorded)
    for subject in subjects:
        for o in view.operations.newest_of(subject, MAX):
            yield one("operation", o.operation_id, o.state.value, o.envelope.consumer, o.created)
            if receipt := view.operations.receipt(o.operation_id):
                state = receipt.state.value
                yield one("receipt", receipt.receipt_id, state, receipt.consumer, receipt.time)
