"""Root noise: what anybody can see through noise on square roots, and through noise on clipped totals."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from sfumato.privacy.loss import normal_cdf
from sfumato.release.manifest import ProductLine
from sfumato.serve.pages.noise import ALARM

_SIZE = 100.0


@dataclass(frozen=True)
class RootNoise:
    """Normal noise on the square root of a row's value: its variance on the lattice of roots, and a step of values.

    >>> one = RootNoise(1 / 4 + 1 / 12, 1)      # a standard deviation of 1/2 on the root, rounded to whole numbers
    >>> round(one.power(100, 121), 4)           # roots 10 and 11: two standard deviations apart
    0.6388
    """

    variance: float
    step: float

    @classmethod
    def of(cls, line: ProductLine) -> "RootNoise | None":
        """The noise of a measure of rows as the manifest states it."""
        stated = line.uncertainty.get("variance")
        if line.uncertainty.get("kind") != "squared" or not isinstance(stated, (int, float)):
            return None
        return cls(float(stated), float(line.step)) if 1 / 12 < stated < math.inf else None

    def se_at(self, size: float) -> float:
        """The standard error of one value of this size."""
        return self.step * math.sqrt(4 * self.variance * size / self.step + 2 * self.variance**2)

    @property
    def se(self) -> float:
        return self.se_at(self.pair[0])

    @property
    def pair(self) -> tuple[float, float]:
        """Two true values a tenth apart: 100 and 110, or as many times ten of each as the noise is large."""
        low = _SIZE
        while 0.1 * low < self.se_at(low) / 2:
            low *= 10
        return low, low * 1.1

    @property
    def told_apart(self) -> float:
        return self.power(*self.pair)

    def power(self, low: float, high: float) -> float:
        """The power of the best test between two true values, which differ by so much on the root."""
        return normal_cdf(NormalDist().inv_cdf(ALARM) + (math.sqrt(high) - math.sqrt(low)) / self._sigma)

    @property
    def threshold(self) -> float:
        """How far above the smaller value the test begins to say the larger one."""
        low = self.pair[0]
        cut = math.sqrt(low) - NormalDist().inv_cdf(ALARM) * self._sigma
        return cut**2 - self._sigma**2 - low

    def density(self, published: float, true: float) -> float:
        """How likely a published value is, next to the true one: normal on the root, whichever sign it has."""
        return self._likely(published, true) / self._likely(true, true)

    def _likely(self, published: float, true: float) -> float:
        root = math.sqrt(max(published + self._sigma**2, 1e-9 * self._sigma**2))
        near = (math.exp(-(((sign * root - math.sqrt(true)) / self._sigma) ** 2) / 2) for sign in (1, -1))
        return sum(near) / root if published > -(self._sigma**2) else 0.0

    @property
    def _sigma(self) -> float:
        """The normal noise below the rounding, in roots of the unit."""
        return math.sqrt((self.variance - 1 / 12) * self.step)


@dataclass(frozen=True)
class ClippedNoise:
    """Noise on totals of groups, which grows with the largest value of a group: slope (root + reach), in steps."""

    slope: float
    reach: float
    step: float

    @classmethod
    def of(cls, line: ProductLine) -> "ClippedNoise | None":
        """The noise of a measure of groups as the manifest states it."""
        slope, reach = (line.uncertainty.get(name) for name in ("slope", "reach"))
        stated = isinstance(slope, (int, float)) and isinstance(reach, (int, float))
        return cls(float(slope), float(reach), float(line.step)) if stated and slope else None  # type: ignore[arg-type]

    def se_at(self, largest: float) -> float:
        """The standard error of a total whose largest value is of this size."""
        return self.step * self.slope * max(math.sqrt(largest / self.step) + self.reach, 0.0)
