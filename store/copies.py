"""Where copies of what people said can stand: every text-bearing column declares its role (8.1).

A column that is not declared here fails a test, so a new copy can't slip past erasure.
"""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What erasure does with a column."""

    CONTENT = "content"
    """Holds words or a plain digest of them: the row goes, or the column is emptied."""
    COMMITMENT = "commitment"
    """Names content only by a salted commitment or a keyed id: stays."""
    PLACE = "place"
    """Ids, paths, states, codes, times: no words."""
    PERSON = "person"
    """Names who acted: reviewer, actor."""


COPIES: dict[tuple[str, str], Role] = {
    (table, column): role
    for table, roles in {
        "workspace": {Role.PLACE: "id", Role.COMMITMENT: "secret"},
        "label": {Role.PLACE: "text"},
        "ledger": {Role.PLACE: "kind subject", Role.COMMITMENT: "root previous digest"},
        "ledger_head": {Role.COMMITMENT: "digest"},
        "source_file": {Role.PLACE: "id path format notes", Role.CONTENT: "head digest tail"},
        "source_path": {Role.PLACE: "path"},
        "event": {
            Role.PLACE: "kind author native_id parent notes",
            Role.COMMITMENT: "id commitment",
        },
        "event_body": {Role.CONTENT: "digest text lead raw", Role.COMMITMENT: "salt"},
        "artifact": {Role.CONTENT: "digest"},
        "artifact_chunk": {Role.CONTENT: "digest"},
        "artifact_revision": {Role.COMMITMENT: "id", Role.PLACE: "path"},
        "artifact_extract": {Role.PLACE: "lines", Role.CONTENT: "digest"},
        "artifact_bytes": {Role.CONTENT: "digest data"},
        "candidate": {
            Role.PLACE: "state kind scope author session method hazards attention",
            Role.CONTENT: "key statement",
            Role.COMMITMENT: "id claim",
        },
        "candidate_version": {Role.PLACE: "state", Role.CONTENT: "document digest"},
        "candidate_source": {Role.COMMITMENT: "event"},
        "decision": {Role.PLACE: "batch", Role.PERSON: "document"},
        "claim": {
            Role.PLACE: "ref scope layer",
            Role.CONTENT: "key statement",
            Role.COMMITMENT: "claim",
        },
        "claim_band": {Role.COMMITMENT: "claim"},
        "likeness": {Role.PLACE: "kind", Role.COMMITMENT: "claim other"},
        "operation": {
            Role.PLACE: "id action consumer subject state checkout error",
            Role.CONTENT: "envelope",
            Role.PERSON: "actor",
        },
        "outbox": {
            Role.PLACE: "operation path",
            Role.CONTENT: "before_digest after_digest after",
        },
        "operation_about": {Role.PLACE: "subject operation"},
        "divergence": {Role.PLACE: "operation path", Role.CONTENT: "found wanted"},
        "receipt": {Role.PLACE: "id operation consumer", Role.CONTENT: "document"},
        "belief_change": {Role.PLACE: "belief consumer state receipt replacement"},
        "fence": {Role.PLACE: "event cause subject cut"},
        "belief": {Role.PLACE: "id candidate", Role.CONTENT: "statement"},
        "belief_consumer": {Role.PLACE: "belief consumer state receipt"},
        "compaction_mark": {Role.PLACE: "session item boundary", Role.PERSON: "document"},
    }.items()
    for role, columns in roles.items()
    for column in columns.split()
}
