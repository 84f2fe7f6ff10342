"""A table from the replicate cube is the table from the records, to the integer, however it is laid out."""

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.confidential import Microdata, design
from sfumato.confidential.design import Survey
from sfumato.errors import DataError
from sfumato.plan import Plan
from sfumato.schema import Box, Grid

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SIZES = {"a": 3, "b": 2, "c": 4}
WEIGHTS = ("w", "w1", "w2", "w3", "w4")
PLAN = """
name = "sample"
sampling = "a sample"
[data]
unit = "person"
weight = "w"
weight_kind = "base"
replicates = "w{1..4}"
[attributes.a]
levels = ["0", "1", "2"]
[attributes.b]
levels = ["0", "1"]
[attributes.c]
levels = ["0", "1", "2", "3"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "1"
[[measure]]
name = "persons"
of = { statistic = "count", weighted = false }
by = ["a"]
with = { mechanism = "geometric", epsilon = "1" }
"""


def plan(text=PLAN):
    return Plan.parse(text, Path("sample.toml"))


def survey(rows, names=tuple(SIZES), text=PLAN, engine=""):
    made = plan(text)
    return Survey(made, Microdata.open(rows, made.schema, engine), names)


def masks(length, count=1):
    return st.lists(st.lists(st.booleans(), min_size=length, max_size=length), min_size=count, max_size=count)


@st.composite
def samples(draw):
    """Records with whole weights, negative replicates among them, as integers or as floats that are whole."""
    length = draw(st.integers(1, 25))
    kind = draw(st.sampled_from([pa.int16(), pa.int32(), pa.int64(), pa.float64()]))
    columns = {
        name: pa.array(draw(st.lists(st.integers(0, size - 1), min_size=length, max_size=length)), pa.int8())
        for name, size in SIZES.items()
    }
    for name in WEIGHTS:
        drawn = draw(st.lists(st.integers(-3000, 30000), min_size=length, max_size=length))
        columns[name] = pa.array(drawn, pa.int64()).cast(kind)
    return pa.table(columns)


@st.composite
def grids(draw):
    """Some attributes in any order, groups of leaves that may overlap or hold nothing, and a universe."""
    shown = draw(st.permutations(sorted(SIZES)))[: draw(st.integers(0, 3))]
    axes = []
    for name in shown:
        single = np.eye(SIZES[name], dtype=bool)
        groups = draw(st.none() | st.integers(1, 4).flatmap(lambda count, name=name: masks(SIZES[name], count)))
        axes.append((name, single if groups is None else np.array(groups)))
    within = {name: np.array(draw(masks(SIZES[name]))[0]) for name in sorted(SIZES) if draw(st.booleans())}
    return Grid(tuple(axes), Box(within))


def by_hand(rows, grid):
    """The sums of every box, record by record, in Python's own integers."""
    records = rows.to_pylist()
    found = np.zeros((*grid.shape, len(WEIGHTS)), dtype=object)
    for place in product(*(range(length) for length in grid.shape)):
        for record in records:
            inside = all(mask[record[name]] for name, mask in grid.within.masks.items())
            shown = all(
                groups.mask(index)[record[name]] for (name, groups), index in zip(grid.axes, place, strict=True)
            )
            if inside and shown:
                found[place] += np.array([int(record[name]) for name in WEIGHTS], dtype=object)
    return found


@given(samples(), grids(), st.permutations(sorted(SIZES)))
@QUICK
def test_any_table_from_the_cube_is_the_sum_over_the_records(rows, grid, read):
    asked = survey(rows, read)
    assert asked._cube is not None
    assert asked._cube.shape == (*(SIZES[name] for name in read), len(WEIGHTS))
    table = asked.total(grid).values
    assert table.dtype == np.int64
    assert table.tolist() == by_hand(rows, grid).tolist()
    assert asked.records(grid).tolist() == _counted(rows, grid).tolist()


def _counted(rows, grid):
    ones = rows.drop_columns(list(WEIGHTS))
    for name in WEIGHTS:
        ones = ones.append_column(name, pa.array([1] * len(rows)))
    return by_hand(ones, grid)[..., 0]


@given(samples())
@QUICK
def test_the_cube_of_the_arrays_is_the_cube_of_the_queries(rows):
    quick, thorough = survey(rows), survey(rows, engine="duckdb")
    assert (quick._engine.name, thorough._engine.name) == ("arrays", "duckdb")
    assert quick._cube.dtype == thorough._cube.dtype == np.int64
    assert quick._cube.tolist() == thorough._cube.tolist()


