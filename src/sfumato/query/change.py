"""Change: a later number minus an earlier one, in percent too, and whether the error alone would make it.

Releases draw their noise anew, so their variances add; what both were moved away from unbiased numbers is known, and
its product is in their covariance (`moved_error`). Where both were moved to the same noisy totals that were
published before, they share what these gave them (`shared_noise`). Where only one was, or in another way, the other may
hold the same noise, and nobody can tell from the two: the covariance is then taken for −s t, s and t being the two
standard errors. None makes a difference or a ratio of positive numbers less certain (Cauchy and Schwarz), and the
difference has (s + t)². Sampling errors are added as of two samples that share nobody; where they share many the
difference has rather less.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.comparison import Comparison, difference_of, own_side
from sfumato.query.digits import Digits
from sfumato.query.estimate import Estimate, Figure, Variance
from sfumato.query.ratio import Ratio, ratio_of, too_near
from sfumato.query.sides import by_sides
from sfumato.query.wording import CountedNumber, Reason, Sentence, SpokenNumber, words
from sfumato.release import NoNumber, Withheld, stated, withheld
from sfumato.release.error_law import Floats
from sfumato.release.figures import beside, beyond, like, number
from sfumato.release.moved_error import moved_together

REAL, NONE, UNSAID = VERDICTS = ("real", "none", "unsaid")
"""A real change; no sign of a change; it cannot be said, as not all of the error is stated."""
EXACT = "change_exact_more", "change_exact_less", "change_exact_same"
NOISY = "change_more", "change_less", "change_none"
SAMPLED = "change_more_sampled", "change_less_sampled", "change_none_sampled"
"""What is said of more, of less and of no change: of numbers without error, with noise, with sampling error too."""
LEVEL = 0.90
"""The level of a verdict, for each change by itself."""


LEAST = -1.0
"""The least change as a share: of numbers none of which is truly below 0 no more than all can go."""
WIDEST = 1.0
"""The margin of a change as a share from which on it says nothing and is not shown; files have it."""
GONE = "the later number came out below 0, which is no share of the earlier one"
LONG = 100_000
"""From which margin on a sentence counts in thousands and millions."""


@dataclass(frozen=True, repr=False)
class RelativeChange(Ratio):
    """One number over an earlier one, less 1; its interval is Fieller's, less 1, and holds 0 where the change's does.

    A ratio of positive numbers is 1 just when they are equal, so whether it is 1 is the question that the verdict
    answers, by the law of the difference; Fieller's interval takes the wider of two laws, and would answer otherwise
    in some of 100 draws. An end that would lie on the other side of 0 is 0.
    """

    difference: Comparison = field(default=None, compare=False)  # type: ignore[assignment]

    def fieller(self, level: float) -> tuple[float, float]:
        low, high = super().fieller(level)
        return low - 1, high - 1

    def reach(self, level: float) -> tuple[float, float]:
        below, above = super().reach(level)
        low, high = self.difference.interval(level)
        ends = with_the_verdict(*(np.array(one) for one in (self.value - below, self.value + above, low, high)))
        return self.value - max(float(ends[0]), LEAST), float(ends[1]) - self.value


def with_the_verdict(low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Intervals of percentages that leave out, or touch, 0 just where those of their changes, least to most, do.

    >>> with_the_verdict(*map(np.array, ([-0.1, 0.1, -0.3], [0.5, 0.5, 0.1], [3.0, -1.0, -9.0], [40.0, 40.0, -2.0])))
    (array([ 0. ,  0. , -0.3]), array([0.5, 0.5, 0. ]))
    """
    lower = np.where(least > 0, np.maximum(low, 0.0), np.where(most < 0, low, np.minimum(low, 0.0)))
    upper = np.where(most < 0, np.minimum(high, 0.0), np.where(least > 0, high, np.maximum(high, 0.0)))
    return lower, upper


