"""Promotion: the only way into durable memory (spec 5)."""

import core.evidence.intake  # noqa: F401  (registers its handler: it is confirmed here as well)
from core.operations.envelope import HANDLERS
from core.promotion.consumers.line_memory import LineMemory
from core.promotion.consumers.wiki import Wiki

ACTION = "promote"

HANDLERS[ACTION, "line-memory"] = LineMemory()
HANDLERS[ACTION, "wiki"] = Wiki()
