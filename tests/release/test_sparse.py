"""A sparse table answers like the same table laid out, is written and read back, and refuses what is not its own."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from time import process_time
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.grids import KNOWN, SHAPE, one_by_one, random_grid

from sfumato.errors import ReleaseError
from sfumato.release import Cube, Independent, Sparse, Subject, parquet, write_products
from sfumato.release.products import sparse as made
from sfumato.release.products.kinds import Shelf
from sfumato.schema import Attribute, Box, Grid, Levels, Rule, Table

SUBJECT = Subject("jobs", "count", "Number of jobs", "jobs", Fraction(1))
TABLE = Table(KNOWN, (Rule.of({"sex": "m", "age": ["0", "1"]}),))


def read(folder, line):
    manifest = SimpleNamespace(products=[line], unit="job")
    return Shelf(folder, manifest, {one.name: one for one in KNOWN}).product(line.name)


def pair(seed: int) -> tuple[Sparse, Cube]:
    """The same values twice, one cell in five not 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-9, 99, SHAPE) * (rng.random(SHAPE) < 0.2) * TABLE.possible
    places = np.flatnonzero(values)
    stated = Independent(2.5, 3.0)
    return Sparse(SUBJECT, TABLE, values.ravel()[places], stated, places), Cube(SUBJECT, TABLE, values, stated)


@pytest.mark.parametrize("largest", [0, 40, made.LARGEST_MARGIN], ids=["folded", "some of each", "from margins"])
@pytest.mark.parametrize("piece", [7, made.PIECE], ids=["in pieces", "at once"])
def test_every_table_is_the_sum_of_its_cells_to_the_last_digit(largest, piece, monkeypatch):
    monkeypatch.setattr(made, "LARGEST_MARGIN", largest)
    monkeypatch.setattr(made, "PIECE", piece)
    sparse, cube = pair(1)
    rng = np.random.default_rng(2)
    for _ in range(120):
        grid = random_grid(rng)
        assert (sparse.totals(grid) == one_by_one(cube.values, grid)).all()
        assert (sparse.cell_counts(grid) == one_by_one(TABLE.possible.astype(int), grid)).all()
        assert np.array_equal(sparse.variances(grid), 2.5 * one_by_one(TABLE.possible.astype(int), grid).astype(float))
    box = TABLE.box({"sex": "f", "job": "a"})
    assert sparse.total(box) == cube.values[np.ix_(*(box.mask(one) for one in KNOWN))].sum()


def test_a_cell_and_a_branch_of_the_first_attribute_are_found_without_reading_the_others(monkeypatch):
    """Of 116 million listed cells each would be looked at, for one number: 10 CPU seconds."""
    monkeypatch.setattr(made, "LARGEST_MARGIN", 0)
    sparse, cube = pair(6)
    read = []
    monkeypatch.setattr(made.Table, "leaves_at", counted(made.Table.leaves_at, read))
    for place in range(0, TABLE.size, 5):
        leaves = np.unravel_index(place, TABLE.shape)
        cell = Box({one.name: np.arange(len(one.levels.leaves)) == at for one, at in zip(KNOWN, leaves, strict=True)})
        assert sparse.total(cell) == cube.values[leaves]
    assert max(read) == 1
    inner = TABLE.size // TABLE.shape[0]
    for leaf in range(TABLE.shape[0]):
        box = Box({KNOWN[0].name: np.arange(TABLE.shape[0]) == leaf})
        read.clear()
        assert sparse.total(box) == cube.values[leaf].sum()
        assert max(read, default=0) <= inner < len(sparse.places)


def counted(leaves_at, read):
    """The same, which notes how many cells it was asked of."""

    def looked(table, places, name):
        read.append(len(places))
        return leaves_at(table, places, name)

    return looked


def test_a_margin_by_less_is_summed_from_a_kept_one_and_not_from_the_list(monkeypatch):
    sparse, cube = pair(7)
    names = [one.name for one in KNOWN]
    sparse._margin(tuple(names[:3]))
    monkeypatch.setattr(Sparse, "_summed", None)  # the list is not read again
    for by in ([], names[:1], names[1:3], [names[0], names[2]]):
        away = tuple(at for at, name in enumerate(names) if name not in by)
        assert (sparse._margin(tuple(by)).values == cube.values.sum(axis=away)).all()


def test_margins_kept_take_no_more_room_than_the_largest(monkeypatch):
    monkeypatch.setattr(made, "LARGEST_MARGIN", 80)
    sparse, cube = pair(3)
    rng = np.random.default_rng(4)
    for _ in range(60):
        grid = random_grid(rng)
        assert (sparse.totals(grid) == one_by_one(cube.values, grid)).all()
        assert sum(one.values.size for one in sparse._margins.values()) <= 80


