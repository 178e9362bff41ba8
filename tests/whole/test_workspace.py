"""One authorised root: no path, link or race leaves it; a planted `.memdesk/` is refused (0.1)."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core import desk as desks
from core import workspace
from core.ports import Desk
from schemas.common import Actor, Door
from schemas.errors import MemdeskError, NotFound, Refused, Unusable
from tests.conftest import REVIEWER, Cli, Command, make_desk

WHO = Actor(reviewer=REVIEWER, door=Door.COMMAND)


@pytest.fixture
def place(sqlite_desk: Desk) -> workspace.Workspace:
    """A workspace that holds a folder, a file, and links of each kind."""
    root = sqlite_desk.workspace.root
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("inside")
    (root.parent / "secret.txt").write_text("outside")
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "docs" / "near.md").symlink_to("a.md")
    (root / "out").symlink_to(root.parent)
    os.mkfifo(root / "pipe")
    return sqlite_desk.workspace


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "docs/../../secret.txt", "/etc/passwd", "a\0b", "", ".", "..", "docs/.."],
)
def test_paths_that_leave_the_root_are_refused(place: workspace.Workspace, path: str) -> None:
    """`..` anywhere, absolute paths elsewhere, NUL, and the root itself."""
    with pytest.raises(Refused, match=r"path\.outside-workspace"):
        place.read(path)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("link.txt", "destination.link"),
        ("docs/near.md", "destination.link"),
        ("out/secret.txt", "destination.link"),
        ("docs", "path.not-regular"),
        ("pipe", "path.not-regular"),
        ("docs/a.md/b", "path.not-regular"),
        ("x" * 300, "path.unreadable"),
    ],
)
def test_links_and_what_is_no_file_are_refused(
    place: workspace.Workspace, path: str, code: str
) -> None:
    """No link is followed, at the end or on the way; a FIFO does not block."""
    with pytest.raises(Refused) as refused:
        place.read(path)
    assert refused.value.code == code


def test_paths_inside_are_read_by_any_spelling(place: workspace.Workspace) -> None:
    """Relative, absolute below the root, with `./`; a file that is not there is None."""
    for path in ("docs/a.md", "./docs//a.md", str(place.root / "docs" / "a.md")):
        assert place.read(path) == b"inside"
    assert place.read("docs/none.md") is None
    assert place.read("none/none.md") is None


def test_a_folder_is_made_step_by_step_and_never_through_a_link(
    place: workspace.Workspace,
) -> None:
    """`create` makes what is missing; a link on the way stops it and nothing appears outside."""
    with place.directory("a/b/c", create=True) as handle:
        assert stat.S_ISDIR(os.fstat(handle).st_mode)
    assert (place.root / "a" / "b" / "c").is_dir()
    with (
        pytest.raises(Refused, match=r"destination\.link"),
        place.directory("out/new", create=True),
    ):
        pass
    assert not (place.root.parent / "new").exists()
    with pytest.raises(NotFound), place.directory("nowhere"):
        pass


def test_a_folder_swapped_for_a_link_while_reading_never_leaks(
    place: workspace.Workspace,
) -> None:
    """A racing process exchanges a folder and a link: the answer is inside, refused, or none."""
    root, stop = place.root, threading.Event()
    evil = root.parent / "evil"
    evil.mkdir()
    (evil / "a.md").write_text("outside")
    (root / "swap").symlink_to(evil)

    def race() -> None:
        while not stop.is_set():
            for a, b in (("docs", "kept"), ("swap", "docs"), ("docs", "swap"), ("kept", "docs")):
                os.rename(root / a, root / b)

    racer = threading.Thread(target=race)
    racer.start()
    answers = set()
    try:
        for _ in range(400):
            try:
                answers.add(place.read("docs/a.md"))
            except MemdeskError as err:
                answers.add(err.code)  # type: ignore[arg-type]
    finally:
        stop.set()
        racer.join()
    refusals = {"destination.link", "path.not-found", "path.not-regular"}
    assert answers <= {b"inside", None, *refusals}


def test_a_workspace_is_private_and_ignored_by_git(workspace: Path) -> None:
    """Mode 0700, files 0600, and a .gitignore of its own."""
    make_desk(workspace).store.close()
    folder = workspace / ".memdesk"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("memdesk.db", "workspace.json", "checkout.json", "config.toml"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
    assert (folder / ".gitignore").read_text() == "*\n"
    assert not (folder / "init.pending").exists()


def git(root: Path, *args: str) -> None:
    """Run git in a folder."""
    name = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(root), *name, *args], check=True, capture_output=True)


@pytest.mark.parametrize("inside", [".", "sub/project"])
def test_a_store_that_git_tracks_is_refused(tmp_path: Path, inside: str) -> None:
    """Anyone who pushes could plant it; also in a folder below the repository's root."""
    git(tmp_path, "init", "-q")
    root = tmp_path / inside
    make_desk(root).store.close()
    desks.open_(root, WHO).store.close()
    git(tmp_path, "add", "-f", str(root / ".memdesk" / "config.toml"))
    with pytest.raises(Unusable, match=r"workspace\.tracked"):
        desks.open_(root, WHO)


