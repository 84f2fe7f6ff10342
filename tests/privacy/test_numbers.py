"""Budgets are exact: read from text, never from floats, written so that they read back, rounded upwards only."""

import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError, PromiseError
from sfumato.privacy import Approximate, Concentrated, Gaussian, Unbounded, exact, plain, positive
from sfumato.privacy.exact import rounded_up
from sfumato.privacy.loss import exact_root
from sfumato.privacy.notation import limit_from_dict, loss_from_dict, loss_to_dict

LOSSES = [
    Approximate("0.1"),
    Approximate("1/3", "1e-6"),
    Gaussian("0.3"),
    Gaussian(squared=Fraction(2)),
    Concentrated("0.125"),
]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.7"), Fraction(7, 10)),
        (7, 7),
    ],
)
def test_text_integers_and_decimals_are_exact(written, meant):
    assert exact(written, "epsilon") == meant


@pytest.mark.parametrize("made", [Approximate, Gaussian, Concentrated])
def test_a_float_is_refused_with_the_text_to_write_instead(made):
    with pytest.raises(PlanError, match=r'float 0\.1, which is not exact; write it as text: \w+ = "0\.1"'):
        made(0.1)


@pytest.mark.parametrize(
    "number", ["one", "", True, None, [1], "1/0", Decimal("NaN"), Decimal("Infinity"), np.int64(3), np.float32(0.5)]
)
def test_what_is_no_exact_number_is_refused_by_name(number):
    with pytest.raises(PlanError, match=r"epsilon is .*not a number"):
        exact(number, "epsilon")


@pytest.mark.parametrize("number", ["1e999999999", Decimal("1e999999999"), "1E-999999999", "1e+0001000000000"])
def test_a_power_of_ten_that_would_take_minutes_is_refused_at_once(number):
    start = time.process_time()
    with pytest.raises(PlanError, match="power of ten"):
        exact(number, "epsilon")
    assert time.process_time() - start < 20


@pytest.mark.parametrize("number", [0, "-1", "0.0"])
def test_a_budget_is_above_zero(number):
    with pytest.raises(PlanError, match="must be above 0"):
        positive(number, "mu")
    with pytest.raises(PlanError, match="must be above 0"):
        Gaussian(number)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Approximate("-0.1"),
        lambda: Approximate(1, 1),
        lambda: Approximate(1, "-1e-9"),
        lambda: Concentrated("-1"),
        lambda: Gaussian(squared=Fraction(-1)),
        lambda: loss_from_dict({"mu": "-1"}),
        lambda: loss_from_dict({"mu_squared": "-1"}),
    ],
)
def test_no_loss_is_negative_or_beyond_chance(made):
    with pytest.raises(PromiseError, match="A loss needs"):
        made()


@settings(deadline=None)
@given(st.fractions())
def test_plain_text_reads_back_as_the_same_fraction(number):
    assert Fraction(plain(number)) == number


@settings(deadline=None)
@given(st.integers(-(10**6), 10**6), st.integers(0, 12))
def test_decimals_are_written_without_a_bar(digits, places):
    assert "/" not in plain(Fraction(digits, 10**places))


@settings(deadline=None)
@given(st.floats(0, 1e9))
def test_rounding_up_is_above_by_at_most_two_steps(number):
    up = rounded_up(number)
    exactly = Fraction(number)
    assert exactly < up <= exactly * (1 + Fraction(2, 10**12)) + Fraction(21, 10**10)
    assert (up * 10**9).denominator == 1


def test_a_loss_without_end_is_not_rounded():
    with pytest.raises(PlanError, match="too large"):
        rounded_up(float("inf"))


def test_a_root_is_exact_or_none():
    assert exact_root(Fraction(9, 16)) == Fraction(3, 4)
    assert exact_root(Fraction(2)) is None


@pytest.mark.parametrize(
    "loss", [*LOSSES, Unbounded("a suppressed table holds true values"), Gaussian(squared=Fraction(0))]
)
def test_a_loss_reads_back_equal(loss):
    assert loss_from_dict(loss_to_dict(loss)) == loss


@settings(deadline=None)
@given(st.fractions(min_value=0), st.fractions(min_value=0, max_value=Fraction(99, 100)))
def test_any_epsilon_and_delta_read_back_equal(epsilon, delta):
    loss = Approximate(epsilon, delta)
    assert loss_from_dict(loss_to_dict(loss)) == loss


def test_a_limit_is_not_unbounded_and_names_a_wrong_key():
    with pytest.raises(PlanError, match="cannot be unbounded"):
        limit_from_dict({"unbounded": "why not"})
    with pytest.raises(PlanError, match=r"\[limit\] has no key 'epsilonn'; did you mean 'epsilon'"):
        limit_from_dict({"epsilonn": "1"})
    with pytest.raises(PlanError, match="got epsilon, mu"):
        limit_from_dict({"epsilon": "1", "mu": "1"})
    with pytest.raises(PlanError, match="got nothing"):
        limit_from_dict({})


def test_numbers_between_minus_one_and_nothing_keep_their_sign():
    assert [plain(Fraction(one)) for one in ("-1/2", "-0.001", "0", "1/2")] == ["-0.5", "-0.001", "0", "0.5"]
