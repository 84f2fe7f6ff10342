"""Estimate: a published number with its error, noise and sampling apart."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.errors import QueryError
from sfumato.query.tails import reach
from sfumato.release import NoNumber, Withheld, stated
from sfumato.release.figures import like, number

Variance = float | Withheld
IMPOSSIBLE = NoNumber("there is no such combination", sdmx="M")
"""What stands in a cell that sums none, as no record can be there."""


@dataclass(frozen=True)
class Estimate:
    """A value, the variance that privacy noise gave it, the variance that sampling gave it, and what was summed.

    >>> Estimate(310, noise_variance=2134.0)
    310 ± 76 A
    """

    value: float
    noise_variance: Variance
    sampling_variance: Variance = 0.0
    unit: str = ""
    cells: int = 1
    step: float = 0.0
    grades: Mapping[str, float] = field(default_factory=lambda: {"A": 0.15, "B": 0.30})
    excess: float = 0.0
    """The excess kurtosis of the noise: 0 where it is normal, 3 for one cell with the noise of Laplace."""

    @property
    def variance(self) -> Variance:
        """Both variances together, or the reason why one cannot be stated."""
        return self.noise_variance + self.sampling_variance

    @property
    def se(self) -> float | Withheld:
        """The standard error."""
        return _root(self.variance)

    @property
    def noise_se(self) -> float | Withheld:
        return _root(self.noise_variance)

    @property
    def sampling_se(self) -> float | Withheld:
        return _root(self.sampling_variance)

    @property
    def noise_share(self) -> float | None:
        """The share of the variance that is privacy noise; None where it is withheld, and where there is no error."""
        whole, noise = stated(self.variance), stated(self.noise_variance)
        return noise / whole if whole and noise is not None and whole > 0 else None

    @property
    def tails(self) -> float:
        """The excess kurtosis of the whole error; sampling error counts as normal."""
        share = self.noise_share
        return 0.0 if share is None else self.excess * share * share

    @property
    def cv(self) -> float | Withheld:
        """The standard error as a share of the value; infinite where the value is 0 and the error is not."""
        if isinstance(self.se, Withheld):
            return self.se
        return abs(self.se / self.value) if self.value else (math.inf if self.se else 0.0)

    def moe(self, level: float = 0.90) -> float | Withheld:
        """The margin of error at a level."""
        return reach(level, self.tails) * self.se

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Where the true number lies at this level; half a step is added at each end, as numbers move in steps."""
        if isinstance(self.se, Withheld):
            raise QueryError(f"The interval cannot be stated: {self.se.reason}")
        half = reach(level, self.tails) * self.se + (self.step / 2 if self.se else 0.0)
        return self.value - half, self.value + half

    @property
    def grade(self) -> str:
        """A or B by the CV; C where it is larger or the 90% interval covers 0; - where the error is withheld."""
        if isinstance(self.cv, Withheld):
            return "-"
        margin = self.moe(0.90)
        if not isinstance(margin, Withheld) and margin and abs(self.value) <= margin:
            return "C"
        return "A" if self.cv < self.grades["A"] else "B" if self.cv < self.grades["B"] else "C"

    def __repr__(self) -> str:
        if not self.cells:
            return f"{IMPOSSIBLE.code} ({IMPOSSIBLE.reason})"
        margin = self.moe()
        shown = f"± {like(margin, self.value)}" if not isinstance(margin, Withheld) else "± withheld"
        return f"{number(self.value)} {shown} {self.grade}"


Figure = Estimate | NoNumber
"""What stands in a cell: an estimate with its error, or why there is none."""


def _root(variance: Variance) -> float | Withheld:
    return variance if isinstance(variance, Withheld) else math.sqrt(max(variance, 0.0))
