"""Screening: secrets, instruction-like text, unsafe characters, personal data, locators (spec 4.3).

Findings are hazards with a gate: `block` until a clean version exists, or `acknowledge` in the
decision. In retrieval the same findings are labels only.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from core.safe_text import hidden
from schemas.candidates import Hazard, HazardGate
from schemas.common import Classification

MASK = "••••••••"

_TOKEN = r"(?<![A-Za-z0-9_\-])"
_SECRET_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    *tuple(
        (anchors, re.compile(_TOKEN + shape))
        for anchors, shape in (
            (
                ("akia", "asia", "agpa", "aida", "aroa"),
                r"(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{16}(?![0-9A-Z])",
            ),
            (("gho_", "ghp_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9_]{20,}"),
            (("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}"),
            (("glpat-",), r"glpat-[A-Za-z0-9_\-]{16,}"),
            (("xox",), r"xox[abeprs]-[A-Za-z0-9\-]{10,}"),
            (("k_live_", "k_test_"), r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{8,}"),
            (("sk-",), r"sk-(?=[a-z_\-]*[A-Z0-9])(?:proj-|ant-|or-)?[A-Za-z0-9_\-]{16,}"),
            (("aiza",), r"AIza[0-9A-Za-z_\-]{30,}"),
            (("ya29.",), r"ya29\.[0-9A-Za-z_\-]{20,}"),
            (("npm_",), r"npm_[A-Za-z0-9]{30,}"),
            (("pypi-",), r"pypi-[A-Za-z0-9_\-]{20,}"),
            (("hf_",), r"hf_[A-Za-z0-9]{20,}"),
            (("dop_v1_",), r"dop_v1_[a-f0-9]{40,}"),
            (("sg.",), r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
            (("shp",), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}"),
            (("eyj",), r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*"),
            (("whsec_",), r"whsec_[A-Za-z0-9]{16,}"),
            (
                ("accountkey=", "sharedaccesssignature="),
                r"(?:AccountKey|SharedAccessSignature)=[A-Za-z0-9+/=%&\-]{20,}",
            ),
        )
    ),
    (
        ("private key",),
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
            r"(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
    ),
    (
        ("authorization: ",),
        re.compile(r"(?i)(?<=authorization: )(?:bearer|basic) +[A-Za-z0-9+/_.=\-]{8,}"),
    ),
    (("bearer ",), re.compile(r"(?i)(?<=bearer )[A-Za-z0-9+/_.=\-]{20,}")),
    (("://",), re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)")),
)
"""Shapes of credentials, each with what its folded text must hold for it to be looked for."""
_KEYWORD = re.compile(
    "password|passwd|passphrase|secret|api|access|auth|token|private|pin|credential"
)
_KEYWORD_VALUE = re.compile(
    # No prefix is consumed: a run of words before the keyword would be tried from each of them.
    r"(?i)(?<![a-z0-9])"
    r"(?:password|passwd|passphrase|secret(?:[_\- ]?(?:access[_\- ]?)?key)?|api[_\- ]?key|"
    r"access[_\- ]?key|access[_\- ]?token|auth[_\- ]?token|token|private[_\- ]?key|pin|credentials?)"
    r"\s*(?:=|:|(?:\b(?:is|was)\s+)?\bset to\b|\bis\b|\bwas\b)\s*"
    r"[\"'`]?(?P<value>[^\s\"'`,;]{4,})"
)
_ASSIGNED = re.compile(
    r"(?i)(?:passw(?:or)?d|pwd|passphrase|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key)[\"'`]?"
    r"\s*(?::?=(?![=>~])|:(?=\s*[\"'`]))\s*[\"'`]?(?P<value>[^\s\"'`,;&]{4,})"
)
"""A value given to a name: `password=swordfish`, `"secret": "swordfish"`; plain words count."""
_GIVEN_NAME = re.compile("passw|pwd|passphrase|secret|api")
"""What a folded text holds that gives one."""
_STATED = re.compile(
    r"(?im)(?<![a-z0-9])(?:passw(?:or)?d|passphrase)\s*:\s*(?P<value>[^\s\"'`,;]{4,})\s*$"
)
"""`password: swordfish` with nothing after it."""
_NO_VALUE = re.compile(
    r"(?i)^(?:any|argument|blank|bool|boolean|boolfield|bytes|changed|changeme|char|charfield|config|"
    r"default|disabled|done|dummy|empty|enabled|encrypted|enter|example|expired|expression|failed|"
    r"field|form|hash|hashed|here|hidden|incorrect|input|invalid|literal|masked|missing|never|"
    r"none|null|object|optional|option|param|placeholder|plain|plaintext|prompt|raw|redacted|"
    r"required|reset|rotated|same|self|sensitive|show|something|static|stored|string|text|"
    r"undefined|unknown|unset|updated|user|value|varchar|weak|wrong|your)$"
)
"""What stands after such a name in code and prose without being its value: types, states, examples."""
_EXPRESSION = re.compile(
    r"[(\[{]|^\w+(?:\.\w+)+$|^(?:my|your|the)[_-]|passw|secret|token|credential|_key|pwd", re.I
)
_PUBLIC_PREFIX = re.compile(r"(?:[a-z]{2,4}_(?:live|test)_|gh[pousr]_|sk-)")
_PLAIN_WORD = re.compile(r"^[A-Za-z]+(?:[-_/][A-Za-z]+)*[.!?:]?$")
_PLACEHOLDER = re.compile(
    r"^(?:[<\[{$%].*|x{3,}|\*{3,}|•+|\.{3,}|…|redacted|none|null|true|false)\W*$", re.I
)
_MEASURE = re.compile(r"^(?:v?\d+(?:\.\d+)+|\d{1,4}-?[a-z]+)$")
"""A version number or a duration: "pin: 3.11.4", "token: 15-minute lifetime"."""
_PATHLIKE = re.compile(r"^(?:[A-Za-z]:\\|~?/|\.{1,2}/|https?://)[\w./\\:\-]*$")

_INSTRUCTION = tuple(
    re.compile(p, re.I)
    for p in (
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|polic(?:y|ies)|rules?|guidelines?)\b",
        r"\b(?:system|developer)\s+(?:message|instructions?|prompt)\b",
        r"\b(?:you are now|act as|pretend to be|from now on you)\b",
        r"\b(?:execute|invoke|run|eval|curl|wget)\b.{0,30}(?:\b(?:tools?|commands?|shell|scripts?|bash)\b|\.sh\b|https?://|\|\s*(?:ba)?sh\b)",
        r"<\/?(?:system|assistant|user|instructions?|tool_(?:call|result))\b",
        r"\b(?:do not|don't|never)\s+(?:tell|inform|alert|mention|reveal)\b"
        r".{0,30}\b(?:user|owner|human|anyone)\b",
        r"\b(?:exfiltrate|send|post|upload)\b.{0,40}(?:\b(?:secrets?|credentials?|tokens?|keys?)\b|(?<=\s)\.env\b)",
    )
)
_PERSONAL = (
    re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"(?<![\w.])\+\d{1,3}[ \-/]?(?:\(?\d{1,4}\)?[ \-/]?){2,5}\d{2,4}(?!\w)"),
    re.compile(r"(?<![\w.\-])0\d{2,4}[\-/ ]\d{3}[ \-]?\d{2}[ \-]?\d{2}(?!\w)"),
    re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"),
    re.compile(r"\b\d{3}-\d{2}-\d{4}\b"),
)
_CARD = re.compile(r"(?<![\w.])(?:\d[ -]?){13,19}(?!\w|\.\d)")
_OUTSIDE = (
    re.compile(r"(?<![\w./])/(?:home|Users|root|etc|var|private|srv|mnt|media)/[^\s,;:'\"`)]+"),
    re.compile(r"(?<!\w)[A-Za-z]:\\[^\s,;'\"`)]+"),
    re.compile(r"(?<![\w/])~/[^\s,;:'\"`)]+"),
    re.compile(r"(?<![\w/.])(?:\.\./)+[^\s,;:'\"`)]+"),
    re.compile(r"\bfile://[^\s'\"`)]+"),
)


@dataclass(frozen=True, slots=True)
class Screened:
    """What screening made of a text: the text with secrets masked, hazards, classification."""

    text: str
    hazards: tuple[Hazard, ...]
    classification: Classification

    @property
    def blocked(self) -> tuple[str, ...]:
        """Codes that block acceptance."""
        return tuple(h.code for h in self.hazards if h.gate is HazardGate.BLOCK)


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of credentials in `text`, merged and in order."""
    folded = text.casefold()
    spans = [
        m.span()
        for anchors, shape in _SECRET_SHAPES
        if any(a in folded for a in anchors)
        for m in shape.finditer(text)
    ]
    spans += [m.span("value") for m in _keyword_values(text, folded) if _secret_value(m["value"])]
    if _GIVEN_NAME.search(folded):
        for given in (_ASSIGNED, _STATED):
            spans += [m.span("value") for m in given.finditer(text) if _assigned_value(m["value"])]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _keyword_values(text: str, folded: str) -> Iterator[re.Match[str]]:
    """What follows credential words; looked at only where such a word stands."""
    if len(folded) != len(text):
        yield from _KEYWORD_VALUE.finditer(text)
        return
    end = 0
    for word in _KEYWORD.finditer(folded):
        if word.start() >= end and (found := _KEYWORD_VALUE.match(text, word.start())):
            end = found.end()
            yield found