@dataclass(frozen=True, repr=False)
class Change(Comparison):
    """The difference of a later number and an earlier one, both of which it remembers."""

    before: Estimate = None  # type: ignore[assignment]
    after: Estimate = None  # type: ignore[assignment]
    since: str = ""
    """The period that it is counted from."""
    covariance: Variance = 0.0
    """What noise gives both numbers in common, or the worst that it may."""

    @property
    def grade(self) -> str:
        """None: a grade says how a number compares with its error, and of a change the verdict does."""
        return ""

    @cached_property
    def percent(self) -> Figure:
        """The change as a share of the earlier number; no number where that is not above 0."""
        if self.after.value < 0:
            return NoNumber(GONE)
        over, under = replace(self.after, law=self.law), self.before
        if by_sides(own_side(self.after), own_side(self.before)):
            over, under = (replace(one, law=one.compared) for one in (self.after, self.before))
        try:
            found = ratio_of(over, under, self.covariance, "share", self._sampled()).of_nonnegative()
        except QueryError as error:
            return NoNumber(str(error))
        return RelativeChange(**{**_fields(found), "value": found.value - 1}, difference=self)

    def _sampled(self) -> Variance:
        """The sampling variance of the ratio, to first order, as of two samples that share nobody."""
        after, before = self.after.sampling_variance, self.before.sampling_variance
        if isinstance(after, Withheld) or isinstance(before, Withheld):
            return withheld(after, before) or 0.0
        if not self.before.value:
            return 0.0  # there is no ratio
        ratio = self.after.value / self.before.value
        return (after + ratio**2 * before) / self.before.value**2

    def reach(self, level: float) -> tuple[float, float]:
        """Both sides of the interval; refused where a mean that it is of could be anything at this level."""
        below, above = super().reach(level)
        if math.isnan(below) or math.isnan(above):
            raise QueryError(too_near(level))
        return below, above

    def __repr__(self) -> str:
        """The change with its error, and the verdict.

        >>> change_of(Estimate(98_500, 500.0**2), Estimate(100_400, 500.0**2), "2026-Q2")
        +1,900 ± 1,164, a real change
        """
        margin, verdict = self.moe(), self.verdict()
        if isinstance(margin, Withheld):
            value, reach = number(self.value), "withheld"
        elif verdict == REAL and margin:
            size, reach = beyond(abs(self.value), margin)
            value = "−" * (self.value < 0) + size
        else:
            value, reach = beside(self.value, margin), like(margin, self.value)
        return f"{'+' if self.value > 0 else ''}{value} ± {reach}, {words('en')(f'verdict.{verdict}')}"

    def verdict(self, level: float = LEVEL) -> str:
        """Whether the change is more than its error alone would make at a level, for this change by itself."""
        differs = self.differs(level)
        return UNSAID if isinstance(differs, Withheld) else REAL if differs else NONE

    def sentence(self, level: float = LEVEL) -> Sentence:
        """The verdict with its numbers: how much more or less, and how much the error alone would give."""
        differs, margin = self.differs(level), stated(self.moe(level))
        if isinstance(differs, Withheld) or margin is None:
            reason = Reason(differs.reason if isinstance(differs, Withheld) else "")
            return Sentence("change_unsaid", {"since": self.since, "reason": reason})
        keys = EXACT if not margin else SAMPLED if self.sampling_variance else NOISY
        key = keys[(0 if self.value > 0 else 1) if differs else 2]
        told: dict[str, float | str] = {"since": self.since, "percent": 100 * level}
        if margin >= LONG:
            return Sentence(key, {**self._shortened(margin, differs=differs), **told})
        if not differs or not margin:
            return Sentence(key, {"difference": abs(self.value) if differs else self.value, "moe": margin, **told})
        size, reach = map(SpokenNumber, beyond(abs(self.value), margin))
        return Sentence(key, {"difference": size, "moe": reach, **told})

    def _shortened(self, margin: float, *, differs: bool) -> dict[str, str]:
        """The difference and a long margin with the digits that this leaves, in thousands or millions."""
        digits, size = Digits.seen(self), abs(self.value) if differs else self.value
        return {
            "difference": CountedNumber(digits.number(size), digits.scale),
            "moe": CountedNumber(digits.margin(margin), digits.scale),
        }


def _fields(found: Ratio | Comparison) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def change_of(before: Estimate, after: Estimate, since: str, shared: float | None = 0.0) -> Change:
    """The later number minus the earlier one; `shared` is their covariance by noise, None where it cannot be told."""
    known = None if shared is None else _known(shared, before, after)
    covariance = worst(before.noise_variance, after.noise_variance) if known is None else known
    sampled = [after.sampling_variance, before.sampling_variance]
    apart = difference_of(after, before, covariance, sampled)
    return Change(**_fields(apart), before=before, after=after, since=since, covariance=covariance)


def _known(shared: float, before: Estimate, after: Estimate) -> float | None:
    """The covariance of noise and of what both were moved by; of ratios of moved numbers nobody tells how far."""
    if isinstance(before, Ratio) or isinstance(after, Ratio):
        return shared if before.law.noise is before.law and after.law.noise is after.law else None
    moved = moved_together(before.law, after.law)
    return None if moved is None else shared + float(moved[0])


def worst(one: Variance, other: Variance) -> Variance:
    """The covariance that makes a difference as uncertain as it can be, of two numbers with these variances.

    >>> worst(9.0, 16.0)
    -12.0
    """
    if isinstance(one, Withheld) or isinstance(other, Withheld):
        return withheld(one, other) or 0.0
    return -math.sqrt(max(one, 0.0) * max(other, 0.0))
