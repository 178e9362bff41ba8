"""Artifacts: kept whole, read in part, verified on every read, on both databases (spec 1.5)."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.evidence import artifacts
from core.ports import Desk
from core.verify import verify
from schemas.common import Page
from schemas.errors import MemdeskError, NotFound, Refused, Unusable
from tests.conftest import Cli

MIB = 1 << 20


def text(size: int, seed: int = 1) -> bytes:
    """Lines of many lengths, some longer than a chunk, without a final newline."""
    chosen = random.Random(seed)
    out = bytearray()
    while len(out) < size:
        length = chosen.choice((0, 7, 80, 900, 2 * MIB if len(out) == 0 else 300))
        out += chosen.randbytes(length).replace(b"\n", b" ") + b"\n"
    return bytes(out[:size]) + b"end"


def kept(desk: Desk, path: Path, data: bytes) -> str:
    """Add these bytes at a path; the revision's id."""
    path.write_bytes(data)
    return artifacts.add(desk, path)[0].id


def whole(desk: Desk, ref: str, **range_: str) -> bytes:
    return b"".join(artifacts.read(desk, artifacts.part(desk, ref, **range_)))


@contextlib.contextmanager
def directly(url: str) -> Iterator[sa.Connection]:
    """A transaction behind the product's back."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def tamper(desk: Desk, digest: str, chunk: int, change: bytes | None) -> None:
    """Alter or delete one chunk's bytes as no command would."""
    if desk.store.describe()["backend"] == "sqlite":
        path = desk.workspace.folder / "artifacts" / digest[:2] / digest
        data = bytearray(path.read_bytes())
        place = slice(chunk * MIB, (chunk + 1) * MIB)
        data[place] = b"" if change is None else change + data[place][len(change) :]
        path.chmod(0o600)
        path.write_bytes(data)
        return
    where = f"digest = '\\x{digest}' AND chunk = {chunk}"
    with directly(desk.store._db.url) as connection:  # type: ignore[attr-defined]
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        if change is None:
            connection.exec_driver_sql(f"DELETE FROM artifact_bytes WHERE {where}")
        else:
            connection.exec_driver_sql(
                f"UPDATE artifact_bytes SET data = '\\x{change.hex()}' || substr(data, "
                f"{len(change) + 1}) WHERE {where}"
            )


@pytest.mark.parametrize("size", [0, 1, MIB - 4, MIB - 3, MIB, 3 * MIB + 17])
def test_bytes_come_back_whole(desk: Desk, tmp_path: Path, size: int) -> None:
    """At every chunk border, and for an empty file."""
    data = text(size) if size else b""
    name = kept(desk, tmp_path / "a.bin", data)
    assert whole(desk, name) == data
    with desk.store.read() as view:
        found = view.artifacts.revision(name)
    assert found and found.size == len(data)
    assert found.lines == data.count(b"\n") + (not data.endswith(b"\n") if data else 0)
    assert whole(desk, found.locator) == data
    assert verify(desk).ok


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_part_is_that_part(sqlite_desk: Desk, tmp_path: Path, data: st.DataObject) -> None:
    """Any range of bytes or lines equals the slice of the file, and costs its chunks alone."""
    if not (tmp_path / "a").exists():
        kept(sqlite_desk, tmp_path / "a", text(4 * MIB, 5))
    all_ = (tmp_path / "a").read_bytes()
    lines = all_.split(b"\n")
    with sqlite_desk.store.read() as view:
        found = view.artifacts.list(Page(limit=1))[0][0]
    start = data.draw(st.integers(0, len(all_)))
    end = data.draw(st.integers(start, len(all_)))
    assert whole(sqlite_desk, found.id, bytes_=f"{start}:{end}") == all_[start:end]
    span = f"{found.locator}#b{start}-{end}"
    assert whole(sqlite_desk, span) == all_[start:end]
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    wanted = b"\n".join(lines[first - 1 : last]) + (b"\n" if last < len(lines) else b"")
    assert whole(sqlite_desk, found.id, lines=f"{first}:{last}") == wanted


