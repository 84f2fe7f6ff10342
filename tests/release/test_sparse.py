"""A sparse table answers like the same table laid out, is written and read back, and refuses what is not its own."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.grids import KNOWN, SHAPE, one_by_one, random_grid

from sfumato.errors import ReleaseError
from sfumato.release import Cube, Independent, Sparse, Subject, write_products
from sfumato.release import sparse as made
from sfumato.release.cubes import read_cube
from sfumato.schema import Attribute, Box, Levels, Rule, Table

SUBJECT = Subject("jobs", "count", "Number of jobs", "jobs", Fraction(1))
TABLE = Table(KNOWN, (Rule.of({"sex": "m", "age": ["0", "1"]}),))


def pair(seed: int) -> tuple[Sparse, Cube]:
    """The same values twice, one cell in five not 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-9, 99, SHAPE) * (rng.random(SHAPE) < 0.2) * TABLE.possible
    places = np.flatnonzero(values)
    stated = Independent(2.5, 3.0)
    return Sparse(SUBJECT, TABLE, places, values.ravel()[places], stated), Cube(SUBJECT, TABLE, values, stated)


@pytest.mark.parametrize("largest", [0, 40, made.LARGEST_MARGIN], ids=["folded", "some of each", "from margins"])
def test_every_table_is_the_sum_of_its_cells_to_the_last_digit(largest, monkeypatch):
    monkeypatch.setattr(made, "LARGEST_MARGIN", largest)
    sparse, cube = pair(1)
    rng = np.random.default_rng(2)
    for _ in range(120):
        grid = random_grid(rng)
        assert (sparse.totals(grid) == one_by_one(cube.values, grid)).all()
        assert (sparse.cell_counts(grid) == one_by_one(TABLE.possible.astype(int), grid)).all()
        assert np.array_equal(sparse.variances(grid), 2.5 * one_by_one(TABLE.possible.astype(int), grid).astype(float))
    box = TABLE.box({"sex": "f", "job": "a"})
    assert sparse.total(box) == cube.values[np.ix_(*(box.mask(one) for one in KNOWN))].sum()


def test_margins_kept_are_few():
    sparse, _ = pair(3)
    rng = np.random.default_rng(4)
    for _ in range(60):
        sparse.totals(random_grid(rng))
    assert len(sparse._margins) <= 8


def test_cells_are_counted_without_laying_them_out():
    """A table of 10^12 cells: what rules forbid is counted on the attributes that they name, by inclusion alone."""
    wide = tuple(Attribute(name, Levels.of(range(10_000))) for name in ("block", "industry", "job"))
    sexes = Attribute("sex", Levels.of("fm"))
    table = Table((*wide, sexes), (Rule.of({"block": ["1", "2"], "sex": "m"}),))
    assert not table.dense
    assert table.count(Box()) == 10**12 * 2 - 2 * 10**8
    assert table.count(table.box({"block": ["2", "3"], "job": "7"})) == 10_000 * (1 + 2)
    asked = np.array([0, 2 * 10**8 + 1, 4 * 10**8 + 1, 6 * 10**8 + 1, 2 * 10**12 - 1])
    assert table.possible_at(asked).tolist() == [True, False, False, True, True]
    assert table.leaves_at(asked, "block").tolist() == [0, 1, 2, 3, 9_999]


def test_a_sparse_table_is_written_and_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.release.cubes._PIECE", 7)  # several pieces
    sparse, cube = pair(5)
    [line] = write_products(tmp_path, [sparse])
    assert line.kind == "sparse"
    known = {one.name: one for one in KNOWN}
    again = read_cube(tmp_path, line, SUBJECT, known)
    assert isinstance(again, Sparse)
    assert np.array_equal(again.places, sparse.places)
    assert np.array_equal(again.values, sparse.values)
    # Anyone reads it as a plain table of codes and values.
    codes = pq.read_table(tmp_path / line.file).to_pylist()
    assert len(codes) == np.count_nonzero(cube.values)
    for row in codes[::11]:
        at = tuple(known[name].levels.leaf_index[row[name]] for name in known)
        assert cube.values[at] == row["value"] != 0


def test_nothing_listed_is_a_table_of_zeros(tmp_path):
    none = np.empty(0, dtype=np.int64)
    [line] = write_products(tmp_path, [Sparse(SUBJECT, TABLE, none, none, Independent(1.0))])
    again = read_cube(tmp_path, line, SUBJECT, {one.name: one for one in KNOWN})
    assert again.total(Box()) == 0
    assert again.cells(Box()) == TABLE.count(Box())


@pytest.mark.parametrize("wrong", ["twice", "order", "impossible", "unknown", "missing"])
def test_a_file_that_is_no_list_of_possible_cells_is_refused(tmp_path, wrong):
    sparse, _ = pair(6)
    [line] = write_products(tmp_path, [sparse])
    table = pq.read_table(tmp_path / line.file)
    rows = table.to_pylist()
    if wrong == "twice":
        rows.insert(1, rows[0])
    elif wrong == "order":
        rows[0], rows[1] = rows[1], rows[0]
    else:
        rows[0] |= {"impossible": {"sex": "m", "age": "0"}, "unknown": {"sex": "?"}, "missing": {"sex": None}}[wrong]
    schema = pa.schema([pa.field(name, pa.string()) for name in table.column_names[:-1]] + [("value", pa.int64())])
    pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / line.file)
    with pytest.raises(ReleaseError, match="does not fit its manifest"):
        read_cube(tmp_path, line, SUBJECT, {one.name: one for one in KNOWN})
