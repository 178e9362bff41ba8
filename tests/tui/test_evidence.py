"""The evidence pane, by its keys: sessions, the conversation, jumps, search (spec 1, 8.9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from textual.worker import WorkerFailed

from core.candidates.propose import propose
from core.ports import Desk
from schemas.candidates import CandidateKind
from tests.conftest import make_desk
from tests.desks import promoted, proposed
from tests.tui.conftest import Driver, opened
from tests.tui.talks import (
    REFUNDS,
    SESSION,
    call,
    everything,
    lay_talk,
    long_session,
    many,
    owner,
    result,
    said,
)
from tui import looking
from tui.panes.evidence import EvidencePane


@pytest.fixture
def talk(workspace: Path) -> Iterator[Desk]:
    """One session that holds everything."""
    made = make_desk(workspace)
    lay_talk(made)
    yield made
    made.store.close()


def pane(desk: Driver) -> EvidencePane:
    return desk.app.query_one(EvidencePane)


async def read(desk: Driver) -> None:
    """Open the first session."""
    await desk.press("7", "enter")
    await desk.until(lambda: pane(desk).item is not None)


async def to(desk: Driver, words: str) -> str:
    """Move the cursor down until its row holds these words; answers the row."""
    for _ in range(60):
        row = next((r for r in desk.rows() if r.startswith("❯") and words in r), "")
        if row:
            return row
        await desk.press("j")
    raise AssertionError(desk.text())


async def test_what_comes_when_the_desk_is_left_finds_nobody(talk: Desk, workspace: Path) -> None:
    """Work that ends after its pane was taken down fails nothing; before, a fault is a fault."""
    async with opened(workspace) as desk:
        await read(desk)
        left = pane(desk)
        worker = left.run_worker(_shown(left, "#nowhere"), exit_on_error=False)
        with pytest.raises(WorkerFailed, match="nowhere"):
            await worker.wait()
    await left.while_here(_shown(left, "#conversation"))


async def _shown(where: EvidencePane, what: str) -> None:
    where.query_one(what)


async def test_sessions_are_listed_with_what_they_hold(talk: Desk) -> None:
    """Name, host, first words and marks, counted as they were imported."""
    lay_talk(talk, *many(4, "ffff0000-b"), name="b.jsonl")
    async with opened(talk.workspace.root) as desk:
        await desk.press("7")
        await desk.sees("sessions 3")
        rows = [r for r in desk.rows() if "claude-code" in r[:20]]
        assert "ffff0000 message number 0" in rows[0] and " 4 " in rows[0]
        assert rows[1].startswith("  ! claude-code 7acd37a8 Look at the refu")
        await desk.press("j")
        for words in ("compacted by its host 1 time", "1 unparsed", "owner", "sub-agents' own"):
            assert words in desk.text()


async def test_a_conversation_reads_as_one(talk: Desk) -> None:
    """The owner behind a bar, calls in one line with result and lines changed, rules across."""
    async with opened(talk.workspace.root) as desk:
        await read(desk)
        shown = desk.text()
        for words in (
            "▎     1 owner    Look at the refund guard, please.",
            "▎                It is in src.",
            "▸ reasoning  The owner wants the guard.",
            "3 agent    The refund guard is at 250 EUR.",
            "▸ Edit src/guard.py  +1 -1",
            "▸ 1 snapshot, 1 system",
            "compacted here · auto · 155,461 tokens before",
            "▸ summary · The summary of what went before.",
            "[image image/png]",
            "the record with its images is ",
        ):
            assert words in shown, shown
        assert "The file was updated" not in shown
        assert "2 events" in next(r for r in desk.rows() if "subagent" in r)
        await to(desk, "unparsed")
        assert "bytes " in next(r for r in desk.rows() if r.startswith("❯"))


async def test_what_is_folded_unfolds_and_folds_again(talk: Desk) -> None:
    """A call shows its arguments and result, a run its events one by one."""
    async with opened(talk.workspace.root) as desk:
        await read(desk)
        await to(desk, "Edit src/guard.py")
        await desk.press("enter")
        await desk.sees("line two of the result")
        assert "old_string" in desk.text()
        await desk.press("enter")
        assert "line two of the result" not in desk.text()
        await to(desk, "subagent")
        await desk.press("enter")
        await desk.sees("▸ Grep refund")
        await desk.press("j")
        assert "I look for callers." in next(r for r in desk.rows() if r.startswith("❯"))


async def test_from_a_candidate_to_its_words_and_back(talk: Desk) -> None:
    """`o` shows the cited span between marks; backspace is where one was."""
    with talk.store.read() as view:
        event = next(
            t.event for t in view.evidence.turns([SESSION], None, 50) if REFUNDS in t.event.text
        )
    at = event.text.index(REFUNDS)
    source = f"{event.id}#b{at}-{at + len(REFUNDS)}"
    made = propose(
        talk, text=REFUNDS, kind=CandidateKind.OPERATING_RULE, key=None, sources=[source]
    )
    async with opened(talk.workspace.root) as desk:
        await desk.press("o")
        await desk.sees("‹refunds above")
        assert "[7 Evidence]" in desk.rows()[0]
        assert next(r for r in desk.rows() if r.startswith("❯")).startswith("❯ ▎     4 owner")
        assert f"{made.id[:11]}@1" in desk.text()
        await desk.press("d", "enter")
        await desk.sees("[1 Candidates")
        assert made.id in desk.rows()[1]
        await desk.press("backspace")
        await desk.sees("[7 Evidence]")
        assert "❯ ▎     4 owner" in desk.text()
        await desk.press("backspace")
        await desk.sees("[1 Candidates")
        assert "filter “" not in desk.rows()[1] and REFUNDS in desk.text()


async def test_a_jump_leaves_lists_and_filters_as_they_were(talk: Desk) -> None:
    """Esc where it led, and backspace from there: view, words, box and row are back in both panes."""
    with talk.store.read() as view:
        first = view.evidence.turns([SESSION], None, 1)[0].event
    for words in (
        "Look at the refund guard first.",
        "Look at the guard again.",
        "Tabs, not spaces.",
    ):
        propose(talk, text=words, kind=CandidateKind.PROJECT_FACT, key=None, sources=[first.id])
    async with opened(talk.workspace.root) as desk:
        await desk.press("S", "S", "slash", *"guard", "enter", "j", "j")
        assert desk.candidates.list.total == 2
        was = desk.candidates.current
        assert was is not None
        await desk.press("k", "k", "enter", "j", "7", "enter")
        await desk.until(lambda: pane(desk).item is not None)
        await desk.press("d", "enter")
        await desk.sees("[1 Candidates")
        assert desk.candidates.current is not None, (
            "the target is on screen though its group is folded"
        )
        assert "cand_" in desk.text() and desk.candidates.list.total == 1
        assert "esc to the list" in desk.rows()[-1]
        await desk.press("escape")
        assert (desk.candidates.words, desk.candidates.list.total) == ("guard", 2)
        assert "filter “guard” 2" in desk.rows()[1] and "guard" in desk.rows()[2]
        await desk.press("colon", *was.id, "enter")
        assert desk.candidates.list.total == 1
        await desk.press("backspace")
        assert (desk.candidates.words, desk.candidates.list.total) == ("guard", 2)
        await desk.press("backspace")
        await desk.sees("[7 Evidence]")
        await desk.press("d", "enter", "backspace")
        await desk.sees("[7 Evidence]")
        await desk.press("1")
        assert (desk.candidates.words, desk.candidates.list.total) == ("guard", 2)
        await desk.press("slash", "escape")
        assert desk.candidates.list.total == 3


async def test_a_jump_to_a_write_leaves_the_list_that_was_in_front(talk: Desk) -> None:
    """Esc brings back the list and its words, another list comes without the jump's."""
    with talk.store.read() as view:
        first = view.evidence.turns([SESSION], None, 1)[0].event
    receipt = promoted(talk, proposed(talk, "Look at the refund guard first.", first.id))
    async with opened(talk.workspace.root) as desk:
        await desk.press("2", "]", "slash", *"nothing such", "enter")
        shown = lambda: (desk.promotion.tab, desk.promotion.words)  # noqa: E731
        assert shown() == (1, "nothing such")
        await desk.press("colon", *receipt.receipt_id, "enter")
        assert shown() == (2, receipt.receipt_id) and desk.promotion.list.total == 1
        await desk.press("escape")
        assert shown() == (1, "nothing such")
        await desk.press("colon", *receipt.receipt_id, "enter", "backspace")
        assert shown() == (1, "nothing such")
        await desk.press("colon", *receipt.receipt_id, "enter", "]")
        assert shown() == (3, "nothing such")


