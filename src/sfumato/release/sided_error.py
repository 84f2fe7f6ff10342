"""SidedError: the error of numbers whose intervals were found by a test at every place, longer to one side.

How far an interval goes below and above is known at some deviates, multiples of the standard deviation that the test is
held to. Between two of them it goes as far as at the higher one, as ends may jump from the end of a band to the next,
and beyond the last it grows in proportion.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist
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
    def by_ends(self) -> bool:
        return True

    @property
    def differenced(self) -> ErrorLaw:
        return ComparedError(np.maximum(self.below, self.above), self.excess)


@dataclass(frozen=True, eq=False)
class ComparedError(ErrorLaw):
    """The error of differences of numbers that have intervals: all of these hold at once, or nothing is said.

    `longer` is the sum of the longer sides of the intervals of as many `numbers`, a row a deviate. No variance tells
    how two of them lie to each other, so each is taken at a level at which all hold together (Bonferroni).

    >>> one = SidedError(np.outer(DEVIATES, [2.0]), np.outer(DEVIATES, [1.0])).differenced
    >>> one.plus(one).reach(0.90, NoisyTotals(*np.zeros((4, 1))))[0].tolist()      # each at 95%, 1.96 · 2
    [7.84]
    """

    longer: Floats
    excess: float
    numbers: int = 1

    def reach(self, level: float, totals: NoisyTotals) -> tuple[Floats, Floats]:
        each = 1 - (1 - level) / self.numbers
        both = np.hypot(_at(self.longer, reach(each, self.excess)), reach(level, 0.0) * np.sqrt(totals.sampled))
        return both, both

    def beyond(self, totals: NoisyTotals) -> Floats:
        """The chance at the highest deviate whose intervals leave out 0: at least that of such an error."""
        outside = np.append(1.0, [min(1.0, 2 * self.numbers * NormalDist().cdf(-one)) for one in DEVIATES])
        return np.asarray(outside[(self.longer < np.abs(totals.values)).sum(axis=0)], dtype=np.float64)

    def times(self, unit: float) -> "ComparedError":
        return replace(self, longer=self.longer * unit)

    def only(self, some: Any) -> "ComparedError":
        return replace(self, longer=self.longer[:, some])

    def plus(self, other: ErrorLaw) -> ErrorLaw:
        if not isinstance(other, ComparedError):
            return super().plus(other)
        excess = max(self.excess, other.excess)
        return ComparedError(self.longer + other.longer, excess, self.numbers + other.numbers)


def _at(ends: Floats, deviate: float) -> Floats:
    """The ends at a deviate, or at the next that is stated."""
    if deviate >= DEVIATES[-1]:
        return np.asarray(ends[-1] * (deviate / DEVIATES[-1]), dtype=np.float64)
    return np.asarray(ends[int(np.searchsorted(DEVIATES, deviate))], dtype=np.float64)


def matched_variance(below: Floats, above: Floats) -> Floats:
    """The variance of a normal law whose 90% interval is as long."""
    return np.asarray(((below[MATCHED] + above[MATCHED]) / (2 * DEVIATES[MATCHED])) ** 2, dtype=np.float64)
