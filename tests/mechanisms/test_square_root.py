"""The square-root mechanism: roots exact on the lattice, the loss within mu, values unbiased, variance as stated.

Statistical checks are seeded; each has a false-alarm rate of 1e-9 (6.1 standard errors, with the variance of a squared
normal's square from its own sample). 400,000 draws state a variance to about 0.25%, so noise 5% too small or too large
in standard deviation, 10% in variance, is 35 errors off: missed less than once in 1e100.
"""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from contract_root import (
    TOLERANCE,
    attained_mu,
    folded,
    gaussian_delta,
    hockey_stick,
    largest_alike,
    log_mass,
    neighbours,
)
from dp_accounting.pld import privacy_loss_distribution

from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PlanError
from sfumato.mechanisms import Cells, SquareRoot, Typical
from sfumato.mechanisms.square_root import apart, nearest_roots, whole_roots
from sfumato.privacy import Root
from sfumato.release import Withheld
from sfumato.schema import Attribute, Box, Frame, Grouping, Levels

BETAS = [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(7, 10), Fraction(50)]
SIX = 6.1


def cells(values, beta=Fraction(1), step=Fraction(1), units=1, grouping=None) -> Cells:
    values = np.asarray(values, dtype=np.int64)
    table = Frame("unit", (), {}, range(len(values))) if grouping is None else grouping.groups
    return Cells(table, values, step, Root(beta, units), grouping)


@pytest.mark.parametrize(
    "scale", [Fraction(1), Fraction(10**6), Fraction(4 * 10**6), Fraction(10**8, 49), Fraction(9, 7)]
)
def test_roots_are_rounded_half_up_by_sixty_digits(scale):
    getcontext().prec = 60
    rng = np.random.default_rng(1)
    values = np.concatenate([np.arange(2_000), rng.integers(0, 10**9, 2_000), rng.integers(0, 2**28, 500) ** 2])
    values = values[values < 2**58 / float(scale)]
    for value, root in zip(values.tolist(), nearest_roots(values, scale).tolist(), strict=True):
        exact = (Decimal(value * scale.numerator) / Decimal(scale.denominator)).sqrt()
        assert root == int(exact + Decimal("0.5"))


def test_whole_roots_are_those_of_the_standard_library():
    rng = np.random.default_rng(2)
    roots = rng.integers(1, 2**31 - 1, 5_000)
    values = np.concatenate([roots * roots, roots * roots - 1, roots * roots + 1, np.arange(1_000)])
    assert whole_roots(values).tolist() == [math.isqrt(value) for value in values.tolist()]


@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 4), Fraction(10)], ids=str)
@pytest.mark.parametrize("beta", BETAS, ids=str)
def test_neighbours_are_at_most_a_thousand_lattice_steps_apart(beta, step):
    """Every small value with the farthest of its neighbours, and large ones at random; then one step further."""
    rng = np.random.default_rng(3)
    start = [*range(300), *rng.integers(0, 10**7, 200).tolist()]
    far = [largest_alike(value, beta, step) for value in start]
    assert all(neighbours(a * step, b * step, beta) for a, b in zip(start, far, strict=True))
    assert not any(neighbours(a * step, (b + 1) * step, beta) for a, b in zip(start, far, strict=True))
    one, other = (SquareRoot(1).clean(cells(values, beta, step)) for values in (start, far))
    assert (other - one).max() <= 1000
    beyond = SquareRoot(1).clean(cells(np.array(far) + max(1, int(2 * beta**2 / step)) * 2, beta, step))
    assert (beyond - one).max() > 1000, "a pair that is no neighbour must be able to break the bound"


@pytest.mark.parametrize("beta", BETAS, ids=str)
def test_a_total_moves_no_further_than_the_value_in_it_that_moved(beta):
    rng = np.random.default_rng(4)
    for _ in range(200):
        a, others = int(rng.integers(0, 5_000)), int(rng.integers(0, 10**6))
        b = largest_alike(a, beta)
        one, other = SquareRoot(1).clean(cells([a + others, b + others], beta))
        assert abs(other - one) <= 1000


