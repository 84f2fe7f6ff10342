"""Calibrated: least squares with noisy controls, f'Vg − b_f' G⁺ b_g, where b = A V f and G = A V A' + V_c."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.controls import Asked, Control, Controlled, Moved, Sums
from sfumato.release.uncertainties.independent import Independent
from sfumato.release.uncertainties.normal import Normal, Solve, inverted
from sfumato.schema import Box, Level


@dataclass(frozen=True, eq=False)
class Calibration(Moved):
    """Errors after least squares: a box pulls by G⁺ b, so that nothing of what it takes is left."""

    @cached_property
    def solve(self) -> Solve:
        """Solutions of G."""
        if self.base.weights is None:
            return inverted(self.between_controls, self.noise)
        cells, scale = self.base.weights
        return Normal(self.margins, cells, self.noise, scale).solve

    def asked(self, sums: Sums, boxes: Callable[[], Sequence[Box]]) -> Asked:
        takes = self.taken(sums, boxes)
        return Asked(takes, self.solve(takes))

    def times(self, cells: Floats) -> Floats:
        pulls = self.solve(self.margins.of(self.base.times(cells)))
        return self.base.times(cells - self.margins.spread(pulls))


@dataclass(frozen=True)
class Calibrated(Controlled):
    """The cells were moved to controls as far as both errors say."""

    kind: ClassVar[str] = "calibrated"
    errors: ClassVar[type[Moved]] = Calibration


EXAMPLE = Calibrated(Independent(2.0), (Control((Level("a"),), 1.0), Control((Level("b", 0),), 0.5)))
