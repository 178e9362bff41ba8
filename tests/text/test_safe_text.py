"""Nothing that acts on a terminal or hides from a reader passes the border (spec 0.7)."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.safe_text import (
    exact_line,
    exact_pieces,
    has_hidden,
    hidden,
    one_line,
    visible,
    visible_lines,
)

BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
ZERO_WIDTH = {0x00AD, 0x034F, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x2800, 0x3164}
TAGS = set(range(0xE0000, 0xE0080))


def acts(char: str) -> bool:
    """True for what must never reach a terminal, by code point and not by our own table."""
    code = ord(char)
    control = code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF
    return (
        control
        or code in BIDI
        or code in ZERO_WIDTH
        or code in TAGS
        or code in (0x2028, 0x2029)
        or unicodedata.category(char) in ("Cc", "Cf", "Cs")
    )


def test_no_code_point_of_unicode_survives_that_acts_or_hides() -> None:
    """Every code point, between letters."""
    for start in range(0, sys.maxunicode + 1, 4096):
        block = [chr(code) for code in range(start, start + 4096)]
        shown = visible("a".join(block))
        assert not [hex(ord(c)) for c in set(shown) if acts(c)]
        assert shown.isprintable()
        assert [hex(ord(c)) for c in block if acts(c) and not hidden(c)] == []


@given(st.text(st.characters()))
def test_any_text_becomes_one_printable_line(text: str) -> None:
    """Whatever the mixture, nothing acts, and nothing visible is lost."""
    shown = visible(text)
    assert shown.isprintable()
    assert not any(acts(c) for c in shown)
    letters = [c for c in text if c.isalnum()]
    assert [c for c in shown if c in letters or c.isalnum()][: len(letters)] or not letters
    assert exact_line(text).isprintable()
    assert len(visible(one_line(text, 30))) <= 30


@given(st.text(st.characters()))
def test_a_text_without_hidden_characters_passes_unchanged(text: str) -> None:
    """`has_hidden` tells exactly when `visible` marks something."""
    marks = re.compile("[\t\n\r‹\u2400-\u2421]")
    plain = marks.sub("", text)
    spaces = any(unicodedata.category(c) == "Zs" and c != " " for c in plain)
    if not has_hidden(plain) and not spaces:
        assert visible(plain) == plain
    if has_hidden(plain):
        assert visible(plain) != plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x9b31m", "‹009B›31m"),
        ("a\x00b\x7fc", "a␀b␡c"),
        ("over\rwrite", "over␍write"),
        ("\u202egnirts", "‹202E›gnirts"),
        ("zero\u200bwidth", "zero‹200B›width"),
        ("\ufeffbom", "‹FEFF›bom"),
        ("tag\U000e0041", "tag‹E0041›"),
        ("lone\ud800", "lone‹D800›"),
        ("a\u2028b", "a‹2028›b"),
        ("nbsp\u00a0here", "nbsp here"),
        ("thin\u2009space", "thin‹2009›space"),
        ("\tx", "    x"),
        ("ab\tx", "ab  x"),
        ("❤\ufe0f", "❤"),
        ("x\ufe0f", "x‹FE0F›"),
        ("한글 ｗｉｄｅ é", "한글 ｗｉｄｅ é"),
        ("fill\u3164er", "fill‹3164›er"),
    ],
)
def test_golden_rows(text: str, shown: str) -> None:
    """How rows look on a screen."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("‹202E›gnirts", "‹2039›202E›gnirts"),
        ("‹2039›202E›", "‹2039›2039›202E›"),
        ("␛[31m", "‹241B›[31m"),
        ("‹", "‹2039›"),
        ("‹20", "‹2039›20"),
        ("ein ‹kleines› Wort", "ein ‹kleines› Wort"),
    ],
)
def test_a_written_mark_is_not_taken_for_a_hidden_character(written: str, shown: str) -> None:
    """What only looks like a mark is told apart from it, also where it is cut in two."""
    assert visible(written) == shown


@given(st.text(st.sampled_from("‹›202EeA␛\x1b\u202e\u200bx"), max_size=8))
@example("‹202E›")
def test_marks_say_exactly_what_is_hidden(text: str) -> None:
    """Undoing the marks of what is shown, from left to right, gives the text back."""

    def undone(found: re.Match[str]) -> str:
        mark = found[0]
        return chr(int(mark[1:-1], 16)) if mark[0] == "‹" else chr(ord(mark) - 0x2400)

    assert re.sub("‹[0-9A-F]{4,6}›|[\u2400-\u2420]", undone, visible(text)) == text


def test_what_has_passed_the_border_passes_again_unchanged() -> None:
    """A row is cut and joined on its way to the screen, and marked once."""
    once = visible("\u202e‹202E›")
    assert visible(once) == once == "‹202E›‹2039›202E›"


def test_lines_are_split_on_lf_alone() -> None:
    """A CR before LF goes; CR, VT, NEL and U+2028 inside a line are marks, no line ends."""
    text = "one\r\ntwo\rx\x0b\x85\u2028\n"
    assert visible_lines(text) == ["one", "two␍x␋‹0085›‹2028›", ""]


def test_a_list_line_is_bounded() -> None:
    """One line, at most the limit, with an ellipsis."""
    line = one_line("word " * 1000, 80)
    assert len(line) == 80
    assert line.endswith("…")


def test_exact_lines_show_spaces_and_tabs() -> None:
    """Trailing space and tabs are seen in a diff."""
    assert exact_line("a \tb ") == "a·→   b·"


@pytest.mark.parametrize(
    ("written", "shown"),
    [("a·b", "a‹00B7›b"), ("a→b", "a‹2192›b"), ("a↵", "a‹21B5›"), ("‹00B7›", "‹2039›00B7›")],
)
def test_a_mark_written_in_the_text_does_not_look_like_one(written: str, shown: str) -> None:
    """The file's own `·` is no space, its `→` no tab, its `↵` no line end."""
    assert exact_line(written) == shown


MARKS = st.text(st.sampled_from(" \t·→↵‹›a.\u00a0\ufe0f❤\x1b␛0B7"), max_size=6)


@given(MARKS, MARKS, st.booleans())
@example("a b", "a\u00a0b", False)
@example("\x1b", "␛", True)
@settings(max_examples=400)
def test_different_texts_look_different(one: str, two: str, every: bool) -> None:
    """What is on screen says exactly which characters are in the file."""
    assert one == two or exact_pieces(one, every=every) != exact_pieces(two, every=every)


def test_fewer_marks_keep_those_that_could_mislead() -> None:
    """Between words a space is blank; at the ends, in runs and at tabs it stays marked."""
    pieces = exact_pieces(" a b  c\td ", every=False)
    assert "".join(shown for shown, _ in pieces) == "·a b··c→   d·"
