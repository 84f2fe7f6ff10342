"""What an attacker learns of suppressed cells: linked tables as one system of equations, and their audit."""

from sfumato.suppression.audit import CONFIDENTIAL, Disclosure, SuppressionAudit, audit
from sfumato.suppression.linked import Equations, Flags, Floats, Integers, Linked
from sfumato.suppression.nesting import WHOLE, Nesting
from sfumato.suppression.program import Program, Solution
from sfumato.suppression.published import Published

__all__ = [
    "CONFIDENTIAL",
    "WHOLE",
    "Disclosure",
    "Equations",
    "Flags",
    "Floats",
    "Integers",
    "Linked",
    "Nesting",
    "Program",
    "Published",
    "Solution",
    "SuppressionAudit",
    "audit",
]  # fmt: skip
