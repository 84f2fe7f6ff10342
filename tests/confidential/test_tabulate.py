"""Tabulation: cells are what the rows say, and a promised bound is enforced whatever the rows are."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.confidential.oracle import counted, levels, make_plan, steps, tabulate
from tests.confidential.writers import columns_of, write_csv, write_parquet

from sfumato.confidential import Microdata, Tabulation
from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.request import Fault
from sfumato.confidential.tabulate import reading
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PromiseError
from sfumato.privacy import AddRemove, ReplaceOne
from sfumato.schema import Attribute, Bands, Box, Levels, Missing, Recode, Rows, Table
from sfumato.statistics import Count, Total

A = levels("a", "x", "y", "z")
B = levels("b", "1", "2")
NOT = {"nan": math.nan, "none": None, "text": "abc", "empty": ""}


def frame(**columns):
    return pa.table(columns)


def faults(plan, *sources):
    tabulation = Tabulation(plan, Microdata.open(list(sources), plan.schema), SeededDraws(1))
    return tabulation, [fault.column for fault in tabulation.faults()]


def refused(plan, *sources):
    """The columns that are at fault; no cells can be had of the data."""
    tabulation, found = faults(plan, *sources)
    for measure in plan.measures:
        with pytest.raises(DataError):
            tabulation.cells(measure)
    return found


# ---- cells ----------------------------------------------------------------------------------------------------------
def test_empty_cells_are_there():
    (cells,) = tabulate(make_plan(A, B), frame(a=["x"], b=["2"]))
    assert cells.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert cells.dtype in {np.dtype(np.int32), np.dtype(np.int64)}


def test_cells_have_the_order_of_the_measure_not_of_the_schema():
    (cells,) = tabulate(make_plan(A, B, by=("b", "a")), frame(a=["x"], b=["2"]))
    assert cells.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_a_universe_leaves_out_other_records():
    plan = make_plan(A, B, by=("a",), where={"b": ("2",)})
    assert tabulate(plan, frame(a=["x", "y", "y"], b=["1", "2", "2"]))[0].tolist() == [0, 2, 0]


def test_hierarchies_are_read_at_their_leaves_and_asked_at_any_level():
    jobs = Levels.of([{"code": "29"}, {"code": "29-1", "parent": "29"}, {"code": "29-2", "parent": "29"}, "35"])
    plan = make_plan(Attribute("job", jobs), B, where={"job": ("29",)})
    (cells,) = tabulate(plan, frame(job=["29-1", "29-1", "35"], b=["1", "2", "1"]))
    assert cells.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert refused(plan, frame(job=["29"], b=["1"])) == ["job"], "an inner level is no code"


def test_impossible_cells_are_faults_also_over_attributes_too_large_to_table():
    long = levels("c", *range(50_000))
    plan = make_plan(A, B, long, levels("d", *range(50_000)), by=("a",), impossible=[{"a": "z", "c": ["7"], "d": "9"}])
    rows = frame(a=["z", "z"], b=["1", "1"], c=["7", "8"], d=["8", "9"])
    assert tabulate(plan, rows)[0].tolist() == [0, 0, 2]
    tabulation, (column,) = faults(plan, frame(a=["z"], b=["1"], c=["7"], d=["9"]))
    assert column == "a, c, d"
    assert tabulation.examples(tabulation.faults()[0]) == [("z, 7, 9", 1)]


def test_impossible_cells_are_found_before_rows_are_left_out():
    plan = make_plan(A, B, impossible=[{"a": "z", "b": "2"}], hidden=AddRemove("firm", "id", 1))
    rows = frame(a=["z", *["x"] * 99], b=["2", *["1"] * 99], id=["f"] * 100)
    assert all(faults(plan, rows)[1] == ["a, b"] for _ in range(3))


EDGES = [(0, 0), (15, 0), (15.999, 0), (16, 1), (64.5, 1), (65, 2), (1e300, 2), (math.inf, 2)]


@pytest.mark.parametrize(("value", "band"), EDGES)
@pytest.mark.parametrize("kind", [float, str])
def test_bands_begin_at_their_lower_ends(value, band, kind):
    plan = make_plan(Attribute("age", Bands("age", (0, 16, 65)).levels(), read=Bands("age", (0, 16, 65))))
    assert tabulate(plan, frame(age=[kind(value)]))[0].tolist() == [int(band == place) for place in range(3)]


@pytest.mark.parametrize("value", [-0.001, -1, -math.inf, math.nan, None])
def test_below_the_first_edge_is_a_fault(value):
    plan = make_plan(Attribute("age", Bands("age", (0, 16)).levels(), read=Bands("age", (0, 16))))
    assert refused(plan, frame(age=pa.array([value, 5.0], pa.float64()))) == ["age"]


def test_missing_codes_of_bands_are_numbers_and_texts():
    bands = Bands("age", (0, 16))
    listed = Levels.of([*bands.levels().codes, "none"])
    plan = make_plan(Attribute("age", listed, read=bands, missing=Missing("none", ("99", "-9", "n/a"))))
    texts = frame(age=["99", "99.0", "-9", "n/a", "", None, "98", "3"])
    assert tabulate(plan, texts)[0].tolist() == [1, 1, 6]
    assert tabulate(plan, frame(age=[99.0, -9.0, math.nan, None, 98.0, 3.0]))[0].tolist() == [1, 1, 4]
    assert refused(plan, frame(age=["abc"])) == ["age"], "a text that was not declared"


def test_recodes_read_only_what_they_list():
    sex = levels("sex", "f", "m", "none", read=Recode.of("s", {"1": "f", "2": "m", "": "none"}))
    assert tabulate(make_plan(sex), frame(s=[1.0, 2.0, 2.0, None]))[0].tolist() == [1, 2, 1]
    assert refused(make_plan(sex), frame(s=["1", "f"])) == ["s"]


@pytest.mark.parametrize("value", [None, "", "other", " x", "X"])
def test_what_is_not_declared_is_a_fault(value):
    assert refused(make_plan(A), frame(a=["x", value])) == ["a"]


def test_two_attributes_may_read_one_column():
    other = levels("old", "yes", "no", read=Recode.of("a", {"x": "yes", "y": "no", "z": "no"}))
    assert tabulate(make_plan(A, other), frame(a=["x", "z"]))[0].tolist() == [[1, 0], [0, 0], [0, 1]]


# ---- values ---------------------------------------------------------------------------------------------------------
def total_of(values, **terms):
    terms = {"clip": (-20, 50)} | terms
    plan = make_plan(by=(), of=(Total("w", **terms),))
    return int(tabulate(plan, frame(w=values))[0])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 1), (0.49, 0), (-0.5, 0), (-0.51, -1), (-1.5, -1), (49.5, 50), (1e300, 50), (math.inf, 50), (-math.inf, -20)]
)  # fmt: skip
def test_values_are_clipped_and_rounded_half_up(value, expected):
    assert total_of([value]) == expected
    assert total_of([str(value)]) == expected


@pytest.mark.parametrize("step", ["0.1", "0.01", "0.25", "1/3", "5"])
@given(values=st.lists(st.decimals(-30, 60, places=3), min_size=1, max_size=40))
@settings(max_examples=6, deadline=None)
def test_half_up_is_exact_for_decimals(step, values):
    total = Total("w", clip=(-20, 50), step=step)
    exact = sum(steps(total, value) for value in values)
    assert total_of([str(value) for value in values], step=step) == exact
    assert total_of([float(value) for value in values], step=step) == exact
    assert total_of(pa.array(values, pa.decimal128(12, 3)), step=step) == exact


@pytest.mark.parametrize("value", NOT.values(), ids=NOT)
def test_no_number_is_a_fault_unless_missing_is_declared(value, tmp_path):
    plan = make_plan(A, of=(Total("w", clip=(0, 50)),))
    declared = make_plan(A, of=(Total("w", clip=(0, 50), missing=7),))
    rows = [{"a": "x", "w": value}, {"a": "x", "w": 1.0 if isinstance(value, float) else "1"}, {"a": "y", "w": value}]
    for source in (
        frame(**columns_of(rows)), write_csv(tmp_path / "a.csv", rows), write_parquet(tmp_path / "a.parquet", rows)
    ):  # fmt: skip
        assert refused(plan, source) == ["w"]
        if value == NOT["text"]:
            assert refused(declared, source) == ["w"], "a text that is no number is never a missing one"
        else:
            assert tabulate(declared, source)[0].tolist() == [8, 7, 0]


def test_nan_is_found_where_the_statistics_of_a_file_leave_it_out(tmp_path):
    """DuckDB believes the smallest and largest values in a Parquet file, and they are of the other values."""
    bands = Attribute("w", Bands("w", (0, 16)).levels(), read=Bands("w", (0, 16)))
    for place in range(3):
        rows = [{"w": math.nan if row == place else float(row)} for row in range(3)]
        source = write_parquet(tmp_path / "a.parquet", rows)
        for plan in (
            make_plan(bands),
            make_plan(levels("w", "0", "1", "2", "nan")),
            make_plan(by=(), of=(Total("w", clip=(0, 50)),)),
            make_plan(by=(), hidden=AddRemove("firm", "w", 1)),
            make_plan(by=(), key="w"),
        ):
            tabulation, found = faults(plan, source)
            assert found == ["w"]
            assert tabulation.examples(tabulation.faults()[0]) == [(None, 1)]


def test_sums_are_exact_and_know_no_order():
    draw = random.Random(3)
    values = [draw.randrange(-(2**44), 2**44) for _ in range(100_000)]
    clip = (-(2**44), 2**44)
    assert total_of(values, clip=clip) == sum(values)
    draw.shuffle(values)
    assert total_of([float(value) for value in values], clip=clip) == sum(values)
    thirds = [draw.random() * 10 ** draw.randrange(-5, 12) for _ in range(100_000)]
    once = total_of(thirds, clip=(0, 10**12), step="0.001")
    assert once == total_of(sorted(thirds), clip=(0, 10**12), step="0.001")


def test_a_sum_beyond_64_bits_is_refused():
    with pytest.raises(DataError, match="64 bits"):
        total_of([2**53] * 1024, clip=(0, 2**53))


@pytest.mark.parametrize(("rows", "sure"), [(2**16 - 1, True), (2**16, False)])
def test_arrays_leave_to_others_what_could_reach_half_of_64_bits(rows, sure):
    """Values of 2^46 at most: 65,536 of them could sum to 2^62."""
    plan = make_plan(by=(), of=(Total("w", clip=(0, 2**46)),))
    data = Microdata.open(frame(w=pa.array([1] * rows, pa.int64())), plan.schema)
    if sure:
        cells = Arrays(data.sources, reading(plan), b"").aggregate(Table(()), plan.measures[0].aggregates, Box())
        assert [int(column.sum()) for column in cells.values()] == [rows]
    else:
        with pytest.raises(Unsure, match="sums may pass 64 bits"):
            Arrays(data.sources, reading(plan), b"")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda engine, fault: engine.examples(fault), "offending values could not be listed"),
        (lambda engine, fault: engine.broken(fault), "offending records could not be counted"),
        (lambda engine, _: engine.crowds("id", 1), "too many records could not be listed"),
        (lambda engine, _: engine.aggregate(Table((A,)), (Rows(),), Box()), "could not be summed"),
    ],
)
def test_a_database_that_fails_is_told_by_the_kind_of_its_error_and_no_value(monkeypatch, ask, said):
    plan = make_plan(A, hidden=AddRemove("firm", "id", 1))
    data = Microdata.open(frame(a=["x", "y"], id=["f", "g"]), plan.schema)
    engine = DuckDB(data.sources, reading(plan), b"")

    def failing(*_):
        raise duckdb.ConversionException("Could not convert string 'ACME 987654321' to INT64")

    monkeypatch.setattr(engine._session, "run", failing)
    with pytest.raises(DataError, match=said) as refused:
        ask(engine, Fault("a", "", "SELECT 1 AS value"))
    assert "ConversionException" in str(refused.value)
    assert "ACME" not in str(refused.value)


def test_arrays_decline_parquet_files_beside_others_before_any_is_read(tmp_path, monkeypatch):
    plan = make_plan(A, repeated_rows=True)
    whole, text = write_parquet(tmp_path / "a.parquet", [{"a": "x"}]), write_csv(tmp_path / "b.csv", [{"a": "y"}])
    assert Arrays(Microdata.open(whole, plan.schema).sources, reading(plan), b"").rows == 1
    monkeypatch.setattr("sfumato.confidential.engines.arrays.rows_of", lambda _: pytest.fail("it was read"))
    with pytest.raises(Unsure, match="not all of these data are"):
        Arrays(Microdata.open([whole, text], plan.schema).sources, reading(plan), b"")


def test_arrays_decline_a_file_with_one_column_in_two_spellings_though_others_stand_once(tmp_path):
    """DuckDB takes W for w; which of the two is meant nobody knows."""
    plan = make_plan(A, of=(Total("w", clip=(0, 9)),))
    write = lambda name, **more: write_parquet(tmp_path / name, [{"a": "x", "w": 3} | more])  # noqa: E731
    fits = Microdata.open(write("fits.parquet"), plan.schema)
    assert Arrays(fits.sources, reading(plan), b"").rows == 1
    twice = Microdata.open(write("twice.parquet", W=5), plan.schema)
    with pytest.raises(Unsure, match="lacks a column, or has it in several spellings"):
        Arrays(twice.sources, reading(plan), b"")


def test_a_record_that_is_read_as_several_makes_no_cells(monkeypatch):
    plan, data = make_plan(A), frame(a=["x", "y", "y"])
    assert tabulate(plan, data, engine="duckdb")[0].tolist() == [1, 2, 0]
    listed = Database._list_levels

    def twice(self):
        listed(self)
        self.session.run("INSERT INTO levels0 SELECT * FROM levels0")

    monkeypatch.setattr(Database, "_list_levels", twice)
    with pytest.raises(DataError, match="A record was read as several"):
        tabulate(plan, data, engine="duckdb")


# ---- at most so many rows of a unit ---------------------------------------------------------------------------------
UNITS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.integers(-60, 60)), max_size=60)


def of_units(rows):
    kinds = {"id": pa.string(), "a": pa.string(), "w": pa.int64()}
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return frame(**{name: pa.array(list(values), kinds[name]) for name, values in zip(kinds, columns, strict=True)})


def bounded(hidden):
    return make_plan(A, of=(Count(), Total("w", clip=(-20, 50), step="2.5")), hidden=hidden)


def assert_within(plan, before, after):
    for measure, one, other in zip(plan.measures, before, after, strict=True):
        move, moved = plan.move(measure), np.abs(one - other)
        assert moved.sum() <= move.l1
        assert (moved**2).sum() <= move.l2_squared
        assert (moved > 0).sum() <= move.cells


@given(rows=UNITS, hostile=UNITS, most=st.integers(1, 4), seed=st.integers(0, 9))
@settings(max_examples=15, deadline=None)
def test_one_unit_moves_cells_by_no_more_than_is_claimed(rows, hostile, most, seed):
    rows = [(f"u{unit}", a, w) for unit, a, w in rows]
    guests = [("guest", a, w) for _, a, w in hostile]
    added, replaced = bounded(AddRemove("firm", "id", most)), bounded(ReplaceOne("firm", "id", most))
    alone = tabulate(added, of_units(rows), seed=seed)
    assert_within(added, alone, tabulate(added, of_units(rows + guests), seed=seed))
    other = [("guest", "x", 60)] * len(guests)
    pair = [tabulate(replaced, of_units(rows + one), seed=seed) for one in (guests, other)]
    assert_within(replaced, *pair)


@pytest.mark.parametrize("most", [1, 3, 100])
def test_a_hostile_unit_with_ten_thousand_rows_moves_no_more(most):
    draw = random.Random(5)
    rows = [(f"u{draw.randrange(50)}", draw.choice("xyz"), draw.randrange(-60, 60)) for _ in range(300)]
    guests = [("guest", draw.choice("xyz"), draw.choice((-60, 60))) for _ in range(10_000)]
    plan = bounded(AddRemove("firm", "id", most))
    with_guests = rows + guests
    draw.shuffle(with_guests)
    assert_within(plan, tabulate(plan, of_units(rows)), tabulate(plan, of_units(with_guests)))
    unbounded = counted(plan, plan.measures[0], [{"a": a} for _, a, _ in guests])
    assert unbounded.sum() > plan.move(plan.measures[0]).l1, "without the bound the guest would move more"


def kept(plan, source, seed=1):
    engine = DuckDB(
        [source] if not isinstance(source, list) else source, reading(plan), SeededDraws(seed).words(4).tobytes()
    )
    return engine._session.ask("SELECT unit0, leaf0 FROM coded ORDER BY ALL")


def test_which_rows_are_kept_depends_on_the_salt_and_not_on_order_files_or_kind_of_file(tmp_path):
    draw = random.Random(11)
    plan = make_plan(levels("a", *range(400)), hidden=AddRemove("firm", "id", 7), repeated_rows=True)
    rows = [{"id": f"f{draw.randrange(9)}", "a": str(draw.randrange(400))} for _ in range(1500)]
    once = kept(plan, frame(**columns_of(rows)))
    assert len(once) == 9 * 7
    for _ in range(3):
        draw.shuffle(rows)
        assert kept(plan, frame(**columns_of(rows))) == once
    parts = [write_csv(tmp_path / f"{part}.csv", rows[part::4]) for part in range(3)]
    assert kept(plan, [*parts, write_parquet(tmp_path / "3.parquet", rows[3::4])]) == once
    assert kept(plan, frame(**columns_of(rows)), seed=2) != once


def test_every_row_of_a_unit_is_as_likely_to_be_kept():
    """4,000 units keep 3 of 10 rows; false alarm 1e-9, and a row kept 6% too often is found."""
    codes = [str(code) for code in range(10)]
    plan = make_plan(levels("a", *codes), hidden=AddRemove("firm", "id", 3))
    rows = frame(id=np.repeat(np.arange(4000), 10), a=codes * 4000)
    for seed in range(3):
        (cells,) = tabulate(plan, rows, seed=seed)
        assert cells.sum() == 12_000
        # Sampling 3 of 10 without replacement has 0.7 of the variance of counts, spread over 9 directions.
        assert ((cells - 1200) ** 2).sum() / (1200 * 0.7) * 0.9 < chi2.isf(1e-9, 9)


def test_a_unit_with_no_name_is_a_fault():
    plan = make_plan(A, hidden=AddRemove("firm", "id", 2))
    for ids in (["f", None], ["f", ""], ["f", "  "], [1.0, math.nan], [1.0, 0.5], [1.0, 2.0**53], [1, None]):
        assert refused(plan, frame(a=["x", "x"], id=ids)) == ["id"]
    assert refused(plan, frame(a=["x"], id=pa.array([2.0**24], pa.float32()))) == ["id"], "it may be 16777217 too"


def test_a_unit_is_one_in_files_of_other_types(tmp_path):
    plan = make_plan(A, hidden=AddRemove("firm", "id", 1), repeated_rows=True)
    parts = [frame(a=["x"], id=pa.array([7], kind)) for kind in (pa.int64(), pa.int8(), pa.uint64(), pa.float64())]
    parts.append(frame(a=["x"], id=pa.array([7], pa.decimal128(9, 2))))
    assert tabulate(plan, *parts)[0].tolist() == [1, 0, 0]
    text = write_csv(tmp_path / "a.csv", [{"a": "x", "id": "007"}])
    with pytest.raises(DataError, match="of one type in one source and of another in another"):
        tabulate(plan, parts[0], text)


def test_large_names_of_units_stay_apart():
    plan = make_plan(A, hidden=AddRemove("firm", "id", 1))
    texts = ["9007199254740993", "9007199254740992"], ["aB3", "Ab3"]
    texts += ["5E1234567", "5E1234568"], [f"0{'1' * 40}2", f"0{'1' * 40}3"]  # as numbers they are very large, or long
    for ids in ([2**62, 2**62 + 1], pa.array([2**64 - 1, 2**64 - 2], pa.uint64()), *texts):
        assert tabulate(plan, frame(a=["x", "x"], id=ids))[0].tolist() == [2, 0, 0]


SPELT = [["1", "01"], ["7", "7.0"], ["7", " 7"], ["+7", "7"], ["é", "e\u0301"], ["A B", "A  B"]]
SPELT += [["A", f"A{unseen}"] for unseen in "\t\r\n\x00\x1f\xa0\xad\u200b\u2028\u2060\ufe0f\ufeff\u3164"]
SPELT += [["100000", "1e+05"], ["0.5", ".5"], ["1000", "1_000"], ["A B", "A \u200b B"], ["\u00e9", "e\u200b\u0301"]]
SPELT += [["A", "\uff21"], ["7", "\uff17"], ["fi", "\ufb01"], ["1e999999999", "10e999999998"]]


@pytest.mark.parametrize("ids", SPELT, ids=repr)
def test_a_name_that_is_spelt_in_two_ways_is_a_fault_and_not_two_units_or_records(ids):
    hidden = make_plan(A, hidden=AddRemove("firm", "id", 1))
    for plan in (hidden, make_plan(A, key="id")):
        with pytest.raises(DataError, match="differ only in spaces, zeros, Unicode form or characters"):
            tabulate(plan, frame(a=["x", "x"], id=ids))
    other = frame(a=["x", "x"], id=[ids[0], ids[1] + "z"])
    assert tabulate(hidden, other)[0].tolist() == [2, 0, 0]


def test_a_collation_of_the_database_makes_no_record_two_and_no_two_units_one(tmp_path):
    """Under NOCASE one text equals several, and a record would be read as every level that it equals."""
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as file:
        file.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE, id VARCHAR COLLATE NOCASE)")
        file.execute("INSERT INTO t VALUES ('x', 'A1'), ('x', 'a1')")
    spelt = Attribute("a", Levels.of(["x", "X", "y"]))
    plan = make_plan(spelt, hidden=AddRemove("firm", "id", 1))
    assert tabulate(plan, f"{path}#t")[0].tolist() == [2, 0, 0]


def test_more_rows_of_a_unit_than_duckdb_can_choose_are_still_bounded():
    plan = make_plan(A, hidden=AddRemove("firm", "id", 10**9))
    assert tabulate(plan, frame(a=["x"] * 10, id=["f"] * 10))[0].tolist() == [10, 0, 0]


# ---- the same rows in another order, in other files, twice ----------------------------------------------------------
def test_order_and_files_change_nothing(jobs, tmp_path):
    plan, rows = jobs
    plan = replace(plan, schema=replace(plan.schema, repeated_rows=True))
    expected = [counted(plan, measure, rows) for measure in plan.measures]
    shuffled = random.Random(2).sample(rows, len(rows))
    parts = [write_csv(tmp_path / "a.csv", shuffled[:100]), write_parquet(tmp_path / "b.parquet", shuffled[100:250])]
    for sources in ([frame(**columns_of(shuffled))], [*parts, frame(**columns_of(shuffled[250:]))]):
        for cells, wanted in zip(tabulate(plan, *sources), expected, strict=True):
            assert np.array_equal(cells, wanted)


def test_the_same_source_twice_is_refused_however_it_is_named(tmp_path, monkeypatch):
    rows = [{"a": "x"}]
    path = write_csv(tmp_path / "a.csv", rows)
    (tmp_path / "soft.csv").symlink_to(path)
    (tmp_path / "hard.csv").hardlink_to(path)
    (tmp_path / "b.duckdb").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    table, schema = frame(a=["x"]), make_plan(A).schema
    for pair in (
        [path, str(path)], [path, "a.csv"], [path, "./../" + tmp_path.name + "/a.csv"], [path, "soft.csv"],
        [path, "hard.csv"], [table, table], ["b.duckdb#jobs", tmp_path / "b.duckdb#main.JOBS"], ["no.csv", "no.csv"],
    ):  # fmt: skip
        with pytest.raises(DataError, match="Sources 1 and 2 are the same"):
            Microdata.open(pair, schema)
    Microdata.open(["b.duckdb#jobs", "b.duckdb#other"], schema)


def test_a_row_in_two_files_is_a_fault_unless_rows_may_repeat(tmp_path):
    plan = make_plan(A, B)
    first, second = frame(a=["x", "x"], b=["1", "1"]), frame(a=["y", "x"], b=pa.array([2.0, 1.0]))
    assert tabulate(plan, first)[0].sum() == 2, "rows of one file may be alike"
    assert refused(plan, first, second) == ["a, b"]
    tabulation, _ = faults(plan, first, second)
    assert tabulation.examples(tabulation.faults()[0]) == [("x, 1", 3)]
    assert tabulate(make_plan(A, B, repeated_rows=True), first, second)[0].sum() == 4


@pytest.mark.parametrize(
    "keys", [([1, 2], [2.0, 3.0]), (["k", "l"], ["l", "m"]), ([1, 1], [2, 3]), ([1, 2], [None, 3])]
)
def test_a_key_that_stands_twice_is_a_fault(keys):
    plan = make_plan(A, key="k")
    assert refused(plan, *(frame(a=["x", "y"], k=list(part)) for part in keys)) == ["k"]
    assert tabulate(plan, frame(a=["x", "x"], k=[1, 2]), frame(a=["x", "x"], k=[3, 4]))[0].tolist() == [4, 0, 0]


def test_what_cannot_be_promised_is_not_read():
    plan = make_plan(A, of=(Total("w"),))
    with pytest.raises(PromiseError, match="Total of w has no largest value"):
        reading(plan)


# ---- what has faults makes no cells ---------------------------------------------------------------------------------
def test_no_cells_are_made_of_data_with_faults_even_when_nobody_asked_for_them():
    plan = make_plan(A, hidden=AddRemove("firm", "id", 1))
    engine = DuckDB([frame(a=["x", "x", "bad"], id=["f", "f", "g"])], reading(plan), b"")
    with pytest.raises(DataError, match="bounds are not enforced"):
        engine.aggregate(Table((A,)), (Rows(),), plan.universe(plan.measures[0]))


def test_all_faults_are_named_at_once():
    plan = make_plan(A, B, of=(Total("w", clip=(0, Fraction(9))),), hidden=AddRemove("firm", "id", 1), key="k")
    bad = frame(a=["?", "x"], b=["1", "?"], w=["?", "1"], id=[None, "f"], k=[1, 1])
    assert refused(plan, bad) == ["a", "b", "w", "id", "k"]
