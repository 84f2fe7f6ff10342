"""RelativeError: the error of totals of cells whose noise multiplies them, by quantiles of its logarithm.

A cell of n is published as (n + s) e^η / E e^η − s, η of Laplace's law with scale l and s a public shift, so n + s lies
within (published + s) E e^η · e^∓q with the chance that |η| <= q. E e^η is 1/(1 − l²), and the variance of e^η / E e^η
is c − 1 with c = (1 − l²)²/(1 − 4 l²). A total of several cells, or one that was moved, is taken for one cell with its
own c: l² = √((2c − 1)² + c − 1) − (2c − 1). The tail of its logarithm is that of a sum of Laplace laws, as many as
(Σw²)²/Σw⁴, w being the cells with their shift: one where one cell is most of it, and nearly normal of many.
The variance of a total is stated of what is published, of each cell 1 − 1/c times the square of that with its shift,
which has the mean (c − 1)(n + s)² (`stated_share`); so c is read off it again.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.release.error_law import ErrorLaw, Floats, NoisyTotals, NormalError
from sfumato.release.tails import LAPLACE, laplace_reach, laplace_tail, reach

HEAVY = NormalError(0.0, LAPLACE, math.inf)
"""Of differences: the tails of one Laplace law, however many cells there are."""
LOST = 1e-12
"""Of a sum of fourth powers: what is left of it after a subtraction is rounding below that."""


def stated_share(variance: float) -> float:
    """Of what is published, its shift added, the share of the square that is stated as the variance of a cell.

    >>> stated_share(0.25)      # c = 1.25, and 1 - 1 / c = 0.2
    0.2
    """
    return variance / (1 + variance)


@dataclass(frozen=True, eq=False)
class RelativeError(ErrorLaw):
    """The error of totals with their shift; the squares and fourth powers of the cells in each have these sums."""

    sizes: Floats
    squares: Floats
    fourths: Floats

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        errors, middle = self._within(level, totals)
        sampled = reach(level, 0.0) * np.sqrt(totals.sampled)
        below, above = self.sizes - middle * np.exp(-errors), middle * np.exp(errors) - self.sizes
        return np.hypot(np.maximum(below, 0.0), sampled), np.hypot(np.maximum(above, 0.0), sampled)

    def _within(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        """How far the logarithm lies from its middle at a level, and the total in that middle."""
        spread, middle = self._spread(totals)
        found, back = np.unique(np.round(self._excess, 6), return_inverse=True)
        return np.array([laplace_reach(level, one) for one in found])[back] * math.sqrt(2) * spread, middle

    def beyond(self, totals: NoisyTotals) -> Floats:
        """Of a true total of 0 its shift alone is left."""
        spread, middle = self._spread(totals)
        empty = self.sizes - totals.values
        told = (empty > 0) & (middle > 0) & (spread > 0)
        far = np.abs(np.log(np.where(told, middle, 1.0)) - np.log(np.where(told, empty, 1.0)))
        errors = far / np.where(told, math.sqrt(2) * spread, 1.0)
        chances = [laplace_tail(one, excess) for one, excess in zip(errors, self._excess, strict=True)]
        return np.where(told, chances, (totals.values == 0).astype(np.float64))

    @property
    def _excess(self) -> Floats:
        return LAPLACE * np.divide(self.fourths, self.squares**2, out=np.ones_like(self.sizes), where=self.squares > 0)

    def _spread(self, totals: NoisyTotals) -> tuple[Floats, Floats]:
        """The scale of the logarithm's error, and the middle of where the total lies with its shift."""
        share = np.divide(totals.noise, self.sizes**2, out=np.zeros_like(self.sizes), where=self.sizes > 0)
        c = 1 / (1 - np.clip(share, 0.0, 1 - 1e-9))
        # √(b² + d) − b, which would lose its digits where d = c − 1 is small.
        square = (c - 1) / (np.sqrt((2 * c - 1) ** 2 + c - 1) + 2 * c - 1)
        return np.sqrt(square), self.sizes / (1 - square)

    @property
    def lopsided(self) -> bool:
        return True

    def times(self, unit: float) -> "RelativeError":
        return RelativeError(self.sizes * unit, self.squares * unit**2, self.fourths * unit**4)

    def only(self, some: Any) -> "RelativeError":
        return RelativeError(self.sizes[some], self.squares[some], self.fourths[some])

    def plus(self, other: ErrorLaw) -> ErrorLaw:
        """Of cells of the same kind: that of all of them."""
        if isinstance(other, RelativeError):
            return RelativeError(self.sizes + other.sizes, self.squares + other.squares, self.fourths + other.fourths)
        return super().plus(other)

    @property
    def by_sides(self) -> bool:
        return True

    def without(self, part: ErrorLaw) -> ErrorLaw:
        """That of the cells which are not in the part."""
        if not isinstance(part, RelativeError):
            return super().without(part)
        sizes, squares, fourths = (
            np.maximum(whole - own, 0.0)
            for whole, own in ((self.sizes, part.sizes), (self.squares, part.squares), (self.fourths, part.fourths))
        )
        # What is below a thousandth of the whole is lost in the digits of its fourth power, and is taken as one cell.
        return RelativeError(sizes, squares, np.where(fourths > LOST * self.fourths, fourths, squares**2))

    @property
    def differenced(self) -> ErrorLaw:
        return HEAVY
