"""Sweep: the same plan at other budgets, each scaled until it costs a total, and priced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from sfumato.errors import PlanError, nearest
from sfumato.mechanisms import Mechanism
from sfumato.plan import Measure, Plan, Price
from sfumato.plan.claimed import claimed_limit
from sfumato.privacy import Approximate, Concentrated, Gaussian, Limit, Loss, as_concentrated, exact, positive
from sfumato.privacy.notation import bounded_limit


@dataclass(frozen=True)
class Sweep:
    """The total losses to try, in the limit's currency, the caps, the shares on controls, and the draws of each."""

    totals: tuple[Fraction, ...]
    caps: tuple[int, ...] = ()
    draws: int = 5
    controls: tuple[Fraction, ...] = ()

    @classmethod
    def read(cls, plan: Plan, given: Mapping[str, Sequence[str]], draws: int = 5) -> "Sweep":
        """The sweep that a user writes as epsilon=0.5,1,2, cap=3,7 and controls=0.25,0.5."""
        currency = claimed_limit(plan, "A sweep scales all budgets to a total loss").currency
        known = [currency]
        known += ["cap"] if any(hasattr(measure.with_, "cap") for measure in plan.measures) else []
        known += ["controls"] if controls_of(plan) else []
        for name in given:
            if name not in known:
                raise PlanError(
                    f"--sweep {name} cannot be swept; the plan's budget is in {currency}, for example "
                    f"--sweep {currency}=0.5,1,2; {nearest(name, known)}"
                )
        if draws < 1:
            raise PlanError(f"{draws} draws were asked for; a sweep needs 1 or more.")
        caps = tuple(_whole(one) for one in given.get("cap", ()))
        totals = tuple(positive(one, currency) for one in given.get(currency, ()))
        shares = tuple(_share(one) for one in given.get("controls", ()))
        return cls(totals or (size(plan.price().total),), caps, draws, shares)


def _whole(text: str) -> int:
    cap = positive(text, "cap")
    if cap.denominator != 1:
        raise PlanError(f"--sweep cap={text} is no whole number; a cap is the most steps that a cell may move.")
    return int(cap)


def _share(text: str) -> Fraction:
    share = positive(text, "controls")
    if share >= 1:
        raise PlanError(f"--sweep controls={text} is no share of the loss; it lies between 0 and 1, for example 0.25.")
    return share


def controls_of(plan: Plan) -> frozenset[str]:
    """The measures that steps calibrate to."""
    return frozenset(name for step in plan.then for name in step.to)


def shared(plan: Plan, share: Fraction | None) -> Plan:
    """The plan with this share of its loss spent on control tables; mu is shared out by its squares."""
    if share is None:
        return plan
    losses = {one.name: as_concentrated(one.with_.loss(plan.move(one))) for one in plan.measures}
    costs = {name: _cost(loss, plan.limit) for name, loss in losses.items()}
    named, whole = controls_of(plan), sum(costs.values())
    spent = sum(cost for name, cost in costs.items() if name in named)
    more, less = float(share) * whole / spent, (1 - float(share)) * whole / (whole - spent)
    power = 1.0 if isinstance(plan.limit, Approximate) else 0.5
    factors = {name: Fraction((more if name in named else less) ** power).limit_denominator(10**6) for name in costs}
    measures = tuple(replace(one, with_=scaled(one.with_, factors[one.name])) for one in plan.measures)
    return replace(plan, measures=measures, limit=_loosened(plan, measures))


def _cost(loss: Loss, limit: Loss) -> float:
    """What a measure adds to the total: its epsilon where epsilons add, its rho where squares do."""
    rho = float(loss.rho) if isinstance(loss, Concentrated) else 0.0
    return (2 * rho) ** 0.5 if isinstance(limit, Approximate) else rho


def currency_of(limit: Loss) -> str:
    return bounded_limit(limit).currency


def size(loss: Loss) -> Fraction:
    """A loss as one number of its currency; delta stands beside it."""
    if isinstance(loss, Gaussian):
        return exact(f"{loss.mu:.12g}", "mu")
    return loss.rho if isinstance(loss, Concentrated) else getattr(loss, "epsilon", Fraction(0))


def loss_words(loss: Loss, limit: Loss) -> str:
    """The loss to four digits; scaled budgets are fractions that nobody wants to read."""
    delta = getattr(loss, "delta", 0) if isinstance(loss, Approximate) else 0
    return f"{currency_of(limit)} {float(size(loss)):.4g}" + (f", delta {float(delta):.2g}" if delta else "")


def scaled(mechanism: Mechanism, factor: Fraction, cap: int | None = None) -> Mechanism:
    """The mechanism with so many times its budget, and another cap where it has one; rho goes with the square."""
    changed: dict[str, Any] = {}
    for one in fields(mechanism):  # type: ignore[arg-type]
        given = getattr(mechanism, one.name)
        if one.name in {"epsilon", "mu"} and given is not None:
            changed[one.name] = given * factor
        elif one.name == "rho" and given is not None:
            changed[one.name] = given * factor**2
        elif one.name == "cap" and cap is not None:
            changed[one.name] = cap
    return replace(mechanism, **changed)  # type: ignore[type-var]


def rescaled(plan: Plan, total: Fraction, cap: int | None = None) -> tuple[Plan, Price]:
    """The plan with all budgets scaled alike until they cost a total, and its price; its own limit does not bind."""
    factor = Fraction(1)
    for _ in range(60):
        tried = _times(plan, factor, cap)
        priced = tried.price()
        ratio = total / size(priced.total)
        if abs(ratio - 1) < Fraction(1, 10_000):
            break
        step = Fraction(float(ratio) ** 0.5).limit_denominator(10**6) if isinstance(plan.limit, Concentrated) else ratio
        factor = (factor * step).limit_denominator(10**9)
    return tried, priced


def _times(plan: Plan, factor: Fraction, cap: int | None) -> Plan:
    measures = tuple(replace(one, with_=scaled(one.with_, factor, cap)) for one in plan.measures)
    return replace(plan, measures=measures, limit=_loosened(plan, measures))


def _loosened(plan: Plan, measures: Sequence[Measure]) -> Limit:
    """A limit in the plan's currency that does not bind."""
    limit: Limit = Gaussian(10**9) if isinstance(plan.limit, Gaussian) else Concentrated(10**9)
    if isinstance(plan.limit, Approximate):
        losses = [one.with_.loss(plan.move(one)) for one in measures]
        delta = sum((loss.delta for loss in losses if isinstance(loss, Approximate)), plan.limit.delta)
        limit = Approximate(10**9, min(delta, Fraction(999_999, 10**6)))
    return limit
