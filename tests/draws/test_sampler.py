"""The draws follow their law: 1e-9 false alarms a check, and noise 5% too small or too large is rejected.

Every check has 200,000 draws. The normal approximations are held to 7 standard deviations, which is 3e-12 for a normal
and under 1e-9 for sums as skewed as those of fourth powers here; the chi-squares to their own 1e-9 with at least 100
draws expected in each cell.
"""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import chi2, ncx2

from sfumato.draws import DiscreteNormal, RoundedNormal, SeededDraws, SystemDraws, TwoSidedGeometric

F = Fraction
N = 200_000
FALSE_ALARM = 1e-9
FIVE_PERCENT = [F(95, 100), F(105, 100)]

SMALL = [
    *map(TwoSidedGeometric, [F(2), F(1), F(1, 2), F(1, 30)]),
    *map(DiscreteNormal, [F(1, 3), F(1), F(4), F(900)]),
    *map(RoundedNormal, [F(1, 3), F(1), F(4), F(900)]),
]
LARGE = [
    *map(TwoSidedGeometric, [F(1, 10**6), F(1, 2**40)]),
    *map(RoundedNormal, [F(10**12), F(2**80)]),
    *map(DiscreteNormal, [F(10**8), F(2**80)]),
]


def widened(law, factor):
    """The same law with its scale multiplied."""
    match law:
        case TwoSidedGeometric(rate):
            return TwoSidedGeometric(rate / factor)
        case RoundedNormal(sigma_squared):
            return RoundedNormal(sigma_squared * factor**2)
        case DiscreteNormal(variance):
            return DiscreteNormal(variance * factor**2)
    raise AssertionError(law)


def variance_is_right(noise, law):
    """E K^2 within 7 standard deviations of the stated variance."""
    squares = noise.astype(float) ** 2
    error = np.sqrt((law.fourth_moment - law.variance**2) / len(noise))
    return abs(np.mean(squares) - law.variance) < 7 * error


def mean_is_zero(noise, law):
    return abs(np.mean(noise)) < 7 * np.sqrt(law.variance / len(noise))


def neighbours_are_uncorrelated(noise, law):
    x = noise.astype(float)
    return abs(np.mean(x[1:] * x[:-1])) < 7 * law.variance / np.sqrt(len(noise))


def cells(law):
    """Starts of up to 60 runs of integers with at least 100 of N draws expected in each, and their probabilities."""
    m = np.unique(np.ceil(law.scale * np.linspace(0, 12, 49)).clip(1))
    survival = law.survival(m)
    kept = [0]
    for i in range(1, len(m)):
        if survival[kept[-1]] - survival[i] > 200 / N and survival[i] > 200 / N:
            kept.append(i)
    starts, tails = m[kept], survival[kept] / 2
    edges = np.concatenate((1 - starts[::-1], starts))  # K <= -m is K < 1 - m
    return edges, np.diff(np.concatenate(([0.0], tails[::-1], 1 - tails, [1.0])))


def chi_square(noise, law):
    """Pearson's statistic against the law's exact probabilities, and its degrees of freedom."""
    edges, probabilities = cells(law)
    expected = len(noise) * probabilities
    observed = np.bincount(np.searchsorted(edges, noise, side="right"), minlength=len(expected))
    return float(np.sum((observed - expected) ** 2 / expected)), len(expected) - 1


def fits(noise, law):
    statistic, freedom = chi_square(noise, law)
    return chi2.sf(statistic, freedom) > FALSE_ALARM


@pytest.mark.parametrize("law", SMALL + LARGE, ids=repr)
def test_draws_follow_the_law(law):
    noise = law.draw(N, SystemDraws())
    assert noise.dtype == np.int64
    assert variance_is_right(noise, law)
    assert mean_is_zero(noise, law)
    assert neighbours_are_uncorrelated(noise, law)
    assert fits(noise, law)


@pytest.mark.parametrize("factor", FIVE_PERCENT, ids=["5% too small", "5% too large"])
@pytest.mark.parametrize("law", SMALL + LARGE, ids=repr)
def test_wrong_noise_is_rejected(law, factor):
    # Power over 1 - 1e-9 for the variance and for the chi-square, computed in the next two tests.
    noise = widened(law, factor).draw(N, SystemDraws())
    assert not variance_is_right(noise, law)
    assert not fits(noise, law)


@pytest.mark.parametrize("factor", FIVE_PERCENT)
@pytest.mark.parametrize("law", SMALL + LARGE, ids=repr)
def test_power_of_the_variance_check(law, factor):
    wrong = widened(law, factor)
    error, wrong_error = (np.sqrt((one.fourth_moment - one.variance**2) / N) for one in (law, wrong))
    assert abs(wrong.variance - law.variance) > 7 * error + 6.5 * wrong_error


