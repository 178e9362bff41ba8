"""Events that are stored together stand together in every index, however many there are."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evidence.import_ import import_paths
from core.identity import EventNamer
from core.ports import Desk
from tests.conftest import record, write
from tests.desks import events

FILES, EACH = 40, 25
HEADER = b'{"type":"mode","mode":"normal","sessionId":"s"}\n'


def session(number: int) -> bytes:
    """A session that begins as all others do."""
    said = (record(f"{number} says {n}", f"u{number}-{n}") for n in range(EACH))
    return HEADER + b"".join(said)


@pytest.fixture
def many(sqlite_desk: Desk, tmp_path: Path) -> Desk:
    """A workspace with the events of many sessions."""
    import_paths(sqlite_desk, [write(tmp_path / f"{n}.jsonl", session(n)) for n in range(FILES)])
    return sqlite_desk


def keys_of(desk: Desk, columns: str) -> list[tuple[object, ...]]:
    """A key of every event, in the order in which they were stored."""
    path = desk.workspace.root / ".memdesk" / "memdesk.db"
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"SELECT {columns} FROM event ORDER BY file, ordinal").fetchall()


def runs(keys: list[tuple[object, ...]]) -> int:
    """Into how many stretches of its index these keys go, if no others lie between them."""
    place = {key: n for n, key in enumerate(sorted(keys))}  # type: ignore[type-var]
    return 1 + sum(place[b] != place[a] + 1 for a, b in itertools.pairwise(keys))


def test_the_ids_of_a_file_are_one_stretch_of_their_index(many: Desk) -> None:
    """A thousand events are forty stretches; random ids would be about a thousand."""
    ids = keys_of(many, "id")
    assert len(set(ids)) == len(ids) == FILES * (EACH + 1)
    assert runs(ids) <= FILES


def test_no_id_says_more_than_where_its_event_stands(many: Desk) -> None:
    """What is said keyed differs between two workspaces; the rest is file and ordinal."""
    by_file: dict[str, list[str]] = {}
    for event in events(many):
        by_file.setdefault(event.file, []).append(event.id)
        place = event.id.removeprefix("ev_")[:12]
        assert place == event.file.removeprefix("file_")[:6] + f"{event.ordinal:06x}"
    assert len(by_file) == FILES
    one, other = (EventNamer(secret, "file_" + "ab" * 16) for secret in (b"a" * 32, b"b" * 32))
    assert one.event(7, 0, b"same" * 8, 0)[:6] == other.event(7, 0, b"same" * 8, 0)[:6]
    assert one.event(7, 0, b"same" * 8, 0)[6:] != other.event(7, 0, b"same" * 8, 0)[6:]
    # A file of more events than the ordinal's bytes count still names each of its own.
    assert one.event(7, 0, b"same" * 8, 0) != one.event(7 + (1 << 24), 0, b"other678" * 4, 0)


times = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))


@given(times, times, st.binary(max_size=40), st.binary(max_size=40))
def test_repeats_have_equal_keys_and_others_have_not(
    time: int | None, later: int | None, words: bytes, others: bytes
) -> None:
    """Every key fits the 64 bits a database keeps, whatever time a record claims."""
    namer = EventNamer(b"k" * 32, "file_" + "0" * 32)
    again = EventNamer(b"k" * 32, "file_" + "1" * 32)
    key = namer.twin(time, b"id", words)
    assert -(2**63) <= key < 2**63
    assert key == again.twin(time, b"id", words)
    if words != others:
        assert key != namer.twin(later, b"id", others)


def test_repeats_of_a_time_are_looked_for_near_that_time(many: Desk) -> None:
    """Keys of one hour lie within four steps of 18 minutes."""
    hour = 3_600_000_000
    namer = EventNamer(b"k" * 32, "file_" + "0" * 32)
    start = 1_790_000_000_000_000
    steps = {namer.twin(start + hour * n // 500, bytes([n % 256])) >> 40 for n in range(501)}
    assert len(steps) <= 5
    assert min(k for (k,) in keys_of(many, "twin") if k is not None) >= 0  # type: ignore[type-var]


@pytest.fixture
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Sizes of all reads at a place."""
    sizes: list[int] = []
    pread = os.pread

    def counted(handle: int, size: int, at: int) -> bytes:
        data = pread(handle, size, at)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    yield sizes


def test_sessions_that_begin_alike_are_told_apart_without_reading_each_other(
    many: Desk, tmp_path: Path, read_bytes: list[int]
) -> None:
    """Of sixteen that begin as it does, each costs a look at one record, not a whole file."""
    long = HEADER + record("x" * 300_000, "long") + record("end", "end", "long")
    import_paths(many, [write(tmp_path / "long.jsonl", long)])
    before = len(events(many))
    read_bytes.clear()
    longer = HEADER + record("y" * 400_000, "longer") + record("fin", "fin", "longer")
    report = import_paths(many, [write(tmp_path / "longer.jsonl", longer)])
    assert report.new == len(events(many)) - before == 3
    assert sum(read_bytes) < len(longer) + 200_000
