"""Making candidate versions: screening, identity, claims, one ledger entry (spec 4.2, 4.3, 0.2)."""

from __future__ import annotations

from dataclasses import dataclass

from core import claims, screening, sealed
from core.candidates.lanes import lane_of
from core.evidence.lookup import find, source_of
from core.identity import digest_json, keyed_id
from core.ports import Desk, Writer
from schemas.candidates import (
    Attention,
    CandidateKind,
    CandidateState,
    CandidateVersion,
    HazardGate,
    Source,
)
from schemas.common import Classification
from schemas.errors import Refused
from schemas.evidence import Author
from schemas.storage import Claim

EXPLICIT = "proposed"
CANDIDATE = "candidate"
"""Layer of the claims that candidates make."""
MAX_STATEMENT = 8_192
_SPEAKING = 500


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed, before screening: words, where they were said, how they were found."""

    statement: str
    kind: CandidateKind
    key: str
    scope: str
    sources: tuple[Source, ...]
    method: str
    author: str
    editor: str | None = None
    classification: Classification | None = None


def clean_statement(text: str) -> str:
    """A statement as one trimmed line.

    Raises Refused `candidate.statement-empty` when nothing is left or it is far too long.
    """
    line = " ".join(text.split())
    if not line or len(line.encode()) > MAX_STATEMENT:
        raise Refused("candidate.statement-empty", size=len(line.encode()))
    return line


def version_of(
    desk: Desk, id_: str, number: int, p: Proposal, *, renews: int | None = None
) -> CandidateVersion:
    """One screened, pending version of a candidate."""
    owner = p.author == Author.OWNER or p.editor is not None
    limit = desk.policy.policy.statement_bytes
    found = screening.screen(p.statement, owner=owner, limit=limit)
    level = found.classification
    if level is not Classification.SECRET and p.classification not in (None, Classification.SECRET):
        # `secret` is a finding about these very words, so a clean version does not inherit it.
        level = p.classification or level
    sources = tuple(_masked(s) for s in p.sources)
    version = CandidateVersion(
        id=id_,
        version=number,
        newest=number,
        state=CandidateState.PENDING,
        kind=p.kind,
        key=screening.mask(p.key),
        scope=screening.mask(p.scope),
        statement=found.text,
        classification=level,
        hazards=found.hazards,
        sources=sources,
        method=p.method,
        author=p.author,
        created=desk.clock(),
        editor=p.editor,
        renews=renews,
        digest="sha256:" + "0" * 64,
    )
    return version.model_copy(update={"digest": version_digest(version)})


def _masked(source: Source) -> Source:
    """A quote without credentials: the value stays in the evidence alone (spec 4.3)."""
    quote = screening.mask(source.quote)
    return source if quote == source.quote else source.model_copy(update={"quote": quote})


def version_digest(v: CandidateVersion) -> str:
    """Digest of what a decision is about: words, kind, key, scope, sources, classification."""
    return digest_json(
        {
            "statement": v.statement,
            "kind": v.kind.value,
            "key": v.key,
            "scope": v.scope,
            "classification": v.classification.value,
            "sources": [[s.locator, s.digest] for s in v.sources],
            "hazards": [h.code for h in v.hazards],
            "valid": [v.valid_from, v.valid_until, v.review_at],
        }
    )


def candidate_id(desk: Desk, p: Proposal) -> str:
    """Identity: kind, key, scope, normalised statement and first span (spec 0.2)."""
    parts = (p.kind.value, p.key, p.scope, claims.normalised(p.statement), p.sources[0].locator)
    return keyed_id("cand", desk.secret, *(x.encode() for x in parts))


def add(desk: Desk, unit: Writer, p: Proposal) -> tuple[CandidateVersion, bool]:
    """Store a proposal as version 1 of its candidate; False when it stands already."""
    unit.candidates.hold()
    id_ = candidate_id(desk, p)
    known = unit.candidates.version(id_)
    if known is not None:
        return known, False
    version = version_of(desk, id_, 1, p)
    store(desk, unit, version)
    return version, True


def store(desk: Desk, unit: Writer, version: CandidateVersion) -> None:
    """Append a version with its claim and ledger entry."""
    claim = claim_of(desk, version)
    lane = lane_of(version.method, version.author, conflict=False)
    unit.candidates.add(version, claim.claim, lane, attention(desk, version))
    claims.enter(desk, unit.claims, claim)
    regroup(unit, version.key, version.scope)
    root = sealed.version(desk.secret, version.model_dump_json().encode())
    subject = f"{version.id}@{version.version}"
    unit.ledger.append("candidate", subject, root, 1, desk.clock())


def claim_of(desk: Desk, v: CandidateVersion) -> Claim:
    """The claim a version makes."""
    name = claims.claim_of(desk, v.statement)
    return Claim(name, v.key, v.scope, CANDIDATE, v.id, v.statement)


def attention(desk: Desk, v: CandidateVersion) -> Attention:
    """What a list must mark: a block, or something to look at before accepting (spec 4.3, 4.4)."""
    if any(h.gate is HazardGate.BLOCK for h in v.hazards):
        return Attention.BLOCKED
    return Attention.LOOK if v.hazards or sources_missing(desk, v) else Attention.NONE


def sources_missing(desk: Desk, v: CandidateVersion) -> int:
    """How many independent sources a procedure still lacks: two sessions, or two messages outside
    any session, are independent (spec 4.4)."""
    if v.kind is not CandidateKind.PROCEDURE:
        return 0
    places = {(s.session, s.event if s.session == "" else "") for s in v.sources}
    return max(0, desk.policy.policy.procedure_sources - len(places))


def regroup(unit: Writer, key: str, scope: str) -> None:
    """Put every candidate that speaks under a key into the lane its relations call for.

    What a rule file says already is out of the way, unless it contradicts what stands elsewhere.
    """
    said = unit.claims.same_key(key, scope, "", _SPEAKING)
    speaking = unit.candidates.speaking(key, scope)
    names = list({c.claim for c in speaking})
    likeness = unit.claims.likeness(names)
    ruled = unit.claims.ruled(names, scope)
    for c in speaking:
        against = [
            x.layer
            for x in said
            if x.ref != c.id and claims.contradicts(c.claim, x.claim, likeness)
        ]
        stands = any(layer != CANDIDATE for layer in against)
        out_of_the_way = c.claim in ruled and not stands
        lane = lane_of(c.method, c.author, conflict=bool(against), ruled=out_of_the_way)
        if lane != c.lane:
            unit.candidates.move(c.id, lane)


def propose(
    desk: Desk,
    *,
    text: str,
    kind: CandidateKind,
    key: str | None,
    sources: list[str],
    scope: str = "project",
    classification: Classification | None = None,
) -> CandidateVersion:
    """Propose a statement with its sources; the answer is a pending version, never more.

    Raises Refused `candidate.statement-empty`, `candidate.quote-missing`, `span.outside-text`;
    NotFound for locators.
    """
    statement = clean_statement(text)
    if not sources:
        raise Refused("candidate.quote-missing", "A candidate needs at least one source.")
    with desk.store.write() as unit:
        events = [find(unit, s) for s in sources]
        found = tuple(source_of(event, locator.span) for event, locator in events)
        author = events[0][0].author.value
        proposal = Proposal(
            statement=statement,
            kind=kind,
            key=(key or claims.key_of(screening.mask(statement))).strip()[:120],
            scope=scope,
            sources=found,
            method=EXPLICIT,
            author=author if _says(found, statement) else Author.UNKNOWN.value,
            classification=classification,
        )
        version, _new = add(desk, unit, proposal)
    return version


def _says(sources: tuple[Source, ...], statement: str) -> bool:
    """True when the first source holds the statement's words, so its author said them."""
    return claims.normalised(statement) in claims.normalised(sources[0].quote)
