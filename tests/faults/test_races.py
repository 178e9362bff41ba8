"""Others at the destination while we write: no edit is lost, one confirm wins (spec 5.4)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.operations import durable
from core.operations.confirm import confirm
from core.ports import Desk
from core.workspace import Workspace
from schemas.errors import MemdeskError, Stale
from schemas.operations import OperationState
from tests.conftest import make_desk
from tests.making import LOCK, TEXT, files, previewed, sha

EDITOR = """
import os, sys, itertools
path, stop, log = sys.argv[1:]
for n in itertools.count():
    if os.path.exists(stop):
        break
    with open(path, "rb") as file:
        data = file.read()
    line = b"edit %d\\n" % n
    with open(path + ".mine", "wb") as file:
        file.write(data + line)
    os.rename(path + ".mine", path)
    with open(log, "ab") as file:
        file.write(line)
"""


def test_no_racing_edit_is_lost_in_three_hundred_writes(tmp_path: Path) -> None:
    """An editor rewrites the file by rename as fast as it can; each of its lines is kept.

    It stands in the file or in a kept copy beside it, or, where the editor read our bytes in the
    instant they stood there and then saved over an edit given back, in what the refusal holds.
    """
    root = tmp_path / "w"
    root.mkdir()
    place = Workspace(root, "0" * 32, "1" * 32)
    path, stop, log = root / "f.txt", tmp_path / "stop", tmp_path / "log"
    path.write_bytes(b"first\n")
    command = [sys.executable, "-c", EDITOR, str(path), str(stop), str(log)]
    editor = subprocess.Popen(command)
    outcomes = {"applied": 0, "diverged": 0}
    refused: list[bytes] = []
    while not log.exists():
        assert editor.poll() is None
    for n in range(300):
        before = path.read_bytes()
        line = b"ours %d\n" % n
        swap = durable.Swap(
            f"op_{n:032x}", 0, "f.txt", sha(before), sha(before + line), before + line
        )
        try:
            durable.apply(place, swap, lambda _name: None)
            outcomes["applied"] += 1
        except durable.Diverged as err:
            outcomes["diverged"] += 1
            refused.append(err.found)
    stop.touch()
    assert editor.wait(timeout=20) == 0
    made = log.read_bytes().splitlines()
    held = [p.read_bytes() for p in root.glob("f.txt*")] + refused
    kept = {line for data in held for line in data.splitlines()}
    assert [line for line in made if line not in kept] == []
    assert outcomes["diverged"] > 0, "the editor never raced"
    assert len(made) > 300
    assert [p.name for p in root.iterdir() if p.name.startswith(".")] == []


def at_step(desk: Desk, name: str, act: Callable[[], None]) -> Desk:
    """The desk that does something once, at one named step."""
    waiting = [name]

    def step(reached: str) -> None:
        if waiting and reached == waiting[0]:
            waiting.clear()
            act()

    return replace(desk, on_step=step)


def renamed(path: Path, data: bytes) -> None:
    """A save by rename, as editors do."""
    path.with_name("saved").write_bytes(data)
    path.with_name("saved").rename(path)


@pytest.mark.parametrize(
    "edit",
    [b"", b"A line.\n", b"Another text.\n", b"A line.\nReleases are tagged on Tuesdays.\nMore.\n"],
    ids=["emptied", "cut to a prefix of ours", "rewritten", "extended"],
)
@pytest.mark.parametrize("step", ["temporary-0", "staged-0"])
def test_an_edit_between_look_and_exchange_goes_back(
    sqlite_desk: Desk, step: str, edit: bytes
) -> None:
    """The displaced edit returns to its place; the confirm is refused as diverged."""
    path = sqlite_desk.workspace.root / TEXT
    path.parent.mkdir(parents=True)
    path.write_bytes(b"A line.\nA second one.\n")
    shown = previewed(sqlite_desk)
    racing = at_step(sqlite_desk, step, lambda: renamed(path, edit))
    with pytest.raises(Stale) as refused:
        confirm(racing, shown.operation_id)
    assert refused.value.code == "operation.diverged"
    assert path.read_bytes() == edit
    assert set(files(sqlite_desk.workspace.root)) == {TEXT}
    with desk_view(sqlite_desk) as view:
        ((where, found, _wanted),) = view.operations.divergence(shown.operation_id)
    assert (where, found) == (TEXT, edit)


def desk_view(desk: Desk):  # type: ignore[no-untyped-def]
    """A read view."""
    return desk.store.read()


def test_a_second_edit_during_the_way_back_is_kept_too(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest edit stands in the file, the overtaken one beside it under a plain name."""
    root = sqlite_desk.workspace.root
    path = root / TEXT
    path.parent.mkdir(parents=True)
    path.write_bytes(b"A line.\n")
    shown = previewed(sqlite_desk)
    real, calls = durable._exchange, []

    def exchange(folder: int, one: str, other: str) -> None:
        calls.append(other)
        if len(calls) == 1:
            renamed(path, b"first edit\n")
        if len(calls) == 2:
            renamed(path, b"second edit\n")
        real(folder, one, other)

    monkeypatch.setattr(durable, "_exchange", exchange)
    with pytest.raises(Stale) as refused:
        confirm(sqlite_desk, shown.operation_id)
    kept = str(refused.value.details["kept"])
    assert path.read_bytes() == b"second edit\n"
    assert (path.parent / kept).read_bytes() == b"first edit\n"
    assert not kept.startswith(".")


