"""Comparison: whether two estimates really differ, by the error of their difference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.query.estimate import Estimate, Variance
from sfumato.query.sides import NoisySide, apart
from sfumato.query.wording import Sentence
from sfumato.release import Withheld, stated, withheld


@dataclass(frozen=True, repr=False)
class Comparison(Estimate):
    """The difference of two estimates; its error counts the noise that they share."""

    apart: bool = False
    """Whether the sampling error is stated as if no record were in both."""

    @property
    def as_measured(self) -> bool:
        return False

    @property
    def is_total(self) -> bool:
        return False

    @property
    def p_value(self) -> float | Withheld:
        """How often noise alone would make a difference this large."""
        if isinstance(self.se, Withheld):
            return self.se
        return float(self.law.beyond(self._totals)[0])

    def differs(self, level: float = 0.90) -> bool | Withheld:
        """Whether the interval of the difference leaves out 0."""
        margin = self.moe(level)
        if isinstance(margin, Withheld) or isinstance(self.variance, Withheld):
            return withheld(self.variance, margin) or False
        low, high = self.interval(level)
        return low > 0 or high < 0

    def sentence(self, level: float = 0.90) -> Sentence:
        """The answer by its key and numbers, for pages in any language."""
        differs = self.differs(level)
        if isinstance(differs, Withheld):
            return Sentence("differ_unsaid", {"reason": differs.reason.rstrip(".")})
        low, high = self.interval(level)
        key = "differ" if differs else "may_be_same"
        if self.apart:
            key = "differ_apart" if differs else "may_be_same_apart"
        return Sentence(key, {"percent": 100 * level, "low": low, "high": high})

    def words(self, level: float = 0.90) -> str:
        """The answer as one sentence in English."""
        return self.sentence(level).english()


def difference_of(one: Estimate, other: Estimate, covariance: Variance, alone: Sequence[Variance]) -> Comparison:
    """One minus the other; `alone` are the sampling variances of what each has that the other has not."""
    sampling = withheld(*alone) or math.fsum(alone)  # type: ignore[arg-type]
    noise = one.noise_variance + other.noise_variance - 2 * covariance
    law = apart(total_side(one), total_side(other), np.array([stated(covariance) or 0.0]))
    return Comparison(one.value - other.value, noise, sampling, one.unit, one.cells + other.cells, one.grades, law)


def total_side(one: Estimate) -> NoisySide:
    """The noise of a number; a ratio is no total, and has the law of differences."""
    side = NoisySide.of(one)
    return side if one.is_total else replace(side, law=side.law.differenced)
