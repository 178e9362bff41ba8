"""How a preview is written out: each target's diff with visible whitespace, effects, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.promotion.reading import FOREIGN, of_copy
from core.textdiff import Comparison, TextDiff
from core.wording import some
from schemas.subject import parted
from tui.theme import STATE_ROLE, Glyphs
from tui.widgets.diff import DiffText, View
from tui.widgets.document import Line
from tui.widgets.text import brief, digest8, header, short, subject
from tui.widgets.text import exact as exact_time

if TYPE_CHECKING:
    from core.operations.envelope import Copy
    from core.operations.preview import Exact
    from core.promotion.standing import Foreign
    from schemas.operations import FailedSink, Preview, Receipt
    from schemas.promotion import BeliefAtConsumer
    from tui.written import Held

_EFFECT = {
    "belief.new": "+",
    "conflict.same-key": "!",
    "duplicate.same-claim": "=",
    "new-file": "+",
    "same-bytes": "=",
    "same-receipt": "=",
    "withhold": "!",
    "left-out": "!",
}

_ENDS = ("belief.superseded", "belief.revoked", "belief.archived", "belief.removed")
_ROLES = {"effect.closes": "bad"}


def preview(
    exact: Exact,
    g: Glyphs,
    view: View,
    *,
    unfolded: bool,
    under: Sequence[Foreign] = (),
    bytes_only: bool = False,
) -> list[Line]:
    """The whole preview; changed lines of targets that are no derived file must be seen.

    `under` is what others changed since the reader began: shown first, and to be seen as well.
    With `bytes_only` effects and checks are left out.
    """
    p = exact.preview
    lines = [*_about(p, g), Line()]
    if under:
        lines.append(header("moved under you since you began to read", _size(under), g))
        lines += foreign(under, exact, g, view)
    first = len(exact.copies)
    count = first + len(exact.targets)
    for n, copy in enumerate(exact.copies):
        lines.append(header(copy.path, f"{n + 1}/{count}", g))
        lines += _copied(copy, n)
    for n, (target, compared) in enumerate(
        zip(exact.targets, exact.compared, strict=True), start=first
    ):
        lines.append(header(target.path, f"{n + 1}/{count}", g))
        if target.derived and not unfolded:
            size = f"+{compared.added} -{compared.removed}"
            fold = f" {g.folded} derived from 1/{count}: {size} {g.dot} z shows it"
            lines.append(Line([(fold, "muted")], indent=3))
        else:
            lines += DiffText(target.path, g, view, group=n).lines(compared.at(view.context))
        lines.append(Line([(_file_facts(p, target.path, g), "muted")], indent=10))
    return lines if bytes_only else [*lines, *effects(p, g), *_checks(p, g)]


def _about(p: Preview, g: Glyphs) -> list[Line]:
    """What it is about: the statement, each of several with where it goes, or a path."""
    if len(p.versions) < 2:
        return [Line([(" " + (p.statement or p.subject), "owner")], indent=1)]
    lines = [header("statements", str(len(p.versions)), g)]
    for v in p.versions:
        text = f" {subject(v.ref)} {g.arrow} {v.consumer}  "
        lines.append(Line([(text, "muted"), (v.statement, "owner")], indent=3))
        if v.reason:
            lines.append(Line([(f"   reason recorded: “{v.reason}”", "muted")], indent=3))
    return lines


def _copied(copy: Copy, group: int) -> list[Line]:
    """A file that takes over a source's bytes whole: told by its size and whole digest."""
    if copy.before_digest == copy.after_digest:
        lines = [Line([("          no change to the bytes", "muted")])]
    else:
        key = (of_copy(copy.path, copy.after_digest),)
        text = f" + new file, {copy.size:,} bytes, byte for byte those of {copy.source}"
        lines = [Line([(text, "add")], 3, key, group)]
    return [*lines, Line([(f"   {copy.after_digest}", "muted")], indent=3)]


