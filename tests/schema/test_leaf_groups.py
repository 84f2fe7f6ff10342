"""Groups of leaves as places answer what rows of booleans do, in the memory of the leaves alone."""

import tracemalloc

import numpy as np
import pytest

from sfumato.query.axis import Axis
from sfumato.release.lattice import Lattice
from sfumato.release.uncertainties import Independent
from sfumato.schema import Attribute, Box, Grid, LeafGroups, Levels, Table
from sfumato.schema.trees import Tree, levels_of

RNG = np.random.default_rng(15)
SPARSE = RNG.random((40, 23)) < 0.2
PARTED = np.arange(6)[:, None] == RNG.integers(-1, 6, 30)
NESTED = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]], dtype=bool)
ALL = pytest.mark.parametrize(
    "dense", [SPARSE, PARTED, NESTED, np.eye(5, dtype=bool), np.zeros((0, 4), dtype=bool), np.zeros((3, 4), dtype=bool)]
)


@ALL
def test_groups_answer_as_rows_of_booleans_do(dense):
    groups, mask = LeafGroups.of(dense), RNG.random(dense.shape[1]) < 0.6
    weights = RNG.integers(0, 9, dense.shape[1]).astype(float)
    assert len(groups) == len(dense)
    assert np.array_equal(groups.dense, dense)
    assert np.array_equal(groups.others.dense, ~dense)
    assert [one.tolist() for one in groups.masks()] == dense.tolist()
    assert np.array_equal(groups.within(mask).dense, dense & mask)
    assert np.array_equal(groups.covered, dense.any(axis=0))
    assert np.array_equal(groups.times, dense.sum(axis=0))
    assert groups.overlap == bool((dense.sum(axis=0) > 1).any())
    assert np.array_equal(groups.meet(mask), (dense & mask).any(axis=1))
    assert np.array_equal(groups.shared(weights), (dense * weights) @ dense.T)
    listed = LeafGroups.listed([np.flatnonzero(row).tolist() for row in dense], dense.shape[1])
    assert np.array_equal(listed.dense, dense)


@ALL
def test_some_groups_in_any_order_and_some_leaves_in_any_order(dense):
    groups, order = LeafGroups.of(dense), RNG.permutation(len(dense))
    for rows in (order, order[:2], slice(1, None), np.zeros(len(dense), dtype=bool), RNG.random(len(dense)) < 0.5):
        assert np.array_equal(groups.at(rows).dense, dense[rows])
    leaves = RNG.permutation(dense.shape[1])[: dense.shape[1] // 2]
    seen = groups.seen_from(leaves)
    assert np.array_equal(seen.dense, dense[:, leaves])
    assert all((np.diff(seen.leaves(row)) > 0).all() for row in range(len(seen)))


@ALL
def test_layers_hold_every_group_once_and_none_overlaps(dense):
    layers = LeafGroups.of(dense).layers()
    assert sorted(place for layer in layers for place in layer.tolist()) == list(range(len(dense)))
    for layer in layers:
        part = LeafGroups.of(dense).at(layer)
        assert not part.overlap
        inside = part.row_of >= 0
        assert np.array_equal(inside, dense[layer].any(axis=0))
        assert np.array_equal(part.row_of[inside], dense[layer].argmax(axis=0)[inside])


def test_the_coarsest_level_that_groups_are_whole_parts_of():
    levels = Levels.of([*"AB", *({"code": f"{top}{one}", "parent": top} for top in "AB" for one in "12")])
    levels = Levels.of([*levels.records(), *({"code": f"A1{one}", "parent": "A1"} for one in "xyz")])
    tree = Tree(tuple(levels_of(levels)))
    asked = [["A", "B"], ["A"], ["A1"], ["A1", "B"], ["A1x"], ["A2"], ["A1x", "A1y", "A1z"], ["B1", "A"]]
    groups = levels.groups([*asked, []])
    whole = [[(row == row[part.one][part.of]).all() for part in tree.parts] for row in groups.masks()]
    assert tree.levels_of_groups(groups).tolist() == [one.index(True) for one in whole]


def _country(codes: int, each: int) -> Table:
    top = [{"code": f"P{code}"} for code in range(codes)]
    below = [{"code": f"P{code}-{one}", "parent": f"P{code}"} for code in range(codes) for one in range(each)]
    return Table((Attribute("area", Levels.of([*top, *below])), Attribute("sex", Levels.of(["f", "m"]))))


def test_errors_of_all_pairs_of_rows_are_those_of_their_boxes():
    table = _country(3, 4)
    codes = ("P0", "P1", "P2", "P0-1", "P2-3")
    axis = Axis(table.attributes[0], codes)
    grid = Grid((("area", axis.groups),), Box({"sex": np.array([True, False])}))
    boxes = list(grid.boxes())
    errors = Independent(2.5).over(table, np.zeros(table.shape, dtype=np.int64))
    assert np.array_equal(errors.among(grid), errors.covariances(boxes, boxes))
    column = RNG.random(table.shape)
    assert np.allclose(table.among(grid, column), table.common(boxes, boxes, column))
    other = Grid((("place", np.eye(3, dtype=bool)),))  # an axis that the table does not know
    assert np.array_equal(table.among(other), np.full((3, 3), table.size))


def test_a_page_of_postal_codes_takes_the_memory_of_its_neighbourhoods():
    codes, each = 400, 50
    table = _country(codes, each)
    values = np.ones(table.shape, dtype=np.int64)
    lattice, errors = Lattice(values, table.attributes), Independent(2.0).over(table, values)
    lattice.totals(Grid(()))  # what is kept of the levels is no page's
    tracemalloc.start()
    axis = Axis(table.attributes[0], table.attributes[0].levels.at(0))
    grid = Grid((("area", axis.groups), ("sex", LeafGroups.each(2))))
    assert (lattice.totals(grid) == each).all()
    assert (errors.with_whole(grid, ("area",)) == 2.0 * each).all()
    assert (errors.among(Grid(grid.axes[:1])) == np.diag(np.full(codes, 4.0 * each))).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dense = codes * codes * each
    assert peak < dense * 0.8, "rows × leaves bytes were laid out"
