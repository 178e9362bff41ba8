"""The wiki consumer: one reviewed statement becomes one page in AIWG's layout (spec 5.1, 5.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from core.evidence import raw
from core.operations.envelope import Plan, Target
from core.ports import Desk, Writer
from core.promotion.consumers import reviewed
from core.promotion.consumers.ending import Ended, Ending
from core.promotion.consumers.wiki_pages import NAME, ROOT, ended_page, page, page_path
from core.workspace import read_at
from schemas.candidates import CandidateVersion, Related
from schemas.errors import MemdeskError
from schemas.operations import Effect, Envelope, Receipt
from schemas.promotion import Belief, BeliefState
from schemas.storage import OutboxTarget, StoredOperation

_BYTES = 1 << 20


class Wiki:
    """`promote` for pages under `.aiwg/wiki/summaries/`."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """The wiki has no lock of its own; the exchange answers for racing edits."""
        return nullcontext()

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The exact bytes of the page.

        Raises Refused `candidate.not-accepted`, `destination.link`; Stale
        `candidate.stale-version`.
        """
        made = reviewed.change(desk, subject, NAME, request)
        targets = []
        affects: list[Effect] = []
        for found in made.every:
            path = page_path(found.version)
            target = Target(path, desk.workspace.read(path), page(found.version).encode())
            targets.append(target)
            if target.before == target.after:
                text = f"{path} stands already, byte for byte."
                affects.append(Effect(code="duplicate.same-claim", text=text))
            else:
                affects += reviewed.new_belief(found, made)
        duplicate = all(t.before == t.after for t in targets)
        ended = self.ended(desk, made.endings)
        affects += [*made.told, *ended.affects, *leftovers(desk, made.every)]
        targets += ended.targets
        return reviewed.plan(
            desk, made, NAME, request, targets, duplicate=duplicate, blocked=(), affects=affects
        )

    def ended(self, desk: Desk, endings: Sequence[Ending]) -> Ended:
        """The exact bytes of the pages, each marked; a page that its owner took away stays away."""
        targets, blocked, told = [], [], []
        for e in endings:
            path = page_path(e.version)
            before = desk.workspace.read(path)
            if before is None:
                told.append(Effect(code="effect.page-gone", text=f"{path} is gone already"))
                continue
            if e.state is BeliefState.REMOVED and before != page(e.version).encode():
                blocked.append("belief.drifted")
            targets.append(Target(path, before, ended_page(before, e)))
        return Ended(tuple(targets), tuple(dict.fromkeys(blocked)), tuple(told))

    def stands(self, desk: Desk, beliefs: Sequence[tuple[Belief, CandidateVersion]]) -> list[bool]:
        """Which of these pages stand byte for byte as memdesk wrote them."""
        return [desk.workspace.read(page_path(v)) == page(v).encode() for _, v in beliefs]

    def recheck(self, unit: Writer, envelope: Envelope) -> None:
        """The version is still accepted and the newest."""
        reviewed.recheck(unit, envelope)

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """Nothing to do before a page is written."""

    def after_write(
        self, desk: Desk, operation: StoredOperation, targets: Sequence[OutboxTarget]
    ) -> None:
        """Nothing to do after a page was written."""

    def tidy(self, desk: Desk) -> None:
        """Nothing is ever left behind."""

    def record(
        self, desk: Desk, unit: Writer, operation: StoredOperation, receipt: Receipt
    ) -> Receipt:
        """Form the belief of the promoted version."""
        return reviewed.record(desk, unit, operation, receipt)


def leftovers(desk: Desk, every: Sequence[reviewed.Reviewed]) -> list[Effect]:
    """Wiki lines that still say what a conflicting statement says (spec 5.8)."""
    told = dict.fromkeys(t for r in every for t in still_say(desk, r.version, r.conflicts))
    return [Effect(code="effect.leaves-behind", text=f"leaves behind  {t}") for t in told]


def still_say(desk: Desk, version: CandidateVersion, conflicts: Sequence[Related]) -> list[str]:
    """At most five `PATH:LINE “words”` of the wiki that say what a conflicting statement says."""
    old = [c.statement for c in conflicts]
    if not old:
        return []
    out = []
    for path, number, line in _wiki_lines(desk):
        if any(_says(line, statement, version.statement) for statement in old):
            out.append(f"{path}:{number} “{line.strip()[:120]}”")
            if len(out) == 5:
                break
    return out


def _says(line: str, old: str, new: str) -> bool:
    """True when a line holds what only the old statement says, and most of what both say."""
    words, other = _words(old), _words(new)
    told = _words(line)
    only_old, both = words - other, words & other
    return bool(only_old & told) and len(both & told) * 2 >= len(both)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _wiki_lines(desk: Desk) -> Iterator[tuple[str, int, str]]:
    """Lines of wiki pages, at most `scanLimit` of them; raw copies are evidence and no pages."""
    import os

    limit = desk.policy.compound_memory.maintenance.scanLimit
    top = desk.workspace.root / ROOT
    seen = 0
    for folder, names, files in os.walk(top, followlinks=False):
        here = os.path.relpath(folder, desk.workspace.root)
        names[:] = sorted(n for n in names if not raw.is_raw(f"{here}/{n}/"))
        for name in sorted(f for f in files if f.endswith(".md")):
            seen += 1
            if seen > limit:
                return
            relative = os.path.relpath(os.path.join(folder, name), desk.workspace.root)
            try:
                with desk.workspace.directory(os.path.dirname(relative)) as handle:
                    data = read_at(handle, name)
            except MemdeskError:
                continue
            text = (data or b"")[:_BYTES].decode("utf-8", "replace")
            for number, line in enumerate(text.split("\n"), 1):
                yield relative, number, line