def _secret_value(value: str) -> bool:
    """True for a value after a credential word that is no plain word, path or placeholder."""
    bare = value.rstrip(".,;:!?)")
    if len(bare) < 4 or MASK in value:
        return False
    if _PLACEHOLDER.match(bare) or _PATHLIKE.match(bare) or _MEASURE.match(bare):
        return False
    if _PLAIN_WORD.match(bare):
        return len(bare) >= 12 and _entropy(bare) > 3.6 and not bare.islower()
    return any(c.isdigit() for c in bare) or any(c in "!@#$%^&*+/=" for c in bare)


def _assigned_value(value: str) -> bool:
    """True for what is assigned to a password's name, unless it only stands for a value."""
    bare = value.rstrip(".,;:!?)}]")
    if len(bare) < 4 or MASK in value or _NO_VALUE.match(bare) or bare.isupper():
        return False
    return not (_PLACEHOLDER.match(bare) or _PATHLIKE.match(bare) or _EXPRESSION.search(bare))


def _entropy(text: str) -> float:
    counts = {c: text.count(c) for c in set(text)}
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


def mask(text: str) -> str:
    """`text` with every credential replaced by a mask that keeps its public prefix."""
    return _masked(text)[0]


def _masked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """`text` with credentials masked, and where the masks stand in it."""
    out: list[str] = []
    marks: list[tuple[int, int]] = []
    at = size = 0
    for start, end in secret_spans(text):
        prefix = _PUBLIC_PREFIX.match(text, start, end)
        pieces = (text[at:start], (prefix[0] if prefix else "") + MASK)
        out += pieces
        size += len(pieces[0]) + len(pieces[1])
        marks.append((size - len(pieces[1]), size))
        at = end
    return "".join([*out, text[at:]]), marks


