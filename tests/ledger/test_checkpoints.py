"""Checkpoints and receipts as anchors kept elsewhere, signed with an SSH key (spec 1.4, 5.7)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from core.ports import Desk
from core.promotion.exporting import CHECKPOINT, export
from core.verify import verify
from schemas.errors import Refused
from tests.conftest import Command
from tests.desks import lived_in


def key(folder: Path, name: str = "key") -> Path:
    """A new SSH key without a passphrase."""
    path = folder / name
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(made, check=True)
    return path


def allowed(folder: Path, made: Path) -> Path:
    """ssh's `allowed_signers` with one person in it."""
    path = folder / "allowed_signers"
    path.write_text(f"ana@example.org {made.with_suffix('.pub').read_text()}")
    return path


def test_what_is_exported_verifies_with_the_stock_tool(
    sqlite_desk: Desk, tmp_path: Path, command: Command
) -> None:
    """Every receipt and the checkpoint, by `ssh-keygen -Y verify` and nothing of ours."""
    receipt = lived_in(sqlite_desk, tmp_path)
    made, out = key(tmp_path), tmp_path / "out"
    command.json("promotion", "receipts", "--export", str(out), "--sign", str(made))
    names = {f"{receipt.receipt_id}.json", CHECKPOINT}
    assert {p.name for p in out.iterdir()} == names | {f"{n}.sig" for n in names}
    signers = allowed(tmp_path, made)
    for name in names:
        asked = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "ana@example.org"]
        asked += ["-n", "memdesk", "-s", str(out / f"{name}.sig")]
        done = subprocess.run(asked, input=(out / name).read_bytes(), capture_output=True)
        assert done.returncode == 0, done.stderr
    head = json.loads((out / CHECKPOINT).read_bytes())["head"]
    assert head == verify(sqlite_desk).head.model_dump(mode="json")


def test_a_signed_checkpoint_says_whose_it_is(
    sqlite_desk: Desk, tmp_path: Path, command: Command
) -> None:
    """Which key always; whose, only by the signers one names; a stranger's key is a fault."""
    lived_in(sqlite_desk, tmp_path)
    made, out = key(tmp_path), tmp_path / "out"
    export(sqlite_desk, out, made)
    file = str(out / CHECKPOINT)
    bare = command.json("verify", "--head", file)["anchor"]
    assert bare["found"] and bare["signature"].startswith("ED25519 SHA256:")
    assert bare["signer"] is None
    signers = allowed(tmp_path, made)
    known = command.json("verify", "--head", file, "--signers", str(signers))["anchor"]
    assert known["signer"] == "ana@example.org"
    strangers = allowed(tmp_path, key(tmp_path, "other"))
    report = command.json("verify", "--head", file, "--signers", str(strangers), status=1)
    assert [f["what"] for f in report["faults"]] == ["anchor"]


@pytest.mark.parametrize("harm", ["file", "signature"])
def test_a_signature_that_does_not_fit_is_a_fault(
    sqlite_desk: Desk, tmp_path: Path, harm: str
) -> None:
    """One byte of either; the head itself is still in the chain."""
    lived_in(sqlite_desk, tmp_path)
    out = tmp_path / "out"
    export(sqlite_desk, out, key(tmp_path))
    file = out / CHECKPOINT
    if harm == "file":
        file.write_bytes(file.read_bytes() + b" ")
    else:
        side = file.with_name(file.name + ".sig")
        side.write_text(side.read_text().replace("A", "B", 1))
    report = verify(sqlite_desk, str(file))
    assert [(f.code, f.what) for f in report.faults] == [("ledger.broken", "anchor")]
    assert report.anchor and report.anchor.found


def test_a_head_at_another_place_or_of_another_workspace_is_a_fault(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    """A digest of this chain under a number that is not its own proves nothing."""
    lived_in(sqlite_desk, tmp_path)
    export(sqlite_desk, tmp_path / "out")
    stated = json.loads((tmp_path / "out" / CHECKPOINT).read_bytes())
    file = tmp_path / "moved.json"
    for change in ({"head": {**stated["head"], "seq": 2}}, {"workspace": "0" * 32}):
        file.write_text(json.dumps({**stated, **change}))
        assert [f.what for f in verify(sqlite_desk, str(file)).faults] == ["anchor"]


def test_what_can_not_sign_or_be_judged_is_refused(
    sqlite_desk: Desk, tmp_path: Path, command: Command
) -> None:
    """No key, no export, no signature beside the file: each says so."""
    lived_in(sqlite_desk, tmp_path)
    with pytest.raises(Refused, match=r"signature\.key"):
        export(sqlite_desk, tmp_path / "out", tmp_path / "nothing")
    assert not list((tmp_path / "out").glob("*.sig"))
    file = str(tmp_path / "out" / CHECKPOINT)
    found = command.json("verify", "--head", file, "--signers", file, status=2)
    assert found["error"]["code"] == "usage.invalid"
    command.json("promotion", "receipts", "--sign", file, status=2)
    command.json("verify", "--signers", file, status=2)


def test_without_openssh_a_signature_is_neither_made_nor_judged(
    sqlite_desk: Desk, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool is named as what is missing; an unsigned export needs none."""
    made = key(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    out = str(tmp_path / "out")
    found = command.json("promotion", "receipts", "--export", out, "--sign", str(made), status=6)
    assert found["error"]["code"] == "signature.tool"
    command.json("promotion", "receipts", "--export", out)
    assert command.json("verify", "--head", str(tmp_path / "out" / CHECKPOINT))["ok"]
