"""What a host's compaction kept, reworded and lost, over sessions written here (spec 7.7)."""

from __future__ import annotations

import pytest

from core.compaction.observe import observe
from core.evidence import lookup
from core.ports import Desk
from schemas.compaction import ItemClass, ItemState, SummaryState
from schemas.errors import NotFound
from tests.compaction.sessions import (
    agent,
    boundary,
    call,
    codex,
    imported,
    item,
    micro,
    owner,
    result,
    seen,
    spoken,
    summary,
)
from tests.conftest import record

RULE = "Never push to the main branch."
PAGES = "Always ask me before adding a dependency to pyproject.toml."


def test_a_boundary_and_its_summary_are_one_compaction_with_trigger_and_size(desk: Desk) -> None:
    """Case D5: what happened is told from both records, and the summary is linked."""
    found = seen(desk, owner("hi"), agent("hello"), boundary(170_240), summary("Nothing yet."))
    (cut,) = found.boundaries
    assert (cut.kind, cut.trigger, cut.line) == ("full", "auto", 3)
    assert cut.before is not None and (cut.before.tokens, cut.before.stated) == (170_240, True)
    assert cut.summary is SummaryState.READ
    assert cut.summary_at is not None and cut.summary_at.line == 4


def test_a_manual_compaction_says_so_and_an_odd_trigger_says_unknown(desk: Desk) -> None:
    """Only what the host may state is believed."""
    manual = boundary(facts={"trigger": "manual"})
    odd = boundary(facts={"trigger": ["x"], "preTokens": "many"})
    found = seen(desk, owner("hi"), manual, summary("a"), owner("ho"), odd, summary("b"))
    assert [b.trigger for b in found.boundaries] == ["manual", "unknown"]
    last = found.boundaries[1].before
    assert last is not None and not last.stated


def test_a_rule_is_verbatim_reworded_changed_or_missing_by_what_the_summary_says(
    desk: Desk,
) -> None:
    """Each state from words written here; only the missing one is a loss."""
    (cut,) = seen(
        desk,
        owner(RULE),
        owner(PAGES),
        owner("Remember: refunds above 500 EUR need a second approver."),
        owner("Always mask IBANs in the log files."),
        agent("ok"),
        boundary(),
        summary(
            'All user messages:\n - "never push to the  MAIN branch"\n'
            "The user wants to be asked before dependencies are added to pyproject.toml.\n"
            "Refunds above 250 EUR need a second approver."
        ),
    ).boundaries
    states = {w: item(cut, w).state.value for w in ("main", "dependency", "500", "IBANs")}
    assert states == {
        "main": "verbatim",
        "dependency": "reworded",
        "500": "reworded",
        "IBANs": "missing",
    }
    assert item(cut, "500").reasons == ("compaction.value-changed",)
    assert item(cut, "IBANs").reasons == ("compaction.missing",)
    assert cut.lost == {"standing": 1}
    nearest = item(cut, "dependency").nearest
    assert nearest is not None and nearest.quote.startswith("The user wants to be asked")


def test_a_rule_that_lost_its_negation_is_no_faithful_rewording(desk: Desk) -> None:
    """The same words without the "never" say the contrary."""
    said = (owner(RULE), agent("ok"), boundary(), summary("Push to the main branch directly."))
    (cut,) = seen(desk, *said).boundaries
    assert item(cut, "push").reasons == ("compaction.value-changed",)


def test_a_locator_cuts_exactly_the_quoted_bytes_from_the_evidence(desk: Desk) -> None:
    """Also behind characters that are longer in UTF-8, and for the summary's nearest words."""
    (cut,) = seen(
        desk,
        owner(f"Grüße 🎉 für Zoë. {PAGES}"),
        agent("ok"),
        boundary(),
        summary("– “Ümläute”. The user is asked before dependencies are added to pyproject.toml."),
    ).boundaries
    found = item(cut, "dependency")
    assert found.nearest is not None
    for locator, quote in ((found.locator, PAGES), (found.nearest.locator, found.nearest.quote)):
        event, span = lookup.show(desk, locator)
        assert span is not None and span.cut(event.text.encode()).decode() == quote


