"""AIWG intake: the copy and its receipt to the byte, and everything that must stop one (spec 1.6)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import core.promotion  # noqa: F401  (registers the handlers)
from core.commands.promotion import preview_lines
from core.evidence import intake
from core.evidence.aiwg_intake import Intake
from core.evidence.import_ import import_paths
from core.operations import preview as operations
from core.operations.confirm import confirm, recover
from core.ports import Desk
from core.promotion.consumers import wiki
from core.verify import verify
from schemas.errors import MemdeskError, Refused, Stale
from schemas.operations import OperationState, Preview
from tests.conftest import Command, make_desk, record, write
from tests.desks import events
from tests.making import files, sha

SOURCE = "sources/release-train.md"
BYTES = (
    b"# Release train\n\n"
    b"Decision: Tags are cut every second Tuesday and signed by the release lead.\n"
)
RAW = ".aiwg/wiki/raw/f05f7d5a25d78281-release-train.md"
OPERATION = "98c402e506a75cd653535b434d0f81d963f92bbdca99fb306de2b0ca6991c59e"
RECEIPT = f".aiwg/memory/compound-memory/intake-receipts/sha256_{OPERATION}.json"
RECEIPT_TEXT = """{
  "schemaVersion": "aiwg.compound-memory.intake-receipt.v1",
  "receiptId": "sha256:d1ef087d4197856f98fab6e7dafc1b141d08f03f4160caddf2253426447e8bb7",
  "operationId": "sha256:98c402e506a75cd653535b434d0f81d963f92bbdca99fb306de2b0ca6991c59e",
  "sourceLocator": "sources/release-train.md",
  "sourceDigest": "sha256:f05f7d5a25d7828148d4f0e2d496981472e5098fa8ffadaa2c459bca6b3b8e8d",
  "rawLocator": ".aiwg/wiki/raw/f05f7d5a25d78281-release-train.md",
  "route": "llm-wiki",
  "duplicate": %s,
  "registeredAt": "%s"
}
"""
NINE = "2026-11-30T09:00:00.000Z"


def laid(desk: Desk, path: str = SOURCE, data: bytes = BYTES) -> Path:
    """A source file in the workspace."""
    return write(desk.workspace.root / path, data)


def previewed(desk: Desk, path: str = SOURCE, data: bytes = BYTES) -> Preview:
    """The preview of a source that was just laid there."""
    return intake.preview(desk, laid(desk, path, data), text=True).preview


def stopped(desk: Desk) -> Desk:
    """A desk whose clock stands at nine."""
    return dataclasses.replace(desk, clock=lambda: 1_796_029_200_000_000)


def at(desk: Desk, step: str, act: Callable[[], object]) -> Desk:
    """A desk that acts at a durable step."""
    return dataclasses.replace(desk, on_step=lambda name: act() if name == step else None)


def held(desk: Desk) -> list[str]:
    """What waits in `.memdesk/staged/`."""
    folder = desk.workspace.folder / "staged"
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def test_a_preview_writes_nothing_and_names_aiwgs_own_ids(desk: Desk) -> None:
    """The copy's name, AIWG's operation and receipt ids, the whole receipt as a diff."""
    shown = previewed(stopped(desk))
    assert not (desk.workspace.root / ".aiwg").exists()
    assert (shown.action, shown.subject, shown.blocked_by) == ("intake", SOURCE, ())
    copy, receipt = shown.targets
    assert (copy.path, copy.before_digest, copy.size) == (RAW, None, 93)
    assert (copy.after_digest, copy.copied_from) == (sha(BYTES), SOURCE)
    assert receipt.path == RECEIPT
    assert receipt.after_digest == sha((RECEIPT_TEXT % ("false", NINE)).encode())
    assert "".join(f"+{x}\n" for x in (RECEIPT_TEXT % ("false", NINE)).split("\n")[:-1]) in (
        receipt.diff
    )
    assert [(s.locator, s.digest) for s in shown.sources] == [(SOURCE, sha(BYTES))]


def test_a_confirm_writes_exactly_the_two_files(desk: Desk) -> None:
    """Byte for byte AIWG's; the source is untouched; the ledger answers for the receipt."""
    desk = stopped(desk)
    shown = previewed(desk)
    receipt = confirm(desk, shown.operation_id)
    assert files(desk.workspace.root) == {
        RECEIPT: (RECEIPT_TEXT % ("false", NINE)).encode(),
        RAW: BYTES,
    }
    assert (desk.workspace.root / SOURCE).read_bytes() == BYTES
    assert (receipt.action, receipt.consumer, receipt.belief) == ("intake", "raw", None)
    assert receipt.provider_adapters_modified is False
    assert [t.path for t in receipt.targets] == [RAW, RECEIPT]
    for folder in (RAW, RECEIPT):
        assert (desk.workspace.root / folder).parent.stat().st_mode & 0o077 == 0
    report = verify(desk)
    assert (report.ok, report.drift, held(desk)) == (True, (), [])


