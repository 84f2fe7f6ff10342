"""Estimate: a published number with its error, noise and sampling apart."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.caveats import NONE, Caveats
from sfumato.query.grade import grade_of
from sfumato.query.reaching import Reaching, risks
from sfumato.release import NoNumber, Withheld, stated
from sfumato.release.error_law import NORMAL, ErrorLaw, Floats, NoisyTotals
from sfumato.release.figures import beside, like, number

Variance = float | Withheld
IMPOSSIBLE = NoNumber("there is no such combination", sdmx="M")
"""What stands in a cell that sums none, as no record can be there."""


NOISE_ALONE = "noise alone"
"""What a margin counts where nothing is stated of the sampling error."""


class Interval(tuple[float, float]):  # noqa: SLOT001 - it also holds what it counts
    """Where a true number lies, from low to high, and what the interval counts.

    >>> Interval(3.0, 5.0, "noise alone")
    [3.0, 5.0] (noise alone)
    """

    counts: str

    def __new__(cls, low: float, high: float, counts: str) -> Self:
        made = super().__new__(cls, (low, high))
        made.counts = counts
        return made

    def __repr__(self) -> str:
        return f"[{self[0]}, {self[1]}] ({self.counts})"


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
    grades: Mapping[str, float] = field(default_factory=lambda: {"A": 0.15, "B": 0.30})
    law: ErrorLaw = field(default=NORMAL, compare=False)
    """The law of the noise, in the unit of the value."""
    caveats: Caveats = field(default=NONE, compare=False)
    """What the number leaves out."""
    bought: Reaching | None = field(default=None, compare=False)
    """How far beyond noise its interval goes, where the release bought what was cut."""

    @property
    def as_measured(self) -> bool:
        """Whether it is one cell as it was measured, and no number computed from several."""
        return self.cells == 1

    @property
    def compared(self) -> ErrorLaw:
        """The law by which it is compared with other numbers; of a total its own."""
        return self.law

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
    def cv(self) -> float | Withheld:
        """The standard error as a share of the value; infinite where the value is 0 and the error is not."""
        if isinstance(self.se, Withheld):
            return self.se
        return abs(self.se / self.value) if self.value else (math.inf if self.se else 0.0)

    @property
    def noise_alone(self) -> bool:
        """Whether margins count the noise and not the sampling error, of which nothing is stated."""
        return isinstance(self.sampling_variance, Withheld)

    def moe(self, level: float = 0.90) -> float | Withheld:
        """The margin of error at a level, of the noise alone where nothing is stated of the sampling error.

        Where an interval is longer to one side, that side.
        """
        if isinstance(self.noise_variance, Withheld):
            return self.noise_variance
        if level not in self._margins:
            self._margins[level] = max(self.reach(level))
        return self._margins[level]

    @cached_property
    def _margins(self) -> dict[float, float]:
        """The margins that were asked for: a page asks for each again and again."""
        return {}

    def interval(self, level: float = 0.95) -> Interval:
        """Where the true number lies at this level, by the noise alone where no sampling error is stated."""
        if isinstance(self.noise_variance, Withheld):
            raise QueryError(f"The interval cannot be stated: {self.noise_variance.reason}")
        below, above = self.reach(level)
        return Interval(float(self.value - below), float(self.value + above), self.counts)

    @property
    def counts(self) -> str:
        """What margins and intervals count."""
        if self.noise_alone:
            return "noise" if self.caveats else NOISE_ALONE
        return "noise and sampling error" if self.sampling_variance else "noise"

    def reach(self, level: float) -> tuple[float, float]:
        """How far the interval goes below and above the number, wherever the true one can be."""
        if self.bought is None:
            return self.noise_reach(level)
        noisy, risk = risks(level)
        (below, _), (under, over), (low, high) = self.noise_reach(level), self.noise_reach(noisy), self.allowance(risk)
        return (under + float(low[0]) if low[0] else below), over + float(high[0])

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        """How much farther the interval goes than noise does, below and above, for what was cut."""
        none = np.zeros(1)
        return (none, none) if self.bought is None else self.bought.allowance(risk)

    @property
    def by_noise(self) -> Self:
        """The same number with the error of its noise alone."""
        return replace(self, sampling_variance=0.0, bought=None)

    def noise_reach(self, level: float) -> tuple[float, float]:
        """The same by noise and sampling, whatever was cut."""
        below, above = self.law.reach(level, self._totals)
        return float(below[0]), float(above[0])

    @property
    def _totals(self) -> NoisyTotals:
        parts = self.value, stated(self.noise_variance), stated(self.sampling_variance), self.cells
        columns = (np.array([math.nan if one is None else one], dtype=np.float64) for one in parts)
        return NoisyTotals(*columns)

    @property
    def grade(self) -> str:
        """A, B or C by its error beside the number (`grade_of`); - where the error is withheld."""
        error, margin = stated(self.se), stated(self.moe(0.90))
        return "-" if error is None or margin is None else grade_of(self.value, error, margin, self.grades)

    def __repr__(self) -> str:
        if not self.cells:
            return f"{IMPOSSIBLE.code} ({IMPOSSIBLE.reason})"
        if isinstance(margin := self.moe(), Withheld):
            return f"{number(self.value)} ± withheld {self.grade}"
        alone = f" ({NOISE_ALONE})" if self.noise_alone and not self.caveats else ""
        said = f" ({self.caveats.said()})" if self.caveats else ""
        return f"{beside(self.value, margin)} ± {like(margin, self.value)}{alone} {self.grade}{said}"


Figure = Estimate | NoNumber
"""What stands in a cell: an estimate with its error, or why there is none."""


def _root(variance: Variance) -> float | Withheld:
    return variance if isinstance(variance, Withheld) else math.sqrt(max(variance, 0.0))
