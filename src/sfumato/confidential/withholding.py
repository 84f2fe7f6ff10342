"""Withholding: the tables of a measure of [suppress], protected by its rules, as a product with cells withheld."""

from dataclasses import dataclass

import numpy as np

from sfumato.confidential.linked_system import LinkedSystem
from sfumato.confidential.sealed import Sealed
from sfumato.confidential.suppress import Contributions, Pattern, PrimaryRules, protect
from sfumato.confidential.suppress.secondary import Progress
from sfumato.confidential.tabulate import Tabulation
from sfumato.plan import Measure, Plan
from sfumato.plan.suppress import SuppressionRules
from sfumato.release import Subject, Suppressed
from sfumato.schema import Family


@dataclass(frozen=True, eq=False, repr=False)
class WithheldCells(Sealed):
    """What a measure holds in every cell of its tables, which are withheld, and why: as confidential as the data."""

    measure: Measure
    system: LinkedSystem
    contributions: Contributions
    pattern: Pattern

    def product(self, subject: Subject) -> Suppressed:
        """What may be published of it."""
        totals, hidden = np.rint(self.contributions.totals).astype(np.int64), self.pattern.suppressed
        return Suppressed.listed(subject, self.system.family, self.system.keys, totals, hidden)

    def words(self) -> str:
        """How much is withheld, for the agency."""
        pattern = self.pattern
        held = pattern.linked.size - pattern.count("empty")
        return (
            f"Of {held:,} cells of {self.measure.name} that are not empty {int(pattern.suppressed.sum()):,} are "
            f"withheld, {pattern.share:.0%}: {pattern.count('primary'):,} by the rules and "
            f"{pattern.count('secondary'):,} to protect these (for the agency alone)."
        )


def withheld(plan: Plan, measure: Measure, records: Tabulation, progress: Progress = lambda *_: None) -> WithheldCells:
    """The cells of a measure of [suppress], protected by its rules; a pattern that fails the audit is never given."""
    domain, suppress = plan.over.domain(measure), plan.suppress
    if suppress is None or not isinstance(domain, Family):
        raise TypeError(f"{measure.name} is not of the tables of [suppress].")
    system, rules = LinkedSystem.of(domain), suppress.decided()
    contributions = records.contributions(measure, system, suppress)
    forced = [dict(one) for one in rules.forced]
    whom = None if rules.contributors else False  # else all whose parts are known by name
    pattern = protect(
        system.linked, contributions, primary(rules),
        cost=rules.cost, forced=forced, contributors=whom, progress=progress,
    )  # fmt: skip
    return WithheldCells(measure, system, contributions, pattern)


def primary(rules: SuppressionRules) -> PrimaryRules:
    """The rules of a plan as those of cells in steps."""
    return PrimaryRules(rules.minimum, rules.p, rules.dominance, rules.margin, 1.0, rules.safe)
