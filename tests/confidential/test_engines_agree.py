"""Every engine, one meaning: whatever the data, each that takes them gives DuckDB's cells, or leaves them to DuckDB."""

import math
import tempfile
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.choose import engines, opened
from sfumato.confidential.engines.columns import tally
from sfumato.confidential.engines.columns.codebook import Listed, Stepped
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Reading, TableRequest
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import (
    Attribute,
    Bands,
    Box,
    Clipped,
    Levels,
    Missing,
    Recode,
    Rows,
    Rule,
    Schema,
    Sum,
    SumOfProducts,
    Table,
)

SALT = bytes(range(32))
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

COMMON, WHOLE = ["0", "1", "2", "7", "9"], [0, 1, 2, 7, 9]
KINDS = {
    pa.string(): (COMMON, ["3", "x", "07", " 1", "", "1.5", "é"]),
    pa.dictionary(pa.int8(), pa.large_string()): (COMMON, ["x", "", "é"]),
    pa.int8(): (WHOLE, [3, 40, -1, 127]),
    pa.int64(): (WHOLE, [40, 2**53, 2**53 + 1, -(2**62), 2**40]),
    pa.uint64(): (WHOLE, [40, 2**63 + 5, 2**64 - 1]),
    pa.float64(): ([*map(float, WHOLE)], [math.nan, 1.5, -0.0, 2.0**53, math.inf, -math.inf, 0.35, 40.0]),
    pa.float32(): ([1.0, 2.0], [math.nan, 0.1]),
    pa.bool_(): ([True], [False]),
    pa.decimal128(6, 2): ([Decimal("1.00")], [Decimal("7.50")]),
}
NUMBERS = (pa.int8(), pa.int64(), pa.float64())


def columns(length, values):
    return st.lists(values, min_size=length, max_size=length)


@st.composite
def kinds(draw):
    """The types of a, b, c and v, mostly of numbers that are read as they stand."""
    return {name: draw(st.sampled_from([*KINDS, *NUMBERS, *NUMBERS, *NUMBERS])) for name in "abcv"}


@st.composite
def tables(draw, types=None):
    """A table of a, b, c and v, mostly of codes that are listed, and now and then of anything."""
    length, made = draw(st.integers(0, 8)), {}
    for name, kind in (types or draw(kinds())).items():
        common, odd = KINDS[kind]
        few = draw(st.sampled_from([[], [], [], odd, [None]]))
        made[name] = pa.array(draw(columns(length, st.sampled_from([*common, *few]))), kind)
    return pa.table(made)


@st.composite
def readings(draw):
    """Codes, a recode, bands and a clipped sum, with missing levels or without."""
    listed = draw(st.sampled_from([COMMON, COMMON, [*COMMON[::-1], "07", "x", "1.5"], ["1", "2"]]))
    missing = draw(st.sampled_from([None, Missing("none"), Missing("none", ("40", "-1"))]))
    more = ["none"] if missing else []
    a = Attribute("a", Levels.of([*listed, *more]), missing=missing)
    codes = dict(zip([*COMMON, "x", ""], "pqpqppq", strict=True))
    b = Attribute("b", Levels.of("pq"), read=Recode.of("b", codes))
    bands = Bands("c", draw(st.sampled_from([(0, 2, 7), (-5, 1), ("-0.3", "1.5"), ("-0.30000000000000004", 9)])))
    c = Attribute("c", Levels.of([*bands.levels().codes, *more]), read=bands, missing=missing)
    step, power = draw(st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(5)])), draw(st.sampled_from([1, 2]))
    low, high = draw(st.sampled_from([(0, 10), (-5, 40)]))
    one = Sum(Clipped("v", Fraction(low), Fraction(high), step, draw(st.sampled_from([None, Fraction(3)])), power))
    weight = Clipped("v", Fraction(0), Fraction(7), draw(st.sampled_from([Fraction(1), Fraction(1, 4)])), Fraction(2))
    rules = (Rule.of({"a": "1", "b": "p"}),) if draw(st.integers(0, 4)) == 0 else ()
    summed = (one, SumOfProducts(one.of, weight)) if draw(st.booleans()) else (one,)
    return Reading(Schema((a, b, c), impossible=rules, repeated_rows=True), (a, b, c), summed)


def cells(engine, reading, box=None):
    table = Table(reading.attributes[::-1])
    return engine.aggregate(table, (Rows(), *reading.aggregates), box or Box())


def same(one, other):
    assert one.keys() == other.keys()
    for name, column in one.items():
        assert {column.dtype, other[name].dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}
        assert column.shape == other[name].shape
        assert (column == other[name]).all(), name


