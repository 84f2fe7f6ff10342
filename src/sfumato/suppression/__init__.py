"""What an attacker learns of suppressed cells: linked tables as one system of equations, and their audit."""

from sfumato.suppression.audit import CONFIDENTIAL, Disclosure, SuppressionAudit, audit
from sfumato.suppression.circles import circle
from sfumato.suppression.decision import ENOUGH, Required, decide, flagged
from sfumato.suppression.depths import Depths
from sfumato.suppression.equations import Equations, Flags, Floats, Integers, together
from sfumato.suppression.insiders import Insiders
from sfumato.suppression.linked_tables import LinkedTables
from sfumato.suppression.nesting import WHOLE, Nesting
from sfumato.suppression.program import TINY, Program, Solution
from sfumato.suppression.published import Published
from sfumato.suppression.whole_changes import WholeProgram, round_up

__all__ = [
    "CONFIDENTIAL", "ENOUGH", "TINY", "WHOLE", "Depths", "Disclosure", "Equations", "Flags", "Floats", "Insiders",
    "Integers", "LinkedTables", "Nesting", "Program", "Published", "Required", "Solution", "SuppressionAudit",
    "WholeProgram", "audit", "circle", "decide", "flagged", "round_up", "together",
]  # fmt: skip
