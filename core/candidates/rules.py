"""Candidates beside the repository's rules: what a rule file says already, or contradicts (4.7, 4.9).

The rules' claims are an index that follows the files: nothing of a rule file is evidence, none is
ever a target, and what is entered here can be made again from the files at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core import claims, rule_files, screening
from core.candidates.propose import regroup
from core.evidence import places
from core.ports import Desk, Writer
from core.rule_files import RuleFile, RuleFiles
from schemas.storage import POLICY, Claim, rule_ref

_BATCH = 100
_LIMIT = 500


def follow(desk: Desk) -> RuleFiles:
    """Read the rule files and let the marks of candidates follow them; answers what was read."""
    found = rule_files.find(desk.workspace)
    wanted = {c.ref: c for f in found.files for c in _claims(desk, f)}
    with desk.store.read() as view:
        known = {c.ref: c for c in view.claims.rules()}
    gone = [c for ref, c in known.items() if wanted.get(ref) != c]
    new = [c for ref, c in wanted.items() if known.get(ref) != c]
    indexed = {c.claim for c in known.values()}
    for start in range(0, len(gone), _LIMIT):
        with desk.store.write() as unit:
            _withdraw(unit, gone[start : start + _LIMIT])
    for start in range(0, len(new), _BATCH):
        with desk.store.write() as unit:
            _enter(desk, unit, new[start : start + _BATCH], indexed)
    return found


def _claims(desk: Desk, file: RuleFile) -> Iterable[Claim]:
    """What a file claims; credentials masked, as nothing outside evidence may hold one."""
    path = places.readable(file.path, desk)
    for rule in file.rules:
        text = screening.mask(rule.text)
        name, key = claims.claim_of(desk, text), claims.key_of(text)
        yield Claim(name, key, file.scope, POLICY, rule_ref(path, rule.line, rule.part), text)


def _withdraw(unit: Writer, gone: Sequence[Claim]) -> None:
    unit.candidates.hold()
    for claim in gone:
        unit.claims.withdraw(claim.ref)
    _regroup(unit, gone)


def _enter(desk: Desk, unit: Writer, new: Sequence[Claim], indexed: set[bytes]) -> None:
    """Enter claims; one that only moved to another line is compared with nothing again."""
    unit.candidates.hold()
    for claim in new:
        if claim.claim in indexed:
            unit.claims.put(claim)
        else:
            claims.enter(desk, unit.claims, claim)
    _regroup(unit, new)


def _regroup(unit: Writer, changed: Sequence[Claim]) -> None:
    """New lanes for candidates under these keys, and for those that say the same under others."""
    under = {(c.key, c.scope) for c in changed}
    for name in {c.claim for c in changed}:
        under |= {(c.key, c.scope) for c in unit.claims.same(name, "", _LIMIT)}
    for key, scope in sorted(under):
        regroup(unit, key, scope)
