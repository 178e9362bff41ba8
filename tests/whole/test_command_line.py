"""The command line as others script against it: keys, statuses, errors, what it loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from core.ports import Desk
from schemas.reasons import REASONS
from tests.conftest import Cli, Command, record, write
from tests.desks import lived_in


def test_init_status_import_list_show_and_verify_keep_their_keys(
    command: Command, tmp_path: Path
) -> None:
    """One pass over the commands of the whole and of evidence, as a script reads them."""
    (command.root / "CLAUDE.md").write_text("rules")
    made = command.json("init")
    assert made["created"] is True and made["rule_files"] == ["CLAUDE.md"]
    assert command.json("init")["created"] is False
    path = write(tmp_path / "s.jsonl", record("one é", "u1"), record("two", "u2"), b"junk\n", b"{")
    report = command.json("evidence", "import", str(path))
    wanted = {"sources": 1, "events": 3, "new": 3, "duplicate": 0, "unparsed": 1, "waiting": 1}
    assert {k: report[k] for k in wanted} == wanted
    assert report["by_kind"] == {"message": 2, "unparsed": 1}
    first = command.json("evidence", "list", "--limit", "1")
    second = command.json("evidence", "list", "--limit", "5", "--after", first["next"])
    assert (len(first["items"]), len(second["items"]), second["next"]) == (1, 2, None)
    item = first["items"][0]
    for key in ("id", "file", "session", "ordinal", "kind", "author", "time", "text", "digest"):
        assert key in item
    shown = command.json("evidence", "show", item["id"][:15] + "#b0-3")
    assert shown["span"] == {"start": 0, "end": 3, "quote": "one"}
    assert command.json("evidence", "show", "session:S#L2")["text"] == "two"
    assert command.json("evidence", "list", "--author", "owner", "--session", "S")["items"]
    assert command.json("verify")["ok"] is True
    status = command.json("status")
    assert status["evidence"]["events"] == 3 and status["store"]["backend"] == "sqlite"


@pytest.mark.parametrize(
    ("args", "status", "code"),
    [
        (["evidence", "show", "nonsense"], 2, "id.malformed"),
        (["evidence", "show", "ev_" + "0" * 32], 4, "id.not-found"),
        (["evidence", "show", "ev_abcdef"], 4, "id.not-found"),
        (["evidence", "list", "--after", "x"], 2, "id.malformed"),
        (["evidence", "list", "--kind", "x"], 2, "usage.invalid"),
        (["evidence", "list", "--limit", "0"], 2, "usage.invalid"),
        (["evidence", "import", "nowhere.jsonl"], 4, "path.not-found"),
        (["evidence", "import", "/dev/null"], 3, "path.not-regular"),
        (["evidence", "import", "--format", "x", "CLAUDE.md"], 3, "evidence.unknown-format"),
        (["evidence", "import"], 2, "usage.invalid"),
        (["verify", "--head", "x"], 2, "usage.invalid"),
        (["explain", "no.code"], 4, "reason.unknown"),
        (["nonsense"], 2, "usage.invalid"),
        (["schemas", "export", "/proc/none"], 6, "destination.unwritable"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else str(x),
)
def test_errors_are_one_json_document_with_their_status(
    sqlite_desk: Desk, command: Command, args: list[str], status: int, code: str
) -> None:
    """On stderr, with code, message, remedy and details; nothing on stdout."""
    done, out, err = command.run("--json", *args)
    error = json.loads(err)["error"]
    assert (done, error["code"], out) == (status, code, "")
    assert set(error) == {"code", "message", "remedy", "details"}
    assert error["message"] and error["remedy"]


def test_a_folder_without_a_workspace_ends_with_status_6(command: Command) -> None:
    """Every command but `init`, `explain` and `schemas` needs one."""
    for args in (["status"], ["verify"], ["evidence", "list"], []):
        assert command.json(*args, status=6)["error"]["code"] == "workspace.not-found"
    assert command.json("explain", "preview.stale")["exit"] == 5


def test_every_reason_code_explains_itself(command: Command) -> None:
    """Meaning and remedy of each; the list is the registry."""
    listed = command.json("explain")["items"]
    assert [i["code"] for i in listed] == sorted(REASONS)
    assert all(i["meaning"] and i["remedy"] and i["exit"] in (0, 1, 2, 3, 4, 5, 6) for i in listed)


def test_exported_schemas_take_what_the_commands_print(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """Documents are valid under the schema that carries their name."""
    receipt = lived_in(sqlite_desk, tmp_path)
    folder = tmp_path / "schemas"
    names = command.json("schemas", "export", str(folder))["items"]
    assert sorted(names) == sorted(p.name for p in folder.iterdir())
    documents = {
        "status": command.json("status"),
        "verify-report": command.json("verify"),
        "event": command.json("evidence", "list")["items"][0],
        "receipt": command.json("promotion", "receipts")["items"][0],
        "import-report": command.json("evidence", "import", str(tmp_path / "one.jsonl")),
    }
    assert documents["receipt"]["receipt_id"] == receipt.receipt_id
    for name, document in documents.items():
        schema = json.loads((folder / f"{name}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(document, schema)


def test_output_holds_no_control_character_of_the_evidence(
    sqlite_desk: Desk, command: Command, tmp_path: Path
) -> None:
    """Escapes, bells and bidi marks reach neither the screen nor the JSON as themselves."""
    evil = "\x1b]52;c;AAAA\x07 \x9b2J \u202eabc\u202c \x7f \b \u200b"
    command.json("evidence", "import", str(write(tmp_path / "s.jsonl", record(evil, "u1"))))
    _status, shown, _err = command.run("evidence", "show", "session:S#L1")
    _status, as_json, _err = command.run("--json", "evidence", "list")
    for text in (shown, as_json):
        assert not [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
        assert "\u202e" not in text and "\u200b" not in text
    assert json.loads(as_json)["items"][0]["text"] == evil


def test_a_core_folder_in_the_workspace_is_never_imported(cli: Cli) -> None:
    """The console script, started in a folder whose own packages raise when imported."""
    for name in ("core", "store", "schemas", "tui"):
        write(cli.root / name / "__init__.py", b"raise SystemExit('hijacked')\n")
    write(cli.root / "sqlmodel.py", b"raise SystemExit('hijacked')\n")
    done = cli.run("--json", "init", cwd=cli.root)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["created"] is True


def loaded(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after this code."""
    program = f"import sys\n{code}\nprint(' '.join({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split("\n")[-2].split())


