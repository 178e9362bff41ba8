"""How a preview is written out: each target's diff with visible whitespace, effects, checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.safe_text import exact_line
from core.textdiff import DiffLine, TextDiff, words
from tui.theme import Glyphs
from tui.widgets.document import Line
from tui.widgets.text import digest8, header, short

if TYPE_CHECKING:
    from schemas.operations import Receipt
    from schemas.promotion import Preview
    from tui.client import Shown

_EFFECT = {"belief.new": "+", "conflict.same-key": "!", "duplicate.same-claim": "="}


def preview(shown: Shown, g: Glyphs, *, unfolded: bool) -> list[Line]:
    """The whole preview; changed lines of targets that are no derived file must be seen."""
    p = shown.preview
    lines: list[Line] = [Line([(" " + p.statement, "owner")], indent=1), Line()]
    for n, (path, diff, derived) in enumerate(shown.diffs):
        lines.append(header(path, f"{n + 1}/{len(shown.diffs)}", g))
        if derived and not unfolded:
            size = f"+{diff.added} -{diff.removed}"
            fold = f" {g.folded} derived from 1/{len(shown.diffs)}: {size} {g.dot} z shows it"
            lines.append(Line([(fold, "muted")], indent=3))
        else:
            lines += diff_lines(diff, g, n)
        lines.append(Line([(_file_facts(p, path, g), "muted")], indent=10))
    lines += _effects(p, g)
    lines += _checks(p, g)
    return lines


def _file_facts(p: Preview, path: str, g: Glyphs) -> str:
    t = next(t for t in p.targets if t.path == path)
    final = "final newline" if t.final_newline else "no final newline"
    digests = f"{digest8(t.before_digest)} {g.arrow} {digest8(t.after_digest)}"
    facts = (digests, t.newline.upper(), t.encoding.upper(), final)
    return " " * 10 + f" {g.dot} ".join(facts)


def diff_lines(diff: TextDiff, g: Glyphs, group: int) -> list[Line]:
    """One diff, hunk by hunk."""
    lines: list[Line] = []
    if diff.coarse:
        lines.append(Line([(" shown as one block: too large to compare line by line", "warn")]))
    if not diff.hunks:
        lines.append(Line([("          no change to the bytes", "muted")]))
    for hunk in diff.hunks:
        if hunk.gap:
            lines.append(_gap(hunk.gap, g))
        for i, line in enumerate(hunk.lines):
            lines.append(_diff_line(line, _partner(hunk.lines, i), g, group))
    if diff.tail:
        lines.append(_gap(diff.tail, g))
    return lines


def _gap(count: int, g: Glyphs) -> Line:
    return Line(
        [(f"          {g.gap} {count:,} unchanged line{'s' if count != 1 else ''}", "muted")]
    )


def _partner(lines: tuple[DiffLine, ...], i: int) -> DiffLine | None:
    """The changed row on the other side, when a single line replaced a single line."""
    line = lines[i]
    if line.sign == " ":
        return None
    step = 1 if line.sign == "-" else -1
    other = lines[i + step] if 0 <= i + step < len(lines) else None
    if other is None or other.sign in (" ", line.sign):
        return None
    beyond = [lines[k] for k in (i - step, i + 2 * step) if 0 <= k < len(lines)]
    return None if any(x.sign in (line.sign, other.sign) for x in beyond) else other


def _diff_line(line: DiffLine, other: DiffLine | None, g: Glyphs, group: int) -> Line:
    number = line.new if line.new is not None else line.old
    lead = f" {line.sign} {number or 0:>4}   "
    if line.sign == " ":
        return Line([(lead, "muted"), (line.text, "muted")], indent=10)
    role = "add" if line.sign == "+" else "del"
    end = {"\n": g.end, "\r\n": "␍" + g.end if g.end != "$" else "^M$", "": " (no newline)"}[
        line.end
    ]
    text: list[tuple[str, str]] = [(exact_line(line.text), role)]
    if other is not None:
        old, new = (line.text, other.text) if line.sign == "-" else (other.text, line.text)
        spans = words(old, new)[0 if line.sign == "-" else 1]
        text = _exact_marked(line.text, spans, role)
    return Line([(lead, role), *text, (end, "muted")], indent=10, must_see=True, group=group)


def _exact_marked(text: str, spans: list[tuple[int, int]], role: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    at = 0
    for start, end in spans:
        out += [(exact_line(text[at:start]), role), (exact_line(text[start:end]), "mark")]
        at = end
    return [*out, (exact_line(text[at:]), role)]


def _effects(p: Preview, g: Glyphs) -> list[Line]:
    lines = [header("effects", str(len(p.affects)), g)]
    for e in p.affects:
        role = "warn" if e.code.startswith("conflict") else "text"
        lines.append(Line([(f" {_EFFECT.get(e.code, g.dot)} {e.text}", role)], indent=3))
    for c in p.conflicts:
        lines.append(
            Line([(f" ! {c.code}   {c.layer} {short(c.ref)}  {c.statement}", "warn")], indent=3)
        )
    return lines


def _checks(p: Preview, g: Glyphs) -> list[Line]:
    passed = not p.blocked_by
    lines = [header("checks", "all passed" if passed else "blocked", g)]
    for code in p.blocked_by:
        lines.append(Line([(f" # {code}   enter says why", "bad")]))
    for e in p.checks:
        lines.append(Line([(f" {g.accepted} {e.text}", "good")], indent=3))
    policy = f" {g.accepted} policy {digest8(p.policy_digest)}"
    lines.append(Line([(policy, "good")]))
    if p.reason:
        lines.append(Line([(f" reason recorded: “{p.reason}”", "text")], indent=3))
    return lines


def stale(shown: Shown, now: Preview, g: Glyphs, *, unfolded: bool) -> list[Line]:
    """What moved under a preview, then the preview that was read, kept for reference."""
    lines = [header("what moved under you", f"then {g.arrow} now", g)]
    for m in now.moved:
        then, there = digest8(m.then), digest8(m.now) if m.now else "gone"
        text = f" {g.stale} {m.what}  {m.name}  {then} {g.arrow} {there}"
        lines.append(Line([(text, "warn")], indent=3))
        if m.detail:
            lines.append(Line([(f"   {m.detail}", "warn")]))
    lines += [
        Line(),
        Line([(" p previews again; confirm is off and nothing was written.", "text")]),
        Line(),
    ]
    lines.append(header("the preview you read, kept for reference", "", g))
    return lines + preview(shown, g, unfolded=unfolded)


def receipt(r: Receipt, g: Glyphs) -> list[Line]:
    """A receipt in full."""
    from tui.widgets.text import exact

    rows = [
        ("receipt", r.receipt_id),
        ("operation", r.operation_id),
        ("consumer", r.consumer),
        ("state", r.state.value),
        ("candidate", r.subject),
        ("belief", r.belief or "-"),
        ("reviewer", r.reviewer),
        ("time", exact(r.time)),
        ("classification", r.classification.value),
        ("ledger", f"entry {r.ledger_seq} after {digest8(r.ledger_head)}"),
    ]
    lines = [Line([(f" {k:<15}", "muted"), (v, "text")], indent=16) for k, v in rows]
    lines.append(header("files written", str(len(r.targets)), g))
    for t in r.targets:
        text = f" {t.path}  {digest8(t.before_digest)} {g.arrow} {digest8(t.after_digest)}"
        lines.append(Line([(text, "text")], indent=3))
    lines.append(header("sources", str(len(r.sources)), g))
    lines += [Line([(f" {s.locator}  {digest8(s.digest)}", "muted")], indent=3) for s in r.sources]
    return lines
