"""Import is idempotent, incremental, and its counts add up (spec 1.3)."""

from __future__ import annotations

from pathlib import Path

from core.evidence.import_ import import_paths
from core.ports import Desk
from tests.conftest import record, write


def test_the_same_file_again_adds_nothing(desk: Desk, tmp_path: Path) -> None:
    """A second import of the same bytes finds every event known."""
    path = write(tmp_path / "s.jsonl", record("one", "u1"), record("two", "u2", "u1"))
    first = import_paths(desk, [path])
    again = import_paths(desk, [path])
    assert (first.new, first.duplicate, first.events) == (2, 0, 2)
    assert (again.new, again.duplicate, again.events) == (0, 2, 2)
    assert again.read == again.new + again.duplicate + again.waiting
