"""An intake on the desk: read in the list of writes, confirmed by two keys, told by its receipt."""

from __future__ import annotations

from pathlib import Path

from core.evidence import intake
from core.ports import Desk
from schemas.common import Page
from schemas.operations import Preview
from tests.conftest import write
from tests.making import sha
from tests.tui.conftest import opened, other
from tests.tui.test_promoting import files, receipts

SOURCE = "sources/notes.md"
BYTES = b"# Notes\n\nTags are cut on Tuesdays.\n"
WRITES = ("2", "right_square_bracket")


def previewed(root: Path, path: str = SOURCE, data: bytes = BYTES) -> Preview:
    """A preview made at a command line beside the desk."""
    made = other(root)
    shown = intake.preview(made, write(root / path, data)).preview
    made.store.close()
    return shown


async def test_an_intake_is_read_armed_and_written_by_keys(laid: Desk, workspace: Path) -> None:
    """Size, digest and source on screen; c enter writes the copy; the receipt says where from."""
    shown = previewed(workspace)
    async with opened(workspace) as desk:
        await desk.press(*WRITES)
        await desk.sees("READY")
        assert f"new file, {len(BYTES)} bytes" in desk.text()
        assert SOURCE in desk.row_of("previewed")
        assert sha(BYTES)[:20] in desk.text()
        assert set(files(workspace)) == {SOURCE}
        await desk.press("c")
        assert "ARMED  write 2 files to raw" in desk.rows()[-2]
        await desk.press("enter")
        await desk.sees("WRITTEN rcpt_")
        copy = shown.targets[0].path
        assert files(workspace)[copy] == BYTES and receipts(laid) == 1
        await desk.press("right_square_bracket")
        assert SOURCE[:12] in desk.row_of("rcpt_")
        assert "source" in desk.text() and copy[:30] in desk.text()
        assert desk.widths() == {120}


async def test_a_source_edited_under_the_reader_is_stale_and_p_reads_it_anew(
    laid: Desk, workspace: Path
) -> None:
    """Nothing is written of what was not read; p shows the new bytes' digest."""
    previewed(workspace)
    async with opened(workspace, size=(80, 24)) as desk:
        await desk.press(*WRITES)
        await desk.sees("READY")
        write(workspace / SOURCE, b"Other words.\n")
        await desk.sees("STALE  preview.stale: source changed by hand")
        await desk.press("c")
        assert set(files(workspace)) == {SOURCE}
        assert desk.widths() == {80}
        await desk.press("p")
        await desk.sees("READY")
        assert "new file, 13 bytes" in desk.text()
        await desk.press("c", "enter")
        await desk.sees("WRITTEN rcpt_")
        assert b"Other words.\n" in [d for p, d in files(workspace).items() if "/raw/" in p]
    assert receipts(laid) == 1


async def test_a_credential_blocks_and_says_on_which_line(laid: Desk, workspace: Path) -> None:
    """The code in the bar, the line among the checks, its meaning on enter; nothing to arm."""
    key = "AKIA" + "Z234567890ABCDEF"
    previewed(workspace, data=b"# Keys\n\n" + key.encode() + b"\n")
    async with opened(workspace) as desk:
        await desk.press(*WRITES)
        await desk.sees("BLOCKED")
        assert "intake.secret" in desk.told()
        assert "credential on line 3" in desk.text() and key not in desk.text()
        await desk.press("c", "enter")
        assert "Why" in desk.text()
    assert set(files(workspace)) == {SOURCE} and receipts(laid) == 0


async def test_a_hostile_name_is_shown_by_its_marks(laid: Desk, workspace: Path) -> None:
    """Neither escapes nor bidi controls of a path reach a row."""
    previewed(workspace, "sources/a\x1b[31mred\u202edm.md")
    async with opened(workspace) as desk:
        await desk.press(*WRITES)
        await desk.sees("READY")
        assert "\x1b" not in desk.text() and "\u202e" not in desk.text()
        assert "sources/a" in desk.text()
        assert desk.widths() == {120}


async def test_a_source_is_revoked_by_keys_after_its_dependents_were_seen(
    laid: Desk, workspace: Path
) -> None:
    """The bar names the source, not files; every disposition is on screen before c works."""
    from core.evidence import revoke

    made = other(workspace)
    with made.store.read() as view:
        event = view.evidence.events(Page(limit=1))[0][0]
    revoke.preview(made, event.file)
    made.store.close()
    async with opened(workspace, size=(80, 24)) as desk:
        await desk.press(*WRITES)
        await desk.sees("every changed line must have been on screen")
        while not desk.promotion.detail.seen_all:
            await desk.press("space")
        assert "can't be promoted any more" in desk.text()
        await desk.press("c")
        assert f"ARMED  revoke {event.file}" in desk.rows()[-2]
        await desk.press("enter")
        await desk.sees("WRITTEN rcpt_")
    with laid.store.read() as view:
        assert view.evidence.revoked(event.file)
