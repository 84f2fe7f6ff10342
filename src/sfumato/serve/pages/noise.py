"""Noise: what the published law of one measure's noise lets anybody see of a cell."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from sfumato.privacy.loss import normal_cdf
from sfumato.release.manifest import ProductLine

ALARM = 0.05
"""How often the test that is told of may be wrong when nothing is there."""
_GEOMETRIC, _ROUNDED, _DISCRETE = "geometric", "rounded-gaussian", "discrete-gaussian"


@dataclass(frozen=True)
class Noise:
    """The noise of one cell: its kind and its variance, in steps, and what a step is worth.

    >>> one = Noise("geometric", 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2, 1)
    >>> round(one.power(1), 4)         # epsilon 1: e times 0.05
    0.1359
    """

    kind: str
    variance: float
    step: float

    @classmethod
    def of(cls, line: ProductLine) -> "Noise | None":
        """The noise of a measure as the manifest states it; none where its law is not one of those known here."""
        kind, stated = line.mechanism.partition(" (")[0], line.uncertainty
        variance = stated.get("variance")
        known = kind in {_GEOMETRIC, _ROUNDED, _DISCRETE} and stated.get("kind") == "independent"
        if not known or not isinstance(variance, (int, float)) or not 0 < variance < math.inf:
            return None
        return cls(kind, float(variance), float(line.step))

    @property
    def se(self) -> float:
        return math.sqrt(self.variance) * self.step

    @property
    def pair(self) -> tuple[float, float]:
        """Two true values a tenth apart: 100 and 110, or as many times ten of each as the noise is large."""
        low = 100.0
        while 0.1 * low < self.se / 2:
            low *= 10
        return low, low * 1.1

    @property
    def told_apart(self) -> float:
        """How often the best test that falsely says the larger 5 times in 100 rightly says so."""
        low, high = self.pair
        return self.power((high - low) / self.step)

    def power(self, distance: float) -> float:
        """The power of the best test between two true values some steps apart (Neyman and Pearson 1933)."""
        if self.kind != _GEOMETRIC:
            return normal_cdf(NormalDist().inv_cdf(ALARM) + distance / self._sigma)
        whole = math.floor(distance)
        cut = self._cut
        at_random = (ALARM - self._tail(cut)) / (self._tail(cut - 1) - self._tail(cut))
        beyond, before = self._tail(cut - whole), self._tail(cut - 1 - whole)
        return min(1.0, beyond + at_random * (before - beyond))

    @property
    def threshold(self) -> float:
        """How far above the smaller value the test begins to say the larger one."""
        if self.kind != _GEOMETRIC:
            return -NormalDist().inv_cdf(ALARM) * self._sigma * self.step
        return (self._cut - 0.5) * self.step

    def density(self, published: float, true: float) -> float:
        """How likely a published value is, next to the true one."""
        steps = abs(published - true) / self.step
        return self._ratio**steps if self.kind == _GEOMETRIC else math.exp(-(steps**2) / (2 * self._sigma**2))

    @property
    def _ratio(self) -> float:
        """How much less likely each further step is: the root of variance = 2 a / (1 - a)² below 1."""
        grown = 1 + 1 / self.variance
        return 1 / (grown + math.sqrt(grown**2 - 1))

    @property
    def _sigma(self) -> float:
        """Rounding adds the twelfth of a step to the variance; the normal noise below it is what can be told apart."""
        if self.kind == _ROUNDED and self.variance > 1 / 6:
            return math.sqrt(self.variance - 1 / 12)
        return math.sqrt(self.variance)

    @property
    def _cut(self) -> int:
        """The least number of steps that noise alone reaches at most 5 times in 100."""
        return max(1, math.ceil(math.log(ALARM * (1 + self._ratio)) / math.log(self._ratio)))

    def _tail(self, steps: int) -> float:
        """How often the noise is this many steps up or more."""
        ratio = self._ratio
        return ratio**steps / (1 + ratio) if steps > 0 else 1 - ratio ** (1 - steps) / (1 + ratio)
