"""Tables too large to hold: the cells that hold records, as rising keys, are the cells that a dense table has."""

import math
import tempfile
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.confidential.test_engines_agree import QUICK, SALT, A, B, C, V, readings, sound, tables

from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.request import Reading
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, Clipped, Levels, Rows, Schema, Sum, Table

pd = pytest.importorskip("pandas")
BOX = Box({"a": np.array([True, False, True, True]), "c": np.array([True, True, False, True])})


def same_as_dense(engine, reading, *boxes):
    """Whether the occupied cells are those of the dense table that are not empty, place by place."""
    table, asked = Table(reading.attributes[::-1]), (Rows(), *reading.aggregates)
    for box in (Box(), *boxes):
        full = {name: column.ravel() for name, column in engine.aggregate(table, asked, box).items()}
        places, found = engine.occupied(table, asked, box)
        assert places.tolist() == np.flatnonzero(full[Rows()]).tolist()
        assert found.keys() == full.keys()
        for name, column in found.items():
            assert places.dtype == column.dtype == np.int64
            assert column.tolist() == full[name][places].tolist(), name


@given(tables(), readings())
@QUICK
def test_occupied_cells_are_those_of_the_dense_table_that_are_not_empty(rows, reading):
    for make in (Arrays, DuckDB):
        try:
            engine = make([rows], reading, SALT)
        except Exception:  # noqa: BLE001 - data that an engine refuses have no cells
            continue
        if engine.faults():
            with pytest.raises(DataError):
                engine.occupied(Table(reading.attributes), (Rows(),), Box())
        else:
            same_as_dense(engine, reading)


@given(sound(), st.integers(1, 4), st.sampled_from(["id", None]))
@QUICK
def test_bounds_of_units_batches_and_universes_hold_for_occupied_cells(rows, most, unit):
    reading = Reading(Schema((A, B, C), key="key"), (A, B, C), V, unit, Truncate(unit, most) if unit else None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(rows, path, row_group_size=7)
        for make in (Arrays, DuckDB):
            same_as_dense(make([path], reading, SALT), reading, BOX, Box({"b": np.zeros(3, dtype=bool)}))


SHAPE = (1000, 100, 50, 20, 10)
NAMES = ("industry", "occupation", "county", "age", "pay")


def attributes(shape):
    return tuple(
        Attribute(name, Levels.of([str(leaf) for leaf in range(size)])) for name, size in zip(NAMES, shape, strict=True)
    )


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A hundred thousand records, half of them crowded into few cells, and a value each."""
    rng, rows = np.random.default_rng(11), 100_000
    columns = {name: rng.integers(0, size, rows, dtype=np.int32) for name, size in zip(NAMES, SHAPE, strict=True)}
    for column in columns.values():
        column[::2] %= 3
        column[:2] = column.max()  # the very last cells as well
    path = tmp_path_factory.mktemp("packed") / "rows.parquet"
    pq.write_table(pa.table(columns | {"wage": rng.integers(-50, 300, rows)}), path, row_group_size=30_000)
    return path


@pytest.mark.parametrize("make", [Arrays, DuckDB])
@pytest.mark.parametrize("universe", [False, True])
def test_a_table_of_a_thousand_million_cells_is_what_pandas_groups(records, make, universe):
    wage = Sum(Clipped("wage", Fraction(0), Fraction(200), Fraction(1)))
    asked = attributes(SHAPE)
    table = Table(asked)
    assert table.size == 10**9
    young = Box({"age": np.arange(SHAPE[3]) < 7}) if universe else Box()
    engine = make([records], Reading(Schema(asked), asked, (wage,)), SALT)
    tracemalloc.start()
    places, found = engine.occupied(table, (Rows(), wage), young)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    frame = pd.read_parquet(records)
    frame = frame[frame.age < 7] if universe else frame
    told = frame.assign(wage=frame.wage.clip(0, 200)).groupby(list(NAMES)).wage.agg(["size", "sum"]).reset_index()
    assert np.stack(np.unravel_index(places, SHAPE)).T.tolist() == told[list(NAMES)].to_numpy().tolist()
    assert found[Rows()].tolist() == told["size"].tolist()
    assert found[wage].tolist() == told["sum"].tolist()
    assert (np.diff(places) > 0).all()
    assert peak < 10**7, "a hundred bytes a record at most, nothing of the size of the table"


@pytest.mark.parametrize("make", [Arrays, DuckDB])
def test_keys_beyond_32_bits_and_up_to_47_lose_no_bit(make):
    shape = (2**10, 2**10, 2**9, 2**9, 2**9)
    assert math.prod(shape) == 2**47
    asked = attributes(shape)
    last = [size - 1 for size in shape]
    rows = [last, [0] * 5, last, [1, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    data = pa.table({name: pa.array([row[place] for row in rows], pa.int16()) for place, name in enumerate(NAMES)})
    engine = make([data], Reading(Schema(asked), asked, ()), SALT)
    places, found = engine.occupied(Table(asked), (Rows(),), Box())
    assert places.tolist() == [0, 1, 2**37 + 1, 2**47 - 1]
    assert found[Rows()].tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("make", [Arrays, DuckDB])
def test_no_records_no_cells(make):
    asked = attributes(SHAPE)
    data = pa.table({name: pa.array([], pa.int16()) for name in NAMES} | {"wage": pa.array([], pa.float64())})
    wage = Sum(Clipped("wage", Fraction(0), Fraction(200), Fraction(1)))
    engine = make([data], Reading(Schema(asked), asked, (wage,)), SALT)
    places, found = engine.occupied(Table(asked), (Rows(), wage), Box())
    assert places.dtype == np.int64
    assert (places.tolist(), found[Rows()].tolist(), found[wage].tolist()) == ([], [], [])
