"""One cut of a session: settled against its summary, watched afterwards, given out (spec 7.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.compaction import since
from core.compaction.hosts import Stated
from core.compaction.kept import Match, Text, bare
from core.compaction.standing import Said
from core.compaction.window import (
    EVIDENCE,
    HISTORY,
    STEERING,
    SUMMARY,
    TASKS,
    Action,
    Held,
    tokens,
)
from schemas.compaction import (
    Boundary,
    Count,
    Item,
    ItemClass,
    ItemState,
    Mark,
    MarkVerdict,
    Quote,
    Segment,
    SummaryState,
)
from schemas.evidence import Event

_SHOWN = 400
_STATE_SIZE = 200
STABLE = "prompt and tools"


@dataclass(slots=True)
class Cut:
    """A boundary, what stood in the window, and what came of it."""

    event: Event
    stated: Stated
    held: Held
    before: int | None = None
    after: int | None = None
    window: int | None = None
    header: int = 0
    """Bytes of the stable prompt, where the session's header holds it."""
    kept_messages: list[str] = field(default_factory=list)
    summary: Event | None = None
    summary_size: int = 0
    cleared: int = 0
    elsewhere: bool = False
    matches: dict[str, Match] = field(default_factory=dict)
    """By locator."""
    watches: dict[str, since.Watch] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _by_beginning: dict[str, list[str]] = field(default_factory=dict)
    """Watches by how the words begin that a call must hold: a call is held against few of them."""

    def settle(self) -> None:
        """Compare everything in the window with what the host wrote and kept."""
        text = Text(self.summary.text) if self.summary is not None else None
        kept = [f" {bare(m)} " for m in self.kept_messages]
        for words in (*self.held.standing, *self.held.open):
            found = self.compare(words.quote, text, kept)
            self.matches[words.locator] = found
            gone = found.state is ItemState.MISSING or found.reason == "compaction.value-changed"
            watch = since.Watch(words.quote) if gone else None
            if words.class_ is ItemClass.STANDING and watch:
                self.watches[words.locator] = watch
                self._names[words.name] = words.locator
                for beginning in watch.beginnings:
                    self._by_beginning.setdefault(beginning, []).append(words.locator)
        for action in self.held.written:
            path = action.quote
            known = text is not None and (path in text.text or text.holds(path.rpartition("/")[2]))
            self.matches[_place(action)] = _seen(known, readable=text is not None)

    def compare(self, quote: str, text: Text | None, kept: Sequence[str]) -> Match:
        """What became of some words: kept as they were said, or as the summary has them."""
        if any(bare(quote) in m for m in kept):
            return Match(ItemState.VERBATIM)
        if text is not None:
            return text.match(quote)
        sealed = self.stated.sealed
        code = "compaction.summary-sealed" if sealed else "compaction.summary-absent"
        return Match(ItemState.UNKNOWN, reason=code)

    def still_there(self) -> set[str]:
        """Names of the words that are still in the window, or may be."""
        both = (*self.held.standing, *self.held.open)
        return {w.name for w in both if self.matches[w.locator].state is not ItemState.MISSING}

    def sizes_after(self) -> Counter[str]:
        """Bytes in the window after the cut, as far as they can be counted."""
        kept = sum(len(m.encode()) for m in self.kept_messages)
        return Counter({SUMMARY: self.summary_size, STEERING: kept})

    def look(self, event: Event) -> None:
        """Hold a later call against the rules that were lost."""
        if not self._by_beginning:
            return
        words = since.words_of(event.text[:65_536])
        begun = {w[:3] for w in words} & self._by_beginning.keys()
        for locator in sorted({n for b in begun for n in self._by_beginning[b]}):
            watch = self.watches.get(locator)
            if watch is not None and watch.look(words):
                watch.found.append((event.id, event.line, event.text[:_SHOWN]))
            if not watch:
                self._forget(locator, watch)

    def _forget(self, locator: str, watch: since.Watch | None) -> None:
        """Look no more for a rule that was said again, or of which enough was found."""
        for beginning in watch.beginnings if watch is not None else tuple(self._by_beginning):
            if locator in (there := self._by_beginning.get(beginning, [])):
                there.remove(locator)

    def said_again(self, names: Iterable[str]) -> None:
        """The owner said a lost rule again: what comes now is no longer the cut's."""
        for name in names:
            if (locator := self._names.get(name)) and not self.watches[locator].found:
                del self.watches[locator], self._names[name]

    @property
    def state(self) -> SummaryState:
        """What there is to compare with."""
        if self.stated.kind == "micro":
            return SummaryState.NONE
        if self.summary is not None:
            return SummaryState.READ
        if self.stated.sealed:
            return SummaryState.KEPT if self.kept_messages else SummaryState.SEALED
        return SummaryState.KEPT if self.kept_messages else SummaryState.ABSENT


