"""What cells give away that are otherwise in one data set than in another, exactly: the largest change of odds.

An attacker who knows all but which of two data sets is the true one compares them by what is published: the largest
change of his odds is the largest ratio of its chances, whichever way round. Cells are drawn apart from each other, so
the logarithms of their ratios add, each taken the same way round. One who knows less has a mixture over what he does
not know.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms import Cells, LogLaplace, SmoothLaplace
from sfumato.mechanisms.logarithmic import Logarithmic
from sfumato.mechanisms.smooth import Smooth
from sfumato.privacy import Move, Relative
from sfumato.schema import Frame, Largest, Rows

ALPHA = Fraction(1, 10)
MOVE = Relative(ALPHA)
Cell = tuple[int, int]
"""A number of jobs, and of those of the largest establishment among them."""
Change = tuple[Cell, Cell]
"""A cell as it is in one data set and in the other."""
Lost = Callable[[Change, Change], float]
"""What two cells lose together, in units of the epsilon that is claimed."""
Floats = NDArray[np.float64]
SAME: Change = ((0, 0), (0, 0))


def alone(size: int, other: int) -> Change:
    """The cell of one establishment that has one size or another."""
    return (size, size), (other, other)


def as_cells(cells: list[Cell], move: Move = MOVE) -> Cells:
    """Some cells, each with its largest establishment."""
    jobs, largest = (np.array(one, dtype=np.int64) for one in zip(*cells, strict=True))
    columns = {Rows(): jobs, Largest(): largest[:, None]}
    return Cells(Frame("cell", (), {}, range(len(cells))), jobs, Fraction(1), move, columns=columns)


def logs_lost(mechanism: Logarithmic, claimed: float, move: Move = MOVE) -> Lost:
    """How far logarithms go, over the scale of their noise: as much one way round as the other."""
    rate = float(mechanism.law(move).rate) / claimed

    @cache
    def far(change: Change) -> float:
        return float(np.ptp(mechanism.clean(as_cells(list(change), move)))) * rate

    return lambda one, other: far(one) + far(other)


def smooth_lost(mechanism: Smooth, claimed: float) -> Lost:
    """The largest log ratios of two quartic laws, at outputs near both values and far out."""
    far = np.unique(np.geomspace(1, 1e10, 1_500).astype(np.int64))
    near = np.arange(-1_500, 1_501)
    k = np.concatenate([-far, near, far])

    @cache
    def ratios(change: Change) -> tuple[float, float]:
        """That of the first law over the second, and of the second over the first: the wider law has the tails."""
        cells = as_cells(list(change))
        (scales, which), centres = mechanism.noise_scales(cells), mechanism.clean(cells)
        first, second = (
            np.log(mechanism.law_of(scales[w]).pmf(k + centres[0] - c)) for w, c in zip(which, centres, strict=True)
        )
        return float((first - second).max()), float((second - first).max())

    return lambda one, other: max(map(sum, zip(ratios(one), ratios(other), strict=True))) / claimed


def nearly_lost(mechanism: SmoothLaplace, claimed: float, delta: float) -> Lost:
    """The least epsilon that leaves no more than a delta between Laplace laws, by all of their outcomes."""

    @cache
    def chances(change: Change) -> tuple[Floats, Floats]:
        cells = as_cells(list(change))
        (scales, which), centres = mechanism.noise_scales(cells), mechanism.clean(cells)
        far = 60 * math.ceil(max(scales)) + int(np.ptp(centres))
        k = np.arange(centres.min() - far, centres.max() + far + 1)
        first, second = (mechanism.law_of(scales[w]).pmf(k - c) for w, c in zip(which, centres, strict=True))
        return first, second

    def lost(one: Change, other: Change) -> float:
        ways = ((chances(one), chances(other)), (chances(one)[::-1], chances(other)[::-1]))
        low, high = 0.0, claimed

        def enough(epsilon: float) -> bool:
            return all(beyond(epsilon, *way) <= delta for way in ways)

        while not enough(high):
            low, high = high, 2 * high
        for _ in range(25):
            middle = (low + high) / 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high / claimed

    return lost


def beyond(epsilon: float, one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> float:
    """By how much the outcomes of two cells are likelier in one data set than exp(epsilon) times in the other.

    >>> coin, same = (np.array([0.75, 0.25]), np.array([0.25, 0.75])), (np.ones(1), np.ones(1))
    >>> beyond(0.0, coin, same), beyond(math.log(2), coin, same)
    (0.5, 0.25)
    >>> round(beyond(math.log(2), coin, coin), 4)  # 9/16 against 1/16, both ways of one each are alike
    0.4375
    """
    (first, second), (third, fourth) = one, other
    logs = np.log(third / fourth)
    order = np.argsort(logs)
    above = [np.append(np.cumsum(law[order][::-1])[::-1], 0.0) for law in (third, fourth)]
    at = np.searchsorted(logs[order], epsilon - np.log(first / second), side="right")
    return float(first @ above[0][at] - math.exp(epsilon) * second @ above[1][at])


def attackers() -> tuple[float, float]:
    """The odds of 20 against 22 jobs, knowing that nobody else is in the cell, or that there are 0 to 40 others."""
    mechanism = LogLaplace(1)
    law = mechanism.law(MOVE)
    centres = [mechanism.clean(as_cells([(size + other, size) for other in range(41)])) for size in (20, 22)]
    k = np.arange(min(map(min, centres)) - 12_000, max(map(max, centres)) + 12_001)
    known = [law.pmf(k - one[0]) for one in centres]
    guessed = [np.mean([law.pmf(k - one) for one in some], axis=0) for some in centres]
    odds = [float(np.abs(np.log(one) - np.log(other)).max()) for one, other in (known, guessed)]
    return odds[0], odds[1]


def size_by_sex(size: int, women: float) -> float:
    """The odds of a size against 110% of it by a table by sex, for whoever knows of each worker how likely a woman.

    Women and men have half of an epsilon each, by log-laplace. Outputs are beyond all cells, or on a grid between.
    """
    mechanism = LogLaplace("0.5")
    law, sizes = mechanism.law(MOVE), (size, math.ceil((1 + ALPHA) * size))
    jobs = range(sizes[1] + 1)
    centres = mechanism.clean(as_cells([(n, n) for n in jobs]))
    k = np.linspace(centres[0] - 1, centres[-1] + 1, 200).astype(np.int64)
    chance = law.pmf(k[:, None] - centres[None, :])
    mixed = []
    for n in sizes:
        made = np.array([math.comb(n, w) * women**w * (1 - women) ** (n - w) for w in range(n + 1)])
        mixed.append((chance[:, : n + 1] * made) @ chance[:, n::-1].T)
    return float(np.abs(np.log(mixed[0]) - np.log(mixed[1])).max())
