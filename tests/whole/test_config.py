"""A wrong key or value of config.toml is refused with its key named, never defaulted (0.10)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core import config
from schemas.errors import Unusable
from tests.conftest import Command, make_desk


def test_a_file_that_is_no_utf8_or_no_toml_says_where_and_what_to_do(
    command: Command, workspace: Path
) -> None:
    """No key is at fault then, so the remedy speaks of none."""
    make_desk(workspace).store.close()
    path = workspace / ".memdesk/config.toml"
    good = path.read_bytes()
    path.write_bytes(good + b"# Andr\xe9\n")
    error = command.json("status", status=6)["error"]
    number = good.count(b"\n") + 1
    assert error["code"] == "config.invalid" and f"line {number}," in error["message"]
    assert "UTF-8" in error["remedy"] and "key" not in error["remedy"]
    path.write_bytes(good + b"[desk\n")
    error = command.json("status", status=6)["error"]
    assert f"line {number}" in error["message"] and "key" not in error["remedy"]


WRONG: list[tuple[str, str, str]] = [
    ("schema_version = 1", 'schema_version = "1"', "schema_version"),
    ("schema_version = 1", "schema_version = 0", "schema_version"),
    ("schema_version = 1", "schema_version = true", "schema_version"),
    ("statement_bytes = 500", "statement_bytes = 39", "policy.statement_bytes"),
    ("statement_bytes = 500", "statement_bytes = 500.0", "policy.statement_bytes"),
    ("statement_bytes = 500", 'statement_bytes = "500"', "policy.statement_bytes"),
    ("statement_bytes = 500", "statement_byte = 500", "policy.statement_byte"),
    ('["owner", "external", "agent"]', '["owner", "everyone"]', "policy.extract_authors.1"),
    ('["owner", "external", "agent"]', '"owner"', "policy.extract_authors"),
    ("batch_events = 500", "batch_events = 501", "evidence.batch_events"),
    ("auto_advance = true", "auto_advance = 1", "desk.auto_advance"),
    ('theme = "memdesk-dark"', "theme = 3", "desk.theme"),
    ("[desk]", "[desk]\nfont = 3", "desk.font"),
    ("[desk]", "[desks]", "desks"),
    ('reviewPolicy = "explicit"', 'reviewPolicy = "auto"', "compound_memory.reviewPolicy"),
    (
        'schemaVersion = "aiwg.compound-memory.config.v1"',
        'schemaVersion = "aiwg.compound-memory.config.v2"',
        "compound_memory.schemaVersion",
    ),
    ('wiki = ".aiwg/wiki"', 'wiki = "../wiki"', "compound_memory.paths.wiki"),
    ("totalCharacters = 8000", "totalCharacters = 255", "compound_memory.context.totalCharacters"),
    ("totalCharacters = 8000", "", "compound_memory.context.totalCharacters"),
    ("defaultNoTouch = true", 'defaultNoTouch = "yes"', "compound_memory.context.defaultNoTouch"),
    (
        "previewByDefault = true",
        "previewByDefault = false",
        "compound_memory.maintenance.previewByDefault",
    ),
    ("scanLimit = 1000", "scanLimit = 10001", "compound_memory.maintenance.scanLimit"),
    ("scanLimit = 1000", "scanLimit = 0", "compound_memory.maintenance.scanLimit"),
    ("lockTimeoutMs = 5000", "lockTimeoutMs = 99", "compound_memory.maintenance.lockTimeoutMs"),
    ("lockTimeoutMs = 5000", "lockTimeoutMs = 60001", "compound_memory.maintenance.lockTimeoutMs"),
]


@pytest.mark.parametrize(("good", "bad", "key"), WRONG)
def test_each_wrong_key_or_value_is_named(good: str, bad: str, key: str) -> None:
    """One change at a time to the file that `init` writes."""
    text = config.DEFAULT_TOML.replace(good, bad, 1)
    assert text != config.DEFAULT_TOML
    with pytest.raises(Unusable) as refused:
        config.parse(text)
    assert refused.value.code == "config.invalid"
    assert refused.value.details["key"] == key
    assert key in refused.value.message


def test_every_member_of_the_closed_table_is_required() -> None:
    """AIWG's table knows no default: each line left out is refused, with its name."""
    head, _, table = config.DEFAULT_TOML.partition("\n[compound_memory]\n")
    lines = re.findall(r"^\w+ = .+$", table, re.M)
    assert len(lines) == 15
    for line in lines:
        with pytest.raises(Unusable) as refused:
            config.parse(head + "\n[compound_memory]\n" + table.replace(line + "\n", "", 1))
        assert str(refused.value.details["key"]).endswith(line.split()[0])


@pytest.mark.parametrize(
    "data",
    [b"not toml", b"a = 1\na = 2", b"\xff\xfe", b"\xef\xbb\xbfa = 1", b"x = " + b"[" * 20_000, b""],
    ids=["words", "twice", "utf-16", "bom", "deep", "empty"],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, data: bytes) -> None:
    """Not TOML, not UTF-8, nested beyond reason, or empty."""
    path = tmp_path / "config.toml"
    path.write_bytes(data)
    with pytest.raises(Unusable, match=r"config\.invalid"):
        config.load(path)


def test_a_newer_configuration_is_refused_and_not_guessed_at() -> None:
    """A newer schema version comes before any question about its keys."""
    text = config.DEFAULT_TOML.replace("schema_version = 1", "schema_version = 2\nnew = 1")
    with pytest.raises(Unusable, match=r"schema\.newer"):
        config.parse(text)


def test_what_is_written_by_init_is_the_defaults() -> None:
    """The file states each default as it is in the code."""
    policy = config.parse(config.DEFAULT_TOML)
    table = "\n[compound_memory]\n"
    bare = config.parse(table + config.DEFAULT_TOML.partition(table)[2])
    assert policy == bare


def test_a_command_names_the_key_and_ends_with_status_6(workspace: Path, command: Command) -> None:
    """And leaves the file as it is."""
    make_desk(workspace).store.close()
    path = workspace / ".memdesk" / "config.toml"
    path.write_text(path.read_text().replace("scanLimit = 1000", "scanLimit = 0"))
    before = path.read_bytes()
    error = command.json("status", status=6)["error"]
    assert error["code"] == "config.invalid"
    assert error["details"]["key"] == "compound_memory.maintenance.scanLimit"
    assert path.read_bytes() == before