def test_confirmed_again_anywhere_it_answers_the_first_receipt(workspace: Path) -> None:
    """A new process at the same store: same receipt, same bytes, also after an edit."""
    desk = make_desk(workspace)
    shown = previewed(desk)
    first = confirm(desk, shown.operation_id)
    before = files(workspace)
    laid(desk, data=b"Something else.\n")
    again = confirm(make_desk(workspace), shown.operation_id)
    assert again == first.model_copy(update={"replayed": True})
    assert files(workspace) == before
    desk.store.close()


def test_the_same_bytes_again_answer_the_operation_that_took_them_in(sqlite_desk: Desk) -> None:
    """A later preview is a duplicate, applied, and its confirm the first receipt."""
    shown = previewed(sqlite_desk)
    first = confirm(sqlite_desk, shown.operation_id)
    later = previewed(sqlite_desk)
    assert (later.operation_id, later.duplicate) == (shown.operation_id, True)
    assert later.state is OperationState.APPLIED
    assert confirm(sqlite_desk, later.operation_id).receipt_id == first.receipt_id


def test_an_open_preview_keeps_its_id_while_time_passes(sqlite_desk: Desk) -> None:
    """Equal inputs, another minute: the same operation, one row."""
    first = previewed(sqlite_desk)
    later = dataclasses.replace(sqlite_desk, clock=lambda: 1_796_029_999_000_000)
    assert previewed(later).operation_id == first.operation_id
    assert previewed(later, "sources/other.md").operation_id != first.operation_id


