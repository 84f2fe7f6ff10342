"""Weigh: noisy counts by stratum times the public weight of each stratum, added up over the strata.

Where every record of a stratum has the same weight, fixed by the design before anything was collected, a weighted total
is arithmetic on noisy counts: it costs nothing, needs no clip, and its error follows from the counts' own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import ClassVar

import numpy as np

from sfumato.calibrate.step import Diverged, Step, evenly, laid_out
from sfumato.errors import PlanError, nearest
from sfumato.privacy import Exact, positive
from sfumato.release import Cube, Independent, Product
from sfumato.release.weighting import UNSAMPLED, WEIGHT, title_before
from sfumato.schema import Table

LARGEST_FACTOR = 2**31
"""The most steps that a weight may have: a weighted sum over 2^31 records then fits 64 bits."""


@dataclass(frozen=True)
class Weigh(Step):
    """The counts of a table, weighted by the levels of one of its attributes and summed over it."""

    kind: ClassVar[str] = "weigh"
    apart: ClassVar[bool] = True
    unweighted: ClassVar[bool] = True
    name: str
    table: str
    by: str
    weights: Mapping[str, Exact]
    unit: str = ""
    title: str = ""
    to: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        exact = {str(level): positive(weight, f"the weight of '{level}'") for level, weight in self.weights.items()}
        object.__setattr__(self, "weights", exact)

    def makes(self, table: Table) -> Table:
        return table.margin([level for level in table.by if level.name != self.by])

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:  # noqa: ARG002 - it has no controls
        if self.by not in table.names:
            raise PlanError(
                f"Step '{self.name}': '{self.table}' is not by '{self.by}'; {nearest(self.by, table.names)}"
            )
        leaves = table.attribute(self.by).levels.leaves
        for level in leaves:
            if level not in self.weights:
                raise PlanError(f"Step '{self.name}' has no weight for '{level}' of {self.by}.")
        for level in self.weights:
            if level not in leaves:
                raise PlanError(
                    f"Step '{self.name}' weighs '{level}', no lowest level of {self.by}; {nearest(level, leaves)}"
                )
        if max(self._factors(leaves)[1]) > LARGEST_FACTOR:
            raise PlanError(
                f"Step '{self.name}': the weights have too many digits for their sums to stay whole in 64 bits; round "
                "them to a common step, for example to hundredths."
            )
        if any(self.by in dict(rule.where) for rule in table.impossible):
            raise PlanError(
                f"Step '{self.name}': a combination with {self.by} is impossible; weigh a table without such rules."
            )

    def _factors(self, leaves: Sequence[str]) -> tuple[Fraction, list[int]]:
        """The largest step that all weights are multiples of, and how many of it each is."""
        ordered = [Fraction(self.weights[level]) for level in leaves]
        common = Fraction(reduce(gcd, (one.numerator for one in ordered)), lcm(*(one.denominator for one in ordered)))
        return common, [int(one / common) for one in ordered]

    def apply(self, products: Mapping[str, Product]) -> Cube | Diverged:
        cube, table = laid_out(products[self.table], self)
        common, whole = self._factors(table.attribute(self.by).levels.leaves)
        factors = np.array(whole, dtype=np.int64)
        axis = table.names.index(self.by)
        values = np.moveaxis(cube.values, axis, -1) @ factors
        subject = replace(
            cube.subject,
            name=self.name,
            statistic="weighted count",
            title=self.title or f"Weighted {title_before(cube.subject.title).lower()}",
            weighting=WEIGHT if cube.subject.weighting else UNSAMPLED,
            unit=self.unit or cube.subject.unit,
            step=cube.subject.step * common,
        )
        variance = evenly(cube, self) * float(np.square(factors.astype(float)).sum())
        return Cube(subject, self.makes(table), values, Independent(variance))


EXAMPLE = Weigh("weighed", "cube", "a0", {"0": 1, "1": 2, "2": "2.5", "3": 4})
