"""What a confirm costs the disk and survives: syncs counted, clocks, modes, the other database."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.operations.confirm import confirm, recover
from core.ports import Desk
from core.promotion import lifecycle, preview
from core.verify import verify
from schemas.common import Page
from tests.conftest import START, make_desk
from tests.faults import child
from tests.making import TEXT, accepted, files, previewed, ref, sha
from tests.promotion.test_lifecycle import NEW, OLD, belief, promoted, state

JOURNAL_SYNCS = 3
"""Its file, the folder it appears in, the folder it goes from."""
FILE_SYNCS = 2
"""A target's own bytes before the exchange, its folder after it."""

TRACED = """
import sys
from pathlib import Path
from core import desk as desks
from core.operations.confirm import confirm
import core.promotion
from schemas.common import Actor, Door
desk = desks.open_(Path(sys.argv[1]), Actor(reviewer="Ana", door=Door.COMMAND))
with open("/dev/null", "wb") as mark:
    mark.write(b"begin"); mark.flush()
    confirm(desk, sys.argv[2])
    mark.write(b"end"); mark.flush()
"""


def test_a_confirm_syncs_each_thing_once(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven syncs of files and folders, two commits that SQLite syncs: fewer would lose, more cost."""
    promoted(sqlite_desk, "Another line.")
    shown = previewed(sqlite_desk)
    real, calls = os.fsync, []

    def counted(handle: int) -> None:
        calls.append(handle)
        real(handle)

    monkeypatch.setattr(os, "fsync", counted)
    commits = []
    with sqlite_desk.store.write() as unit:
        raw = unit._c.connection.dbapi_connection  # type: ignore[attr-defined]
        assert raw.execute("PRAGMA synchronous").fetchone() == (2,)
    raw.set_trace_callback(lambda words: commits.append(words) if words == "COMMIT" else None)
    confirm(sqlite_desk, shown.operation_id)
    raw.set_trace_callback(None)
    assert len(calls) == JOURNAL_SYNCS + 2 * FILE_SYNCS
    assert len(commits) == 2, "prepared with its bytes, then receipt and belief"


def test_the_kernel_counts_the_same(sqlite_desk: Desk, tmp_path: Path) -> None:
    """The same by a tracer where there is one: every sync of the process, SQLite's among them."""
    promoted(sqlite_desk, "Another line.")  # its folders are made and synced once
    shown = previewed(sqlite_desk)
    log = tmp_path / "trace"
    command = [sys.executable, "-c", TRACED, str(sqlite_desk.workspace.root), shown.operation_id]
    if tracer := shutil.which("strace"):
        command = [tracer, "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(log), *command]
    subprocess.run(command, check=True, timeout=120)
    assert (sqlite_desk.workspace.root / TEXT).exists()
    if tracer:
        text = log.read_text()
        inside = text[text.index('"begin"') : text.index('"end"')]
        synced = len(re.findall(r"\bf(?:data)?sync\(", inside))
        least = JOURNAL_SYNCS + 2 * FILE_SYNCS + 2
        assert synced in (least, least + 1), "one more when SQLite begins a new log"


@pytest.mark.parametrize(
    "step", ["prepared", "journalled", "exchanged-0", "displaced-removed-1", "written", "recorded"]
)
def test_on_postgresql_a_killed_confirm_ends_exactly_once(
    step: str, tmp_path: Path, postgres_url: str
) -> None:
    """The outbox in another process's database: the same promise."""
    workspace = tmp_path / "team"
    desk = make_desk(workspace, postgres_url)
    shown = previewed(desk)
    status, reached = child.run(workspace, shown.operation_id, step, postgres_url)
    assert (status, reached[-1]) == (-signal.SIGKILL, step)
    recover(desk)
    wanted = {t.path: t.after_digest for t in shown.targets}
    assert {p: sha(d) for p, d in files(workspace).items()} == wanted
    assert confirm(desk, shown.operation_id).replayed
    with desk.store.read() as view:
        assert view.operations.receipt_count() == 1
        assert view.operations.outbox(shown.operation_id) == []
    assert verify(desk).ok
    desk.store.close()


def test_a_clock_that_goes_backwards_changes_no_order(workspace: Path) -> None:
    """Each reading is earlier than the one before: what follows what is told by the chain."""
    ticks = itertools.count(START, -1_000_000)
    desk = make_desk(workspace, clock=lambda: next(ticks))
    _, first = promoted(desk, OLD)
    _, second = promoted(desk, NEW)
    shown = lifecycle.preview(desk, "revoke", belief(desk, second.belief))
    third = confirm(desk, shown.preview.operation_id)
    assert confirm(desk, shown.preview.operation_id) == third.model_copy(update={"replayed": True})
    seqs = [r.ledger_seq for r in (first, second, third)]
    assert seqs == sorted(seqs) and first.time > second.time > third.time
    assert (state(desk, first.belief), state(desk, second.belief)) == ("superseded", "revoked")
    with desk.store.read() as view:
        assert view.promotion.beliefs(Page(limit=9), START + 1)[0] == []
    assert verify(desk).ok
    desk.store.close()


@pytest.mark.parametrize("step", ["planned", "temporary-0", "staged-0"])
def test_a_mode_changed_meanwhile_holds(sqlite_desk: Desk, step: str) -> None:
    """Whoever closes the file while we write finds it closed."""
    desk = sqlite_desk
    promoted(desk, "Another line.")
    path = desk.workspace.root / TEXT
    path.chmod(0o644)
    shown = previewed(desk)

    def close(name: str) -> None:
        if name == step:
            path.chmod(0o600)

    confirm(replace(desk, on_step=close), shown.operation_id)
    assert path.stat().st_mode & 0o777 == 0o600
    assert verify(desk).ok


def test_a_folder_on_another_device_is_no_way_around_the_exchange(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our bytes wait beside their destination: a rename never leaves the device it is on."""
    seen: list[tuple[int, int]] = []
    real = os.rename

    def watched(old: str, new: str, **kw: int) -> None:
        if "src_dir_fd" in kw:
            seen.append((os.fstat(kw["src_dir_fd"]).st_dev, os.fstat(kw["dst_dir_fd"]).st_dev))
            assert kw["src_dir_fd"] == kw["dst_dir_fd"]
        real(old, new, **kw)

    monkeypatch.setattr(os, "rename", watched)
    version = accepted(sqlite_desk, "A page.")
    confirm(sqlite_desk, preview.exact(sqlite_desk, ref(version), "wiki").preview.operation_id)
    confirm(sqlite_desk, previewed(sqlite_desk).operation_id)
    assert len(seen) >= 3 and all(a == b for a, b in seen)


def test_the_store_says_how_it_syncs(sqlite_desk: Desk) -> None:
    """WAL, read by another connection: what a commit needs to be durable with one sync."""
    with closing(sqlite3.connect(sqlite_desk.workspace.folder / "memdesk.db")) as lite:
        assert lite.execute("PRAGMA journal_mode").fetchone() == ("wal",)
