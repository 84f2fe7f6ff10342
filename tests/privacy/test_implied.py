"""One ledger under several promises: who is how many steps away, by trying all small ones, and what a group loses."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from sfumato.errors import LedgerError, PlanError
from sfumato.privacy import (
    AddRemove,
    Approximate,
    Concentrated,
    Gaussian,
    Ledger,
    ReplaceOne,
    SizeWithin,
    SquareRootWithin,
    Unbounded,
)
from sfumato.privacy.groups import of_group, of_group_in_parts
from sfumato.privacy.ledger import Charge
from sfumato.privacy.neighbours.growth import grown, steps

STRONG = SizeWithin("shop", "0.1", "shop_id", worker="person", at_most=2)
WEAK = SizeWithin("shop", "0.1", "shop_id", weak=("sex",), worker="person", at_most=2)
WORKER = AddRemove("worker", "person", 2)
REPORTS = SizeWithin("shop", "0.1", "shop_id", reports=("wages", "jobs"))


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (STRONG, STRONG, 1),
        (STRONG, WEAK, 1),
        (WEAK, STRONG, None),
        (STRONG, SizeWithin("shop", "0.05", "shop_id"), 1),
        (SizeWithin("shop", "0.05", "shop_id"), STRONG, None),
        (WEAK, SizeWithin("shop", "0.1", "shop_id", weak=("sex", "age")), 1),
        (SizeWithin("shop", "0.1", "shop_id", weak=("sex", "age")), WEAK, None),
        (STRONG, WORKER, 1),
        (WEAK, WORKER, 1),
        (STRONG, AddRemove("job"), None),  # whose unit without an id may be a firm
        (STRONG, AddRemove("firm"), None),
        (REPORTS, STRONG, None),
        (STRONG, REPORTS, None),
        (REPORTS, SizeWithin("shop", "0.1", "shop_id", reports=("wages",)), 1),
        (SizeWithin("shop", "0.1", "shop_id", reports=("wages",)), REPORTS, None),
        (STRONG, AddRemove("worker", "person", 3), None),
        (STRONG, AddRemove("shop", "shop_id", 50), None),
        (SizeWithin("shop", "0.1"), AddRemove("job"), None),
        (WORKER, STRONG, None),
        (WORKER, ReplaceOne("worker", "person", 2), 2),
        (ReplaceOne("worker", "person", 2), WORKER, None),
        (SquareRootWithin("shop", {"jobs": "1"}), STRONG, None),
    ],
    ids=lambda one: str(one)[:60],
)
def test_a_relation_covers_what_the_rulings_say_and_nothing_else(one, other, count):
    """Strong, weak, one worker at the same epsilon; replace-one as a group of two; the square root nothing of alpha."""
    assert one.covers(other) == count


def test_strong_steps_cover_weak_ones_by_trying_all_small_establishments():
    alpha = Fraction(1, 2)
    for sizes in product(range(6), repeat=2):
        for larger in product(*(range(size, grown(size, alpha) + 1) for size in sizes)):
            weak = all(b <= grown(a, alpha) for a, b in zip((*sizes, sum(sizes)), (*larger, sum(larger)), strict=True))
            if weak:
                assert sum(larger) <= grown(sum(sizes), alpha)
    assert grown(2, alpha) == 3, "(0, 2) to (1, 2) is strong as well as weak; (0, 4) to (2, 4) is strong alone"
    assert grown(4, alpha) == 6
    assert grown(0, alpha) == 1


def test_an_establishment_is_hidden_altogether_at_a_loss_that_grows_with_its_logarithm():
    """One by one to 2 / alpha, in proportion after: 39 steps at 100 and 64 at 1,000, where 1.1^24 is about 10."""
    assert [steps(size, Fraction(1, 10)) for size in (1, 10, 100, 1_000)] == [1, 10, 39, 64]
    later = steps(100_000, Fraction(1, 10)) - steps(10_000, Fraction(1, 10))
    assert later == pytest.approx(math.log(10) / math.log(1.1), abs=1.5)
    told = {one.whom: one.steps for one in SizeWithin("shop", "0.1", "id").implied()}
    assert told["one shop of 100 jobs, there or not at all"] == 39
    assert not any("there or not at all" in one.whom for one in WEAK.implied())
    assert SquareRootWithin("shop", {"jobs": "0.3"}).implied()[0].steps == 4


def test_other_values_in_place_of_ones_own_are_two_steps_one_that_goes_and_one_that_comes():
    (told,) = WORKER.implied()
    assert (told.whom, told.steps) == ("other values of any one worker in place of its own", 2)
    assert WORKER.covers(ReplaceOne("worker", "person", 2)) == told.steps


def test_what_a_group_loses():
    assert of_group(Approximate("0.5"), 4) == Approximate(2)
    assert of_group(Approximate(100), 9) == Approximate(900), "without a delta any epsilon is one"
    assert of_group(Gaussian(1), 3) == Gaussian(3)
    assert of_group(Concentrated(1), 2) == Concentrated(4)
    two = of_group(Approximate(1, "1e-6"), 2)
    assert two.epsilon == 2
    assert float(two.delta) == pytest.approx(1e-6 * (1 + math.e), rel=1e-6)
    assert isinstance(of_group(Approximate(1, "0.1"), 9), Unbounded)
    assert isinstance(of_group(Approximate(100, "1e-9"), 9), Unbounded)


def test_a_delta_of_a_group_grows_with_the_epsilon_of_its_own_part_alone():
    """Ten of epsilon would make two steps of delta 0.001 into (1 + e^10) 0.001 = 22; the three it came with do not."""
    parts, limit = [Approximate(2), Approximate(3, "0.001"), Approximate(5)], Approximate(10, "0.01")
    assert isinstance(of_group(Approximate(10, "0.001"), 2), Unbounded)
    two = of_group_in_parts(parts, Approximate(10, "0.001"), 2, limit)
    assert (two.epsilon, float(two.delta)) == (20, pytest.approx(0.001 + 0.001 * 20.085536923187668, rel=1e-9))
    assert two.delta >= Fraction("0.021085536923187667"), "rounded up, never down"


def test_both_bounds_of_a_group_hold_for_two_releases_that_lose_all_they_may():
    """Randomised answers that tell for sure with chance delta: two steps are as far as three such laws in a row."""
    parts = [Approximate(Fraction(1, 2)), Approximate(1, "0.05")]
    two = of_group_in_parts(parts, Approximate(Fraction(3, 2), "0.05"), 2, Approximate(9, "0.5"))
    assert two.epsilon == 3
    # The first part's ends lie e^1 apart, the second's as (2, 0.05 (1 + e)); both at once, told by hand.
    first = _told(1.0, 0.0)
    second = _told(2.0, 0.05 * (1 + math.e))
    there = [one[0] * other[0] for one in first for other in second]
    gone = [one[1] * other[1] for one in first for other in second]
    lost = sum(max(a - math.exp(3) * b, 0) for a, b in zip(there, gone, strict=True))
    assert lost <= float(two.delta) * (1 + 1e-9)
    assert lost == pytest.approx(float(two.delta), rel=1e-6), "and no less would be true"


def _told(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """The chances of each answer on one side and the other of the worst pair with this epsilon and delta."""
    rest, up = 1 - delta, 1 / (1 + math.exp(-epsilon))
    return [(delta, 0.0), (rest * up, rest * (1 - up)), (rest * (1 - up), rest * up), (0.0, delta)]


def test_parts_that_are_apart_are_priced_together_where_that_is_less():
    """Two releases about different people cost the dearer one, and so do two steps of both, twice."""
    parts = [Approximate(2), Approximate(2)]
    assert of_group_in_parts(parts, Approximate(2), 2, Approximate(9)) == Approximate(4)


def test_normal_noise_under_a_limit_with_a_delta_is_converted_after_the_steps():
    """mu 1 two steps away is mu 2: at delta 1e-6 an epsilon of 10.9 or so, no delta beyond that of the limit."""
    limit = Approximate(9, "1e-6")
    two = of_group_in_parts([Gaussian(1)], Approximate("4.8867", "1e-6"), 2, limit)
    assert two.delta == limit.delta
    assert Gaussian(2).delta(float(two.epsilon)) == pytest.approx(1e-6, rel=1e-6)
    worn = [Gaussian(1), Approximate(1, "5e-7")]  # whose two steps leave nothing of the limit's delta
    assert of_group_in_parts(worn, Approximate(6, "1e-6"), 2, limit) == of_group(Approximate(6, "1e-6"), 2)


def test_a_ledger_states_of_groups_what_the_measures_of_its_charges_tell():
    """Of a total of epsilon 8 two steps make delta 0.001 into (1 + e^8) 0.001 = 3; the 1 that it came with does not."""
    parts, limit = (Approximate(7), Approximate(1, "0.001")), Approximate(20, "0.1")
    charge = Charge("jobs", Approximate(8, "0.001"), 2026, finished=True, parts=parts)
    told = Ledger("shops", STRONG, limit, charges=(charge,)).of_group(2, 2026)
    assert (told.epsilon, float(told.delta)) == (16, pytest.approx(0.001 * (1 + math.e), rel=1e-9))
    assert told == of_group_in_parts(parts, charge.loss, 2, limit), "as `price` states it"
    old = replace(charge, parts=())
    assert isinstance(Ledger("shops", STRONG, limit, charges=(old,)).of_group(2, 2026), Unbounded)


def test_charges_that_tell_no_measures_are_taken_one_by_one():
    """Two steps of each charge, added: epsilon 16, and that of the delta by its own charge alone."""
    charges = (Charge("a", Approximate(7), 2025, finished=True), Charge("b", Approximate(1, "0.001"), 2026, True))
    ledger = Ledger("shops", STRONG, Approximate(20, "0.1"), charges=charges)
    told = ledger.of_group(2, 2026)
    assert (told.epsilon, float(told.delta)) == (16, pytest.approx(0.001 * (1 + math.e), rel=1e-9))
    unbounded = Charge("d", Unbounded("suppressed"), 2026, True)
    assert replace(ledger, charges=(*charges, unbounded)).of_group(2, 2026) == ledger.of_group(2, 2026), "counted apart"
    yearly = replace(ledger, per_year=True)
    assert yearly.of_group(2, 2025) == Approximate(14), "of one year"


def test_what_is_apart_within_a_charge_is_not_added():
    """Two measures of different people cost the dearer one, 2, and with another charge 3; so do two steps, twice."""
    apart = Charge("a", Approximate(2), 2026, True, parts=(Approximate(2), Approximate(2)))
    both = (apart, Charge("b", Approximate(1), 2026, True, parts=(Approximate(1),)))
    assert Ledger("shops", STRONG, Approximate(9), charges=both).of_group(2, 2026) == Approximate(6)


def test_a_ledger_of_workers_takes_a_release_that_hides_more_and_no_other():
    ledger = Ledger("workers", WORKER, Approximate(3))
    for hidden in (WORKER, STRONG, WEAK):
        ledger.admit("jobs", Approximate(1), hidden, 2026)
    with pytest.raises(LedgerError, match="never add"):
        Ledger("employers", STRONG, Approximate(3)).admit("jobs", Approximate(1), WEAK, 2026)
    with pytest.raises(LedgerError, match="2 steps of its neighbours are one of these"):
        Ledger("workers", ReplaceOne("worker", "person", 2), Approximate(3)).admit("jobs", Approximate(1), WORKER, 2026)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: SizeWithin("shop", "1e-9", "shop_id"), "alpha is .*; it is a share, 1e-6 or more"),
        (lambda: SizeWithin("shop", "0.1", "shop_id", reports="wages"), "reports is a list of columns"),
    ],
)
def test_what_cannot_be_meant_of_sizes_is_refused(made, said):
    with pytest.raises(PlanError, match=said):
        made()


def test_over_a_frame_the_promise_is_of_what_is_reported_and_of_no_job():
    said = REPORTS.words()
    assert said.startswith("What any one shop reports of wages and jobs, within 10%")
    assert "any one job" not in said
    assert "say which of them are hidden" in SizeWithin("shop", "0.1", "shop_id").refuses(register=True)
    assert "there is no [frame]" in REPORTS.refuses(register=False)
