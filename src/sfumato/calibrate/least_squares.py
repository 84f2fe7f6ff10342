"""Least squares: X + V A'(A V A' + V_c)⁺ (t − A X), the best linear unbiased use of noisy controls.

It always exists, is linear, stays unbiased, and its variance is closed form; it never raises the variance of a total.
Controls each of which is a sum of the next make a tree, and are met in two passes over it; others through one matrix,
or by iteration where that would be too large (`release.uncertainties.normal`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sfumato.calibrate.step import Diverged, Problem, Step
from sfumato.release import Calibrated, Cube, Product
from sfumato.release.uncertainties.calibrated import Calibration


@dataclass(frozen=True)
class LeastSquares(Step):
    """The cube moved to its controls as far as both errors say."""

    kind: ClassVar[str] = "least-squares"
    name: str
    table: str
    to: tuple[str, ...]

    def apply(self, products: Mapping[str, Product]) -> Cube | Diverged:
        problem = Problem.of(self, products)
        problem.refuse_contradictions(self.name)
        margins, base, noise = problem.margins, problem.cube.errors, problem.noise
        gap = problem.aims - margins.of(problem.cells)
        pull = Calibration(base, margins, noise, problem.cube.values).solve(gap)
        cells = problem.cells + base.times(margins.spread(pull))
        return problem.product(self.name, cells, Calibrated, problem.before)


EXAMPLE = LeastSquares("calibrated", "cube", ("margin",))
