"""A set of tables is one domain: its boxes are sets of cells, counted, summed and shared as a list by hand says."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.release import Independent, Varying
from sfumato.schema import Attribute, Box, Grid, Levels, Rule, Table, Tables

WHOLE = Table(
    (Attribute("a", Levels.of("12")), Attribute("b", Levels.of("123")), Attribute("c", Levels.of("12"))),
    (Rule.of({"a": "1", "b": "3"}),),
)
PAIRS = Tables(tuple(WHOLE.margin(pair) for pair in combinations("abc", 2)))
VALUES = np.arange(PAIRS.size) + 1


def cells():
    """Every cell by hand: the table it is of, and its leaf of what that table tells."""
    for place, member in enumerate(PAIRS.members):
        for index in np.ndindex(member.shape):
            yield place, dict(zip(member.names, index, strict=True)), bool(member.possible[index])


def inside(box: Box) -> list[bool]:
    found = []
    for place, leaves, _ in cells():
        told = {"table": place} | leaves
        found.append(all(mask[told[name]] if name in told else mask.all() for name, mask in box.masks.items()))
    return found


masks = st.fixed_dictionaries(
    {},
    optional={
        one.name: st.lists(st.booleans(), min_size=len(one.levels.leaves), max_size=len(one.levels.leaves)).map(
            lambda mask: np.array(mask, dtype=bool)
        )
        for one in PAIRS.attributes
    },
).map(Box)


@settings(max_examples=200, deadline=None)
@given(masks, masks)
def test_boxes_are_sets_of_cells(one, other):
    possible = np.array([may for *_, may in cells()])
    first, second = np.array(inside(one)), np.array(inside(other))
    assert (PAIRS.possible == possible).all()
    assert PAIRS.count(one) == (first & possible).sum()
    assert PAIRS.totals(VALUES, Grid((), one)) == VALUES[first].sum()
    assert PAIRS.common([one], [other])[0, 0] == (first & second & possible).sum() == PAIRS.count(one.within(other))
    weights = np.where(possible, VALUES, 0).astype(float)
    assert PAIRS.common([one], [other], weights)[0, 0] == weights[first & second].sum()


@settings(max_examples=60, deadline=None)
@given(masks)
def test_a_grid_is_its_boxes_one_by_one(within):
    axes = tuple(
        (one.name, np.vstack([np.eye(n), np.ones(n)]).astype(bool))
        for one, n in ((PAIRS.attributes[0], 3), (PAIRS.attributes[2], 3))
    )
    grid = Grid(axes, within)
    assert PAIRS.counts(grid).ravel().tolist() == [PAIRS.count(box) for box in grid.boxes()]
    assert PAIRS.totals(VALUES, grid).ravel().tolist() == [
        int(PAIRS.totals(VALUES, Grid((), box))) for box in grid.boxes()
    ]


@pytest.mark.parametrize("uncertainty", [Independent(2.5), Varying(np.where(PAIRS.possible, 1.0 + VALUES, 0.0))])
def test_errors_over_it_are_those_of_the_cells_in_common(uncertainty):
    """The same row of a in two tables is measured twice, with noise of its own each time."""
    errors = uncertainty.over(PAIRS, VALUES)
    first = {"a": np.array([True, False])}
    tables = [Box(first | {"table": np.arange(3) == place}) for place in (0, 1)]
    each = [np.array(inside(box)) & PAIRS.possible for box in tables]
    alone = [2.5 * held.sum() if isinstance(uncertainty, Independent) else (1.0 + VALUES)[held].sum() for held in each]
    assert [errors.covariance(box, box) for box in tables] == pytest.approx(alone)
    assert errors.covariance(*tables) == 0
    grid = Grid((("table", np.eye(3, dtype=bool)[:2]),), Box(first))
    assert errors.with_whole(grid, ("table",)).tolist() == pytest.approx(alone)