def compared(sources, reading, *boxes):
    """Which engines took the data; then DuckDB takes them too, and all give the same cells."""
    took = {}
    asked = {Rows, *map(type, reading.aggregates)}
    for name, make in engines().items():
        with suppress(Unsure, DataError):
            took |= {name: make(sources, reading, SALT)} if asked <= make.knows and name != "duckdb" else {}
    if not took:
        return set()
    took["duckdb"] = DuckDB(sources, reading, SALT)
    for engine in took.values():
        assert engine.faults() == [], "no engine that declines takes data that break a rule"
    for box in (None, *boxes):
        expected = cells(took["duckdb"], reading, box)
        for engine in took.values():
            same(cells(engine, reading, box), expected)
        if "arrays" in took and not reading.id:
            same(cells(passing(sources, reading, box), reading, box), expected)
    for engine in took.values():
        engine.close()
    assert "arrays" not in took or not vars(took["arrays"]), "closed, it holds nothing"
    return set(took)


def passing(sources, reading, box):
    """The engine that counts one table while it reads, and holds no record."""
    only = TableRequest(Table(reading.attributes[::-1]), (Rows(), *reading.aggregates), box or Box())
    engine = Arrays(sources, replace(reading, only=only), SALT)
    assert not any(len(part) for coded in (*engine._leaves.values(), *engine._values.values()) for part in coded.parts)
    return engine


@given(tables(), readings(), st.booleans())
@QUICK
def test_whatever_the_data_an_engine_gives_duckdbs_cells_or_none(table, reading, as_file):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "data.parquet"
        if as_file:
            pq.write_table(table, place, row_group_size=3)
        compared([place if as_file else table], reading)


@st.composite
def sound(draw, least=1, most=30):
    """Data that break no rule, in all the types that the dense engine reads, in several files or one."""
    length = draw(st.integers(least, most))
    text = draw(st.sampled_from([pa.string(), pa.int16(), pa.float64()]))
    codes = draw(columns(length, st.sampled_from([1, 2, 7, None])))
    if pa.types.is_string(text):
        codes = [None if one is None else str(one) for one in codes]
    numbers = st.sampled_from([None, 0, 3, 40, 65, 400]) | st.integers(0, 3_000_000)
    rows = {
        "a": pa.array(codes, text),
        "b": pa.array(draw(columns(length, st.sampled_from(["u", "w", "é"]))), draw(st.sampled_from([*KINDS][:2]))),
        "c": pa.array(draw(columns(length, numbers)), draw(st.sampled_from([pa.int32(), pa.float64()]))),
        "v": pa.array(draw(columns(length, st.floats(-1e3, 1e9) | st.none())), pa.float64()),
        "id": pa.array(draw(columns(length, st.integers(0, 4))), pa.int64()),
        "key": pa.array(draw(st.permutations(range(length))), pa.int32()),
    }
    return pa.table(rows)


A = Attribute("a", Levels.of(["1", "2", "7", "?"]), missing=Missing("?"))
B = Attribute("b", Levels.of("xyz"), read=Recode.of("b", {"u": "x", "w": "y", "é": "z"}))
C = Attribute("c", Levels.of([*Bands("c", (0, 18, 65)).levels().codes, "?"]), read=Bands("c", (0, 18, 65)), missing=Missing("?", ("400",)))  # fmt: skip  # noqa: E501
V = (Sum(Clipped("v", Fraction(0), Fraction(10**6), Fraction(1, 20), Fraction(0))), Sum(Clipped("v", Fraction(-3), Fraction(9), Fraction(1, 4), Fraction(7), 2)))  # fmt: skip  # noqa: E501


