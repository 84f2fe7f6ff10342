"""Raking: multiply the cells of each control table in turn to its controls, until all are met.

With one table it is post-stratification, done in one go. Noisy controls of several tables are reconciled first, as
independently noised margins are not those of any cube. Cells may be negative, so there is no theorem that it ends:
where it does not, that is said and no cells are given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from sfumato.calibrate.layout import CubeLayout, layout_of
from sfumato.calibrate.step import Diverged, Problem, Step
from sfumato.errors import PlanError
from sfumato.kernels.choose import compiled
from sfumato.kernels.rake import Factors
from sfumato.release import Cube, Earlier, Product, Raked, Varying
from sfumato.release.noisy import Floats
from sfumato.release.products.product import PUBLISHED
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.normal import DENSE
from sfumato.release.uncertainties.raked import reconciler
from sfumato.schema import Table


@dataclass(frozen=True)
class Rake(Step):
    """The cube scaled to its controls; at most `cycles` rounds over the tables, to a tolerance in cube steps."""

    kind: ClassVar[str] = "rake"
    relative: ClassVar[bool] = True
    name: str
    table: str
    to: tuple[str, ...]
    cycles: int = 50
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", float(self.tolerance))

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        super().refuse_unfit(table, controls)
        size = sum(control.size for control in controls)
        if len(controls) > 1 and size > DENSE:
            raise PlanError(
                f"Step '{self.name}' rakes to {size:,} control cells in several tables, more than {DENSE:,}; "
                "rake to one table, or use least-squares."
            )

    def apply(self, products: Mapping[str, Product]) -> Cube | Diverged:
        problem = Problem.of(self, products)
        problem.refuse_contradictions(self, products)
        aims = reconciler(problem.margins, problem.noise)(problem.aims)
        largest = max(1.0, float(np.abs(problem.aims).max()))
        # What a step made is in far finer steps than were measured, below what doubles of such totals tell apart.
        tolerance = self.tolerance if problem.cube.even is not None else max(self.tolerance, 1e-12 * largest)
        layout = _layout(problem.margins)
        laid = layout.laid(problem.cells)
        found = _factors(layout, laid, aims, self.cycles, tolerance)
        if not found.missed <= tolerance:
            return Diverged(self.name, f"raking did not converge in {self.cycles} cycles; least-squares always does")
        before, weights = problem.before, problem.cube.errors.weights
        if any(products[name].subject.mechanism == PUBLISHED for name in self.to):
            # Factors are far from 1 where totals are of a population and cells of a sample.
            by = layout.scaled(np.ones_like(laid), found.first, found.second)
            stated = problem.cube.uncertainty
            before = Earlier(stated, problem.cells, by) if weights is None else Varying(weights[0] * weights[1] * by**2)
        return problem.product(self.name, layout.scaled(laid, found.first, found.second), Raked, before)


def raked(margins: Margins, cells: Floats, aims: Floats, cycles: int, tolerance: float) -> tuple[Floats, float]:
    """The raked cells and the largest control missed, infinite where a margin of 0 should become something else."""
    layout = _layout(margins)
    laid = layout.laid(cells)
    found = _factors(layout, laid, aims, cycles, tolerance)
    return layout.scaled(laid, found.first, found.second), found.missed


def _factors(layout: CubeLayout, laid: Floats, aims: Floats, cycles: int, tolerance: float) -> Factors:
    first, second = layout.sides(np.ascontiguousarray(aims, dtype=np.float64))
    found: Factors = compiled("rake").rake(layout.summed(laid), first, second, cycles, tolerance)
    return found


@lru_cache(maxsize=4)
def _layout(margins: Margins) -> CubeLayout:
    return layout_of(margins.domain.shape, tuple(margins.facets))


EXAMPLE = Rake("raked", "cube", ("margin",))
