"""Stored sessions are found by the folder their records name, never by a name or a file's time."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from core.evidence import sessions
from core.evidence.readers import named
from core.evidence.sessions import found as why
from core.evidence.sessions.looking import look
from tests import stored
from tests.conftest import DATA, record, write

GIT = ("git", "-c", "user.name=m", "-c", "user.email=m@example.org")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "a" / "b-c"
    folder.mkdir(parents=True)
    return folder


def names(found: sessions.Found) -> list[str]:
    """Names of the sessions' files."""
    return sorted(s.path.stem for s in found.sessions)


def test_of_two_projects_with_one_folder_name_each_gets_its_own(root: Path, tmp_path: Path) -> None:
    """`/a/b-c` and `/a/b/c` share a folder of Claude Code; the records' `cwd` tells them apart."""
    other = tmp_path / "a" / "b" / "c"
    other.mkdir(parents=True)
    assert stored.munged(root) == stored.munged(other)
    stored.claude(root, "mine")
    stored.claude(other, "theirs")
    assert names(sessions.find(root)) == ["mine"]
    assert names(sessions.find(other)) == ["theirs"]
    assert sessions.find(root).left_out == {why.ELSEWHERE: 1}


def test_hundreds_of_projects_with_names_alike_leave_only_the_projects_own(root: Path) -> None:
    """Folders whose names begin as the project's does, and folders of other spelling."""
    base = Path.home() / ".claude/projects"
    for n in range(300):
        stored.claude(root.parent / f"b-c-{n}", f"near{n}")
    stored.claude(root / "src", "below")
    stored.claude(root, "spelled", under=base / stored.munged(root).replace("-", "_"))
    stored.claude(root, "linked", under=base / "somewhere-else")
    assert names(sessions.find(root)) == ["below", "linked", "spelled"]


def test_a_repository_inside_the_project_keeps_its_own_sessions(root: Path) -> None:
    """Another repository or workspace below, a submodule; a folder of the project itself is in."""
    for name in ("vendored", "submodule", "workspace", "plain"):
        (root / name).mkdir()
        stored.claude(root / name, name)
        stored.claude(root / name / "deep", f"{name}-deep")
    (root / "vendored/.git").mkdir()
    (root / "submodule/.git").write_text("gitdir: ../.git/modules/submodule\n")
    (root / "workspace/.memdesk").mkdir()
    assert names(sessions.find(root)) == ["plain", "plain-deep"]