@given(sound(), st.integers(1, 3), st.sampled_from(["id", "name", None]), st.integers(1, 4), st.booleans())
@QUICK
def test_sound_data_are_taken_and_give_the_same_cells_and_the_same_rows_of_crowded_units(
    rows, files, unit, most, keyed
):
    files = min(files, len(rows))  # a file without rows is declined, for whoever reads it says what is wrong
    rows = rows.append_column("name", pa.array([f"unit {one}" for one in rows["id"].to_pylist()]))
    schema = Schema((A, B, C), key="key" if keyed else None, repeated_rows=not keyed)
    reading = Reading(schema, (A, B, C), V, unit, Truncate(unit, most) if unit else None)
    parts = [rows.slice(place * len(rows) // files, (place + 1) * len(rows) // files - place * len(rows) // files) for place in range(files)]  # fmt: skip  # noqa: E501
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / f"{place}.parquet" for place in range(files)]
        for part, place in zip(parts, places, strict=True):
            pq.write_table(part, place, row_group_size=7)
        box = Box({"a": np.array([True, False, True, True]), "c": np.array([True, True, False, True])})
        assert "arrays" in compared(places, reading, box), "sound data are taken"


@given(sound(), st.integers(1, 3))
@QUICK
def test_tables_wider_than_a_cache_have_the_same_cells_counted_bucket_by_bucket(rows, most):
    pytest.importorskip("numba")
    reading = Reading(Schema((A, B, C), key="key"), (A, B, C), V, "id", Truncate("id", most))
    box = Box({"a": np.array([True, False, True, True]), "c": np.array([True, True, False, True])})
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(tally, "WIDE", 0)
        place = Path(folder) / "data.parquet"
        pq.write_table(rows, place, row_group_size=7)
        assert "arrays" in compared([place], reading, box), "sound data are taken"


def test_a_table_of_many_buckets_is_duckdbs_cell_by_cell():
    pytest.importorskip("numba")
    rng, shape = np.random.default_rng(5), (300, 200, 100)
    assert tally.WIDE < np.prod(shape) < tally.SPREAD * 400_000
    wide = tuple(Attribute(name, Levels.of([str(leaf) for leaf in range(size)])) for name, size in zip("abc", shape, strict=True))  # fmt: skip  # noqa: E501
    rows = pa.table({name: rng.integers(0, size, 400_000) for name, size in zip("abc", shape, strict=True)})
    reading = Reading(Schema(wide), wide, ())
    assert "arrays" in compared([rows], reading, Box({"a": np.arange(300) % 7 == 0}))


def test_a_reading_for_one_table_answers_it_again_and_others_as_well():
    reading = Reading(Schema((A, B, C)), (A, B, C), V)
    engine, held = passing([table()], reading, None), Arrays([table()], reading, SALT)
    box = Box({"a": np.array([False, True, True, True])})
    for other in (None, None, box):
        same(cells(engine, reading, other), cells(held, reading, other))
    first, second = cells(engine, reading), cells(engine, reading)
    first[Rows()][:] = -1
    assert (second[Rows()] >= 0).all(), "what is handed out is the asker's own"
    margin = Table((B,))
    same(engine.aggregate(margin, (Rows(),), box), held.aggregate(margin, (Rows(),), box))
    assert engine.occupied(margin, (Rows(),), Box())[0].tolist() == [0]


def test_a_reading_for_one_universe_is_no_answer_for_all_records():
    reading = Reading(Schema((A, B, C)), (A, B, C), V)
    mixed = table(a=["1", "7", "1", "7"])
    box = Box({"a": np.array([False, True, True, True])})
    engine, held = passing([mixed], reading, box), Arrays([mixed], reading, SALT)
    whole = cells(engine, reading)
    same(whole, cells(held, reading))
    assert whole[Rows()].sum() == 4


def test_a_reading_for_one_table_says_the_same_of_a_broken_rule_and_keeps_the_bounds_of_units():
    only = TableRequest(Table((A, B, C)), (Rows(),), Box())
    rules = (Rule.of({"a": "7", "b": "y"}),)
    reading = Reading(Schema((A, B, C), impossible=rules), (A, B, C), (), only=only)
    broken, declined = opened([table(a=["1", "7", "1", "1"], b=["u", "w", "u", "u"])], reading, SALT)
    assert declined == ("arrays declined: some records are where none can be",)
    assert "none can be" in str(broken.faults()[0])
    crowded, _ = opened([table()], replace(reading, truncation=Truncate("id", 1)), SALT)
    assert crowded.aggregate(only.table, (Rows(),), Box())[Rows()].sum() == 2


def table(**given_columns):
    sound_columns = {
        "a": ["1"] * 4,
        "b": ["u"] * 4,
        "c": [20] * 4,
        "v": [1.0] * 4,
        "key": [1, 2, 3, 4],
        "id": [1, 1, 2, 2],
    }
    return pa.table(sound_columns | given_columns)


BROKEN = {
    "an unknown code": table(a=["1", "2", "8", "1"]),
    "an unlisted value of a recode": table(b=["u", "U", "u", "u"]),
    "a number below the first band": table(c=[-1, 2, 3, 4]),
    "a value that is no number": table(v=["1", "2", "abc", "4"]),
    "an impossible combination": table(a=["7"] * 4, b=["w"] * 4),
    "a key that stands twice": table(key=[1, 2, 2, 4]),
    "a key that is missing": table(key=[1, 2, None, 4]),
    "a text key that stands twice": table(key=["a", "b", "b", "c"]),
    "a unit without a name": table(id=[1, None, 2, 2]),
    "a unit spelt in two ways": table(id=["7", "07", "8", "8"]),
    "a unit spelt in two Unicode forms": table(id=["\u00e9", "e\u0301", "8", "8"]),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_data_that_break_a_rule_are_refused_in_the_same_words(broken, tmp_path):
    rules = (Rule.of({"a": "7", "b": "y"}),)
    reading = Reading(Schema((A, B, C), key="key", impossible=rules), (A, B, C), V, "id", Truncate("id", 2))
    pq.write_table(broken, tmp_path / "data.parquet")
    pq.write_table(table(), tmp_path / "sound.parquet")
    assert isinstance(opened([tmp_path / "sound.parquet"], reading, SALT)[0], Arrays), (
        "the rule alone makes the difference"
    )
    engine, other = (
        opened([tmp_path / "data.parquet"], reading, SALT)[0],
        DuckDB([tmp_path / "data.parquet"], reading, SALT),
    )
    assert [str(fault) for fault in engine.faults()] == [str(fault) for fault in other.faults()] != []
    assert [engine.examples(one) for one in engine.faults()] == [other.examples(one) for one in other.faults()]


TWICE = {
    "a unit and a year that stand together twice": table(year=[1, 2, 5, 5]),
    "a year that is missing": table(year=[1, 2, None, 4]),
    "a year spelt in two ways": table(year=["1", "2", "7", "07"]),
    "texts that stand together twice": table(id=["a", "a", "b", "b"], year=["x", "y", "z", "z"]),
}


@pytest.mark.parametrize("broken", TWICE.values(), ids=TWICE)
@pytest.mark.parametrize("files", [1, 2])
def test_a_key_of_several_columns_stands_once_in_all_files(broken, files, tmp_path):
    """Each column has the same in two records; both together must not."""
    reading = Reading(Schema((A, B, C), key=("id", "year")), (A, B, C), V)
    sound = table(year=[1, 2, 1, 2]) if pa.types.is_integer(broken["year"].type) else table(year=["1", "2", "1", "2"])
    cut = 4 // files
    for name, rows in (("broken", broken), ("sound", sound)):
        for place in range(files):
            pq.write_table(rows.slice(place * cut, cut), tmp_path / f"{name}{place}.parquet")
    good, bad = ([tmp_path / f"{name}{place}.parquet" for place in range(files)] for name in ("sound", "broken"))
    assert isinstance(opened(good, reading, SALT)[0], Arrays)
    assert DuckDB(good, reading, SALT).faults() == []
    with pytest.raises(Unsure):
        Arrays(bad, reading, SALT)
    (fault, *_) = DuckDB(bad, reading, SALT).faults()
    assert "year" in fault.column
    assert [str(one) for one in opened(bad, reading, SALT)[0].faults()] == [
        str(one) for one in DuckDB(bad, reading, SALT).faults()
    ]


def test_a_row_that_may_stand_in_two_files_is_left_to_duckdb(tmp_path):
    for name in "xy":
        pq.write_table(table(), tmp_path / f"{name}.parquet")
    reading = Reading(Schema((A, B, C)), (A, B, C), V)
    assert isinstance(opened([tmp_path / "x.parquet"], reading, SALT)[0], Arrays)
    with pytest.raises(Unsure):
        Arrays([tmp_path / "x.parquet", tmp_path / "y.parquet"], reading, SALT)


def test_a_sum_that_may_pass_64_bits_is_left_to_duckdb():
    reading = Reading(Schema((A,)), (A,), (Sum(Clipped("v", Fraction(0), Fraction(10**16), Fraction(1))),))
    with pytest.raises(Unsure):
        Arrays([table(v=[1e16] * 4)], reading, SALT)


def test_a_refusal_of_the_source_is_duckdbs(tmp_path):
    reading = Reading(Schema((A,)), (A,), ())
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"A": ["1"], "a": ["1"]}), tmp_path / "cases.parquet")
    for place in (tmp_path / "torn.parquet", tmp_path / "none.parquet", tmp_path / "cases.parquet"):
        with pytest.raises(DataError) as one:
            DuckDB([place], reading, SALT)
        with pytest.raises(DataError) as other:
            opened([place], reading, SALT)
        assert str(one.value) == str(other.value)


FINE = Sum(Clipped("v", Fraction(0), Fraction(10**9), Fraction(1, 1000)))
HALVES = st.integers(-(10**6), 10**6).map(lambda one: one / 20)


@given(st.lists(st.floats(allow_nan=False) | HALVES, min_size=100, max_size=100), st.sampled_from([*V, FINE]))
@QUICK
def test_values_become_steps_as_duckdb_makes_them(values, one):
    reading = Reading(Schema((A,)), (A,), (one,))
    rows = pa.table({"a": ["1"] * len(values), "v": pa.array(values, pa.float64())})
    told = dict(DuckDB([rows], reading, SALT)._session.ask("SELECT number1, value0 FROM legible"))
    assert [told[value] for value in values] == Stepped(one.of).of_numbers(np.array(values)).tolist()


def test_codes_of_numbers_are_only_those_that_are_written_as_numbers_are():
    listed = Listed({"7": 0, "07": 1, "": 2, "x": 3}, 4)
    assert listed.of_numbers(np.array([7.0, math.nan, 8.0, 7.5])).tolist() == [0, 2, 4, 4]
    assert listed.of_texts(["7", "07", None, "", "y"]).tolist() == [0, 1, 2, 2, 4]
