"""Trend: the variance of noise as far as it follows the sizes of values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats

Sizes = NDArray[np.floating[Any]]
"""Sizes that variances are taken at; they need few digits, so files hold them in 32 bits."""


@dataclass(frozen=True)
class Trend:
    """The variance that noise is expected to have on rows of known sizes: base + each X + (slope (root + reach))².

    X is what the rows sum to, and root the square root of the largest of them.
    """

    base: float = 0.0
    each: float = 0.0
    slope: float = 0.0
    reach: float = 0.0

    def at(self, sums: Sizes, roots: Sizes) -> Floats:
        topped = np.maximum(roots + self.reach, 0.0) * self.slope
        return np.asarray(self.base + self.each * sums + topped**2, dtype=np.float64)

    def in_steps(self, unit: float) -> "Trend":
        """The same where a step is so many of the new ones."""
        return Trend(self.base * unit**2, self.each * unit, self.slope * unit**0.5, self.reach * unit**0.5)
