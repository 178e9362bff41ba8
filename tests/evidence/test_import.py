"""Import is idempotent, incremental, and its counts add up (spec 1.3)."""

from __future__ import annotations

import json
import os
from pathlib import Path

from core.evidence.import_ import import_paths
from core.ports import Desk
from tests.conftest import Command, record, write


def test_the_same_file_again_adds_nothing(desk: Desk, tmp_path: Path) -> None:
    """A second import of the same bytes finds every event known."""
    path = write(tmp_path / "s.jsonl", record("one", "u1"), record("two", "u2", "u1"))
    first = import_paths(desk, [path])
    again = import_paths(desk, [path])
    assert (first.new, first.duplicate, first.events) == (2, 0, 2)
    assert (again.new, again.duplicate, again.events) == (0, 2, 2)
    assert again.read == again.new + again.duplicate + again.waiting


def test_copies_are_told_from_different_files(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """The report counts both, and the status has the same two numbers."""
    for name in ("a", "b", "c"):
        write(tmp_path / "logs" / f"{name}.jsonl", record("one" if name != "c" else "two", "u1"))
    report = command.json("evidence", "import", str(tmp_path / "logs"))
    assert (report["sources"], report["different"]) == (3, 2)
    counts = command.json("status")["evidence"]
    assert (counts["paths"], counts["files"]) == (3, 2)
    assert "3 files (2 different)" in command.run("evidence", "import", str(tmp_path / "logs"))[1]


def laid(folder: Path) -> Path:
    """A folder with a session, a link, a linked folder, JSON of something else and a source file."""
    write(folder / "s.jsonl", record("one", "u1"))
    write(folder / "package.json", b'{"name": "x"}')
    write(folder / "main.py", b"print()")
    with open(os.fsencode(folder) + b"/odd.\xff\xfe", "wb"):
        pass
    (folder / "link.jsonl").symlink_to("s.jsonl")
    (folder / "elsewhere").symlink_to(folder.parent)
    return folder


def test_everything_a_folder_holds_is_read_or_named(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """Links and foreign JSON with their codes, other kinds by number; nothing of it is a failure."""
    report = command.json("evidence", "import", str(laid(tmp_path / "logs")))
    assert (report["sources"], report["refused"], report["others"]) == (1, [], {"": 1, ".py": 1})
    left = {x["path"].rpartition("/")[2]: x["code"] for x in report["skipped"]}
    assert left == {
        "link.jsonl": "path.link",
        "elsewhere": "path.link",
        "package.json": "evidence.unknown-format",
    }
    said = command.run("evidence", "import", str(tmp_path / "logs"))[1]
    assert "link.jsonl: path.link" in said and "outside the workspace" not in said
    assert "2 files of other kinds: 1 without ending, 1 .py" in said


def test_a_file_that_could_not_be_read_ends_the_call_with_three(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """In a folder, among several, or when nothing there is evidence; the rest is imported."""
    folder = laid(tmp_path / "logs")
    write(folder / "binary.txt", bytes(range(256)) * 8)
    status, out, err = command.run("--json", "evidence", "import", str(folder))
    report, error = json.loads(out), json.loads(err)["error"]
    assert (status, report["new"], error["code"]) == (3, 1, "evidence.not-read")
    assert [x["code"] for x in report["refused"]] == ["evidence.binary"]
    assert error["message"] == "1 of 2 files was not read."
    both = [str(folder / "s.jsonl"), str(folder / "package.json")]
    status, out, _ = command.run("--json", "evidence", "import", *both)
    assert (status, [x["code"] for x in json.loads(out)["refused"]]) == (
        3,
        ["evidence.unknown-format"],
    )
    write(tmp_path / "code" / "main.py", b"print()")
    assert command.run("evidence", "import", str(tmp_path / "code"))[0] == 3
    (tmp_path / "empty").mkdir()
    assert command.run("evidence", "import", str(tmp_path / "empty"))[0] == 0


def test_one_of_a_thing_is_said_as_one(sqlite_desk: Desk, command: Command, tmp_path: Path) -> None:
    """`1 file`, `1 event`: in what import, extract, verify and observe tell people."""
    write(tmp_path / "s.jsonl", record("Never touch the x1 table."))
    said = command.run("evidence", "import", str(tmp_path / "s.jsonl"))[1]
    assert "1 file · 1 record read · 1 event: " in said
    assert "1 message read · " in command.run("candidates", "extract")[1]
    assert " · 1 event · 0 compactions" in command.run("compaction", "observe", "S")[1]


def test_a_link_that_is_named_is_refused_as_one(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """Whether it leads out or stays inside; what it points to may be named instead."""
    folder = laid(tmp_path / "logs")
    error = command.json("evidence", "import", str(folder / "link.jsonl"), status=3)["error"]
    assert error["code"] == "path.link"
    assert "outside" not in error["message"] + error["remedy"]
    assert command.json("evidence", "import", str(folder / "s.jsonl"))["new"] == 1
