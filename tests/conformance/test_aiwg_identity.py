"""Identities as AIWG makes them: vectors computed independently of this code (format 2.13)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.aiwg_identity import (
    iso_ms,
    js_digest,
    js_json,
    json_digest,
    line_after_hash,
    normalised_line,
    nul_digest,
    pretty,
    promotion_handle,
    source_ref,
)

AB = "sha256:" + "ab" * 32
WORKSPACE = "sha256:c333b9667097f729ecfdadeb89b200663a6783290e4e2e65004cd74b4570a5c0"
FACT = "Release notes live in docs/releases."
HANDLE = "lm_3c0383a0-4ff7-5870-ab74-d994c1ae696a"
EMPTY = {
    "schemaVersion": "aiwg.canonical-context.v1",
    "workspaceId": WORKSPACE,
    "revision": 0,
    "entries": {},
}
PROPOSAL: dict[str, Any] = {
    "target": "decision",
    "key": "build.tool",
    "value": "The release build uses make, not npm scripts.",
    "sourceRef": "https://example.test/adr/7",
    "sourceDigest": None,
    "reviewer": "ana",
    "reason": "Checked against the ADR",
    "scope": "project",
    "classification": "internal",
    "reviewAt": None,
    "expiresAt": None,
}
BOUND = ("target", "key", "value", "sourceRef", "sourceDigest", "scope", "classification")
SOURCE = (
    "# Release train\n\nDecision: Tags are cut every second Tuesday and signed by the "
    "release lead.\n"
)


def hexed(digest: str) -> str:
    """A digest without its tag."""
    return digest.removeprefix("sha256:")


def test_workspace_identity_is_the_digest_of_the_folder_name() -> None:
    """The base name alone, as bytes."""
    assert js_digest("demo-project") == WORKSPACE


def test_canonical_context_store_entry_operation_and_receipt() -> None:
    """Empty store, entry, upsert and its receipt hash as AIWG's construction order gives."""
    store = json_digest(EMPTY)
    assert hexed(store) == "a8b2f0193a2a0c2b2954910c7e893c05e24b398ba68a88490a96223909f1b513"
    entry = json_digest({k: PROPOSAL[k] for k in BOUND})
    assert hexed(entry) == "2202e36fcb3d86a3db7a48dfcb440da26743982521712333cde5712ae779efee"
    upsert = json_digest({"operation": "upsert", "proposal": PROPOSAL, "snapshot": store})
    assert hexed(upsert) == "69325f1218aa4c1e0db8d772daa1606ce49ecf04b50be3d4ef3f666ffe364701"
    receipt = nul_digest(upsert, "1")
    assert hexed(receipt) == "c5469656b66a6d237f6ddd6f5cbcb01c98580d97eab7613350594961cb122641"


def test_intake_operation_and_receipt() -> None:
    """Source, raw locator and route are bound; the receipt adds the raw locator."""
    data = SOURCE.encode()
    content = hashlib.sha256(data).hexdigest()
    raw = f".aiwg/wiki/raw/{content[:16]}-release-train.md"
    source = {
        "locator": "sources/release-train.md",
        "digest": f"sha256:{content}",
        "byteLength": len(data),
        "kind": "document",
    }
    operation = json_digest({"source": source, "rawLocator": raw, "route": "llm-wiki"})
    assert hexed(operation) == "98c402e506a75cd653535b434d0f81d963f92bbdca99fb306de2b0ca6991c59e"
    assert hexed(nul_digest(operation, raw)) == (
        "d1ef087d4197856f98fab6e7dafc1b141d08f03f4160caddf2253426447e8bb7"
    )


def test_line_memory_digest_handle_and_after_hash() -> None:
    """The functions that promotion itself uses."""
    assert hexed(js_digest(FACT)) == (
        "6ac114f5e43724b23fb1b9fc0c4e2fc523c4e3546d5286fbbdd223195b340761"
    )
    assert promotion_handle(AB, 1) == HANDLE
    assert hexed(line_after_hash(FACT, HANDLE, source_ref(AB, 1))) == (
        "ed31e6ddde8d2cbecc4671b21dbd4a062eea8fb7a382f7dfbd15bea93af5bef6"
    )


