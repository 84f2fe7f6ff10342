"""RootError: the error of sums of squared noisy roots, by the noncentral chi-square law that they have.

The sum of k squares (√x + σZ)² is σ² times a noncentral chi-square with k degrees of freedom and noncentrality T/σ²,
T the true total; its variance is 2kσ⁴ + 4σ²T. A step that leaves a share r of that variance keeps the family: it is
that of rσ² and k/r rows. One row alone is taken at its root, [max(0, |s| − zσ)², (|s| + zσ)²]; several by inverting the
law in T, with the normal approximation of Sankaran (1963), which is off by a point in one tail of two rows near 0 and
by less elsewhere. A total below 0 has the upper end of one of 0, so that no interval is empty.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import NORMAL, ErrorLaw, Floats, NoisyTotals
from sfumato.release.tails import z_score

_HALVINGS = 50


@dataclass(frozen=True, eq=False)
class RootError(ErrorLaw):
    """The error of totals of rows with noise of this variance on their square roots; no true total is below 0.

    `sizes` are those that the variances of the totals were taken at.
    """

    variance: float
    sizes: Floats

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        rows, values, z = np.maximum(totals.cells, 1.0), totals.values, z_score(level)
        left = totals.noise / (2 * rows * self.variance**2 + 4 * self.variance * self.sizes)
        some = left > 0
        unit = np.where(some, left * self.variance, 1.0)
        rows = np.divide(rows, left, out=rows, where=some & (rows > 1))
        seen = np.maximum(values / unit + rows, 0.0)
        low, high = (np.maximum(np.sqrt(seen) + side * z, 0.0) for side in (-1, 1))
        several = np.flatnonzero(some & (rows > 1))
        low[several], high[several] = inverted(seen[several], rows[several], z)
        sampled = z * np.sqrt(totals.sampled)
        below, above = (np.where(some, one, 0.0) for one in (values - unit * low**2, unit * high**2 - values))
        return _wider(below, sampled), _wider(above, sampled)

    def beyond(self, totals: NoisyTotals) -> Floats:
        return NORMAL.beyond(totals)

    @property
    def lopsided(self) -> bool:
        return True

    def times(self, unit: float) -> "RootError":
        return RootError(self.variance * unit, self.sizes * unit)

    def only(self, some: Any) -> "RootError":
        return RootError(self.variance, self.sizes[some])

    def plus(self, other: ErrorLaw) -> ErrorLaw:
        """Of rows with the same noise: that of all of them."""
        if isinstance(other, RootError) and other.variance == self.variance:
            return RootError(self.variance, self.sizes + other.sizes)
        return super().plus(other)

    @property
    def differenced(self) -> ErrorLaw:
        return NORMAL


def _wider(side: Floats, sampled: Floats) -> Floats:
    """One side of an interval with a sampling margin besides; a side that ends before the number stays so."""
    return np.where((side > 0) & (sampled > 0), np.hypot(side, sampled), side + sampled * (side <= 0))


def inverted(seen: Floats, rows: Floats, z: float) -> tuple[Floats, Floats]:
    """The least and the largest root of a noncentrality that a sum of squares does not rule out, at z errors."""
    above = np.maximum(seen, rows)
    low = _crossed(lambda root: deviate(seen, rows, root) <= z, np.sqrt(seen) + z)
    return low, _crossed(lambda root: deviate(above, rows, root) <= -z, np.sqrt(above) + z)


def _crossed(beyond: Callable[[Floats], NDArray[np.bool_]], highest: Floats) -> Floats:
    """Where a rising condition begins to hold, from 0 on."""
    low, high = np.zeros_like(highest), highest.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        held = beyond(middle)
        low, high = np.where(held, low, middle), np.where(held, middle, high)
    return np.where(beyond(np.zeros_like(high)), 0.0, high)


def deviate(seen: Floats, rows: Floats, root: Floats) -> Floats:
    """The normal deviate of a noncentral chi-square with this root of its noncentrality (Sankaran 1963, his third)."""
    noncentral = root**2
    mean = rows + noncentral
    h = 1 - 2 / 3 * mean * (rows + 3 * noncentral) / (rows + 2 * noncentral) ** 2
    p = (rows + 2 * noncentral) / mean**2
    m = (h - 1) * (1 - 3 * h)
    centre = 1 + h * p * (h - 1 - (2 - h) * m * p / 2)
    return np.asarray(((seen / mean) ** h - centre) / (h * np.sqrt(2 * p) * (1 + m * p / 2)), dtype=np.float64)
