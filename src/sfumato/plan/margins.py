"""Margins: what noise does to a number of a stated size, and the budget at which it does no more than is wanted."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from sfumato.errors import PlanError
from sfumato.mechanisms import Mechanism, Typical
from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure
from sfumato.privacy import Move
from sfumato.release import Withheld
from sfumato.release.tails import z_score

CURRENCIES = ("mu", "epsilon", "rho")
LEAST, MOST = 1e-4, 1e4
"""Budgets outside of these are not looked for."""


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


def typical(plan: Decisions, measure: Measure, target: Target | None = None, cells: int = 1) -> Typical:
    """A number of a measure, as far as it is known before there are data."""
    given = tuple(plan.measure(name).with_ for name in measure.given)
    size, largest = (target.size, target.largest) if target else (None, None)
    return Typical(measure.of.step, size, largest, cells, given)


def margin_of(plan: Decisions, measure: Measure, target: Target) -> float:
    """The margin that a measure has at its own budget, for a number of the stated size."""
    return _margin(measure.with_, plan.move(measure), typical(plan, measure, target), measure.name)


def _margin(mechanism: Mechanism, move: Move, number: Typical, name: str) -> float:
    error = mechanism.expected(move, number)
    if isinstance(error, Withheld):
        raise PlanError(f"No margin of '{name}' can be told, as {error.reason}: --size {name}=15, --largest {name}=4.")
    return z_score(0.90) * error


def with_budget(mechanism: Mechanism, budget: Fraction) -> Mechanism:
    return replace(mechanism, **{budget_name(mechanism): budget})  # type: ignore[type-var]


def needed(plan: Decisions, measure: Measure, target: Target, given: tuple[Mechanism, ...] = ()) -> float:
    """The least budget at which a number is as exact as wanted, from the measure's own up or down."""
    move, number = plan.move(measure), replace(typical(plan, measure, target), given=given)

    def short(budget: float) -> float:
        tried = with_budget(measure.with_, Fraction(budget).limit_denominator(10**9))
        return math.log(_margin(tried, move, number, measure.name) / target.margin)

    low = high = float(getattr(measure.with_, budget_name(measure.with_)))
    below = above = short(high)
    while above > 0:
        if high > MOST:
            raise PlanError(
                f"No budget brings '{measure.name}' to a margin of {target.margin:g}; at {budget_name(measure.with_)} "
                f"{high:g} it is {target.margin * math.exp(above):.3g}."
            )
        low, below, high = high, above, 2 * high
        above = short(high)
    while below <= 0:
        if low < LEAST:
            return low
        high, above, low = low, below, low / 2
        below = short(low)
    return _between((math.log(low), below), (math.log(high), above), short)


def _between(low: tuple[float, float], high: tuple[float, float], short: Callable[[float], float]) -> float:
    """Where a falling function of the logarithm is 0, by false position (Illinois): right at once for powers."""
    for _ in range(100):
        middle = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        off = short(math.exp(middle))
        if abs(off) < 1e-9:
            return math.exp(middle)
        low, high = ((middle, off), (high[0], high[1] / 2)) if off > 0 else ((low[0], low[1] / 2), (middle, off))
    return math.exp(high[0])
