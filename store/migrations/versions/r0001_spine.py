"""The spine: workspace, ledger, evidence, candidates, claims, operations, beliefs."""

from __future__ import annotations

from collections.abc import Sequence

from store.migrations import making

revision = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

# name -> (primary key, other columns); a `?` marks a column that may be null.
TABLES: dict[str, tuple[str, str]] = {
    "workspace": ("ws:i", "id:t secret:b created:i"),
    "label": ("ws:i label:i", "text:t"),
    "ledger": ("ws:i seq:i", "kind:t subject:t time:i count:i root:b previous:b digest:b"),
    "ledger_head": ("ws:i", "seq:i digest:b"),
    "source_file": (
        "ws:i file:i",
        "id:t path:t format:t head:t digest:t size:i lines:i events:i revision:i tail:b notes:t "
        "created:i",
    ),
    "source_path": ("ws:i path:t", "file:i"),
    "session_file": ("ws:i session:i file:i", ""),
    "event": (
        "ws:i file:i ordinal:i",
        "id:b part:i kind:t author:t session:i time:i? native_id:t? parent:t? scope:i? line:i "
        "byte_start:i byte_length:i notes:t twin:i? commitment:b",
    ),
    "event_body": ("ws:i file:i ordinal:i", "salt:b digest:b text:b lead:b? raw:b?"),
    "candidate": (
        "ws:i number:i",
        "id:t version:i state:t kind:t key:t scope:t statement:t claim:b author:t session:t "
        "method:t hazards:t attention:t place:i created:i changed:i due:i?",
    ),
    "candidate_version": ("ws:i number:i version:i", "state:t document:b digest:t created:i"),
    "decision": ("ws:i number:i version:i turn:i", "time:i batch:t? document:b"),
    "claim": ("ws:i ref:t", "claim:b key:t scope:t layer:t statement:t"),
    "claim_band": ("ws:i band:i claim:b", ""),
    "likeness": ("ws:i claim:b other:b", "kind:t"),
    "operation": (
        "ws:i id:t",
        "action:t consumer:t subject:t state:t envelope:b checkout:t actor:b as_of:i created:i "
        "error:t?",
    ),
    "outbox": ("ws:i operation:t number:i", "path:t before_digest:t? after_digest:t after:b"),
    "divergence": ("ws:i operation:t path:t", "found:b wanted:b"),
    "receipt": ("ws:i seq:i", "id:t operation:t consumer:t document:b"),
    "belief": (
        "ws:i id:t",
        "candidate:t version:i statement:t valid_from:i? valid_until:i? recorded:i",
    ),
    "belief_consumer": ("ws:i belief:t consumer:t", "state:t receipt:t"),
}
INDEXES: tuple[tuple[str, str, str, bool], ...] = (
    ("workspace", "workspace_id", "id", True),
    ("label", "label_text", "ws text", True),
    ("source_file", "source_file_id", "ws id", True),
    ("source_file", "source_file_head", "ws head", False),
    ("event", "event_id", "ws id", True),
    ("event", "event_twin", "ws twin file ordinal", False),
    ("candidate", "candidate_id", "ws id", True),
    ("candidate", "candidate_state", "ws state place", False),
    ("candidate", "candidate_place", "ws place", True),
    ("candidate", "candidate_key", "ws key scope", False),
    ("candidate", "candidate_changed", "ws changed", False),
    ("candidate", "candidate_due", "ws due", False),
    ("claim", "claim_claim", "ws claim", False),
    ("claim", "claim_key", "ws key scope", False),
    ("operation", "operation_state", "ws state created", False),
    ("operation", "operation_created", "ws created id", False),
    ("operation", "operation_subject", "ws subject", False),
    ("receipt", "receipt_operation", "ws operation consumer", True),
    ("receipt", "receipt_id", "ws id", True),
    ("decision", "decision_time", "ws time", False),
    ("decision", "decision_batch", "ws batch", False),
    ("belief", "belief_candidate", "ws candidate version", True),
)
ROWID = {"event_body", "candidate_version", "outbox", "divergence", "receipt", "operation"}
"""Tables with large rows keep SQLite's rowid; all others are clustered by their key."""


def upgrade() -> None:
    """Create every table and index of revision 0001; triggers come after the last revision."""
    making.create(TABLES, INDEXES, ROWID)
