"""Text from outside never acts on the terminal, hides, or breaks a row: in every field shown."""

from __future__ import annotations

import json
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events

from core.candidates import review
from core.candidates.propose import propose
from core.candidates.review import CandidateRef
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.candidates import CandidateKind, Verdict
from schemas.storage import CandidateFilter
from tests.conftest import make_desk, record
from tests.tui.conftest import Driver, opened
from tests.tui.pty import Terminal
from tui.widgets.words import WordsInput

ACTS = (
    "\x1b]52;c;aGFja2Vk\x07",
    "\x1b[2J\x1b[31m",
    "\x9b31m\x9d0;t\x9c",
    "\x07\x08\x0c\x00\x7f",
    "one\rtwo",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "a\u200bb\u2060c\ufeffd",
    "\U000e0041\U000e0042",
    "[/] [bold]x[/bold] [red on [@click=app.quit]q[/]",
    "漢字かな交じり文",
    "👩‍👩‍👧‍👦 ❤️ 1️⃣ 🏳️‍🌈 🇩🇪 👍🏽",
    "e" + "\u0301\u0302\u0303" * 40,
)
FORBIDDEN = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))}
FORBIDDEN |= {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
FORBIDDEN |= {"\u200b", "\u200d", "\u2060", "\ufeff", "\U000e0041", "\ufe0f"}
REVIEWER = "Ev\x1b[31mil [/] \u202e <e@example.org>"


def lay_hostile(root: Path) -> Desk:
    """A workspace with hostile words in every field that a person or an agent can fill."""
    made = make_desk(root, reviewer=REVIEWER)
    file = root.parent / "sess\x1b[31mion[red].jsonl"
    lines, parent = [], None
    session = "7acd\x1b]0;t\x07[/]"
    for n, act in enumerate(ACTS):
        text = f"before {act} line\nRemember: rule {n} {act} stands for all of us.\nafter {act}"
        uuid = f"u{n}"
        lines.append(record(text, uuid, parent, sessionId=session))
        parent = uuid
    lone = json.dumps(json.loads(record("x", "lone", parent, sessionId=session)))
    lone = lone.replace('"x"', '"Remember: the \\ud800 half stands for nothing at all."')
    lines.append(lone.encode() + b"\n")
    lines.append(record("word " * 140_000, "long", "lone", sessionId=session))
    lines.append(record("x" * 700_000, "longer", "long", sessionId=session))
    file.write_bytes(b"".join(lines))
    import_paths(made, [file])
    with made.store.read() as view:
        events = [
            e
            for _, e in view.evidence.messages(
                after=(0, -1), authors=("owner",), file=None, limit=100
            )
        ]
    for n, event in enumerate(events):
        act = ACTS[n % len(ACTS)]
        propose(
            made,
            text=f"Statement {n} {act} stands for all.",
            kind=CandidateKind.PROJECT_FACT,
            key=f"key.{n}.{act}",
            sources=[event.id],
            scope=f"scope {act}",
        )
        if n in (0, 1, 8):
            text = f"Statement {n} {act} also stands for all."
            kind = CandidateKind.PROCEDURE
            propose(made, text=text, kind=kind, key=f"near {act}", sources=[event.id])
    return made


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[tuple[Desk, Path]]:
    """That workspace, in a folder and on a branch with hostile names."""
    root = tmp_path / "pro\x1b[31mject [red] \u202e"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/ma\x1b]52;c;eA==\x07in[/]\n")
    made = lay_hostile(root)
    yield made, root
    made.store.close()


