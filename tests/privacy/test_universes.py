"""Disjoint universes cost the dearest only where neighbours differ in one, against every record that there can be."""

import time
from fractions import Fraction
from itertools import combinations, product

import dp_accounting
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.privacy import (
    AddRemove,
    Approximate,
    Concentrated,
    Gaussian,
    ReplaceOne,
    Unbounded,
    in_sequence,
    over_universes,
)
from sfumato.schema import Box

CURRENCIES = {
    "epsilon": (Approximate, Approximate(1), lambda loss: loss.epsilon),
    "mu": (lambda size: Gaussian(squared=size), Gaussian(1), lambda loss: loss.mu_squared),
    "rho": (Concentrated, Concentrated(1), lambda loss: loss.rho),
}
currencies = pytest.mark.parametrize("currency", list(CURRENCIES))


def priced(sizes, boxes, touches, currency):
    made, limit, size = CURRENCIES[currency]
    apart = lambda one, other: boxes[one].disjoint(boxes[other])  # noqa: E731
    return size(over_universes([made(one) for one in sizes], apart, touches, limit))


def parts(count):
    """The universes of a partition by one attribute."""
    return [Box({"state": np.eye(count, dtype=bool)[place]}) for place in range(count)]


@st.composite
def worlds(draw):
    """Some measures, each of a size and about a box over up to three attributes of up to three levels."""
    levels = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 3)))]
    boxes = []
    for _ in range(draw(st.integers(1, 6))):
        named = draw(st.sets(st.integers(0, len(levels) - 1)))
        masks = {
            f"a{one}": np.array(draw(st.lists(st.booleans(), min_size=levels[one], max_size=levels[one])), dtype=bool)
            for one in named
        }
        boxes.append(Box(masks))
    sizes = [draw(st.fractions(0, 10, max_denominator=100)) for _ in boxes]
    return levels, boxes, sizes


def touched(levels, boxes):
    """For every record that there can be, the measures that see it."""
    for record in product(*(range(count) for count in levels)):
        yield frozenset(
            place
            for place, box in enumerate(boxes)
            if all(mask[record[int(name[1:])]] for name, mask in box.masks.items())
        )


def worst_case(levels, boxes, sizes, records):
    """The most that so many records can cost: every measure that sees any of them is charged in full."""
    seen = set(touched(levels, boxes))
    unions = (frozenset().union(*some) for some in combinations(seen, min(records, len(seen))))
    return max((sum((sizes[place] for place in union), Fraction(0)) for union in unions), default=Fraction(0))


@currencies
@settings(max_examples=60, deadline=None)
@given(world=worlds(), records=st.integers(1, 3))
def test_no_records_cost_more_than_the_price_and_the_price_is_never_over_the_sum(currency, world, records):
    levels, boxes, sizes = world
    price = priced(sizes, boxes, records, currency)
    assert worst_case(levels, boxes, sizes, records) <= price <= sum(sizes)


@currencies
@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.fractions(0, 10, max_denominator=100), min_size=1, max_size=7), records=st.integers(1, 8))
def test_a_partition_by_one_attribute_costs_just_its_worst_case(currency, sizes, records):
    boxes = parts(len(sizes))
    dearest = sum(sorted(sizes, reverse=True)[:records], Fraction(0))
    assert priced(sizes, boxes, records, currency) == dearest


@currencies
def test_universes_that_overlap_add(currency):
    boxes = [Box({"age": np.array([1, 1, 0], dtype=bool)}), Box({"age": np.array([0, 1, 1], dtype=bool)})]
    assert priced([Fraction(1), Fraction(2)], boxes, 1, currency) == 3
    assert priced([Fraction(1), Fraction(2)], [Box(), parts(2)[0]], 1, currency) == 3


def test_a_measure_of_all_adds_to_the_dearest_part():
    boxes = [Box(), *parts(3)]
    assert priced([Fraction(5), Fraction(1), Fraction(3), Fraction(2)], boxes, 1, "epsilon") == 8
    # Two records are two parts; the measure of all may be counted with each, which costs more and is true.
    assert priced([Fraction(5), Fraction(1), Fraction(3), Fraction(2)], boxes, 2, "epsilon") >= 10


def test_three_universes_that_meet_two_by_two_add_although_no_record_is_in_all():
    masks = ([1, 1, 0], [0, 1, 1], [1, 0, 1])
    boxes = [Box({"a": np.array(mask, dtype=bool)}) for mask in masks]
    price = priced([Fraction(1)] * 3, boxes, 1, "epsilon")
    assert worst_case([3], [Box({"a0": box.masks["a"]}) for box in boxes], [Fraction(1)] * 3, 1) == 2 <= price <= 3