async def test_a_rule_files_line_is_shown_where_it_stands(talk: Desk) -> None:
    """`CLAUDE.md:4` as the screen writes it; the footer says what enter does, in every pane."""
    root = talk.workspace.root
    (root / "CLAUDE.md").write_text(
        "# Rules\n\n- Use tabs in every file.\n- Never push on Friday.\n"
    )
    async with opened(root, size=(80, 24)) as desk:
        for key in "1247":
            await desk.press(key, "colon")
            assert "enter go there  esc leave it" in desk.rows()[-1], key
            await desk.press(*"CLAUDE.md:4", "enter")
            await desk.sees("4 - Never push on Friday.")
            assert "CLAUDE.md:4" in desk.text() and "never evidence" in desk.text()
            await desk.press("escape")
        for typed, code in (("CLAUDE.md:9", "id."), ("secrets.txt:1", "id.")):
            await desk.press("colon", *typed, "enter")
            assert code in desk.told()


async def test_each_question_is_told_whole_at_80_columns(talk: Desk) -> None:
    """The second step of `m` shows its own question; when it is over, none stays."""
    async with opened(talk.workspace.root, size=(80, 24)) as desk:
        await read(desk)
        await desk.press("m")
        assert "cite exactly themselves" in desk.rows()[-2] and "enter go on" in desk.rows()[-1]
        await desk.press("enter")
        assert "the statement" not in desk.text()
        assert "procedure, project, person" in desk.text() and "enter propose" in desk.rows()[-1]
        await desk.press("escape")
        assert "its kind" not in desk.text() and "cite exactly" not in desk.text()
        for key in ("slash", "F"):
            await desk.press(key)
            assert "words to look for in" in desk.text() and "enter look" in desk.rows()[-1]
            await desk.press("escape")


