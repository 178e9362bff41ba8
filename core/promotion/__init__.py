"""Promotion: the only way into durable memory (spec 5)."""

import core.evidence.intake
import core.evidence.revoke  # noqa: F401  (register their handlers: they are confirmed here too)
from core.operations.envelope import HANDLERS, SEVERAL
from core.operations.together import Together
from core.promotion.consumers.line_memory import LineMemory
from core.promotion.consumers.wiki import Wiki

ACTION = "promote"

HANDLERS[ACTION, "line-memory"] = LineMemory()
HANDLERS[ACTION, "wiki"] = Wiki()
HANDLERS[ACTION, SEVERAL] = Together(ACTION)
