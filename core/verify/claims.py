"""What lists and claims hold of candidates and beliefs: no entry seals it, all of it follows (4.7)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

from core import alike, claims
from core.candidates.propose import claim_of
from core.ports import Desk, Reader
from core.promotion.lifecycle import STATES
from core.verify.findings import Findings
from schemas.candidates import POLICY, CandidateState
from schemas.evidence import LedgerEntry
from schemas.operations import Receipt
from schemas.storage import RULES, Claim, ListedRow
from schemas.subject import parted

_CLAIMING = (CandidateState.PENDING, CandidateState.DEFERRED, CandidateState.ACCEPTED)
"""States in which a candidate speaks for itself: a belief does for a promoted one."""
_KIND = {
    alike.Likeness.NEAR: claims.NEAR,
    alike.Likeness.SAME: claims.NEAR,
    alike.Likeness.APART: claims.APART,
}


class Claims:
    """Told every entry about a candidate; `check` then names what does not follow."""

    def __init__(self, desk: Desk, view: Reader, findings: Findings) -> None:
        self._desk = desk
        self._view = view
        self._findings = findings
        self._changed: dict[str, int] = {}
        """The entry that moved each candidate last."""
        self._wanted: dict[str, Claim] = {}
        self._held: defaultdict[str, set[str]] = defaultdict(set)
        """Consumers that hold each belief, or hold what its owner made of it."""
        self._said: defaultdict[bytes, set[str]] = defaultdict(set)
        """Every statement that is known to make a claim."""

    def entry(self, entry: LedgerEntry) -> None:
        """A version or a decision was entered."""
        self._changed[entry.subject.partition("@")[0]] = entry.seq

    def receipt(self, entry: LedgerEntry, receipt: Receipt) -> None:
        """Versions were promoted: the belief speaks, at the consumer that took it last.

        Where it ended it speaks no more, or at the last by name of those that still hold it.
        """
        names = receipt.beliefs or ((receipt.belief,) if receipt.belief else ())
        for ended in names if receipt.action in STATES else receipt.supersedes:
            self._ended(ended, receipt.consumer)
        if receipt.action in STATES:
            return
        for name, subject in zip(names, parted(receipt.subject), strict=False):
            id_, _, number = subject.partition("@")
            self._changed[id_] = entry.seq
            version = self._view.candidates.version(id_, int(number))
            if version is not None:
                said = claim_of(self._desk, version)
                self._wanted[name] = replace(said, layer=receipt.consumer, ref=name)
                self._held[name].add(receipt.consumer)
                self._said[said.claim].add(said.statement)

    def _ended(self, name: str, consumer: str) -> None:
        self._held[name].discard(consumer)
        said = self._wanted.pop(name, None)
        if said is not None and self._held[name]:
            self._wanted[name] = replace(said, layer=max(self._held[name]))

    def check(self) -> None:
        """Name every row of lists, claims and their index that does not follow."""
        for row in self._view.proving.listed():
            self._listed(row)
        self._claims()
        self._bands()
        self._likeness()

    def _listed(self, row: ListedRow) -> None:
        try:
            version = self._view.candidates.version(row.id)
        except ValueError:
            version = None
        if version is None:
            return  # named where its entry is checked
        wanted = claim_of(self._desk, version)
        self._said[wanted.claim].add(version.statement)
        if version.state in _CLAIMING:
            self._wanted[row.id] = wanted
        if (row.scope, row.claim) != (wanted.scope, wanted.claim):
            self._findings.altered(f"candidate {row.id}", "is listed under another claim")
        if row.changed != self._changed.get(row.id):
            self._findings.altered(f"candidate {row.id}", "states another change")

    def _claims(self) -> None:
        wanted = dict(self._wanted)
        for found in self._view.proving.claims():
            if found.layer == POLICY or found.ref.startswith(RULES):
                # Read from the files anew whenever a desk opens: here it has to say what it says.
                said = claims.claim_of(self._desk, found.statement), claims.key_of(found.statement)
                sound = (found.claim, found.key) == said and found.layer == POLICY
                sound = sound and found.ref.startswith(RULES)
            else:
                sound = wanted.pop(found.ref, None) == found
            if not sound:
                self._findings.altered(f"claim {found.ref}", "does not follow from what makes it")
        for ref in wanted:
            self._findings.altered(f"claim {ref}", "is missing")

    def _bands(self) -> None:
        """A claim stays where its statements put it; a rule that is gone leaves its places."""
        there = self._view.proving.bands()
        for claim, statements in sorted(self._said.items()):
            wanted = {b for s in statements for b in alike.bands(self._desk.secret, s)}
            if not wanted <= there.get(claim, set()):
                self._findings.altered(f"claim_band {claim.hex()}", "is missing")

    def _likeness(self) -> None:
        """Both ways the same, and as the statements are where they are known."""
        found = self._view.proving.likeness()
        for claim, other, kind in sorted(found):
            pairs = product(self._said.get(claim, ()), self._said.get(other, ()))
            kinds = [_KIND.get(alike.compare(a, b)) for a, b in pairs]
            if (other, claim, kind) not in found or (kinds and kind not in kinds):
                what = f"likeness {claim.hex()} {other.hex()}"
                self._findings.altered(what, "does not follow from what they say")