def firm_apart(start, of, beta=Fraction(1, 2)) -> int:
    """How far apart the roots on the lattice are, squared, when every unit of a firm goes as far as it may."""
    of = np.array(of, dtype=np.int32)
    groups = Grouping(Frame("group", (), {}, range(int(of.max()) + 1)), of)
    sides = start, [largest_alike(value, beta) for value in start]
    one, other = (SquareRoot(1).clean(cells(side, beta, units=len(of), grouping=groups)) for side in sides)
    return int(((other - one) ** 2).sum())


def test_units_of_a_firm_that_move_at_once_stay_within_the_noise_however_they_are_grouped():
    """Up to six units in up to as many totals, by the exact rule; the bound is tight to 0.5% in distance."""
    rng, farthest = np.random.default_rng(5), {}
    for _ in range(3_000):
        units = int(rng.integers(2, 7))
        of = np.unique(rng.integers(0, units, units), return_inverse=True)[1]
        start = rng.integers(0, 3, units) * 0 + int(rng.integers(0, 60)) ** 2 if rng.random() < 0.7 else rng.integers(0, 5_000, units)  # fmt: skip  # noqa: E501
        reached = firm_apart(start.tolist(), of)
        assert reached <= apart(Root(Fraction(1, 2), units)) == units * 1001**2
        farthest[units] = max(farthest.get(units, 0), reached)
    assert all(reached > 0.99 * units * 1000**2 for units, reached in farthest.items())


def test_rounded_roots_of_totals_are_further_apart_than_the_root_of_k_which_the_extra_step_covers():
    """Two equal roots that go from 10 a to 10 (a + 1): 1000 √2 = 1414.2 steps between, and 1415 once rounded."""
    found = [firm_apart([(a * 10) ** 2] * 2, [0, 0], Fraction(10)) for a in range(1, 40)]
    assert max(found) == 1415**2 > 2 * 1000**2
    assert apart(Root(Fraction(10), 2)) >= 1415**2


def test_an_establishment_of_ten_jobs_in_a_firm_of_forty():
    """s² = 40 (0.5 / 0.7)² on the root: ± 1.645 √(4 · 10 s² + 2 s⁴) = 66.8, where 40 times beta would give 1,922."""
    error = SquareRoot("0.7").expected(Root(Fraction(1, 2), 40), Typical(size=10))
    assert 1.6449 * error == pytest.approx(66.8, rel=0.003)


@pytest.mark.parametrize("units", [3, *(pytest.param(units, marks=pytest.mark.slow) for units in (2, 5))])
def test_the_joint_loss_of_a_firm_by_other_people_s_accountant(units):
    """dp_accounting composes the exact laws of the published roots, which are far from 0, for rows and one total.

    Rows are at 1000 steps each, a total at 1000 √k rounded up; below mu's own delta by 0.1% in noise, and above that of
    a mu 1% smaller. Noise for one unit alone is far above.
    """
    mu = 1.0
    scale = SquareRoot(1).root_law(Root(Fraction(1), units)).scale
    assert scale == pytest.approx(1001 * units**0.5)
    for shift, times in ((1000, units), (math.ceil(1000 * units**0.5), 1)):
        fair, short = (joint_deltas(shift, spread, times) for spread in (scale, scale / units**0.5))
        for epsilon, delta in fair.items():
            assert gaussian_delta(0.99 * mu, epsilon) < delta <= gaussian_delta(mu, epsilon)
        assert all(short[epsilon] > 1.3 * gaussian_delta(mu, epsilon) for epsilon in short)


def joint_deltas(shift: int, scale: float, times: int) -> dict[float, float]:
    """The deltas that rounded normal noise on so many cells, each moved by a shift, has at some epsilons."""
    k = np.arange(-int(8 * scale), int(8 * scale) + shift)
    one, other = (dict(zip(k.tolist(), log_mass(k, centre, scale).tolist(), strict=True)) for centre in (0, shift))
    made = privacy_loss_distribution.from_two_probability_mass_functions(one, other, value_discretization_interval=4e-5)
    composed = made.self_compose(times)
    return {epsilon: composed.get_delta_for_epsilon(epsilon) for epsilon in (0.0, 0.5, 1.0, 2.0)}


