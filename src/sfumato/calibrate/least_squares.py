"""Least squares: X + V A'(A V A' + V_c)⁺ (t − A X), the best linear unbiased use of noisy controls.

It always exists, is linear, stays unbiased, and its variance is closed form; it never raises the variance of a total.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from sfumato.calibrate.step import Diverged, Problem, Step, finer_by, scaled
from sfumato.release import Calibrated, Cube, Product
from sfumato.release.calibrated import noise_of, system


@dataclass(frozen=True)
class LeastSquares(Step):
    """The cube moved to its controls as far as both errors say."""

    kind: ClassVar[str] = "least-squares"
    name: str
    table: str
    to: tuple[str, ...]

    def apply(self, products: Mapping[str, Product]) -> Cube | Diverged:
        problem = Problem.of(self, products)
        noise = noise_of(problem.margins, problem.controls)
        gap = problem.aims - problem.margins.of(problem.cells)
        pull = system(problem.margins, problem.variance, noise)(gap)
        cells = problem.cells + problem.variance * problem.margins.spread(pull)
        finer = finer_by(cells)
        controls = tuple(replace(one, variance=scaled(one.variance, finer)) for one in problem.controls)
        uncertainty = Calibrated(problem.cube.table, scaled(problem.variance, finer), controls)
        return problem.product(self.name, cells, uncertainty, finer)


EXAMPLE = LeastSquares("calibrated", "cube", ("margin",))