async def test_a_locator_typed_goes_there_from_any_pane(talk: Desk) -> None:
    """An id, a session's line, a file's line; what names nothing says so and moves nothing."""
    with talk.store.read() as view:
        event = next(
            t.event for t in view.evidence.turns([SESSION], None, 50) if "Keep it?" in t.event.text
        )
        path = view.evidence.file_by_id(event.file)
    assert path is not None
    for typed in (event.id, event.id[:15], f"session:{SESSION[:8]}#L3", f"{path.path}:3"):
        async with opened(talk.workspace.root) as desk:
            await desk.press("colon")
            desk.app.query_one("AskInput").value = typed  # type: ignore[attr-defined]
            await desk.press("enter")
            await desk.sees("[7 Evidence]")
            await desk.until(lambda: pane(desk).item is not None)
            assert "❯       3 agent" in desk.text(), typed
    async with opened(talk.workspace.root) as desk:
        await desk.press("colon", *"nonsense", "enter")
        await desk.sees("id.malformed")
        assert "[1 Candidates" in desk.rows()[0]


async def test_words_are_found_in_the_session_one_after_the_other(workspace: Path) -> None:
    """`/` then n and N, also far outside what is loaded."""
    made = make_desk(workspace)
    lines = many(900, "ffff0000-b")
    for n in (300, 700):
        lines[n] = owner(f"x{n}", f"a Needle at {n}", sessionId="ffff0000-b")
    lay_talk(made, *lines)
    made.store.close()
    async with opened(workspace) as desk:
        await read(desk)
        await desk.press("slash", *"needle", "enter")
        await desk.sees("‹Needle› at 300")
        await desk.press("n")
        await desk.sees("‹Needle› at 700")
        await desk.press("n")
        await desk.sees("no more “needle” below")
        await desk.press("N")
        await desk.sees("‹Needle› at 300")


async def test_a_search_over_everything_lists_hits_newest_first(talk: Desk) -> None:
    """Enter reads a hit where it was said, esc steps back to the hits, then to the sessions."""
    lay_talk(talk, *many(300, "ffff0000-b"), name="b.jsonl")
    lay_talk(
        talk,
        owner(
            "z",
            "the second approver again",
            sessionId="99990000-z",
            timestamp="2026-06-01T00:00:00Z",
        ),
        name="z.jsonl",
    )
    async with opened(talk.workspace.root) as desk:
        await desk.press("7", "F", *"SECOND approver", "enter")
        await desk.sees("2 hits")
        assert "all 318 of 318 events" in desk.rows()[1]
        rows = [r for r in desk.rows() if "second approver" in r[:70]]
        assert "99990000" in rows[0][:12] and "7acd37a8" in rows[1][:12]
        await desk.press("j", "enter")
        await desk.sees("‹second›")
        await desk.press("escape")
        await desk.sees("2 hits")
        await desk.press("escape")
        await desk.sees("sessions 4")