@pytest.mark.parametrize("kind", ["gone", "link", "folder"])
def test_a_destination_replaced_by_something_else_stays_so(sqlite_desk: Desk, kind: str) -> None:
    """Removed, or turned into a link or a folder just before the exchange: never written through."""
    root = sqlite_desk.workspace.root
    path = root / TEXT
    path.parent.mkdir(parents=True)
    path.write_bytes(b"A line.\n")
    outside = root / "outside"
    outside.write_bytes(b"not ours\n")
    shown = previewed(sqlite_desk)

    def replace_it() -> None:
        path.unlink()
        if kind == "link":
            path.symlink_to(outside)
        elif kind == "folder":
            path.mkdir()

    with pytest.raises(MemdeskError) as refused:
        confirm(at_step(sqlite_desk, "staged-0", replace_it), shown.operation_id)
    assert refused.value.code == "operation.diverged"
    assert outside.read_bytes() == b"not ours\n"
    assert path.is_symlink() is (kind == "link")
    assert path.is_dir() is (kind == "folder")
    assert not [n for n in os.listdir(path.parent) if n.startswith(".")]


def test_a_file_that_appears_where_none_was_stays(sqlite_desk: Desk) -> None:
    """A new destination is made with a link that never replaces."""
    path = sqlite_desk.workspace.root / TEXT
    shown = previewed(sqlite_desk)
    racing = at_step(sqlite_desk, "staged-0", lambda: renamed(path, b"theirs\n"))
    with pytest.raises(Stale):
        confirm(racing, shown.operation_id)
    assert files(sqlite_desk.workspace.root) == {TEXT: b"theirs\n"}


CONFIRMER = """
import json, sys
from pathlib import Path
import core.promotion
from core import desk as desks
from core.operations.confirm import confirm
from schemas.common import Actor, Door
who = Actor(reviewer=sys.argv[3], door=Door.COMMAND)
desk = desks.open_(Path(sys.argv[1]), who, store_url=sys.argv[4] or None)
print("ready", flush=True); sys.stdin.readline()
receipt = confirm(desk, sys.argv[2])
print(json.dumps([receipt.receipt_id, receipt.reviewer, receipt.replayed]))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def contested(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Desk, str]]:
    """A desk that others open as well, and the URL of its store; empty for the file beside it."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    desk = make_desk(tmp_path / "contested", url or None)
    yield desk, url
    desk.store.close()


def test_eight_processes_confirm_one_operation_once(contested: tuple[Desk, str]) -> None:
    """One receipt, by one reviewer; the other seven are replays of it (G2)."""
    desk, url = contested
    root = desk.workspace.root
    shown = previewed(desk)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CONFIRMER, str(root), shown.operation_id, f"r{n}", url],
            **pipes,  # type: ignore[call-overload]
        )
        for n in range(8)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    found = [json.loads(child.communicate(timeout=60)[0]) for child in children]
    assert len({(receipt, who) for receipt, who, _ in found}) == 1
    assert sorted(replayed for _, _, replayed in found) == [False] + [True] * 7
    assert (root / TEXT).read_bytes() == b"Releases are tagged on Tuesdays.\n"
    with desk.store.read() as view:
        assert view.operations.receipt_count() == 1


def test_threads_confirm_different_operations_one_after_the_other(
    contested: tuple[Desk, str],
) -> None:
    """Six previews of one state: one is applied, the others are stale and write nothing."""
    desk, _url = contested
    shown = [previewed(desk, f"Service {n} listens on port 80{n}0.") for n in range(6)]
    outcomes: list[str] = []

    def one(operation: str) -> None:
        try:
            outcomes.append(confirm(desk, operation).state.value)
        except MemdeskError as err:
            outcomes.append(err.code)

    threads = [threading.Thread(target=one, args=(p.operation_id,)) for p in shown]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(outcomes) == ["applied"] + ["preview.stale"] * 5
    assert (desk.workspace.root / TEXT).read_bytes().count(b"\n") == 1


# AIWG's lock


def short_wait(desk: Desk) -> Desk:
    """The desk with the least wait for a lock."""
    config = desk.workspace.folder / "config.toml"
    text = config.read_text()
    assert "lockTimeoutMs = 5000" in text
    config.write_text(text.replace("lockTimeoutMs = 5000", "lockTimeoutMs = 100"))
    return desk


