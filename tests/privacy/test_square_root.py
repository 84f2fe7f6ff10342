"""Square-root neighbours: the numbers of the slides, and what the promise does and does not say."""

import math
from fractions import Fraction

import pytest

from sfumato.errors import PlanError, PromiseError
from sfumato.privacy import Contribution, Gaussian, Root, SquareRootWithin, in_sequence
from sfumato.privacy.neighbours.square_root_within import reach
from sfumato.schema import Frame, Table
from sfumato.statistics import Count, Total

ONE = Fraction(1)
FRAME = Frame("establishment", (), {}, range(3))


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [(1, 0, 4), (100, 81, 121), (1_000, 938, 1_064), (10_000, 9_801, 10_201), (100_000, 99_369, 100_633)],
)
def test_intervals_are_those_of_the_slide_in_whole_sizes(size, low, high):
    # Toth prints [937, 1065] and [99368, 100634]: the ends 937.75, 1064.25, 99368.5, 100633.5 rounded outwards.
    assert reach(size, ONE) == (low, high)


@pytest.mark.parametrize(("size", "beta"), [(10, 0.154), (100, 0.488), (1_000, 1.54), (10_000, 4.88)])
def test_a_change_of_ten_percent_takes_these_betas(size, beta):
    # SCIENCE 3.5: the beta that a 10% change corresponds to.
    looks = {one.size: one.up for one in SquareRootWithin("shop", {"jobs": str(beta)}).alike()}
    assert looks[size] == pytest.approx(0.1, abs=0.0005)


@pytest.mark.parametrize(("mu", "power"), [("0.5", 0.12613), ("1", 0.25951), ("1.5", 0.44241), ("2", 0.63876)])
def test_powers_are_those_of_the_slide(mu, power):
    assert Gaussian(mu).power(0.05) == pytest.approx(power, abs=5e-6)


@pytest.mark.parametrize(
    ("mus", "total"),
    [
        (("1", "1.5"), 1.8028),
        (("0.75", "1.9"), 2.0427),
        (("0.3", "0.4"), 0.5),
        (("0.2", "0.6", "0.6", "0.7", "0.7") * 3 + ("0.1",) + ("0.15",) * 4, 2.3065),
    ],
    ids=["slide", "slide again", "example", "baseline of a quarter"],
)
def test_budgets_compose_by_their_squares(mus, total):
    assert in_sequence([Gaussian(mu) for mu in mus], Gaussian(9)).mu == pytest.approx(total, abs=5e-5)


def test_beta_is_given_for_each_variable_in_its_own_unit():
    hidden = SquareRootWithin("establishment", {"m1emp": "0.5", "wages": "50"}, "id")
    assert hidden.move(Total("m1emp").contribution, FRAME) == Root(Fraction(1, 2))
    assert hidden.move(Total("wages").contribution, FRAME) == Root(Fraction(50))
    with pytest.raises(PromiseError, match="says nothing of 'm2emp'"):
        hidden.move(Total("m2emp").contribution, FRAME)


def test_all_units_of_a_firm_move_at_once():
    hidden = SquareRootWithin("establishment", {"m1emp": "0.5"}, "id", firm="firm", at_most=4)
    move = hidden.move(Total("m1emp").contribution, FRAME)
    assert move == Root(Fraction(1, 2), 4)
    assert move.l2_squared == 1  # (√4 · 0.5)²
    assert move.crowded == 16, "all in one cell, where the frame does not say"
    with pytest.raises(PlanError, match="no firm is named"):
        SquareRootWithin("establishment", {"m1emp": "0.5"}, "id", at_most=4)
    with pytest.raises(PlanError, match="beta names each variable"):
        SquareRootWithin("establishment", {}, "id")


def test_the_promise_says_what_it_hides_and_what_not():
    hidden = SquareRootWithin("establishment", {"m1emp": "1"}, "id")
    assert "m1emp between 380 and 420 when it is 400" in hidden.words() or "when it is 1,000" in hidden.words()
    assert "is public" in hidden.not_hidden()


def test_what_has_no_square_root_within_beta_is_refused_with_the_reason():
    hidden = SquareRootWithin("establishment", {"m1emp": "1"}, "id")
    with pytest.raises(PromiseError, match="a count has nothing to hide and no bound: measure totals of m1emp"):
        hidden.move(Count().contribution, FRAME)
    with pytest.raises(PromiseError, match="says nothing of its square"):
        hidden.move(Total("m1emp", power=2).contribution, FRAME)
    with pytest.raises(PromiseError, match=r"give \[frame\] file and id"):
        hidden.move(Total("m1emp").contribution, Table(()))


@pytest.mark.parametrize("at_most", [0, -1, True, 1.5])
def test_a_firm_of_no_units_is_no_promise(at_most):
    with pytest.raises(PlanError, match="it is the number of shops one firm may have, 1 or more"):
        SquareRootWithin("shop", {"jobs": "1"}, firm="firm", at_most=at_most)
    assert SquareRootWithin("shop", {"jobs": "1"}, firm="firm", at_most=1).at_most == 1


@pytest.mark.parametrize("step", ["1", "10", "0.5"])
@pytest.mark.parametrize("firm", [{}, {"firm": "firm", "at_most": 4}])
def test_the_audits_pair_is_a_pair_of_neighbours_at_any_step(step, firm):
    hidden, frame = SquareRootWithin("shop", {"wage": "50"}, **firm), Frame("shop", (), {}, range(9))
    low, high = (side.value for side in hidden.pair(Contribution("wage", None, None, Fraction(step)), frame))
    assert (low / Fraction(step)).denominator == (high / Fraction(step)).denominator == 1
    assert 0.97 * 50 <= math.sqrt(high) - math.sqrt(low) <= 50
    assert math.sqrt(low) >= 50 * 8 / 0.01 * math.sqrt(hidden.at_most) * 0.999, "far enough from 0 for all noise"


def test_what_looks_alike_is_told_by_its_ends_and_the_changes_that_they_are():
    (ten,) = [one for one in SquareRootWithin("shop", {"jobs": "1"}).alike() if one.size == 100]
    assert (ten.low, ten.high) == (81.0, 121.0)
    assert (ten.down, ten.up) == (pytest.approx(-0.19), pytest.approx(0.21))


def test_neighbours_of_a_register_say_who_is_hidden_and_by_which_column():
    assert SquareRootWithin("shop", {"jobs": "1"}, "nr").id == "nr"
    with pytest.raises(PlanError, match="does not say who is hidden"):
        SquareRootWithin("", {"jobs": "1"})
    with pytest.raises(PlanError, match="id is ''"):
        SquareRootWithin("shop", {"jobs": "1"}, "")
