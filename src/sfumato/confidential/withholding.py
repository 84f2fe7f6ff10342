"""Withholding: the tables of a measure of [suppress], protected by its rules, as a product with cells withheld."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from sfumato.confidential.account import Account
from sfumato.confidential.earlier_release import EarlierRelease
from sfumato.confidential.linked_system import LinkedSystem
from sfumato.confidential.public_bounds import prior_of, record_bounds, refuse_bounding, refuse_circle
from sfumato.confidential.published_before import Flags, PublishedBefore, joined, refuse_unlaid
from sfumato.confidential.sealed import Sealed
from sfumato.confidential.suppress import Contributions, Pattern, PrimaryRules, protect_together
from sfumato.confidential.suppress.secondary import Progress
from sfumato.confidential.tabulate import Tabulation
from sfumato.plan import Measure, Plan
from sfumato.plan.suppression_rules import SuppressionRules
from sfumato.plan.weighed import Weighed
from sfumato.privacy import Loss
from sfumato.release import Subject, Suppressed
from sfumato.schema import Family


@dataclass(frozen=True, eq=False, repr=False)
class WithheldCells(Sealed):
    """What a measure holds in every cell of its tables, which are withheld, and why: as confidential as the data."""

    measure: Measure
    system: LinkedSystem
    contributions: Contributions
    pattern: Pattern
    family: Family
    """The tables that are published: those of the system, or some of them."""

    def product(self, subject: Subject) -> Suppressed:
        """What may be published of it."""
        totals, hidden = np.rint(self.contributions.totals).astype(np.int64), self.pattern.suppressed
        own = LinkedSystem.of(self.family)
        places = self.system.of_others(own)
        return Suppressed.listed(subject, self.family, own.keys, totals[places], hidden[places])

    def words(self) -> str:
        """How much is withheld, for the agency."""
        pattern = self.pattern
        held = pattern.linked.size - pattern.count("empty")
        return (
            f"Cells of {self.measure.name} that are not empty: {held:,}; withheld: {int(pattern.suppressed.sum()):,}, "
            f"{pattern.share:.0%}: {pattern.count('primary'):,} by the rules and "
            f"{pattern.count('secondary'):,} to protect these (for the agency alone)."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Withholding(Sealed):
    """What a plan with [suppress] withholds, its tables protected as one with those published before."""

    plan: Plan
    before: tuple[PublishedBefore, ...] = ()

    @classmethod
    def of(cls, plan: Plan, beside: Sequence[Path] = ()) -> "Withholding":
        withholding = (folder for folder in beside if EarlierRelease.read(folder).withholds_cells)
        return cls(plan, tuple(map(PublishedBefore.read, withholding)))

    @cached_property
    def joint(self) -> Plan:
        """The plan that data are read by."""
        return joined(self.plan, self.before)

    def refuse_unlaid(self, account: Account, loss: Loss) -> None:
        """Stop where the ledger knows of a release of the same time that is not among those before."""
        refuse_unlaid(account, self.plan, loss, self.before)

    def cells(self, records: Tabulation, progress: Progress = lambda *_: None) -> dict[str, WithheldCells]:
        """The cells of every measure, protected by the rules; a pattern that fails the audit is never given."""
        refuse_bounding([*self.joint.measures, *(measure for one in self.before for measure in one.plan.measures)])
        universes: dict[str, list[Measure]] = {}
        for measure in self.joint.measures:
            universes.setdefault(repr(sorted(measure.where.items())), []).append(measure)
        found: dict[str, WithheldCells] = {}
        for measures in universes.values():
            found |= self._of_same(measures, records, progress)
        return {measure.name: found[measure.name] for measure in self.plan.measures}

    def _of_same(
        self, measures: Sequence[Measure], records: Tabulation, progress: Progress
    ) -> dict[str, WithheldCells]:
        """Those of measures of the same records, and so of the same contributors, which share a pattern."""
        domain, suppress = self.joint.over.domain(measures[0]), self.joint.suppress
        if suppress is None or not isinstance(domain, Family):
            raise TypeError(f"{measures[0].name} is not of the tables of [suppress].")
        system, rules = LinkedSystem.of(domain), suppress.decided()
        refuse_circle(system)
        contributions = [records.contributions(measure, system, suppress) for measure in measures]
        known = [self._known(measure, system, cells) for measure, cells in zip(measures, contributions, strict=True)]
        told = zip(measures, contributions, strict=True)
        patterns = protect_together(
            system.linked, contributions, [primary(rules, measure) for measure in measures], known,
            self._withheld(measures[0], system),
            [prior_of(self.joint, measure, system, cells) for measure, cells in told],
            cost=rules.cost, forced=[dict(one) for one in rules.forced],
            contributors=None if rules.contributors else False,  # else all whose parts are known by name
            progress=progress,
        )  # fmt: skip
        return {
            measure.name: WithheldCells(self.plan.measure(measure.name), system, cells, pattern, self._own(measure))
            for measure, cells, pattern in zip(measures, contributions, patterns, strict=True)
        }

    def _known(self, measure: Measure, system: LinkedSystem, cells: Contributions) -> Flags:
        found = np.zeros(system.linked.size, dtype=bool)
        for one in self.before:
            found |= one.known(measure, system, cells)
        return found

    def _withheld(self, measure: Measure, system: LinkedSystem) -> Flags:
        """Cells that were withheld of the same records, in whatever measure."""
        found = np.zeros(system.linked.size, dtype=bool)
        for one in self.before:
            found |= one.withheld(measure, system)
        return found

    def _own(self, measure: Measure) -> Family:
        """The tables of a measure that are published now."""
        family = self.plan.over.domain(self.plan.measure(measure.name))
        assert isinstance(family, Family)  # noqa: S101 - as all tables of [suppress] are
        return family


def _parts(measure: Measure) -> int:
    return measure.of.parts if isinstance(measure.of, Weighed) else 1


def primary(rules: SuppressionRules, measure: Measure) -> PrimaryRules:
    """The rules of a plan as those of cells in steps, or in so many parts of a step where rows are weighed."""
    record, _ = record_bounds(measure)
    return PrimaryRules(
        rules.minimum,
        rules.p,
        rules.dominance,
        rules.margin,
        float(_parts(measure)),
        max(record or 0.0, 0.0),
        rules.safe,
    )
