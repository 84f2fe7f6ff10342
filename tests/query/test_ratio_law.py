"""Intervals of shares whose noise is mostly 0, by the law of every pair of draws: they hold at least their level.

Nothing is drawn: each pair of sums of a part and of the rest has its chance, made here by convolution, and the interval
that would be printed for it. The settings are those in which as many errors as the margin of the part or of the rest
reaches held least, of 840 at each level, and of 250 wholes of 3 to 8 of their errors; how often these hold is counted
beside.
"""

import math

import numpy as np
import pytest

from sfumato.query.ratio import errors_within
from sfumato.query.ratio_law import RatioTerms, near_zero
from sfumato.query.sides import NoisySide
from sfumato.release.error_law import NoisyTotals
from sfumato.release.summed_draws import SummedDraws

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
NEAR_0 = [
    (0.90, 3.5, 9, 12, 3, 6, 0.830),
    (0.90, 0.7, 5, 6, 36, 72, 0.893),
    (0.95, 2, 3, 3, 2, 7, 0.943),
    (0.99, 3.5, 9, 2, 2, 3, 0.976),
]


def geometric(epsilon, cells):
    """The law of a sum of geometric draws: steps and chances, as far as 1e-9 of it."""
    ratio = math.exp(-epsilon)
    steps = np.arange(-math.ceil(36 / epsilon), math.ceil(36 / epsilon) + 1)
    one = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
    found = np.array([1.0])
    for _ in range(cells):
        found = np.convolve(found, one)
    steps = np.arange(len(found)) - len(found) // 2
    kept = found > 1e-11
    return steps[kept], found[kept]


def law_of(epsilon):
    ratio = math.exp(-epsilon)
    chances = (1 - ratio) / (1 + ratio) * ratio ** np.arange(60)
    return SummedDraws(tuple(chances), 2 * ratio / (1 - ratio) ** 2, 3 + 2 * math.sinh(epsilon / 2) ** 2)


def held(level, epsilon, part, rest, true, whole=4_000):
    """How often both intervals hold the true share, or none is shown: by the law of both, and by the longer margin."""
    law = law_of(epsilon)
    variance = law.variance
    (ours, chance), (others, beside) = geometric(epsilon, part), geometric(epsilon, rest)
    over = np.repeat(true + ours, len(others)).astype(float)
    under = over + whole - true + np.tile(others, len(ours))
    chances, all_of = np.outer(chance, beside).ravel(), np.ones(len(over))
    one = NoisySide(NoisyTotals(over, part * variance * all_of, 0 * all_of, part * all_of), law)
    sides = one, one.besides(rest * variance * all_of)
    variances = (many * variance * all_of for many in (part, part + rest, part))
    terms, errors = RatioTerms(over, under, *variances), errors_within(level, *sides)
    pairs = terms.ends(level, errors, *sides), terms.fieller(errors)
    return [float(chances[~((low > true / whole) | (high < true / whole))].sum()) for low, high in pairs]


@pytest.mark.parametrize(("level", "epsilon", "part", "rest", "share", "by_margins"), WORST)
def test_an_interval_of_a_share_holds_its_level_where_noise_is_mostly_0(level, epsilon, part, rest, share, by_margins):
    by_law, before = held(level, epsilon, part, rest, round(share * 4_000))
    assert by_law > level - 1e-6
    assert before < by_margins


@pytest.mark.parametrize(("level", "epsilon", "part", "rest", "true", "whole", "by_margins"), NEAR_0)
def test_so_does_one_of_a_whole_of_a_few_errors(level, epsilon, part, rest, true, whole, by_margins):
    by_law, before = held(level, epsilon, part, rest, true, whole)
    assert by_law > level - 1e-6
    assert before < by_margins


def test_a_whole_just_as_far_from_0_as_its_interval_reaches_has_no_share():
    laws = [law_of(epsilon) for epsilon in np.arange(3, 6, 0.05)]
    variance = np.array([law.variance for law in laws])
    over, under = np.full(len(laws), 2.0), np.full(len(laws), 2.0)  # of four cells, the part being one of them
    terms = RatioTerms(over, under, variance, 4 * variance, variance)
    errors = 1 / np.sqrt(variance)  # a margin of one step
    assert np.isnan(terms.fieller(errors)).all()
    assert near_zero(under, 4 * variance, errors).all()
    assert not near_zero(under + 1, 4 * variance, errors).any()
