"""Losses add exactly, in the currency of the limit, and an account never affords a hair more than it holds."""

import math
from fractions import Fraction

import dp_accounting
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.privacy import (
    AddRemove,
    Approximate,
    Charge,
    Concentrated,
    Exposure,
    Gaussian,
    Ledger,
    ReplaceOne,
    Unbounded,
    in_sequence,
)
from sfumato.privacy.compose import as_gaussian
from sfumato.privacy.notation import hidden_from_dict, hidden_to_dict
from sfumato.privacy.sums import Sums

sizes = st.fractions(min_value=0, max_value=5, max_denominator=10**6)


def test_ten_tenths_are_exactly_one():
    total = in_sequence([Approximate("0.1")] * 10, Approximate(1))
    assert total == Approximate(1)
    assert total.within(Approximate(1))
    assert sum([0.1] * 10) != 1  # what floats would have made of it


def test_the_seed_s_cube_and_ten_margins_cost_77():
    # SCIENCE 2.4: ten one-way tables at epsilon 7 plus the cube at 7.
    assert in_sequence([Approximate(7)] * 11, Approximate(100)) == Approximate(77)


def test_mus_add_as_the_root_of_their_squares():
    assert in_sequence([Gaussian("0.3"), Gaussian("0.4")], Gaussian(1)) == Gaussian("0.5")
    total = in_sequence([Gaussian(1), Gaussian("1.5")], Gaussian(9))
    assert total.mu_squared == Fraction(13, 4)
    assert round(total.mu, 3) == 1.803