def test_promotion_operation_and_receipt() -> None:
    """An operation over destination, evidence, links and both hashes."""
    after = line_after_hash(FACT, HANDLE, source_ref(AB, 1))
    operation = json_digest(
        {
            "candidateId": AB,
            "candidateVersion": 1,
            "consumer": "line-memory",
            "destinationRef": f".aiwg/memory/line-memory.meta.json#{HANDLE}",
            "evidenceEventIds": ["event_1"],
            "conflictsWith": [],
            "supersedes": [],
            "beforeHash": None,
            "afterHash": after,
        }
    )
    assert hexed(operation) == "bbd739abf8a3bdf9e149b90df8253201e75aec48a8c865304ca6fa5412f0c77b"
    assert hexed(nul_digest(operation, "ana", after)) == (
        "7ac3eab462219a27bf450fc84168f1a155c7254db549e9f657566381cd35f6d8"
    )


def test_candidate_review_and_assertion_digests() -> None:
    """Candidate id without the assertion; review receipt by NUL; assertion as a quoted string."""
    candidate = json_digest(
        {
            "type": "decision",
            "evidenceEventIds": ["event_1"],
            "subject": None,
            "predicate": None,
            "object": None,
        }
    )
    assert hexed(candidate) == "d88429e2a5d8da64643d5f6eb0a4aa288a7e3866048c33c929b0051ad3227e96"
    review = nul_digest(AB, "1", "pending", "accepted", "ana", "evidence verified")
    assert hexed(review) == "1be758c0c92e875b7cb964831a71df932fdd3b568919ffce35b20669143bff7c"
    assert hexed(json_digest("retain evidence citations")) == (
        "dded4332ac1a215480f7a9dcfb610b6aec54a97b2b7272cd3c4c4763166484f3"
    )


def test_output_registration_ids() -> None:
    """Registration, operation and receipt of one registered report."""
    data = b"# Report\n"
    output = {
        "locator": "output/reports/catalog.md",
        "mediaType": "text/markdown",
        "digest": "sha256:" + hashlib.sha256(data).hexdigest(),
        "byteLength": len(data),
    }
    source = {"kind": "session", "ref": "session:opaque", "digest": None, "span": None}
    pack = {"id": "context-pack:demo", "digest": js_digest("pack"), "sources": [source]}
    registration = json_digest(
        {"output": output, "contextPack": pack, "supersedes": [], "conflictsWith": []}
    )
    assert hexed(registration) == (
        "63bd9fcac6ef3c39dd4c6d54b851bed071e0b2d8ea81d0af3d23b568d58b8f33"
    )
    operation = json_digest(
        {
            "registrationId": registration,
            "outputDigest": output["digest"],
            "contextPackDigest": pack["digest"],
        }
    )
    assert hexed(operation) == "f923c7ddbeb839bb677cd9445ee57d2d08225a621b8393d2992628970e5f046a"
    assert hexed(nul_digest(operation, registration)) == (
        "3c7398423c732cc01cf02fc36b531d99b76dcc41292d06388cc6294682b87587"
    )


def test_context_pack_id() -> None:
    """Task digest, budget in its order, items by locator, digest and text."""
    line = "SQLite is the catalog."
    sizes = {"total": 8000, "line": 2000, "wiki": 4000, "citation": 1500, "instruction": 500}
    budget = {f"{name}Characters": size for name, size in sizes.items()}
    item = {
        "locator": ".aiwg/memory/line-memory.txt#line-1",
        "digest": js_digest(line),
        "text": line,
    }
    pack = {
        "taskDigest": js_digest("SQLite catalog"),
        "budget": budget,
        "items": [item],
        "instructions": [],
    }
    assert hexed(json_digest(pack)) == (
        "0f64520617489f93665c2a2bf4f29d60530673a25fb00cd9b81dbb133b9cc67a"
    )