def dead_pid() -> int:
    """A pid that ran and does not any more."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    return child.pid


def test_a_dead_owners_lock_is_taken_over(sqlite_desk: Desk) -> None:
    """The lock of a process that is gone does not stop anybody."""
    shown = previewed(sqlite_desk)
    lock = sqlite_desk.workspace.root / LOCK
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"pid": dead_pid(), "createdAt": "2026-11-30T09:00:00.000Z"}) + "\n")
    assert confirm(sqlite_desk, shown.operation_id).state is OperationState.APPLIED
    assert not lock.exists()


@pytest.mark.parametrize(
    "body",
    ["ALIVE", "", "{", '{"pid": "7"}', '{"pid": -1}', "[]", '{"createdAt": 1}'],
)
def test_a_live_or_unreadable_lock_is_honoured(sqlite_desk: Desk, body: str) -> None:
    """Nobody's lock is taken but a dead one's: `line-memory.locked`, nothing written."""
    desk = short_wait(sqlite_desk)
    shown = previewed(desk)
    lock = desk.workspace.root / LOCK
    lock.parent.mkdir(parents=True)
    written = json.dumps({"pid": os.getppid()}) if body == "ALIVE" else body
    lock.write_text(written)
    start = time.monotonic()
    with pytest.raises(Stale) as refused:
        confirm(desk, shown.operation_id)
    assert refused.value.code == "line-memory.locked"
    assert time.monotonic() - start < 5
    assert files(desk.workspace.root) == {LOCK: written.encode()}
    lock.unlink()
    assert confirm(desk, shown.operation_id).state is OperationState.APPLIED


def test_the_lock_names_our_process_while_it_is_held(sqlite_desk: Desk) -> None:
    """AIWG's body: pid and time on one line; gone afterwards."""
    shown = previewed(sqlite_desk)
    lock = sqlite_desk.workspace.root / LOCK
    seen: list[str] = []
    confirm(
        at_step(sqlite_desk, "planned", lambda: seen.append(lock.read_text())), shown.operation_id
    )
    (body,) = seen
    assert body.endswith("\n")
    assert list(json.loads(body)) == ["pid", "createdAt"]
    assert json.loads(body)["pid"] == os.getpid()
    assert not lock.exists()


def test_the_journal_is_aiwgs_and_stands_only_while_we_write(sqlite_desk: Desk) -> None:
    """Its id hashes as AIWG's, its contents are the previewed bytes; gone afterwards."""
    import hashlib

    root = sqlite_desk.workspace.root
    shown = previewed(sqlite_desk)
    seen: list[dict[str, str]] = []

    def look() -> None:
        (path,) = (root / ".aiwg/memory/transactions").iterdir()
        document = json.loads(path.read_bytes())
        assert path.name == f"{document['operationId']}.json"
        seen.append(document)

    confirm(at_step(sqlite_desk, "journalled", look), shown.operation_id)
    (document,) = seen
    assert list(document) == [
        "schemaVersion", "operationId", "operation", "memoryPath", "metadataPath",
        "memoryContent", "metadataContent",
    ]  # fmt: skip
    digests = [t.after_digest for t in shown.targets]
    held = [document["memoryContent"], document["metadataContent"]]
    assert ["sha256:" + hashlib.sha256(x.encode()).hexdigest() for x in held] == digests
    assert len(document["operationId"]) == 64
    assert list((root / ".aiwg/memory/transactions").iterdir()) == []


def test_a_save_that_falls_on_an_edit_just_given_back_loses_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three saves, each in the instant that hurts most; all their bytes are on disk at the end."""
    root = tmp_path / "w"
    root.mkdir()
    path = root / "f.txt"
    path.write_bytes(b"before\n")
    real, calls = durable._exchange, [0]

    def save(data: bytes) -> None:
        other = root / "f.txt.mine"
        other.write_bytes(data)
        os.rename(other, path)

    def exchange(folder: int, one: str, two: str) -> None:
        calls[0] += 1
        if calls[0] == 1:
            save(b"before\nfirst edit\n")
        if calls[0] == 2:
            save(b"ours\nsecond edit\n")
        if calls[0] == 3:
            save(b"ours\nsecond edit\nthird edit\n")
        real(folder, one, two)

    monkeypatch.setattr(durable, "_exchange", exchange)
    swap = durable.Swap("op_" + "0" * 32, 0, "f.txt", sha(b"before\n"), sha(b"ours\n"), b"ours\n")
    with pytest.raises(durable.Diverged):
        durable.apply(Workspace(root, "0" * 32, "1" * 32), swap, lambda _name: None)
    held = b"".join(p.read_bytes() for p in root.iterdir())
    assert calls[0] == 3
    for edit in (b"first edit", b"second edit", b"third edit"):
        assert edit in held
