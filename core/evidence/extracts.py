"""Extracts: chosen lines of one artifact revision, derived, never the source itself (spec 1.5).

An extract names its lines and a digest of them, and holds no copy: what is shown is read from the
source again, chunk by chunk verified, together with the lines it misses. It replaces a rendered
view only; `read` gives the source alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from core import sealed
from core.evidence import artifacts
from core.ports import Desk
from schemas.errors import Refused, Unusable
from schemas.evidence import Artifact, Extract, ExtractPart, LineRange

Ranges = tuple[tuple[int, int], ...]
"""First and last line of each stretch, counted from 1, in order, with lines between them."""

_MOST = 1_000


def make(desk: Desk, ref: str, lines: Sequence[str]) -> tuple[Extract, bool]:
    """Register the extract of these lines (`A:B` each); True for a new one.

    Overlapping and neighbouring stretches become one. Raises NotFound `id.*`; Refused
    `artifact.range`; Unusable `artifact.altered`.
    """
    with desk.store.read() as view:
        source, _stored = artifacts.find(view, ref)
    ranges = _merged([artifacts.range_of(text, 1, source.lines, "lines") for text in lines])
    digest, text, now = digest_of(desk, source, ranges), text_of(ranges), desk.clock()
    subject = f"{source.id}#l{text}"
    with desk.store.write() as unit:
        known = unit.artifacts.extract(source.id, text)
        if known is None:
            unit.artifacts.add_extract(source.id, text, digest, now)
            seal = sealed.extract(desk.secret, subject, digest, now)
            unit.ledger.append("extract", subject, seal, 1, now)
    if known is not None and known.digest != digest:
        raise Unusable("artifact.altered", f"{subject} is not what its source says.")
    made = known.time if known else now
    return described(source, ranges, digest, made), known is None


def described(source: Artifact, ranges: Ranges, digest: bytes, time: int) -> Extract:
    """What an extract covers and misses of its source, as the source stands now."""
    covered = sum(last - first + 1 for first, last in ranges)
    return Extract(
        locator=f"{source.id}#l{text_of(ranges)}",
        artifact=source,
        covers=tuple(LineRange(first=a, last=b) for a, b in ranges),
        misses=tuple(LineRange(first=a, last=b) for a, b in missed(ranges, source.lines)),
        lines=covered,
        complete=covered == source.lines,
        stale=source.stale,
        digest="sha256:" + digest.hex(),
        time=time,
    )


def listed(desk: Desk, ref: str) -> list[Extract]:
    """Extracts of every revision of the path that `ref` names, oldest first, at most 1,000.

    Raises NotFound `id.*`.
    """
    with desk.store.read() as view:
        source, _stored = artifacts.find(view, ref)
        rows = view.artifacts.extracts(source.path, _MOST)
        sources = {r.source: view.artifacts.revision(r.source) for r in rows}
    return [
        described(found, ranges_of(r.lines), r.digest, r.time)
        for r in rows
        if (found := sources[r.source]) is not None
    ]


def rendered(desk: Desk, extract: Extract) -> Extract:
    """The extract with its words, read from the source now.

    Raises Unusable `artifact.altered` when they are not what was registered.
    """
    whole, parts = sha256(), []
    for r in extract.covers:
        part = artifacts.part(desk, extract.artifact.id, lines=f"{r.first}:{r.last}")
        data = b"".join(artifacts.read(desk, part))
        whole.update(data)
        parts.append(ExtractPart(first=r.first, last=r.last, text=data.decode("utf-8", "replace")))
    if f"sha256:{whole.hexdigest()}" != extract.digest:
        raise Unusable("artifact.altered", f"{extract.locator} is not what its source says.")
    return extract.model_copy(update={"parts": tuple(parts)})


def digest_of(desk: Desk, source: Artifact, ranges: Ranges) -> bytes:
    """SHA-256 of the lines themselves, one stretch after the other.

    Raises Unusable `artifact.altered`, Refused `artifact.range`.
    """
    whole = sha256()
    for first, last in ranges:
        for data in artifacts.read(desk, artifacts.part(desk, source.id, lines=f"{first}:{last}")):
            whole.update(data)
    return whole.digest()


def missed(ranges: Ranges, lines: int) -> Ranges:
    """The stretches of `lines` lines that no range covers."""
    out, at = [], 1
    for first, last in ranges:
        if first > at:
            out.append((at, first - 1))
        at = last + 1
    return (*out, (at, lines)) if at <= lines else tuple(out)


def _merged(ranges: Sequence[tuple[int, int]]) -> Ranges:
    if not ranges:
        raise Refused("artifact.range", "An extract needs lines: --lines A:B.")
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    if len(out) > _MOST:
        raise Refused("artifact.range", f"An extract has at most {_MOST:,} stretches.")
    return tuple(out)


def text_of(ranges: Ranges) -> str:
    """`1-3,10-20`."""
    return ",".join(f"{first}-{last}" for first, last in ranges)


def ranges_of(text: str) -> Ranges:
    """The inverse. Raises ValueError for anything else."""
    pairs = [p.partition("-") for p in text.split(",")]
    return tuple((int(first), int(last)) for first, _, last in pairs)