KINDS = {
    "a.jsonl": "session-transcript", "a.transcript": "session-transcript", "A.JSONL":
    "session-transcript", "a.png": "image", "a.jpg": "image", "a.JPEG": "image", "a.gif": "image",
    "a.webp": "image", "a.svg": "image", "a.pdf": "pdf", "a.PDF": "pdf", "a.yaml": "structured",
    "a.yml": "structured", "a.json": "structured", "a.md": "document", "a.txt": "document",
    "a.Html": "document", "a.htm": "document", "a.zip": "artifact", "a.tar.gz": "artifact",
    "Makefile": "artifact", ".jsonl": "artifact", "a.": "artifact",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kind_and_route_follow_the_extension(name: str) -> None:
    """Only transcripts go to sessions."""
    taken = Intake(f"x/{name}", "sha256:" + "0" * 64, 1)
    route = "sessions" if KINDS[name] == "session-transcript" else "llm-wiki"
    assert (taken.kind, taken.route) == (KINDS[name], route)


def test_a_copys_name_is_made_safe_and_the_locator_stays_as_it_is(sqlite_desk: Desk) -> None:
    """Every run of other characters is one hyphen."""
    shown = previewed(sqlite_desk, "docs/design notes (révision).md", b"x\n")
    confirm(sqlite_desk, shown.operation_id)
    wanted = hashlib.sha256(b"x\n").hexdigest()[:16] + "-design-notes-r-vision-.md"
    assert shown.targets[0].path == f".aiwg/wiki/raw/{wanted}"
    document = json.loads((sqlite_desk.workspace.root / shown.targets[1].path).read_bytes())
    assert document["sourceLocator"] == "docs/design notes (révision).md"


def test_other_bytes_under_the_copys_name_block_and_stay(sqlite_desk: Desk) -> None:
    """AIWG's wrong copy of a race: named, never written over, no receipt made."""
    root = sqlite_desk.workspace.root
    write(root / RAW, b"other bytes\n")
    shown = previewed(sqlite_desk)
    assert (shown.blocked_by, shown.duplicate) == (("intake.raw-conflict",), False)
    with pytest.raises(Refused) as refused:
        confirm(sqlite_desk, shown.operation_id)
    assert refused.value.code == "intake.raw-conflict"
    assert files(root) == {RAW: b"other bytes\n"}
    (root / RAW).unlink()
    assert confirm(sqlite_desk, previewed(sqlite_desk).operation_id).replayed is False


def test_a_copy_without_a_receipt_gets_one_that_says_duplicate(sqlite_desk: Desk) -> None:
    """The copy is not touched, its receipt written."""
    desk = stopped(sqlite_desk)
    write(desk.workspace.root / RAW, BYTES)
    inode = (desk.workspace.root / RAW).stat().st_ino
    shown = previewed(desk)
    assert (shown.duplicate, shown.targets[0].before_digest) == (True, sha(BYTES))
    confirm(desk, shown.operation_id)
    assert (desk.workspace.root / RECEIPT).read_text() == RECEIPT_TEXT % ("true", NINE)
    assert (desk.workspace.root / RAW).stat().st_ino == inode


def test_what_aiwg_took_in_itself_stays_to_the_byte(sqlite_desk: Desk) -> None:
    """Its receipt is the first one; ours only joins the ledger."""
    root = sqlite_desk.workspace.root
    write(root / RAW, BYTES)
    write(root / RECEIPT, (RECEIPT_TEXT % ("false", "2020-01-01T00:00:00.000Z")).encode())
    before = files(root)
    shown = previewed(sqlite_desk)
    assert (shown.duplicate, shown.blocked_by) == (True, ())
    receipt = confirm(sqlite_desk, shown.operation_id)
    assert (receipt.state, files(root)) == (OperationState.APPLIED, before)


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"operationId": "sha256:0"}'])
def test_a_file_that_is_no_receipt_blocks_and_stays(sqlite_desk: Desk, data: bytes) -> None:
    """Named by its own code."""
    root = sqlite_desk.workspace.root
    write(root / RECEIPT, data)
    shown = previewed(sqlite_desk)
    assert shown.blocked_by == ("intake.receipt-conflict",)
    with pytest.raises(Refused):
        confirm(sqlite_desk, shown.operation_id)
    assert files(root) == {RECEIPT: data}


def test_a_copy_that_was_lost_can_be_taken_in_again_and_again(sqlite_desk: Desk) -> None:
    """Each time the copy comes back; the first receipt stays as it was."""
    root = sqlite_desk.workspace.root
    ids = {confirm(sqlite_desk, previewed(sqlite_desk).operation_id).operation_id}
    first = files(root)
    for _ in range(2):
        (root / RAW).unlink()
        shown = previewed(sqlite_desk)
        assert shown.targets[0].before_digest is None
        ids.add(confirm(sqlite_desk, shown.operation_id).operation_id)
        assert files(root) == first
    assert len(ids) == 3


def _outside(root: Path) -> Path:
    return write(root.parent / "outside.md", BYTES)


def _up(root: Path) -> Path:
    _outside(root)
    return root / "sources" / ".." / ".." / "outside.md"


def _link(root: Path) -> Path:
    (root / "link.md").symlink_to(_outside(root))
    return root / "link.md"


def _link_inside(root: Path) -> Path:
    write(root / SOURCE, BYTES)
    (root / "link.md").symlink_to(SOURCE)
    return root / "link.md"


def _folder_link(root: Path) -> Path:
    (root / "elsewhere").symlink_to(root.parent)
    _outside(root)
    return root / "elsewhere" / "outside.md"


def _itself(root: Path) -> Path:
    write(root / SOURCE, BYTES)
    (root / "loop").symlink_to(root)
    return root / "loop" / SOURCE


def _fifo(root: Path) -> Path:
    os.mkfifo(root / "pipe.md")
    return root / "pipe.md"