def fixed(**given_columns):
    columns = {"a": [0, 1, 1, 2], "b": [0, 1, 1, 1], "c": [3, 0, 0, 1]}
    columns |= {name: [10 + place, 20, 30, 40] for place, name in enumerate(WEIGHTS)}
    return pa.table({name: pa.array(values) for name, values in (columns | given_columns).items()})


def test_overlapping_groups_each_count_their_leaves_and_axes_stand_as_asked():
    grid = Grid((("c", np.array([[1, 0, 0, 1], [1, 1, 0, 0]], dtype=bool)), ("a", np.eye(3, dtype=bool))))
    full = survey(fixed()).total(grid).full
    assert full.tolist() == [[10, 50, 0], [0, 50, 40]]  # records 1 and 2, 3 stand at c = 0, in both groups


def test_a_universe_leaves_records_out_of_shown_and_of_summed_attributes():
    grid = Grid(
        (("a", np.eye(3, dtype=bool)),), Box({"a": np.array([True, True, False]), "b": np.array([False, True])})
    )
    assert survey(fixed()).total(grid).full.tolist() == [0, 50, 0]


UNHELD = {
    "a weight that is not whole": {"w2": [1.5, 20.0, 30.0, 40.0]},
    "a sum that may pass 64 bits": {"w3": [2**52, 1, 1, 2**52 + 1], "w": [2**61, 2**61, 2**61, 2**61]},
}


@pytest.mark.parametrize("given_columns", UNHELD.values(), ids=UNHELD)
def test_weights_whose_sums_depend_on_their_order_are_not_held_and_are_summed_all_the_same(given_columns):
    rows = fixed(**given_columns)
    asked = survey(rows)
    assert asked._engine.name == "duckdb"
    assert asked._cube is None
    grid = Grid((("b", np.eye(2, dtype=bool)),))
    for place, name in enumerate(WEIGHTS):
        one, *others = (float(value) for value in rows[name].to_pylist())
        assert asked.total(grid).values[..., place].tolist() == pytest.approx([one, sum(others)], rel=1e-12)


def test_a_weight_that_lacks_is_refused_in_words():
    with pytest.raises(DataError, match=r"w4.*every record needs its weights"):
        survey(fixed(w4=[1, None, 3, 4]))
    with pytest.raises(DataError, match=r"w4.*every record needs its weights"):
        survey(fixed(w4=[1.0, float("nan"), 3.0, 4.0]))


def test_an_unknown_level_is_refused_in_words_though_the_weights_are_sound():
    with pytest.raises(DataError, match="not among the declared levels of 'a'"):
        survey(fixed(a=[0, 1, 1, 7]))


def test_replicates_that_are_built_from_an_order_are_not_held():
    text = PLAN.replace('replicates = "w{1..4}"', 'order = "turn"\nreplicates = 4')
    asked = survey(fixed(turn=[3, 1, 2, 0]), text=text)
    assert (asked._engine.name, asked._cube) == ("duckdb", None)
    assert asked.total(Grid(())).full.tolist() == 100


def test_a_cube_that_does_not_fit_is_not_begun(monkeypatch):
    cells = 3 * 2 * 4 * len(WEIGHTS)
    monkeypatch.setattr(design, "LARGEST_CUBE", cells)
    assert survey(fixed())._cube is not None
    monkeypatch.setattr(design, "LARGEST_CUBE", cells - 1)
    asked = survey(fixed())
    assert (asked._engine.name, asked._cube) == ("duckdb", None), "no cube is asked for"
    assert asked.total(Grid(())).values.tolist() == [100, 101, 102, 103, 104]


def test_a_cell_has_its_weights_side_by_side():
    cube = survey(fixed())._cube
    assert cube.flags.c_contiguous
    assert cube[1, 1, 0].tolist() == [50] * 5


def test_columns_that_share_a_name_with_a_weight_are_read_once():
    made = plan(
        PLAN.replace("[attributes.c]", '[attributes.c]\nfrom = "w1"').replace(
            '["0", "1", "2", "3"]', '["11", "20", "30", "40"]'
        )
    )
    asked = Survey(made, Microdata.open(fixed(), made.schema), ("c",))
    assert asked._engine.name == "arrays"
    assert asked._cube[:, 1].tolist() == [11, 20, 30, 40]
    with pytest.raises(DataError, match="read by no engine; arrays declined: column 'w1' has values that have no"):
        Survey(made, Microdata.open(fixed(w1=["x"] * 4), made.schema, "arrays"), ("c",))
