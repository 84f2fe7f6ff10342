"""Suppression of cells: primary rules, secondary suppression, and the pattern that they make."""

from sfumato.confidential.suppress.best import Best
from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.pattern import Pattern, Work
from sfumato.confidential.suppress.primary import Needs, PrimaryRules, needs
from sfumato.confidential.suppress.protect import protect
from sfumato.confidential.suppress.protection import Prior
from sfumato.confidential.suppress.records import RecordsDecision, decide_by_records, refuse_unplaced
from sfumato.confidential.suppress.together import protect_together

__all__ = [
    "Best",
    "Contributions",
    "Needs",
    "Pattern",
    "PrimaryRules",
    "Prior",
    "RecordsDecision",
    "Work",
    "decide_by_records",
    "needs",
    "protect",
    "protect_together",
    "refuse_unplaced",
]
