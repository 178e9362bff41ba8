"""Canonical JSON is RFC 8785's to the byte, whichever way it is written (spec 0.2)."""

from __future__ import annotations

import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from core.identity import canonical

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.text(st.characters(max_codepoint=127)),
)
documents = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=4), inner, max_size=4),
        st.dictionaries(st.text(st.characters(max_codepoint=127), max_size=4), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(documents)
def test_any_document_is_written_as_the_reference_writes_it(document: Any) -> None:
    """Floats, keys past ASCII, control characters and all."""
    assert canonical(document) == rfc8785.dumps(document)


def test_keys_are_ordered_by_utf_16_as_the_rfc_says() -> None:
    """Its own example, where code points would say otherwise."""
    keys = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    order = canonical(keys).decode()
    wanted = ["\\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert [order.index(f'"{k}"') for k in wanted] == sorted(order.index(f'"{k}"') for k in wanted)


@pytest.mark.parametrize("value", [2**53, -(2**53), "\ud800", math.nan, math.inf])
def test_what_json_can_not_hold_exactly_is_refused(value: object) -> None:
    """Nested as well."""
    for document in (value, [value], {"a": {"b": value}}):
        with pytest.raises(ValueError):
            canonical(document)
