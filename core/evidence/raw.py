"""AIWG's raw copies: evidence whatever they say, never knowledge (spec 1.6)."""

from __future__ import annotations

ROOT = ".aiwg/wiki/raw"


def is_raw(path: str) -> bool:
    """True for a workspace-relative path of a raw copy, or of a stream inside one."""
    return path.startswith(ROOT + "/")
