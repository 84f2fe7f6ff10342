"""Margins: what noise does to a number of a stated size, and the budget at which it does no more than is wanted."""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Mechanism, Typical
from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure
from sfumato.privacy import Move, plain
from sfumato.release import Withheld

CURRENCIES = ("mu", "epsilon", "rho")
LEAST, MOST = 1e-4, 1e4
"""Budgets outside of these are not looked for."""


@dataclass(frozen=True)
class Target:
    """The margin of error, 90%, that a number of a measure may have by noise.

    `size` is what such a number typically is, `largest` the largest value that it sums; both are public knowledge.
    Where the `aim` of many tables is the target, the margin is of what cells have over what they are to have.
    """

    measure: str
    margin: float
    size: float | None = None
    largest: float | None = None
    aim: bool = False

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
        if written == "aim":
            return cls(measure, 1.0, aim=True)
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
        if field.name in CURRENCIES and getattr(mechanism, field.name) is not None:
            return field.name
    raise PlanError(f"{mechanism.name} has none of {', '.join(CURRENCIES)}, so no budget can be allotted to it.")


def typical(plan: Decisions, measure: Measure, target: Target | None = None, cells: int = 1) -> Typical:
    """A number of a measure, as far as it is known before there are data."""
    given = tuple(plan.measure(name).with_ for name in measure.given)
    size, largest = (target.size, target.largest) if target else (None, None)
    return Typical(measure.of.step, size, largest, cells, given)


def margin_of(plan: Decisions, measure: Measure, target: Target) -> float:
    """The margin that a measure has at its own budget, for a number of the stated size."""
    return _told(_margin(measure.with_, plan.move(measure), typical(plan, measure, target), target), measure.name)


def barely_stated(plan: Decisions, measure: Measure, target: Target) -> bool:
    """Whether a thousandth less budget would leave no margin that could be stated."""
    less = with_budget(measure.with_, getattr(measure.with_, budget_name(measure.with_)) * Fraction(999, 1_000))
    return isinstance(_or_why(less, plan.move(measure), typical(plan, measure, target), target), Withheld)


def _told(margin: float | Withheld, name: str) -> float:
    if isinstance(margin, Withheld):
        raise PlanError(f"No margin of '{name}' can be told, as {margin.reason}.")
    return margin


def _or_why(mechanism: Mechanism, move: Move, number: Typical, target: Target) -> float | Withheld:
    """The margin, or why there is none at this budget, as where it is too small for any claim."""
    try:
        return _margin(mechanism, move, number, target)
    except PromiseError as refused:
        return Withheld(str(refused))


def _margin(mechanism: Mechanism, move: Move, number: Typical, target: Target) -> float | Withheld:
    name = target.measure
    if target.aim:
        if not (wanted := mechanism.wanted(move, number)):
            raise PlanError(
                f"'{name}' has no targets as its aim, which --target {name}=aim would meet; give a 90% margin, or "
                'write aim = { "1" = "3", "2" = "5" } into its with.'
            )
        return max(error / to for error, to in wanted.values())
    return mechanism.margin(move, number)


def with_budget(mechanism: Mechanism, budget: Fraction) -> Mechanism:
    return replace(mechanism, **{budget_name(mechanism): budget})  # type: ignore[type-var]


def needed(
    plan: Decisions, measure: Measure, target: Target, given: tuple[Mechanism, ...] = (), within: float = 1e-7
) -> float:
    """The least budget at which a number is as exact as wanted, from the measure's own up or down, to a part of it.

    A budget at which no margin is stated is too small, however wide a margin is wanted.
    """
    move, number = plan.move(measure), replace(typical(plan, measure, target), given=given)

    def margin(budget: float) -> float | Withheld:
        return _or_why(with_budget(measure.with_, Fraction(budget).limit_denominator(10**9)), move, number, target)

    def enough(found: float | Withheld) -> bool:
        return not isinstance(found, Withheld) and found <= target.margin

    low = high = float(getattr(measure.with_, budget_name(measure.with_)))
    while not enough(found := margin(high)):
        if high > MOST:
            _told(_margin(measure.with_, move, number, target), measure.name)
            raise PlanError(
                f"No budget brings '{measure.name}' to a margin of {target.margin:g}; at {budget_name(measure.with_)} "
                f"{high:g} it is {_told(found, measure.name):.3g}."
            )
        low, high = high, 2 * high
    if found == 0 and target.margin < measure.of.step:
        raise PlanError(
            f"The target of '{measure.name}' is ± {target.margin:g}, less than one step of it, "
            f"{plain(measure.of.step)}: its noise is whole steps, so only next to none of it would do. Give a target "
            "of a step or more, or the measure a finer step."
        )
    while low >= LEAST and enough(margin(low)):
        low, high = low / 2, low
    while high - low > within * high:  # margins fall by steps: of the noise, or of its scale
        middle = (low + high) / 2
        low, high = (low, middle) if enough(margin(middle)) else (middle, high)
    return high
