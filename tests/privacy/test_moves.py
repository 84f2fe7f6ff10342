"""Moves: no two neighbours are further apart than claimed, and some are just as far, by trying all of them."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError, PromiseError
from sfumato.privacy import AddRemove, Bounded, ReplaceOne
from sfumato.schema import Frame, Table
from sfumato.statistics import Count, Total

CELLS = range(3)
CLIPS = [(0, 4), (-4, 4), (-6, 2), (2, 6), (-6, -2), (0, 1)]


def held(value, clip, step):
    """A record's value in whole steps: held within the clip, then rounded half up."""
    low, high = clip
    return floor(Fraction(min(max(value, low), high)) / step + Fraction(1, 2))


def units(rows, values):
    """Everything that one unit can be: up to so many rows, each in a cell and with a value."""
    kinds = list(product(CELLS, values))
    for count in range(rows + 1):
        yield from combinations_with_replacement(kinds, count)


def table_of(unit, contribution):
    cells = [0] * len(CELLS)
    for cell, value in unit:
        cells[cell] += contribution(value)
    return tuple(cells)


def furthest(hidden, values, contribution):
    """Between any two neighbours: the most cells that differ, the largest l1, squared l2 and single gap."""
    everything = {table_of(unit, contribution) for unit in units(hidden.at_most, values)}
    nothing = {(0,) * len(CELLS)}
    pairs = product(everything, nothing if isinstance(hidden, AddRemove) else everything)
    apart = [[abs(a - b) for a, b in zip(one, other, strict=True)] for one, other in pairs]
    return (
        max(sum(gap > 0 for gap in gaps) for gaps in apart),
        max(map(sum, apart)),
        max(sum(gap**2 for gap in gaps) for gaps in apart),
        max(map(max, apart)),
    )


def neighbours(rows):
    named = "id" if rows > 1 else None
    return [
        AddRemove("firm", named, rows),
        ReplaceOne("firm", named, rows),
        ReplaceOne("firm", "id", rows, ("sector",)),
    ]


@pytest.mark.parametrize("hidden", [one for rows in (1, 2, 3) for one in neighbours(rows)], ids=str)
def test_the_move_of_a_count_is_that_of_its_furthest_neighbours(hidden):
    cells, l1, l2_squared, largest = furthest(hidden, [None], lambda _: 1)
    move = hidden.move(Count().contribution, Table(()))
    assert (move.l1, move.l2_squared, move.largest) == (l1, l2_squared, largest)
    assert move.cells >= cells


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("hidden", [one for rows in (1, 2) for one in neighbours(rows)], ids=str)
@pytest.mark.parametrize("step", ["1", "1/2"])
def test_the_move_of_a_total_is_that_of_its_furthest_neighbours(hidden, clip, step):
    step = Fraction(step)
    values = {-99, clip[0], clip[0] + Fraction(1, 4), Fraction(1, 3), clip[1] - Fraction(1, 2), clip[1], 99}
    cells, l1, l2_squared, largest = furthest(hidden, values, lambda value: held(value, clip, step))
    move = hidden.move(Total("wage", clip=clip, step=step).contribution, Table(()))
    assert (move.l1, move.l2_squared, move.largest) == (l1, l2_squared, largest)
    assert move.cells >= cells


@st.composite
def firms(draw, rows):
    """The rows of one unit: cells and values far beyond any clip, also such as lie halfway between steps."""
    values = st.one_of(st.integers(-(10**6), 10**6), st.fractions(-1000, 1000, max_denominator=40))
    return draw(st.lists(st.tuples(st.sampled_from(CELLS), values), max_size=rows))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_random_neighbours_are_further_apart_than_the_claim(data):
    rows = data.draw(st.integers(1, 5))
    step = data.draw(st.sampled_from([Fraction(1), Fraction(5), Fraction(1, 8)]))
    low = data.draw(st.integers(-50, 50))
    clip = (low * step, (low + data.draw(st.integers(1, 60))) * step)
    others = data.draw(st.lists(firms(rows), max_size=3))
    one, other = data.draw(firms(rows)), data.draw(firms(rows))
    total = Total("wage", clip=clip, step=step)
    for hidden, replaced in ((AddRemove("firm", "id", rows), []), (ReplaceOne("firm", "id", rows), other)):
        both = [
            table_of([row for firm in (*others, mine) for row in firm], lambda value: held(value, clip, step))
            for mine in (one, replaced)
        ]
        gaps = [abs(a - b) for a, b in zip(*both, strict=True)]
        move = hidden.move(total.contribution, Table(()))
        assert sum(gap > 0 for gap in gaps) <= move.cells
        assert sum(gaps) <= move.l1
        assert sum(gap**2 for gap in gaps) <= move.l2_squared
        assert max(gaps) <= move.largest


