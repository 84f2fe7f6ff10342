"""What an attacker gains: powers, guesses and posteriors beside published values and the best test, computed apart."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from sfumato.privacy import Approximate, Concentrated, Gaussian, Unbounded, posterior_above, posteriors
from sfumato.privacy.compose import as_concentrated, as_gaussian, epsilon_of_mu

LEVELS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.9)

# SCIENCE section 1: mu, power at 0.05, epsilon at delta 1e-5, at 1e-6, rho.
MU_TABLE = [
    ("0.5", "0.12613", "1.9931", "2.2541", "0.125"),
    ("1", "0.25951", "4.3772", "4.8866", "0.5"),
    ("1.5", "0.44241", "7.0514", "7.8066", "1.125"),
    ("2", "0.63876", "9.9973", "10.9972", "2"),
]
# SCIENCE section 1: epsilon, largest power at 0.05, chance of a right guess from even odds, equivalent mu.
EPSILON_TABLE = [
    ("0.5", "0.0824", "0.622", "0.624"),
    ("1", "0.1359", "0.731", "1.232"),
    ("2", "0.3695", "0.881", "2.358"),
    ("4", "0.9826", "0.982", "4.194"),
    ("7", "0.9991", "0.9991", "6.236"),
    ("8", "0.9997", "0.9997", "6.803"),
]


def as_printed(value, printed):
    """The value rounded to as many digits as were printed."""
    return f"{value:.{len(printed.partition('.')[2])}f}"


@pytest.mark.parametrize(("mu", "power", "at_5", "at_6", "rho"), MU_TABLE)
def test_the_mu_table_of_the_science(mu, power, at_5, at_6, rho):
    loss = Gaussian(mu)
    assert as_printed(loss.power(0.05), power) == power
    assert as_printed(float(epsilon_of_mu(loss.mu_squared, Fraction("1e-5"))), at_5) == at_5
    assert as_printed(float(epsilon_of_mu(loss.mu_squared, Fraction("1e-6"))), at_6) == at_6
    assert as_concentrated(loss) == Concentrated(rho)


@pytest.mark.parametrize(("epsilon", "power", "guess", "mu"), EPSILON_TABLE)
def test_the_epsilon_table_of_the_science(epsilon, power, guess, mu):
    loss = Approximate(epsilon)
    assert as_printed(loss.power(0.05), power) == power
    assert as_printed(loss.right_guess(), guess) == guess
    assert as_printed(as_gaussian(loss).mu, mu) == mu


def best_power(p, q, level):
    """The power of the Neyman-Pearson test of q against p: likeliest outcomes first, the last one in part."""
    order = np.argsort(-np.divide(q, p, out=np.full(len(p), np.inf), where=p > 0))
    power = spent = 0.0
    for place in order:
        if spent + p[place] > level:
            return power + q[place] * (level - spent) / p[place]
        spent, power = spent + p[place], power + q[place]
    return power


def total_variation(p, q):
    return 0.5 * np.abs(p - q).sum()


@pytest.mark.parametrize(("epsilon", "delta"), list(product(("0.1", "1", "3"), ("0", "1e-3", "0.2"))))
def test_epsilon_and_delta_bound_the_best_test_and_are_reached(epsilon, delta):
    # The worst pair with this epsilon and delta: delta of each is told for sure, the rest is randomised response.
    d, e = float(delta), math.exp(float(epsilon))
    p = np.array([0, (1 - d) / (1 + e), (1 - d) * e / (1 + e), d])
    q = p[::-1]
    loss = Approximate(epsilon, delta)
    for level in LEVELS:
        assert loss.power(level) == pytest.approx(best_power(p, q, level), abs=1e-12)
    assert loss.right_guess() == pytest.approx((1 + total_variation(p, q)) / 2, abs=1e-12)


@pytest.mark.parametrize("mu", ["0.1", "1", "2.5"])
def test_mu_is_the_best_test_between_two_normals(mu):
    # A grid so fine that each of its bins says all but nothing more than its threshold does.
    edges = np.linspace(-12, 15, 40_001)
    p, q = np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - float(mu)))
    for level in LEVELS:
        assert Gaussian(mu).power(level) == pytest.approx(best_power(p, q, level), abs=1e-3)
    assert Gaussian(mu).right_guess() == pytest.approx((1 + total_variation(p, q)) / 2, abs=1e-6)


@pytest.mark.parametrize("rho", ["0.001", "0.02", "0.125", "0.5", "2", "10"])
def test_rho_is_no_less_than_the_gaussian_mechanism_that_has_it(rho):
    # A Gaussian mechanism with mu = sqrt(2 rho) is rho-concentrated, so a true bound cannot lie below it.
    gaussian, loss = Gaussian(squared=2 * Fraction(rho)), Concentrated(rho)
    for level in LEVELS:
        assert gaussian.power(level) <= loss.power(level) <= 1
    assert gaussian.right_guess() <= loss.right_guess() <= 1


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "2", "4"])
def test_rho_is_no_less_than_the_randomised_response_that_has_it(epsilon):
    pure = Approximate(epsilon)
    loss = as_concentrated(pure)
    assert loss.rho == Fraction(epsilon) ** 2 / 2
    for level in LEVELS:
        assert pure.power(level) <= loss.power(level)
    assert pure.right_guess() <= loss.right_guess()


@pytest.mark.parametrize("sd", [0.5, 1, 3])
def test_rho_bounds_the_best_test_of_a_discrete_gaussian_and_mu_does_not(sd):
    k = np.arange(-60, 61)
    p, q = np.exp(-(k**2) / (2 * sd**2)), np.exp(-((k - 1) ** 2) / (2 * sd**2))
    p, q = p / p.sum(), q / q.sum()
    loss = Concentrated(Fraction(1, 2) / Fraction(str(sd)) ** 2)
    for level in LEVELS:
        assert best_power(p, q, level) <= loss.power(level)
    advantage = total_variation(p, q)
    assert (1 + advantage) / 2 <= loss.right_guess()
    # ASSURANCE: at sd 1 its total variation is 0.399 where mu = 1 allows 0.383, which is why rho never becomes a mu.
    assert advantage > 2 * norm.cdf(0.5 / sd) - 1
    if sd == 1:
        assert as_printed(advantage, "0.399") == "0.399"


@pytest.mark.parametrize("rho", ["0.01", "0.125", "0.5", "2"])
def test_the_power_of_rho_is_not_so_loose_as_to_say_nothing(rho):
    assert Concentrated(rho).power(0.05) < Gaussian(squared=2 * Fraction(rho)).power(0.05) * 2 + 0.01


@pytest.mark.parametrize("loss", [Approximate("0.5"), Approximate(1, "1e-3"), Gaussian(1), Concentrated("0.5")])
def test_power_grows_with_the_level_and_never_falls_below_it(loss):
    powers = [loss.power(level) for level in LEVELS]
    assert powers == sorted(powers)
    assert all(power >= level for power, level in zip(powers, LEVELS, strict=True))


def test_no_guarantee_means_that_every_test_is_won():
    assert Unbounded("true values").power(0.05) == Unbounded("true values").right_guess() == 1


@pytest.mark.parametrize("epsilon", [701, 10**6])
def test_an_epsilon_beyond_floats_hides_nothing(epsilon):
    assert Approximate(epsilon).power(0.05) == Approximate(epsilon).right_guess() == 1


SURE = (0.90, 0.99)


@pytest.mark.parametrize("mu", ["0.7", "1", "1.5", "2.3", "4"])
@pytest.mark.parametrize("share", SURE)
def test_how_likely_a_posterior_is_under_mu_is_where_power_is_as_many_times_its_level(mu, share):
    """The root of Φ(Φ⁻¹(p / o) + mu) = p, by scipy; publishing that one event is allowed by mu, and reaches it."""
    odds, size = share / (1 - share), float(mu)
    by_hand = brentq(lambda p: norm.cdf(norm.ppf(p / odds) + size) - p, 1e-13, 1 - 1e-13)
    bound = posterior_above(Gaussian(mu), share)
    assert bound == pytest.approx(by_hand, rel=1e-6)
    one_event = np.array([by_hand / odds, 1 - by_hand / odds]), np.array([by_hand, 1 - by_hand])
    assert all(best_power(*one_event, level) <= Gaussian(mu).power(level) + 1e-9 for level in LEVELS)
    assert norm.cdf(size / 2 - math.log(odds) / size) < bound, "normal noise that is seen whole makes fewer sure"


@pytest.mark.parametrize("epsilon", ["0.5", "2", "2.5", "4.5", "7"])
@pytest.mark.parametrize("share", SURE)
def test_no_posterior_passes_what_epsilon_allows_and_geometric_noise_stays_below(epsilon, share):
    """From even odds a posterior is e^epsilon to 1 at most: where that is less than asked for, nobody is so sure."""
    odds, grown = share / (1 - share), math.exp(float(epsilon))
    bound = posterior_above(Approximate(epsilon), share)
    assert bound == pytest.approx((1 - 1 / grown) / (1 - 1 / grown / odds) if grown >= odds else 0.0)
    k = np.arange(-400, 401)
    one, other = (np.exp(-float(epsilon) * np.abs(k - centre)) for centre in (0, 1))
    one, other = one / one.sum(), other / other.sum()
    assert one[one >= odds * other * (1 - 1e-9)].sum() <= bound + 1e-12


def test_a_delta_may_tell_all_and_no_bound_tells_everything():
    for share in SURE:
        assert 0.001 <= posterior_above(Approximate(1, "0.001"), share) < 0.0016
        assert posterior_above(Unbounded("true values"), share) == 1
        assert posterior_above(Concentrated("0.5"), share) >= posterior_above(Gaussian(1), share)
    assert posteriors(Gaussian(1)).keys() == {"90%", "99%"}
