"""Mutants of what is asked of a cluster: each gives other numbers, and the comparison with DuckDB sees it.

The mutant that writes the salt into a query is in test_spark_door, as an event log shows it.
"""

from contextlib import closing
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential.test_engines_agree import A, cells, same
from tests.confidential.test_spark_contract import opened_both

from sfumato.confidential.engines.cluster import dialect, weighed
from sfumato.confidential.engines.request import Reading
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import Clipped, Schema, Sum, Weighted

pytestmark = pytest.mark.slow
TENTHS = Sum(Clipped("v", Fraction(-5), Fraction(9), Fraction(1, 10)))


def compare(spark, folder, reading, **columns):
    """The faults and the cells of a file in the cluster are DuckDB's."""
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    near, far = opened_both(spark, folder / "rows.parquet", reading)
    with closing(near), closing(far):
        assert [str(one) for one in near.faults()] == [str(one) for one in far.faults()]
        if not near.faults():
            same(cells(near, reading), cells(far, reading))


def in_one_turn(rounded):
    """The three turns by which a value becomes steps, made one with a function of Spark's own."""

    def steps(name, kind, value, called):
        held = f"greatest(least({dialect.number(name, kind)}, {float(value.high)}D), {float(value.low)}D)"
        return f"CAST({rounded}({held} / {dialect.literal(value.step)}) AS BIGINT)", called, called

    return steps


@pytest.mark.parametrize("rounded", ["round", "floor", "rint"])
def test_spark_rounds_no_value(spark, tmp_path, monkeypatch, rounded):
    values = {"a": ["1"] * 6, "v": [0.35, 0.45, -0.25, -2.55, 0.05, 7.0]}
    reading = Reading(Schema((A,)), (A,), (TENTHS,))
    compare(spark, tmp_path, reading, **values)
    monkeypatch.setattr(dialect, "steps", in_one_turn(rounded))
    with pytest.raises(AssertionError):
        compare(spark, tmp_path, reading, **values)


def test_whether_weights_are_whole_is_not_asked_of_floor(spark, tmp_path, monkeypatch):
    values = {"a": ["1"] * 3, "w": [1.0, np.inf, 2.0]}
    reading = Reading(Schema((A,), weight="w", repeated_rows=True), (A,), (Weighted(),))
    compare(spark, tmp_path, reading, **values)
    whole = weighed._whole
    monkeypatch.setattr(weighed, "_whole", lambda terms: whole(terms).replace("rint", "floor"))
    with pytest.raises((AssertionError, DataError)):
        compare(spark, tmp_path, reading, **values)


def test_no_row_is_kept_by_chance(spark, tmp_path, monkeypatch):
    values = {"a": ["1", "2", "7"] * 40, "id": np.repeat(np.arange(20), 6)}
    values["v"] = np.random.default_rng(2).uniform(0, 1e6, 120)  # other rows have another sum, but for one in 10^6
    summed = (Sum(Clipped("v", Fraction(0), Fraction(10**6), Fraction(1, 10))),)
    reading = Reading(Schema((A,), repeated_rows=True), (A,), summed, "id", Truncate("id", 2))
    compare(spark, tmp_path, reading, **values)
    monkeypatch.setattr(dialect, "digest", lambda *_: "rand()")
    with pytest.raises(AssertionError):
        compare(spark, tmp_path, reading, **values)
