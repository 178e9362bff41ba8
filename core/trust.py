"""The precedence layers, highest first (spec 0.8)."""

from __future__ import annotations

from enum import IntEnum


class Layer(IntEnum):
    """A lower number wins; a lower layer never supplies instructions to a higher one."""

    AUTHORITY = 1
    POLICY = 2
    CANONICAL = 3
    WIKI = 4
    LINE = 5
    UNREVIEWED = 6


LAYER_OF_CONSUMER = {
    "canonical-context": Layer.CANONICAL,
    "wiki": Layer.WIKI,
    "line-memory": Layer.LINE,
}

LAYER_NAMES = {
    Layer.AUTHORITY: "provider, system or organisation authority",
    Layer.POLICY: "repository and operator policy",
    Layer.CANONICAL: "accepted canonical context",
    Layer.WIKI: "reviewed wiki knowledge",
    Layer.LINE: "reviewed line facts",
    Layer.UNREVIEWED: "unreviewed candidates, evidence, excerpts and outputs",
}
