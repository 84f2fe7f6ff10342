"""A policy of loss by size: what it says of every size, which others it covers, and how it adds up in a ledger."""

import math
from fractions import Fraction

import pytest

from sfumato.errors import LedgerError, PlanError, PromiseError
from sfumato.privacy import (
    AddRemove,
    Approximate,
    Concentrated,
    Gaussian,
    Ledger,
    LossBySize,
    LossCurve,
    SizeWithin,
    Unbounded,
    as_gaussian,
)
from sfumato.privacy.groups import of_group
from sfumato.privacy.neighbours.growth import grown
from sfumato.schema import Attribute, Frame, Levels, Table
from sfumato.statistics import Count, Total

POLICY = LossBySize("shop", 10, 100, "shop_id")
SIZES = (*range(120), 500, 5_000, 10**6)


def height(bend: float, at: int, size: int) -> float:
    """Finley et al. 2024: the logarithm, here in units of what it is at one stated size."""
    return (math.log(size + bend) - math.log(bend)) / (math.log(at + bend) - math.log(bend))


@pytest.mark.parametrize("size", [1, 10, 100, 1_000, 10_000])
def test_the_loss_of_every_size_is_on_the_curve_and_never_told_below_it(size):
    told = POLICY.curve.steps(size)
    assert height(10, 100, size) <= told + Fraction(1, 10**12)
    assert float(told) == pytest.approx(height(10, 100, size), abs=1.001e-4)
    assert POLICY.curve.steps(100) == 1


def test_what_is_within_a_step_is_and_the_next_size_is_not():
    for size in (0, 3, 10, 100, 1_000):
        low, high = POLICY.curve.reach(size)
        for near in (low, high):
            assert abs(height(10, 100, near) - height(10, 100, size)) <= 1 + 1e-12
        for far in ([low - 1] if low else []) + [high + 1]:
            assert abs(height(10, 100, far) - height(10, 100, size)) > 1


CURVES = [(10, 100), (10, 200), (100, 100), (1, 100), (5, 40), (50, 1_000), (10, 50)]


@pytest.mark.parametrize("one", CURVES, ids=str)
@pytest.mark.parametrize("other", CURVES, ids=str)
def test_a_release_is_charged_to_a_ledger_of_another_curve_only_where_no_two_sizes_lose_more(one, other):
    """By trying sizes far and near, in both directions: what is covered is never dearer, what is not somewhere is."""
    plan, ledger = (LossBySize("shop", *given, "shop_id") for given in (one, other))
    pairs = [(a, b) for a in SIZES for b in SIZES if a < b]
    dearer = any(
        height(*one, b) - height(*one, a) > (height(*other, b) - height(*other, a)) * (1 + 1e-9) for a, b in pairs
    )
    assert (plan.covers(ledger) == 1) == (not dearer)


@pytest.mark.parametrize("alpha", ["0.01", "0.1", "1", "20"])
@pytest.mark.parametrize(("bend", "at"), [(10, 100), (10, 1), (1, 3), (100, 20)])
def test_sizes_within_alpha_are_covered_where_no_step_of_them_is_further_than_a_step_of_the_curve(alpha, bend, at):
    policy, sizes = LossBySize("shop", bend, at, "shop_id"), SizeWithin("shop", alpha, "shop_id")
    farthest = max(height(bend, at, grown(size, sizes.alpha)) - height(bend, at, size) for size in (*SIZES, 10**9))
    assert (policy.covers(sizes) == 1) == (farthest <= 1)
    assert float(policy.curve.within(sizes.alpha)) >= farthest


def test_a_worker_s_jobs_are_as_many_steps_of_one_and_kinds_are_told_by_their_levels():
    jobs = SizeWithin("shop", "0.1", "shop_id", worker="person", at_most=2)
    assert POLICY.covers(jobs) is None, "nobody would refuse data in which a worker has more"
    assert LossBySize("shop", 10, 1, "shop_id").covers(jobs) is None, "two jobs are two steps there"
    assert POLICY.covers(SizeWithin("plant", "0.1", "shop_id")) is None
    assert SizeWithin("shop", "0.1", "shop_id").covers(POLICY) is None
    assert POLICY.covers(AddRemove("shop", "shop_id", 50)) is None
    assert AddRemove("shop", "shop_id", 50).covers(POLICY) is None
    by_sex = LossBySize("shop", 10, 100, "shop_id", weak=("sex",), kinds={"sex": ["f", "m"]})
    assert POLICY.covers(by_sex) == 1
    assert by_sex.covers(POLICY) is None
    assert by_sex.covers(by_sex) == 1