@pytest.mark.parametrize("factor", FIVE_PERCENT)
@pytest.mark.parametrize("law", SMALL + LARGE, ids=repr)
def test_power_of_the_chi_square_check(law, factor):
    edges, right = cells(law)
    wrong_tails = widened(law, factor).survival(edges[len(edges) // 2 :]) / 2
    wrong = np.diff(np.concatenate(([0.0], wrong_tails[::-1], 1 - wrong_tails, [1.0])))
    freedom = len(right) - 1
    noncentrality = N * np.sum((wrong - right) ** 2 / right)
    assert len(right) >= 3
    assert ncx2.cdf(chi2.isf(FALSE_ALARM, freedom), freedom, noncentrality) < 1e-9


@pytest.mark.parametrize("law", SMALL, ids=repr)
def test_cells_of_the_chi_square_are_the_law_itself(law):
    edges, probabilities = cells(law)
    k = np.arange(-int(60 * law.scale) - 10, int(60 * law.scale) + 11)
    by_pmf = np.bincount(np.searchsorted(edges, k, side="right"), weights=law.pmf(k))
    assert np.allclose(by_pmf, probabilities, rtol=1e-10)
    assert np.all(probabilities * N >= 100)


def last_digits_are_even(noise, law=None):
    """K mod 32 is uniform: in truth to one part in 10^7 for a normal of sd 30, the least even law it is used for."""
    observed = np.bincount(noise % 32, minlength=32)
    return chi2.sf(float(np.sum((observed - N / 32) ** 2 / (N / 32))), 31) > FALSE_ALARM


DAMAGES = {
    "no sign": (np.abs, mean_is_zero),
    "shifted by one": (lambda noise: noise + 1, mean_is_zero),
    "each draw used twice": (lambda noise: np.repeat(noise[::2], 2), neighbours_are_uncorrelated),
    "clipped": (lambda noise: np.clip(noise, -60, 60), variance_is_right),
    "tails swapped for zeros": (lambda noise: np.where(abs(noise) > 90, 0, noise), fits),
    "even numbers only": (lambda noise: noise - noise % 2, last_digits_are_even),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_noise_damaged_otherwise_is_rejected(damage):
    law = RoundedNormal(F(900))
    injure, check = DAMAGES[damage]
    noise = law.draw(N, SystemDraws())
    assert check(noise, law)
    assert not check(injure(noise), law)


@pytest.mark.parametrize("law", [*LARGE, TwoSidedGeometric(F(1, 2**44)), RoundedNormal(F(2**88))], ids=repr)
def test_low_order_digits_are_even_at_large_scales(law):
    assert last_digits_are_even(law.draw(N, SystemDraws()))


def test_32_random_bits_give_uneven_low_order_digits():
    u = (SystemDraws().words(N) >> np.uint64(32)).astype(float) * 2.0**-32
    assert not last_digits_are_even(np.floor(u * 2.0**40).astype(np.int64))


@pytest.mark.parametrize(
    "law", [TwoSidedGeometric(F(1, 2**45)), RoundedNormal(F(2**90)), DiscreteNormal(F(2**90))], ids=repr
)
def test_the_largest_scales_are_drawn(law):
    # 20,000 draws: the variance to 7 standard deviations, 10% for a geometric.
    noise = law.draw(20_000, SystemDraws())
    assert variance_is_right(noise, law)
    assert mean_is_zero(noise, law)


def test_a_draw_by_word_is_its_own_whatever_the_batch():
    law = DiscreteNormal(F(50))
    whole, parts = SeededDraws(5), SeededDraws(5)
    together = law.draw(65_000, whole)
    assert np.array_equal(together, np.concatenate([law.draw(n, parts) for n in (1, 0, 33_000, 31_999)]))


def opendp_noise(maker, metric, scale):
    """N draws of another library's sampler: zeros, measured."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), metric
    return np.array(maker(*space, scale=float(scale))([0] * N))


def same_law(noise, other, law):
    """Chi-square of homogeneity of two samples, over the cells of the law."""
    edges, probabilities = cells(law)
    table = np.array(
        [np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(probabilities)) for x in (noise, other)]
    )
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return chi2.sf(float(np.sum((table - expected) ** 2 / expected)), len(probabilities) - 1) > FALSE_ALARM


@pytest.mark.parametrize(
    ("law", "maker", "metric", "scale"),
    [
        (TwoSidedGeometric(F(1, 2)), dp.m.make_geometric, dp.l1_distance(T=dp.i64), 2),
        (DiscreteNormal(F(9)), dp.m.make_gaussian, dp.l2_distance(T=dp.f64), 3),
    ],
    ids=["geometric", "discrete normal"],
)
def test_draws_are_those_of_opendp(law, maker, metric, scale):
    # Power: half the noncentrality of the one-sample check, still over 1 - 1e-9 for 5%.
    theirs = opendp_noise(maker, metric, scale)
    assert same_law(law.draw(N, SystemDraws()), theirs, law)
    assert fits(theirs, law)
    for factor in FIVE_PERCENT:
        assert not same_law(widened(law, factor).draw(N, SystemDraws()), theirs, law)