def test_checkouts_of_the_repository_belong_to_it_unless_they_have_a_workspace(root: Path) -> None:
    """Git worktrees inside and outside the root; one that is a workspace of its own is none."""
    subprocess.run([*GIT, "init", "-q", str(root)], check=True)
    run = [*GIT, "-C", str(root)]
    subprocess.run([*run, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    for place in (root / ".claude/worktrees/in", root.parent / "out", root.parent / "own"):
        subprocess.run([*run, "worktree", "add", "-q", str(place)], check=True, capture_output=True)
        stored.claude(place, place.name)
    (root.parent / "own/.memdesk").mkdir()
    stranger = root.parent / "stranger"
    (stranger / ".git").mkdir(parents=True)
    stored.claude(stranger, "stranger")
    write(root / ".git/worktrees/planted/gitdir", f"{stranger}/.git\n".encode())
    assert names(sessions.find(root)) == ["in", "out"]


def test_every_agents_sessions_are_found_where_they_lie(root: Path) -> None:
    """Claude Code, Codex, Gemini CLI by hash and by its note, Copilot CLI, OpenCode, Aider."""
    mine, other = (hashlib.sha256(os.fsencode(p)).hexdigest() for p in (root, root.parent))
    stored.claude(root, "claude")
    stored.codex(root, "codex")
    stored.codex(root.parent, "codex-elsewhere")
    stored.gemini(mine, "hashed", None)
    stored.gemini("b-c", "stated", mine)
    stored.gemini("b-c-1", "foreign", other)
    marked = stored.gemini("b-c-2", "marked", None)
    write(marked.parent.parent / ".project_root", str(root).encode())
    stored.gemini("b-c-3", "nobodys", None)
    stored.copilot(root, "copilot")
    stored.copilot(root.parent, "copilot-elsewhere")
    stored.opencode(root, "ses_mine")
    stored.opencode(root.parent, "ses_other")
    write(
        root / ".aider.chat.history.md", b"# aider chat started at 2026-11-30 09:00:00\n\n#### hi\n"
    )
    found = sessions.find(root)
    assert {(s.agent, s.path.name) for s in found.sessions} == {
        ("Aider", ".aider.chat.history.md"),
        ("Claude Code", "claude.jsonl"),
        ("Codex", "rollout-codex.jsonl"),
        ("Copilot CLI", "events.jsonl"),
        ("Gemini CLI", "session-stated.json"),
        ("Gemini CLI", "session-marked.json"),
        ("Gemini CLI", "session-hashed.json"),
        ("OpenCode", "ses_mine.json"),
    }
    undated = [s.agent for s in found.sessions if s.newest is None]
    assert undated == ["Aider"]


def test_the_variables_that_move_the_stores_are_honoured(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME name the stores; the usual places are not looked at then."""
    stored.claude(root, "usual")
    stored.codex(root, "usual")
    moved, rollouts = tmp_path / "claude", tmp_path / "codex"
    stored.claude(root, "moved", under=moved / "projects" / stored.munged(root))
    stored.codex(root, "moved", base=rollouts)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    monkeypatch.setenv("CODEX_HOME", str(rollouts))
    assert names(sessions.find(root)) == ["moved", "rollout-moved"]


def test_roots_of_the_configuration_are_looked_through(root: Path, tmp_path: Path) -> None:
    """A listed folder: what names the project or no folder is taken, what names another is not."""
    archive = tmp_path / "archive"
    stored.claude(root, "mine", under=archive)
    stored.claude(tmp_path, "theirs", under=archive)
    write(archive / "run.traj", (DATA / "swe-agent/history-only.traj").read_bytes())
    write(archive / "notes.md", b"# Notes\n")
    found = sessions.find(root, [str(archive), "nowhere"])
    assert names(found) == ["mine", "run"]
    assert found.left_out == {why.ELSEWHERE: 1, why.MISSING: 1}


def test_what_sub_agents_left_beside_a_conversation_comes_with_it(root: Path) -> None:
    """A session's folder is part of it; a newer record there makes it newer."""
    main = stored.claude(root, "s1", hours_ago=100)
    beside = stored.claude(root, "agent-1", under=main.parent / "s1/subagents", hours_ago=2)
    orphan = stored.claude(root, "agent-2", under=main.parent / "gone/subagents")
    found = sessions.find(root).sessions
    assert [(s.agent, s.files) for s in found] == [
        ("Claude Code", (main, beside)),
        ("Claude Code, sub-agents", (orphan,)),
    ]
    with beside.open("rb") as file:
        assert found[0].newest == look(file, named("claude-code")).newest


def test_links_and_unreadable_folders_are_counted_and_left(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to a file, to a folder, a pipe, a folder that can't be opened: the rest goes on."""
    kept = stored.claude(root, "kept")
    outside = stored.claude(root, "outside", under=tmp_path / "outside")
    (kept.parent / "link.jsonl").symlink_to(outside)
    (kept.parent / "folder").symlink_to(outside.parent)
    os.mkfifo(kept.parent / "pipe.jsonl")
    closed = kept.parent / "closed"
    closed.mkdir()
    scan = os.scandir

    def scandir(path: object = ".") -> object:
        if path == closed:
            raise PermissionError(13, "Permission denied")
        return scan(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)
    found = sessions.find(root)
    assert names(found) == ["kept"]
    assert found.left_out == {why.LINKS: 2, why.UNREADABLE: 2}


def test_times_come_from_records_and_never_from_the_file(root: Path) -> None:
    """A file touched today with old records is old; one touched long ago with new ones is new."""
    old, new = stored.claude(root, "old", hours_ago=1_000), stored.claude(root, "new", hours_ago=1)
    os.utime(new, (0, 0))
    times = {s.path: s.newest for s in sessions.find(root).sessions}
    before, after = times[old], times[new]
    assert before is not None and after is not None
    assert after - before == pytest.approx(999 * 3_600_000_000, abs=5_000_000)


def test_a_clock_that_went_back_does_not_make_a_session_older(root: Path) -> None:
    """The greatest time of the last records counts, not the last one's."""
    times = ("2026-11-30T10:00:00.000Z", "2026-11-29T10:00:00.000Z")
    lines = [record("x", f"u{n}", cwd=str(root), timestamp=t) for n, t in enumerate(times)]
    path = write(root / "s.jsonl", *lines, b'{"type":"summary","summary":"no time"}\n')
    with path.open("rb") as file:
        assert look(file, named("claude-code")).newest == 1_796_032_800_000_000


def test_two_gigabytes_are_not_read_to_know_a_session(root: Path) -> None:
    """Its folder is read from its beginning, its newest time from its end, whatever lies between.

    Counted by the kernel in a fresh process.
    """
    path = stored.claude(root, "huge", hours_ago=500)
    last = record("bye", "u9", cwd="/elsewhere", timestamp="2026-11-30T10:00:00.000Z")
    with path.open("ab") as file:
        file.truncate(2 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + last)
    program = (
        "import sys\nfrom core.evidence.readers import named\n"
        "from core.evidence.sessions.looking import look\n"
        "known = named('claude-code')\n"
        "def read(): return int(open('/proc/self/io').readline().split()[1])\n"
        "before = read()\nseen = look(open(sys.argv[1], 'rb'), known)\n"
        "print(seen.scope, seen.newest, read() - before, sep='\\n')\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    scope, newest, read = done.stdout.split()
    assert (scope, int(newest)) == (str(root), 1_796_032_800_000_000)
    assert int(read) < 4 << 20


@pytest.mark.parametrize(
    "cwd", ["relative/path", "/nul\0byte", "/a/../../../x", "~", "", "/" + "x" * 5_000]
)
def test_a_folder_that_is_no_path_belongs_to_nobody(root: Path, cwd: str) -> None:
    """Records may name anything."""
    line = record("hi", "u1", cwd=cwd)
    write(Path.home() / ".claude/projects" / stored.munged(root) / "s.jsonl", line)
    assert names(sessions.find(root)) == []


def test_a_first_record_of_megabytes_hides_no_folder(root: Path) -> None:
    """A pasted image before the first record that names the folder."""
    picture = json.dumps({"type": "mode", "sessionId": "s", "data": "x" * (3 << 20)}).encode()
    path = stored.claude(root, "s")
    write(path, picture + b"\n", record("hi", "u1", cwd=str(root)))
    assert names(sessions.find(root)) == ["s"]


def test_databases_and_rollouts_that_cannot_be_unpacked_are_named(root: Path) -> None:
    """What holds sessions and is not read is not passed over in silence."""
    write(Path.home() / ".codex/sessions/2026/rollout-x.jsonl.zst", b"x")
    write(Path.home() / ".local/share/opencode/opencode.db", b"SQLite format 3\0")
    assert sessions.find(root).left_out == {why.UNREADABLE: 1, why.DATABASES: 1}


def test_compressed_rollouts_are_found_by_what_they_hold(root: Path, tmp_path: Path) -> None:
    """The project's own, once where its plain file still stands; another project's is left."""
    for cwd, name in ((root, "idle"), (root, "both"), (tmp_path / "other", "foreign")):
        plain = stored.codex(cwd, name)
        packed = write(plain.with_name(plain.name + ".zst"), zstandard.compress(plain.read_bytes()))
        if name != "both":
            plain.unlink()
        assert packed.exists()
    found = sessions.find(root).sessions
    assert [s.path.name for s in found] == ["rollout-both.jsonl", "rollout-idle.jsonl.zst"]
    assert all(s.newest is not None for s in found)