def test_a_task_of_the_running_turn_is_open_and_one_that_was_answered_is_not(desk: Desk) -> None:
    """The agent answered and the owner went on: done before the cut, no loss."""
    (cut,) = seen(
        desk,
        owner("Rename the batch class to Settlement."),
        agent("Renamed."),
        owner("Add the missing index on payouts.batch_id."),
        call("t1", "Read", {"file_path": "/p/a.py"}),
        result("t1", "text"),
        boundary(),
        summary("Nothing of note."),
    ).boundaries
    index, rename = item(cut, "index"), item(cut, "Rename")
    assert (index.class_, index.state) == (ItemClass.TASK, ItemState.MISSING)
    assert (rename.class_, rename.state) == (ItemClass.ONE_OFF, ItemState.NOT_A_LOSS)
    assert rename.reasons == ("compaction.turn-ended",)
    assert cut.lost == {"task": 1}


def test_what_the_agents_own_list_holds_open_is_an_open_task(desk: Desk) -> None:
    """Entries that are done are none; the last list counts."""
    todos = [
        {"content": "write the migration", "status": "completed"},
        {"content": "backfill old payouts", "status": "pending"},
    ]
    old = [{"content": "drop the cache table", "status": "in_progress"}]
    (cut,) = seen(
        desk,
        call("t0", "TodoWrite", {"todos": old}),
        result("t0", "ok"),
        call("t1", "TodoWrite", {"todos": todos}),
        result("t1", "ok"),
        boundary(),
        summary("The migration is written."),
    ).boundaries
    assert [(i.quote, i.class_.value, i.state.value) for i in cut.items] == [
        ("backfill old payouts", "task", "missing")
    ]


def test_a_call_without_its_result_is_named_with_its_id(desk: Desk) -> None:
    """Cases D1 and D4: the cut fell between the two; the result that comes later changes nothing."""
    (cut,) = seen(
        desk,
        owner("Run the slow tests."),
        call("toolu_77", "Bash", {"command": "make slow"}),
        boundary(),
        summary("Tests were started."),
        result("toolu_77", "2 failed"),
    ).boundaries
    (live,) = (i for i in cut.items if i.class_ is ItemClass.EVIDENCE)
    assert live.call == "toolu_77" and live.state is ItemState.MISSING
    assert "compaction.unanswered-call" in live.reasons
    assert "evidence" not in cut.lost


def test_files_written_in_the_running_turn_are_looked_for_by_name(desk: Desk) -> None:
    """A name that the summary holds is kept; another is missing, and no loss by itself."""
    (cut,) = seen(
        desk,
        owner("Fix the guard."),
        call("t1", "Edit", {"file_path": "/p/src/guard.py", "old_string": "a", "new_string": "b"}),
        result("t1", "ok"),
        call("t2", "Write", {"file_path": "/p/src/cache.py", "content": "x"}),
        result("t2", "ok"),
        boundary(),
        summary("Edited guard.py."),
    ).boundaries
    assert item(cut, "guard.py").state is ItemState.VERBATIM
    assert item(cut, "cache.py").state is ItemState.MISSING


def test_words_beside_a_tool_result_are_nobodys_rule(desk: Desk) -> None:
    """Case D2: the client writes there, a person can't."""
    (cut,) = seen(
        desk,
        call("t1", "Read", {"file_path": "/p/a"}),
        result("t1", "x", beside=RULE),
        boundary(),
        summary("y"),
    ).boundaries
    assert cut.items == ()


def test_nothing_is_claimed_without_a_summary(desk: Desk) -> None:
    """The conversation went on: the words may be there or not."""
    (cut,) = seen(
        desk, owner(RULE), agent("ok"), boundary(), owner("go on"), agent("yes")
    ).boundaries
    assert cut.summary is SummaryState.ABSENT
    assert item(cut, "main").state is ItemState.UNKNOWN
    assert (cut.lost, cut.reasons) == ({}, ("compaction.summary-absent",))


def test_a_summary_belongs_to_no_boundary_before_the_conversation_went_on(desk: Desk) -> None:
    """A boundary without summary, then a summary without boundary: two compactions."""
    found = seen(
        desk, owner(RULE), boundary(), agent("going on"), owner(PAGES), agent("ok"), summary("a")
    )
    first, second = found.boundaries
    assert (first.summary, second.kind) == (SummaryState.ABSENT, "implied")
    assert item(second, "dependency").state is ItemState.MISSING