def instruction_like(text: str) -> bool:
    """True when the text addresses an agent instead of stating something."""
    folded = unicodedata.normalize("NFKC", text)
    return any(p.search(folded) for p in _INSTRUCTION)


def unsafe_spans(text: str) -> Iterator[tuple[int, int]]:
    """Character spans that act, hide, come from a look-alike script, or stand for lost bytes."""
    for i, char in enumerate(text):
        if char == "\ufffd":
            yield i, i + 1
        if hidden(char) and char not in "\n\t" and not _harmless_joiner(text, i):
            yield i, i + 1
    for word in re.finditer(r"[^\W\d_]{2,}", text):
        scripts = {_script(c) for c in word[0]} - {""}
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
            yield word.span()


def _harmless_joiner(text: str, i: int) -> bool:
    """Emoji selectors and joiners between symbols are how emoji are written, not hiding places."""
    if text[i] not in "\ufe0f\u200d" or i == 0:
        return False
    before = text[i - 1]
    return unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f"


def _script(char: str) -> str:
    name = unicodedata.name(char, "")
    return name.split(" ", 1)[0] if name.split(" ", 1)[0] in ("LATIN", "CYRILLIC", "GREEK") else ""


def _luhn(digits: str) -> bool:
    total = 0
    for i, d in enumerate(reversed(digits)):
        n = int(d) * (2 if i % 2 else 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def _personal(text: str) -> bool:
    if any(p.search(text) for p in _PERSONAL):
        return True
    return any(_luhn(re.sub(r"\D", "", m[0])) for m in _CARD.finditer(text))


def screen(text: str, *, owner: bool, limit: int) -> Screened:
    """Screen a statement; `owner` says whether the words are the owner's own, `limit` is bytes.

    Spans lie in the text as it is answered. A mask that stands in `text` already is as good as
    the secret it hides: cutting or rewording around it makes no clean version.
    """
    hazards: list[Hazard] = []
    shown, masks = _masked(text)
    masks = masks or [m.span() for m in re.finditer(MASK, text)]

    def found(code: str, gate: HazardGate, span: tuple[int, int] | None = None) -> None:
        start, end = (_byte_span(shown, span)) if span else (None, None)
        hazards.append(Hazard(code=code, gate=gate, start=start, end=end))

    for span in masks[:1]:
        found("hazard.secret", HazardGate.BLOCK, span)
    for span in list(unsafe_spans(shown))[:1]:
        found("hazard.unsafe-characters", HazardGate.BLOCK, span)
    if not owner and instruction_like(text):
        found("hazard.instruction", HazardGate.BLOCK)
    if any(p.search(text) for p in _OUTSIDE):
        found("hazard.outside-locator", HazardGate.BLOCK)
    if _personal(text):
        found("hazard.personal-data", HazardGate.ACKNOWLEDGE)
    if len(shown.encode()) > limit:
        found("hazard.too-long", HazardGate.ACKNOWLEDGE)
    level = Classification.SECRET if masks else Classification.INTERNAL
    return Screened(shown, tuple(hazards), level)


def _byte_span(text: str, span: tuple[int, int]) -> tuple[int, int]:
    start = len(text[: span[0]].encode())
    return start, start + len(text[span[0] : span[1]].encode())
