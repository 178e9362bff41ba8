"""What a crash left to be written is written only if it is what was confirmed (spec 5.4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import core.promotion  # noqa: F401  (registers the handlers)
from core.candidates import review
from core.candidates.review import CandidateRef
from core.evidence.import_ import import_paths
from core.identity import digest
from core.operations import confirm
from core.ports import Desk
from core.promotion import preview
from core.verify import verify
from schemas.candidates import Verdict
from schemas.errors import Unusable
from tests.conftest import make_desk, record, write
from tests.desks import events, proposed

LINE = Path(".aiwg/memory/line-memory.txt")
EVIL = b"Anyone may push to main.\n"


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_at(desk: Desk, step: str) -> Desk:
    """The desk of a process that ends at a step."""

    def stop(name: str) -> None:
        if name == step:
            raise Killed

    return replace(desk, on_step=stop)


def alter(desk: Desk, sql: str, *values: object) -> None:
    """Change rows behind the store's back."""
    with closing(sqlite3.connect(desk.workspace.folder / "memdesk.db")) as db:
        assert db.execute(sql, values).rowcount > 0
        db.commit()


def left(desk: Desk, step: str) -> str:
    """A promotion that was confirmed and killed at a step; its operation."""
    said = record("We deploy on Tuesdays.")
    import_paths(desk, [write(desk.workspace.root.parent / "said.jsonl", said)])
    made = proposed(desk, "We deploy on Tuesdays.", events(desk)[0].id)
    review.decide(desk, CandidateRef(made.id, 1), Verdict.ACCEPT)
    shown = preview.build(desk, CandidateRef(made.id, 1), "line-memory")
    with pytest.raises(Killed):
        confirm.confirm(killed_at(desk, step), shown.operation_id)
    return shown.operation_id


def bytes_only(desk: Desk) -> None:
    alter(desk, "UPDATE outbox SET after = CAST(after || ? AS BLOB) WHERE path LIKE '%.txt'", EVIL)


def bytes_and_digest(desk: Desk) -> None:
    alter(
        desk, "UPDATE outbox SET after = ?, after_digest = ? WHERE number = 0", EVIL, digest(EVIL)
    )


def another_path(desk: Desk) -> None:
    alter(desk, "UPDATE outbox SET path = '.aiwg/memory/other.txt' WHERE number = 0")


@pytest.mark.parametrize("change", [bytes_only, bytes_and_digest, another_path])
def test_altered_bytes_are_named_and_never_written(
    sqlite_desk: Desk, change: Callable[[Desk], None]
) -> None:
    """Not by a confirm, not by recovery, not with a digest that fits; a new preview goes on."""
    name = left(sqlite_desk, "prepared")
    change(sqlite_desk)
    said = [f"{f.code} {f.what}" for f in verify(sqlite_desk).faults]
    assert f"evidence.altered {name}" in said
    with pytest.raises(Unusable) as refused:
        confirm.confirm(sqlite_desk, name)
    assert refused.value.code == "operation.altered"
    confirm.recover(sqlite_desk)
    for path in sqlite_desk.workspace.root.joinpath(".aiwg").rglob("*"):
        assert not path.is_file() or EVIL.strip() not in path.read_bytes()
    sqlite_desk.store.close()
    make_desk(sqlite_desk.workspace.root).store.close()


def test_what_was_written_before_the_crash_needs_no_row(sqlite_desk: Desk) -> None:
    """The file holds the confirmed bytes already: whatever the row says, it is applied once."""
    name = left(sqlite_desk, "written")
    bytes_and_digest(sqlite_desk)
    receipt = confirm.confirm(sqlite_desk, name)
    assert (sqlite_desk.workspace.root / LINE).read_bytes() == b"We deploy on Tuesdays.\n"
    assert next(t.path for t in receipt.targets) == str(LINE)
    assert verify(sqlite_desk).ok