def test_a_range_reads_no_other_chunk(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred lines from the middle of 24 MiB: the chunks they lie in, and no more."""
    data = b"".join(b"%07d %s\n" % (n, b"x" * 90) for n in range(250_000))
    name = kept(desk, tmp_path / "big.log", data)
    touched: list[int] = []
    real = type(desk.store.blobs).chunk

    def counted(self: object, digest: bytes, number: int) -> bytes | None:
        touched.append(number)
        return real(self, digest, number)  # type: ignore[arg-type]

    monkeypatch.setattr(type(desk.store.blobs), "chunk", counted)
    part = artifacts.part(desk, name, lines="120000:120099")
    got = b"".join(artifacts.read(desk, part))
    assert got == b"".join(data.splitlines(keepends=True)[119_999:120_099])
    assert set(touched) <= set(range(part.start // MIB, part.end // MIB + 1))


def bytes_read() -> int:
    """What this process has read from files so far, by the kernel's count."""
    (line,) = [x for x in Path("/proc/self/io").read_text().splitlines() if x.startswith("rchar")]
    return int(line.split()[1])


def test_a_range_of_a_large_file_costs_its_chunks(sqlite_desk: Desk, tmp_path: Path) -> None:
    """A hundred lines of 100 MB: the kernel counts what is read, all of it, database included."""
    line = b"%07d " + b"x" * 91 + b"\n"
    path = tmp_path / "big.log"
    with path.open("wb") as out:
        for block in range(100):
            out.write(b"".join(line % n for n in range(block * 10_000, block * 10_000 + 10_000)))
    found, _new = artifacts.add(sqlite_desk, path)
    whole(sqlite_desk, found.id, lines="1:1")
    before = bytes_read()
    got = whole(sqlite_desk, found.id, lines="500000:500099")
    cost = bytes_read() - before
    assert got == b"".join(line % n for n in range(499_999, 500_099))
    # A hundred lines lie in at most two chunks; each end is looked up in its chunk once more.
    assert cost < 5 * MIB, cost


def test_equal_bytes_are_kept_once_and_paths_have_revisions(desk: Desk, tmp_path: Path) -> None:
    """The same bytes elsewhere share their place; the older revision of a path is marked."""
    one, again = tmp_path / "one.txt", tmp_path / "again.txt"
    first = kept(desk, one, b"first\n")
    assert artifacts.add(desk, one)[1] is False
    kept(desk, again, b"first\n")
    second = kept(desk, one, b"second\n")
    back = kept(desk, one, b"first\n")
    assert len({first, second, back}) == 3
    with desk.store.read() as view:
        found = [view.artifacts.revision(n) for n in (first, second, back)]
    assert [(f.revision, f.newest, f.stale) for f in found if f] == [
        (1, 3, True),
        (2, 3, True),
        (3, 3, False),
    ]
    assert whole(desk, second) == b"second\n"
    if desk.store.describe()["backend"] == "sqlite":
        files = [p for p in (desk.workspace.folder / "artifacts").rglob("*") if p.is_file()]
        assert len(files) == 2 and all(p.stat().st_mode & 0o777 == 0o400 for p in files)


@pytest.mark.parametrize("change", [b"\0", None], ids=["a flipped byte", "a lost chunk"])
def test_altered_bytes_are_never_given(desk: Desk, tmp_path: Path, change: bytes | None) -> None:
    """What lies in other chunks is still read; the altered one is refused and named, then healed."""
    data = bytes(range(256)) * (3 * MIB // 256)
    data = b"\1" + data[1:]
    name = kept(desk, tmp_path / "a.bin", data)
    with desk.store.read() as view:
        found = view.artifacts.revision(name)
    assert found
    tamper(desk, found.digest[7:], 2 if change is None else 1, b"\xff" if change else None)
    assert whole(desk, name, bytes_=f"0:{MIB}") == data[:MIB]
    with pytest.raises(Unusable) as caught:
        whole(desk, name)
    assert caught.value.code == "artifact.altered"
    report = verify(desk)
    assert not report.ok and name in report.faults[0].what
    artifacts.add(desk, tmp_path / "a.bin")
    assert whole(desk, name) == data and verify(desk).ok


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("link", "path.link"),
        ("folder", "path.not-regular"),
        ("fifo", "path.not-regular"),
        ("nothing", "path.not-found"),
    ],
)
def test_what_is_no_file_is_refused(
    sqlite_desk: Desk, tmp_path: Path, kind: str, code: str
) -> None:
    """With its code, and nothing is left behind."""
    path = tmp_path / "x"
    if kind == "link":
        (tmp_path / "secret").write_text("s")
        path.symlink_to(tmp_path / "secret")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(MemdeskError) as caught:
        artifacts.add(sqlite_desk, path)
    assert caught.value.code == code
    assert not list((sqlite_desk.workspace.folder / "artifacts").iterdir())


