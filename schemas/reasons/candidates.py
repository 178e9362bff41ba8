"""Candidates and decisions."""

from __future__ import annotations

from schemas.reasons.rows import Exit, table

ROWS = table(
    # candidates
    (
        "candidate.statement-empty",
        Exit.REFUSED,
        "A candidate needs a statement of one line.",
        "Write one sentence.",
    ),
    (
        "candidate.quote-missing",
        Exit.REFUSED,
        "The source named does not hold any text to quote.",
        "Name a message, or a span of one, as source.",
    ),
    (
        "candidate.unchanged",
        Exit.REFUSED,
        "The edited text equals the version it was made from.",
        "Change the text, or leave the version as it is.",
    ),
    (
        "candidate.stale-version",
        Exit.STALE,
        "A newer version of this candidate exists.",
        "Look at what changed and decide on the newest version.",
    ),
    (
        "candidate.decided",
        Exit.STALE,
        "This version has been decided already.",
        "Reopen it to get a new pending version.",
    ),
    (
        "candidate.not-decided",
        Exit.REFUSED,
        "Only a decided version can be reopened.",
        "Decide it directly; it is still open.",
    ),
    (
        "candidate.not-accepted",
        Exit.REFUSED,
        "Only an accepted, newest version can be previewed for promotion.",
        "Accept it first.",
    ),
    (
        "candidate.second-source",
        Exit.REFUSED,
        "A procedure needs two independent sources (two sessions or files).",
        "Wait for a second session to state it, or propose it with both sources.",
    ),
    (
        "candidate.in-promotion",
        Exit.REFUSED,
        "An operation of this version is being applied or has been applied.",
        "Undo is not possible any more; supersede or revoke what was promoted.",
    ),
    (
        "candidate.source-missing",
        Exit.REFUSED,
        "A source the statement cites is gone or no longer holds the quoted words.",
        "Reject it, or propose the statement again from evidence that stands.",
    ),
    (
        "candidate.source-revoked",
        Exit.REFUSED,
        "Every source the version cites was revoked.",
        "Reject it, or propose the statement again from a source that stands.",
    ),
    (
        "undo.nothing",
        Exit.REFUSED,
        "There is no decision of yours to undo.",
        "Reopen a version by name: `memdesk candidates reopen ID@N`.",
    ),
    (
        "undo.promoted",
        Exit.REFUSED,
        "Your last decision has been promoted; its line is in memory.",
        "Revoke or supersede what was promoted instead of undoing the decision.",
    ),
    (
        "defer.date",
        Exit.USAGE,
        "A deferral ends at a day or moment that is still to come.",
        "Name one: 2026-12-05, monday, tomorrow, 3d, 2 weeks, 5 dec, 2026-12-05T09:00Z.",
    ),
)
