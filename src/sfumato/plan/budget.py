"""Budget: the least mu that meets stated accuracy targets, from public numbers alone.

A target is the 90% margin that noise may give one number of a measure, for a number of a typical size that the planner
states from public knowledge, never from the data. Each measure has noise of its own, so each needs a mu of its own, and
squares of mu add up. Only clipped totals hang on something: the better their rows are measured, the lower their
topcodes, so the mu of the rows is where the sum of squares is least. Calibration comes on top and only narrows margins.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.mechanisms import Mechanism
from sfumato.plan.claimed import claimed_limit
from sfumato.plan.decisions import Decisions
from sfumato.plan.margins import barely_stated, budget_name, margin_of, meets, needed, with_budget
from sfumato.plan.mean_targets import MeanTarget
from sfumato.plan.measure import Measure
from sfumato.plan.price import total_of
from sfumato.plan.targets import AccuracyTarget, PercentTarget, Target
from sfumato.privacy import Limit, Loss, in_sequence

BARELY = "the least at which an error is stated"
"""Why a measure gets more than its target would need."""
PLACES = 4
"""Budgets are rounded up to so many decimal places."""
MOST_ROWS, GOLDEN = 50.0, (math.sqrt(5) - 1) / 2
"""The largest budget that is tried for rows, and what is kept of a range at each try."""


@dataclass(frozen=True)
class Share:
    """What one measure gets: its budget before and after, and the margin, or the chance, that it has then."""

    measure: str
    currency: str
    before: Fraction
    after: Fraction
    target: AccuracyTarget | None = None
    reached: float | None = None
    why: str = ""

    @property
    def margin(self) -> float | None:
        """The margin that it has then, where one is asked for: not of tails, nor of its part of a mean."""
        return self.reached if isinstance(self.target, Target | PercentTarget) else None


@dataclass(frozen=True, eq=False)
class Allotment:
    """The plan with the budgets that its targets need, and what that costs."""

    plan: Decisions
    shares: tuple[Share, ...]
    total: Loss
    limit: Limit
    wider: float | None = None
    """By what all margins would have to be widened to fit the limit; None where they do."""
    alone: tuple[str, ...] = ()
    """The measures that break the limit by themselves."""
    enough: tuple[str, ...] = ()
    """The measures whose budget meets their target and need not be the least that does."""

    @property
    def fits(self) -> bool:
        return self.wider is None


def over_periods(loss: Loss, periods: int) -> Loss:
    """The loss of several releases of the same units: mu grows as the root of their number.

    >>> from sfumato.privacy import Gaussian
    >>> over_periods(Gaussian("1.5"), 4).words()
    'mu 3'
    """
    return in_sequence([loss] * periods, loss)


def allot(plan: Decisions, targets: Sequence[AccuracyTarget]) -> Allotment:
    """The least budgets that meet the targets; a measure without a target keeps its own.

    Of all tables of up to so many variables, where records are exchanged, it is one that is enough if pairs of them
    are too many to try.
    """
    limit = claimed_limit(plan, "A budget is the least loss that meets a target")
    for target in targets:
        plan.measure(target.measure)
    by_name = {target.measure: target for target in targets}
    budgets = _budgets(plan, by_name)
    losses = _losses(plan, budgets)
    total = total_of(plan, list(losses.values()))
    renewed = replace(plan, measures=tuple(_with(measure, budgets[measure.name]) for measure in plan.measures))
    shares = tuple(_share(plan, renewed, measure.name, by_name) for measure in plan.measures)
    renewed.over.refuse_unlistable(
        renewed.measures
    )  # the least budget that meets a target may change more cells than can be listed
    enough = tuple(name for name in by_name if plan.measure(name).with_.bounded_cost(plan.move(plan.measure(name))))
    if total.within(limit):
        return Allotment(renewed, shares, total, limit, enough=enough)
    alone = tuple(
        target.measure for target in targets if not in_sequence([losses[target.measure]], limit).within(limit)
    )
    return Allotment(renewed, shares, total, limit, _wider(plan, by_name, limit), alone, enough)


def _budgets(plan: Decisions, targets: Mapping[str, AccuracyTarget]) -> dict[str, Fraction]:
    """For each measure its mu, epsilon or rho, rounded up; what a measure is given stands before it."""
    budgets: dict[str, Fraction] = {}
    for measure in plan.measures:
        target = targets.get(measure.name)
        given = tuple(with_budget(plan.measure(name).with_, budgets[name]) for name in measure.given)
        own = getattr(measure.with_, budget_name(measure.with_))
        least = own if target is None else _least(plan, measure, target, given)
        hanging = [one for one in plan.measures if measure.name in one.given]
        aimed = [one for one in hanging if one.name in targets]
        # A total that keeps its own mu must not lose by rows that are measured worse.
        floor = None if target is None and len(aimed) == len(hanging) else least
        budgets[measure.name] = _rows_mu(plan, measure.with_, floor, aimed, targets) if aimed else least
    return budgets


def _least(plan: Decisions, measure: Measure, target: AccuracyTarget, given: tuple[Mechanism, ...]) -> Fraction:
    """The least budget of a few decimal places that meets a target; of a mean that of its part.

    The search ends near it, on either side.
    """
    if isinstance(target, MeanTarget):
        return target.least(plan)
    near = up(needed(plan, measure, target, given))
    tried = (near + Fraction(step, 10**PLACES) for step in (-1, 0, 1))
    return next((one for one in tried if one > 0 and meets(plan, measure, target, given, one)), near)


def _rows_mu(
    plan: Decisions,
    rows: Mechanism,
    least: Fraction | None,
    hanging: Sequence[Measure],
    targets: Mapping[str, AccuracyTarget],
) -> Fraction:
    """The mu of the rows at which it and the totals that hang on it cost least together, not below the least."""

    def cost(mu: float) -> float:
        given = (with_budget(rows, Fraction(mu).limit_denominator(10**9)),)
        return mu**2 + sum(needed(plan, one, targets[one.name], given, within=1e-3) ** 2 for one in hanging)

    best = up(_lowest(cost, max(float(least or 0), 1e-3), MOST_ROWS))
    return best if least is None else max(best, least)


def _lowest(cost: Callable[[float], float], low: float, high: float) -> float:
    """Where a cost that falls and then rises is least, to a twentieth: it is flat there."""
    first, inner = low, [high * (low / high) ** GOLDEN, low * (high / low) ** GOLDEN]
    costs = [cost(one) for one in inner]
    while high > 1.05 * low:
        if costs[0] <= costs[1]:
            high, inner[1], costs[1] = inner[1], inner[0], costs[0]
            inner[0] = high * (low / high) ** GOLDEN
            costs[0] = cost(inner[0])
        else:
            low, inner[0], costs[0] = inner[0], inner[1], costs[1]
            inner[1] = low * (high / low) ** GOLDEN
            costs[1] = cost(inner[1])
    return min(first, math.sqrt(low * high), key=cost)


def up(budget: float) -> Fraction:
    """A budget rounded up to a few decimal places.

    >>> up(0.60001)
    Fraction(6001, 10000)
    """
    return Fraction(max(1, math.ceil(budget * 10**PLACES - 1e-9)), 10**PLACES)


def _with(measure: Measure, budget: Fraction) -> Measure:
    return replace(measure, with_=with_budget(measure.with_, budget))


def _losses(plan: Decisions, budgets: Mapping[str, Fraction]) -> dict[str, Loss]:
    measures = [_with(measure, budgets[measure.name]) for measure in plan.measures]
    return {measure.name: measure.with_.loss(plan.move(measure)) for measure in measures}


def _wider(plan: Decisions, targets: Mapping[str, AccuracyTarget], limit: Limit) -> float | None:
    """The factor by which all margins must grow together for the plan to fit, or infinity where nothing helps."""
    low, high = 1.0, 1e4

    def fits(factor: float) -> bool:
        widened = {name: target.widened(factor) for name, target in targets.items()}
        total = total_of(plan, list(_losses(plan, _budgets(plan, widened)).values()))
        return total.within(limit)

    if not fits(high):
        return math.inf
    for _ in range(14):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _share(plan: Decisions, renewed: Decisions, name: str, targets: Mapping[str, AccuracyTarget]) -> Share:
    now, then, target = plan.measure(name).with_, renewed.measure(name), targets.get(name)
    currency = budget_name(now)
    budgets = getattr(now, currency), getattr(then.with_, currency)
    if isinstance(target, MeanTarget):
        return Share(name, currency, *budgets, target, target.reached_in(renewed), "its part of a mean")
    reached = margin_of(renewed, then, target) if target else None
    if target and barely_stated(renewed, then, target):
        return Share(name, currency, *budgets, target, reached, BARELY)
    hangs = any(name in measure.given and measure.name in targets for measure in plan.measures)
    why = "meets its target" if target else "keeps its own"
    if hangs and (target is None or _well_within(target, reached)):
        why = "makes topcodes low, so that all cost least"
    return Share(name, currency, *budgets, target, reached, why)


def _well_within(target: AccuracyTarget, reached: float | None) -> bool:
    return target.in_units is not None and reached is not None and reached < 0.99 * target.in_units