def test_a_session_that_begins_with_a_summary_says_its_window_is_elsewhere(desk: Desk) -> None:
    """Versions 1.0 began a new file, and marked the summary by its first words only."""
    (cut,) = seen(
        desk, record("This session is being continued from a previous conversation: x"), agent("ok")
    ).boundaries
    assert (cut.kind, cut.items) == ("implied", ())
    assert cut.reasons == ("compaction.window-elsewhere",)


def test_a_microcompaction_drops_results_and_loses_no_words(desk: Desk) -> None:
    """It writes no summary; the rule is in the window until a real cut."""
    found = seen(
        desk,
        owner(RULE),
        call("t1", "Read", {"file_path": "/p/a"}),
        result("t1", "x" * 4_000),
        call("t2", "Read", {"file_path": "/p/b"}),
        result("t2", "y" * 400),
        micro("t1", "never-seen"),
        agent("ok"),
        boundary(),
        summary("nothing"),
    )
    small, full = found.boundaries
    assert (small.kind, small.summary, small.items) == ("micro", SummaryState.NONE, ())
    assert small.counts == {"results-cleared": 1}
    assert small.after is not None and small.after.tokens == 40_000
    assert item(full, "main").state is ItemState.MISSING
    (evidence,) = (s for s in full.segments if s.name == "evidence")
    assert evidence.before is not None and evidence.before.tokens == 100


def test_a_loss_is_told_once_where_it_happened(desk: Desk) -> None:
    """Repeated compaction: what the first summary dropped was not in the second window; what it
    kept and the second dropped is cited where the owner said it."""
    found = seen(
        desk,
        owner(RULE),
        owner(PAGES),
        agent("ok"),
        boundary(),
        summary(f'Rules: "{RULE}"'),
        agent("going on"),
        boundary(),
        summary("All done."),
    )
    first, second = found.boundaries
    assert (item(first, "dependency").state, item(first, "main").state) == (
        ItemState.MISSING,
        ItemState.VERBATIM,
    )
    assert [i.quote for i in second.items] == [RULE]
    assert item(second, "main").state is ItemState.MISSING
    assert item(second, "main").line == 1


def test_a_later_rule_replaces_an_earlier_one_and_a_repetition_counts_once(desk: Desk) -> None:
    """Only what still stood when the host cut can be lost."""
    (cut,) = seen(
        desk,
        owner("Always use port 8080 for the proxy."),
        owner(RULE),
        owner("Always use port 9090 for the proxy."),
        owner("never push to the main branch"),
        agent("ok"),
        boundary(),
        summary("nothing"),
    ).boundaries
    assert item(cut, "8080").state is ItemState.NOT_A_LOSS
    assert item(cut, "8080").reasons == ("compaction.superseded",)
    assert item(cut, "9090").state is ItemState.MISSING
    assert item(cut, "push").line == 4
    assert cut.lost == {"standing": 2}


def test_old_records_appended_again_after_a_cut_are_not_said_again(desk: Desk) -> None:
    """Some versions copy them with their ids; a copied rule is not in the new window."""
    again = owner(RULE)
    found = seen(
        desk,
        again,
        agent("ok"),
        boundary(),
        summary("n"),
        again,
        agent("x"),
        boundary(),
        summary("m"),
    )
    first, second = found.boundaries
    assert (first.lost, second.items) == ({"standing": 1}, ())


def test_messages_that_the_host_says_it_preserved_are_kept(desk: Desk) -> None:
    """Later versions name them; a stretch is named by its ends."""
    kept = record(RULE, "keep-1")
    head, tail = record(PAGES, "head"), record("Always write tests first.", "tail")
    facts = {
        "preservedMessages": {"uuids": ["keep-1"]},
        "preservedSegment": {"headUuid": "head", "tailUuid": "tail"},
    }
    (cut,) = seen(
        desk,
        kept,
        owner("Never rename public functions."),
        head,
        tail,
        agent("ok"),
        boundary(facts=facts),
        summary("nothing"),
    ).boundaries
    states = {i.quote[:14]: i.state.value for i in cut.items}
    assert states == {
        "Never push to ": "verbatim",
        "Always ask me ": "verbatim",
        "Always write t": "verbatim",
        "Never rename p": "missing",
    }


