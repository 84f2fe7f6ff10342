"""SidedError: the error of numbers whose intervals were found by a test at every place, longer to one side.

How far an interval goes below and above is known at some deviates, multiples of the standard deviation that the test is
held to; between them it is interpolated, and beyond the last it grows in proportion.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.release.error_law import NORMAL, ErrorLaw, Floats, NoisyTotals
from sfumato.release.tails import reach

DEVIATES = (0.5, 1.0, 1.282, 1.645, 1.96, 2.576, 3.291, 4.0, 5.0)
"""The deviates at which ends are stated: those of intervals of 80, 90, 95, 99 and 99.9% among them."""
MATCHED = DEVIATES.index(1.645)
"""The deviate by which one variance stands for both sides: that of the 90% interval."""


@dataclass(frozen=True, eq=False)
class SidedError(ErrorLaw):
    """How far below and above each number an interval goes, a row a deviate; `excess` is the kurtosis of the test."""

    below: Floats
    above: Floats
    excess: float = 0.0

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        deviate, sampled = reach(level, self.excess), reach(level, 0.0) * np.sqrt(totals.sampled)
        return np.hypot(_at(self.below, deviate), sampled), np.hypot(_at(self.above, deviate), sampled)

    def beyond(self, totals: NoisyTotals) -> Floats:
        return NORMAL.beyond(totals)

    @property
    def lopsided(self) -> bool:
        return True

    def times(self, unit: float) -> "SidedError":
        return SidedError(self.below * unit, self.above * unit, self.excess)

    def only(self, some: Any) -> "SidedError":
        return SidedError(self.below[:, some], self.above[:, some], self.excess)

    @property
    def differenced(self) -> ErrorLaw:
        """Of a difference one side of each counts, and which is not known: a normal law with their variances."""
        return NORMAL


def _at(ends: Floats, deviate: float) -> Floats:
    """The ends at a deviate, from 0 at none."""
    if deviate >= DEVIATES[-1]:
        return np.asarray(ends[-1] * (deviate / DEVIATES[-1]), dtype=np.float64)
    place = int(np.searchsorted(DEVIATES, deviate))
    low, high = (0.0, *DEVIATES)[place], DEVIATES[place]
    before = ends[place - 1] if place else np.zeros_like(ends[0])
    return np.asarray(before + (ends[place] - before) * ((deviate - low) / (high - low)), dtype=np.float64)


def matched_variance(below: Floats, above: Floats) -> Floats:
    """The variance of a normal law whose 90% interval is as long."""
    return np.asarray(((below[MATCHED] + above[MATCHED]) / (2 * DEVIATES[MATCHED])) ** 2, dtype=np.float64)