def _size(under: Sequence[Foreign]) -> str:
    """How much others changed; whether it was read is said by the bar alone."""
    changed = (line for f in under for h in f.hunks for line in h.lines if line.sign != " ")
    return some(sum(1 for _ in changed), "line")


def foreign(under: Sequence[Foreign], exact: Exact, g: Glyphs, view: View) -> list[Line]:
    """Lines that others changed, file by file; read once they were on screen."""
    groups = {t.path: n for n, t in enumerate(exact.targets, start=len(exact.copies))}
    lines: list[Line] = []
    for f in under:
        if len(under) > 1 or groups.get(f.path) != 0:
            lines.append(Line([(" " + f.path, "muted")], indent=3))
        group = groups.get(f.path, 0)
        text = DiffText(f.path, g, view, group=group, prefix=FOREIGN)
        lines += text.lines(TextDiff(f.hunks, 0, 0, 0))
    return lines


def diverged(kept: Sequence[tuple[str, Comparison]], g: Glyphs, view: View) -> list[Line]:
    """Both versions of each file that held neither the bytes before nor after (spec 5.4)."""
    lines = [
        Line(
            [
                (
                    " Written to meanwhile by somebody else: that stands, nothing of it is lost.",
                    "warn",
                )
            ],
            indent=1,
        ),
        Line([(" p previews the same promotion on top of it.", "text")], indent=1),
    ]
    for path, compared in kept:
        lines.append(header(path, f"found {g.arrow} would have been written", g))
        lines += DiffText(path, g, view).lines(compared.at(view.context))
    return lines


def _file_facts(p: Preview, path: str, g: Glyphs) -> str:
    t = next(t for t in p.targets if t.path == path)
    final = "final newline" if t.final_newline else "no final newline"
    digests = f"{digest8(t.before_digest)} {g.arrow} {digest8(t.after_digest)}"
    facts = (digests, t.newline.upper(), t.encoding.upper(), final)
    return " " * 10 + f" {g.dot} ".join(facts)


def effects(p: Preview, g: Glyphs) -> list[Line]:
    """What a confirm brings beside the bytes, conflicts among it."""
    lines = [header("effects", str(len(p.affects)), g)]
    for e in p.affects:
        role = _ROLES.get(e.code, "warn" if _EFFECT.get(e.code) == "!" else "text")
        # Where no file is written, its effects are what a reader must have seen.
        keys = () if p.targets else ((e.code, e.text),)
        lines.append(Line([(f" {_sign(e.code, g)} {brief(e.text)}", role)], 3, keys))
    for c in (c for c in p.conflicts if c.ref not in p.supersedes):
        place = c.ref if c.rule else short(c.ref)
        text = f" ! {c.code}   {c.layer} {place}  {c.statement}"
        lines.append(Line([(text, "warn")], indent=3))
    return lines


def _sign(code: str, g: Glyphs) -> str:
    if code == "effect.closes":
        return g.fenced
    known = _EFFECT.get(code)
    return known or (g.state(code.partition(".")[2]) if code in _ENDS else g.dot)


def _checks(p: Preview, g: Glyphs) -> list[Line]:
    passed = not p.blocked_by
    lines = [header("checks", "all passed" if passed else "blocked", g)]
    for code in p.blocked_by:
        lines.append(Line([(f" # {code}   enter says why", "bad")]))
    for e in p.checks:
        sign, role = ("#", "bad") if e.code in p.blocked_by else (g.accepted, "good")
        lines.append(Line([(f" {sign} {e.text}", role)], indent=3))
    policy = f" {g.accepted} policy {digest8(p.policy_digest)}"
    lines.append(Line([(policy, "good")]))
    if p.reason:
        lines.append(Line([(f" reason recorded: “{p.reason}”", "text")], indent=3))
    return lines


def failed(sink: FailedSink, g: Glyphs) -> list[Line]:
    """A consumer that could not be written beside others that were."""
    text = f" {g.rejected} {sink.consumer}  {sink.code}: {sink.message}"
    lines = [Line([(text, "bad")], indent=3)]
    if sink.remedy:
        lines.append(Line([(f"   {sink.remedy}", "text")], indent=3))
    again = f"   Then write it alone: memdesk promotion retry {short(sink.operation_id, 8)}"
    return [*lines, Line([(again, "muted")], indent=3), Line()]


