"""`candidates *` and `promotion *` as scripts see them: keys, exit statuses, ids (contract)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.commands import entry
from schemas.operations import OperationState
from tests.conftest import REVIEWER, Cli, record, write
from tests.making import META, TEXT

Run = Callable[..., Any]
CANDIDATE = {
    "id", "version", "state", "kind", "key", "statement", "classification", "hazards",
    "sources", "conflicts", "duplicates",
}  # fmt: skip
PREVIEW = {
    "operation_id", "action", "targets", "sources", "conflicts", "duplicate", "supersedes",
    "blocked_by", "affects", "consumer",
}  # fmt: skip
RECEIPT = {
    "receipt_id", "operation_id", "workspace", "consumer", "state", "replayed", "targets",
    "sources", "classification", "reviewer", "provider_adapters_modified",
}  # fmt: skip


@pytest.fixture
def run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """The command line in this process: exit status checked, the JSON document answered."""
    monkeypatch.setenv("MEMDESK_REVIEWER", REVIEWER)
    workspace.mkdir(parents=True)

    def call(*args: str, status: int = 0) -> Any:
        got = entry.main(lambda *_: 0, ["--workspace", str(workspace), "--json", *args])
        out, err = capsys.readouterr()
        assert got == status, (got, out, err)
        assert (out == "") is (status != 0)
        return json.loads(out or err)

    call("init")
    lines = [
        record("Remember: releases are tagged on Tuesdays.", "u1"),
        record("Remember that the API listens on port 8443.", "u2"),
        record("Remember: ask ana.b@example.org for the keys.", "u3"),
    ]
    call("evidence", "import", str(write(workspace / "s.jsonl", *lines)))
    call("candidates", "extract", "--all")
    return call


def one(run: Run, words: str) -> str:
    """The id of the candidate with these words."""
    items = run("candidates", "list", "--filter", words)["items"]
    assert len(items) == 1
    return str(items[0]["id"])


def code(document: dict[str, Any]) -> str:
    """The code of an error document, which has all four members."""
    assert set(document["error"]) == {"code", "message", "remedy", "details"}
    return str(document["error"]["code"])


def test_lists_have_the_contracts_keys_and_continue_by_cursor(run: Run) -> None:
    """`items` and `next`, paged to the end without a gap."""
    whole = run("candidates", "list")
    assert set(whole) == {"items", "next"} and whole["next"] is None
    for item in whole["items"]:
        assert set(item) >= CANDIDATE
        assert {"locator", "digest", "quote"} <= set(item["sources"][0])
    assert whole["items"][2]["hazards"] == ["hazard.personal-data"]
    seen, after = [], []
    while True:
        page = run("candidates", "list", "--limit", "1", *after)
        seen += [i["id"] for i in page["items"]]
        if page["next"] is None:
            break
        after = ["--after", page["next"]]
    assert seen == [i["id"] for i in whole["items"]]
    assert code(run("candidates", "list", "--after", "nonsense", status=2)) == "id.malformed"


def test_the_way_from_candidate_to_receipt(run: Run, workspace: Path) -> None:
    """Accept, preview twice, confirm twice, list, receipts, beliefs; bytes by hashlib."""
    id_ = one(run, "Tuesdays")
    decided = run("candidates", "accept", f"{id_}@1", "--reason", "ok")["items"]
    assert [(d["state"], d["decision"]["reason"]) for d in decided] == [("accepted", "ok")]
    assert not (workspace / ".aiwg").exists()
    shown = run("promotion", "preview", f"{id_}@1", "--to", "line-memory")
    assert set(shown) >= PREVIEW
    assert set(shown["targets"][0]) >= {"path", "before_digest", "after_digest", "diff"}
    assert run("promotion", "preview", id_)["operation_id"] == shown["operation_id"]
    assert not (workspace / ".aiwg").exists()
    receipt = run("promotion", "confirm", shown["operation_id"])
    assert set(receipt) >= RECEIPT
    assert (receipt["state"], receipt["replayed"], receipt["reviewer"]) == (
        "applied",
        False,
        REVIEWER,
    )
    assert receipt["provider_adapters_modified"] is False
    again = run("promotion", "confirm", shown["operation_id"][:12])
    assert again == {**receipt, "replayed": True}
    for target in receipt["targets"]:
        data = (workspace / target["path"]).read_bytes()
        assert target["after_digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert [t["path"] for t in receipt["targets"]] == [TEXT, META]
    assert [o["state"] for o in run("promotion", "list")["items"]] == ["applied"]
    assert run("promotion", "list", "--state", "failed")["items"] == []
    assert run("promotion", "receipts")["items"] == [receipt]
    (belief,) = run("promotion", "beliefs")["items"]
    assert belief["consumers"][0]["receipt"] == receipt["receipt_id"]
    assert run("promotion", "retry") == {"items": [], "next": None}
    assert run("verify")["ok"] is True


def test_receipts_are_exported_as_files(run: Run, workspace: Path, tmp_path: Path) -> None:
    """One JSON file a receipt, equal to the list, and the checkpoint beside them."""
    id_ = one(run, "Tuesdays")
    run("candidates", "accept", f"{id_}@1")
    run("promotion", "confirm", run("promotion", "preview", id_)["operation_id"])
    listed = run("promotion", "receipts", "--export", str(tmp_path / "out"))["items"]
    found = [json.loads(p.read_bytes()) for p in (tmp_path / "out").glob("rcpt_*")]
    assert found == listed
    assert [p.name for p in (tmp_path / "out").iterdir() if p.name[:5] != "rcpt_"] == [
        "checkpoint.json"
    ]


def test_ids_by_prefix(run: Run) -> None:
    """Six digits are enough; fewer are malformed; unknown and ambiguous are not found."""
    id_ = one(run, "port 8443")
    assert run("candidates", "show", id_[:11])["id"] == id_
    assert code(run("candidates", "show", id_[:10], status=2)) == "id.malformed"
    assert code(run("candidates", "show", "cand_zzzzzz", status=2)) == "id.malformed"
    assert code(run("candidates", "show", "op_" + "0" * 32, status=2)) == "id.malformed"
    unknown = "cand_" + "0" * 32
    assert code(run("candidates", "show", unknown, status=4)) == "id.not-found"
    assert code(run("candidates", "show", f"{id_}@9", status=4)) == "id.not-found"
    assert code(run("promotion", "confirm", "op_" + "0" * 32, status=4)) == "id.not-found"
    assert code(run("promotion", "confirm", "op_12", status=2)) == "id.malformed"


def test_an_ambiguous_prefix_names_what_it_begins() -> None:
    """More than one match is refused with the matches."""
    from core.identity import one_id
    from schemas.errors import NotFound

    ids = [f"cand_abcdef{n:026x}" for n in range(3)]
    with pytest.raises(NotFound) as refused:
        one_id("cand_abcdef", ids)
    assert (refused.value.code, int(refused.value.exit)) == ("id.ambiguous", 4)
    assert refused.value.details["matches"] == ids


def test_deciding_names_exactly_one_version(run: Run) -> None:
    """A bare id decides while there is one version, and is refused when there are two."""
    id_ = one(run, "Tuesdays")
    edited = run("candidates", "edit", id_, "--text", "Releases are tagged on Fridays.")
    assert (edited["version"], edited["state"]) == (2, "pending")
    assert code(run("candidates", "accept", id_, status=3)) == "id.version-needed"
    assert code(run("candidates", "accept", f"{id_}@1", status=5)) == "candidate.stale-version"
    run("candidates", "reject", f"{id_}@2", "--reason", "no")
    assert code(run("candidates", "accept", f"{id_}@2", status=5)) == "candidate.decided"
    (opened,) = run("candidates", "reopen", f"{id_}@2")["items"]
    assert (opened["version"], opened["state"], opened["renews"]) == (3, "pending", 2)
    changed = run("candidates", "diff", id_, "1", "2")
    assert "-releases are tagged on Tuesdays." in changed["diff"].splitlines()
    versions = run("candidates", "show", id_)["versions"]
    assert [v["state"] for v in versions] == ["superseded", "rejected", "pending"]
    assert run("candidates", "accept", one(run, "port 8443"))["items"][0]["state"] == "accepted"


def test_deferring_and_deciding_after_it(run: Run) -> None:
    """A date with the deferral; naive times are wrong usage; then it is accepted."""
    id_ = one(run, "Tuesdays")
    day = datetime.now(UTC).date() + timedelta(days=30)
    naive = f"{day}T09:00"
    assert code(run("candidates", "defer", id_, "--until", naive, status=2)) == "defer.date"
    (put,) = run("candidates", "defer", id_, "--until", str(day))["items"]
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    until = int(midnight.timestamp()) * 1_000_000
    assert (put["state"], put["decision"]["until"]) == ("deferred", until)
    assert code(run("candidates", "defer", id_, status=5)) == "candidate.decided"
    assert run("candidates", "accept", id_)["items"][0]["state"] == "accepted"


def test_hazards_and_states_refuse_by_their_codes(run: Run) -> None:
    """Exit 3 for a rule, with the hazard's code; an acknowledgement lets it through."""
    id_ = one(run, "ana.b@")
    assert code(run("candidates", "accept", id_, status=3)) == "hazard.personal-data"
    args = ("candidates", "accept", id_, "--acknowledge", "hazard.personal-data")
    assert run(*args)["items"][0]["decision"]["acknowledged"] == ["hazard.personal-data"]
    other = one(run, "port 8443")
    assert code(run("promotion", "preview", other, status=3)) == "candidate.not-accepted"
    run("candidates", "accept", other)
    assert (
        code(run("promotion", "preview", other, "--to", "nowhere", status=2)) == "consumer.unknown"
    )
    assert (
        code(run("candidates", "reopen", one(run, "Tuesdays"), status=3)) == "candidate.not-decided"
    )
    same = ("candidates", "edit", other, "--text", "the API listens on port 8443.")
    assert code(run(*same, status=3)) == "candidate.unchanged"
    assert (
        code(run("candidates", "edit", other, "--text", "  ", status=3))
        == "candidate.statement-empty"
    )


