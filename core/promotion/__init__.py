"""Promotion: the only way into durable memory (spec 5)."""

import core.evidence.intake
import core.evidence.revoke  # noqa: F401  (register their handlers: they are confirmed here too)
from core.operations.envelope import HANDLERS, SEVERAL
from core.operations.together import Together
from core.promotion.consumers.ending import Ends
from core.promotion.consumers.line_memory import LineMemory
from core.promotion.consumers.wiki import Wiki
from core.promotion.lifecycle import STATES, Lifecycle

ACTION = "promote"

HANDLERS[ACTION, "line-memory"] = LineMemory()
HANDLERS[ACTION, "wiki"] = Wiki()
HANDLERS[ACTION, SEVERAL] = Together(ACTION)
_ENDS: dict[str, Ends] = {"line-memory": LineMemory(), "wiki": Wiki()}
for _consumer, _at in _ENDS.items():
    for _action in STATES:
        HANDLERS[_action, _consumer] = Lifecycle(_action, _consumer, _at)
