"""Conversions go upward: never below fifty digits of truth, next to other people's accountants, and some not at all."""

from fractions import Fraction
from itertools import product

import dp_accounting
import mpmath
import pytest
from dp_accounting import rdp
from dp_accounting.pld import privacy_loss_distribution

from sfumato.errors import PromiseError
from sfumato.privacy import Approximate, Concentrated, Gaussian, in_sequence
from sfumato.privacy.compose import as_concentrated, as_gaussian, epsilon_of_mu, epsilon_of_rho

MUS = ["1e-5", "0.01", "0.1", "0.5", "1", "1.5", "2", "3.7", "10", "20", "32", "32.4", "38", "60"]
RHOS = ["1e-6", "0.001", "0.1", "0.125", "0.5", "2", "5", "50"]
DELTAS = ["0.3", "1e-3", "1e-6", "1e-9", "1e-15", "1e-100"]


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(60):
        yield


def digits(number):
    if isinstance(number, mpmath.mpf):
        return number
    fraction = Fraction(number)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def gaussian_delta(mu, epsilon):
    """Dong, Roth and Su 2022, corollary 2.13."""
    mu, epsilon = digits(mu), digits(epsilon)
    return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)


def concentrated_delta(rho, epsilon):
    """Canonne, Kamath and Steinke 2020, proposition 12, at the best order that a golden search finds."""
    rho, epsilon = digits(rho), digits(epsilon)

    def log_delta(x):
        order = 1 + mpmath.exp(x)
        return (order - 1) * (order * rho - epsilon) - mpmath.log(order - 1) + order * mpmath.log1p(-1 / order)

    low, high, golden = mpmath.mpf(-10), mpmath.mpf(25), (mpmath.sqrt(5) - 1) / 2
    for _ in range(200):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if log_delta(left) < log_delta(right) else (left, high)
    return mpmath.exp(log_delta(low))


def a_little_less(epsilon):
    return max(Fraction(0), epsilon - Fraction(5, 10**9) - epsilon / 10**9)


@pytest.mark.parametrize(("mu", "delta"), list(product(MUS, DELTAS)))
def test_the_epsilon_of_a_mu_is_never_too_low_and_hardly_too_high(mu, delta):
    epsilon = epsilon_of_mu(Fraction(mu) ** 2, Fraction(delta))
    assert gaussian_delta(mu, epsilon) <= digits(delta)
    assert epsilon <= Fraction(5, 10**9) or gaussian_delta(mu, a_little_less(epsilon)) > digits(delta)


@pytest.mark.parametrize(("rho", "delta"), list(product(RHOS, DELTAS)))
def test_the_epsilon_of_a_rho_is_never_too_low_and_hardly_too_high(rho, delta):
    epsilon = epsilon_of_rho(Fraction(rho), Fraction(delta))
    assert concentrated_delta(rho, epsilon) <= digits(delta)
    assert epsilon <= Fraction(5, 10**9) or concentrated_delta(rho, a_little_less(epsilon)) > digits(delta)


@pytest.mark.parametrize("delta", ["1e-300", "1e-320", "1e-400", "1e-999"])
def test_a_delta_beyond_floats_does_not_make_a_loss_cheaper(delta):
    epsilon = epsilon_of_mu(Fraction(1), Fraction(delta))
    assert gaussian_delta(1, epsilon) <= digits(delta)
    assert epsilon < epsilon_of_mu(Fraction(1), Fraction("1e-1000"))
    assert concentrated_delta("0.5", epsilon_of_rho(Fraction(1, 2), Fraction(delta))) <= digits(delta)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", "0.01", "0.5", "1", "2", "4", "8", "40", "300", "699"])
def test_the_mu_of_an_epsilon_is_never_too_low_and_hardly_too_high(epsilon):
    mu = mpmath.sqrt(digits(as_gaussian(Approximate(epsilon)).mu_squared))
    tail = 1 / (1 + mpmath.exp(digits(epsilon)))
    assert mpmath.ncdf(-mu / 2) <= tail
    assert mpmath.ncdf(-(mu - mpmath.mpf("3e-9")) / 2) > tail