@pytest.mark.parametrize(
    "code",
    [
        "import core.promotion.preview",
        "import core.candidates.review",
        "import core.evidence.import_",
        "from core.commands.entry import main\nmain(lambda *_: 0, ['--help'])",
        "from core.commands.entry import main\nmain(lambda *_: 0, ['--version'])",
    ],
)
def test_the_orm_and_the_screen_are_not_loaded_before_they_are_needed(code: str) -> None:
    """`--help`, hooks and pure rules never pay for SQLAlchemy, alembic or Textual."""
    heavy = {"sqlalchemy", "sqlmodel", "alembic", "textual", "store", "psycopg", "watchfiles"}
    assert loaded(code) & heavy == set()


def test_equal_inputs_give_equal_ids_in_every_environment(tmp_path: Path) -> None:
    """Hash seed, time zone and locale change no id, with the same workspace secret and clock."""
    program = (
        "import sys, json, os\nfrom pathlib import Path\n"
        "os.urandom = lambda n: bytes(n)\n"
        "from tests.conftest import make_desk\nfrom tests.desks import events, lived_in\n"
        "desk = make_desk(Path(sys.argv[1]) / 'p')\n"
        "receipt = lived_in(desk, Path(sys.argv[2]))\n"
        "from core.verify import verify\n"
        "head = verify(desk).head.digest\n"
        "ids = [e.id for e in events(desk)]\n"
        "print(json.dumps([ids, receipt.subject, receipt.subject_digest, head]))\n"
        "desk.store.close()\n"
    )
    environments = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "77", "TZ": "Pacific/Chatham", "LC_ALL": "tr_TR.UTF-8"},
    ]
    answers = set()
    source = tmp_path / "source"
    for n, variables in enumerate(environments):
        folder = tmp_path / str(n) / "same"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, str(folder), str(source)],
            capture_output=True,
            text=True,
            env={**os.environ, **variables},
            cwd=Path(__file__).parents[2],
        )
        assert done.returncode == 0, done.stderr
        answers.add(done.stdout)
    assert len(answers) == 1


def test_status_says_in_words_what_each_layer_is_and_what_to_do(command: Command) -> None:
    """From nothing yet, over lines written by hand and a broken sidecar, to a promoted line."""
    command.json("init")

    def says(layer: str) -> str:
        text = command.json("status")["says"][layer]
        assert f"{layer:<12} {text}" in command.run("status")[1]
        return str(text)

    assert says("line-memory").startswith("no file yet; the first confirmed promotion makes")
    assert says("wiki").startswith("no page yet") and "--to wiki" in says("wiki")
    assert "nothing to do" in says("sessions") and "nothing to do" in says("embeddings")
    text = write(command.root / ".aiwg/memory/line-memory.txt", b"One.\nTwo.\n")
    assert "2 of them written by hand" in says("line-memory")
    write(command.root / ".aiwg/memory/line-memory.meta.json", b"{broken")
    assert says("line-memory") == "can't be written: memdesk explain line-memory.metadata-broken"
    assert text.read_bytes() == b"One.\nTwo.\n"
    write(command.root / ".aiwg/sessions/catalog.sqlite", b"")
    write(command.root / ".aiwg/wiki/a.md", b"# A\n")
    assert "memdesk evidence import .aiwg/sessions/catalog.sqlite" in says("sessions")
    assert says("wiki") == "1 pages in .aiwg/wiki"
    assert "True" not in command.run("status")[1] and "False" not in command.run("status")[1]
