"""Keys as data: one table of named actions; footer, help, palette and remapping come from it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Action:
    """A named action: where it works, its default keys, what it does."""

    id: str
    pane: str
    keys: str
    label: str
    help: str

    @property
    def name(self) -> str:
        """The Textual action it runs."""
        return self.id.partition(".")[2].replace("-", "_")


ACTIONS: tuple[Action, ...] = (
    Action("desk.pane-1", "desk", "1", "candidates", "Candidates: what waits for a decision."),
    Action("desk.pane-2", "desk", "2", "promotion", "Promotion: exact previews and receipts."),
    Action("desk.pane-3", "desk", "3", "context", "Context: what an agent is given."),
    Action("desk.pane-4", "desk", "4", "compaction", "Compaction: what a host cut."),
    Action("desk.pane-5", "desk", "5", "sources", "Sources: what may be read again."),
    Action("desk.pane-6", "desk", "6", "outputs", "Outputs: what agents wrote."),
    Action("desk.pane-7", "desk", "7", "evidence", "Evidence: what was said and done."),
    Action("desk.pane-0", "desk", "0", "status", "Status: the whole at a glance."),
    Action("desk.goto", "desk", "colon", "go to", "Go to an id, session:ID#L12, or FILE:12."),
    Action("desk.back", "desk", "backspace", "back", "Back to where the last jump began."),
    Action("desk.help", "desk", "question_mark", "help", "Help for this pane."),
    Action("desk.quit", "desk", "q", "quit", "Leave the desk."),
    Action("list.down", "list", "j,down", "down", "Next row."),
    Action("list.up", "list", "k,up", "up", "Previous row."),
    Action("list.top", "list", "g,home", "top", "First row that is not folded away."),
    Action("list.bottom", "list", "G,end", "bottom", "Last row."),
    Action("list.page-down", "list", "ctrl+d,pagedown", "page down", "A page down."),
    Action("list.page-up", "list", "ctrl+u,pageup", "page up", "A page up."),
    Action("list.switch", "list", "tab", "list/detail", "Between list and detail."),
    Action("list.detail-down", "list", "J", "scroll down", "Scroll the detail down from the list."),
    Action("list.detail-up", "list", "K", "scroll up", "Scroll the detail up from the list."),
    Action("list.filter", "list", "slash", "filter", "Filter by words; esc clears it."),
    Action("list.states", "list", "f", "by state", "Show another state."),
    Action("list.why", "list", "enter", "why", "Meaning and remedy of the codes shown."),
    Action("list.copy-id", "list", "y", "copy id", "Copy the id."),
    Action("list.copy-text", "list", "Y", "copy text", "Copy the statement."),
    Action(
        "candidates.accept",
        "candidates",
        "a",
        "accept",
        "Accept this exact version; writes no memory.",
    ),
    Action(
        "candidates.accept-preview",
        "candidates",
        "A",
        "accept+preview",
        "Accept, then open the preview.",
    ),
    Action("candidates.reject", "candidates", "r", "reject", "Reject this exact version."),
    Action("candidates.defer", "candidates", "d", "defer", "Put it off."),
    Action(
        "candidates.defer-until",
        "candidates",
        "s",
        "defer until",
        "Put it off until a day: monday, 3d, 2026-12-05.",
    ),
    Action(
        "candidates.reason",
        "candidates",
        "R",
        "with a reason",
        "Say a reason; the next decision carries it.",
    ),
    Action(
        "candidates.again",
        "candidates",
        "full_stop",
        "again",
        "The last decision again, with its reason and day.",
    ),
    Action(
        "candidates.clear",
        "candidates",
        "escape",
        "clear",
        "Back to the list; clear the filter, then the reason said.",
    ),
    Action(
        "candidates.order",
        "candidates",
        "S",
        "sort and group",
        "Group by need, session, kind or author.",
    ),
    Action("candidates.edit", "candidates", "e", "edit", "Edit as a new version in $EDITOR."),
    Action(
        "candidates.mark", "candidates", "space", "mark", "Mark the row, or take its mark away."
    ),
    Action(
        "candidates.mark-all",
        "candidates",
        "asterisk",
        "mark all",
        "Mark all that is not folded away, or none.",
    ),
    Action("candidates.group-next", "candidates", "right_parenthesis", "next group", "Next group."),
    Action("candidates.group-back", "candidates", "left_parenthesis", "group", "Previous group."),
    Action(
        "candidates.preview",
        "candidates",
        "p",
        "preview",
        "Preview the promotion of an accepted version.",
    ),
    Action(
        "candidates.undo",
        "candidates",
        "u",
        "undo",
        "Undo your last decision: a new pending version.",
    ),
    Action(
        "candidates.source",
        "candidates",
        "o",
        "source",
        "Read its source where it was said.",
    ),
    Action(
        "candidates.tab-next",
        "candidates",
        "right_square_bracket",
        "next tab",
        "Next tab of the detail.",
    ),
    Action(
        "candidates.tab-back",
        "candidates",
        "left_square_bracket",
        "previous tab",
        "Previous tab of the detail.",
    ),
    Action(
        "promotion.preview",
        "promotion",
        "p",
        "preview",
        "Preview the row, or preview again what is stale.",
    ),
    Action(
        "promotion.next-unseen",
        "promotion",
        "space",
        "next unseen",
        "Show the next change not yet seen.",
    ),
    Action(
        "promotion.arm",
        "promotion",
        "c",
        "arm",
        "Arm the write; enter confirms, any other key disarms.",
    ),
    Action(
        "promotion.consumer", "promotion", "P", "consumer", "Choose where the row would be written."
    ),
    Action(
        "promotion.together",
        "promotion",
        "B",
        "one preview for all",
        "One preview for all that wait in the list, each to its consumer.",
    ),
    Action(
        "promotion.beside",
        "promotion",
        "b",
        "keep both",
        "Keep the belief that a preview supersedes beside the new one, or supersede it after all.",
    ),
    Action("promotion.revoke", "promotion", "r", "revoke", "Preview revoking what is in memory."),
    Action(
        "promotion.archive", "promotion", "a", "archive", "Preview archiving what is in memory."
    ),
    Action("promotion.remove", "promotion", "x", "remove", "Preview taking words out of memory."),
    Action("promotion.split", "promotion", "s", "split", "One side or two, from 120 columns."),
    Action(
        "promotion.whitespace",
        "promotion",
        "w",
        "whitespace",
        "Mark every space, or only those that could mislead.",
    ),
    Action(
        "promotion.less-context",
        "promotion",
        "left_curly_bracket",
        "less context",
        "Fewer unchanged lines around a change.",
    ),
    Action(
        "promotion.more-context",
        "promotion",
        "right_curly_bracket",
        "more context",
        "More unchanged lines around a change.",
    ),
    Action("promotion.fold", "promotion", "z", "unfold", "Fold or unfold derived files."),
    Action(
        "promotion.tab-next",
        "promotion",
        "right_square_bracket",
        "next list",
        "Next list: to promote, outbox, receipts, in memory.",
    ),
    Action(
        "promotion.tab-back", "promotion", "left_square_bracket", "previous list", "Previous list."
    ),
    Action("promotion.back", "promotion", "escape", "back", "Back to the list."),
    Action(
        "evidence.open", "evidence", "enter", "open", "Open a session or a hit; unfold; read on."
    ),
    Action(
        "evidence.leave",
        "evidence",
        "escape",
        "leave",
        "One step back: from a text, a session, a search, a filter.",
    ),
    Action("evidence.whole", "evidence", "v", "whole text", "Read the event to its last byte."),
    Action(
        "evidence.search",
        "evidence",
        "F",
        "search all",
        "Search all evidence for words; esc stops.",
    ),
    Action("evidence.next", "evidence", "n", "next hit", "Next event with the words looked for."),
    Action("evidence.previous", "evidence", "N", "previous hit", "Previous event with the words."),
    Action(
        "evidence.said-next", "evidence", "right_parenthesis", "owner", "Next words of the owner."
    ),
    Action(
        "evidence.said-back",
        "evidence",
        "left_parenthesis",
        "owner",
        "Previous words of the owner.",
    ),
    Action(
        "evidence.order", "evidence", "S", "sort", "Sort sessions: newest, most events, largest."
    ),
    Action(
        "evidence.depends",
        "evidence",
        "d",
        "depends on it",
        "What depends on the event; enter goes there.",
    ),
    Action(
        "evidence.propose",
        "evidence",
        "m",
        "make candidate",
        "Make a candidate whose source is this event.",
    ),
    Action(
        "compaction.candidate",
        "compaction",
        "m",
        "make candidate",
        "Make it a candidate; the original message is its source.",
    ),
    Action(
        "compaction.accept",
        "compaction",
        "A",
        "accept+preview",
        "Make it a candidate, accept that and open the preview of what would be written.",
    ),
    Action(
        "compaction.source",
        "compaction",
        "o",
        "source",
        "Read it in its conversation; backspace comes back.",
    ),
    Action(
        "compaction.export",
        "compaction",
        "x",
        "export",
        "Write what is shown of this session's compactions into a file.",
    ),
    Action(
        "compaction.not-a-loss",
        "compaction",
        "r",
        "not a loss",
        "Keep it out of the count, with a reason.",
    ),
    Action(
        "compaction.reclass",
        "compaction",
        "s",
        "standing/one-off",
        "Correct what it is: a standing instruction, or a one-off request.",
    ),
    Action("compaction.undo", "compaction", "u", "take back", "Take back what was said of it."),
    Action(
        "compaction.why-not", "compaction", "w", "why", "Meaning and remedy of the codes shown."
    ),
    Action(
        "compaction.group-next",
        "compaction",
        "right_parenthesis,n",
        "next",
        "Next compaction.",
    ),
    Action(
        "compaction.group-back",
        "compaction",
        "left_parenthesis,N",
        "previous",
        "Previous compaction.",
    ),
    Action(
        "compaction.tab-next",
        "compaction",
        "right_square_bracket",
        "next tab",
        "Next tab of the detail.",
    ),
    Action(
        "compaction.tab-back",
        "compaction",
        "left_square_bracket",
        "previous tab",
        "Previous tab of the detail.",
    ),
    Action("compaction.back", "compaction", "escape", "back", "Back to the list; fold it."),
)
_NOT_SHARED = {"evidence": ("list.why", "list.states")}
_LISTS = ("candidates", "promotion", "compaction", "evidence")

TEXT = (
    Binding("j,down", "scroll(1)", show=False),
    Binding("k,up", "scroll(-1)", show=False),
    Binding("ctrl+d,pagedown,space", "scroll_page(1)", show=False),
    Binding("ctrl+u,pageup", "scroll_page(-1)", show=False),
    Binding("g,home", "scroll_top", show=False),
    Binding("G,end", "scroll_bottom", show=False),
)
"""Keys where there is one text and nothing else."""

SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "escape": "esc",
    "asterisk": "*",
    "right_parenthesis": ")",
    "left_parenthesis": "(",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "full_stop": ".",
    "colon": ":",
}


def of(pane: str) -> list[Action]:
    """The actions of one pane."""
    return [a for a in ACTIONS if a.pane == pane]


def shared(pane: str) -> list[Action]:
    """What a pane has of the actions that lists share."""
    left_out = _NOT_SHARED.get(pane, ())
    return [a for a in of("list") if a.id not in left_out] if pane in _LISTS else []


def bindings(pane: str, *, of_lists: bool = False) -> list[Binding]:
    """Textual bindings of a pane's actions, or of those it has of all lists; each can be
    remapped under its id."""
    found = shared(pane) if of_lists else of(pane)
    return [Binding(a.keys, a.name, a.label, show=False, id=a.id) for a in found]


def shown(keys: str) -> str:
    """A key as people read it."""
    first = keys.split(",")[0]
    return SHOWN.get(first, first)