def _seen(known: bool, *, readable: bool) -> Match:
    if known:
        return Match(ItemState.VERBATIM)
    if readable:
        return Match(ItemState.MISSING, reason="compaction.missing")
    return Match(ItemState.UNKNOWN, reason="compaction.summary-absent")


def _place(action: Action) -> str:
    first = len(action.event.text[: action.start].encode())
    return f"{action.event.id}#b{first}-{first + len(action.quote.encode())}"


# giving out


def boundary(cut: Cut, session: str, marks: Sequence[Mark]) -> Boundary:
    """A cut as it is shown, with what reviewers said about its items."""
    items = [] if cut.state is SummaryState.NONE else _items(cut, session, marks)
    items.sort(key=lambda i: (_ORDER[i.state], _CLASSES[i.class_], i.line, i.locator))
    binding = [i for i in items if i.class_ in (ItemClass.STANDING, ItemClass.TASK)]
    lost = Counter(i.class_.value for i in binding if i.lost)
    counts = Counter(i.state.value for i in binding)
    counts["one-off"] = sum(i.class_ is ItemClass.ONE_OFF for i in items)
    if cut.stated.kind == "micro":
        counts["results-cleared"] = cut.cleared
    before, after, segments = _sizes(cut)
    copied = any(n.startswith("copied-from:") for n in cut.event.notes)
    return Boundary(
        at=cut.event.id,
        line=cut.event.line,
        time=cut.event.time,
        kind=cut.stated.kind,
        trigger=cut.stated.trigger,
        window=cut.window,
        before=before,
        after=after,
        segments=segments,
        summary=cut.state,
        summary_at=_summary_quote(cut),
        items=tuple(items),
        lost=dict(lost),
        counts={k: v for k, v in counts.items() if v},
        copy_of=cut.event.same_as or (cut.event.id if copied else None),
        reasons=_reasons(cut),
    )


_ORDER = {
    ItemState.MISSING: 0,
    ItemState.REWORDED: 1,
    ItemState.UNKNOWN: 2,
    ItemState.VERBATIM: 3,
    ItemState.NOT_A_LOSS: 4,
}
_CLASSES = {
    ItemClass.STANDING: 0,
    ItemClass.TASK: 1,
    ItemClass.EVIDENCE: 2,
    ItemClass.ONE_OFF: 3,
}


def _items(cut: Cut, session: str, marks: Sequence[Mark]) -> list[Item]:
    held = cut.held
    verdicts = _verdicts(cut.event.id, marks)
    out = []
    for words in (*held.standing, *held.open):
        out.append(_said(cut, session, words, verdicts))
    for words in held.replaced:
        out.append(_settled(session, words, "compaction.superseded", ItemClass.STANDING, verdicts))
    for words in held.once:
        mark = verdicts.get(words.locator)
        if mark is not None and mark.verdict is MarkVerdict.STANDING:
            out.append(_said(cut, session, words, verdicts))
        else:
            out.append(
                _settled(session, words, "compaction.turn-ended", ItemClass.ONE_OFF, verdicts)
            )
    for action in held.unanswered:
        known = cut.summary is not None and action.call in cut.summary.text
        match = _seen(known, readable=cut.summary is not None)
        out.append(_action(session, action, match, "compaction.unanswered-call"))
    for action in held.written:
        out.append(_action(session, action, cut.matches[_place(action)]))
    return out


def _verdicts(boundary: str, marks: Sequence[Mark]) -> dict[str, Mark]:
    """The last word on each item: of this cut, or on its class everywhere."""
    out: dict[str, Mark] = {}
    for mark in marks:
        if mark.boundary in (None, boundary):
            out[mark.item] = mark
    return {k: m for k, m in out.items() if m.verdict is not MarkVerdict.LIFTED}


def _said(cut: Cut, session: str, words: Said, verdicts: dict[str, Mark]) -> Item:
    match = cut.matches.get(words.locator)
    if match is None:  # a one-off request that a reviewer called standing
        text = Text(cut.summary.text) if cut.summary is not None else None
        match = cut.compare(words.quote, text, [f" {bare(m)} " for m in cut.kept_messages])
    mark = verdicts.get(words.locator)
    class_, state, reason = words.class_, match.state, match.reason
    if mark is not None:
        if mark.verdict is MarkVerdict.STANDING:
            class_ = ItemClass.STANDING
        else:
            if mark.verdict is MarkVerdict.ONE_OFF:
                class_ = ItemClass.ONE_OFF
            state, reason = ItemState.NOT_A_LOSS, "compaction.marked"
    watch = cut.watches.get(words.locator)
    return _item(
        session, words, class_, state, reason, mark,
        nearest=_nearest(cut, match),
        since=tuple(Quote(locator=e, quote=q, line=n) for e, n, q in watch.found) if watch else (),
    )  # fmt: skip


