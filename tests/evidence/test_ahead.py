"""Reading ahead in a process of its own gives what reading here gives, and losing it loses nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from core.evidence import ahead
from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.common import Page
from tests.conftest import make_desk, record, write


def sessions(folder: Path, count: int = 3) -> Path:
    """A few sessions of some hundred records each, one with junk and a cut last line."""
    for n in range(count):
        lines = [
            record(f"message {i} " + "x" * 4000, f"{n}-{i}", None, sessionId=f"S{n}")
            for i in range(700)
        ]
        write(folder / f"s{n}.jsonl", *lines, b"junk\n", b'{"type":"user","message":{"ro')
    return folder


def everything(desk: Desk) -> list[tuple[object, ...]]:
    """What lists show of all events, ids left out: they are keyed by workspace."""
    with desk.store.read() as view:
        events, _ = view.evidence.events(Page(limit=10_000))
    return [(e.session, e.ordinal, e.kind, e.author, e.line, e.byte_start, e.text) for e in events]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading ahead pays from the first byte on."""
    monkeypatch.setattr(ahead, "WORTH_BYTES", 1)
    monkeypatch.setattr(ahead, "_MEANWHILE", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def test_both_ways_store_the_same(
    tmp_path: Path, always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal events, equal reports, both verify, every byte is rebuilt."""
    folder = sessions(tmp_path / "in")
    here, there = make_desk(tmp_path / "a"), make_desk(tmp_path / "b")
    apart = import_paths(there, [folder])
    monkeypatch.setattr(ahead, "WORTH_BYTES", 1 << 60)
    alone = import_paths(here, [folder])
    assert apart.model_dump(exclude={"files"}) == alone.model_dump(exclude={"files"})
    assert everything(here) == everything(there) and verify(there).ok
    with there.store.read() as view:
        for file in apart.files:
            data = b"".join(view.evidence.rebuild(file.id))
            on_disk = next(p for p in folder.iterdir() if file.path.endswith(p.name)).read_bytes()
            assert on_disk.startswith(data) and len(data) == on_disk.rindex(b'{"type"')
    for desk in (here, there):
        desk.store.close()


def test_losing_the_process_loses_nothing(
    tmp_path: Path, always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of a file: what it sent is committed, the rest is read here."""
    folder, started = sessions(tmp_path / "in"), []
    begin = ahead.Ahead.__init__

    def remember(self: ahead.Ahead) -> None:
        begin(self)
        started.append(self)

    monkeypatch.setattr(ahead.Ahead, "__init__", remember)
    killed = []

    def kill(_path: str, read: int, _size: int) -> None:
        if read and not killed:
            killed.append(started[0]._process.pid)
            os.kill(killed[0], signal.SIGKILL)

    desk = make_desk(tmp_path / "a")
    report = import_paths(desk, [folder], progress=kill)
    assert killed and (report.records, report.unparsed, report.waiting) == (3 * 701, 3, 3)
    assert len(everything(desk)) == 3 * 701 and verify(desk).ok
    again = import_paths(desk, [folder])
    assert (again.new, again.duplicate) == (0, 3 * 701)
    desk.store.close()


def test_an_interrupt_at_the_terminal_is_for_the_importer_alone(
    tmp_path: Path, always: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The reading process stands in a group of its own, is ended with the import, and says nothing."""
    groups, started = [], []
    begin = ahead.Ahead.__init__

    def remember(self: ahead.Ahead) -> None:
        begin(self)
        started.append(self._process)

    def stop(_path: str, _read: int, _size: int) -> None:
        groups.append(os.getpgid(started[0].pid))
        raise KeyboardInterrupt

    monkeypatch.setattr(ahead.Ahead, "__init__", remember)
    desk = make_desk(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        import_paths(desk, [sessions(tmp_path / "in", 1)], progress=stop)
    assert groups == [started[0].pid] and started[0].poll() is not None
    assert verify(desk).ok and capfd.readouterr().err == ""
    desk.store.close()


def test_a_folder_called_core_is_not_imported_by_it(
    tmp_path: Path, always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reading process starts where the user stands, and imports nothing from there."""
    trap = write(tmp_path / "core" / "__init__.py", b"raise SystemExit('hijacked')\n")
    monkeypatch.chdir(trap.parent.parent)
    desk = make_desk(tmp_path / "a")
    assert import_paths(desk, [sessions(tmp_path / "in", 1)]).records == 701
    desk.store.close()
