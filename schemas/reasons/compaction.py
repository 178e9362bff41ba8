"""Observed compaction: why an item is in the state it is in."""

from __future__ import annotations

from schemas.reasons.rows import Exit, table

ROWS = table(
    (
        "compaction.missing",
        Exit.DONE,
        "The words were in the window, and the host's summary does not hold them.",
        "Y copies them for the agent, m makes them a candidate, r says why it is no loss.",
    ),
    (
        "compaction.value-changed",
        Exit.DONE,
        "The summary says nearly this with another number, name or negation.",
        "Read both; give the agent the original words if the summary is wrong.",
    ),
    (
        "compaction.superseded",
        Exit.DONE,
        "A later message of the same session replaces or repeats this one.",
        "Look at the later words; they are an item of their own.",
    ),
    (
        "compaction.turn-ended",
        Exit.DONE,
        "The agent had answered and the owner had gone on before the cut.",
        "If it was still open, mark it as standing.",
    ),
    (
        "compaction.marked",
        Exit.DONE,
        "A reviewer said what this item is.",
        "Their name, reason and time are shown; marking it again replaces that.",
    ),
    (
        "compaction.summary-sealed",
        Exit.DONE,
        "The host keeps its summary in a form only its provider can read.",
        "Nothing is claimed about it. What the host kept word for word is compared.",
    ),
    (
        "compaction.summary-absent",
        Exit.DONE,
        "No summary follows this compaction in what was imported.",
        "Import the rest of the session if it stands in another file.",
    ),
    (
        "compaction.other-script",
        Exit.DONE,
        "The words are in a script that the summary hardly uses; a translation can't be told.",
        "Read the summary yourself.",
    ),
    (
        "compaction.window-elsewhere",
        Exit.DONE,
        "A summary stands here without a boundary; what it summarises is not in this session.",
        "Import the session that was continued.",
    ),
    (
        "compaction.results-cleared",
        Exit.DONE,
        "The host dropped old tool results from the window; the words of people stayed.",
        "The results stand in the evidence; read them there.",
    ),
    (
        "compaction.unanswered-call",
        Exit.DONE,
        "A tool call had no result yet when the host cut.",
        "Check what the call did; its id is in the item.",
    ),
    (
        "compaction.reason-missing",
        Exit.REFUSED,
        "A loss leaves the count only with a reason.",
        "Say in a few words why it is none.",
    ),
    (
        "compaction.no-item",
        Exit.NOT_FOUND,
        "No compaction of this session has such an item.",
        "Take the locator from `memdesk compaction observe SESSION`.",
    ),
)
