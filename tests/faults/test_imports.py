"""Imports that are killed, interrupted, or race: no event lost, none twice (spec 1.3)."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import MemdeskError
from tests.conftest import DATA, Cli, make_desk, record, write
from tests.desks import events, rebuilt

_SLOW = "batch_events = 5"
_RUN = """
import json, os, signal, sys
from pathlib import Path
from core import desk as desks
from core.evidence import import_
from schemas.common import Actor, Door
root, tree, die_at, how = sys.argv[1:]
desk = desks.open_(Path(root), Actor(reviewer="R", door=Door.COMMAND))
steps, real = [0], import_._Run._commit
def commit(self, batch):
    steps[0] += 1
    if steps[0] == int(die_at) and how == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, batch)
    if steps[0] == int(die_at) and how == "after":
        os.kill(os.getpid(), signal.SIGKILL)
import_._Run._commit = commit
report = import_.import_paths(desk, [tree])
desk.store.close()
print(json.dumps({"new": report.new, "read": report.read, "duplicate": report.duplicate}))
"""


def tree(folder: Path) -> Path:
    """A folder as clients leave it: projects, subagents, copies of records, a torn line, notes."""
    chosen = random.Random(7)
    for p in range(3):
        for s in range(4):
            lines = [record(f"{p} {s} {n} " + "x" * chosen.randrange(900), f"u{p}{s}{n}",
                            sessionId=f"S{p}{s}") for n in range(40)]  # fmt: skip
            write(folder / f"p{p}" / f"s{s}.jsonl", *lines, b'{"type":"user","torn')
        agent = record("agent", f"a{p}", sessionId=f"S{p}0", isSidechain=True, agentId="x")
        write(folder / f"p{p}" / "s0" / "subagents" / "agent-x.jsonl", agent * 3)
    write(folder / "p0" / "notes.md", b"# One\n\nUse tabs.\n\n# Two\n\nNo tabs.\n")
    shutil.copy(next((DATA / "claude-code").rglob("*.jsonl")), folder / "p1" / "real.jsonl")
    return folder


def slowed(desk: Desk) -> None:
    """Small batches, so that there are many moments between two commits."""
    config = desk.workspace.folder / "config.toml"
    config.write_text(config.read_text().replace("batch_events = 500", _SLOW))
    assert _SLOW in config.read_text()


def told(desk: Desk) -> list[tuple[str, int, int, str, str, str]]:
    """Every event by what it is in its file, whatever the workspace calls it."""
    found = [(e.line, e.part, e.session, e.text, e.kind.value) for e in events(desk)]
    return sorted(("", *row) for row in found)  # type: ignore[misc]


def started(root: Path, *args: str) -> subprocess.Popen[str]:
    """A process of its own that imports."""
    command = [sys.executable, "-c", _RUN, str(root), *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_killed_again_and_again_it_ends_with_what_one_import_stores(
    workspace: Path, tmp_path: Path
) -> None:
    """SIGKILL before or right after a commit chosen at random, until one run reaches the end."""
    heap = tree(tmp_path / "heap")
    desk = make_desk(workspace)
    slowed(desk)
    chosen, deaths = random.Random(11), 0
    while True:
        how = chosen.choice(["before", "after"])
        process = started(workspace, str(heap), str(chosen.randrange(8, 40)), how)
        out, _ = process.communicate(timeout=120)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        deaths += 1
        assert verify(desk).ok
    assert deaths >= 3
    whole = make_desk(tmp_path / "other")
    report = import_paths(whole, [heap])
    assert told(desk) == told(whole)
    assert json.loads(out)["read"] == report.read
    assert import_paths(desk, [heap]).new == 0
    assert verify(desk).ok
    with desk.store.read() as view:
        ids = [e.id for e in events(desk)]
        assert len(set(ids)) == len(ids) == view.evidence.counts()["events"]
    desk.store.close()
    whole.store.close()


def test_two_processes_import_one_tree_and_share_the_work(workspace: Path, tmp_path: Path) -> None:
    """Every event is new to exactly one of them; each ends with all of them read."""
    heap = tree(tmp_path / "heap")
    desk = make_desk(workspace)
    slowed(desk)
    both = [started(workspace, str(heap), "0", "never") for _ in range(2)]
    outs = [p.communicate(timeout=240)[0] for p in both]
    assert [p.returncode for p in both] == [0, 0]
    counts = [json.loads(out) for out in outs]
    whole = make_desk(tmp_path / "other")
    report = import_paths(whole, [heap])
    assert sum(c["new"] for c in counts) == report.new
    assert [c["read"] for c in counts] == [report.read] * 2
    assert told(desk) == told(whole)
    assert verify(desk).ok
    desk.store.close()
    whole.store.close()


def test_ctrl_c_ends_with_130_and_leaves_whole_batches(cli: Cli, tmp_path: Path) -> None:
    """SIGINT after the first commit: no traceback, a sound store, and the rest comes next time."""
    lines = [record(f"line {n} " + "x" * 500, f"u{n}") for n in range(2_000)]
    path = write(tmp_path / "s.jsonl", *lines)
    cli.json("init")
    desk = make_desk(cli.root)
    slowed(desk)
    command = [str(cli.script), "--workspace", str(cli.root), "evidence", "import", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None:
        with desk.store.read() as view:
            if view.evidence.counts()["events"]:
                break
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert verify(desk).ok
    report = import_paths(desk, [path])
    assert 0 < report.duplicate < 2_000 and report.read == 2_000
    assert rebuilt(desk, report.files[0].id) == path.read_bytes()
    desk.store.close()


@pytest.mark.parametrize("harm", ["shorter", "replaced", "rewritten"])
def test_a_file_that_changes_under_the_reader_costs_no_evidence(
    sqlite_desk: Desk, tmp_path: Path, harm: str
) -> None:
    """Truncated, exchanged by a rename, or overwritten in place while it is read.

    What was committed is evidence of what stood there; the next import reads what stands now.
    """
    path = write(
        tmp_path / "s.jsonl", *(record(f"t{n} " + "x" * 900, f"u{n}") for n in range(3000))
    )
    new = b"".join(record(f"new {n}", f"n{n}") for n in range(5))
    done: list[int] = []

    def change(_path: str, _read: int, _size: int) -> None:
        if done:
            return
        done.append(1)
        if harm == "replaced":
            write(tmp_path / "next", new)
            os.replace(tmp_path / "next", path)
        elif harm == "shorter":
            os.truncate(path, 1_500_000)
        else:
            path.write_bytes(new)

    with contextlib.suppress(MemdeskError):
        import_paths(sqlite_desk, [path], progress=change)
    assert done
    report = import_paths(sqlite_desk, [path])
    there, stored = path.read_bytes(), rebuilt(sqlite_desk, report.files[0].id)
    # What is past the last whole record waits; an older, longer reading stays what it was.
    assert stored[: len(there) - 2_000] == there[: len(stored)][: len(there) - 2_000]
    texts = [e.text for e in events(sqlite_desk)]
    if harm != "shorter":
        assert texts[-5:] == [f"new {n}" for n in range(5)]
    assert "t0 " + "x" * 900 in texts
    assert verify(sqlite_desk).ok, verify(sqlite_desk).faults
    again = import_paths(sqlite_desk, [path])
    assert again.new == 0
