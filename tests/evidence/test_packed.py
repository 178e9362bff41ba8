"""Compressed rollouts: what they hold is what is stored; nothing of a damaged one (case B10)."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from core.evidence.import_ import import_paths
from core.ports import Desk
from core.verify import verify
from schemas.errors import Refused
from schemas.evidence import ImportReport
from tests.conftest import DATA, Command, record, write
from tests.desks import events, rebuilt

ROLLOUT = DATA / "codex/rollout-subagent-019b88e5.jsonl"


def packed(data: bytes, *, checksum: bool = True) -> bytes:
    """One frame, as a client writes it."""
    return zstandard.ZstdCompressor(write_checksum=checksum).compress(data)


def imported(desk: Desk, path: Path, *frames: bytes) -> ImportReport:
    return import_paths(desk, [write(path, *frames)])


def test_a_session_that_was_compressed_meanwhile_is_the_one_it_was(
    desk: Desk, tmp_path: Path
) -> None:
    """Case B10: the plain file goes, its bytes stand under another path, no event comes twice."""
    plain = write(tmp_path / "rollout-a.jsonl", ROLLOUT.read_bytes())
    first = import_paths(desk, [plain])
    plain.unlink()
    again = imported(desk, tmp_path / "rollout-a.jsonl.zst", packed(ROLLOUT.read_bytes()))
    assert (again.new, again.duplicate) == (0, first.events)
    assert again.files[0].id == first.files[0].id
    assert rebuilt(desk, first.files[0].id) == ROLLOUT.read_bytes()
    assert verify(desk).ok


def test_spans_count_the_unpacked_bytes(sqlite_desk: Desk, tmp_path: Path) -> None:
    """Lines, offsets and bytes are those of the plain file; a folder's walk takes it too."""
    lines = [record(f"Release {n} is tagged.", f"u{n}", sessionId=None) for n in range(50)]
    whole = b"".join(lines)
    write(tmp_path / "logs" / "s.jsonl.zst", packed(whole[:700]), packed(whole[700:]))
    (report,) = import_paths(sqlite_desk, [tmp_path / "logs"]).files
    assert (report.format, report.new) == ("claude-code", 50)
    assert rebuilt(sqlite_desk, report.id) == whole
    for n, event in enumerate(events(sqlite_desk)):
        with sqlite_desk.store.read() as view:
            assert view.evidence.raw(event.id) == lines[n].rstrip(b"\n")
        assert (event.line, event.session) == (n + 1, "s")


def test_frames_added_behind_are_read_on_from_there(sqlite_desk: Desk, tmp_path: Path) -> None:
    """What grew by a frame adds only that frame's records."""
    path, one = tmp_path / "s.jsonl.zst", packed(record("one", "u1"))
    first = imported(sqlite_desk, path, one)
    grown = imported(sqlite_desk, path, one, packed(record("two", "u2", "u1")))
    assert (grown.new, grown.duplicate) == (1, 1)
    assert grown.files[0].id == first.files[0].id


def damaged(whole: bytes) -> dict[str, bytes]:
    """A good frame with something wrong behind, inside or at its end."""
    at = len(whole) // 2
    return {
        "cut": whole[:-9],
        "cut checksum": whole[:-1],
        "a bit of its data": whole[:at] + bytes([whole[at] ^ 8]) + whole[at + 1 :],
        "a bit of its checksum": whole[:-1] + bytes([whole[-1] ^ 1]),
        "something else behind": whole + b"{}\n",
        "half a frame behind": whole + whole[:20],
    }


@pytest.mark.parametrize("harm", damaged(b"x" * 20))
def test_nothing_of_a_damaged_file_is_believed(
    sqlite_desk: Desk, tmp_path: Path, harm: str
) -> None:
    """It is named with its code; the sound file beside it is read."""
    data = b"".join(record(f"Rule {n} of {n * n}.", f"u{n}") for n in range(40))
    write(tmp_path / "logs/bad.jsonl.zst", damaged(packed(data))[harm])
    write(tmp_path / "logs/good.jsonl.zst", packed(record("sound", "v1")))
    report = import_paths(sqlite_desk, [tmp_path / "logs"])
    assert [(r.code, Path(r.path).name) for r in report.refused] == [
        ("evidence.compressed", "bad.jsonl.zst")
    ]
    assert [e.text for e in events(sqlite_desk)] == ["sound"]


def test_a_file_that_unpacks_to_too_much_is_refused_early(
    sqlite_desk: Desk, tmp_path: Path, command: Command
) -> None:
    """By its ratio under the default bound, by its size over a configured one."""
    bomb = write(tmp_path / "bomb.jsonl.zst", packed(bytes(1 << 28)))
    assert bomb.stat().st_size < 1 << 15
    with pytest.raises(Refused) as refused:
        import_paths(sqlite_desk, [bomb])
    assert refused.value.code == "evidence.unpacked-size"
    assert int(str(refused.value.details["unpacked"])) < 1 << 28
    path = sqlite_desk.workspace.folder / "config.toml"
    text = path.read_text()
    path.write_text(text.replace("[evidence]\n", "[evidence]\nunpacked_bytes = 4096\n"))
    plain = write(tmp_path / "s.jsonl.zst", packed(b"".join(record("x" * 90) for _ in range(30))))
    refusal = command.json("evidence", "import", str(plain), status=3)
    assert refusal["error"]["code"] == "evidence.unpacked-size"
    assert events(sqlite_desk) == []
    assert not [p for p in sqlite_desk.workspace.folder.iterdir() if p.name.startswith("tmp")]
