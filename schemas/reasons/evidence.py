"""Evidence and what screening finds in it."""

from __future__ import annotations

from schemas.reasons.rows import Exit, table

ROWS = table(
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
        "evidence.too-deep",
        Exit.REFUSED,
        "What would tell the format is nested deeper than it can be read (about 1,000 levels).",
        "Name the format with --format: such a record is then stored whole as `unparsed`.",
    ),
    (
        "evidence.not-read",
        Exit.REFUSED,
        "Some files were not read; what could be read was imported.",
        "The report names each with its reason: mend or leave them out, then import again.",
    ),
    (
        "evidence.database",
        Exit.REFUSED,
        "The database is damaged, of another layout, or never stands still.",
        "Close the agent that writes it, or check it with its own tools, then import again.",
    ),
    (
        "evidence.compressed",
        Exit.REFUSED,
        "The compressed file is damaged or cut; nothing of it was read.",
        "Wait until its writer has finished, or test it with `zstd -t`, then import again.",
    ),
    (
        "evidence.unpacked-size",
        Exit.REFUSED,
        "The compressed file holds more than may be unpacked, or more than records ever do.",
        "If it is what it says, raise evidence.unpacked_bytes, or unpack it and import that.",
    ),
    (
        "evidence.reader-failed",
        Exit.REFUSED,
        "An installed reader failed on the file; what it had read before stays.",
        "Mend or remove that reader, or name another format with --format.",
    ),
    (
        "rules.too-long",
        Exit.REFUSED,
        "The rule file is longer than 256 KiB, so it was not read.",
        "Split it; what is that long is no text for agents to read at every start.",
    ),
    (
        "rules.too-many",
        Exit.REFUSED,
        "The workspace holds more folders or rule files than are looked at.",
        "Rule files near the root were read; start memdesk in the project's own folder.",
    ),
    (
        "evidence.revoked",
        Exit.REFUSED,
        "The source was revoked: it can be read, and nothing new may rest on it.",
        "Cite a source that stands.",
    ),
    (
        "evidence.self",
        Exit.REFUSED,
        "The event is from a run of memdesk's own, in `.memdesk/`: no memory rests on it.",
        "Cite what was said to it: the event its words were taken from.",
    ),
    # intake
    (
        "intake.protected-name",
        Exit.REFUSED,
        "The file's name says that it holds credentials; such files are never copied.",
        "Take in a file without credentials; if it holds none, copy it under a plain name first.",
    ),
    (
        "intake.name",
        Exit.REFUSED,
        "The file's name can't be written into a receipt, or is too long for its copy.",
        "Copy the file under a shorter, valid UTF-8 name and take that in.",
    ),
    (
        "intake.secret",
        Exit.REFUSED,
        "The file holds what looks like a credential; the preview names the lines.",
        "Take in a copy of the file without it.",
    ),
    (
        "intake.source-changing",
        Exit.STALE,
        "The file is being written while it is read.",
        "Wait until its writer has finished, then preview again.",
    ),
    (
        "intake.raw-conflict",
        Exit.REFUSED,
        "Under the copy's name stands a file with other bytes than the name says.",
        "Look at that file and move it away; then preview again.",
    ),
    (
        "intake.receipt-conflict",
        Exit.REFUSED,
        "Under the receipt's name stands something that is no receipt of this intake.",
        "Look at that file and move it away; then preview again.",
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
        "conflict.rule",
        Exit.REFUSED,
        "A rule file of the repository says something else under the same key.",
        "Policy stands above memory: change the rule file yourself, or reject the candidate.",
    ),
    (
        "duplicate.rule",
        Exit.REFUSED,
        "A rule file of the repository says the same; agents are told it already.",
        "Nothing to do: it is out of the way, and comes back if the rule file stops saying it.",
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
)