@settings(deadline=None)
@given(st.lists(sizes), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_sums_are_exact(parts, random):
    shuffled = random.sample(parts, len(parts))
    for made, limit, size in (
        (Approximate, Approximate(1), lambda loss: loss.epsilon),
        (Concentrated, Concentrated(1), lambda loss: loss.rho),
        (lambda part: Gaussian(squared=part), Gaussian(1), lambda loss: loss.mu_squared),
    ):
        total = in_sequence([made(part) for part in parts], limit)
        assert size(total) == sum(parts)
        assert in_sequence([made(part) for part in shuffled], limit) == total


def test_deltas_add():
    total = in_sequence([Approximate(1, "1e-6"), Approximate(2, "2e-6")], Approximate(9, "1e-3"))
    assert total == Approximate(3, "3e-6")


@pytest.mark.parametrize("deltas", [("0.5", "0.5"), ("0.9", "0.9"), ("0.4", "0.4", "0.4")])
def test_deltas_that_add_up_to_one_are_no_guarantee_and_fit_no_limit(deltas):
    total = in_sequence([Approximate(1, delta) for delta in deltas], Approximate(100, "0.9999999999999"))
    assert isinstance(total, Unbounded)


def test_an_unbounded_loss_stays_so_in_any_company():
    for limit in (Approximate(9), Gaussian(9), Concentrated(9)):
        assert in_sequence([Approximate(1), Unbounded("true values")], limit) == Unbounded("true values")


def test_nothing_costs_nothing_in_every_currency():
    assert in_sequence([], Approximate(1)) == Approximate(0)
    assert in_sequence([], Gaussian(1)).mu_squared == 0
    assert in_sequence([], Concentrated(1)) == Concentrated(0)


def test_epsilon_joins_rho_as_half_its_square_and_mu_likewise():
    total = in_sequence([Approximate(1), Gaussian(1), Concentrated("0.25")], Concentrated(9))
    assert total == Concentrated("1.25")


def test_epsilon_joins_mu_by_its_equivalent_and_not_as_itself():
    # sqrt(epsilon^2 + mu^2) is false (SCIENCE 0b): epsilon 1 counts as mu 1.232.
    total = in_sequence([Approximate(1), Gaussian(1)], Gaussian(9))
    assert total.mu == pytest.approx(math.sqrt(1.2319**2 + 1), abs=1e-3)
    assert total.mu_squared == as_gaussian(Approximate(1)).mu_squared + 1
    assert total.mu > math.sqrt(2)


def test_mus_are_added_before_they_become_epsilon_and_delta():
    limit = Approximate(100, "1e-6")
    total = in_sequence([Gaussian("0.3"), Gaussian("0.4"), Approximate(1)], limit)
    theirs = dp_accounting.get_epsilon_gaussian(1 / 0.5, 1e-6, tol=1e-12)
    assert float(total.epsilon) == pytest.approx(1 + theirs, abs=1e-7)
    assert total.delta == limit.delta


def test_a_gaussian_gets_only_the_delta_that_others_leave():
    total = in_sequence([Gaussian(1), Approximate(1, "9e-7")], Approximate(100, "1e-6"))
    theirs = dp_accounting.get_epsilon_gaussian(1.0, 1e-7, tol=1e-12)
    assert float(total.epsilon) == pytest.approx(1 + theirs, abs=1e-7)
    assert total.delta == Fraction("1e-6")


def test_mu_beside_rho_is_priced_as_rho():
    limit = Approximate(100, "1e-6")
    assert in_sequence([Gaussian(1), Concentrated("0.5")], limit) == in_sequence([Concentrated(1)], limit)


@settings(deadline=None)
@given(st.lists(sizes, min_size=1), sizes)
def test_more_measures_never_cost_less(parts, one):
    limit = Approximate(1, "1e-6")
    pure, noisy = [Approximate(part) for part in parts], [Gaussian(squared=part) for part in parts]
    for losses, more in ((pure, Approximate(one)), (noisy, Gaussian(squared=one)), (noisy, Concentrated(one))):
        assert in_sequence(losses, limit).within(in_sequence([*losses, more], limit))


def ledger(**kept):
    return Ledger("establishments", AddRemove("establishment"), Approximate(2), **kept)


def test_an_account_does_not_afford_deltas_that_reach_1():
    half = Charge("a", Approximate(Fraction(1, 10), Fraction(1, 2)), 2024, True)
    limit = Approximate(2, Fraction(3, 4))
    ledger = Ledger("establishments", AddRemove("establishment"), limit, charges=(half,))
    assert not ledger.affords(Approximate(Fraction(1, 10), Fraction(1, 2)), 2024)
    assert ledger.affords(Approximate(Fraction(1, 10), Fraction(1, 4)), 2024)


def test_an_account_affords_its_limit_to_the_last_digit_and_no_more():
    spent = tuple(Charge(f"r{place}", Approximate("0.1"), 2024, finished=True) for place in range(10))
    account = ledger(charges=spent)
    assert account.spent(2024) == Approximate(1)
    assert account.affords(Approximate(1), 2024)
    assert not account.affords(Approximate(1 + Fraction(1, 10**30)), 2024)
    assert not account.affords(Approximate("0.5", "1e-30"), 2024)
    assert not account.affords(Unbounded("true values"), 2024)


def test_a_failed_release_stays_charged():
    account = ledger(charges=(Charge("failed", Approximate(2), 2024, finished=False),))
    assert not account.affords(Approximate("1e-9"), 2024)


def test_a_yearly_account_starts_anew_and_one_for_life_does_not():
    charges = (Charge("old", Approximate(2), 2023, finished=True),)
    assert ledger(charges=charges, per_year=True).affords(Approximate(2), 2024)
    assert not ledger(charges=charges, per_year=True).affords(Approximate("0.1"), 2023)
    assert not ledger(charges=charges).affords(Approximate("0.1"), 2024)


def test_an_exposure_says_of_which_kind_what_and_why():
    with pytest.raises(PlanError, match="kind 'invarant'; did you mean 'invariant'"):
        Exposure("invarant", "the total", "law")
    for what, why in (("", "law"), ("the total", " ")):
        with pytest.raises(PlanError, match="what is outside the guarantee and why"):
            Exposure("invariant", what, why)


@pytest.mark.parametrize(
    "hidden",
    [
        AddRemove("job"),
        AddRemove("firm", "firm_id", 8),
        ReplaceOne("job", fixed=("sector",)),
        ReplaceOne("firm", "id", 2),
    ],
)
def test_neighbours_read_back_equal(hidden):
    assert hidden_from_dict(hidden_to_dict(hidden)) == hidden
    assert hidden.unit in hidden.words()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: AddRemove(""), "does not say who is hidden"),
        (lambda: AddRemove("firm", at_most=8), "without knowing whose"),
        (lambda: AddRemove("firm", "id", 0), "at_most is 0"),
        (lambda: AddRemove("firm", "id", True), "at_most is True"),
        (lambda: AddRemove("firm", "id", 2.5), "at_most is 2.5"),
        (lambda: AddRemove("firm", "", 2), "id is ''"),
        (lambda: AddRemove("firm", 5, 2), "id is 5"),
        (
            lambda: hidden_from_dict({"neighbours": "replace-one", "unit": "job", "fixed": "sex"}),
            "fixed' that is no list of texts",
        ),
        (lambda: ReplaceOne("job", fixed="sex"), "fixed is a list"),
        (lambda: hidden_from_dict({"neighbours": "add-remov", "unit": "job"}), "did you mean 'add-remove'"),
        (lambda: hidden_from_dict({"neighbours": "add-remove", "untt": "job"}), "has no 'untt'.*'unit'"),
    ],
)
def test_neighbours_that_cannot_be_enforced_are_refused(made, said):
    with pytest.raises(PlanError, match=said):
        made()


def test_nothing_adds_up_to_nothing_in_every_currency():
    assert Sums() == Sums.of([], Approximate(1))
    assert (Sums().epsilon, Sums().delta, Sums().mu_squared, Sums().rho) == (0, 0, 0, 0)
