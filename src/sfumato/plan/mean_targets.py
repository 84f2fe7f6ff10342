"""Mean targets: what a total and a count may each be off by, so that their ratio is within a percentage of the truth.

To first order the relative variance of a ratio of independent numbers is the sum of theirs. Where their relative
margins at a budget of 1 are a and b and fall with the budget, and budgets add up (epsilon), the least sum that has
a²/e² + b²/f² = c² has e : f = a^(2/3) : b^(2/3); where squares add up (mu, rho) it is √a : √b, by Lagrange's rule.
"""

from collections.abc import Mapping
from dataclasses import replace

from sfumato.errors import PlanError
from sfumato.plan.decisions import Decisions
from sfumato.plan.margins import Target, budget_name, margin_of

PER = "/"


def of_mean(plan: Decisions, named: str, written: str, sizes: Mapping[str, float]) -> tuple[Target, Target]:
    """The targets of a total and of the count that it is over, for a mean that is `TOTAL/COUNT`."""
    total, _, count = (part.strip() for part in named.partition(PER))
    if not written.startswith("apd:"):
        raise PlanError(
            f"The target of the mean '{named}' is '{written}'; it is a share of the mean, as {named}=apd:5%."
        )
    wanted = [Target.read(name, written, sizes.get(name), None) for name in (total, count)]
    currencies = {budget_name(plan.measure(one.measure).with_) for one in wanted}
    if len(currencies) > 1:
        raise PlanError(f"{total} and {count} are paid in {' and '.join(sorted(currencies))}; pay both in one.")
    parts = [_at_one(plan, one) ** (2 / 3 if currencies == {"epsilon"} else 1) for one in wanted]
    # A relative margin a / e is in proportion to a^(1/3), or to √a: to the root of the part.
    shares = [(part / sum(parts)) ** 0.5 for part in parts]
    first, second = (replace(one, margin=share * one.margin) for one, share in zip(wanted, shares, strict=True))
    return first, second


def _at_one(plan: Decisions, target: Target) -> float:
    """The margin at a budget of 1, as a part of the size; of a rho, whose root it falls with, that of its mu."""
    measure = plan.measure(target.measure)
    name = budget_name(measure.with_)
    budget = float(getattr(measure.with_, name)) ** (0.5 if name == "rho" else 1)
    assert target.size is not None  # noqa: S101 - a share is of a size
    return margin_of(plan, measure, target) * budget / target.size
