"""Intervals of shares whose noise is mostly 0, by the law of every pair of draws: they hold at least their level.

Nothing is drawn: each pair of sums of a part and of the rest has its chance, made here by convolution, and the interval
that would be printed for it. The settings are those in which as many errors as the margin of the part or of the rest
reaches held least, of 840 at each level; how often these hold is counted beside.
"""

import math

import numpy as np
import pytest

from sfumato.query.ratio import errors_within
from sfumato.query.ratio_law import RatioTerms
from sfumato.query.sides import NoisySide
from sfumato.release.error_law import NoisyTotals, SummedDraws

WORST = [
    (0.90, 3, 1, 1, 0.5, 0.824),
    (0.90, 3, 6, 5, 0.5, 0.851),
    (0.90, 4, 9, 441, 0.02, 0.869),
    (0.95, 4, 30, 30, 0.5, 0.908),
    (0.95, 4, 6, 441, 0.02, 0.909),
    (0.95, 3, 2, 441, 0.005, 0.91),
    (0.99, 3, 1, 30, 0.02, 0.961),
    (0.99, 3, 30, 1, 0.97, 0.961),
    (0.99, 4, 2, 441, 0.005, 0.968),
]


def geometric(epsilon, cells):
    """The law of a sum of geometric draws: steps and chances, as far as 1e-9 of it."""
    ratio = math.exp(-epsilon)
    steps = np.arange(-12, 13)
    one = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
    found = np.array([1.0])
    for _ in range(cells):
        found = np.convolve(found, one)
    steps = np.arange(len(found)) - len(found) // 2
    kept = found > 1e-11
    return steps[kept], found[kept]


def held(level, epsilon, part, rest, share):
    """How often both intervals hold the true share: by the law of both, and by the longer margin."""
    ratio, whole = math.exp(-epsilon), 4_000.0
    variance, true = 2 * ratio / (1 - ratio) ** 2, round(share * whole)
    law = SummedDraws(
        tuple((1 - ratio) / (1 + ratio) * ratio ** np.arange(40)), variance, 3 + 2 * math.sinh(epsilon / 2) ** 2
    )
    (ours, chance), (others, beside) = geometric(epsilon, part), geometric(epsilon, rest)
    over = np.repeat(true + ours, len(others)).astype(float)
    under = over + whole - true + np.tile(others, len(ours))
    chances, all_of = np.outer(chance, beside).ravel(), np.ones(len(over))
    one = NoisySide(NoisyTotals(over, part * variance * all_of, 0 * all_of, part * all_of), law)
    sides = one, one.besides(rest * variance * all_of)
    variances = (many * variance * all_of for many in (part, part + rest, part))
    terms, errors = RatioTerms(over, under, *variances), errors_within(level, *sides)
    pairs = terms.ends(level, errors, *sides), terms.fieller(errors)
    return [float(chances[(low <= true / whole) & (true / whole <= high)].sum()) for low, high in pairs]


@pytest.mark.parametrize(("level", "epsilon", "part", "rest", "share", "by_margins"), WORST)
def test_an_interval_of_a_share_holds_its_level_where_noise_is_mostly_0(level, epsilon, part, rest, share, by_margins):
    by_law, before = held(level, epsilon, part, rest, share)
    assert by_law > level - 1e-6
    assert before < by_margins