def test_the_design_s_count_moves_by_one_and_by_two():
    assert AddRemove("job").move(Count().contribution, Table(())) == Bounded(cells=1, l1=1, l2_squared=1, largest=1)
    assert ReplaceOne("job").move(Count().contribution, Table(())) == Bounded(cells=2, l1=2, l2_squared=2, largest=1)
    # SCIENCE 0b: a unit with q records in one table has L1 and L2 sensitivity q.
    assert AddRemove("firm", "id", 8).move(Count().contribution, Table(())) == Bounded(
        cells=8, l1=8, l2_squared=64, largest=8
    )


def test_a_move_that_does_not_say_how_far_one_cell_goes_may_go_all_the_way():
    assert Bounded(cells=2, l1=6, l2_squared=18).largest == 6


def test_the_weights_of_the_science_move_by_the_largest_and_by_twice_that():
    # SCIENCE 0b, weights (B): clip to [0, w_max]; w_max under add-remove, 2 w_max under replace-one.
    weights = Total("weight", clip=(0, "7.5"), step="0.5")
    assert AddRemove("quote").move(weights.contribution, Table(())).l1 == 15
    assert ReplaceOne("quote").move(weights.contribution, Table(())).l1 == 30


def test_a_total_without_a_clip_has_no_move_and_says_what_is_missing():
    with pytest.raises(PromiseError, match=r'Total of wage has no largest value.*give clip, for example clip = \["0"'):
        AddRemove("job").move(Total("wage").contribution, Table(()))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"clip": (4, 0)}, "runs from 4 to 0; it must rise"),
        ({"clip": (1, 1)}, "it must rise"),
        ({"clip": (0, 5), "step": 2}, "clip 5 of wage is no multiple of the step 2"),
        ({"clip": ("0.5", 2), "step": 1}, "no multiple of the step"),
        ({"clip": (0, 4), "step": 0}, "step is 0; it must be above 0"),
        ({"clip": (0, 4), "step": 0.5}, "float 0.5, which is not exact"),
        ({"clip": (0, 0.1)}, "float 0.1, which is not exact"),
        ({"clip": ("5",)}, "a lowest and a highest value"),
        ({"clip": (0, 5, 9)}, "a lowest and a highest value"),
        ({"clip": "09"}, "a lowest and a highest value"),
        ({"clip": (0, 4), "missing": 99}, "99 for a missing wage lies outside its clip, 0 to 4"),
        ({"clip": (0, 4), "missing": -1}, "outside its clip"),
    ],
)
def test_a_total_that_cannot_be_meant_is_refused(given, said):
    with pytest.raises(PlanError, match=said):
        Total("wage", **given)


@pytest.mark.parametrize("clip", [("0", "1e400"), ("0", str(2**53 + 1)), (str(-(2**60)), "0")])
def test_a_clip_that_a_double_cannot_hold_exactly_is_refused_before_anything_is_charged(clip):
    with pytest.raises(PlanError, match="2\\^53 steps"):
        Total("wage", clip=clip)


@pytest.mark.parametrize(("clip", "far"), [((-50, 10), -50), ((-10, 50), 50), ((-50, -10), -50), ((0, 9), 9)])
def test_the_row_that_an_audit_adds_is_the_one_that_moves_a_total_most_of_either_sign(clip, far):
    assert Total("w", clip=clip).contribution.farthest == far
    assert AddRemove("job").move(Total("w", clip=clip).contribution, Table(())).l1 == abs(far)


@pytest.mark.parametrize(
    ("clip", "one", "other"),
    [
        ((-20, 50), (1, 50), (1, -20)),
        ((-50, 0), (1, -50), (0, -50)),
        ((0, 50), (1, 50), (0, 0)),
        ((10, 50), (1, 50), (0, 10)),
    ],
)
def test_over_a_register_the_audits_pair_goes_from_one_end_to_the_other_in_the_columns_own_unit(clip, one, other):
    """Counted in steps of 10; a report that is not there counts as 0, which may be the farthest from an end."""
    row, shops = Total("w", clip=clip, step=10).contribution, Frame("shop", (), {}, range(3))
    sides = ReplaceOne("shop").pair(row, shops)
    assert [(side.rows, side.value) for side in sides] == [one, other]
    apart = abs(one[0] * one[1] - other[0] * other[1])
    assert ReplaceOne("shop").move(row, shops).l1 * 10 == apart
    assert AddRemove("shop").pair(row, shops)[0].value == max(clip, key=abs)


@pytest.mark.parametrize("at_most", [1, 2, 3])
@pytest.mark.parametrize("clip", CLIPS)
def test_the_rows_of_an_audits_pair_add_up_to_the_ends_that_are_claimed(clip, at_most):
    hidden, row = ReplaceOne("firm", "id", at_most), Total("pay", clip=clip).contribution
    for ends in hidden.ends(row):
        sides = hidden.sides(row, Table(()), *map(Fraction, ends))
        # Rows beyond at_most are not counted, nor are those outside.
        assert tuple(0 if one.outside else min(one.rows, at_most) * one.value for one in sides) == ends
