"""Estimate: a published number with its error, noise and sampling apart."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

from sfumato.errors import QueryError
from sfumato.release import Withheld

Variance = float | Withheld


def z_score(level: float) -> float:
    """How many standard errors a two-sided interval reaches.

    >>> round(z_score(0.95), 6)
    1.959964
    """
    if not 0 < level < 1:
        raise QueryError(f"A level of {level} was asked for; it lies between 0 and 1, for example 0.95.")
    return NormalDist().inv_cdf((1 + level) / 2)


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

    @property
    def variance(self) -> Variance:
        """Both variances together, or the reason why one cannot be stated."""
        for part in (self.noise_variance, self.sampling_variance):
            if isinstance(part, Withheld):
                return part
        return self.noise_variance + self.sampling_variance  # type: ignore[operator]

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
    def cv(self) -> float | Withheld:
        """The standard error as a share of the value; infinite where the value is 0 and the error is not."""
        if isinstance(self.se, Withheld):
            return self.se
        return abs(self.se / self.value) if self.value else (math.inf if self.se else 0.0)

    def moe(self, level: float = 0.90) -> float | Withheld:
        """The margin of error at a level."""
        return self.se if isinstance(self.se, Withheld) else z_score(level) * self.se

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Where the true number lies at this level; half a step is added at each end, as numbers move in steps."""
        if isinstance(self.se, Withheld):
            raise QueryError(f"The interval cannot be stated: {self.se.reason}")
        reach = z_score(level) * self.se + (self.step / 2 if self.se else 0.0)
        return self.value - reach, self.value + reach

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
        margin = self.moe()
        shown = f"± {like(margin, self.value)}" if not isinstance(margin, Withheld) else "± withheld"
        return f"{number(self.value)} {shown} {self.grade}"


def _root(variance: Variance) -> float | Withheld:
    return variance if isinstance(variance, Withheld) else math.sqrt(max(variance, 0.0))


def number(value: float) -> str:
    """A number as people read it: whole ones with separators, small ones to three digits, a true minus sign.

    >>> number(-1234567), number(0.04567), number(12.5)
    ('−1,234,567', '0.0457', '12.5')
    """
    if value == round(value) or abs(value) >= 100:
        text = f"{round(value):,}"
    else:
        text = f"{value:.3g}" if abs(value) < 1 else f"{value:.1f}"
    return text.replace("-", "−")


def like(margin: float, value: float) -> str:
    """A margin to the precision of the number it belongs to: whole beside whole numbers, once it is 10 or more."""
    return number(round(margin)) if margin >= 10 and value == round(value) else number(margin)