async def test_a_long_text_shows_its_beginning_and_is_read_to_its_end(workspace: Path) -> None:
    """`v` gives every byte by scrolling; the conversation says how many are left."""
    made = make_desk(workspace)
    words = "\n".join(f"line {n} of a long text" for n in range(40_000)) + "\nTHE END"
    lay_talk(made, owner("u1", words), owner("u2", "short"))
    made.store.close()
    async with opened(workspace, (80, 24)) as desk:
        await read(desk)
        assert "THE END" not in desk.text()
        await desk.press("v", "G")
        await desk.sees("THE END")
        await desk.press("escape")
        await to(desk, "short")


async def test_a_session_of_a_hundred_thousand_events_is_never_read_whole(workspace: Path) -> None:
    """Opening and walking it asks for pages of rows only, in both directions."""
    made = make_desk(workspace)
    long_session(made, 100_000, "ffff0000-b")
    made.store.close()
    statements: list[str] = []

    def seen(_c: object, _cursor: object, sql: str, *_rest: object) -> None:
        if "FROM event " in sql:
            statements.append(sql)

    async with opened(workspace) as desk:
        sa.event.listen(sa.Engine, "before_cursor_execute", seen)
        try:
            await read(desk)
            assert statements and all("LIMIT" in s for s in statements)
            assert pane(desk).session is not None and pane(desk).session.row.events == 100_000
            statements.clear()
            await desk.press("G")
            await desk.sees("message number 99999")
            await desk.press("ctrl+u", "ctrl+u", "g")
            await desk.sees("message number 0")
            assert all("LIMIT" in s for s in statements) and len(statements) < 40
        finally:
            sa.event.remove(sa.Engine, "before_cursor_execute", seen)
        for _ in range(12):
            await desk.press("ctrl+d")
        held = [b for s in pane(desk).talk.stretches for b in s.blocks]
        assert len(held) <= 6 * 64 and "message number 2" in desk.text()


