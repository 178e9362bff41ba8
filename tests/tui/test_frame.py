"""The frame: panes, help, palette, sizes, a store that goes away, keys pressed at random."""

from __future__ import annotations

import random
import sqlite3
import threading
from pathlib import Path

import pytest
from textual import events

from core.candidates.review import CandidateRef
from core.ports import Desk
from core.promotion import preview
from tests.conftest import make_desk, ticking
from tests.tui.conftest import STATEMENTS, lay, opened
from tests.tui.test_promoting import TEXT, accept, files, receipts


async def test_status_tells_the_whole_at_a_glance(laid: Desk, workspace: Path) -> None:
    """Pane 0: store, ledger, counts, layers, nothing degraded."""
    async with opened(workspace) as desk:
        await desk.press("0")
        text = desk.text()
        assert "[0 Status]" in text and "sqlite" in text and str(workspace)[:40] in text
        assert "pending" in text and "line-memory" in text and "degraded" in text


async def test_a_preview_nobody_confirmed_is_no_write(laid: Desk, workspace: Path) -> None:
    """Status and outbox count differently, and status says why."""
    preview.build(laid, CandidateRef(accept(laid, 0).id, 1), "line-memory")
    async with opened(workspace) as desk:
        await desk.press("2")
        assert "Outbox 0" in desk.rows()[1]
        await desk.press("0", "G")
        assert "1 preview never confirmed: nothing was written" in desk.text()


async def test_panes_to_come_say_what_they_will_be(laid: Desk, workspace: Path) -> None:
    """3, 5 and 6 each say what will be there and what serves until then."""
    async with opened(workspace, (80, 24)) as desk:
        names = ("Context", "Sources", "Outputs")
        for key, name in zip("356", names, strict=True):
            await desk.press(key, "j", "k", "a", "c", "enter")
            assert f"{name} is not built yet" in desk.text()
            assert "Until then" in desk.text()


async def test_help_lists_the_keys_of_the_pane(laid: Desk, workspace: Path) -> None:
    """? over each pane names its keys; any of esc, q and enter closes it."""
    async with opened(workspace, (80, 24)) as desk:
        for key, closes in (("1", "escape"), ("2", "q"), ("0", "enter"), ("3", "question_mark")):
            await desk.press(key, "question_mark")
            assert "Help: " in desk.text() and "esc closes" in desk.text()
            await desk.press("j", "k", closes)
            assert "Help: " not in desk.text() and len(desk.app.screen_stack) == 1
        await desk.press("1", "question_mark")
        assert "Accept this exact version" in desk.text()


async def test_the_palette_runs_every_action_by_name(laid: Desk, workspace: Path) -> None:
    """ctrl+p finds the status pane by name and goes there."""
    async with opened(workspace) as desk:
        await desk.press("ctrl+p", *"status", "enter")
        await desk.until(lambda: desk.app.active == 0)
        names = [c.title for c in desk.app.get_system_commands(desk.app.screen)]
        assert len(names) == len(set(names))


async def test_the_palette_bears_keys_that_come_before_its_list(
    laid: Desk, workspace: Path
) -> None:
    """Paste or fast fingers: page, home and end keys while it still opens and while it searches."""
    async with opened(workspace) as desk:
        for key in ("pagedown", "pageup", "ctrl+end", "ctrl+home"):
            for name in ("ctrl+p", key, "s", key, "enter", "escape"):
                desk.app.post_message(events.Key(name, name if len(name) == 1 else None))
            await desk.settle()
        assert desk.app.is_running and desk.app.return_code is None


