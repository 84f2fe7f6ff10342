"""Mean targets: the least budgets of a total and a count at which their ratio is within a percentage of the truth.

With T truly summed over C, a mean is within a share p of the truth where the noisy total lies between (1 − p) and
(1 + p) times T c / C, c being the noisy count. That chance is summed over what the count may be published as, by the
laws of both; one that is published as 0 or less has no mean. For each budget of the count the least of the total is
found that makes the chance large enough, and of these pairs the one that costs least in all.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Self

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Mechanism, Typical
from sfumato.mechanisms.published_law import JUST_ABOVE, PublishedLaw
from sfumato.plan.decisions import Decisions
from sfumato.plan.margins import LEAST, MOST, budget_name, typical, with_budget
from sfumato.plan.targets import LEVEL, AccuracyTarget, PercentTarget, read_target
from sfumato.privacy import Move
from sfumato.release import Withheld

PER = "/"
FINE, MOST_COUNTS = 400, 4_000
"""Into how many parts of what a count may be off by it is divided where its steps are finer, and into how many."""
GOLDEN, CLOSE = (math.sqrt(5) - 1) / 2, 1e-7
PLACES, BESIDE = 4, 5
"""Budgets have so many decimal places, and so many of them to either side of the best are tried."""


@dataclass(frozen=True)
class MeanPart:
    """The total or the count of a mean: its noise, and the number of public knowledge that it is about."""

    mechanism: Mechanism
    move: Move
    number: Typical

    @property
    def size(self) -> float:
        return self.number.size or 0.0

    def at(self, budget: float) -> tuple[PublishedLaw, float] | None:
        """The law and about the error that the number has by noise of such a budget; none where none is stated."""
        mechanism = with_budget(self.mechanism, Fraction(budget).limit_denominator(10**9))
        try:
            law, error = mechanism.published_law(self.move, self.number), mechanism.expected(self.move, self.number)
        except PromiseError:
            return None
        return None if isinstance(law, Withheld) or isinstance(error, Withheld) else (law, error)

    @property
    def own(self) -> float:
        return float(getattr(self.mechanism, budget_name(self.mechanism)))


@dataclass(frozen=True)
class MeanTarget(AccuracyTarget):
    """One part of a mean, a total or the count that it is over, of which both together are to be within a share."""

    total: str
    count: str
    sizes: tuple[float, float]
    apart: float
    level: float
    measure: str
    largest: float | None = None

    @property
    def named(self) -> str:
        return f"{self.total}{PER}{self.count}"

    @property
    def size(self) -> float:  # type: ignore[override]
        return self.sizes[self.measure == self.count]

    @property
    def wanted(self) -> float:
        return self.apart

    def reached(self, mechanism: Mechanism, move: Move, number: Typical) -> Withheld:  # noqa: ARG002 - of both parts
        return Withheld("a mean is made of two measures")

    def reached_in(self, plan: Decisions) -> float:
        """How far the mean is from the truth, as a share of it, at the level, by the budgets of a plan."""
        (total, count), (low, high) = self.parts(plan), (0.0, self.apart)
        at = total.at(total.own), count.at(count.own)
        while self._chance(total, count, at, high) < self.level:
            high *= 2
        while high - low > CLOSE * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self._chance(total, count, at, middle) >= self.level else (middle, high)
        return high

    @staticmethod
    def _chance(
        total: MeanPart, count: MeanPart, at: tuple[tuple[PublishedLaw, float] | None, ...], apart: float
    ) -> float:
        first, second = at
        return mean_chance(first[0], total.size, *second, count.size, apart) if first and second else 0.0

    def words(self, reached: float) -> str:
        often = "" if self.level == LEVEL else f" in {self.level:.3%} of cells"
        return f"{self.named}: APD {reached:.2%}{often}"

    def widened(self, factor: float) -> Self:
        return replace(self, apart=factor * self.apart)

    def parts(self, plan: Decisions) -> tuple[MeanPart, MeanPart]:
        found = [plan.measure(name) for name in (self.total, self.count)]
        numbers = (replace(typical(plan, one), size=size) for one, size in zip(found, self.sizes, strict=True))
        first, second = (MeanPart(one.with_, plan.move(one), of) for one, of in zip(found, numbers, strict=True))
        return first, second

    def least(self, plan: Decisions) -> Fraction:
        """The budget of this part, of the pair that meets the target at the least cost."""
        return least_pair(*self.parts(plan), self.apart, self.level)[self.measure == self.count]


def of_mean(plan: Decisions, named: str, written: str, sizes: Mapping[str, float]) -> tuple[MeanTarget, MeanTarget]:
    """The targets of a total and of the count that it is over, for a mean that is `TOTAL/COUNT`."""
    names = [part.strip() for part in named.partition(PER)[::2]]
    if not written.startswith("apd:"):
        raise PlanError(
            f"The target of the mean '{named}' is '{written}'; it is a share of the mean, as {named}=apd:5%."
        )
    wanted = [read_target(name, written, sizes.get(name), None) for name in names]
    currencies = {budget_name(plan.measure(name).with_) for name in names}
    if len(currencies) > 1:
        raise PlanError(f"{' and '.join(names)} are paid in {' and '.join(sorted(currencies))}; pay both in one.")
    first, second = wanted
    assert isinstance(first, PercentTarget)  # noqa: S101 - as it is written
    assert isinstance(second, PercentTarget)  # noqa: S101
    made = MeanTarget(names[0], names[1], (first.size, second.size), first.apart, first.level, names[0])
    for part, name in zip(made.parts(plan), names, strict=True):
        if part.at(MOST) is None:
            why = part.mechanism.expected(part.move, part.number)
            raise PlanError(f"No margin of '{name}' can be told, as {getattr(why, 'in_full', 'it has none')}.")
    return made, replace(made, measure=names[1])


def mean_chance(
    total: PublishedLaw, sum_of: float, count: PublishedLaw, error: float, count_of: float, apart: float
) -> float:
    """The chance that a mean is within a share of the truth; `error` is about that of the count.

    >>> exact = PublishedLaw.normal(0.0)
    >>> round(mean_chance(PublishedLaw.normal(1.0), 100.0, exact, 0.0, 10.0, 0.0196), 3)
    0.95
    """
    wide = max(error, 1e-9 * count_of)
    counts, chances = count.spread_out(count_of, wide, count_of * apart / FINE, MOST_COUNTS)
    counts, chances = counts[counts > 0], chances[counts > 0]
    middle = sum_of / count_of * counts
    high = total.below(sum_of, middle * (1 + apart) + sum_of * JUST_ABOVE)
    return float((chances * (high - total.below(sum_of, middle * (1 - apart)))).sum())


@lru_cache(maxsize=64)
def least_pair(total: MeanPart, count: MeanPart, apart: float, level: float) -> tuple[Fraction, Fraction]:
    """The budgets of a total and a count that cost least together, of decimals with a few places."""
    power = 2 if budget_name(total.mechanism) == "mu" else 1

    def beside(counted: float, within: float = CLOSE) -> float:
        """The least budget of the total beside one of the count; infinite where none is enough."""
        law = count.at(counted)
        return math.inf if law is None else _least(lambda one: _enough(total.at(one), law), total.own, within)

    def _enough(law: tuple[PublishedLaw, float] | None, counted: tuple[PublishedLaw, float]) -> bool:
        return law is not None and mean_chance(law[0], total.size, *counted, count.size, apart) >= level

    exact = PublishedLaw.normal(0.0), 0.0
    first = _least(lambda one: (law := count.at(one)) is not None and _enough(exact, law), count.own)
    if math.isinf(first):
        raise PlanError(f"No budget of the count brings a mean within {apart:g} in {level:g} of cells.")
    best = _lowest(lambda one: one**power + beside(one, 1e-5) ** power, first, 100 * first)
    tried = (Fraction(round(best * 10**PLACES) + more, 10**PLACES) for more in range(-BESIDE, BESIDE + 1))
    pairs = [(_up(far), one) for one in tried if one > 0 and math.isfinite(far := beside(float(one)))]
    return min(pairs, key=lambda pair: pair[0] ** power + pair[1] ** power)


def _up(budget: float) -> Fraction:
    return Fraction(math.ceil(budget * 10**PLACES - 1e-6), 10**PLACES)


def _least(enough: Callable[[float], bool], start: float, within: float = CLOSE) -> float:
    """The least budget that is enough, from one up or down; infinite where none is."""
    low = high = start
    while not enough(high):
        if high > MOST:
            return math.inf
        low, high = high, 2 * high
    while low >= LEAST and enough(low):
        low, high = low / 2, low
    while high - low > within * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _lowest(cost: Callable[[float], float], low: float, high: float) -> float:
    """Where a cost that falls and then rises is least, by the golden section of logarithms."""
    one, other = (high * (low / high) ** GOLDEN, low * (high / low) ** GOLDEN)
    costs = cost(one), cost(other)
    while high > low * (1 + 1e-4):
        if costs[0] <= costs[1]:
            high, other, one = other, one, other * (low / other) ** GOLDEN
            costs = cost(one), costs[0]
        else:
            low, one, other = one, other, one * (high / one) ** GOLDEN
            costs = costs[1], cost(other)
    return math.sqrt(low * high)