PAIRS = [(0, 1), (1, 4), (4, 9), (100, 121), (100, 120), (81, 100), (1_000, 1_064), (9_801, 10_000), (37, 37 + 13)]


@pytest.mark.parametrize("mu", [0.2, 0.7, 1.0, 2.0])
def test_what_is_published_of_two_neighbours_is_within_mu(mu):
    """The exact law of the published integers, trade-off and hockey-stick, for many pairs at beta 1, both ways."""
    mechanism, scale = SquareRoot(str(mu)), 1000 / mu
    assert mechanism.root_law(Root(Fraction(1))).scale == pytest.approx(scale)
    for a, b in PAIRS:
        assert neighbours(Fraction(a), Fraction(b), Fraction(1))
        roots = mechanism.clean(cells([a, b]))
        laws = [folded(int(root), scale, int(max(roots) + 9 * scale)) for root in roots]
        assert abs(sum(np.exp(laws[0])) - 1) < 1e-9
        for one, other in (laws, laws[::-1]):
            assert attained_mu(one, other) <= mu * (1 + TOLERANCE)
            for epsilon in (0.1, 0.5, 1.0, 2.0):
                assert hockey_stick(one, other, epsilon) <= gaussian_delta(mu, epsilon) + 1e-12


def test_the_whole_mu_is_lost_far_from_0_and_less_at_0_where_signs_are_hidden():
    far, near = (
        [folded(root, 1000.0, max(roots) + 10_000) for root in roots] for roots in ((10_000, 11_000), (0, 1000))
    )
    assert attained_mu(*far) > 1 - 1e-6
    assert attained_mu(*near) < 0.95


def test_noise_5_percent_short_would_break_the_claim():
    laws = [folded(root, 950.0, 20_000) for root in (10_000, 11_000)]
    assert attained_mu(*laws) > 1.05


def drawn(mechanism, value, count, seed=1, beta=Fraction(1, 2)) -> np.ndarray:
    noisy = mechanism.perturb(cells(np.full(count, value), beta), SeededDraws(seed))
    return noisy.values * float(noisy.step)


def departures(values: np.ndarray, size: float, s: float) -> tuple[float, float]:
    """How many standard errors mean and variance are from x and 4 x s² + 2 s⁴."""
    variance = 4 * size * s**2 + 2 * s**4
    squares = (values - size) ** 2
    return (
        (values.mean() - size) / math.sqrt(variance / len(values)),
        (squares.mean() - variance) / (squares.std() / math.sqrt(len(values))),
    )


SIZES = [0, 1, 7, 100, 4_050]


@pytest.mark.parametrize("size", SIZES)
def test_values_are_unbiased_and_their_variance_is_the_stated_one(size):
    mean, variance = departures(drawn(SquareRoot("0.7"), size, 400_000), size, 0.5 / 0.7)
    assert abs(mean) < SIX
    assert abs(variance) < SIX


@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)], ids=["too small", "too large"])
@pytest.mark.parametrize("size", SIZES)
def test_noise_5_percent_off_is_rejected(size, factor):
    _, variance = departures(drawn(SquareRoot(Fraction("0.7") / factor), size, 400_000), size, 0.5 / 0.7)
    assert abs(variance) > SIX


@pytest.mark.parametrize("size", [0, 1, 7, 100, 4_050, 10**6])
def test_the_bias_of_rounding_is_within_its_bound(size):
    """E[published] - x is g² (m² - offset + variance) - x, exactly; the bound is g sqrt(x) + g²/4 + g²/2."""
    for beta in BETAS:
        mechanism, g = SquareRoot("0.7"), beta / 1000
        root = int(mechanism.clean(cells([size], beta))[0])
        law = mechanism.root_law(Root(beta))
        mean = g**2 * (root**2 + law.sigma_squared + Fraction(1, 12) - round(law.variance))
        assert abs(mean - size) <= g * Fraction(math.isqrt(10**12 * size) + 1, 10**6) + g**2 * Fraction(3, 4)


