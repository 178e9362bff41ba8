"""The outbox with thousands of writes: paged by key, the end is there, words are searched in all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from core.candidates.review import CandidateRef
from core.ports import Desk
from core.promotion import preview
from tests.tui.conftest import opened
from tests.tui.test_promoting import accept

MANY = 3_000


def writes(root: Path, count: int) -> None:
    """As many operations, newer and newer, copied with plain SQL from the one there is."""
    with closing(sqlite3.connect(root / ".memdesk/memdesk.db")) as db:
        names = [r[1] for r in db.execute("PRAGMA table_info(operation)")]
        other = {
            "id": "printf('op_%032x', n.value)",
            "created": "t.created + n.value",
            "consumer": "CASE n.value WHEN 7 THEN 'wiki' ELSE t.consumer END",
        }
        cells = ", ".join(other.get(c, f"t.{c}") for c in names)
        db.execute(
            f"INSERT INTO operation ({', '.join(names)}) SELECT {cells} FROM operation t, "
            f"(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n "
            f"WHERE value < {count}) SELECT value FROM n) n"
        )
        db.commit()


async def test_the_outbox_ends_where_it_ends(laid: Desk, workspace: Path) -> None:
    """More than a thousand: the last row is the oldest write, few pages are held, a filter finds one."""
    row = accept(laid, 0)
    oldest = preview.build(laid, CandidateRef(row.id, row.version), "line-memory")
    writes(workspace, MANY)
    async with opened(workspace) as desk:
        await desk.press("2", "right_square_bracket")
        lister = desk.promotion.list
        assert lister.total == MANY + 1
        await desk.sees(f"op_{MANY:032x}"[:9])
        await desk.press("G")
        await desk.until(lambda: desk.promotion.item is not None)
        item = desk.promotion.item
        assert item is not None and item.write is not None
        assert item.write.operation_id == oldest.operation_id
        await desk.press("pageup", "g")
        item = desk.promotion.item
        assert item is not None and item.write is not None
        assert item.write.operation_id == f"op_{MANY:032x}"
        assert len(list(lister._pages.keys())) <= 32
        await desk.press("slash", *"wiki", "enter")
        item = desk.promotion.item
        assert lister.total == 1 and item is not None and item.write is not None
        assert (item.write.operation_id, item.write.consumer) == (f"op_{7:032x}", "wiki")
