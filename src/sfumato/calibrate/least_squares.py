"""Least squares: X + V A'(A V A' + V_c)⁺ (t − A X), the best linear unbiased use of noisy controls.

It always exists, is linear, stays unbiased, and its variance is closed form; it never raises the variance of a total.
Controls each of which is a sum of the next make a tree, and are met in two passes over it; others through one matrix,
or by iteration where that would be too large (`release.calibrated.system`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.calibrate.step import Diverged, Problem, Step, finer_by, scaled
from sfumato.errors import PlanError
from sfumato.release import Calibrated, Cube, Product
from sfumato.release.calibrated import noise_of, system
from sfumato.release.margins import Floats


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
        self._refuse_contradictions(problem, cells, noise)
        finer = finer_by(cells)
        controls = tuple(replace(one, variance=scaled(one.variance, finer)) for one in problem.controls)
        uncertainty = Calibrated(problem.cube.table, scaled(problem.variance, finer), controls)
        return problem.product(self.name, cells, uncertainty, finer)

    def _refuse_contradictions(self, problem: Problem, cells: Floats, noise: Floats) -> None:
        exact = noise == 0
        if not exact.any() or not problem.variance:
            return
        missed = np.abs(problem.margins.of(cells) - problem.aims)[exact].max()
        if missed > 1e-6 * max(1.0, float(np.abs(problem.aims).max())):
            raise PlanError(
                f"Step '{self.name}': its exact controls contradict each other, so no table meets them all."
            )


EXAMPLE = LeastSquares("calibrated", "cube", ("margin",))
