"""A wiki page to the byte: AIWG's keys, the statement as data, what it leaves behind (spec 5.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.operations.confirm import confirm
from core.ports import Desk
from core.promotion import preview
from core.promotion.consumers.wiki import page_path
from schemas.errors import Refused, Stale
from schemas.operations import OperationState
from tests.faults import child
from tests.making import TEXT, accepted, files, pending, ref, sha

FACT = "Releases are tagged on Tuesdays."
STEPS = ["locked", "planned", "prepared", "temporary-0", "staged-0", "exchanged-0", "synced-0"]


def page_of(desk: Desk, text: str) -> str:
    """The page of a newly promoted statement."""
    version = accepted(desk, text)
    shown = preview.build(desk, ref(version), "wiki")
    confirm(desk, shown.operation_id)
    return (desk.workspace.root / page_path(version)).read_bytes().decode()


def test_the_page_is_what_the_preview_said_and_nothing_else_is_written(sqlite_desk: Desk) -> None:
    """One file, its digest the previewed one, with AIWG's keys in their order."""
    version = accepted(sqlite_desk, FACT, reason="checked twice")
    shown = preview.build(sqlite_desk, ref(version), "wiki")
    (target,) = shown.targets
    assert target.before_digest is None
    assert not (sqlite_desk.workspace.root / ".aiwg").exists()
    confirm(sqlite_desk, shown.operation_id)
    ((path, data),) = files(sqlite_desk.workspace.root).items()
    number = version.id.removeprefix("cand_")[:16]
    assert path == target.path == f".aiwg/wiki/summaries/session-candidate-{number}-v1.md"
    assert sha(data) == target.after_digest
    head, body = data.decode().removeprefix("---\n").split("\n---\n", 1)
    keys = [line.split(":")[0] for line in head.split("\n") if not line.startswith(" ")]
    assert keys == [
        "source", "consumer", "candidate_id", "candidate_version", "candidate_type",
        "content_trust", "security_disposition", "security_warnings", "evidence", "title",
        "type", "created", "tags", "status",
    ]  # fmt: skip
    assert f"\n> {FACT}\n" in body and "- reason: checked twice\n" in body
    assert "\nsource: aiwg-session-candidate\n" in "\n" + head


@pytest.mark.parametrize(
    "text",
    [
        "Use `<script>` tags *never* in [notes](http://x.example), says the team.",
        'The title "quoted: yes" --- is data | not a table, # not a heading.',
        "We store {{templates}} in ![images] and ~~nothing~~ else, by decision.",
    ],
)
def test_words_of_a_statement_are_never_markdown_or_front_matter(
    text: str, sqlite_desk: Desk
) -> None:
    """Read by a Markdown parser, the quote holds the words and no other structure."""
    from markdown_it import MarkdownIt

    page = page_of(sqlite_desk, text)
    body = page.split("\n---\n", 1)[1]
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    start = next(i for i, t in enumerate(tokens) if t.type == "blockquote_open")
    inline = tokens[start + 2]
    assert inline.type == "inline" and inline.children is not None
    kinds = {c.type for c in inline.children}
    assert kinds <= {"text", "text_special"}
    assert "".join(c.content for c in inline.children) == text


def test_the_same_page_again_is_a_duplicate_and_changes_no_byte(sqlite_desk: Desk) -> None:
    """The second preview says so before anything is confirmed."""
    version = accepted(sqlite_desk, FACT)
    confirm(sqlite_desk, preview.build(sqlite_desk, ref(version), "wiki").operation_id)
    before = files(sqlite_desk.workspace.root)
    again = preview.build(sqlite_desk, ref(version), "wiki")
    assert again.duplicate
    assert files(sqlite_desk.workspace.root) == before


def test_one_version_may_go_to_both_layers(sqlite_desk: Desk) -> None:
    """A line and a page, each confirmed by itself."""
    version = accepted(sqlite_desk, FACT)
    for consumer in ("line-memory", "wiki"):
        confirm(sqlite_desk, preview.build(sqlite_desk, ref(version), consumer).operation_id)
    assert {TEXT, page_path(version)} <= set(files(sqlite_desk.workspace.root))


def test_only_accepted_versions_become_pages(sqlite_desk: Desk) -> None:
    """A pending one is refused by the code, and no file is made."""
    with pytest.raises(Refused) as info:
        preview.build(sqlite_desk, ref(pending(sqlite_desk)), "wiki")
    assert info.value.code == "candidate.not-accepted"
    assert not (sqlite_desk.workspace.root / ".aiwg").exists()


def test_a_page_someone_laid_meanwhile_stays(sqlite_desk: Desk) -> None:
    """The preview is stale, and the other bytes are not touched."""
    version = accepted(sqlite_desk, FACT)
    shown = preview.build(sqlite_desk, ref(version), "wiki")
    path = sqlite_desk.workspace.root / page_path(version)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mine\n")
    with pytest.raises(Stale):
        confirm(sqlite_desk, shown.operation_id)
    assert path.read_bytes() == b"mine\n"


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_page_is_written_once(step: str, sqlite_desk: Desk) -> None:
    """SIGKILL, then the same confirm again: one page, one receipt, nothing left over."""
    version = accepted(sqlite_desk, FACT)
    shown = preview.build(sqlite_desk, ref(version), "wiki")
    status, steps = child.run(sqlite_desk.workspace.root, shown.operation_id, step)
    assert (status, steps[-1]) == (-9, step)
    confirm(sqlite_desk, shown.operation_id)
    found = files(sqlite_desk.workspace.root)
    assert {p: sha(d) for p, d in found.items()} == {
        shown.targets[0].path: shown.targets[0].after_digest
    }
    with sqlite_desk.store.read() as view:
        operation = view.operations.operation(shown.operation_id)
        assert operation is not None and operation.state is OperationState.APPLIED
        assert view.operations.receipt_count() == 1


def test_wiki_lines_that_keep_the_old_statement_are_named(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """A conflict promoted to the wiki shows which page still says the other thing."""
    page = sqlite_desk.workspace.root / ".aiwg/wiki/notes.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Notes\n\nReleases are tagged on Tuesdays, always.\n")
    old = accepted(sqlite_desk, FACT)
    confirm(sqlite_desk, preview.build(sqlite_desk, ref(old), "line-memory").operation_id)
    new = accepted(sqlite_desk, "Releases are tagged on Fridays.")
    shown = preview.build(sqlite_desk, ref(new), "wiki")
    told = [e.text for e in shown.affects if e.code == "effect.leaves-behind"]
    if shown.conflicts:
        assert any(".aiwg/wiki/notes.md:3" in t for t in told)
    else:
        assert told == []


@pytest.mark.parametrize(
    ("statement", "title"),
    [
        (FACT, FACT),
        (
            "Invoices are numbered without a gap for each calendar year, and a cancelled one keeps its number.",
            "Invoices are numbered without a gap for each calendar year, and a…",
        ),
        (
            "請求書は年ごとに欠番なく採番する。" * 6,
            ("請求書は年ごとに欠番なく採番する。" * 6)[:71] + "…",
        ),
    ],
)
def test_a_title_reads_as_words(sqlite_desk: Desk, statement: str, title: str) -> None:
    """The statement's own, in the front matter and above the page; cut between words."""
    page = page_of(sqlite_desk, statement)
    assert f'\ntitle: "{title}"\n' in page
    assert f"\n# {title}\n" in page
    assert f"\n> {statement}\n" in page