def _folder(root: Path) -> Path:
    (root / "folder.md").mkdir()
    return root / "folder.md"


def _device(_root: Path) -> Path:
    return Path("/dev/zero")


def _missing(root: Path) -> Path:
    return root / "nothing.md"


def _long(root: Path) -> Path:
    return write(root / ("x" * 240 + ".md"), BYTES)


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "outside": (_outside, "path.outside-workspace"),
    "dots": (_up, "path.outside-workspace"),
    "link out": (_link, "path.outside-workspace"),
    "link inside": (_link_inside, "path.outside-workspace"),
    "link on the way": (_folder_link, "path.outside-workspace"),
    "link to the root": (_itself, "path.outside-workspace"),
    "fifo": (_fifo, "path.not-regular"),
    "folder": (_folder, "path.not-regular"),
    "device": (_device, "path.outside-workspace"),
    "missing": (_missing, "path.not-found"),
    "name too long": (_long, "intake.name"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_source_that_may_not_be_read_is_refused(sqlite_desk: Desk, name: str) -> None:
    """By its code, without an operation and without a file."""
    make, code = REFUSED[name]
    path = make(sqlite_desk.workspace.root)
    with pytest.raises(MemdeskError) as refused:
        intake.preview(sqlite_desk, path)
    assert refused.value.code == code
    with sqlite_desk.store.read() as view:
        assert view.operations.counts() == {}
    assert not (sqlite_desk.workspace.root / ".aiwg").exists()


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", ".ssh/config", "credentials.json", "secrets/key.txt", "tokens.txt",
        "Secret.yaml", "id_rsa", "keys/id_ed25519.pub", "server.pem", "tls.KEY", ".npmrc", ".netrc",
        ".aws/config", ".git/config", ".memdesk/workspace.json", "prod.env", "vault.kdbx",
        "sk-proj-AbCdEf0123456789AbCd.md",
    ],
)  # fmt: skip
def test_names_that_say_credentials_are_refused(sqlite_desk: Desk, name: str) -> None:
    """Anywhere in the path, in any case."""
    path = sqlite_desk.workspace.root / name
    if not path.exists():
        write(path, b"nothing\n")
    with pytest.raises(Refused) as refused:
        intake.preview(sqlite_desk, path)
    assert refused.value.code == "intake.protected-name"


@pytest.mark.parametrize("name", ["tokenizer.md", "secretary.txt", "environment.md", "keys.md"])
def test_plain_names_that_only_begin_alike_are_taken(sqlite_desk: Desk, name: str) -> None:
    """A word that merely begins like one is no credential."""
    assert previewed(sqlite_desk, name).blocked_by == ()


KEY = "AKIA" + "Z234567890ABCDEF"
HOLDING = {
    "text": f"# Notes\n\nkey {KEY}\n".encode(),
    "utf-16": f"# Notes\n\nkey {KEY}\n".encode("utf-16"),
    "after binary": bytes(range(256)) * 10 + b"\n\nkey " + KEY.encode() + b"\n",
    "private key": b"a\nb\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n",
    "pgp key": b"a\nb\n-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n",
}


@pytest.mark.parametrize("name", HOLDING)
def test_a_credential_in_the_text_blocks_and_its_line_is_named(
    sqlite_desk: Desk, name: str
) -> None:
    """The preview tells where, never what; a confirm is refused and nothing written."""
    shown = previewed(sqlite_desk, "notes.bin", HOLDING[name])
    assert shown.blocked_by == ("intake.secret",)
    (told,) = [c.text for c in shown.checks if c.code == "intake.secret"]
    line = 3 if name != "after binary" else 3 + 10
    assert told == f"credential on line {line}"
    assert f"  {told}" in preview_lines(shown)
    assert KEY not in shown.model_dump_json()
    with pytest.raises(Refused) as refused:
        confirm(sqlite_desk, shown.operation_id)
    assert refused.value.code == "intake.secret"
    assert not (sqlite_desk.workspace.root / ".aiwg").exists()


