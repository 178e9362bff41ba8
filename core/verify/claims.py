"""What lists and claims hold of candidates and beliefs: no entry seals it, all of it follows (4.7)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

from core import alike, claims
from core.candidates.propose import claim_of
from core.ports import Desk, Reader
from core.promotion import lifecycle
from core.verify.findings import Findings
from schemas.candidates import POLICY, CandidateState
from schemas.evidence import LedgerEntry
from schemas.operations import Receipt
from schemas.promotion import BeliefState
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
        self._beliefs: dict[str, Claim] = {}
        """What each belief claims, wherever it is held."""
        self._said: defaultdict[bytes, set[str]] = defaultdict(set)
        """Every statement that is known to make a claim."""

    def entry(self, entry: LedgerEntry) -> None:
        """A version or a decision was entered."""
        self._changed[entry.subject.partition("@")[0]] = entry.seq

    def receipt(self, entry: LedgerEntry, receipt: Receipt) -> None:
        """Versions were promoted: from then on the beliefs speak for them."""
        if receipt.action in lifecycle.STATES:
            return
        names = receipt.beliefs or ((receipt.belief,) if receipt.belief else ())
        for name, subject in zip(names, parted(receipt.subject), strict=False):
            id_, _, number = subject.partition("@")
            self._changed[id_] = entry.seq
            version = self._view.candidates.version(id_, int(number))
            if version is not None:
                said = claim_of(self._desk, version)
                self._beliefs[name] = replace(said, ref=name)
                self._said[said.claim].add(said.statement)

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
        wanted, held = dict(self._wanted), {n: self._held(n) for n in self._beliefs}
        spoken = set()
        for found in self._view.proving.claims():
            if found.layer == POLICY or found.ref.startswith(RULES):
                # Read from the files anew whenever a desk opens: here it has to say what it says.
                said = claims.claim_of(self._desk, found.statement), claims.key_of(found.statement)
                sound = (found.claim, found.key) == said and found.layer == POLICY
                sound = sound and found.ref.startswith(RULES)
            elif (belief := self._beliefs.get(found.ref)) is not None:
                spoken.add(found.ref)
                sound = (
                    replace(belief, layer=found.layer) == found and found.layer in held[found.ref]
                )
            else:
                sound = wanted.pop(found.ref, None) == found
            if not sound:
                self._findings.altered(f"claim {found.ref}", "does not follow from what makes it")
        for ref in (
            *wanted,
            *(n for n, at in held.items() if True in at.values() and n not in spoken),
        ):
            self._findings.altered(f"claim {ref}", "is missing")

    def _held(self, name: str) -> dict[str, bool]:
        """Consumers a belief's claim may be entered for: true where it is active, false where it
        was found changed outside. Their states are checked where beliefs are."""
        try:
            belief = self._view.promotion.belief(name)
        except ValueError:
            belief = None
        if belief is None:
            return {}
        states = {BeliefState.ACTIVE: True, BeliefState.DRIFTED: False}
        return {c.consumer: states[c.state] for c in belief.consumers if c.state in states}

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
