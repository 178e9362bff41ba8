"""The workspace, its configuration and store, paths, ids, verification."""

from __future__ import annotations

from schemas.reasons.rows import Exit, table

ROWS = table(
    # workspace, configuration, store
    (
        "workspace.not-found",
        Exit.UNUSABLE,
        "No folder here or above holds a .memdesk/.",
        "Run `memdesk init` in the project's folder, or name it with --workspace.",
    ),
    (
        "workspace.nested",
        Exit.REFUSED,
        "The folder lies inside a workspace; a second one would hide the first from commands run here.",
        "Work in the one above, or name this folder on purpose: `memdesk --workspace . init`.",
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
        "signature.key",
        Exit.REFUSED,
        "The files could not be signed with this key; they stand unsigned.",
        "Name an SSH private key you can unlock, or a public key whose agent holds it.",
    ),
    (
        "signature.tool",
        Exit.UNUSABLE,
        "Signatures need OpenSSH's ssh-keygen, 8.2 or newer.",
        "Install OpenSSH, or leave --sign and --signers out.",
    ),
    (
        "store.full",
        Exit.UNUSABLE,
        "The disk is full; what was being written has been undone.",
        "Free some space and do it again.",
    ),
    (
        "store.read-only",
        Exit.UNUSABLE,
        "The store can only be read here: its file or its folder can't be written to.",
        "Make it writable, or work on a copy of the workspace; nothing is wrong with the store.",
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
        "path.link",
        Exit.REFUSED,
        "The path is a symbolic link; evidence is read from real files and folders only.",
        "Name the file or folder that the link points to.",
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
        "List ids with `memdesk candidates list`, `evidence list`, `promotion list` or `promotion beliefs`.",
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
        "Run memdesk promotion retry, or open a desk: it is finished or undone exactly once.",
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
