"""Readers of others: installed through an entry point, checked, and never able to break us."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.evidence.import_ import import_paths
from core.evidence.readers import named, names, registry
from core.ports import Desk
from schemas.errors import Refused
from tests.conftest import Cli
from tests.desks import events, rebuilt

SOURCE = """
from core.evidence.readers.base import Format, Part, Record, lines
from schemas.evidence import Author, EventKind

def read(source):
    for line in lines(source):
        text = line.data.decode()
        if text == "raise":
            raise KeyError("oops")
        start = line.start + (text == "lie")
        part = Part(EventKind.MESSAGE, Author.EXTERNAL, text)
        yield Record(start, line.data, line.number, [part])

FORMAT = Format("shout", lambda sample: sample.head.startswith(b"SHOUT"), read)
TAKEN = Format("codex", lambda sample: True, read)
BAD = Format("bad", lambda sample: 1 / 0, read)
NOTHING = 7
"""
POINTS = """[memdesk.readers]
shout = memdesk_shout:FORMAT
taken = memdesk_shout:TAKEN
nothing = memdesk_shout:NOTHING
missing = memdesk_shout_gone:FORMAT
bad = memdesk_shout:BAD
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages that holds one distribution with five entry points."""
    folder = tmp_path / "site"
    info = folder / "memdesk_shout-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "memdesk_shout.py").write_text(SOURCE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: memdesk-shout\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The distribution on the path of this process."""
    monkeypatch.syspath_prepend(str(site))
    registry._found.cache_clear()
    yield
    registry._found.cache_clear()
    sys.modules.pop("memdesk_shout", None)


def test_an_installed_reader_reads_its_files(
    sqlite_desk: Desk, tmp_path: Path, installed: None
) -> None:
    """Recognised by content and named like ours; broken ones are named and left out."""
    path = tmp_path / "x.bin"
    path.write_bytes(b"SHOUT\nhello\n")
    report = import_paths(sqlite_desk, [path])
    assert report.files[0].format == "shout" and "shout" in names()
    assert [e.text for e in events(sqlite_desk)] == ["SHOUT", "hello"]
    assert rebuilt(sqlite_desk, report.files[0].id) == path.read_bytes()
    left = "\n".join(report.notes)
    assert "reader missing: ModuleNotFoundError" in left
    assert "reader nothing: memdesk_shout:NOTHING is no Format" in left
    assert "reader taken: the name codex is taken" in left
    assert named("codex").foreign is False


@pytest.mark.parametrize("line", [b"lie", b"raise"])
def test_a_reader_that_fails_or_states_false_places_costs_its_file_alone(
    sqlite_desk: Desk, tmp_path: Path, installed: None, line: bytes
) -> None:
    """Refused by name; the file beside it is imported."""
    bad, good = tmp_path / "bad.txt", tmp_path / "good.txt"
    bad.write_bytes(b"SHOUT\n" + line + b"\n")
    good.write_bytes(b"SHOUT fine\n")
    with pytest.raises(Refused, match=r"evidence\.reader-failed"):
        import_paths(sqlite_desk, [bad])
    report = import_paths(sqlite_desk, [bad, good])
    assert [x.code for x in report.refused] == ["evidence.reader-failed"]
    assert [f.format for f in report.files] == ["shout"]


def test_a_broken_reader_keeps_no_command_from_working(
    cli: Cli, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own, with the distribution really installed on its path."""
    monkeypatch.setenv("PYTHONPATH", str(site))
    path = tmp_path / "x.txt"
    path.write_bytes(b"SHOUT hi\n")
    cli.json("init")
    report = cli.json("evidence", "import", str(path))
    assert report["files"][0]["format"] == "shout"
    assert any("missing" in note for note in report["notes"])
