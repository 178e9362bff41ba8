"""A failing disk: full, broken, without exchange; what stands is either before or after."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.operations import durable
from core.operations.confirm import confirm, recover
from core.ports import Desk
from core.verify import verify
from schemas.errors import MemdeskError, Unusable
from schemas.operations import OperationState
from store.engine import translated
from tests.making import META, TEXT, files, previewed, sha


def failing(
    monkeypatch: pytest.MonkeyPatch, name: str, number: int, nth: int, times: int = 1
) -> None:
    """Let the `nth` call of `os.NAME` from now on fail with an errno, `times` in a row."""
    real: Callable[..., Any] = getattr(os, name)
    calls = iter(range(1, 10_000))

    def call(*args: Any, **kw: Any) -> Any:
        if nth <= next(calls) < nth + times:
            raise OSError(number, os.strerror(number))
        return real(*args, **kw)

    monkeypatch.setattr(os, name, call)


def settled(desk: Desk, operation: str) -> str:
    """The state of an operation."""
    with desk.store.read() as view:
        found = view.operations.operation(operation)
    assert found is not None
    return found.state.value


@pytest.mark.parametrize(
    ("number", "existing"),
    [(errno.ENOSPC, False), (errno.EIO, True)],
    ids=["full disk, new file", "bad disk, existing file"],
)
def test_an_fsync_that_fails_leaves_before_or_finishes_later(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int, existing: bool
) -> None:
    """Each fsync in turn: refused with the bytes from before, or prepared until a retry."""
    root = sqlite_desk.workspace.root
    outcomes = set()
    for nth in range(1, 14):
        shutil.rmtree(root / ".aiwg", ignore_errors=True)
        if existing:
            (root / TEXT).parent.mkdir(parents=True)
            (root / TEXT).write_bytes(b"A line.\n")
        shown = previewed(sqlite_desk, f"Service {nth} listens on port 80{nth:02}.")
        before = both(root)
        code = None
        with monkeypatch.context() as patch:
            failing(patch, "fsync", number, nth)
            try:
                confirm(sqlite_desk, shown.operation_id)
            except MemdeskError as err:
                code = err.code
        state = settled(sqlite_desk, shown.operation_id)
        outcomes.add(state)
        assert (state == "applied") is (code is None)
        if state in ("failed", "previewed"):
            assert both(root) == before
            assert code in ("store.full", "destination.unwritable")
        assert confirm(sqlite_desk, shown.operation_id).state is OperationState.APPLIED
        now = {p: sha(data or b"") for p, data in both(root).items()}
        assert now == {t.path: t.after_digest for t in shown.targets}
        assert set(files(root)) == {TEXT, META}
        assert recover(sqlite_desk) == []
    assert outcomes == {"failed", "prepared", "applied"} | (
        {"previewed"} if not existing else set()
    )
    assert verify(sqlite_desk).ok


def both(root: Path) -> dict[str, bytes | None]:
    """The two files' bytes."""
    return {p: (root / p).read_bytes() if (root / p).exists() else None for p in (TEXT, META)}


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [
        ("link", errno.EXDEV, "destination.exchange-unsupported"),
        ("link", errno.ENOSPC, "store.full"),
        ("rename", errno.EIO, "destination.unwritable"),
        ("rename", errno.EROFS, "destination.unwritable"),
    ],
)
def test_a_name_that_can_not_be_made_is_refused_and_nothing_is_left(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, number: int, code: str
) -> None:
    """Lock, journal and destination alike: no file, no lock, no journal stays behind."""
    root = sqlite_desk.workspace.root
    shown = previewed(sqlite_desk)
    for nth in (1, 2, 3):
        with monkeypatch.context() as patch:
            failing(patch, name, number, nth, times=1)
            try:
                confirm(sqlite_desk, shown.operation_id)
                break
            except Unusable as err:
                assert err.code == code
        if settled(sqlite_desk, shown.operation_id) != "prepared":
            assert files(root) == {}
    assert confirm(sqlite_desk, shown.operation_id).state is OperationState.APPLIED
    assert set(files(root)) == {TEXT, META}


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EINVAL, errno.ENOSYS])
def test_without_exchange_nothing_is_written(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A file system that can't exchange is refused, the file is as it was."""
    root = sqlite_desk.workspace.root
    (root / TEXT).parent.mkdir(parents=True)
    (root / TEXT).write_bytes(b"A line.\n")
    shown = previewed(sqlite_desk)

    def unable(folder: int, one: str, other: str) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(durable, "_exchange", unable)
        with pytest.raises(Unusable) as refused:
            confirm(sqlite_desk, shown.operation_id)
    assert refused.value.code == "destination.exchange-unsupported"
    assert files(root) == {TEXT: b"A line.\n"}
    assert settled(sqlite_desk, shown.operation_id) == "failed"
    assert confirm(sqlite_desk, shown.operation_id).state is OperationState.APPLIED


def test_a_write_that_is_cut_short_leaves_nothing(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up while our bytes are written: the partial file is removed."""
    root = sqlite_desk.workspace.root
    shown = previewed(sqlite_desk)
    real = os.fdopen

    class Full:
        """A file that takes half of what it is given."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: Any) -> None:
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

    for nth in range(1, 5):
        calls = iter(range(1, 1000))

        def opened(handle: int, mode: str = "r", nth: int = nth, calls: Any = calls) -> Any:
            file = real(handle, mode)
            return Full(file) if "w" in mode and next(calls) == nth else file

        with monkeypatch.context() as patch:
            patch.setattr(os, "fdopen", opened)
            try:
                confirm(sqlite_desk, shown.operation_id)
            except Unusable as err:
                assert err.code == "store.full"
        if settled(sqlite_desk, shown.operation_id) != "prepared":
            assert files(root) == {} or settled(sqlite_desk, shown.operation_id) == "applied"
    assert confirm(sqlite_desk, shown.operation_id).state is OperationState.APPLIED
    assert set(files(root)) == {TEXT, META}


def test_a_read_only_destination_is_refused(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file its owner made read-only is not replaced, whatever the folder would allow."""
    path: Path = sqlite_desk.workspace.root / TEXT
    path.parent.mkdir(parents=True)
    path.write_bytes(b"A line.\n")
    path.chmod(0o444)
    shown = previewed(sqlite_desk)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(Unusable) as refused:
        confirm(sqlite_desk, shown.operation_id)
    assert refused.value.code == "destination.unwritable"
    assert path.read_bytes() == b"A line.\n"
    assert path.stat().st_mode & 0o777 == 0o444


@pytest.mark.parametrize("said", ["unable to open database file", "disk I/O error"])
def test_a_store_that_can_only_be_read_or_has_no_room_is_no_broken_store(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """SQLite says the same of all three; nobody is told to restore a backup over a sound store."""
    file = sqlite_desk.workspace.folder / "memdesk.db"

    def told() -> str:
        with pytest.raises(Unusable) as found, translated(file):
            raise sqlite3.OperationalError(said)
        return found.value.code

    assert told() == "store.unusable"
    room = os.statvfs_result((4096, 4096, 9, 0, 0, 9, 9, 9, 0, 255))
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: room)
        assert told() == "store.full"
        patch.setattr(os, "access", lambda path, _mode: path != file.parent)
        assert told() == "store.read-only"
    file.unlink()
    assert told() == "store.unusable"