def _settled(
    session: str, words: Said, code: str, class_: ItemClass, verdicts: dict[str, Mark]
) -> Item:
    mark = verdicts.get(words.locator)
    return _item(session, words, class_, ItemState.NOT_A_LOSS, code, mark)


def _item(
    session: str,
    words: Said,
    class_: ItemClass,
    state: ItemState,
    reason: str | None,
    mark: Mark | None,
    *,
    nearest: Quote | None = None,
    since: tuple[Quote, ...] = (),
) -> Item:
    event = words.event
    return Item(
        locator=words.locator,
        quote=words.quote,
        class_=class_,
        state=state,
        kind=words.kind,
        event=event.id,
        session=session,
        line=event.line,
        author=event.author,
        time=event.time,
        reasons=(reason,) if reason else (),
        nearest=nearest,
        since=since,
        mark=mark,
    )


def _action(session: str, action: Action, match: Match, code: str = "") -> Item:
    event = action.event
    reasons = tuple(r for r in (code, match.reason) if r)
    return Item(
        locator=_place(action),
        quote=action.quote,
        call=action.call or None,
        class_=ItemClass.EVIDENCE,
        state=match.state,
        event=event.id,
        session=session,
        line=event.line,
        author=event.author,
        time=event.time,
        reasons=reasons,
    )


def _nearest(cut: Cut, match: Match) -> Quote | None:
    if match.nearest is None or cut.summary is None:
        return None
    text = cut.summary.text
    start, end = match.nearest
    first = len(text[:start].encode())
    last = first + len(text[start:end].encode())
    line = 1 + text.count("\n", 0, start)
    place = f"{cut.summary.id}#b{first}-{last}"
    return Quote(locator=place, quote=text[start:end][:_SHOWN], line=line)


def _summary_quote(cut: Cut) -> Quote | None:
    if cut.summary is None:
        return None
    quote = " ".join(cut.summary.text[:_STATE_SIZE].split())
    return Quote(locator=cut.summary.id, quote=quote, line=cut.summary.line)


def _reasons(cut: Cut) -> tuple[str, ...]:
    if cut.stated.kind == "micro":
        return ("compaction.results-cleared",)
    if cut.elsewhere:
        return ("compaction.window-elsewhere",)
    if cut.summary is None:
        return ("compaction.summary-sealed" if cut.stated.sealed else "compaction.summary-absent",)
    return ()


def _sizes(cut: Cut) -> tuple[Count | None, Count | None, tuple[Segment, ...]]:
    """The window before and after, and its segments: what the host states, else estimates.

    Prompt and tools stand in no session's file: they are what is left on both sides of what the
    host states. What is left on one side only (pictures, thoughts that were not written down,
    estimates that are off) is said to be in no file.
    """
    micro = cut.stated.kind == "micro"
    was = _estimates(cut.held.sizes)
    now = was if micro else _estimates(cut.sizes_after())
    before = cut.before
    after = cut.stated.after or (None if micro else cut.after)
    rest = None if before is None else max(0, before - sum(was.values()))
    later = None if after is None else max(0, after - sum(now.values()))
    known = [n for n in (rest, None if micro else later) if n is not None]
    prompt = tokens(cut.header) or (min(known) if known else None)
    segments = [Segment(name=STABLE, before=_estimate(prompt), after=_estimate(prompt))]
    for name in (STEERING, TASKS, SUMMARY, EVIDENCE, HISTORY):
        if was.get(name) or now.get(name):
            left = None if micro and name == EVIDENCE else _estimate(now.get(name, 0))
            segments.append(Segment(name=name, before=_estimate(was.get(name, 0)), after=left))
    over = tuple(None if n is None else max(0, n - (prompt or 0)) for n in (rest, later))
    if any(over) and not micro:
        segments.append(
            Segment(name="in no file", before=_estimate(over[0]), after=_estimate(over[1]))
        )
    return _total(before, was, prompt), _total(after, {} if micro else now, prompt), tuple(segments)


def _estimates(sizes: Counter[str]) -> dict[str, int]:
    return {name: tokens(size) for name, size in sizes.items() if size > 0}


def _total(stated: int | None, counted: dict[str, int], prompt: int | None) -> Count | None:
    if stated is not None:
        return Count(tokens=stated, stated=True)
    if not counted:
        return None
    return Count(tokens=sum(counted.values()) + (prompt or 0), stated=False)


def _estimate(count: int | None) -> Count | None:
    return None if count is None else Count(tokens=count, stated=False)
