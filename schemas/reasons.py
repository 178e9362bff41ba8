"""The one registry of reason codes: code, meaning, remedy, exit status (spec 0.4).

Codes are stable API: panes, `--json` errors and `memdesk explain CODE` all read this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """Exit status of the command line (contract)."""

    DONE = 0
    FAULTS = 1
    USAGE = 2
    REFUSED = 3
    NOT_FOUND = 4
    STALE = 5
    UNUSABLE = 6
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code with what it means and what to do about it."""

    code: str
    meaning: str
    remedy: str
    exit: Exit


def _table(*rows: tuple[str, Exit, str, str]) -> dict[str, Reason]:
    return {code: Reason(code, meaning, remedy, exit_) for code, exit_, meaning, remedy in rows}


REASONS: dict[str, Reason] = _table(
    # workspace, configuration, store
    (
        "workspace.not-found",
        Exit.UNUSABLE,
        "No folder here or above holds a .memdesk/.",
        "Run `memdesk init` in the project's folder, or name it with --workspace.",
    ),
    (
        "workspace.unusable",
        Exit.UNUSABLE,
        "The workspace folder can't be read or written.",
        "Check that the folder exists, that you own it and may write there.",
    ),
    (
        "workspace.tracked",
        Exit.UNUSABLE,
        "Git tracks files under .memdesk/, so anyone who pushes could plant a store.",
        "Run `git rm -r --cached .memdesk` and commit; memdesk keeps it ignored by itself.",
    ),
    (
        "workspace.foreign-owner",
        Exit.UNUSABLE,
        ".memdesk/ belongs to another user of this machine.",
        "Use a workspace of your own, or have its owner run memdesk.",
    ),
    (
        "workspace.damaged",
        Exit.UNUSABLE,
        "A file of .memdesk/ is missing or can't be understood.",
        "Restore .memdesk/ from a backup; promoted memory under .aiwg/ is not affected.",
    ),
    (
        "workspace.foreign-store",
        Exit.UNUSABLE,
        "The store was made for another workspace than the one opened.",
        "Open it in its own folder. A copied workspace needs its own `memdesk init`.",
    ),
    (
        "store.newer",
        Exit.UNUSABLE,
        "The store was written by a newer memdesk.",
        "Upgrade memdesk; it never guesses at a newer schema.",
    ),
    (
        "store.unusable",
        Exit.UNUSABLE,
        "The store can't be opened, read or written.",
        "Check the disk, the file's permissions and the store's name; else restore a backup.",
    ),
    (
        "store.full",
        Exit.UNUSABLE,
        "The disk is full; what was being written has been undone.",
        "Free some space and do it again.",
    ),
    (
        "store.busy",
        Exit.UNUSABLE,
        "Another process held the store for longer than the configured wait.",
        "Try again; if it stays, look for a stopped memdesk process.",
    ),
    (
        "config.invalid",
        Exit.UNUSABLE,
        "config.toml holds a key or value that memdesk does not accept.",
        "Mend the named key; an invalid file is never replaced by defaults.",
    ),
    (
        "schema.newer",
        Exit.UNUSABLE,
        "A document carries a newer schema_version than this memdesk knows.",
        "Upgrade memdesk.",
    ),
    # paths
    (
        "path.outside-workspace",
        Exit.REFUSED,
        "The path leaves the workspace, by `..`, an absolute path or a link.",
        "Name a path inside the workspace that is reached without links.",
    ),
    (
        "path.not-found",
        Exit.NOT_FOUND,
        "There is nothing at that path.",
        "Check the spelling; paths are taken from the current folder.",
    ),
    (
        "path.not-regular",
        Exit.REFUSED,
        "The path is no regular file (a folder, FIFO, socket or device).",
        "Name a regular file, or a folder where a folder is accepted.",
    ),
    (
        "path.unreadable",
        Exit.REFUSED,
        "The file can't be read.",
        "Check its permissions.",
    ),
    # evidence
    (
        "evidence.binary",
        Exit.REFUSED,
        "The file holds binary data, not text or records.",
        "Import text, Markdown or session files; keep binaries as artifacts.",
    ),
    (
        "evidence.encoding",
        Exit.REFUSED,
        "The file is UTF-16 or UTF-32; spans could not be byte offsets into it.",
        "Convert it to UTF-8 and import the copy.",
    ),
    (
        "evidence.unknown-format",
        Exit.REFUSED,
        "The records look like no session format memdesk reads.",
        "Name a format with --format, or import it as `text`.",
    ),
    (
        "evidence.database",
        Exit.REFUSED,
        "The database is damaged, of another layout, or never stands still.",
        "Close the agent that writes it, or check it with its own tools, then import again.",
    ),
    (
        "evidence.reader-failed",
        Exit.REFUSED,
        "An installed reader failed on the file; what it had read before stays.",
        "Mend or remove that reader, or name another format with --format.",
    ),
    # ids
    (
        "id.malformed",
        Exit.USAGE,
        "That is neither an id, a locator nor a prefix of one.",
        "Ids look like cand_7f3a91…, locators like ev_…#b10-42 or session:ID#L12.",
    ),
    (
        "id.not-found",
        Exit.NOT_FOUND,
        "Nothing in this workspace has that id.",
        "List ids with `memdesk candidates list`, `evidence list` or `promotion list`.",
    ),
    (
        "id.ambiguous",
        Exit.NOT_FOUND,
        "More than one id begins with those digits.",
        "Give a few more digits.",
    ),
    (
        "id.version-needed",
        Exit.REFUSED,
        "The candidate has several versions and a decision is on exactly one.",
        "Name it as ID@N; `memdesk candidates show ID` lists the versions.",
    ),
    (
        "span.outside-text",
        Exit.REFUSED,
        "The span does not lie inside the event's text, or cuts a character.",
        "Use byte offsets of the stored text, as `evidence show --json` gives it.",
    ),
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
    # hazards
    (
        "hazard.secret",
        Exit.REFUSED,
        "The statement held a credential; its value is masked and stays only in the evidence.",
        "Reject it, or edit it into a statement that needs no secret.",
    ),
    (
        "hazard.instruction",
        Exit.REFUSED,
        "Instruction-like text that does not come from the owner.",
        "Reject it, or edit it into a plain fact you vouch for.",
    ),
    (
        "hazard.unsafe-characters",
        Exit.REFUSED,
        "Control, bidirectional, invisible or look-alike characters: it may read otherwise than it is.",
        "Edit the statement; the marks show where the characters are.",
    ),
    (
        "hazard.outside-locator",
        Exit.REFUSED,
        "The statement names a path outside the workspace or a URL with credentials.",
        "Edit it to a path inside the workspace or a plain URL.",
    ),
    (
        "hazard.personal-data",
        Exit.REFUSED,
        "The statement looks like it holds personal data (mail address, phone, card or account number).",
        "Edit it out, or accept with --acknowledge hazard.personal-data.",
    ),
    (
        "hazard.too-long",
        Exit.REFUSED,
        "The statement is longer than a memory line should be (500 bytes).",
        "Shorten it, or accept with --acknowledge hazard.too-long.",
    ),
    (
        "conflict.same-key",
        Exit.REFUSED,
        "Another statement has the same key and scope and says something else.",
        "Decide which one holds; ranking never resolves a conflict.",
    ),
    (
        "duplicate.same-claim",
        Exit.REFUSED,
        "The same claim stands already.",
        "Reject it, or accept it to add its source.",
    ),
    (
        "duplicate.near",
        Exit.REFUSED,
        "Another statement says nearly the same: the same numbers and names in nearly the same words.",
        "Keep the better one and reject the other, or accept both if they differ in substance.",
    ),
    # promotion and operations
    (
        "promotion.classification",
        Exit.REFUSED,
        "A restricted or secret statement is never promoted to a consumer.",
        "Edit it into a version that may travel.",
    ),
    (
        "consumer.unknown",
        Exit.USAGE,
        "There is no consumer of that name here.",
        "Use line-memory or wiki.",
    ),
    (
        "consumer.target",
        Exit.USAGE,
        "This consumer writes only its own files.",
        "Leave --target out; `promotion preview` lists the files.",
    ),
    (
        "preview.stale",
        Exit.STALE,
        "Something the preview is bound to has changed; nothing was written.",
        "Preview again and read what moved.",
    ),
    (
        "operation.elsewhere",
        Exit.REFUSED,
        "The operation belongs to another checkout of this workspace.",
        "Confirm it there, or preview it again here.",
    ),
    (
        "operation.diverged",
        Exit.STALE,
        "The destination held neither the bytes before nor after; both versions are kept.",
        "Look at both with `memdesk promotion list`, then preview again.",
    ),
    (
        "operation.cancelled",
        Exit.STALE,
        "The operation was undone before anything was written.",
        "Preview again.",
    ),
    (
        "operation.busy",
        Exit.STALE,
        "Another memdesk process is applying an operation.",
        "Try again in a moment.",
    ),
    (
        "destination.link",
        Exit.REFUSED,
        "A part of the destination's path is a symbolic link.",
        "Replace the link by a real folder or file; memdesk never writes through links.",
    ),
    (
        "destination.unwritable",
        Exit.UNUSABLE,
        "The destination can't be written; it is as it was.",
        "Check permissions, free space and that the file system is not read-only.",
    ),
    (
        "destination.interrupted",
        Exit.UNUSABLE,
        "The disk failed after the destination's bytes were exchanged; how it ended is not known yet.",
        "Mend the disk and run `memdesk promotion retry`: it is finished exactly once.",
    ),
    (
        "destination.exchange-unsupported",
        Exit.UNUSABLE,
        "This file system can't exchange two files atomically.",
        "Move the workspace to a local file system; memdesk won't write without that guarantee.",
    ),
    (
        "effect.leaves-behind",
        Exit.DONE,
        "A wiki line still says what a conflicting statement says.",
        "Mend the page by hand, or promote the new statement to the wiki as well.",
    ),
    # line memory
    (
        "line-memory.full",
        Exit.REFUSED,
        "The line limit is reached; the oldest line would be pushed out.",
        "Archive a line first, or raise maxLines in line-memory.config.json.",
    ),
    (
        "line-memory.metadata-broken",
        Exit.REFUSED,
        "line-memory.meta.json is no valid sidecar; rewriting it would lose every handle.",
        "Mend or restore the file; memdesk never rebuilds it silently.",
    ),
    (
        "line-memory.not-utf8",
        Exit.REFUSED,
        "line-memory.txt is not UTF-8.",
        "Convert the file to UTF-8.",
    ),
    (
        "line-memory.config-broken",
        Exit.REFUSED,
        "line-memory.config.json is not understood, or names a path outside the workspace.",
        "Mend the file or remove it.",
    ),
    (
        "line-memory.journal-pending",
        Exit.REFUSED,
        "An unfinished AIWG line-memory write is waiting in transactions/.",
        "Let AIWG finish it (`aiwg line-memory list`), then preview again.",
    ),
    (
        "line-memory.locked",
        Exit.STALE,
        "Another program holds the line-memory lock.",
        "Wait for it to finish, then confirm again.",
    ),
    # verification
    (
        "ledger.broken",
        Exit.FAULTS,
        "The ledger's hash chain does not fit: an entry was changed, removed or reordered.",
        "Compare with a backup or a receipt's ledger head; treat the store as altered.",
    ),
    (
        "artifact.altered",
        Exit.UNUSABLE,
        "Bytes of an artifact are not those that were added, or are gone.",
        "Add the file again if you still have it; `memdesk verify` names every one.",
    ),
    (
        "artifact.range",
        Exit.REFUSED,
        "The range lies outside the artifact, or is not A:B.",
        "Lines are counted from 1, both ends given; bytes from 0, the end left out.",
    ),
    (
        "evidence.altered",
        Exit.FAULTS,
        "Stored evidence does not match what the ledger committed to.",
        "Restore the store from a backup and import the file again.",
    ),
    (
        "receipt.drift",
        Exit.DONE,
        "A promoted file was changed by hand after its receipt.",
        "Nothing to mend: hand edits are allowed and never overwritten.",
    ),
    (
        "operation.unfinished",
        Exit.FAULTS,
        "An operation was interrupted between its first and last step.",
        "Confirm it again; it is finished or undone exactly once.",
    ),
    (
        "usage.invalid",
        Exit.USAGE,
        "An option or argument has a value that is not accepted.",
        "See `memdesk COMMAND --help`.",
    ),
    (
        "reason.unknown",
        Exit.NOT_FOUND,
        "There is no reason code of that name.",
        "`memdesk explain` without a code lists them all.",
    ),
    (
        "editor.failed",
        Exit.REFUSED,
        "The editor could not be started or ended with an error.",
        "Set $EDITOR to a working editor.",
    ),
    (
        "internal.fault",
        Exit.UNUSABLE,
        "memdesk met a fault of its own; nothing half-done was kept.",
        "Run the command again with --debug and report what it shows.",
    ),
)


def reason(code: str) -> Reason:
    """The registered reason for `code`; KeyError when the registry does not know it."""
    return REASONS[code]
