"""Promotion: the only way into durable memory (spec 5)."""

import core.evidence.intake
import core.evidence.revoke  # noqa: F401  (register their handlers: they are confirmed here too)
from core.operations.envelope import HANDLERS, SEVERAL
from core.operations.together import Together
from core.promotion.consumers.canonical_context import CanonicalContext
from core.promotion.consumers.line_memory import LineMemory
from core.promotion.consumers.wiki import Wiki
from core.promotion.context import IMPORT, INIT, Import, Init
from core.promotion.lifecycle import STATES, Lifecycle

ACTION = "promote"

HANDLERS[ACTION, SEVERAL] = Together(ACTION)
for _name, _consumer in (
    ("line-memory", LineMemory()),
    ("wiki", Wiki()),
    ("canonical-context", CanonicalContext()),
):
    HANDLERS[ACTION, _name] = _consumer
    for _action in STATES:
        HANDLERS[_action, _name] = Lifecycle(_action, _name, _consumer)
HANDLERS[INIT, "canonical-context"] = Init()
HANDLERS[IMPORT, "canonical-context"] = Import()
