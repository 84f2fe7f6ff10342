"""Raked: raking, to first order, f'[(I−KA)V(I−KA)' + K V_c K']g with K = D A'(A D A')⁺ and D the raked cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.controls import Asked, Control, Controlled, Moved, Sums
from sfumato.release.uncertainties.independent import Independent
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.normal import Solve, inverted
from sfumato.schema import Box, Level


@dataclass(frozen=True, eq=False)
class Raking(Moved):
    """Errors after raking: a box pulls by r = (A D A')⁺ A D f."""

    @cached_property
    def _raked(self) -> Floats:
        return self.values.astype(np.float64)

    @cached_property
    def solve(self) -> Solve:
        """Solutions of A D A'."""
        return inverted(self.margins.of(self._raked) if self.margins.single else self.margins.gram(self._raked))

    @cached_property
    def met(self) -> Floats:
        """The covariance of the controls that were met, after they were reconciled."""
        if self.margins.single:
            return self.noise
        projected = reconciler(self.margins, self.noise)
        return projected(projected(np.diag(self.noise)).T)

    @cached_property
    def _gaps(self) -> Floats:
        """A V A' + V_c: the covariance of what raking closed; a vector where it is diagonal."""
        own, met = self.between_controls, self.met
        return own + (np.diag(met) if own.ndim > met.ndim else met)

    def asked(self, sums: Sums, boxes: Callable[[], Sequence[Box]]) -> Asked:
        takes, pulls = self.taken(sums, boxes), self.solve(sums(self._raked))
        return Asked(takes, pulls, takes - _times(self._gaps, pulls))

    def times(self, cells: Floats) -> Floats:
        pulls = self.solve(self.margins.of(self._raked * cells))
        moved = self.base.times(cells - self.margins.spread(pulls))
        return moved + self._raked * self.margins.spread(self.solve(_times(self.met, pulls) - self.margins.of(moved)))


def _times(matrix: Floats, rows: Floats) -> Floats:
    """A symmetric matrix, or a diagonal one, times a vector or the rows of another."""
    return matrix * rows if matrix.ndim == 1 else rows @ matrix


def reconciler(margins: Margins, noise: Floats) -> Solve:
    """The map from noisy controls to the nearest ones that some cube has: a projection on the range of A.

    Cells of a control are weighed by its variance; exact ones (variance 0) weigh a million times the finest noisy one.
    """
    if margins.single:
        return lambda controls: controls
    finest = noise[noise > 0].min() if (noise > 0).any() else 1.0
    weight = 1 / np.where(noise > 0, noise, finest * 1e-6)
    reach = margins.gram(margins.domain.possible)
    projection = reach @ np.linalg.pinv((reach * weight) @ reach, rcond=1e-12, hermitian=True) @ (reach * weight)
    return lambda controls: projection @ controls


@dataclass(frozen=True)
class Raked(Controlled):
    """The cells were scaled to controls."""

    kind: ClassVar[str] = "raked"
    errors: ClassVar[type[Moved]] = Raking

    @property
    def follows(self) -> bool:
        return True


EXAMPLE = Raked(Independent(2.0), (Control((Level("a"),), 1.0), Control((Level("b", 0),), 0.5)))
