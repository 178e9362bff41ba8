"""Diffs rebuild both sides exactly, apply with `patch`, and end quickly on the worst input."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core import textdiff
from core.textdiff import TextDiff, compare, words

LINES = st.lists(
    st.sampled_from(["", "a", "b", "c", "d e", "é", "x\r", "\ry", "-", "+", "@@"]), max_size=30
)
SIDE = st.builds(
    lambda lines, last: "\n".join(lines) + last, LINES, st.sampled_from(["", "\n", "\r\n"])
)


def rebuilt(diff: TextDiff, before: str, after: str) -> tuple[str, str]:
    """Both sides from gaps, hunks and tail, with unchanged parts taken from the other side."""
    old, new = before.split("\n"), after.split("\n")
    left: list[str] = []
    right: list[str] = []

    def skip(count: int) -> None:
        a, b = len(left), len(right)
        left.extend(x + "\n" for x in new[b : b + count])
        right.extend(x + "\n" for x in old[a : a + count])

    for hunk in diff.hunks:
        skip(hunk.gap)
        for line in hunk.lines:
            text = line.text + {"\n": "\n", "\r\n": "\r\n", "": ""}[line.end]
            if line.sign != "+":
                left.append(text)
                assert line.old == len(left)
            if line.sign != "-":
                right.append(text)
                assert line.new == len(right)
    skip(diff.tail)
    return "".join(left), "".join(right)


@given(SIDE, SIDE)
@example("a", "a\n")
@example("", "x")
@example("a\nb\na\nb\n", "b\na\nb\na\n")
@settings(max_examples=300)
def test_hunks_gaps_and_tail_rebuild_both_sides(before: str, after: str) -> None:
    """Nothing is left out and every line has its place."""
    diff = compare(before.encode(), after.encode())
    left, right = rebuilt(diff, before, after)
    # The tail may be the last line without its end; `split` counts it, so compare without one.
    assert left.rstrip("\n") == before.rstrip("\n")
    assert right.rstrip("\n") == after.rstrip("\n")
    if before == after:
        assert not diff.hunks
    added = sum(x.sign == "+" for h in diff.hunks for x in h.lines)
    removed = sum(x.sign == "-" for h in diff.hunks for x in h.lines)
    assert (added, removed) == (diff.added, diff.removed)


def patched(before: bytes, diff: str, folder: Path) -> bytes:
    """What the system's `patch` makes of `before`."""
    target = folder / "f"
    target.write_bytes(before)
    (folder / "d").write_bytes(diff.encode())
    command = ["patch", "--binary", "-p1", "-s", "-i", "d"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    return target.read_bytes() if target.exists() else b""


def test_the_unified_text_applies_with_patch(tmp_path: Path) -> None:
    """Sixty random pairs, with CRLF, empty lines and missing final newlines."""
    draw = random.Random(7)
    pool = ["", "a", "b", "c", "long line", "é\U0001f600", "tab\there", "x\r"]
    for n in range(60):
        old = [draw.choice(pool) for _ in range(draw.randint(1, 25))]
        new = [x for x in old if draw.random() > 0.2]
        for _ in range(draw.randint(0, 4)):
            new.insert(draw.randint(0, len(new)), draw.choice([*pool, f"new {n}"]))
        before = ("\n".join(old) + draw.choice(["", "\n"])).encode()
        after = ("\n".join(new) + draw.choice(["", "\n"])).encode()
        if before == after or not before or not after:
            continue
        folder = tmp_path / str(n)
        folder.mkdir()
        diff = compare(before, after).unified("f")
        assert patched(before, diff, folder) == after, (before, after, diff)


def test_a_new_file_applies_with_patch(tmp_path: Path) -> None:
    """`-0,0` is how a diff says that nothing was there."""
    diff = compare(None, b"one\ntwo\n").unified("f")
    assert "@@ -0,0 +1,2 @@" in diff
    assert patched(b"", diff, tmp_path) == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("before", "after", "coarse"),
    [
        (["x", *["same"] * 4000, "y"], ["p", *["same"] * 4000, "q"], True),
        (["x", *["s", "t"] * 1500, "y"], ["p", *["s", "t"] * 1500, "q"], True),
        (
            [f"line {i}" for i in range(20_000)],
            [f"line {i}" if i % 2 else f"line {i}!" for i in range(20_000)],
            False,
        ),
        (
            [f"line {i}" for i in range(50_000)],
            [f"line {i}" if i % 10 > 2 else f"new {i}" for i in range(50_000)],
            False,
        ),
        ([f"{i}" for i in range(20_000)], [f"{i}" for i in reversed(range(20_000))], False),
    ],
    ids=["equal lines", "two lines", "every other", "30 % changed", "reversed"],
)
def test_worst_cases_end_quickly_and_say_when_they_are_coarse(
    before: list[str], after: list[str], coarse: bool
) -> None:
    """Seconds, never minutes; a fallback is named and still exact."""
    a, b = "\n".join(before) + "\n", "\n".join(after) + "\n"
    start = time.process_time()
    diff = compare(a.encode(), b.encode())
    assert time.process_time() - start < 6
    assert diff.coarse is coarse
    assert rebuilt(diff, a, b) == (a, b)


def test_a_moved_block_is_not_a_change_of_the_whole_file() -> None:
    """Unique lines anchor the diff: 200 moved of 2,000 change 400 rows at most."""
    lines = [f"line {i}" for i in range(2_000)]
    moved = lines[200:1_000] + lines[:200] + lines[1_000:]
    diff = compare("\n".join(lines).encode(), "\n".join(moved).encode())
    assert (diff.added, diff.removed) == (200, 200)


@given(SIDE, SIDE)
def test_small_diffs_are_never_coarse_and_never_overlap(before: str, after: str) -> None:
    """Two hunks never touch: between them stand unchanged lines."""
    diff = compare(before.encode(), after.encode())
    assert not diff.coarse
    assert all(h.gap > 0 for h in diff.hunks[1:])


@given(st.text(max_size=60), st.text(max_size=60))
def test_word_spans_cover_exactly_what_differs(old: str, new: str) -> None:
    """With the marked words cut out, both lines are the same."""
    left, right = words(old, new)

    def rest(text: str, spans: list[tuple[int, int]]) -> str:
        out, at = [], 0
        for start, end in spans:
            out.append(text[at:start])
            at = end
        return "".join([*out, text[at:]])

    assert rest(old, left) == rest(new, right)


def test_invalid_utf8_shows_as_the_replacement_character() -> None:
    """A diff for people never fails on bytes."""
    diff = compare(b"\xff\n", b"\xfe\xff ok\n")
    assert diff.hunks[0].lines[0].text == "\ufffd"
    assert textdiff.split(b"\xff") == [("\ufffd", "")]
