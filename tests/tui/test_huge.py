"""A source that is one line of ten megabytes: the screen shows a little of it and says how much is left."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.candidates.propose import propose
from core.evidence.import_ import import_paths
from schemas.candidates import CandidateKind
from schemas.common import Page
from tests.conftest import make_desk, record, write
from tests.tui.conftest import opened

QUOTE = "Refunds above 500 EUR need a second approver."
SIZE = 10_000_000


def said(text: str, uuid: str, parent: str | None) -> bytes:
    """A message whose letters stand in the file as they are."""
    made = json.loads(record("", uuid, parent, sessionId="7acd37a8"))
    made["message"]["content"] = text
    return json.dumps(made, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize(("letter", "size"), [("é", (80, 24)), ("x", (120, 40))])
async def test_a_line_of_ten_megabytes_in_the_detail(
    workspace: Path, letter: str, size: tuple[int, int]
) -> None:
    """Half before the quote, half behind: what the screen holds of it does not grow with the line."""
    half = letter * (SIZE // 2 // len(letter.encode()))
    made = make_desk(workspace)
    file = write(
        workspace / ".sessions/huge.jsonl",
        said("Short, before it.", "a0", None),
        said(f"{half} {QUOTE} {half}", "a1", "a0"),
        said(half, "a2", "a1"),
    )
    import_paths(made, [file])
    with made.store.read() as view:
        event = view.evidence.events(Page(limit=10))[0][1]
    start = SIZE // 2 + 1
    where = f"{event.id}#b{start}-{start + len(QUOTE)}"
    propose(made, text=QUOTE, kind=CandidateKind.PROJECT_FACT, key=None, sources=[where])
    made.store.close()
    async with opened(workspace, size) as desk:
        detail = desk.candidates.detail
        found = desk.candidates.found
        assert found is not None and sum(len(e.text) for e in found.around) < 10_000
        assert detail._laid.weight < 10_000
        await desk.press("tab", *["ctrl+d"] * 3, "g")
        text = ""
        for _ in range(6):
            text += " ".join("".join(r[-60:] for r in desk.rows()[2:-2]).split())
            assert desk.widths() == {size[0]}
            await desk.press("ctrl+d")
        left = {int(n.replace(",", "")) for n in re.findall(r"(\d[\d,]+)\s*bytes", text)}
        assert left and all(SIZE // 2 - 2_000 < n < SIZE // 2 for n in left), left
        await desk.press("escape", "right_square_bracket", "right_square_bracket")
        await desk.resize(100, 30)
        assert desk.widths() == {100} and desk.app._exception is None