def test_sidechains_are_another_window(desk: Desk) -> None:
    """Neither the prompt of a sub-agent, nor its results, nor its calls stand in this one."""
    aside = {"isSidechain": True}
    (cut,) = seen(
        desk,
        owner(PAGES),
        owner(RULE, **aside),
        call("t9", "Read", {"file_path": "/p/a"}, **aside),
        result("t9", "z" * 8_000, **aside),
        agent("ok"),
        boundary(),
        summary("nothing"),
    ).boundaries
    assert [i.quote for i in cut.items] == [PAGES]
    assert "evidence" not in {s.name for s in cut.segments}


def test_broken_chains_change_nothing(desk: Desk) -> None:
    """Missing parents and cycles: records count in file order."""
    (cut,) = seen(
        desk,
        record(RULE, "a", "gone"),
        record(PAGES, "b", "c"),
        record("thanks", "c", "b"),
        boundary(parentUuid="gone", logicalParentUuid="nowhere"),
        summary(f"{RULE}", parentUuid="nobody"),
    ).boundaries
    assert {i.state.value for i in cut.items} == {"verbatim", "missing"}


def test_two_sessions_in_one_file_are_two_windows(desk: Desk) -> None:
    """Interleaved records count where they belong."""
    imported(
        desk,
        owner(RULE, sessionId="A"),
        owner(PAGES, sessionId="B"),
        agent("ok", sessionId="A"),
        boundary(sessionId="A"),
        owner("Always write tests first.", sessionId="B"),
        summary("nothing", sessionId="A"),
    )
    (cut,) = observe(desk, "A").boundaries
    assert [i.quote for i in cut.items] == [RULE]
    assert observe(desk, "B").boundaries == ()


def test_the_compaction_copied_into_a_fork_is_linked_to_the_first(desk: Desk) -> None:
    """A forked session begins with copies of the records; the same cut is no second one."""
    lines = [
        record(RULE, "u1"),
        boundary(uuid="b1"),
        record("x", "s1", isCompactSummary=True),
        owner("and now the other thing"),
    ]
    imported(desk, *lines)
    imported(desk, *(x.replace(b'"sessionId": "S"', b'"sessionId": "F"') for x in lines[:3]))
    (first,), (second,) = observe(desk, "S").boundaries, observe(desk, "F").boundaries
    assert first.copy_of is None and second.copy_of == first.at


def test_a_rule_in_another_script_is_found_where_it_is_quoted_and_never_guessed_at(
    desk: Desk,
) -> None:
    """Quoted words are compared as they are; of a translation nothing is claimed."""
    rule = "Remember: 金額は必ず整数の最小単位で保存する"
    later = "Remember: коммиты пишем только по-русски"
    (cut,) = seen(
        desk,
        owner(rule),
        owner(later),
        agent("ok"),
        boundary(),
        summary(
            "The user said: 「金額は必ず整数の最小単位で保存する」. Commits are in Russian. " * 3
        ),
    ).boundaries
    assert item(cut, "整数").state is ItemState.VERBATIM
    assert item(cut, "коммиты").state is ItemState.UNKNOWN
    assert item(cut, "коммиты").reasons == ("compaction.other-script",)


def test_figures_are_the_hosts_or_marked_as_estimates(desk: Desk) -> None:
    """The prompt is the rest of what the host states; the first request afterwards states more."""
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 25_000,
        "cache_creation_input_tokens": 90,
    }
    (cut,) = seen(
        desk,
        owner("x" * 400),
        agent("y" * 800),
        boundary(1_000),
        summary("s" * 321),
        agent("next", extra={"usage": usage}),
    ).boundaries
    assert cut.after is not None and (cut.after.tokens, cut.after.stated) == (25_100, True)
    shown = {s.name: (s.before, s.after) for s in cut.segments}
    counted = {n: b.tokens for n, (b, _a) in shown.items() if b is not None}
    assert counted == {
        "prompt and tools": 700,
        "steering": 100,
        "history": 200,
        "summary": 0,
        "in no file": 0,
    }
    assert all(not c.stated for pair in shown.values() for c in pair if c is not None)