@pytest.mark.parametrize("place", [8185, 8192, 16380, (1 << 20) - 7, 2_000_000])
def test_a_credential_is_found_wherever_the_reading_is_cut(sqlite_desk: Desk, place: int) -> None:
    """Around the borders of blocks and pieces, in lines and in one long line."""
    for filler in (b"word of text\n", b"x y "):
        before = (filler * (place // len(filler) + 1))[:place] + b" "
        shown = previewed(sqlite_desk, "long.md", before + KEY.encode() + b" " + filler * 9_000)
        assert shown.blocked_by == ("intake.secret",), (place, filler)


def _edit(path: Path) -> None:
    path.write_bytes(BYTES.replace(b"Tuesday", b"Fridays"))


def _replace(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "x")


@pytest.mark.parametrize("act", [_edit, Path.unlink, _replace])
@pytest.mark.parametrize("moment", ["before", "planned"])
def test_a_source_that_moves_before_it_is_held_stops_the_write(
    sqlite_desk: Desk, moment: str, act: Callable[[Path], None]
) -> None:
    """Stale, naming the source; no file, nothing held, and a new preview is possible."""
    shown = previewed(sqlite_desk)
    path, desk = sqlite_desk.workspace.root / SOURCE, sqlite_desk
    if moment == "before":
        act(path)
    else:
        desk = at(sqlite_desk, "planned", lambda: act(path))
    with pytest.raises(MemdeskError) as refused:
        confirm(desk, shown.operation_id)
    assert not (sqlite_desk.workspace.root / ".aiwg").exists()
    assert held(sqlite_desk) == []
    if moment == "before":
        assert refused.value.code == "preview.stale"
        (moved,) = operations.show(sqlite_desk, shown.operation_id).moved
        assert (moved.what, moved.name, moved.then) == ("source", SOURCE, sha(BYTES))
    path.unlink(missing_ok=True)
    fresh = previewed(sqlite_desk)
    assert fresh.operation_id == shown.operation_id
    assert confirm(sqlite_desk, fresh.operation_id).state is OperationState.APPLIED


def test_a_source_that_moves_after_it_is_held_changes_nothing(sqlite_desk: Desk) -> None:
    """What was previewed is written, whatever became of the source meanwhile."""
    shown = previewed(sqlite_desk)
    path = sqlite_desk.workspace.root / SOURCE
    confirm(at(sqlite_desk, "prepared", lambda: _edit(path)), shown.operation_id)
    assert (sqlite_desk.workspace.root / RAW).read_bytes() == BYTES
    assert path.read_bytes() != BYTES


def test_a_file_that_is_being_written_is_not_previewed(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one text and half of another has no digest that anybody saw."""
    from core.evidence import survey

    path, real = laid(sqlite_desk), survey._Scan.feed

    def feed(scan: object, data: bytes, *, final: bool = False) -> None:
        with path.open("ab") as file:
            file.write(b"more\n")
        real(scan, data, final=final)  # type: ignore[arg-type]

    monkeypatch.setattr(survey._Scan, "feed", feed)
    with pytest.raises(Stale) as refused:
        intake.preview(sqlite_desk, path)
    assert refused.value.code == "intake.source-changing"


@pytest.mark.parametrize("folder", [".aiwg/wiki/raw", ".aiwg/wiki", str(Path(RECEIPT).parent)])
def test_a_destination_behind_a_link_is_refused(sqlite_desk: Desk, folder: str) -> None:
    """Before and after the preview; the folder outside stays empty."""
    root = sqlite_desk.workspace.root
    early = previewed(sqlite_desk, "early.md", b"early\n")
    outside = root.parent / "elsewhere"
    outside.mkdir()
    (root / folder).parent.mkdir(parents=True)
    (root / folder).symlink_to(outside)
    with pytest.raises(Refused) as refused:
        previewed(sqlite_desk)
    assert refused.value.code == "destination.link"
    with pytest.raises(Stale):
        confirm(sqlite_desk, early.operation_id)
    assert list(outside.iterdir()) == []


def test_a_large_file_never_stands_in_memory(sqlite_desk: Desk) -> None:
    """Preview, confirm and verify of 24 MiB stay under 8 MiB of Python's own memory."""
    path = sqlite_desk.workspace.root / "large.bin"
    with path.open("wb") as file:
        for n in range(24):
            file.write(bytes([65 + n]) * (1 << 20))
    tracemalloc.start()
    try:
        shown = intake.preview(sqlite_desk, path).preview
        confirm(sqlite_desk, shown.operation_id)
        assert intake.preview(sqlite_desk, path).preview.duplicate
        assert verify(sqlite_desk).drift == ()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    copy = sqlite_desk.workspace.root / shown.targets[0].path
    assert copy.read_bytes() == path.read_bytes()
    assert peak < 8 << 20


def test_two_that_confirm_at_once_make_one_copy_and_one_receipt(workspace: Path) -> None:
    """Both are answered with the same receipt."""
    desk = make_desk(workspace)
    shown = previewed(desk)
    answers: list[str] = []
    start = threading.Barrier(2)

    def go() -> None:
        other = make_desk(workspace)
        start.wait()
        answers.append(confirm(other, shown.operation_id).receipt_id)
        other.store.close()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(answers) == 2 and len(set(answers)) == 1
    with desk.store.read() as view:
        assert view.operations.receipt_count() == 1
    assert set(files(workspace)) == {RAW, RECEIPT}
    desk.store.close()


def test_equal_files_of_two_folders_share_one_copy(sqlite_desk: Desk) -> None:
    """The second preview goes stale by the first write; anew it is a duplicate with a receipt."""
    one = previewed(sqlite_desk)
    two = previewed(sqlite_desk, "other/release-train.md")
    confirm(sqlite_desk, one.operation_id)
    with pytest.raises(Stale):
        confirm(sqlite_desk, two.operation_id)
    again = previewed(sqlite_desk, "other/release-train.md")
    assert again.duplicate
    confirm(sqlite_desk, again.operation_id)
    assert sorted(p for p in files(sqlite_desk.workspace.root) if "/raw/" in p) == [RAW]
    assert len(files(sqlite_desk.workspace.root)) == 3


def test_a_copy_changed_by_hand_is_told_by_verify(sqlite_desk: Desk) -> None:
    """Drift with its path, no fault."""
    confirm(sqlite_desk, previewed(sqlite_desk).operation_id)
    (sqlite_desk.workspace.root / RAW).write_bytes(b"forged\n")
    report = verify(sqlite_desk)
    assert report.ok
    assert [(d.code, d.what) for d in report.drift] == [("receipt.drift", RAW)]


def test_a_raw_copy_is_no_wiki_page_and_no_claim(sqlite_desk: Desk) -> None:
    """What it says is neither left over in the wiki nor a duplicate of anything."""
    from core.candidates.propose import propose
    from schemas.candidates import CandidateKind, Related
    from tests.making import pending

    root = sqlite_desk.workspace.root
    words = "Tags are cut every second Tuesday."
    confirm(sqlite_desk, previewed(sqlite_desk, data=words.encode() + b"\n").operation_id)
    (page,) = [p for p in files(root) if "/raw/" in p]
    write(root / ".aiwg/wiki/concepts/raw/page.md", words.encode() + b"\n")
    version = pending(sqlite_desk, "Tags are cut every second Friday.")
    old = Related(ref="x", layer="wiki", code="conflict.same-key", statement=words)
    told = wiki.still_say(sqlite_desk, version, [old])
    assert [t.split(":")[0] for t in told] == [".aiwg/wiki/concepts/raw/page.md"]
    import_paths(sqlite_desk, [root / page])
    (event,) = [e for e in events(sqlite_desk) if e.author == "external"]
    same = propose(
        sqlite_desk, text=words, kind=CandidateKind.PROJECT_FACT, key=None, sources=[event.id]
    )
    assert same.duplicates == ()


def test_a_raw_transcript_holds_no_owner(desk: Desk) -> None:
    """Whoever it says the owner was is external; agents and tools stay what they are."""
    said = record("Remember: tags are cut on Tuesdays.", "u1")
    shown = previewed(desk, "copied.jsonl", said)
    confirm(desk, shown.operation_id)
    raw = desk.workspace.root / shown.targets[0].path
    import_paths(desk, [raw])
    assert {e.author.value for e in events(desk)} == {"external"}
    assert verify(desk).ok


def test_the_session_itself_keeps_its_owner_beside_its_copy(sqlite_desk: Desk) -> None:
    """Copy first or session first: the owner's words are the session's, and linked to no copy."""
    one = record("Remember: tags are cut on Tuesdays.", "u1")
    two = record("Remember: tags are signed.", "u2", sessionId="T")
    for n, data in enumerate((one, two)):
        shown = previewed(sqlite_desk, f"s{n}.jsonl", data)
        confirm(sqlite_desk, shown.operation_id)
        paths = [sqlite_desk.workspace.root / shown.targets[0].path]
        paths.append(sqlite_desk.workspace.root / f"s{n}.jsonl")
        for path in paths if n == 0 else reversed(paths):
            import_paths(sqlite_desk, [path])
    found = events(sqlite_desk)
    assert sorted(e.author.value for e in found) == ["external"] * 2 + ["owner"] * 2
    assert all(e.same_as is None for e in found if e.author == "owner")
    own = {e.session: e.id for e in found if e.author == "owner"}
    assert {e.session: e.same_as for e in found if e.author == "external"}["T"] == own["T"]
    assert verify(sqlite_desk).ok


def test_what_a_killed_process_held_is_swept(sqlite_desk: Desk) -> None:
    """Bytes of an operation that was never prepared do not stay."""
    folder = sqlite_desk.workspace.folder / "staged"
    folder.mkdir()
    (folder / ("op_" + "0" * 32 + "-0")).write_bytes(BYTES)
    recover(sqlite_desk)
    assert held(sqlite_desk) == []


def test_held_bytes_that_were_altered_are_never_written(sqlite_desk: Desk) -> None:
    """The write fails before a byte is in place, and can be previewed again."""
    shown = previewed(sqlite_desk)
    path = sqlite_desk.workspace.folder / "staged" / f"{shown.operation_id}-0"
    desk = at(sqlite_desk, "prepared", lambda: path.write_bytes(b"forged\n"))
    with pytest.raises(MemdeskError) as refused:
        confirm(desk, shown.operation_id)
    assert refused.value.code == "operation.staged-lost"
    assert files(sqlite_desk.workspace.root) == {}
    assert held(sqlite_desk) == []
    assert confirm(sqlite_desk, shown.operation_id).state is OperationState.APPLIED


def test_the_command_previews_and_confirm_applies(command: Command, workspace: Path) -> None:
    """`evidence intake` then `promotion confirm`; keys of every preview; exit statuses."""
    command.json("init")
    path = write(workspace / SOURCE, BYTES)
    shown = command.json("evidence", "intake", str(path))
    assert set(shown) >= {
        "operation_id", "action", "targets", "sources", "conflicts", "duplicate", "supersedes",
        "blocked_by", "affects",
    }  # fmt: skip
    assert not (workspace / ".aiwg").exists()
    status, out, _ = command.run("evidence", "intake", str(path))
    assert status == 0
    assert f"{RAW}  new → f05f7d5a  93 bytes, copied from {SOURCE}" in out
    receipt = command.json("promotion", "confirm", shown["operation_id"])
    assert (receipt["state"], receipt["consumer"], receipt["replayed"]) == ("applied", "raw", False)
    assert command.json("promotion", "receipts")["items"] == [receipt]
    assert command.json("evidence", "intake", str(path))["duplicate"] is True
    for given, code, status in (
        (workspace / "no.md", "path.not-found", 4),
        (workspace.parent, "path.outside-workspace", 3),
        (write(workspace / ".env", b"A=1\n"), "intake.protected-name", 3),
    ):
        error = command.json("evidence", "intake", str(given), status=status)["error"]
        assert error["code"] == code and error["remedy"]
    write(path, b"Another text.\n")
    stale = command.json("evidence", "intake", str(path))
    write(path, b"And another one.\n")
    error = command.json("promotion", "confirm", stale["operation_id"], status=5)["error"]
    assert error["code"] == "preview.stale"
    assert [m["name"] for m in error["details"]["moved"]] == [SOURCE]