def test_proposing_by_hand(run: Run, workspace: Path) -> None:
    """A source is needed and its span must lie in the text; the version is pending."""
    events = run("evidence", "list")["items"]
    source = f"{events[0]['id']}#b10-42"
    args = ("candidates", "propose", "--text", "Tags are signed.", "--kind", "decision", "--source")
    made = run(*args, source)
    assert (made["state"], made["kind"]) == ("pending", "decision")
    assert made["sources"][0]["locator"] == source
    assert code(run(*args, f"{events[0]['id']}#b10-4200", status=3)) == "span.outside-text"
    assert code(run(*args, "ev_" + "0" * 32, status=4)) == "id.not-found"


def test_a_stale_confirm_ends_with_five(run: Run, workspace: Path) -> None:
    """What moved is in the details, and the file is as it was found."""
    id_ = one(run, "Tuesdays")
    run("candidates", "accept", id_)
    operation = run("promotion", "preview", id_)["operation_id"]
    (workspace / TEXT).parent.mkdir(parents=True)
    (workspace / TEXT).write_text("By hand.\n")
    refused = run("promotion", "confirm", operation, status=5)
    assert code(refused) == "preview.stale"
    assert [m["name"] for m in refused["error"]["details"]["moved"]] == [TEXT]
    assert (workspace / TEXT).read_text() == "By hand.\n"


