"""Promotion: the only way into durable memory (spec 5)."""

from core.operations.envelope import HANDLERS
from core.promotion.consumers.line_memory import LineMemory
from core.promotion.consumers.wiki import Wiki

ACTION = "promote"

HANDLERS[ACTION, "line-memory"] = LineMemory()
HANDLERS[ACTION, "wiki"] = Wiki()
