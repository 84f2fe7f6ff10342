"""Steps: what each of them reads, in their order; a table that an earlier one made is read as a measured one is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sfumato.calibrate import Step
from sfumato.calibrate.contradictions import CORRECT, common_step, contradict, refuse_contradicting, same_noise
from sfumato.calibrate.step import ControlAhead, variances
from sfumato.errors import PlanError, nearest
from sfumato.plan.control import MOST_STEPS
from sfumato.plan.coverage import Coverage
from sfumato.plan.measure import Measure
from sfumato.release import Control, Cube, Tables
from sfumato.release.uncertainties.controls import noise_of
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.normal import DENSE
from sfumato.schema import Family, Table
from sfumato.schema.level import lacking


@dataclass(frozen=True)
class Origin:
    """What a step may read: the measure that it began as, its cells, and whose noise is in them."""

    measure: Measure
    table: Table | None
    statistic: tuple[object, ...]
    noise: frozenset[str]
    apart: bool = True
    """Whether every cell has noise of its own."""
    steps: tuple[str, ...] = ()
    published: tuple[Cube | Tables, ...] = ()
    """The totals published before that it is, or was moved to."""
    relative: bool = False
    """Whether its errors follow the sizes of its cells."""
    family: Family | None = None
    """The tables that it is of, where it is of several."""
    biased: str = ""
    """The step since which its totals are biased, if one made them so."""
    additive: bool = True
    """Whether its cells may be summed."""

    def after(self, step: Step, controls: list["Origin"]) -> "Origin":
        """What a step makes of it."""
        return replace(
            self,
            table=self.table and step.makes(self.table),
            statistic=(*self.statistic, step.name) if step.apart else self.statistic,
            noise=self.noise.union(*(one.noise for one in controls)),
            apart=step.apart,
            steps=(*self.steps, step.name),
            relative=self.relative or step.relative,
            biased=step.name if step.bias else self.biased,
            additive=self.additive and step.additive,
            published=(*self.published, *(told for one in controls for told in one.published)),
        )


@dataclass(frozen=True)
class StepReading:
    """A step, its table and its controls, found among what stands before it."""

    step: Step
    table: Origin
    controls: Mapping[str, Origin]

    @classmethod
    def of(cls, step: Step, before: Mapping[str, Origin], later: list[str]) -> "StepReading":
        for name in step.reads:
            if name in later:
                raise PlanError(
                    f"Step '{step.name}' reads '{name}', which stands later; a step reads what is above it."
                )
            if name not in before:
                hint = nearest(name, list(before))
                raise PlanError(f"Step '{step.name}' reads '{name}', which this plan does not make; {hint}")
        return cls(step, before[step.table], {name: before[name] for name in step.to})

    def refuse_unfit(self, over: Coverage) -> None:
        """What a step cannot do with what it moves, and with its controls."""
        tables = [one.table for one in self.controls.values() if one.table]
        if self.table.family is None:
            over.refuse_step(self.step, self.table.measure, self.table.table, tables)
            return
        ahead = [
            ControlAhead(name, domain, not one.noise, one.published)
            for name, one in self.controls.items()
            if (domain := one.table or one.family)
        ]
        self.step.refuse_family(self.table.family, ahead)

    def _refusal(self, why: str) -> PlanError:
        return PlanError(f"Step '{self.step.name}'{why}")

    @property
    def made(self) -> Origin:
        return self.table.after(self.step, list(self.controls.values()))

    def refuse_twice(self, others: list["StepReading"]) -> None:
        """One question has one answer: what two steps read is read by one of them in what the other made."""
        for other in others:
            if self.step.beside or other.step.beside:
                continue
            if set(other.step.reads) & set(self.step.reads) and other.step.name not in self.table.steps:
                raise PlanError(
                    f"Steps '{self.step.name}' and '{other.step.name}' read the same measure; one question, one "
                    "answer. Let one of them read what the other makes."
                )

    def refuse_unlike(self) -> None:
        """Controls are of the same statistic and universe as the table, margins of it, and share no noise with it."""
        if not self.table.additive:
            raise self._refusal(f": the cells of '{self.step.table}' do not add up, so no totals bind them.")
        if twice := sorted(name for name in self.step.to if self.step.to.count(name) > 1):
            raise self._refusal(f" names '{twice[0]}' twice, whose noise would be counted as new; name it once.")
        for name, control in self.controls.items():
            if control.statistic != self.table.statistic:
                raise self._refusal(f": '{name}' is not of the same statistic as '{self.step.table}'.")
            coarse, fine = control.table, self.table.table
            if control.family and fine:
                raise self._refusal(
                    f": '{name}' is a family of tables, which '{self.step.table}' cannot be moved to; let the step "
                    f"move '{name}' to '{self.step.table}', or measure '{self.step.table}' as a family."
                )
            if missed := lacking(coarse.by, fine.by) if coarse and fine else ():
                raise self._refusal(f": '{self.step.table}' lacks {', '.join(map(str, missed))} of '{name}'.")
            if shared := sorted(control.noise & self.table.noise):
                raise self._refusal(
                    f": the noise of '{shared[0]}' is in '{self.step.table}' already, so '{name}' would be counted as "
                    "new; calibrate to it once."
                )

    def refuse_shared(self) -> None:
        """Controls share no noise with each other: of tables published before, that is seen where they agree in all."""
        for (name, one), (other_name, other) in combinations(self.controls.items(), 2):
            if shared := sorted(one.noise & other.noise):
                raise self._refusal(
                    f": the noise of '{shared[0]}' is in '{name}' and in '{other_name}', and would be counted as new "
                    "in one of them; name one."
                )
        for first, second in combinations(self.made.published, 2):
            if same_noise(first, second):
                raise self._refusal(
                    f": '{first.subject.name}' and '{second.subject.name}' have errors and agree to the last digit "
                    "that both have in all that both tell apart: they have the same noise, which would be counted as "
                    "new in one of them. "
                    "Name the finer one alone; where both are exact, leave out their standard errors."
                )

    def refuse_biased(self) -> None:
        """What is biased is read by no further step; and only what is never truly below 0 is held above it."""
        for name, one in {self.step.table: self.table, **self.controls}.items():
            if one.biased:
                raise self._refusal(
                    f" reads '{name}', whose totals are biased since '{one.biased}', which no later step could tell "
                    "from noise; let that be the last one."
                )
        row = self.table.measure.of.contribution
        if self.step.unweighted and self.table.measure.of.weighted:
            raise self._refusal(
                f" takes numbers of records as they are, and '{self.step.table}' is weighted; name a measure with "
                "weighted = false."
            )
        if self.step.of_counts and row.column is not None:
            raise self._refusal(f" makes records of counts, and '{self.step.table}' sums {row.column}; name a count.")
        if self.step.bias and row.power != 2 and (row.low is None or row.low < 0):
            raise self._refusal(
                f": what '{self.step.table}' sums may truly be below 0, as its clip says, so such cells stay."
            )

    def refuse_mixed(self) -> None:
        """Where noise has to be apart in every cell, what shares it is refused before anything is charged."""
        sources = {self.step.table: self.table, **self.controls}
        rows = self.table.table is None and self.table.family is None
        for name in self.step.reads if self.step.apart or rows else self.step.to:
            if not sources[name].apart:
                since = sources[name].steps[-1]
                raise self._refusal(f" reads '{name}', whose cells share noise since '{since}'; name a measure.")
        if self.table.relative and not self.step.relative and any(one.published for one in self.controls.values()):
            raise self._refusal(
                f" moves '{self.step.table}', which was raked, to published totals by weights "
                "that follow its noisy cells; times the gap to totals of any size, the noise of the weights is in no "
                "error that could be stated. Rake to these totals, or meet them in a step before the raking."
            )
        size = sum(one.table.size for one in self.controls.values() if one.table)
        if not self.table.apart and size > DENSE and self.table.table is not None:
            raise self._refusal(
                f" moves '{self.step.table}', which a step made, to {size:,} control cells, more than {DENSE:,}; name "
                "all controls in one step."
            )

    def refuse_contradictions(self) -> None:
        """Published totals are public, so whether any table has them all is known before anything is charged."""
        published, table = self.made.published, self.table.table
        refuse_contradicting(self.step.name, {one.subject.name: one for one in published})
        if self.table.family is not None:
            self._refuse_too_fine([one for one in published if one.even == 0])
        if table is None or len(published) < 2:
            return
        controls = [Control(one.domain.by, variances(one, self.step)) for one in published]
        names = {level.name for one in controls for level in one.by}
        whole = table.margin([level for level in table.by if level.name in names])
        margins = Margins(whole, tuple(one.by for one in controls))
        step = common_step(*(one.subject.step for one in published))
        aims = np.concatenate([one.values.ravel() * float(one.subject.step) for one in published])
        if contradict(margins, aims, noise_of(margins, controls) == 0, float(step)):
            listed = ", ".join(f"'{one.subject.name}'" for one in published)
            raise self._refusal(
                f": the published totals {listed} contradict each other, so no table meets them all. {CORRECT}"
            )

    def _refuse_too_fine(self, exact: list[Cube | Tables]) -> None:
        """Tables of a family that meet exact totals are whole numbers of a step of which all these are multiples."""
        common = common_step(self.table.measure.of.step, *(one.subject.step for one in exact))
        for one in exact:
            if int(np.abs(one.values).sum()) * one.subject.step >= MOST_STEPS * common:
                listed = ", ".join(f"'{each.subject.name}'" for each in exact)
                raise self._refusal(
                    f": the exact totals {listed} are multiples of no common step but one of {float(common):.2g}, in "
                    f"which those of '{one.subject.name}' have more digits than sums keep, 14; round them to fewer "
                    "decimals, or give them a standard_error."
                )
