"""Margins: what noise does to a number of a stated size, and the budget at which it does no more than is wanted."""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import PlanError
from sfumato.mechanisms import ClippedTotal, Mechanism, SquareRoot
from sfumato.mechanisms.clipped_total import scales_of
from sfumato.privacy import Root

if TYPE_CHECKING:
    from sfumato.plan.measure import Measure
    from sfumato.plan.plan import Plan

Z90 = NormalDist().inv_cdf(0.95)
"""How many standard errors a 90% margin is."""
CURRENCIES = ("mu", "epsilon", "rho")


@dataclass(frozen=True)
class Target:
    """The margin of error, 90%, that a number of a measure may have by noise.

    `size` is what such a number typically is, `largest` the largest value that it sums; both are public knowledge.
    """

    measure: str
    margin: float
    size: float | None = None
    largest: float | None = None

    def __post_init__(self) -> None:
        for name in ("margin", "size", "largest"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise PlanError(f"The target of '{self.measure}' has {name} {value:g}; it must be above 0.")

    @classmethod
    def read(cls, measure: str, written: str, size: float | None, largest: float | None) -> "Target":
        """A target as written: "2%" or "0.02" of the size, or a number in the unit of the measure.

        >>> Target.read("county", "2%", 15_000, 4_000).margin, Target.read("county", "300", None, 4_000).margin
        (300.0, 300.0)
        """
        try:
            number = float(written.removesuffix("%"))
        except ValueError:
            raise PlanError(f"The target of '{measure}' is '{written}'; write 2%, 0.02 or a margin in units.") from None
        if not written.endswith("%") and number >= 1:
            return cls(measure, number, size, largest)
        if size is None:
            raise PlanError(
                f"The target of '{measure}' is {written} of something; state the typical size of its numbers, which is "
                f"public knowledge: --size {measure}=15000."
            )
        return cls(measure, number * size / (100 if written.endswith("%") else 1), size, largest)


def budget_name(mechanism: Mechanism) -> str:
    """Whether a mechanism is paid in mu, epsilon or rho."""
    for field in fields(mechanism):  # type: ignore[arg-type]
        if field.name in CURRENCIES:
            return field.name
    raise PlanError(f"{mechanism.name} has none of {', '.join(CURRENCIES)}, so no budget can be allotted to it.")


def margin_of(plan: "Plan", measure: "Measure", target: Target, rows_mu: float) -> float:
    """The margin that a measure has at its own budget, for a number of the stated size."""
    step = float(measure.of.step)
    if isinstance(measure.with_, SquareRoot):
        spread = (float(_move(plan, measure).farthest) / float(measure.with_.mu)) ** 2
        return Z90 * math.sqrt(4 * _size(target) * spread + 2 * spread**2)
    if isinstance(measure.with_, ClippedTotal):
        scale = _scale(plan, measure, target, rows_mu, exact=True)
        return Z90 * step * math.sqrt((scale / float(measure.with_.mu)) ** 2 + 1 / 12)
    return Z90 * step * math.sqrt(measure.with_.law(plan.move(measure)).variance)


def root_mu(plan: "Plan", measure: "Measure", target: Target) -> float:
    """The mu at which 4 x s² + 2 s⁴, s = beta / mu, is the variance wanted: a quadratic in s²."""
    size, wanted = _size(target), (target.margin / Z90) ** 2 / 2
    return float(_move(plan, measure).farthest) / math.sqrt(wanted / (size + math.sqrt(size**2 + wanted)))


def clipped_mu(plan: "Plan", measure: "Measure", target: Target, rows_mu: float, *, exact: bool = True) -> float:
    """The mu at which a clipped total has the error wanted, its topcode set by rows measured at another mu."""
    wanted = (target.margin / Z90 / float(measure.of.step)) ** 2 - 1 / 12
    if wanted <= 0:
        raise PlanError(
            f"The target of '{measure.name}' is a margin of {target.margin:g}, less than rounding to its step of "
            f"{float(measure.of.step):g} gives."
        )
    return _scale(plan, measure, target, rows_mu, exact=exact) / math.sqrt(wanted)


def _scale(plan: "Plan", measure: "Measure", target: Target, rows_mu: float, *, exact: bool) -> float:
    """How far a clipped total can move, in steps, with the topcode expected of a group with such a largest value."""
    assert isinstance(measure.with_, ClippedTotal)  # noqa: S101 - asked of clipped totals alone
    if target.largest is None:
        raise PlanError(
            f"The noise of '{measure.name}' follows the largest value in a group; state a typical one, which is public "
            f"knowledge: --largest {measure.name}=4000."
        )
    move, step = _move(plan, measure), float(measure.of.step)
    reach = NormalDist().inv_cdf(1 - float(measure.with_.clip)) * float(move.farthest) / rows_mu
    root, beta = math.sqrt(target.largest) + reach, float(move.beta)
    if not exact:
        return move.units * max(beta**2, 2 * beta * root - beta**2) / step
    topcode = np.array([math.floor(root**2 / step)], dtype=np.int64)
    return float(scales_of(topcode, move, measure.of.step)[0])


def fitting(plan: "Plan", measure: "Measure", target: Target) -> float:
    """The least budget at which a table's noise is as small as wanted, by halving: more budget is less noise."""
    name = budget_name(measure.with_)

    def margin(budget: float) -> float:
        tried = replace(measure.with_, **{name: Fraction(budget).limit_denominator(10**9)})  # type: ignore[type-var]
        return Z90 * float(measure.of.step) * math.sqrt(tried.law(plan.move(measure)).variance)

    low, high = 1e-4, 1.0
    while margin(high) > target.margin:
        low, high = high, 2 * high
        if high > 1e4:
            raise PlanError(f"No budget brings '{measure.name}' to a margin of {target.margin:g}.")
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if margin(middle) <= target.margin else (middle, high)
    return high


def _size(target: Target) -> float:
    if target.size is None:
        raise PlanError(
            f"The noise of '{target.measure}' grows with the number it is on; state a typical size, which is public "
            f"knowledge: --size {target.measure}=15."
        )
    return target.size


def _move(plan: "Plan", measure: "Measure") -> Root:
    move = plan.move(measure)
    assert isinstance(move, Root)  # noqa: S101 - such mechanisms are refused elsewhere
    return move
