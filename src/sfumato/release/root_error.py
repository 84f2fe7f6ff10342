"""RootError: the error of sums of squared noisy roots, by the noncentral chi-square law that they have.

The sum of k squares (√x + σZ)² is σ² times a noncentral chi-square with k degrees of freedom and noncentrality T/σ²,
T the true total. A total and its variance V = 2kσ⁴ + 4σ²T tell σ², also after a step moved it, which keeps the family.
One row alone is taken at its root, [max(0, |s| − zσ)², (|s| + zσ)²]; several by inverting the law in T, with the
normal approximation of Sankaran (1963), which is off by a point in one tail of two rows near 0 and by less elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.release.error_law import NORMAL, ErrorLaw, Floats, NoisyTotals
from sfumato.release.tails import z_score

_HALVINGS = 50


@dataclass(frozen=True)
class RootError(ErrorLaw):
    """The error of totals of rows with noise on their square roots; no true total is below 0."""

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        rows, values, z = np.maximum(totals.cells, 1.0), totals.values, z_score(level)
        square = root_variance(values, totals.noise, rows)
        some = square > 0
        unit = np.where(some, square, 1.0)
        seen = np.sqrt(np.maximum(values / unit + rows, 0.0))
        low, high = (np.maximum(seen + side * z, 0.0) for side in (-1, 1))
        several = np.flatnonzero(some & (rows > 1))
        low[several], high[several] = inverted(seen[several] ** 2, rows[several], z)
        sampled = z * np.sqrt(totals.sampled)
        below, above = (np.where(some, one, 0.0) for one in (values - unit * low**2, unit * high**2 - values))
        return _wider(below, sampled), _wider(above, sampled)

    def beyond(self, totals: NoisyTotals) -> Floats:
        return NORMAL.beyond(totals)

    def times(self, unit: float) -> "RootError":  # noqa: ARG002 - the variance of a total tells its unit
        return self

    @property
    def differenced(self) -> ErrorLaw:
        return NORMAL


def _wider(side: Floats, sampled: Floats) -> Floats:
    """One side of an interval with a sampling margin besides; a side that ends before the number stays so."""
    return np.where((side > 0) & (sampled > 0), np.hypot(side, sampled), side + sampled * (side <= 0))


def root_variance(values: Floats, variances: Floats, rows: Floats) -> Floats:
    """The variance on the root of one row, σ², with 2kσ⁴ + 4σ²T the variance of a total T of k rows.

    >>> root_variance(np.array([5.0]), np.array([2 * 3 * 4.0 + 4 * 2 * 5]), np.array([3.0])).tolist()
    [2.0]
    """
    above, variances = np.maximum(values, 0.0), np.maximum(variances, 0.0)
    # −T + √(T² + kV/2), over k, without the difference of near numbers.
    half = rows * variances / 2
    found: Floats = np.divide(half, rows * (above + np.sqrt(above**2 + half)), out=np.zeros(len(half)), where=half > 0)
    return found


def inverted(seen: Floats, rows: Floats, z: float) -> tuple[Floats, Floats]:
    """The least and the largest root of a noncentrality that a sum of squares does not rule out, at z errors."""
    highest = np.sqrt(seen) + z
    low = _crossed(lambda root: deviate(seen, rows, root) <= z, highest)
    return low, _crossed(lambda root: deviate(seen, rows, root) <= -z, highest)


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