def test_init_writes_nothing_through_what_a_clone_brought(tmp_path: Path) -> None:
    """A `.memdesk` that is a link, and links planted inside a tracked one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".memdesk").symlink_to(outside)
    with pytest.raises(Unusable, match=r"workspace\.damaged"):
        desks.init(linked, WHO)
    planted = tmp_path / "planted"
    (planted / ".memdesk").mkdir(parents=True)
    victim = outside / "victim"
    victim.write_text("untouched")
    (planted / ".memdesk" / ".gitignore.tmp").symlink_to(victim)
    (planted / ".memdesk" / "init.pending.tmp").symlink_to(victim)
    made, _new = desks.init(planted, WHO)
    made.store.close()
    assert victim.read_text() == "untouched"
    assert sorted(p.name for p in outside.iterdir()) == ["victim"]


def test_another_users_store_is_refused(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner of `.memdesk/` is the user who opens it, or nobody opens it."""
    make_desk(workspace).store.close()
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    with pytest.raises(Unusable, match=r"workspace\.foreign-owner"):
        desks.open_(workspace, WHO)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("workspace.json", b"{", "workspace.damaged"),
        ("workspace.json", b"[]", "workspace.damaged"),
        ("workspace.json", b'{"schema_version":1,"workspace":7}', "workspace.damaged"),
        ("workspace.json", b'{"schema_version":2,"workspace":"x"}', "schema.newer"),
        ("checkout.json", b"\xff", "workspace.damaged"),
        ("checkout.json", None, "workspace.damaged"),
        ("config.toml", None, "workspace.damaged"),
        ("memdesk.db", None, "workspace.damaged"),
    ],
)
def test_a_damaged_workspace_is_refused_by_name(
    workspace: Path, name: str, content: bytes | None, code: str
) -> None:
    """Each file of `.memdesk/` missing or not understood; nothing is made anew."""
    make_desk(workspace).store.close()
    path = workspace / ".memdesk" / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(Unusable) as refused:
        desks.open_(workspace, WHO)
    assert refused.value.code == code
    assert content is not None or not path.exists()


def test_a_store_of_another_workspace_is_refused(tmp_path: Path) -> None:
    """A copied database, and `--store` naming another workspace's."""
    for name in ("a", "b"):
        make_desk(tmp_path / name).store.close()
    other = f"sqlite:///{tmp_path / 'b' / '.memdesk' / 'memdesk.db'}"
    with pytest.raises(Unusable, match=r"workspace\.foreign-store"):
        desks.open_(tmp_path / "a", WHO, store_url=other)
    with pytest.raises(Unusable, match=r"workspace\.foreign-store"):
        make_desk(tmp_path / "c", other)


def test_a_killed_init_is_finished_by_the_next(cli: Cli) -> None:
    """SIGKILL at whatever step it had reached; afterwards the workspace opens and verifies."""
    folder = cli.root / ".memdesk"
    for wanted in ("init.pending", "workspace.json"):
        command = [str(cli.script), "--workspace", str(cli.root), "--json", "init"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if (folder / wanted).exists():
                break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    made, _new = desks.init(cli.root, WHO)
    assert not (folder / "init.pending").exists()
    assert made.store.integrity() == []
    made.store.close()


def test_a_workspace_inside_another_is_made_only_on_purpose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`init` in a folder below is refused and names the one above; naming the folder makes it."""
    from core.commands.entry import main

    make_desk(tmp_path / "outer").store.close()
    inner = tmp_path / "outer" / "packages" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert main(lambda *_: 0, ["init"]) == 3
    said = capsys.readouterr().err
    assert "workspace.nested" in said and str(tmp_path / "outer") in said
    assert list(inner.iterdir()) == []
    assert main(lambda *_: 0, ["--workspace", ".", "init"]) == 0
    assert (inner / ".memdesk").is_dir()
    assert main(lambda *_: 0, ["init"]) == 0


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda data: b"\x07" * len(data), "is no SQLite database"),
        (lambda data: data[:16] + b"\xff" * (len(data) - 16), "its check could not be finished"),
        (lambda data: data[: len(data) // 2], "begins like a SQLite database"),
    ],
    ids=["other bytes", "only the header", "cut in half"],
)
def test_verify_says_what_it_can_of_a_database_that_can_not_be_used(
    command: Command, workspace: Path, harm: Callable[[bytes], bytes], said: str
) -> None:
    """What the file is, what SQLite finds in it, and what to do; the file stays as it is."""
    make_desk(workspace).store.close()
    path = workspace / ".memdesk/memdesk.db"
    path.write_bytes(harm(path.read_bytes()))
    before = path.read_bytes()
    status, _, err = command.run("--json", "verify")
    error = json.loads(err)["error"]
    assert (status, error["code"]) == (6, "store.unusable")
    assert said in error["message"] and "memdesk.db" in error["message"]
    assert "backup" in error["remedy"] and ".aiwg/" in error["remedy"]
    assert path.read_bytes() == before
