"""Margins: what noise does to a number of a stated size, and the budget at which it does no more than is wanted."""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Mechanism, Typical
from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure
from sfumato.plan.right_tail import ratio_for, right_tail_chance
from sfumato.privacy import Move, plain
from sfumato.release import Withheld
from sfumato.release.figures import number

CURRENCIES = ("mu", "epsilon", "rho")
LEVEL = 0.90
"""How often numbers are within the margins that are asked for, where nobody says."""
LEAST, MOST = 1e-4, 1e4
"""Budgets outside of these are not looked for."""


@dataclass(frozen=True)
class Target:
    """The margin of error, 90%, that a number of a measure may have by noise.

    `size` is what such a number typically is, `largest` the largest value that it sums; both are public knowledge.
    Where the `aim` of many tables is the target, the margin is of what cells have over what they are to have. Where
    numbers of a tail are to be put into it, with a chance of `tail`, it is their standard deviation, and `spread` that
    of the true numbers of all cells.
    """

    measure: str
    margin: float
    size: float | None = None
    largest: float | None = None
    aim: bool = False
    level: float = LEVEL
    """How often a number is to be within the margin."""
    apart: float | None = None
    """The absolute percentage difference that the margin stands for, as a share."""
    tail: float | None = None
    spread: float | None = None

    def __post_init__(self) -> None:
        for name in ("margin", "size", "largest", "spread"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise PlanError(f"The target of '{self.measure}' has {name} {value:g}; it must be above 0.")

    @classmethod
    def read(
        cls, measure: str, written: str, size: float | None, largest: float | None, spread: float | None = None
    ) -> "Target":
        """A target as written: "2%" or "0.02" of the size, or a number in the unit of the measure.

        >>> Target.read("county", "2%", 15_000, 4_000).margin, Target.read("county", "300", None, 4_000).margin
        (300.0, 300.0)
        >>> Target.read("county", "apd:2%@95%", 15_000, None).level
        0.95
        """
        if written == "aim":
            return cls(measure, 1.0, aim=True)
        if written.startswith("tail:"):
            return cls._of_tail(measure, written.removeprefix("tail:"), size, largest, spread)
        share, at, level = written.removeprefix("apd:").partition("@")
        number, part = _number(measure, share), written.startswith("apd:") or share.endswith("%")
        if not part and number >= 1 and not at:
            return cls(measure, number, size, largest)
        if size is None:
            raise PlanError(
                f"The target of '{measure}' is {written} of something; state the typical size of its numbers, which is "
                f"public knowledge: --size {measure}=15000."
            )
        apart = number / (100 if share.endswith("%") else 1)
        often = _share(measure, level) if at else LEVEL
        return cls(measure, apart * size, size, largest, level=often, apart=apart)

    @classmethod
    def _of_tail(
        cls, measure: str, written: str, size: float | None, largest: float | None, spread: float | None
    ) -> "Target":
        """A target of classing: the chance that one of a tail is put into it."""
        chance = _share(measure, written)
        if spread is None:
            raise PlanError(
                f"The target of '{measure}' is to tell tails; state how spread the true numbers of its cells are, as a "
                f"standard deviation that is public knowledge: --spread {measure}=0.05."
            )
        return cls(measure, ratio_for(chance, measure) * spread, size, largest, tail=chance, spread=spread)

    def words(self, margin: float) -> str:
        """What a margin comes to, in the terms of the target."""
        if self.aim:
            return "its aim"
        if self.tail is not None and self.spread is not None:
            return f"{right_tail_chance(margin / self.spread):.1%} of a tail in it"
        if self.apart is not None and self.size is not None and self.level != LEVEL:
            return f"APD {margin / self.size:.3%} in {self.level:.3%} of cells"
        told = f"± {number(margin)}"
        return told if self.apart is None or self.size is None else f"{told}, APD {margin / self.size:.2%}"


def _number(measure: str, written: str) -> float:
    try:
        return float(written.removesuffix("%"))
    except ValueError:
        raise PlanError(
            f"The target of '{measure}' is '{written}'; write 2%, 0.02 or a margin in units, apd:5% or apd:5%@95%, or "
            "tail:90%."
        ) from None


def _share(measure: str, written: str) -> float:
    """A chance as written, "95%" or "0.95"."""
    found = _number(measure, written) / (100 if written.endswith("%") else 1)
    if not 0 < found < 1:
        raise PlanError(f"The target of '{measure}' holds with a chance of {written}; it lies between 0 and 1, as 90%.")
    return found


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
        raise PlanError(f"No margin of '{name}' can be told, as {margin.in_full}.")
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
    return mechanism.margin(move, number, target.level) if target.tail is None else mechanism.expected(move, number)


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
