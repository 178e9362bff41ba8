"""Anchors: a head kept elsewhere, which pins everything before it (spec 1.4, 5.7).

A chain that was rewritten whole, or cut short, fits itself. What it can't fit is a digest that
left this machine before: a receipt, or a checkpoint, signed or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import orjson

from core import signing
from core.identity import digest_text
from core.ports import Desk
from core.verify.findings import Findings
from schemas.errors import Refused
from schemas.status import Anchor

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an anchor states: a digest, of which entry, of which workspace, from which file."""

    digest: str
    seq: int | None = None
    workspace: str | None = None
    file: Path | None = None


def parse(given: str) -> Wanted:
    """A digest, or a file that holds a receipt, a checkpoint or a head.

    Raises Refused `usage.invalid` for anything else.
    """
    if given.startswith("sha256:"):
        if not _DIGEST.fullmatch(given):
            raise Refused("usage.invalid", f"--head: {given} is no SHA-256 digest.")
        return Wanted(given)
    try:
        document = orjson.loads(Path(given).read_bytes())
    except (OSError, ValueError) as err:
        raise Refused(
            "usage.invalid", f"--head: {given} is no digest and no readable file."
        ) from err
    wanted = _stated(document, Path(given)) if isinstance(document, dict) else None
    if wanted is None:
        raise Refused("usage.invalid", f"--head: {given} holds no ledger head.")
    return wanted


def _stated(document: dict[str, object], file: Path) -> Wanted | None:
    head = document.get("head", document)
    head = head if isinstance(head, dict) else {"digest": head}
    found = document.get("ledger_head", head.get("digest"))
    if not isinstance(found, str) or not _DIGEST.fullmatch(found):
        return None
    # A receipt states the head its own entry was appended to.
    own = document.get("ledger_seq")
    seq = own - 1 if isinstance(own, int) else head.get("seq")
    workspace = document.get("workspace")
    return Wanted(
        found,
        seq if isinstance(seq, int) else None,
        workspace if isinstance(workspace, str) else None,
        file,
    )


class Watch:
    """Looks for the anchor while the chain is walked."""

    def __init__(self, wanted: Wanted | None) -> None:
        self.wanted = wanted
        self.found = False
        self.met(0, digest_text(bytes(32)))

    def met(self, seq: int, digest: str) -> None:
        """Told of each entry's place and digest."""
        if self.wanted and digest == self.wanted.digest:
            self.found |= self.wanted.seq in (None, seq)


def judge(desk: Desk, watch: Watch, signers: Path | None, findings: Findings) -> Anchor:
    """Name an anchor the chain does not hold, and a signature that does not fit.

    Raises Refused `usage.invalid` for signers without a signature to judge.
    """
    wanted = watch.wanted
    assert wanted is not None
    if wanted.workspace not in (None, desk.workspace.id):
        findings.broken("anchor", "is of another workspace")
    elif not watch.found:
        detail = (
            f"{wanted.digest} is not in this chain: it was shortened, rewritten, or is another's."
        )
        findings.broken("anchor", detail)
    signed = signing.check(wanted.file, signers) if wanted.file else None
    if signed is None and signers is not None:
        raise Refused("usage.invalid", "--signers: the file of --head has no signature beside it.")
    if signed is not None and signed.fault:
        findings.broken("anchor", signed.fault)
    return Anchor(
        digest=wanted.digest,
        seq=wanted.seq,
        found=watch.found,
        signature=signed.key if signed else None,
        signer=signed.principal if signed else None,
    )
