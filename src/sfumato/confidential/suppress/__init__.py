"""Suppression of cells: primary rules, secondary suppression, and the pattern that they make."""

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.pattern import Effort, Pattern
from sfumato.confidential.suppress.primary import Needs, PrimaryRules, needs
from sfumato.confidential.suppress.protect import Prior, protect

__all__ = ["Contributions", "Effort", "Needs", "Pattern", "PrimaryRules", "Prior", "needs", "protect"]
