"""Margins: what noise does to a number of a stated size, and the budget at which it does no more than is wanted."""

from dataclasses import fields, replace
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Mechanism, Typical
from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure
from sfumato.plan.targets import AccuracyTarget
from sfumato.privacy import Move, plain
from sfumato.release import Withheld

CURRENCIES = ("mu", "epsilon", "rho")
LEAST, MOST = 1e-4, 1e4
"""Budgets outside of these are not looked for."""


def budget_name(mechanism: Mechanism) -> str:
    """Whether a mechanism is paid in mu, epsilon or rho."""
    for field in fields(mechanism):  # type: ignore[arg-type]
        if field.name in CURRENCIES and getattr(mechanism, field.name) is not None:
            return field.name
    raise PlanError(f"{mechanism.name} has none of {', '.join(CURRENCIES)}, so no budget can be allotted to it.")


def typical(plan: Decisions, measure: Measure, target: AccuracyTarget | None = None, cells: int = 1) -> Typical:
    """A number of a measure, as far as it is known before there are data."""
    given = tuple(plan.measure(name).with_ for name in measure.given)
    size, largest = (target.size, target.largest) if target else (None, None)
    return Typical(measure.of.step, size, largest, cells, given)


def margin_of(plan: Decisions, measure: Measure, target: AccuracyTarget) -> float:
    """The margin that a measure has at its own budget, for a number of the stated size."""
    return _told(target.reached(measure.with_, plan.move(measure), typical(plan, measure, target)), measure.name)


def barely_stated(plan: Decisions, measure: Measure, target: AccuracyTarget) -> bool:
    """Whether a thousandth less budget would leave no margin that could be stated."""
    less = with_budget(measure.with_, getattr(measure.with_, budget_name(measure.with_)) * Fraction(999, 1_000))
    return isinstance(_or_why(less, plan.move(measure), typical(plan, measure, target), target), Withheld)


def _told(margin: float | Withheld, name: str) -> float:
    if isinstance(margin, Withheld):
        rehearsed = "" if "--" in margin.in_full else " `sfumato assess --sweep` rehearses it at several budgets."
        raise PlanError(f"No margin of '{name}' can be told, as {margin.in_full}.{rehearsed}")
    return margin


def _or_why(mechanism: Mechanism, move: Move, number: Typical, target: AccuracyTarget) -> float | Withheld:
    """The margin, or why there is none at this budget, as where it is too small for any claim."""
    try:
        return target.reached(mechanism, move, number)
    except PromiseError as refused:
        return Withheld(str(refused))


def with_budget(mechanism: Mechanism, budget: Fraction) -> Mechanism:
    return replace(mechanism, **{budget_name(mechanism): budget})  # type: ignore[type-var]


def meets(
    plan: Decisions, measure: Measure, target: AccuracyTarget, given: tuple[Mechanism, ...], budget: Fraction
) -> bool:
    """Whether a number is as exact as wanted at just this budget; where no margin is stated, it is not."""
    number = replace(typical(plan, measure, target), given=given)
    found = _or_why(with_budget(measure.with_, budget), plan.move(measure), number, target)
    return not isinstance(found, Withheld) and target.met(found)


def needed(
    plan: Decisions, measure: Measure, target: AccuracyTarget, given: tuple[Mechanism, ...] = (), within: float = 1e-7
) -> float:
    """The least budget at which a number is as exact as wanted, from the measure's own up or down, to a part of it.

    A budget at which no margin is stated is too small, however wide a margin is wanted.
    """
    move, number = plan.move(measure), replace(typical(plan, measure, target), given=given)

    def margin(budget: float) -> float | Withheld:
        return _or_why(with_budget(measure.with_, Fraction(budget).limit_denominator(10**9)), move, number, target)

    def enough(found: float | Withheld) -> bool:
        return not isinstance(found, Withheld) and target.met(found)

    low = high = float(getattr(measure.with_, budget_name(measure.with_)))
    while not enough(found := margin(high)):
        if high > MOST:
            _told(target.reached(measure.with_, move, number), measure.name)
            raise PlanError(
                f"No budget brings '{measure.name}' to {target.words(target.wanted)}; at {budget_name(measure.with_)} "
                f"{high:g} it has {target.words(_told(found, measure.name))}."
            )
        low, high = high, 2 * high
    if found == 0 and target.in_units is not None and target.in_units < measure.of.step:
        raise PlanError(
            f"The target of '{measure.name}' is ± {target.in_units:g}, less than one step of it, "
            f"{plain(measure.of.step)}: its noise is whole steps, so only next to none of it would do. Give a target "
            "of a step or more, or the measure a finer step."
        )
    while low >= LEAST and enough(margin(low)):
        low, high = low / 2, low
    while high - low > within * high:  # margins fall by steps: of the noise, or of its scale
        middle = (low + high) / 2
        low, high = (low, middle) if enough(margin(middle)) else (middle, high)
    return high