async def test_walking_down_and_up_meets_every_event_once(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches join without a gap or a repeat, whatever is dropped meanwhile."""
    monkeypatch.setattr(looking, "TURNS", 8)
    made = make_desk(workspace)
    lay_talk(made, *many(80, "ffff0000-b"))
    made.store.close()
    async with opened(workspace, (120, 12)) as desk:
        await read(desk)
        met = []
        for key in ("j", "k"):
            for _ in range(79):
                met.append(pane(desk).item.first.event.line)  # type: ignore[union-attr]
                await desk.pilot.press(key)
                if len(met) % 5 == 0:
                    await desk.settle()
            held = [b for s in pane(desk).talk.stretches for b in s.blocks]
            assert len(held) < 80
        assert met[:79] == list(range(1, 80))
        assert met[79:] == list(range(80, 1, -1))


async def test_what_is_imported_meanwhile_comes_to_the_end(talk: Desk) -> None:
    """The conversation that is read grows; the cursor stays."""
    async with opened(talk.workspace.root) as desk:
        await read(desk)
        before, held = pane(desk).item, pane(desk).session.row.events  # type: ignore[union-attr]
        lay_talk(talk, *everything(), owner("u9", "one thing more"))
        await desk.until(
            lambda: pane(desk).session is not None and pane(desk).session.row.events == held + 1  # type: ignore[union-attr]
        )
        await desk.settle()
        assert pane(desk).item == before
        await desk.press("G")
        await desk.sees("one thing more")


async def test_a_candidate_made_from_here_cites_exactly_its_words(talk: Desk) -> None:
    """`m` asks for statement and kind; it is pending, no more."""
    async with opened(talk.workspace.root) as desk:
        await read(desk)
        await to(desk, "no, finance raised it")
        assert not any(key in desk.rows()[-1] for key in ("d depends", "n/N")), (
            "nothing yet to find"
        )
        await desk.press("m")
        desk.app.query_one("AskInput").value = REFUNDS  # type: ignore[attr-defined]
        await desk.press("enter", *"rule", "enter")
        await desk.sees("pending: d lists it")
        assert "depends on it" in desk.text() and "cand_" in desk.text()
        assert "d depends" in desk.rows()[-1]
    with talk.store.read() as view:
        (row,) = view.candidates.window(_all(), 0, 5)
        version = view.candidates.version(row.id)
    assert version is not None and version.state == "pending"
    assert version.kind == "operating-rule" and version.sources[0].quote == REFUNDS


def _all() -> object:
    from schemas.storage import CandidateFilter

    return CandidateFilter(())


async def test_hostile_texts_and_names_stay_text(workspace: Path) -> None:
    """Escapes, markup and bidi in every field that is shown."""
    made = make_desk(workspace)
    evil = "[bold]x[/] \x1b[31mred\x1b]0;t\x07 \u202eabc\u200b \x9b2J"
    name = "S[/]\u202e\x1b[2J"
    lay_talk(
        made,
        owner("u1", evil, sessionId=name, cwd=evil),
        said("a1", call("t1", evil, **{evil: evil}), sessionId=name),
        result("r1", "t1", evil, sessionId=name),
        said("a2", {"type": "thinking", "thinking": evil}, sessionId=name),
        line_of_system(evil, name),
    )
    made.store.close()
    for size in ((80, 24), (120, 40), (200, 60)):
        async with opened(workspace, size) as desk:
            await desk.press("7")
            await desk.sees("[bold]x[/]")
            _clean(desk)
            await desk.press("enter", "j", "enter", "j", "enter", "v", "tab")
            _clean(desk)
            await desk.press("escape", "escape", "F", *"red", "enter")
            await desk.sees("hit")
            _clean(desk)
            assert desk.widths() == {size[0]}


def line_of_system(words: str, session: str) -> bytes:
    from tests.tui.talks import line

    return line("system", "s1", subtype=words, content=words, sessionId=session)


def _clean(desk: Driver) -> None:
    shown = desk.text().replace("\n", "")
    assert not [c for c in shown if c in "\x1b\x07\x9b\u202e\u200b"]


async def test_a_storm_of_sizes_and_keys_loses_nothing(talk: Desk) -> None:
    """Resizing and mashing keys while pages load leaves a whole screen."""
    lay_talk(talk, *many(400, "ffff0000-b"), name="b.jsonl")
    async with opened(talk.workspace.root) as desk:
        await desk.press("7")
        for size in ((80, 24), (60, 12), (200, 60), (40, 10), (120, 40)):
            await desk.resize(*size)
            for key in (
                "enter",
                "j",
                "G",
                "ctrl+u",
                "enter",
                "tab",
                "v",
                "escape",
                "n",
                "g",
                "escape",
                "F",
                "escape",
            ):
                await desk.pilot.press(key)
        await desk.settle()
        await desk.press("escape", "escape", "escape")
        await desk.sees("sessions 3")
        assert desk.widths() == {120}


async def test_an_empty_desk_says_what_fills_it(workspace: Path) -> None:
    make_desk(workspace).store.close()
    async with opened(workspace, (80, 24)) as desk:
        await desk.press("7")
        await desk.sees("memdesk evidence import PATH")


async def test_sessions_are_filtered_and_sorted(talk: Desk) -> None:
    lay_talk(talk, *many(50, "ffff0000-b"), name="b.jsonl")
    async with opened(talk.workspace.root) as desk:
        await desk.press("7", "S", "S")
        await desk.sees("largest first")
        assert desk.row_of("ffff0000")[:1] == "❯"
        await desk.press("slash", *"7ACD", "enter")
        await desk.sees("sessions 2")
        assert not desk.row_of("ffff0000")
        await desk.press("escape")
        await desk.sees("sessions 3")


async def test_credentials_stay_masked_wherever_evidence_is_shown(workspace: Path) -> None:
    """In the list, the conversation, a hit and a whole text, short or long."""
    key = "sk_test_" + "51HGfE2kZ8qvbN"
    made = make_desk(workspace)
    words = f"use {key} for the sandbox"
    lay_talk(made, owner("u1", words), owner("u2", "\n".join([words, *["filler line"] * 9_000])))
    made.store.close()
    async with opened(workspace) as desk:
        await desk.press("7")
        for keys in (
            ("enter",),
            ("v",),
            ("escape", "j", "v"),
            ("escape", "escape"),
            ("F", *"sandbox", "enter"),
        ):
            await desk.press(*keys)
            await desk.until(lambda: "sk_test_•" in desk.text())
            assert key not in desk.text()