@pytest.mark.parametrize("epsilon", [701, 1000, 5000])
def test_an_epsilon_beyond_floats_is_not_a_smaller_mu(epsilon):
    mu = mpmath.sqrt(digits(as_gaussian(Approximate(epsilon)).mu_squared))
    tail = 1 / (1 + mpmath.exp(epsilon))
    assert mpmath.ncdf(-mu / 2) <= tail < mpmath.ncdf(-mu * mpmath.mpf("0.99") / 2)


@pytest.mark.parametrize(("mu", "delta"), list(product(["0.1", "0.5", "1", "3", "8"], ["1e-3", "1e-6", "1e-10"])))
def test_mu_agrees_with_the_closed_form_of_dp_accounting(mu, delta):
    theirs = dp_accounting.get_epsilon_gaussian(1 / float(mu), float(delta), tol=1e-12)
    ours = float(epsilon_of_mu(Fraction(mu) ** 2, Fraction(delta)))
    assert theirs - 1e-10 <= ours <= theirs + 1e-8


@pytest.mark.parametrize("mu", ["0.5", "1", "2"])
def test_mu_agrees_with_the_privacy_loss_distribution_of_dp_accounting(mu):
    # Their discretised estimate is itself never below the truth, and here within 1e-4 of it.
    theirs = privacy_loss_distribution.from_gaussian_mechanism(1 / float(mu), value_discretization_interval=1e-3)
    for delta in ("1e-3", "1e-5", "1e-6", "1e-8"):
        ours = float(epsilon_of_mu(Fraction(mu) ** 2, Fraction(delta)))
        assert ours == pytest.approx(theirs.get_epsilon_for_delta(float(delta)), abs=1e-4)


@pytest.mark.parametrize(("rho", "delta"), list(product(RHOS[1:], ["1e-3", "1e-6", "1e-10"])))
def test_rho_is_no_worse_than_the_renyi_accountant_and_no_better_than_a_gaussian(rho, delta):
    accountant = rdp.RdpAccountant(orders=[1 + 10 ** (step / 200) for step in range(-600, 1001)])
    accountant.compose(dp_accounting.ZCDpEvent(float(rho)))
    theirs, ours = accountant.get_epsilon(float(delta)), epsilon_of_rho(Fraction(rho), Fraction(delta))
    assert ours <= theirs + 1e-9
    assert float(ours) == pytest.approx(theirs, rel=1e-4)
    # The Gaussian mechanism with mu^2 = 2 rho has this rho, so no true bound lies below its exact epsilon.
    assert gaussian_delta(mpmath.sqrt(2 * digits(rho)), ours) < digits(delta)


def test_rho_beats_the_textbook_bound():
    rho, delta = 0.5, 1e-6
    textbook = rho + 2 * (rho * float(-mpmath.log(delta))) ** 0.5
    assert float(epsilon_of_rho(Fraction(1, 2), Fraction("1e-6"))) < textbook - 0.5


def test_rho_never_becomes_a_mu():
    with pytest.raises(PromiseError, match=r"not mu-GDP\. Use the rounded Gaussian"):
        as_gaussian(Concentrated("0.5"))
    with pytest.raises(PromiseError, match="is no mu"):
        in_sequence([Gaussian(1), Concentrated("1e-9")], Gaussian(9))


@pytest.mark.parametrize(("convert", "limit"), [(as_gaussian, Gaussian(9)), (as_concentrated, Concentrated(9))])
def test_a_delta_joins_neither_mu_nor_rho(convert, limit):
    with pytest.raises(PromiseError, match=r"delta .* joins no"):
        convert(Approximate(1, "1e-9"))
    with pytest.raises(PromiseError, match=r"delta .* joins no"):
        in_sequence([Approximate(1, "1e-9")], limit)


@pytest.mark.parametrize("loss", [Gaussian(1), Concentrated("0.5")])
def test_gaussian_noise_has_no_pure_epsilon(loss):
    with pytest.raises(PromiseError, match="no epsilon without a delta"):
        in_sequence([loss], Approximate(100))
    with pytest.raises(PromiseError, match="leaves none"):
        in_sequence([loss, Approximate(1, "1e-6")], Approximate(100, "1e-6"))