def receipts(
    every: Sequence[Receipt],
    failures: Sequence[FailedSink],
    stands: Mapping[str, str],
    g: Glyphs,
) -> list[Line]:
    """Receipts in full, what failed beside them first; `stands` tells how each file is now."""
    lines = [line for f in failures for line in failed(f, g)]
    for n, r in enumerate(every):
        lines += [Line()] * bool(n) + _receipt(r, stands, g)
    return lines


def _receipt(r: Receipt, stands: Mapping[str, str], g: Glyphs) -> list[Line]:
    named = parted(r.subject)
    about = "candidate" if r.subject.startswith("cand_") else "source"
    rows = [
        ("receipt", r.receipt_id),
        ("operation", r.operation_id),
        ("consumer", r.consumer),
        ("state", r.state.value),
        *((about, name) for name in named),
        *(("belief", name) for name in (r.beliefs or (r.belief or "-",))),
        ("reviewer", r.reviewer),
        ("time", exact_time(r.time)),
        ("classification", r.classification.value),
        ("ledger", f"entry {r.ledger_seq} after {digest8(r.ledger_head)}"),
    ]
    lines = [Line([(f" {k:<15}", "muted"), (v, "text")], indent=16) for k, v in rows]
    lines.append(header("files written", str(len(r.targets)), g))
    for t in r.targets:
        text = f" {t.path}  {digest8(t.before_digest)} {g.arrow} {digest8(t.after_digest)}"
        lines.append(Line([(text, "text")], indent=3))
        if state := stands.get(f"{r.receipt_id} {t.path}"):
            sign, role = (g.accepted, "good") if state == "as written" else (g.edited, "warn")
            sign, role = (g.superseded, "muted") if "later" in state else (sign, role)
            lines.append(Line([(f"   {sign} {brief(state)}", role)], indent=5))
    lines.append(header("sources", str(len(r.sources)), g))
    lines += [Line([(f" {s.locator}  {digest8(s.digest)}", "muted")], indent=3) for s in r.sources]
    return lines


def held(item: Held, g: Glyphs) -> list[Line]:
    """A statement as a consumer holds it, and where it comes from."""
    b = item.belief
    rows = [
        ("belief", b.id),
        ("state", item.at.state.value),
        ("consumer", item.at.consumer),
        ("candidate", f"{b.candidate}@{b.version}"),
        ("recorded", exact_time(b.recorded)),
        ("valid from", exact_time(b.valid_from)),
        ("valid until", exact_time(b.valid_until) if b.valid_until else "no end"),
    ]
    lines = [Line([(" " + b.statement, "owner")], indent=1), Line()]
    lines += [Line([(f" {k:<15}", "muted"), (v, "text")], indent=16) for k, v in rows]
    lines.append(header("history", "", g))
    for at in sorted(b.consumers, key=lambda at: at.consumer != item.at.consumer):
        lines += _history(at, g)
    return lines


def _history(at: BeliefAtConsumer, g: Glyphs) -> list[Line]:
    """What became of a statement at one consumer, and the receipts that say so."""
    lines = [Line([(f" {g.promoted} {at.consumer}  written by {short(at.receipt)}", "text")], 3)]
    state = at.state.value
    if state != "active":
        by = f" by {short(at.ended_by)}" if at.ended_by else ""
        text = f" {g.state(state)} {at.consumer}  {state}{by}  {exact_time(at.since)}"
        lines.append(Line([(text, STATE_ROLE[state])], indent=3))
    if at.replacement:
        lines.append(Line([(f"   in its place {short(at.replacement)}", "text")], indent=3))
    if state == "drifted":
        words = "   Its owner changed it outside memdesk; that stands and is never overwritten."
        lines.append(Line([(words, "warn")], indent=3))
    return lines
