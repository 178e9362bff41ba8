"""Candidates beside the repository's rules: what a rule file says already, or contradicts (4.7, 4.9).

The rules' claims are an index that follows the files: nothing of a rule file is evidence, none is
ever a target, and what is entered here can be made again from the files at any time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core import claims, rule_files, screening
from core.candidates.propose import regroup
from core.evidence import places
from core.ports import Desk, Writer
from core.rule_files import RuleFile, RuleFiles
from schemas.candidates import POLICY
from schemas.storage import Claim, rule_ref

_BATCH = 20
"""Claims entered in one transaction: each is compared with others, and reviewers wait meanwhile."""
_LIMIT = 500
_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Followed:
    """The rule files as they were read, and whether a mark may have moved."""

    read: RuleFiles
    changed: bool


def follow(desk: Desk, *, known: bool = False) -> Followed:
    """Read the rule files and let the marks of candidates follow them.

    With `known` no folder is walked: files read before are read again, and those at the root.
    In a store that can only be read the marks stay as they are.
    """
    with desk.store.read() as view:
        had = {c.ref: c for c in view.claims.rules()}
    paths = {c.place.rpartition(":")[0] for c in had.values()}
    read = rule_files.again(desk.workspace, paths) if known else rule_files.find(desk.workspace)
    if desk.store.read_only:
        return Followed(read, changed=False)
    wanted = {c.ref: c for f in read.files for c in _claims(desk, f)}
    gone = [c for ref, c in had.items() if wanted.get(ref) != c and not (known and _nameless(c))]
    new = [c for ref, c in wanted.items() if had.get(ref) != c]
    indexed = {c.claim for c in had.values()}
    for start in range(0, len(gone), _LIMIT):
        with desk.store.write() as unit:
            _withdraw(unit, gone[start : start + _LIMIT])
    for start in range(0, len(new), _BATCH):
        with desk.store.write() as unit:
            _enter(desk, unit, new[start : start + _BATCH], indexed)
    return Followed(read, changed=bool(gone or new))


def _nameless(claim: Claim) -> bool:
    """True for a file that is stored under an opaque name, by which it can't be read again."""
    return claim.place.startswith("name:")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a rule file, and the file's text with credentials masked."""

    path: str
    line: int
    text: str


def place(desk: Desk, locator: str) -> Place | None:
    """What `PATH:LINE` names in a rule file that is there now; None when it names no such line."""
    path, _, number = locator.strip().rpartition(":")
    if not (path and number.isdecimal() and number.isascii() and len(number) < _DIGITS):
        return None
    with desk.store.read() as view:
        read = {c.place.rpartition(":")[0] for c in view.claims.rules()}
    named = path in read or rule_files.known(path)
    found = rule_files.text_of(desk.workspace, path) if named else None
    if found is None or not 1 <= int(number) <= found.count("\n") + 1:
        return None
    return Place(path, int(number), screening.mask(found))


class Follower:
    """Follows while a desk is open: looks at the files' times, reads only when one moved."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._seen: object = None
        self._paths: tuple[str, ...] = ()
        self._turn = threading.Lock()

    def look(self) -> None:
        """Let the marks follow what changed since the last look; the first reads everything.

        May be called from any thread; a second call returns at once while the first still reads.
        """
        if not self._turn.acquire(blocking=False):
            return
        try:
            root = self._desk.workspace.root
            now = rule_files.signature(root, self._paths)
            if now == self._seen:
                return
            read = follow(self._desk, known=self._seen is not None).read
            self._paths = tuple(f.path for f in read.files)
            self._seen = rule_files.signature(root, self._paths)
        finally:
            self._turn.release()


def _claims(desk: Desk, file: RuleFile) -> Iterable[Claim]:
    """What a file claims; credentials masked, as nothing outside evidence may hold one."""
    path, scope = places.readable(file.path, desk), places.readable(file.scope, desk)
    for rule in file.rules:
        text = screening.mask(rule.text)
        name, key = claims.claim_of(desk, text), claims.key_of(text)
        yield Claim(name, key, scope, POLICY, rule_ref(path, rule.line, rule.part), text)


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
