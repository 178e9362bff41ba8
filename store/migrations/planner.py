"""Fixed statistics for SQLite's planner, so that every store has the plans we tested.

Every key begins with the workspace, and nearly every store holds one. Without statistics SQLite
takes `ws = ?` for a sharp condition and walks whole tables where an index stands ready. SQLite's
manual recommends fixed contents of `sqlite_stat1` for plans that don't change with the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_ROWS = 1_000_000
_FEW = 4
"""Rows that share a whole key which is not unique."""
_GROUPS = {
    "candidate_state": (200_000, 1),
    "operation_state": (1_000, _FEW),
    "event": (5_000, 1),
    "sqlite_autoindex_event_body_1": (5_000, 1),
    "session_file": (_FEW, 1),
    "claim_key": (_FEW, _FEW),
}
"""Rows that share the workspace and each longer part of a key, where the rule below misleads."""


def sqlite(indexes: Iterable[tuple[str, str, int, bool]]) -> Iterator[str]:
    """Statements that set the statistics; each index is `(table, name, columns, unique)`."""
    # Of the schema alone: it makes the table of statistics and reads none of the rows.
    yield "ANALYZE sqlite_schema"
    for table, name, columns, unique in indexes:
        last = 1 if unique else _FEW
        rest = _GROUPS.get(name, tuple([_FEW] * (columns - 2) + [last] * (columns > 1)))
        first = 1 if columns == 1 else _ROWS
        figures = " ".join(str(n) for n in (_ROWS, first, *rest))
        yield f"INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('{table}', '{name}', '{figures}')"
    yield "ANALYZE sqlite_schema"