async def test_a_list_that_comes_while_the_desk_is_left_finds_nobody(
    laid: Desk, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store answers after the list was taken down: no worker fails."""
    async with opened(workspace) as desk:
        client, gate = desk.app.client, threading.Event()
        assert client is not None
        counts = client.counts
        monkeypatch.setattr(client, "counts", lambda: counts() if gate.wait(10) else None)
        desk.candidates.reload()
        await desk.pilot.pause()
        await desk.candidates.list.remove()
        gate.set()
        await desk.settle()
        desk.candidates.reload()
        await desk.settle()


@pytest.mark.parametrize("plain", [False, True], ids=["unicode", "ascii"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_every_row_is_as_wide_as_the_screen(
    workspace: Path, size: tuple[int, int], plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At three sizes, with wide and joined characters, in ASCII and without colour, in each state."""
    if plain:
        monkeypatch.setenv("MEMDESK_ASCII", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    wide = (
        "決済の金額は必ず最小単位の整数で保存し、浮動小数点を使わないこと。",
        "Ship on green 🚀👩‍👩‍👧‍👦 only, never 🏳️‍🌈 on red ❤️ builds 1️⃣ please.",
        "Cafe\u0301 receipts a\u0300\u0301\u0302\u0303\u0304\u0305\u0306 keep their accents as typed.",
        "العربية: المبالغ أعداد صحيحة دائما ولا كسور فيها أبدا.",
    )
    made = lay(workspace, [*wide, *STATEMENTS])
    async with opened(workspace, size) as desk:
        for keys in ("jjj", "gA", "z", "]", "]", "0", "?", "q", "1", "/x"):
            for key in keys:
                named = {"]": "right_square_bracket", "?": "question_mark", "/": "slash"}
                await desk.press(named.get(key, key))
                assert len(desk.rows()) == size[1]
                assert desk.widths() == {size[0]}, (key, desk.text())
    made.store.close()


async def test_ascii_mode_writes_only_ascii_of_its_own(
    laid: Desk, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ASCII content no other character is on any screen."""
    monkeypatch.setenv("MEMDESK_ASCII", "1")
    for size in ((80, 24), (120, 40)):
        async with opened(workspace, size) as desk:
            for key in ("j", "A", "z", "c", "q", "right_square_bracket", "0", "question_mark", "q"):
                await desk.press(key)
                odd = {c for c in desk.text() if not c.isascii()}
                assert not odd, (key, odd, desk.text())


async def test_a_storm_of_sizes_leaves_a_whole_screen(laid: Desk, workspace: Path) -> None:
    """From 300x100 to 40x10 and back, in both panes: every row whole, cursor and preview kept."""
    async with opened(workspace, (300, 100)) as desk:
        await desk.press("j", "j", "A")
        await desk.sees("READY")
        for size in ((40, 10), (80, 24), (300, 100), (99, 24), (100, 24), (40, 10), (80, 24)):
            await desk.resize(*size)
            assert len(desk.rows()) == size[1] and desk.widths() == {size[0]}
        assert "READY" in desk.rows()[-2]
        await desk.press("1")
        for size in ((40, 10), (300, 100), (80, 24)):
            await desk.resize(*size)
            assert desk.widths() == {size[0]} and desk.candidates.list.index == 2


_KEYS = [
    *"jkgGaArdeupcfzJKyYxbR0123456789?/[] ",
    "enter",
    "escape",
    "tab",
    "down",
    "up",
    "pagedown",
]
_KEYS += ["ctrl+d", "ctrl+u", "ctrl+p", "home", "end", "left", "right", "backspace", "shift+tab"]
_NAMES = {
    "?": "question_mark",
    "/": "slash",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    " ": "space",
}


def _soaked(seed: int) -> object:
    return pytest.param(seed, marks=pytest.mark.soak)


@pytest.mark.parametrize("seed", [1, 2, *(_soaked(n) for n in range(3, 23))])
async def test_random_keys_never_crash_and_confirm_only_what_was_armed(
    workspace: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred keys: no traceback, no fault; each write followed an enter on a painted ARMED bar."""
    monkeypatch.setenv("EDITOR", "true")
    made = lay(workspace)
    chosen = random.Random(seed)
    allowed = 0
    async with opened(workspace, chosen.choice([(80, 24), (120, 40), (40, 10)])) as desk:
        for _ in range(200):
            key = chosen.choice(_KEYS)
            key = _NAMES.get(key, key)
            if key == "enter":
                await desk.settle()
                allowed += "ARMED" in desk.rows()[-2]
            char = key if len(key) == 1 else None
            desk.app.post_message(events.Key(key, char))
            if chosen.random() < 0.3:
                await desk.settle()
            assert "internal.fault" not in desk.text()
        await desk.settle()
        assert receipts(made) <= allowed
        lines = files(workspace).get(TEXT, b"").splitlines()
        assert len(lines) == receipts(made)
        assert desk.app._exception is None
    made.store.close()


async def test_a_store_locked_by_another_is_a_line_with_its_code(
    laid: Desk, workspace: Path
) -> None:
    """Another process holds the write lock: the decision is refused and the desk goes on."""
    config = workspace / ".memdesk/config.toml"
    config.write_text(config.read_text().replace("lockTimeoutMs = 5000", "lockTimeoutMs = 100"))
    async with opened(workspace) as desk:
        holder = sqlite3.connect(workspace / ".memdesk/memdesk.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        await desk.press("a")
        assert "store.busy" in desk.told()
        holder.execute("ROLLBACK")
        holder.close()
        await desk.press("a")
        assert "accepted" in desk.rows()[-2]


async def test_a_store_deleted_under_the_desk_is_a_line_with_its_code(
    laid: Desk, workspace: Path
) -> None:
    """The folder goes away: keys answer with codes, never with a traceback; q still leaves."""
    import shutil

    async with opened(workspace) as desk:
        shutil.rmtree(workspace / ".memdesk")
        for key in ("j", "a", "r", "A", "2", "right_square_bracket", "0", "1", "u", "f"):
            await desk.press(key)
            assert desk.app._exception is None
        text = desk.text()
        assert "store." in text or "workspace." in text, text
        assert "internal.fault" not in text and "Traceback" not in text
        await desk.press("q")
        assert desk.app.return_code == 0


async def test_a_workspace_that_is_no_workspace_ends_with_its_code(tmp_path: Path) -> None:
    """Opened on a damaged folder, the desk ends with the code's status."""
    from tui.app import DeskApp

    (tmp_path / "[/red]x/.memdesk").mkdir(parents=True)
    app = DeskApp(tmp_path / "[/red]x")
    async with app.run_test() as pilot:
        while app.return_code is None and app.is_running:
            await pilot.pause(0.05)
    assert app.return_value not in (None, 0)


def many(root: Path, count: int) -> None:
    """A workspace of `count` pending candidates, laid with plain SQL from one real one."""
    made = make_desk(root, clock=ticking())
    made.store.close()
    made = lay(root, STATEMENTS[:1])
    made.store.close()
    db = sqlite3.connect(root / ".memdesk/memdesk.db")
    for table in ("candidate", "candidate_version"):
        names = [r[1] for r in db.execute(f"PRAGMA table_info({table})")]
        cells = ", ".join(
            "n.value"
            if c == "number"
            else "t.place - t.number + n.value"
            if c == "place"
            else f"printf('%s%08d', substr(t.{c}, 1, 29), n.value)"
            if c == "id"
            else "'Statement number ' || n.value || ' of many.'"
            if c == "statement"
            else f"t.{c}"
            for c in names
        )
        db.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {cells} FROM {table} t, "
            f"(WITH RECURSIVE n(value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM n "
            f"WHERE value < {count}) SELECT value FROM n) n WHERE t.number = 1"
        )
    db.commit()
    db.close()


async def test_twenty_thousand_candidates_are_paged_by_key(workspace: Path) -> None:
    """End, Home and PageDown land on the right rows, and only a few pages are held."""
    many(workspace, 20_000)
    async with opened(workspace) as desk:
        lister = desk.candidates.list
        await desk.until(lambda: lister.total == 20_000)
        await desk.press("end")
        assert lister.index == 19_999
        assert lister.row is not None and lister.row.number == 20_000
        await desk.sees("Statement number 20000")
        await desk.press("pageup")
        assert lister.row is not None and lister.row.number == (lister.index or 0) + 1
        await desk.press("home", "pagedown", "pagedown")
        assert lister.row is not None and lister.row.number == (lister.index or 0) + 1 > 60
        await desk.press("end", "a")
        assert "✓" in desk.row_of("Statement number 20000 of many")[:6]
        assert lister.index == 19_999 and len(list(lister._pages.keys())) <= 32
        await desk.press("slash", *"19999", "enter")
        assert lister.total == 1