def test_the_installed_script_speaks_to_people_too(cli: Cli) -> None:
    """No JSON asked for: plain lines without control codes, errors with code and remedy."""
    cli.run("init")
    write(cli.root / "n.md", "Decision: the \u202eAPI\x1b[31m listens on port 8443.\n".encode())
    cli.run("evidence", "import", str(cli.root / "n.md"))
    cli.run("candidates", "extract")
    shown = cli.run("candidates", "list")
    assert shown.returncode == 0 and "8443" in shown.stdout
    assert not any(c in shown.stdout for c in "\x1b\u202e")
    failed = cli.run("promotion", "confirm", "op_" + "0" * 32)
    assert failed.returncode == 4
    assert failed.stderr.startswith("id.not-found: ")
    assert "Traceback" not in failed.stderr and len(failed.stderr.splitlines()) == 2


def test_a_divergence_shows_both_versions(run: Run, workspace: Path) -> None:
    """`promotion list` gives what was found, what was wanted, and their diff."""
    from core import desk as desks
    from schemas.common import Door

    id_ = one(run, "port 8443")
    run("candidates", "accept", id_)
    operation = run("promotion", "preview", id_)["operation_id"]
    desk = desks.open_(workspace, desks.actor(Door.COMMAND, "Ana"))
    with desk.store.write() as unit:
        unit.operations.keep_divergence(operation, "a.txt", b"theirs\n", b"ours\n")
        unit.operations.finish(operation, OperationState.DIVERGED, "operation.diverged")
    desk.store.close()
    (item,) = run("promotion", "list", "--state", "diverged")["items"]
    (both,) = item["divergence"]
    assert (both["found"], both["wanted"]) == ("theirs\n", "ours\n")
    assert "-theirs" in both["diff"] and "+ours" in both["diff"]


