"""Least squares: X + V A'(A V A' + V_c)⁺ (t − A X), the best linear unbiased use of noisy controls.

It always exists, is linear, stays unbiased, and its variance is closed form; it never raises the variance of a total.
Errors that follow the draws of their own numbers, as those in proportion, are taken at what a first pass makes of all.
Controls each of which is a sum of the next make a tree, and are met in two passes over it; others through one matrix,
or by iteration where that would be too large (`release.uncertainties.normal`). A family of tables is moved component by
component (`components`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.calibrate.components import moved_tables, refuse_family
from sfumato.calibrate.step import ControlAhead, Diverged, Problem, Step
from sfumato.release import Calibrated, Cube, Product, Tables
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.calibrated import Calibration
from sfumato.schema import Family


@dataclass(frozen=True)
class LeastSquares(Step):
    """The cube moved to its controls as far as both errors say."""

    kind: ClassVar[str] = "least-squares"
    name: str
    table: str
    to: tuple[str, ...]

    def refuse_family(self, family: Family, controls: Sequence[ControlAhead]) -> None:
        refuse_family(self, family, controls)

    def apply(self, products: Mapping[str, Product]) -> Cube | Tables | Diverged:
        if products[self.table].residuals is not None:
            return moved_tables(self, products)
        problem = Problem.of(self, products)
        problem.refuse_contradictions(self, products)
        cells = _moved(problem)
        if (again := problem.settled(self, products, cells)) is not None:
            problem, cells = again, _moved(again)
        return problem.product(self.name, cells, Calibrated, problem.before)


def _moved(problem: Problem) -> Floats:
    """The cells moved to their controls."""
    margins, base, noise = problem.margins, problem.cube.errors, problem.noise
    gap = problem.aims - margins.of(problem.cells)
    pull = Calibration(base, margins, noise, problem.cube.values).solve(gap)
    return np.asarray(problem.cells + base.times(margins.spread(pull)), dtype=np.float64)


EXAMPLE = LeastSquares("calibrated", "cube", ("margin",))
