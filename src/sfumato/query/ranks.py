"""Ranks: where a row truly stands in a sorted table, given the noise."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sfumato.query.sampling import NotSampled, Sampling
from sfumato.release import Product, Withheld
from sfumato.release.tails import z_score
from sfumato.schema import Grid, LeafGroups

Floats = NDArray[np.float64]
MOST_ROWS = 5_000
"""The most rows of which all pairs are compared."""
MOST_STEPS = 12
"""From so many steps on, what is beyond the error is beyond the step as well."""


@dataclass(frozen=True)
class RowStanding:
    """A row in the order of its column: its place in the table as it was, its code, and the ranks it may truly have."""

    place: int
    code: str
    value: float
    ranks: tuple[int, int] | None


def ranks_of_intervals(intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """For each row the ranks, 1 the largest, that hold its true one if every true number lies in its interval.

    >>> ranks_of_intervals([(90, 110), (40, 60), (50, 70)])
    [(1, 1), (2, 3), (2, 3)]
    """
    lows, highs = sorted(low for low, _ in intervals), sorted(high for _, high in intervals)
    count = len(intervals)
    return [(1 + count - bisect_right(lows, high), count - bisect_left(highs, low)) for low, high in intervals]


def standings(
    codes: Sequence[str], values: Sequence[float], ranks: Mapping[str, tuple[int, int]] | None, *, rising: bool
) -> tuple[RowStanding, ...]:
    """Rows in the order of their values; ties stand in the order of their codes, rows without a number last."""
    least = [math.inf if math.isnan(value) else value if rising else -value for value in values]
    order = sorted(range(len(codes)), key=lambda row: (least[row], codes[row]))
    held = ranks or {}
    return tuple(RowStanding(row, codes[row], values[row], held.get(codes[row])) for row in order)


def rank_intervals(
    values: Sequence[float] | Floats, variances: Floats | float, level: float = 0.90, step: float = 0.0
) -> list[tuple[int, int]]:
    """For each row the ranks, 1 the largest, that hold its true rank with at least this probability.

    `variances` are those of the differences of all pairs of rows, or the one that all pairs have. A row is surely below
    another when their difference is beyond its error at a level shared out over all comparisons of that row
    (Bonferroni), so the joint error of the two counts, not each alone. So small a level lies far out, where geometric
    noise of a single cell has the tail of a Laplace law, exp(-sqrt(2) t) beyond t errors, and a normal one would let a
    row of fifty cover 72% instead of 90%; half a step is added as numbers move in steps. Noise that is mostly 0 has a
    small error and moves one row of many by a whole step all the same: gaps of a few steps are held to the exact law.

    >>> rank_intervals([100.0, 50.0, 49.0], 4.0)
    [(1, 1), (2, 3), (2, 3)]
    """
    count = len(values)
    if count < 2:
        return [(1, 1)] * count
    share = (1 - level) / (count - 1)
    reach = max(z_score(1 - share), -math.log(share) / math.sqrt(2))
    value = np.asarray(values, dtype=np.float64)
    gap = value[None, :] - value[:, None]
    error = reach * np.sqrt(np.maximum(variances, 0.0)) + step / 2
    if step:
        error = np.maximum(error, step * np.searchsorted(_hidden(share), variances / step**2))
    above, below = (gap > error).sum(axis=1), (-gap > error).sum(axis=1)
    return [(1 + up, count - down) for up, down in zip(above.tolist(), below.tolist(), strict=True)]


@cache
def _hidden(share: float) -> Floats:
    """For gaps of 1, 2, … steps the variance of a difference, in steps, above which noise alone gives them too often.

    By the law of the difference of two geometric draws, whose tail is the heaviest at a given small variance; that
    variance is 4a / (1 - a)². For example, two draws differ as often as not at a = 0.189:

    >>> round(float(_hidden(0.5)[0]), 3)
    1.148
    """
    found = []
    for steps in range(1, MOST_STEPS + 1):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if 2 * _tail(middle, steps) <= share else (low, middle)
        found.append(4 * low / (1 - low) ** 2 if low < 1 else math.inf)
    return np.array(found)


def _tail(a: float, steps: int) -> float:
    """P(D >= steps) where D is the difference of two draws with P(K = k) = (1 - a) / (1 + a) a^|k|, a below 1.

    With p = (1 - a) / (1 + a), P(D = d) = p² ((d + 1) a^d + 2 a^(d + 2) / (1 - a²)) for d >= 0, summed from `steps` on.
    """
    first = (steps + 1 - steps * a) / (1 - a) ** 2
    return ((1 - a) / (1 + a)) ** 2 * a**steps * (first + 2 * a**2 / ((1 - a**2) * (1 - a)))


def variances_of_differences(product: Product, rows: Grid, sampling: Sampling) -> Floats | Withheld:
    """The variances of the differences of all pairs of rows; what two rows share has no error in their difference."""
    shared = product.errors.among(rows)
    if isinstance(shared, Withheld):
        return shared
    shared = shared * float(product.subject.step) ** 2
    noise = np.diagonal(shared).copy()
    unsaid = sampling.total(0.0, 0.0)
    if isinstance(unsaid, Withheld):
        return unsaid
    variances = noise[:, None] + noise[None, :] - 2 * shared
    if isinstance(sampling, NotSampled):
        return variances
    both = _in_common(product, rows) * float(product.subject.step)
    alone = np.diagonal(both)[:, None] - both
    each = sampling.totals(alone.ravel(), np.repeat(noise, len(noise))).reshape(alone.shape)
    each = np.where(alone == 0, 0.0, each)  # a row within another one has nothing of its own
    return variances + each + each.T


def _in_common(product: Product, rows: Grid) -> Floats:
    """The totals of what each row shares with each other one."""
    ((name, groups),) = rows.axes
    if not groups.overlap:
        return np.diag(product.totals(rows).astype(np.float64))
    single = product.totals(Grid(((name, LeafGroups.each(groups.width)),), rows.within))
    return groups.shared(single.astype(np.float64))
