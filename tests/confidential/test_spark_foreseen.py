"""Records in a cluster grouped by one number in one reading: where all say what the plan lists, and nowhere else."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential.test_spark import agree

from sfumato.confidential.engines.cluster import foreseen, session
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.request import Reading
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Bands, Clipped, Extremes, Levels, Missing, Recode, Rows, Rule, Schema, Sum

NONE = Missing("none", ("-1",))
A = Attribute("a", Levels.of(["1", "2", "7", "none"]), missing=NONE)
B = Attribute("b", Levels.of("pq"), read=Recode.of("b", {"u": "p", "w": "q", "é": "q"}))
C = Attribute("c", Levels.of(["0-17", "18-64", "65+", "none"]), read=Bands("c", (0, 18, 65)), missing=NONE)
AGAIN = Attribute(
    "d", Levels.of(["low", "high", "none"]), read=Recode.of("a", {"1": "low", "2": "low", "7": "high"}), missing=NONE
)
V = Clipped("v", Fraction(-5), Fraction(40), Fraction(1, 10))
READING = Reading(Schema((A, B, C), repeated_rows=True), (A, B, C), (Rows(), Sum(V)), "id", Truncate("id", 2))
TYPES = {"a": pa.int64(), "c": pa.int32(), "id": pa.int64()}


def records(rows=400, seed=1, **kinds):
    """Records of which half are of crowded units; codes of all levels, texts where the type is one."""
    rng, kinds = np.random.default_rng(seed), TYPES | kinds
    drawn = {
        "a": pa.array(rng.choice([1, 2, 7, -1], rows), mask=rng.random(rows) < 0.1),
        "b": pa.array(rng.choice(["u", "w", "é"], rows)),
        "c": pa.array(rng.choice([0, 17, 18, 64, 65, 90, -1], rows), mask=rng.random(rows) < 0.1),
        "v": pa.array(np.round(rng.normal(10, 20, rows), 2)),
        "id": pa.array(rng.integers(-60, 60, rows)),
    }
    return pa.table({name: one.cast(kinds[name]) if name in kinds else one for name, one in drawn.items()})


@pytest.fixture
def readings(monkeypatch):
    """How often groups of all records were asked for by what they say."""
    asked, fetched = [], RecordGroups.fetched
    monkeypatch.setattr(RecordGroups, "fetched", lambda *words: asked.append(words) or fetched(*words))
    return asked


def stored(folder, rows):
    pq.write_table(rows, folder / "jobs.parquet")
    return [folder / "jobs.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds", [{}, {"a": pa.string(), "id": pa.int32()}, {"a": pa.int8(), "c": pa.int64()}], ids=str
)
def test_listed_codes_are_read_once_and_the_same_rows_count(spark, tmp_path, readings, kinds):
    places = stored(tmp_path, records(**kinds))
    for most, more in ((1, ()), (2, (Extremes(V),)), (400, ())):
        reading = replace(READING, aggregates=(*READING.aggregates, *more), truncation=Truncate("id", most))
        assert agree(spark, places, reading)
    both = replace(READING, schema=Schema((A, AGAIN, C), repeated_rows=True), attributes=(A, AGAIN, C))
    assert agree(spark, places, both), "a column that two attributes read"
    assert not readings


@pytest.mark.slow
def test_values_that_one_number_does_not_hold_are_taken_off_too(spark, tmp_path, readings):
    wide = [Clipped("v", Fraction(-high), Fraction(high), Fraction(1, 10**4)) for high in (10**12, 10**11)]
    reading = replace(READING, aggregates=(Rows(), *map(Sum, wide)))
    assert agree(spark, stored(tmp_path, records()), reading)
    assert not readings


@pytest.mark.slow
def test_records_are_moved_into_more_parts_where_files_are_long(spark, tmp_path, readings, monkeypatch):
    monkeypatch.setattr(session, "PART", 1000)
    assert agree(spark, stored(tmp_path, records()), READING)
    assert not readings


def changed(column, value, **kinds):
    """Records of which one says something else."""
    rows = records(**kinds)
    at, values = rows.column_names.index(column), rows[column].to_pylist()
    return rows.set_column(at, column, pa.array([*values[:-1], value], rows[column].type))


def without_names(*more):
    return replace(READING, aggregates=(*READING.aggregates, *more), id=None, truncation=None)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [{}, {"a": pa.string()}, {"a": pa.int8(), "c": pa.int64()}], ids=str)
def test_records_without_names_are_grouped_by_one_number(spark, tmp_path, readings, kinds):
    places = stored(tmp_path, records(**kinds))
    assert agree(spark, places, without_names(Extremes(V)))
    both = replace(without_names(), schema=Schema((B, A, AGAIN), repeated_rows=True), attributes=(B, A, AGAIN))
    assert agree(spark, places, both), "a column that two attributes read"
    assert not readings


@pytest.mark.slow
def test_codes_that_are_numbers_or_very_many_are_grouped_as_they_stand(spark, tmp_path, readings, monkeypatch):
    places = stored(tmp_path, records())
    numbers = replace(without_names(), schema=Schema((A, C), repeated_rows=True), attributes=(A, C))
    assert agree(spark, places, numbers)
    assert len(readings) == 1
    monkeypatch.setattr(foreseen, "MOST_LENT", 4)
    assert agree(spark, places, without_names())
    assert len(readings) == 2


@pytest.mark.slow
def test_without_names_too_what_is_not_foreseen_is_refused_in_the_same_words(spark, tmp_path, readings):
    for what, rows in ODD.items():
        readings.clear()
        agree(spark, stored(tmp_path, rows), without_names())
        assert bool(readings) == (what != "a unit without a name"), what
    readings.clear()
    agree(spark, stored(tmp_path, records(0)), without_names())
    assert not readings, "of no records nothing is odd"


ODD = {
    "a code that is not listed": changed("a", 3),
    "a text that is not listed": changed("b", "x"),
    "no text where none is listed": changed("b", None),
    "below all bands": changed("c", -2),
    "no value": changed("v", None),
    "a value that is no number": changed("v", float("nan")),
    "a unit without a name": changed("id", None),
}


@pytest.mark.slow
def test_what_is_not_foreseen_is_read_again_and_refused_in_the_same_words(spark, tmp_path, readings):
    for what, rows in ODD.items():
        readings.clear()
        agree(spark, stored(tmp_path, rows), READING)
        assert readings, what
    rules = (Rule.of({"a": "7", "b": "q"}),)
    readings.clear()
    assert not agree(
        spark, stored(tmp_path, records()), replace(READING, schema=replace(READING.schema, impossible=rules))
    )
    assert readings


@pytest.mark.slow
def test_names_that_are_texts_and_codes_that_are_no_whole_numbers_are_read_twice(spark, tmp_path, readings):
    for kinds in ({"id": pa.string()}, {"a": pa.float64()}, {"c": pa.float64()}):
        readings.clear()
        agree(spark, stored(tmp_path, records(**kinds)), READING)
        assert readings, kinds