def test_codex_keeps_messages_word_for_word_and_seals_the_rest(desk: Desk) -> None:
    """What its history holds is verbatim; of the encrypted summary nothing is claimed."""
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": RULE}]},
        {"type": "compaction", "encrypted_content": "REDACTED"},
    ]
    figures = {"last_token_usage": {"input_tokens": 90_000}, "model_context_window": 121_600}
    later = {"last_token_usage": {"input_tokens": 16_000}, "model_context_window": 121_600}
    found = seen(
        desk,
        codex(
            spoken("user", RULE),
            spoken("user", PAGES),
            spoken("assistant", "ok"),
            ("event_msg", {"type": "token_count", "info": figures}),
            ("compacted", {"message": "", "replacement_history": history}),
            ("event_msg", {"type": "context_compacted"}),
            ("event_msg", {"type": "token_count", "info": later}),
        ),
        session="019f-thread",
    )
    (cut,) = found.boundaries
    assert cut.summary is SummaryState.KEPT
    assert item(cut, "main").state is ItemState.VERBATIM
    assert item(cut, "dependency").reasons == ("compaction.summary-sealed",)
    assert cut.lost == {}
    assert (cut.window, cut.before and cut.before.tokens, cut.after and cut.after.tokens) == (
        121_600,
        90_000,
        16_000,
    )
    assert cut.segments[0].before is not None and cut.segments[0].before.tokens == 1_000


def test_codex_that_writes_its_summary_openly_is_compared_with_it(desk: Desk) -> None:
    """Older versions: the message is the summary."""
    found = seen(
        desk,
        codex(
            spoken("user", RULE),
            spoken("assistant", "ok"),
            ("compacted", {"message": "Nothing worth telling."}),
        ),
        session="019f-thread",
    )
    (cut,) = found.boundaries
    assert cut.summary is SummaryState.READ and cut.lost == {"standing": 1}


def test_a_call_after_the_cut_that_does_what_a_lost_rule_forbids_is_shown(desk: Desk) -> None:
    """A lead with its locator; a kept rule is not watched, and saying it again ends it."""
    push = {"command": "git push origin main"}
    found = seen(
        desk,
        owner(RULE),
        owner("Never delete the audit table."),
        agent("ok"),
        boundary(),
        summary("Never delete the audit table."),
        call("t1", "Bash", {"command": "git status"}),
        result("t1", "clean"),
        call("t2", "Bash", push),
        result("t2", "done"),
        call("t3", "Bash", {"command": "psql -c 'delete from audit_table'"}),
    )
    (cut,) = found.boundaries
    (lead,) = item(cut, "push").since
    event, _ = lookup.show(desk, lead.locator)
    assert event.text.endswith('"git push origin main"}') and lead.line == 8
    assert item(cut, "audit").since == ()


def test_a_rule_said_again_is_watched_no_longer(desk: Desk) -> None:
    """What happens afterwards is not the cut's doing."""
    (cut,) = seen(
        desk,
        owner(RULE),
        agent("ok"),
        boundary(),
        summary("nothing"),
        owner(RULE),
        call("t2", "Bash", {"command": "git push origin main"}),
    ).boundaries
    assert item(cut, "push").since == ()


def test_a_file_that_should_be_asked_about_first_is_looked_for_by_its_name(desk: Desk) -> None:
    """Asking before a thing forbids as much as "never" does."""
    (cut,) = seen(
        desk,
        owner(PAGES),
        agent("ok"),
        boundary(),
        summary("nothing"),
        call("t1", "Edit", {"file_path": "/p/README.md", "new_string": "dependencies"}),
        call(
            "t2", "Edit", {"file_path": "/p/pyproject.toml", "new_string": 'dependencies = ["x"]'}
        ),
    ).boundaries
    assert [q.line for q in item(cut, "dependency").since] == [6]


def test_titles_and_recaps_are_no_summaries_of_a_window(desk: Desk) -> None:
    """They are about other things and cut nothing."""
    title = b'{"type":"summary","summary":"Fixing rounding","leafUuid":"u9"}\n'
    recap = boundary(subtype="away_summary", compactMetadata=None, content="While you were away")
    assert seen(desk, owner(RULE), title, recap, agent("ok")).boundaries == ()


def test_an_unknown_session_is_named(desk: Desk) -> None:
    """The code every look-up has."""
    with pytest.raises(NotFound, match=r"id\.not-found"):
        observe(desk, "nowhere")
