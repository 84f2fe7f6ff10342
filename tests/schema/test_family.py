"""A family of tables holds what some table of it tells apart, and every answer is that of the one cube behind it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.schema import Attribute, Box, Grid, Levels, Rule, Schema, Table, UpTo

NAMES = ("a", "b", "c", "d")


@st.composite
def worlds(draw):
    """Two to four attributes, some with two levels, some of one leaf alone; a family of them; and a cube of numbers."""
    made = []
    for name in NAMES[: draw(st.integers(2, 4))]:
        if draw(st.booleans()):
            made.append(Attribute(name, Levels.of([f"{name}{place}" for place in range(draw(st.integers(1, 3)))])))
            continue
        sizes = [draw(st.integers(1, 3)) for _ in range(2)]
        tops = [{"code": f"{name}{part}"} for part in range(2)]
        leaves = [
            {"code": f"{name}{p}{i}", "parent": f"{name}{p}"} for p, size in enumerate(sizes) for i in range(size)
        ]
        made.append(Attribute(name, Levels.of([*tops, *leaves])))
    names = [one.name for one in made]
    written = [
        st.sampled_from([name, f"{name}@0"] if one.levels.depth else [name])
        for name, one in zip(names, made, strict=True)
    ]
    also = [
        [draw(one) for one, taken in zip(written, chosen, strict=True) if taken]
        for chosen in draw(st.lists(st.tuples(*(st.booleans() for _ in names)), max_size=2))
    ]
    spec = UpTo(draw(st.integers(1, len(names))), tuple(draw(one) for one in written), tuple(map(tuple, also)))
    family = spec.family(Schema(tuple(made)))
    cube = np.random.default_rng(draw(st.integers(0, 99))).integers(-9, 99, Table(family.attributes).shape)
    return family, cube


def boxes(draw, family):
    """A grid by some attributes of random groups of leaves, within others."""
    chosen = [draw(st.sampled_from(["axis", "within", "no"])) for _ in family.attributes]
    some = lambda one: np.array(draw(st.lists(st.booleans(), min_size=(n := len(one.levels.leaves)), max_size=n)))  # noqa: E731
    pairs = list(zip(family.attributes, chosen, strict=True))
    axes = tuple((one.name, np.stack([some(one) for _ in range(2)])) for one, how in pairs if how == "axis")
    return Grid(axes, Box({one.name: some(one) for one, how in pairs if how == "within"}))


def held(family, box):
    """Whether a table has, for each attribute, every part of a level either whole in the box or outside of it."""

    def fits(table, one):
        mask, known = box.mask(one), {own.name: own for own in table.attributes}
        if one.name not in known:
            return mask.all() or not mask.any()
        above = one.levels.above(known[one.name].levels)
        return all(len(set(mask[above == part])) == 1 for part in range(above.max() + 1))

    return any(all(fits(table, one) for one in family.attributes) for table in family.members)


def filled(family, cube):
    """The cells of all tables, each summed from the cube with loops."""
    columns = []
    for table in family.members:
        values = np.zeros(table.shape, dtype=np.int64)
        known = {one.name: one for one in table.attributes}
        above = {one.name: one.levels.above(known[one.name].levels) for one in family.attributes if one.name in known}
        for place in product(*map(range, cube.shape)):
            at = dict(zip(family.names, place, strict=True))
            values[tuple(above[name][at[name]] for name in table.names)] += cube[place]
        columns.append(values.ravel())
    return np.concatenate(columns)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_box_is_held_by_some_table_or_by_none_and_then_has_the_total_of_the_cube(data):
    family, cube = data.draw(worlds())
    column, whole = filled(family, cube), Table(family.attributes)
    grid = boxes(data.draw, family)
    totals = family.totals(column, grid)
    _, unheld = family.answered(grid, lambda _, part: np.zeros(part.shape, dtype=np.int64))
    for place, box in zip(np.ndindex(*grid.shape), grid.boxes(), strict=True):
        assert unheld[place] == (not held(family, box))
        inside = cube[np.ix_(*(box.mask(one) for one in whole.attributes))].sum()
        assert totals[place] == (0 if unheld[place] else inside)


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_no_table_is_in_another_and_components_are_all_that_is_below_one(world):
    family, _ = world
    for one, other in product(family.tops, repeat=2):
        assert one == other or not all(low <= high for low, high in zip(one, other, strict=True))
    depths = [range(tree.depth + 1) for tree in family.trees]
    below = [one for one in product(*depths) if any(np.all(np.array(one) <= top) for top in family.tops)]
    assert sorted(family.components) == sorted(below)
    assert len({*family.components}) == len(family.components)
    asked = [tuple(table.names) for table in family.listed]
    assert all(family.holds(frozenset(names)) for names in asked)


def test_a_family_counts_every_box_in_the_smallest_table_that_holds_it():
    schema = Schema(
        tuple(Attribute(name, Levels.of("1234"[:size])) for name, size in zip("abc", (2, 3, 4), strict=True))
    )
    family = UpTo(2, tuple("abc")).family(schema)
    assert [one.names for one in family.members] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert family.count(Box()) == 2 * 3
    assert family.count(Box({"a": np.array([True, False])})) == 3
    assert family.count(Box({"c": np.array([True, False, False, True])})) == 2 * 2
    assert family.size == 6 + 8 + 12


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ((1, ()), "of names no attributes"),
        ((0, ("a", "b")), "up_to is 0 of 2 attributes"),
        ((3, ("a", "b")), "give a number from 1 to 2"),
        ((True, ("a", "b")), "up_to is True"),
        ((1, "ab"), "of is 'ab'; give a list of attributes"),
        ((1, (1, 2)), "give a list of attributes"),
        ((1, ("a", "x")), "'x' is not an attribute"),
        ((1, ("a", "a")), "twice"),
        ((1, ("a",), (("b", "b"),)), "twice"),
        ((2, ("a", "c")), "Some combinations of a and c are impossible"),
        ((8, tuple(f"x{place}" for place in range(40))), "more than 20,000"),
    ],
)
def test_what_is_no_family_is_refused_in_words(spec, words):
    attributes = tuple(Attribute(name, Levels.of("12")) for name in "abc")
    schema = Schema(attributes, impossible=(Rule((("a", ("1",)), ("c", ("2",)))),))
    with pytest.raises(PlanError, match=words):
        UpTo(*spec).family(schema)


def test_a_level_that_no_record_has_is_left_out_of_a_family_and_that_is_said():
    schema = Schema((Attribute("a", Levels.of("123")),), impossible=(Rule((("a", ("2", "3")),)),))
    with pytest.raises(PlanError, match=r"Of a no record is 2 or 3, .* leave these levels out of its levels"):
        UpTo(1, ("a",)).family(schema)
