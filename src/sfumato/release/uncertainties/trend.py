"""Trend: uncertainties of values that have noise of their own, of a variance that is known at other sizes too."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sfumato.release.noisy import Integers
from sfumato.release.uncertainties.uncertainty import Floats, Sizes, Uncertainty


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


class Sized(Uncertainty):
    """Every value has noise of its own; `trend` is the variance that it would have at other sizes."""

    @property
    @abstractmethod
    def trend(self) -> Trend: ...

    @property
    def drawn(self) -> Floats | None:
        """The variances as drawn, where they are known apart from sizes."""
        return None

    def at(self, sizes: Sizes, unit: float = 1.0) -> Floats:
        return self.trend.in_steps(unit).at(sizes, np.zeros(1))

    def alone(self, values: Integers, rows: slice) -> Floats:
        return self.at(values[rows].astype(np.float64)) if self.drawn is None else self.drawn[rows]
