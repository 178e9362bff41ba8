"""The candidate's state machine against a model, on random versions and verdicts (spec 4.4)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.candidates import review
from core.candidates.review import CandidateRef
from core.verify import verify
from schemas.candidates import CandidateState, Verdict
from schemas.errors import MemdeskError
from tests.conftest import make_desk
from tests.making import pending

OPEN = {"pending", "deferred"}
AFTER = {"accept": "accepted", "reject": "rejected", "defer": "deferred"}


class Review(RuleBasedStateMachine):
    """One candidate, its versions' states in a list, and everything a reviewer can ask."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.desk = make_desk(self.root / "w")
        self.states: list[str] = []
        self.texts: list[str] = []
        self.id = ""

    @initialize()
    def propose(self) -> None:
        """A first version."""
        version = pending(self.desk, "The API listens on port 8443.")
        self.id = version.id
        self.states, self.texts = ["pending"], [version.statement]

    def expected(self, number: int, verdict: str) -> str | None:
        """The code a decision must be refused with, or None."""
        if number != len(self.states):
            return "candidate.stale-version"
        state = self.states[number - 1]
        if state not in OPEN or (state == "deferred" and verdict == "defer"):
            return "candidate.decided"
        return None

    def attempt(self, call: object) -> str | None:
        """Run and answer the refusal's code."""
        try:
            call()  # type: ignore[operator]
        except MemdeskError as err:
            return err.code
        return None

    @rule(data=st.data(), verdict=st.sampled_from(list(Verdict)))
    def decide(self, data: st.DataObject, verdict: Verdict) -> None:
        """Any verdict on any version: allowed exactly on the newest open one."""
        number = data.draw(st.integers(1, len(self.states)))
        wanted = self.expected(number, verdict.value)
        ref = CandidateRef(self.id, number)
        got = self.attempt(lambda: review.decide(self.desk, ref, verdict, reason="r"))
        assert got == wanted
        if wanted is None:
            self.states[number - 1] = AFTER[verdict.value]

    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        """A new version of the same words; the decided one stays as it is."""
        number = data.draw(st.integers(1, len(self.states)))
        stale = number != len(self.states)
        undecided = self.states[number - 1] == "pending"
        wanted = (
            "candidate.stale-version" if stale else "candidate.not-decided" if undecided else None
        )
        got = self.attempt(lambda: review.reopen(self.desk, CandidateRef(self.id, number)))
        assert got == wanted
        if wanted is None:
            self.append(self.texts[-1])

    @rule(data=st.data(), text=st.sampled_from(["Port 1 is used now.", "Port 2 is used now."]))
    def edit(self, data: st.DataObject, text: str) -> None:
        """New words make a new pending version; equal words are refused."""
        number = data.draw(st.integers(1, len(self.states)))
        stale = number != len(self.states)
        same = self.texts[number - 1] == text
        wanted = "candidate.stale-version" if stale else "candidate.unchanged" if same else None
        got = self.attempt(lambda: review.edit(self.desk, CandidateRef(self.id, number), text))
        assert got == wanted
        if wanted is None:
            self.append(text)

    def append(self, text: str) -> None:
        """A version more; an open one before it is superseded."""
        if self.states[-1] in OPEN:
            self.states[-1] = "superseded"
        self.states.append("pending")
        self.texts.append(text)

    @precondition(lambda self: self.id)
    @invariant()
    def stored_is_the_model(self) -> None:
        """Every version has the model's state and words, and its decision if it has been decided."""
        with self.desk.store.read() as view:
            versions = view.candidates.versions(self.id)
        assert [v.state.value for v in versions] == self.states
        assert [v.statement for v in versions] == self.texts
        for v in versions:
            if v.state in (CandidateState.ACCEPTED, CandidateState.REJECTED):
                assert v.decision is not None
                assert AFTER[v.decision.verdict.value] == v.state.value
            if v.state is CandidateState.PENDING:
                assert v.decision is None

    def teardown(self) -> None:
        """The ledger holds every step that was taken."""
        if self.id:
            report = verify(self.desk)
            assert report.ok, report.faults
        self.desk.store.close()
        shutil.rmtree(self.root)


Review.TestCase.settings = settings(
    max_examples=10,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestReview = pytest.mark.usefixtures("clean_environment")(Review.TestCase)
