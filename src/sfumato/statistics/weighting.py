"""Weighting: whether a statistic counts rows by their weights, and what one row then adds."""

from sfumato.errors import PlanError
from sfumato.privacy import Contribution, plain
from sfumato.schema import Clipped

MOST_STEPS = 2**53
"""The most steps that one row may add: whole numbers up to it are exact as doubles."""


def check_weighted(weighted: object, title: str) -> bool | None:
    """Whether a statistic is weighted as a plan writes it; None where the plan does not say."""
    if weighted is not None and not isinstance(weighted, bool):
        raise PlanError(f"{title}: weighted is {weighted!r}; write weighted = true or weighted = false.")
    return weighted


def refuse_weighted(weighted: object, title: str) -> bool | None:
    """Whether a statistic that counts every row once is said to do so; refused where it is to be weighted."""
    if check_weighted(weighted, title):
        raise PlanError(f"{title} cannot be weighted: Sfumato weights counts and totals only. Write weighted = false.")
    return False if weighted is False else None


def weight_row(row: Contribution, weight: Clipped) -> Contribution:
    """What a row adds with its weight; refused where the two bounds together pass what a double holds exactly."""
    weighted = Contribution(
        row.column,
        row.low,
        row.high,
        row.step,
        row.power,
        row.above,
        row.among,
        Contribution(weight.column, weight.low, weight.high, weight.step),
    )
    if max(map(abs, weighted.bounds)) > MOST_STEPS:
        raise PlanError(
            f"The clip of {row.column} times weight_clip, up to {plain(weight.high)}, reaches beyond 2^53 steps. "
            "Choose tighter bounds or coarser steps."
        )
    return weighted


def require_weight(weight: Clipped | None, title: str) -> Clipped:
    """The weight of a weighted statistic; refused where the plan gave it none."""
    if weight is None:
        raise PlanError(
            f'{title} is weighted, and the plan gives no bounds of a weight. Write in [data]: weight = "…", '
            'weight_clip = ["0", "1500"].'
        )
    return weight
