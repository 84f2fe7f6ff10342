"""Comparison: whether two estimates really differ, by the error of their difference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.estimate import Estimate, Variance
from sfumato.query.reaching import compared_excess
from sfumato.query.sides import HALVINGS, NoisySide, apart
from sfumato.query.wording import Reason, Sentence
from sfumato.release import Withheld, stated, withheld
from sfumato.release.error_law import ErrorLaw
from sfumato.release.sided_error import ComparedError


@dataclass(frozen=True, repr=False)
class Comparison(Estimate):
    """The difference of two estimates; its error counts the noise that they share."""

    apart: bool = False
    """Whether the sampling error is stated as if no record were in both."""

    @property
    def as_measured(self) -> bool:
        return False

    @property
    def compared(self) -> ErrorLaw:
        return self.law.differenced

    @property
    def p_value(self) -> float | Withheld:
        """How often noise alone would make a difference this large."""
        if isinstance(self.se, Withheld):
            return self.se
        return float(self.law.beyond(self._totals)[0]) if self.bought is None else self.by_halving

    @property
    def by_halving(self) -> float:
        """One less the largest level at which the interval leaves out 0, by halving."""
        least, most = 0.0, 1.0
        for _ in range(HALVINGS):
            level = (least + most) / 2
            least, most = (level, most) if self._leaves_out_0(level) else (least, level)
        return 1 - least

    def _leaves_out_0(self, level: float) -> bool:
        try:
            return self.differs(level) is True
        except QueryError:
            return False

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
            return Sentence("differ_unsaid", {"reason": Reason(differs.reason)})
        low, high = self.interval(level)
        key = "differ" if differs else "may_be_same"
        if self.apart:
            key = "differ_apart" if differs else "may_be_same_apart"
        return Sentence(key, {"percent": 100 * level, "low": low, "high": high})

    def added(self) -> tuple[Sentence, ...]:
        """What ± is of the difference of two numbers that have intervals and no variance, as of two percentiles."""
        return (Sentence("differ_ends"),) if isinstance(self.law, ComparedError) else ()

    def words(self, level: float = 0.90) -> str:
        """The answer as one sentence in English."""
        return self.sentence(level).english()


def difference_of(one: Estimate, other: Estimate, covariance: Variance, alone: Sequence[Variance]) -> Comparison:
    """One minus the other; `alone` are the sampling variances of what each has that the other has not."""
    sampling = withheld(*alone) or math.fsum(alone)  # type: ignore[arg-type]
    noise = one.noise_variance + other.noise_variance - 2 * covariance
    law = apart(own_side(one), own_side(other), np.array([stated(covariance) or 0.0]))
    caveats = (one.caveats + other.caveats).compared
    cells = one.cells + other.cells
    bought = compared_excess(one, other)
    return Comparison(one.value - other.value, noise, sampling, one.unit, cells, one.grades, law, caveats, bought)


def own_side(one: Estimate) -> NoisySide:
    """The noise of a number: of a total by its law, of a ratio or a difference as it is compared."""
    return replace(NoisySide.of(one), law=one.compared)