def test_many_readers_at_once_are_all_answered(monkeypatch):
    """A server asks from many threads; a margin that another one has just let go is no error."""
    monkeypatch.setattr(made, "LARGEST_MARGIN", 80)
    sparse, cube = pair(3)
    rng = np.random.default_rng(5)
    grids = [random_grid(rng) for _ in range(40)]
    truths = [one_by_one(cube.values, grid) for grid in grids]

    def ask(start: int) -> bool:
        order = [(start + step) % 40 for step in range(40)]
        return all((sparse.totals(grids[one]) == truths[one]).all() for one in order)

    with ThreadPoolExecutor(8) as readers:
        assert all(readers.map(ask, range(0, 80, 5)))


def test_a_question_over_many_attributes_reads_the_list_once_and_not_once_a_thousand_boxes():
    """A million boxes of 10^8 cells, of 10^6 listed: a pass for every thousand of them would take a minute."""
    sides = {"block": 1000, "job": 1000, "age": 20, "sex": 5}
    table = Table(tuple(Attribute(name, Levels.of(range(size))) for name, size in sides.items()))
    places = np.arange(0, table.size, 100)
    sparse = Sparse(SUBJECT, table, np.ones(len(places), dtype=np.int64), Independent(1.0), places)
    whole = tuple((name, np.eye(1000, dtype=bool)) for name in ("block", "job"))
    within = Box({"age": np.arange(20) < 10, "sex": np.arange(5) == 0})
    start = process_time()
    totals = sparse.totals(Grid(whole, within))
    assert process_time() - start < 5
    # Every 100th cell is the first of its age and sex, and there are 100 of these in a block and job.
    assert totals.sum() == len(places)
    assert (totals == 1).all()


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
    monkeypatch.setattr("sfumato.release.parquet._PIECE", 7)  # several pieces
    sparse, cube = pair(5)
    [line] = write_products(tmp_path, [sparse])
    assert line.kind == "sparse"
    known = {one.name: one for one in KNOWN}
    again = read(tmp_path, line)
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
    [line] = write_products(tmp_path, [Sparse(SUBJECT, TABLE, none, Independent(1.0), none)])
    again = read(tmp_path, line)
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
        read(tmp_path, line)


def test_a_rule_that_binds_many_cells_is_counted_on_what_a_question_tells_apart():
    """2 x 10^7 cells bound by a rule, and 400 rows to rank: spread over all of them they would take 64 GB."""
    sides = {"block": 100, "industry": 500, "job": 400, "age": 100}
    table = Table(
        tuple(Attribute(name, Levels.of(range(size))) for name, size in sides.items()),
        (Rule.of({"block": ["0", "1"], "industry": ["7"], "job": ["3", "4"]}),),
    )
    none = np.empty(0, dtype=np.int64)
    sparse = Sparse(SUBJECT, table, none, Independent(0.5), none)
    within = Box({"block": np.arange(100) < 10})
    rows = [Box({"job": np.arange(400) == job}).within(within) for job in range(400)]
    shared = sparse.errors.covariances(rows, rows)
    full, ruled = 0.5 * 10 * 500 * 100, 0.5 * (10 * 500 - 2) * 100
    assert np.diagonal(shared).tolist() == [ruled if job in {3, 4} else full for job in range(400)]
    assert np.count_nonzero(shared) == 400


def test_a_file_of_many_areas_grows_with_its_cells_and_not_with_their_square(tmp_path, monkeypatch):
    """Each piece lists the codes that it has; were all listed in every piece, 40 pieces would hold 40,000 of them."""
    monkeypatch.setattr(parquet, "_PIECE", 100)
    areas, sexes = Attribute("area", Levels.of(range(1_000))), Attribute("sex", Levels.of("fmd"))
    table = Table((areas, sexes))
    places = np.flatnonzero(np.arange(3_000) % 4 > 0)
    sparse = Sparse(SUBJECT, table, places % 7 + 1, Independent(2.0), places)
    (line,) = write_products(tmp_path, [sparse])
    with pq.ParquetFile(tmp_path / line.file, read_dictionary=["area"]) as file:
        groups = [file.read_row_group(place, ["area"])["area"] for place in range(file.num_row_groups)]
    assert len(groups) == 23
    assert sum(len(piece.chunk(0).dictionary) for piece in groups) < 1_100
    assert [code for piece in groups for code in piece.to_pylist()] == [str(place // 3) for place in places]
    manifest = SimpleNamespace(products=[line], unit="job")
    again = Shelf(tmp_path, manifest, {"area": areas, "sex": sexes}).product("jobs")
    assert (again.places == places).all()
    assert (again.values == sparse.values).all()
