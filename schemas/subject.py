"""What an operation is about, as one text; light enough for a first frame."""

from __future__ import annotations


def parted(subject: str) -> tuple[str, ...]:
    """The versions a subject names, parted by spaces, or the one thing it is; paths hold spaces."""
    return tuple(subject.split(" ")) if subject.startswith("cand_") else (subject,)
