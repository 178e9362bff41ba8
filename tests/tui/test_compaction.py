"""The compaction pane by its keys: what was lost, and the way to put it back (story 10)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.candidates import review
from core.commands import demo
from core.compaction.observe import observe
from core.evidence.import_ import import_paths
from core.ports import Desk
from schemas.common import Page
from schemas.storage import CandidateFilter
from tests.compaction.sessions import agent, boundary, call, owner, result, summary
from tests.conftest import make_desk, write
from tests.tui.conftest import Driver, opened, other

RULE = "Never push to the main branch."
PAGES = "Always ask me before adding a dependency to pyproject.toml."
TASK = "Add the missing index on payouts.batch_id."


@pytest.fixture
def lossy(workspace: Path) -> Desk:
    """One session that lost a rule and a task and kept a rule, and one that lost nothing."""
    made = make_desk(workspace)
    lines = [
        owner("rename the batch class"),
        agent("done"),
        owner(RULE),
        owner(PAGES),
        owner(TASK),
        call("t1", "Read", {"file_path": "/p/a.py"}),
        result("t1", "x" * 4_000),
        boundary(155_461),
        summary(f'All user messages: "{PAGES}"'),
        call("t2", "Bash", {"command": "git push origin main"}),
    ]
    fine = [x.replace(b'"sessionId": "S"', b'"sessionId": "fine"') for x in (
        owner("Remember: tabs are four spaces wide."), boundary(90_000), summary("tabs are four spaces wide"),
    )]  # fmt: skip
    folder = workspace / ".sessions"
    import_paths(made, [write(folder / "s.jsonl", *lines), write(folder / "f.jsonl", *fine)])
    return made


def pending(root: Path) -> list[tuple[str, str, str]]:
    """Statement, author and first source of every pending candidate."""
    desk = other(root)
    with desk.store.read() as view:
        rows, _ = view.candidates.rows(CandidateFilter(("pending",)), Page())
    found = [review.show(desk, review.CandidateRef(r.id, r.version)) for r in rows]
    desk.store.close()
    return [(v.statement, v.author, v.sources[0].locator) for v in found]


async def test_put_it_back_on_the_sample(tmp_path: Path) -> None:
    """Story 10: `4` `enter` `Y` `m`. The quote with its origin is copied; the candidate's source is
    the original message, not the summary."""
    root = tmp_path / "payments-api"
    demo.lay(root)
    before = len(pending(root))
    async with opened(root, reviewer=demo.MARA) as desk:
        assert "4 Compaction 1!" in desk.rows()[0]
        await desk.press("4", "enter", "Y")
        assert "ledger export" in desk.app.clipboard
        assert "session:7acd37a8" in desk.app.clipboard and "#L7" in desk.app.clipboard
        assert "copied" in desk.rows()[-2]
        await desk.press("j", "m")
        assert "@1 pending" in desk.rows()[-2] and "source L8" in desk.rows()[-2]
    made = [p for p in pending(root) if p[0] == PAGES]
    assert made and made[0][1] == "owner" and len(pending(root)) >= before
    seen = other(root)
    cut = observe(seen, "7acd37a8").boundaries[0]
    assert made[0][2] in {i.locator for i in cut.items}
    seen.store.close()


async def test_a_loss_leaves_the_count_with_a_reason_and_comes_back(lossy: Desk) -> None:
    """`r` asks why; the count in row 1 goes and returns; no letter of the reason acts as a key."""
    root = lossy.workspace.root
    async with opened(root) as desk:
        assert "4 Compaction 1!" in desk.rows()[0] and desk.app.title.endswith("1!")
        await desk.press("4", "enter", "r")
        await desk.press(*"mym", "space", *"rules")
        assert "mym rules" in desk.text() and not pending(root)
        await desk.press("enter")
        assert "not-a-loss" in desk.rows()[-2]
        assert "4 Compaction 1!" not in desk.rows()[0]
        mark = next(i.mark for i in observe(other(root), "S").boundaries[0].items if i.mark)
        assert (mark.reason, mark.verdict.value) == ("mym rules", "not-a-loss")
        await go_to(desk, RULE)
        await desk.press("u")
        assert "4 Compaction 1!" in desk.rows()[0]


async def go_to(desk: Driver, words: str) -> None:
    """Move the cursor down to the item with these words."""
    await desk.press("g")
    for _ in range(12):
        entry = desk.app.pane.entry  # type: ignore[attr-defined]
        if entry is not None and words in entry.item.quote:
            return
        await desk.press("j")
    raise AssertionError(desk.text())


async def test_no_reason_and_esc_change_nothing(lossy: Desk) -> None:
    """An empty reason is refused with its code."""
    root = lossy.workspace.root
    async with opened(root) as desk:
        await desk.press("4", "enter", "r", "enter")
        assert "compaction.reason-missing" in desk.told()
        await desk.press("r", "x", "escape")
        assert "4 Compaction 1!" in desk.rows()[0]
        assert observe(other(root), "S").boundaries[0].lost == {"standing": 1, "task": 1}


async def test_classes_are_corrected_with_one_key(lossy: Desk) -> None:
    """A request that stands becomes a loss; `s` again takes it back."""
    root = lossy.workspace.root
    async with opened(root) as desk:
        await desk.press("4", "enter")
        await go_to(desk, "rename")
        await desk.press("s")
        assert observe(other(root), "S").boundaries[0].lost["standing"] == 2
        await go_to(desk, "rename")
        await desk.press("s")
        assert observe(other(root), "S").boundaries[0].lost["standing"] == 1


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_cuts_stand_by_loss_and_each_view_shows_what_it_says(
    lossy: Desk, size: tuple[int, int]
) -> None:
    """Header, items, window by segment, summary; every row fits the screen."""
    async with opened(lossy.workspace.root, size) as desk:
        await desk.press("4")
        assert "lost something 1" in desk.rows()[1]
        rows = [r for r in desk.rows() if "claude" in r[:20]]
        assert "S" in rows[0] and "lost 1 rule 1 task" in rows[0] and "fine" in rows[1]
        assert "155,461" in desk.text() and "prompt and tools" in desk.text()
        assert "In the window" in desk.text()
        await desk.press("enter")
        assert "missing from the summary" in desk.text() and "rule L3" in desk.text()
        await desk.press("J", "J", "J", "J")
        await desk.press("]", "]")
        assert "All user messages" in desk.text()
        assert desk.widths() == {size[0]}


async def test_what_was_done_against_a_lost_rule_is_shown(lossy: Desk) -> None:
    """With its line; the list marks the item."""
    async with opened(lossy.workspace.root) as desk:
        await desk.press("4", "enter")
        assert "! rule L3" in desk.text()
        assert "since then" in desk.text() and "git push origin main" in desk.text()


async def test_codes_are_explained_and_filters_narrow(lossy: Desk) -> None:
    """`w` gives meaning and remedy; words leave only what has them."""
    async with opened(lossy.workspace.root) as desk:
        await desk.press("4", "enter", "w")
        assert "does not hold them" in " ".join(desk.text().split())
        await desk.press("escape", "slash", *"index", "enter")
        listed = " ".join(r[:58] for r in desk.rows()[2:-2])
        assert "missing index" in listed and "push to the main" not in listed
        assert "fine" not in listed


async def test_another_desk_s_import_appears_and_keeps_the_place(lossy: Desk) -> None:
    """The list follows the store; the cursor stays on its item."""
    root = lossy.workspace.root
    async with opened(root) as desk:
        await desk.press("4", "enter", "j")
        assert TASK[:20] in desk.app.pane.entry.item.quote  # type: ignore[attr-defined]
        lines = [
            owner(f"Never drop the {w} table.", sessionId="worse") for w in ("audit", "ledger")
        ] + [boundary(sessionId="worse"), summary("n", sessionId="worse")]
        import_paths(other(root), [write(root / ".sessions/w.jsonl", *lines)])
        await desk.sees("worse")
        await desk.settle()
        assert TASK[:20] in desk.app.pane.entry.item.quote  # type: ignore[attr-defined]
        assert "4 Compaction 2!" in desk.rows()[0]


async def test_hostile_words_reach_no_row_as_they_are(workspace: Path) -> None:
    """Markup, escapes and bidi marks of a rule and a summary are shown, never obeyed."""
    made = make_desk(workspace)
    bad = "Never [/] push \x1b]52;c;AAAA\x07 \u202eto main [bold]now"
    lines = [owner(bad), agent("ok"), boundary(), summary("\x1b[2J[/x] \u202e" + "w " * 500)]
    import_paths(made, [write(workspace / "x.jsonl", *lines)])
    made.store.close()
    async with opened(workspace) as desk:
        await desk.press("4", "enter", "]", "]", "Y")
        assert "\x1b" not in desk.text() and "\u202e" not in desk.text()
        assert "[/]" in desk.text()


async def test_an_empty_pane_says_what_fills_it(workspace: Path) -> None:
    """And every key is harmless there."""
    make_desk(workspace).store.close()
    async with opened(workspace, (80, 24)) as desk:
        await desk.press("4")
        assert "No compaction yet: memdesk evidence import PATH" in desk.text()
        await desk.press("enter", "Y", "m", "r", "s", "u", "w", "y", "]", ")", "escape")
        assert "internal.fault" not in desk.text()
        assert json.dumps(desk.app.title) == '"memdesk"'


async def test_a_lost_rule_is_accepted_and_previewed_with_one_key(lossy: Desk) -> None:
    """`A`: candidate, decision with its reason, and the preview of the line that would be written;
    nothing is written by it."""
    root = lossy.workspace.root
    async with opened(root, (120, 40)) as desk:
        await desk.press("4", "enter")
        await go_to(desk, RULE)
        await desk.press("A")
        assert desk.app.active == 2  # type: ignore[attr-defined]
        assert RULE in desk.text() and ".aiwg/memory/line-memory.txt" in desk.text()
    assert not (root / ".aiwg").exists()
    seen = other(root)
    with seen.store.read() as view:
        (row,), _ = view.candidates.rows(CandidateFilter(("accepted",)), Page())
        version = view.candidates.version(row.id)
    assert version is not None and version.decision is not None
    assert (version.statement, version.decision.reason) == (RULE, "put back: lost at L8")
    seen.store.close()


async def test_an_item_is_read_in_its_conversation_and_back(lossy: Desk) -> None:
    """`o` goes to the message with the words marked; backspace returns to the same item."""
    async with opened(lossy.workspace.root, (120, 40)) as desk:
        await desk.press("4", "enter")
        await go_to(desk, RULE)
        here = desk.app.pane.entry.item.locator  # type: ignore[attr-defined]
        await desk.press("o")
        assert desk.app.active == 7 and RULE in desk.text()  # type: ignore[attr-defined]
        await desk.press("backspace")
        assert desk.app.active == 4  # type: ignore[attr-defined]
        assert desk.app.pane.entry.item.locator == here  # type: ignore[attr-defined]


async def test_what_is_shown_is_exported_with_credentials_masked(workspace: Path) -> None:
    """`x` writes the session's observation into a private file, named on the screen."""
    made = make_desk(workspace)
    token = "ghp_" + "a1B2" * 9
    lines = (owner(f"Never log {token} anywhere."), agent("ok"), boundary(), summary("nothing"))
    import_paths(made, [write(workspace / ".sessions/s.jsonl", *lines)])
    async with opened(workspace, (120, 40)) as desk:
        await desk.press("4", "enter", "x")
        assert "exported to .memdesk/exports/compaction-ev_" in desk.text()
    (path,) = (workspace / ".memdesk/exports").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    written = json.loads(path.read_bytes())
    whole = observe(made, "S").model_dump(mode="json")
    assert token not in path.read_text()
    assert written["boundaries"][0]["lost"] == whole["boundaries"][0]["lost"] == {"standing": 1}
    assert (
        written["boundaries"][0]["items"][0]["locator"]
        == whole["boundaries"][0]["items"][0]["locator"]
    )
