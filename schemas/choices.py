"""Words a command line offers as choices, apart from the contracts: `--help` must not load these."""

from __future__ import annotations

from enum import StrEnum


class CandidateKind(StrEnum):
    """What a candidate claims to be (spec 4.2)."""

    PROJECT_FACT = "project-fact"
    PREFERENCE = "preference"
    GOAL = "goal"
    PROJECT = "project"
    PERSON = "person"
    DECISION = "decision"
    OPERATING_RULE = "operating-rule"
    PROCEDURE = "procedure"


class CandidateState(StrEnum):
    """Where one exact version stands (contract: candidate states)."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    PROMOTED = "promoted"
    SUPERSEDED = "superseded"
    LAPSED = "lapsed"


OPEN_STATES = (CandidateState.PENDING, CandidateState.DEFERRED)
"""Where a decision may still be recorded."""


class Verdict(StrEnum):
    """What a reviewer may say of one exact version."""

    ACCEPT = "accept"
    REJECT = "reject"
    DEFER = "defer"
