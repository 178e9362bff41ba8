"""Promotion, operations and their destinations."""

from __future__ import annotations

from schemas.reasons.rows import Exit, table

ROWS = table(
    # promotion and operations
    (
        "promotion.classification",
        Exit.REFUSED,
        "A restricted or secret statement is never promoted to a consumer.",
        "Edit it into a version that may travel.",
    ),
    (
        "promotion.too-many",
        Exit.USAGE,
        "One preview is for what a person can read at once.",
        "Preview fewer versions at a time.",
    ),
    (
        "promotion.none-free",
        Exit.REFUSED,
        "Nothing that waits here can be promoted.",
        "Preview one of them: it says what stands in its way.",
    ),
    (
        "belief.consumer",
        Exit.USAGE,
        "A belief is ended at one consumer at a time, where it stands.",
        "Name it with --at; `promotion beliefs` says where it stands.",
    ),
    (
        "belief.ended",
        Exit.STALE,
        "The belief does not stand there any more.",
        "Look at its history with `memdesk promotion beliefs --json`.",
    ),
    (
        "belief.superseded",
        Exit.REFUSED,
        "Another statement took its place; it answers questions as of before that.",
        "`promotion beliefs` names its replacement.",
    ),
    (
        "belief.revoked",
        Exit.REFUSED,
        "A reviewer revoked the statement; it answers questions as of before that.",
        "Reopen its candidate to review it anew.",
    ),
    (
        "belief.archived",
        Exit.REFUSED,
        "A reviewer archived the statement; it answers questions as of before that.",
        "Reopen its candidate to review it anew.",
    ),
    (
        "belief.removed",
        Exit.REFUSED,
        "A reviewer removed the statement from its consumer.",
        "Reopen its candidate to review it anew.",
    ),
    (
        "belief.drifted",
        Exit.STALE,
        "Its owner changed the statement outside memdesk; memdesk never overwrites that.",
        "Archive or revoke it, which only marks it, or change the file by hand.",
    ),
    (
        "candidate.changed",
        Exit.REFUSED,
        "A version that had been accepted was edited or reopened; its messages are closed for good.",
        "Nothing reopens them; new words need a new message.",
    ),
    (
        "source.fenced",
        Exit.REFUSED,
        "A statement formed from this message changed later; the message is closed for good.",
        "Nothing reopens it; say it again in a new message.",
    ),
    (
        "source.status",
        Exit.USAGE,
        "Only messages that are closed for good can be listed.",
        "Leave --status out; `sources show EVENT` tells of any one message.",
    ),
    (
        "source.unknown",
        Exit.REFUSED,
        "The message was never admitted: it was imported, or nobody said it live at the desk.",
        "Only a live message of the authenticated owner is admitted.",
    ),
    (
        "effect.closes",
        Exit.REFUSED,
        "The change closes a message for good: what was formed from it is no longer what was reviewed.",
        "Leave the belief as it is, if the message must stay open.",
    ),
    (
        "effect.elsewhere",
        Exit.REFUSED,
        "The statement stands at another consumer as well and stays there.",
        "End it there by a preview of its own.",
    ),
    (
        "effect.line-leaves",
        Exit.REFUSED,
        "The line leaves the fact file; its entry stays beside it as a tombstone.",
        "Confirm it, or leave the preview.",
    ),
    (
        "effect.page-gone",
        Exit.REFUSED,
        "Its owner took the page away; there is nothing to mark.",
        "Confirm to record that the statement ended.",
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
        "operation.altered",
        Exit.UNUSABLE,
        "What the store holds of an unfinished write is not what was confirmed; none of it was written.",
        "Someone changed the store behind memdesk: run `memdesk verify`, then preview again.",
    ),
    (
        "operation.staged-lost",
        Exit.UNUSABLE,
        "The bytes held for an unfinished write are gone or altered; nothing was written.",
        "Preview again; if it repeats, check the disk under `.memdesk/staged/`.",
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
        "effect.hard-link",
        Exit.DONE,
        "The file has another name (a hard link); a write gives this name a file of its own.",
        "Link the other name again after the write if both should say the same.",
    ),
    (
        "line-memory.adopted",
        Exit.DONE,
        "Lines of line memory that no entry of its sidecar answers for get one by this write.",
        "Nothing to mend; remove a line from the file first if it should not be memory.",
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
)
