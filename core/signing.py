"""Signatures of exported files with the reviewer's SSH key; the stock tool verifies them (5.7).

`ssh-keygen -Y sign` and `-Y verify`, namespace `memdesk`. No key is read here.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import Refused, Unusable

NAMESPACE = "memdesk"
_KEY = re.compile(r"with (\S+) key (SHA256:\S+)")


@dataclass(frozen=True, slots=True)
class Signed:
    """A signature beside a file: which key, whom it is known to belong to, what is wrong."""

    key: str | None
    principal: str | None
    fault: str


def sign(files: Sequence[Path], key: Path) -> None:
    """Write `FILE.sig` beside each file, over an older one. The tool asks for a passphrase itself.

    Raises Refused `signature.key`; Unusable `signature.tool`.
    """
    for file in files:
        side(file).unlink(missing_ok=True)
    names = [str(f.absolute()) for f in files]
    done = _run(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, *names])
    if done.returncode or not all(side(f).exists() for f in files):
        raise Refused("signature.key", f"ssh-keygen did not sign: {_said(done)}", key=str(key))


def side(file: Path) -> Path:
    """Where a file's signature stands."""
    return file.with_name(file.name + ".sig")


def check(file: Path, signers: Path | None) -> Signed | None:
    """The signature beside a file; None when there is none.

    Without `signers` (ssh's `allowed_signers`) a sound signature says which key made it, not whose.
    Raises Refused `usage.invalid` for signers that can't be read; Unusable `signature.tool`.
    """
    if not side(file).exists():
        return None
    if signers is not None and not signers.is_file():
        raise Refused("usage.invalid", f"--signers: {signers} is no readable file.")
    data, sig = file.read_bytes(), str(side(file).absolute())
    done = _run(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", sig], data)
    found = _KEY.search(_said(done))
    if done.returncode:
        return Signed(None, None, "its signature does not fit the file")
    key = f"{found[1]} {found[2]}" if found else None
    if signers is None:
        return Signed(key, None, "")
    allowed = ["-f", str(signers.absolute())]
    who = _run(["-Y", "find-principals", "-s", sig, *allowed])
    for name in who.stdout.decode("utf-8", "replace").splitlines() if not who.returncode else ():
        proof = ["-Y", "verify", *allowed, "-I", name, "-n", NAMESPACE, "-s", sig]
        if not _run(proof, data).returncode:
            return Signed(key, name, "")
    return Signed(key, None, "is signed by a key that --signers does not allow")


def _run(arguments: Sequence[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments], input=data, capture_output=True, check=False, timeout=300
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        raise Unusable("signature.tool") from err


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stdout + done.stderr).decode("utf-8", "replace").strip()[:300]