def test_maintenance_operation_of_an_empty_project() -> None:
    """Snapshot and the one wiki-index action."""
    signals = {
        "contradictions": [],
        "staleFacts": [],
        "orphanPages": [],
        "unlinkedOutputs": [],
        "contextUpdates": [],
        "total": 0,
        "bounded": True,
    }
    snapshot = {
        "lineMemory": {"facts": 0, "integrity": "ok"},
        "wiki": {"initialized": False, "indexPresent": False, "stale": False},
        "pendingOutputOperations": [],
        "pendingCandidates": [],
        "reviewSignals": json_digest(signals),
    }
    action = {
        "id": "wiki-index",
        "mode": "delegated",
        "state": "missing",
        "command": "run the llm-wiki index refresh workflow",
    }
    operation = {
        "operation": "compound-memory-maintain",
        "snapshot": snapshot,
        "actions": [action],
    }
    assert hexed(json_digest(operation)) == (
        "98653eec985028928da1ba0dbbe6dcdbfa3a309b4ef74190a76303db96874440"
    )


# serialisation (2.1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-5, "0.00001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (2.5e-10, "2.5e-10"),
        (0.1, "0.1"),
        (float("nan"), "null"),
        (True, "true"),
        (None, "null"),
        ('\b\f\n\r\t"\\', '"\\b\\f\\n\\r\\t\\"\\\\"'),
        ("\x01\x1f", '"\\u0001\\u001f"'),
        ("\x7f\u2028\u2029é", '"\x7f\u2028\u2029é"'),
        ("\ud800", '"\\ud800"'),
        ("a\udfffb", '"a\\udfffb"'),
        ([], "[]"),
        ({}, "{}"),
        ([1, {"b": 2, "a": [None]}], '[1,{"b":2,"a":[null]}]'),
    ],
)
def test_values_print_as_javascript_prints_them(value: object, text: str) -> None:
    """Numbers, escapes, lone surrogates and empty containers."""
    assert js_json(value) == text


def test_a_bare_string_with_a_lone_surrogate_hashes_as_the_replacement_character() -> None:
    """JSON writes the escape, a bare hash takes U+FFFD."""
    wanted = "sha256:" + hashlib.sha256("a\ufffdb".encode()).hexdigest()
    assert js_digest("a\ud834b") == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_the_compact_and_the_indented_form_agree_with_an_independent_writer(value: Any) -> None:
    """Python's own JSON writer, told to do as JavaScript does, gives the same text."""
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert js_json(value) == compact
    assert pretty(value) == (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def test_unknown_members_and_their_order_survive_a_round_trip() -> None:
    """A parsed sidecar prints back to its own bytes."""
    text = '{\n  "z": 1,\n  "a": {\n    "é": [],\n    "b": {}\n  },\n  "version": 1\n}\n'
    assert pretty(json.loads(text)) == text.encode()


JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


@pytest.mark.parametrize("char", list(JS_SPACE), ids=lambda c: f"U+{ord(c):04X}")
def test_javascript_white_space_is_folded_and_trimmed(char: str) -> None:
    """Also U+FEFF, which Python's strip leaves."""
    assert normalised_line(f"{char}a{char}{char}b{char}") == "a b"


@pytest.mark.parametrize(
    "char", list("\x1c\x1d\x1e\x1f\x85\u200b\u180e"), ids=lambda c: f"U+{ord(c):04X}"
)
def test_what_only_python_calls_white_space_stays(char: str) -> None:
    """U+0085 and the separators are no white space to JavaScript."""
    assert normalised_line(f"a{char}b") == f"a{char}b"


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_796_029_200_999_999, "2026-11-30T09:00:00.999Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_000_000, "9999-12-31T23:59:59.000Z"),
    ],
)
def test_times_print_as_to_iso_string(micros: int, text: str) -> None:
    """Milliseconds are cut, never rounded up."""
    assert iso_ms(micros) == text


def test_lengths_and_offsets_are_utf16_units_only_in_aiwg() -> None:
    """One emoji is two units there, four bytes here: spans never mix the two."""
    text = "a\U0001f600b"
    assert len(text.encode("utf-16-le")) // 2 == 4
    assert len(text.encode()) == 6