def test_epsilon_and_delta_take_the_larger_part_by_part():
    losses = [Approximate(1, "1e-3"), Approximate(3)]
    boxes = parts(2)
    apart = lambda one, other: boxes[one].disjoint(boxes[other])  # noqa: E731
    assert over_universes(losses, apart, 1, Approximate(9, "0.1")) == Approximate(3, "1e-3")
    assert over_universes(losses, apart, 2, Approximate(9, "0.1")) == Approximate(4, "1e-3")


@pytest.mark.parametrize(("touches", "mu"), [(1, 2.0), (2, (4 + 1) ** 0.5), (3, 6**0.5)])
def test_gaussian_parts_are_added_as_mus_before_they_become_epsilon(touches, mu):
    losses, boxes, limit = [Gaussian(2), *[Gaussian(1)] * 5], parts(6), Approximate(99, "1e-6")
    total = over_universes(losses, lambda one, other: boxes[one].disjoint(boxes[other]), touches, limit)
    theirs = dp_accounting.get_epsilon_gaussian(1 / mu, 1e-6, tol=1e-12)
    assert theirs - 1e-9 <= float(total.epsilon) <= theirs + 1e-7
    assert total.delta == limit.delta


def test_parts_with_a_large_delta_are_not_given_one_beyond_chance():
    losses, boxes = [Approximate(1, "0.3")] * 3, parts(3)
    apart = lambda one, other: boxes[one].disjoint(boxes[other])  # noqa: E731
    assert over_universes(losses, apart, 2, Approximate(9, "0.9")) == Approximate(2, "0.6")
    # All together reach a delta of 1; that is unbounded, never a delta just under 1.
    assert isinstance(over_universes([Approximate(1, "0.5")] * 3, apart, 2, Approximate(9, "0.9999999999")), Unbounded)


def test_an_unbounded_part_leaves_no_guarantee():
    losses = [Approximate(1), Unbounded("true values")]
    assert isinstance(over_universes(losses, lambda *_: True, 1, Approximate(9)), Unbounded)


def test_one_record_that_comes_or_goes_is_in_one_universe_and_k_rows_in_k():
    assert AddRemove("job").touches(frozenset()) == 1
    assert AddRemove("firm", "id", 8).touches(frozenset({"sector"})) == 8


def test_a_replaced_record_is_in_two_universes_unless_what_parts_them_is_public():
    fixed = ReplaceOne("job", fixed=("sector", "state"))
    assert ReplaceOne("job").touches(frozenset({"sector"})) == 2
    assert fixed.touches(frozenset({"sector"})) == 1
    assert fixed.touches(frozenset({"sector", "sex"})) == 2
    assert fixed.touches(frozenset()) == 2
    assert ReplaceOne("firm", "id", 3).touches(frozenset({"sector"})) == 6


@pytest.mark.parametrize("at_most", [1, 2])
def test_a_public_attribute_does_not_help_where_rows_are_dropped_by_what_they_say(at_most):
    # A unit with a row in each of two public sectors keeps one of them by a hash of its answers: other answers may
    # keep the other, so both universes change although no row changed its sector.
    hidden = ReplaceOne("firm", "id", at_most, fixed=("sector",))
    assert hidden.touches(frozenset({"sector"})) == 2 * at_most


@pytest.mark.parametrize("count", [40, 400])
def test_many_measures_that_all_meet_are_grouped_at_once(count):
    start = time.perf_counter()
    assert priced([Fraction(1)] * count, [Box()] * count, 1, "epsilon") == count
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("touches", [1, 2])
def test_pairs_that_part_in_twenty_ways_make_a_million_groups_and_no_delay(touches):
    # Measure 2i is where attribute i is one, measure 2i + 1 where it is two: a record picks one of each pair.
    boxes = [Box({f"a{place // 2}": np.eye(2, dtype=bool)[place % 2]}) for place in range(40)]
    sizes = [Fraction(1 + place % 2) for place in range(40)]
    start = time.perf_counter()
    price = priced(sizes, boxes, touches, "epsilon")
    assert time.perf_counter() - start < 5
    assert (40 if touches == 1 else 60) <= price <= 60


def test_a_hundred_parts_of_one_attribute_are_still_told_apart():
    boxes = [box for box in parts(100) for _ in range(3)]
    assert priced([Fraction(1)] * 300, boxes, 1, "mu") == 3
    assert priced([Fraction(1)] * 300, boxes, 2, "mu") == 6
    assert in_sequence([Gaussian(1)] * 300, Gaussian(1)).mu_squared == 300