def test_a_preview_for_a_person_tells_a_hidden_character_from_its_mark(
    run: Run, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two lines that stand already one hides a U+202E and one only writes its mark."""
    id_ = one(run, "Tuesdays")
    run("candidates", "accept", f"{id_}@1")
    text = write(workspace / TEXT, "pay \u202eten\npay ‹202E›ten\ntabs\tand spaces \r\n".encode())
    entry.main(lambda *_: 0, ["--workspace", str(workspace), "promotion", "preview", id_])
    shown = capsys.readouterr().out.split("\n")
    assert " pay ‹202E›ten" in shown
    assert " pay ‹2039›202E›ten" in shown
    assert " tabs→   and spaces·␍" in shown
    assert text.read_bytes().startswith("pay \u202e".encode())


def test_of_several_versions_every_one_is_tried_and_reported(
    run: Run, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One is blocked, one was decided, one is new: the report names all, the status is the worst."""
    decided, blocked, new = (
        one(run, "port 8443"),
        one(run, "ana.b@example.org"),
        one(run, "Tuesdays"),
    )
    run("candidates", "reject", decided)
    call = ["--workspace", str(workspace), "--json", "candidates", "accept"]
    status = entry.main(lambda *_: 0, [*call, decided, blocked, new])
    out, err = capsys.readouterr()
    report, error = json.loads(out), json.loads(err)["error"]
    assert (status, error["code"]) == (5, "candidate.decided")
    assert [(i["id"], i["state"]) for i in report["items"]] == [(new, "accepted")]
    assert [(x["ref"], x["code"]) for x in report["left"]] == [
        (f"{decided}@1", "candidate.decided"),
        (f"{blocked}@1", "hazard.personal-data"),
    ]
    assert all(x["message"] and x["remedy"] for x in report["left"])
    assert error["details"]["left"] == [f"{decided}@1", f"{blocked}@1"]
    assert entry.main(lambda *_: 0, [*call, "--acknowledge", "hazard.personal-data", blocked]) == 0
    capsys.readouterr()
    status = entry.main(lambda *_: 0, [*call[:4], "reopen", new, "cand_" + "0" * 32])
    assert (status, capsys.readouterr().out) == (4, "")
    assert run("candidates", "show", new)["version"] == 1
    again = [i["version"] for i in run("candidates", "reopen", new, blocked)["items"]]
    assert again == [2, 2]
