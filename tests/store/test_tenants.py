"""Two workspaces on one server never see each other; writers wait for each other (0.1, 8.5)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from core import desk as desks
from core.candidates import review
from core.candidates.review import CandidateRef
from core.verify import verify
from schemas.candidates import Verdict
from schemas.common import Actor, Door, Page
from schemas.errors import NotFound, Unusable
from schemas.storage import CandidateFilter
from tests.conftest import REVIEWER, Cli, make_desk, record, write
from tests.desks import events, lived_in, proposed

WHO = Actor(reviewer=REVIEWER, door=Door.COMMAND)


def test_two_workspaces_on_one_server_never_see_each_other(
    postgres_url: str, tmp_path: Path
) -> None:
    """Equal names, equal files, forged ids and cursors: each desk finds only its own."""
    one = make_desk(tmp_path / "a" / "same", postgres_url)
    two = make_desk(tmp_path / "b" / "same", postgres_url)
    lived_in(one, tmp_path / "x")
    with two.store.read() as view:
        assert set(view.evidence.counts().values()) == {0}
        assert view.evidence.events(Page()) == ([], None)
        assert view.candidates.rows(CandidateFilter(()), Page()) == ([], None)
        assert view.operations.receipts(Page()) == ([], None)
        assert view.promotion.beliefs(Page()) == ([], None)
        assert view.ledger.head().seq == 0
        for event in events(one):
            assert view.evidence.event(event.id) is None
            assert view.evidence.find_events(event.id[:12], 5) == []
        assert view.evidence.find_sessions("S", 5) == []
    lived_in(two, tmp_path / "x")
    assert not {e.id for e in events(one)} & {e.id for e in events(two)}
    with one.store.read() as view:
        id_ = view.candidates.rows(CandidateFilter(()), Page())[0][0].id
    with pytest.raises(NotFound):
        review.show(two, CandidateRef(id_, 1))
    assert verify(one).ok and verify(two).ok
    one.store.close()
    two.store.close()


def test_a_workspace_unknown_to_a_server_is_refused(postgres_url: str, tmp_path: Path) -> None:
    """A workspace made elsewhere does not open on a server that holds only others."""
    make_desk(tmp_path / "a", postgres_url).store.close()
    make_desk(tmp_path / "b").store.close()
    with pytest.raises(Unusable, match=r"workspace\.foreign-store"):
        desks.open_(tmp_path / "b", WHO, store_url=postgres_url)


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_writers_wait_for_each_other_and_no_user_sees_a_lock(
    request: pytest.FixtureRequest, cli: Cli, tmp_path: Path, backend: str
) -> None:
    """Two processes import different and equal files while a third decides."""
    url = request.getfixturevalue("postgres_url") if backend == "postgresql" else None
    desk = make_desk(cli.root, url)
    first = write(tmp_path / "first.jsonl", *(record(f"fact {n}", f"f{n}") for n in range(12)))
    options = ["--store", url] if url else []
    shared = write(
        tmp_path / "s.jsonl", *(record(f"s{n}", f"s{n}", sessionId=f"S{n}") for n in range(600))
    )
    paths = [shared]
    for name in "ab":
        lines = (record(f"{name}{n}", f"{name}{n}", sessionId=f"{name}{n % 7}") for n in range(700))
        paths.append(write(tmp_path / f"{name}.jsonl", *lines))
    from core.evidence.import_ import import_paths

    import_paths(desk, [first])
    versions = [proposed(desk, e.text + " holds.", e.id) for e in events(desk)]
    base = [str(cli.script), "--workspace", str(cli.root), *options, "--json", "evidence", "import"]
    running = [
        subprocess.Popen([*base, *map(str, order)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for order in (paths, paths[:1] + paths[:0:-1])
    ]
    for version in versions:
        review.decide(desk, CandidateRef(version.id, 1), Verdict.REJECT, reason="no")
    for process in running:
        _out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
        assert err == b""
    report = verify(desk)
    assert report.ok, report.faults
    assert report.checked["events"] == 12 + 600 + 1_400
    assert report.checked["decision"] == 12
    desk.store.close()