@pytest.mark.parametrize("given_", ["0:1", "1:3", "2:1", "a:b", "1", "1:99999999999999999999"])
def test_a_range_outside_is_refused(sqlite_desk: Desk, tmp_path: Path, given_: str) -> None:
    """Never clipped in silence."""
    name = kept(sqlite_desk, tmp_path / "a", b"one\ntwo\n")
    with pytest.raises(Refused) as caught:
        artifacts.part(sqlite_desk, name, lines=given_)
    assert caught.value.code == "artifact.range"
    with pytest.raises(NotFound):
        artifacts.part(sqlite_desk, "artifact://sha256/" + "0" * 64)


_CHILD = """
import os, signal, sys
from pathlib import Path
from core import desk as desks
from core.evidence import artifacts
from schemas.common import Actor, Door
desk = desks.open_(Path(sys.argv[1]), Actor(reviewer="R", door=Door.COMMAND))
die = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "staged":
    type(desk.store.blobs).keep = die
else:
    artifacts._enter = die
artifacts.add(desk, Path(sys.argv[2]))
"""


@pytest.mark.parametrize("step", ["staged", "kept"])
def test_a_process_killed_while_adding_leaves_nothing_half_done(
    sqlite_desk: Desk, workspace: Path, tmp_path: Path, step: str
) -> None:
    """Adding again completes it; no temporary file stays, verification passes."""
    path = tmp_path / "a.bin"
    path.write_bytes(os.urandom(2 * MIB))
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(workspace), str(path), step], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert verify(sqlite_desk).ok
    found, new = artifacts.add(sqlite_desk, path)
    assert new and whole(sqlite_desk, found.id) == path.read_bytes()
    assert not list((sqlite_desk.workspace.folder / "artifacts").glob(".*"))


def test_by_command(sqlite_desk: Desk, cli: Cli, tmp_path: Path) -> None:
    """Exact bytes on stdout, a range, JSON, the stale note, refusals with their status."""
    path = tmp_path / "run.log"
    path.write_bytes(b"a\n\xff\x00b\nc")
    added = cli.json("evidence", "artifact", "add", str(path))
    assert added["new"] and added["lines"] == 3
    read = [str(cli.script), "--workspace", str(cli.root), "evidence", "artifact", "read"]
    raw = subprocess.run([*read, added["locator"]], capture_output=True, check=True).stdout
    assert raw == path.read_bytes()
    some = cli.run("evidence", "artifact", "read", added["id"][:12], "--lines", "3:3")
    assert some.stdout == "c"
    document = cli.json("evidence", "artifact", "read", added["id"], "--bytes", "2:5")
    assert (document["start"], document["end"], document["text"]) == (2, 5, None)
    assert document["base64"] == "/wBi"
    path.write_bytes(b"new")
    cli.json("evidence", "artifact", "add", str(path))
    old = cli.run("evidence", "artifact", "read", added["id"], "--bytes", "0:1")
    assert "stale" in old.stderr and old.stdout == "a"
    cli.json("evidence", "artifact", "read", "art_000000", status=4)
    cli.json("evidence", "artifact", "read", added["id"], "--lines", "1:9", status=3)
    listed = cli.json("evidence", "artifact", "list")
    assert [a["stale"] for a in listed["items"]] == [True, False]