@pytest.mark.parametrize("relation", ["loss-by-size", "size-within"])
def test_traits_are_compared_by_their_levels_and_not_by_their_names(relation):
    """Three ages told apart are other sets of workers than five: a release by one is none of a ledger of the other."""

    def by_age(*levels: str):
        attributes = [Attribute("age", Levels.of(levels), of="worker")]
        if relation == "size-within":
            return SizeWithin("shop", "0.1", "id", weak=("age",)).among(attributes)
        return LossBySize("shop", 10, 100, "id", weak=("age",)).among(attributes)

    three, five = by_age("14", "30", "55"), by_age("14", "20", "30", "55", "65")
    for one, other in ((three, five), (five, three)):
        assert one.covers(other) is None
        assert one.relation() != other.relation()
        with pytest.raises(LedgerError, match=r"kinds 'age' '14'"):
            Ledger("shops", one, Approximate(9)).admit("jobs", Approximate(1), other, 2026)
    Ledger("shops", three, Approximate(9)).admit("jobs", Approximate(1), by_age("55", "30", "14"), 2026)


def test_policies_on_one_curve_add_up_in_a_ledger_and_others_are_refused():
    ledger = Ledger("shops", POLICY, Approximate(10))
    ledger.admit("one", Approximate(6), POLICY, 2026)
    ledger.admit("two", Approximate(6), LossBySize("shop", 20, 200, "nr"), 2026)  # nowhere dearer
    with pytest.raises(LedgerError, match=r"bend 10, at 100; the plan hides .* bend 1, at 100"):
        ledger.admit("three", Approximate(6), LossBySize("shop", 1, 100, "shop_id"), 2026)
    with pytest.raises(LedgerError, match="the plan hides size-within"):
        ledger.admit("four", Approximate(6), SizeWithin("shop", "0.1", "shop_id"), 2026)


def test_what_is_lost_along_the_curve_is_sound_in_every_currency():
    """Noise loses t epsilon at t steps: whatever that is converted to is no more than is told."""
    told = {one.whom: of_group(Approximate(6), one.steps) for one in POLICY.implied()}
    assert float(told["one shop of 1,000 jobs, there or not at all"].epsilon) == pytest.approx(
        6 * height(10, 100, 1_000), rel=1e-4
    )
    for epsilon in (Fraction(1, 10), Fraction(2), Fraction(9)):
        for steps in (Fraction(1, 20), Fraction(1), Fraction(5, 2)):
            true = Approximate(steps * epsilon)
            assert of_group(Approximate(epsilon), steps) == true
            assert of_group(Concentrated(epsilon**2 / 2), steps).rho >= true.epsilon**2 / 2
            mu = of_group(as_gaussian(Approximate(epsilon)), steps)
            assert mu.mu >= as_gaussian(true).mu * (1 - 1e-9)
    assert of_group(Approximate(1, "1e-6"), Fraction(1, 2)) == Approximate(1, "1e-6")
    assert isinstance(of_group(Approximate(1, "1e-6"), Fraction(3, 2)), Unbounded)
    assert of_group(Gaussian(1), Fraction(3, 2)) == Gaussian("1.5")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: LossBySize("shop", "0", 100, "id"), "bend is 0; it must be above 0"),
        (lambda: LossBySize("shop", "20000", 100, "id"), "bend is 20000; it is a number of jobs, from 0.001 to 10000"),
        (lambda: LossBySize("shop", 10, 0, "id"), "at is 0; it is the number of jobs"),
        (lambda: LossBySize("shop", 10, "100", "id"), "at is '100'; it is the number of jobs"),
        (lambda: LossBySize("shop", 10, 100, "id", weak="sex"), "weak is a list of traits"),
    ],
)
def test_a_curve_that_cannot_be_meant_is_refused(made, said):
    with pytest.raises(PlanError, match=said):
        made()


def test_what_no_curve_bounds_is_refused_and_what_would_do_is_said():
    by_sex = Table((Attribute("sex", Levels.of("fm"), of="worker"),))
    with pytest.raises(PromiseError, match=r"'sex' is of a worker: .* weak = \[\"sex\"\]"):
        POLICY.move(Count().contribution, by_sex)
    assert LossBySize("shop", 10, 100, "id", weak=("sex",)).move(Count().contribution, by_sex).cells == 2
    with pytest.raises(PromiseError, match=r"and not what they sum to, .* Measure counts"):
        POLICY.move(Total("pay", clip=("0", "9")).contribution, Table(()))
    with pytest.raises(PromiseError, match=r"give \[hidden\] id"):
        LossBySize("shop", 10, 100).move(Count().contribution, Table(()))
    with pytest.raises(PromiseError, match="which shops there are is public"):
        POLICY.move(Count().contribution, Frame("shop", (), {}, range(3)))
    assert LossCurve.of("10", 100) == POLICY.curve
