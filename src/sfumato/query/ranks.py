"""Ranks: where a row truly stands in a sorted table, given the noise."""

import math
from collections.abc import Callable, Sequence

from sfumato.query.estimate import z_score


def rank_intervals(
    values: Sequence[float],
    variance_of_difference: Callable[[int, int], float],
    level: float = 0.90,
    step: float = 0.0,
) -> list[tuple[int, int]]:
    """For each row the ranks, 1 the largest, that hold its true rank with at least this probability.

    A row is surely below another when their difference is beyond its error at a level shared out over all
    comparisons of that row (Bonferroni), so the joint error of the two counts, not each alone. So small a level lies
    far out, where geometric noise of a single cell has the tail of a Laplace law, exp(-sqrt(2) t) beyond t errors, and
    a normal one would let a row of fifty cover 72% instead of 90%; half a step is added as numbers move in steps.

    >>> rank_intervals([100.0, 50.0, 49.0], lambda one, other: 4.0)
    [(1, 1), (2, 3), (2, 3)]
    """
    count = len(values)
    if count < 2:
        return [(1, 1)] * count
    share = (1 - level) / (count - 1)
    reach = max(z_score(1 - share), -math.log(share) / math.sqrt(2))
    intervals = []
    for one in range(count):
        above = below = 0
        for other in range(count):
            if other == one:
                continue
            gap = values[other] - values[one]
            error = reach * math.sqrt(max(variance_of_difference(one, other), 0.0)) + step / 2
            above += gap > error
            below += -gap > error
        intervals.append((1 + above, count - below))
    return intervals
