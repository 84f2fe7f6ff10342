"""Calibrated: least squares with noisy controls, f'Vg − b_f' G⁺ b_g, where b = A V f and G = A V A' + V_c."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.controls import Asked, Control, Controlled, Moved, Sums
from sfumato.release.uncertainties.independent import Independent
from sfumato.release.uncertainties.normal import Normal, Solve, inverted
from sfumato.release.uncertainties.repeated import Repeated, told_apart, without
from sfumato.release.uncertainties.uncertainty import Errors
from sfumato.schema import Box, Domain, Level, Table
from sfumato.schema.table import rules_of


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

    def over(self, domain: Domain, values: Integers) -> Errors:
        """The errors of all cells together, or, where controls leave attributes apart, of one combination of these."""
        moved = super().over(domain, values)
        if self.base.even is None or not isinstance(moved, Moved) or not isinstance(domain, Table):
            return moved
        names = told_apart(moved, self.controls)
        if not names:
            return moved
        apart, rest = (
            tuple(one for one in domain.attributes if (one.name in names) == inside) for inside in (True, False)
        )
        within = Table(rest, rules_of(domain.impossible, rest))
        once = Calibrated(self.base, tuple(without(control, names) for control in self.controls))
        return Repeated(
            once.over(within, np.zeros(within.shape, dtype=np.int64)),
            Table(apart, rules_of(domain.impossible, apart)),
            moved,
        )


EXAMPLE = Calibrated(Independent(2.0), (Control((Level("a"),), 1.0), Control((Level("b", 0),), 0.5)))