def assert_safe(desk: Driver, size: tuple[int, int]) -> None:
    """No row holds what it must not, and each is as wide as the screen."""
    text = desk.text().replace("\n", "")
    assert not FORBIDDEN & set(text), FORBIDDEN & set(text)
    assert not [c for c in set(text) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")]
    assert desk.widths() == {size[0]}, desk.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_no_field_reaches_a_row_raw(
    hostile: tuple[Desk, Path], size: tuple[int, int]
) -> None:
    """Both panes, every tab, filter, help, status, refusals: only visible marks."""
    made, root = hostile
    with made.store.read() as view:
        rows = view.candidates.window(CandidateFilter(()), 0, 100)
    for row in rows[1:4]:
        review.decide(
            made, CandidateRef(row.id, 1), Verdict.REJECT, reason=f"no {ACTS[0]} {row.key}"
        )
    async with opened(root, size, REVIEWER) as desk:
        await desk.press("f", "f", "f", "f", "f")
        near = False
        for _ in range(len(rows)):
            for key in ("right_square_bracket", "right_square_bracket", "J", "J", "j"):
                await desk.pilot.press(key)
            await desk.settle()
            assert_safe(desk, size)
            near |= "Near 1" in desk.text()
        assert near
        seen = ""
        for key, *after in (("slash", "escape"), ("s", "enter", "escape"), ("R", "enter", "S")):
            await desk.press(key)
            box = desk.app.query_one(WordsInput)
            box.post_message(events.Paste(f"[/]{ACTS[5]}{ACTS[6]}{ACTS[0]}"))
            await desk.settle()
            assert box.value.startswith("[/]gnp.exe")
            assert_safe(desk, size)
            for then in after:
                seen += desk.text()
                await desk.press(then)
                assert_safe(desk, size)
        for key in ("S", "S", "k", "r", "a", "S", "f", "a", "r", "enter", "escape", "u"):
            seen += desk.text()
            await desk.press(key)
            assert_safe(desk, size)
        wanted = {"defer.date", "reason “", "session 7acd", "by author"}
        assert not {words for words in wanted if words not in seen}
        for key in ("0", "G", "2", "question_mark", "q"):
            await desk.press(key)
            assert_safe(desk, size)


async def test_a_hostile_line_memory_is_shown_safely_and_kept(workspace: Path) -> None:
    """Hostile lines and a long one around the change: safe rows, and every byte stays."""
    from tests.tui.conftest import STATEMENTS, lay

    made = lay(workspace, STATEMENTS[:1])
    memory = workspace / ".aiwg/memory"
    memory.mkdir(parents=True)
    before = (
        "\n".join([*(a.replace("\r", "") for a in ACTS), "y" * 700_000, "last"]).encode() + b"\n"
    )
    (memory / "line-memory.txt").write_bytes(before)
    async with opened(workspace, (100, 30)) as desk:
        await desk.press("A")
        await desk.until(lambda: desk.promotion.preview is not None, 60)
        for key in ("space", "space", "g", "z", "space", "pagedown", "G", "g", "z"):
            await desk.press(key)
            assert_safe(desk, (100, 30))
        while "READY" not in desk.rows()[-2]:
            await desk.press("space")
        await desk.press("c", "enter")
        assert (memory / "line-memory.txt").read_bytes() == before + STATEMENTS[0].encode() + b"\n"
    made.store.close()


def test_no_byte_of_content_acts_on_the_terminal(hostile: tuple[Desk, Path]) -> None:
    """The real program on a pty: both panes walked, and not one control byte comes from content."""
    _made, root = hostile
    terminal = Terminal(root, (120, 40), MEMDESK_REVIEWER=REVIEWER)
    terminal.sees("Statement 0")
    terminal.sees("rule 0")
    for keys in (
        b"]",
        b"]",
        b"j]",
        b"j",
        b"J",
        b"jj",
        b"G",
        b"k",
        b"k",
        b"g",
        b"0",
        b"2",
        b"1",
        b"?",
    ):
        terminal.press(keys)
    terminal.sees("Help")
    terminal.press(b"\x1b")
    terminal.press(b"q")
    assert terminal.close() == 0
    plain = terminal.plain()
    assert "rule 2" in plain and "root" in plain and "Receipts" in plain
    raw = {c for c in plain if c in FORBIDDEN} - {"\n", "\r"}
    assert not raw, raw
    assert all(number in (b"0", b"2", b"10", b"11", b"22") for number, _ in terminal.strings())
    assert not [text for _, text in terminal.strings() if b"aGFja2Vk" in text or b"eA==" in text]


def test_leaving_puts_the_terminal_back(tmp_path: Path) -> None:
    """After q: alternate screen, mouse, paste mode and cursor are as they were."""
    made = make_desk(tmp_path / "project")
    made.store.close()
    terminal = Terminal(tmp_path / "project", (80, 24))
    terminal.sees("No candidates yet")
    terminal.press(b"q")
    assert terminal.close() == 0
    tail = bytes(terminal.out)
    for on, off in ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?1000h", b"\x1b[?1000l")):
        assert tail.rfind(off) > tail.rfind(on)
    assert tail.rfind(b"\x1b[?25h") > tail.rfind(b"\x1b[?25l")


@pytest.mark.parametrize(
    ("env", "ascii_"),
    [
        ({"LANG": "C"}, True),
        ({"LANG": "en_US.ISO-8859-1"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "C", "MEMDESK_ASCII": "0"}, False),
        ({"LANG": "C.UTF-8", "MEMDESK_ASCII": "1"}, True),
    ],
    ids=["C", "latin", "C with a UTF-8 LC_CTYPE", "0 asks for signs", "1 asks for ASCII"],
)
def test_signs_follow_the_locale_the_desk_was_started_in(
    tmp_path: Path, env: dict[str, str], ascii_: bool
) -> None:
    """Python puts a UTF-8 locale in the place of C before we look; the terminal is the same."""
    made = make_desk(tmp_path / "project")
    made.store.close()
    terminal = Terminal(
        tmp_path / "project", (80, 24), **{"LC_ALL": "", "LC_CTYPE": "", "MEMDESK_ASCII": ""} | env
    )
    terminal.sees("No candidates yet")
    terminal.press(b"q")
    assert terminal.close() == 0
    assert terminal.plain().isascii() is ascii_


def test_a_refused_workspace_is_two_lines_and_its_status(tmp_path: Path) -> None:
    """A damaged workspace under a name full of markup: code and remedy, no traceback."""
    root = tmp_path / "[/red]\x1b[31m"
    made = make_desk(root)
    made.store.close()
    (root / ".memdesk/config.toml").write_text("nonsense = [/]\n")
    terminal = Terminal(root, (80, 24))
    status = terminal.close()
    plain = terminal.plain()
    assert status == 6 or status > 0
    assert "config.invalid" in plain and "Traceback" not in plain


def test_an_input_takes_written_marks_as_they_are() -> None:
    """It holds nothing hidden, so what only looks like a mark can't be mistaken in it."""
    words = WordsInput()
    assert words.validate_value("find ‹202E› and ␛, ‹") == "find ‹202E› and ␛, ‹"
    assert words.validate_value("a\u202eb\x1bc\u00a0d\te") == "abcde"