def test_the_chance_of_a_negative_value_is_that_of_the_science():
    # SCIENCE 3.2: P(neg) = 0.683 at x = 0 and 0.4772 at x = σ²; 400,000 draws, 6.1 standard errors.
    for size, chance in ((0, 0.6827), (4, 0.4772)):
        found = (drawn(SquareRoot("0.5"), size, 400_000, beta=Fraction(1)) < 0).mean()
        assert abs(found - chance) < SIX * math.sqrt(0.25 / 400_000)
    assert drawn(SquareRoot("0.5"), 0, 1_000).min() >= -1.0001  # -σ² at beta 0.5


def test_stated_variances_add_up_and_never_fall_below_those_of_0():
    noisy = SquareRoot("0.7").perturb(cells(np.full(2_000, 9), Fraction(1, 2)), SeededDraws(3))
    spread = SquareRoot("0.7").uncertainty(noisy)
    row = Attribute("row", Levels.of(range(2_000)))
    errors = spread.over(Frame("unit", (row,), {"row": np.arange(2_000)}, range(2_000)), noisy.values)

    def over(one: np.ndarray, other: np.ndarray) -> float:
        return errors.covariance(Box({"row": one}), Box({"row": other}))

    step, s = float(noisy.step), 0.5 / 0.7
    every = np.ones(2_000, dtype=bool)
    assert over(every, every) * step**2 == pytest.approx(4 * s**2 * noisy.values.sum() * step + 4_000 * s**4, rel=1e-6)
    below = np.flatnonzero(noisy.values < 0)
    assert len(below) > 0
    one = np.arange(2_000) == below[0]
    assert over(one, one) * step**2 == pytest.approx(2 * s**4, rel=1e-6)
    assert over(one, ~one) == 0


def test_the_expected_error_is_that_of_the_size_and_none_is_told_without_one():
    """4 x s² + 2 n s⁴ with s = beta / mu (Toth): 4 · 100 · 1/4 + 2/16 for a row of 100, and twice over for two."""
    mechanism, move = SquareRoot(1), Root(Fraction(1, 2))
    assert mechanism.expected(move, Typical(size=100)) ** 2 == pytest.approx(100 + 1 / 8)
    assert mechanism.expected(move, Typical(size=200, cells=2)) ** 2 == pytest.approx(200 + 2 / 8)
    assert isinstance(withheld := mechanism.expected(move, Typical()), Withheld)
    assert "grows with the number" in withheld.reason
    noisy = mechanism.perturb(cells(np.full(200_000, 100), Fraction(1, 2)), SeededDraws(9))
    drawn = (noisy.values * float(noisy.step) - 100) ** 2
    assert abs(drawn.mean() - (100 + 1 / 8)) < SIX * drawn.std() / math.sqrt(len(drawn))


def test_values_that_have_no_root_or_too_large_a_one_are_refused_without_being_named():
    with pytest.raises(DataError, match="below 0") as error:
        SquareRoot(1).clean(cells([3, -17]))
    assert "17" not in str(error.value)
    with pytest.raises(DataError, match="too large"):
        SquareRoot(1).clean(cells([2**50], Fraction(1, 100)))
    with pytest.raises(PlanError, match="too wide to be squared"):
        SquareRoot("0.000001").root_law(Root(Fraction(1)))


def test_the_margin_of_nothing_is_how_far_a_root_of_one_error_may_be_off():
    """With σ = 1 on roots 0 is published of a root of 1: at 90% the true one is up to 1 + 1.645, its square 6.995."""
    assert SquareRoot(1).margin(Root(Fraction(1)), Typical(size=0.0)) == pytest.approx((1 + 1.644854) ** 2, rel=1e-2)
