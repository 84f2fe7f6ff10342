"""Units and keys in a cluster: the rows that crowded units keep, names that break rules, and the largest of a cell."""

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.commands import command, sfumato
from tests.confidential import test_suppressed_run
from tests.confidential.test_engines_agree import BROKEN, TWICE, A, B, C, V, cells, table
from tests.confidential.test_spark import SALT, agree, engine, same_release

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import (
    Box,
    Clipped,
    Extremes,
    Largest,
    Ragged,
    Reported,
    Rows,
    Rule,
    Schema,
    Sum,
    Table,
    Units,
    UnitSums,
)
from sfumato.schema.spelling import spelled

BOX = Box({"a": np.array([True, False, True, True]), "c": np.array([True, True, False, True])})
TEXT = Sum(Clipped("t", Fraction(0), Fraction(50), Fraction(1, 2), Fraction(0)))
"""A value that is stored as a text, and so read here."""


def employers(kind):
    """Names of 40 units in one type: whole numbers, and texts of every sort that is spelt here or there."""
    if pa.types.is_string(kind):
        return [*(f"{one:06}" for one in range(10)), *(f"Firm {one}" for one in range(10)), *"éßÅ漢", "12-34", "1e5",
                *(f"Müller {one}" for one in range(10)), "A.B", "-7.5", "0.5", "x" * 60]  # fmt: skip
    return [Decimal(one) * 10**20 if pa.types.is_decimal(kind) else one * 3 - 9 for one in range(40)]


def records(kind, rows=600, seed=1):
    """Records of crowded units and lone ones, with codes in every way of reading, and values at ends and halves."""
    rng = np.random.default_rng(seed)
    units = np.minimum(rng.geometric(0.08, rows), 40) - 1
    value = np.where(rng.random(rows) < 0.3, rng.integers(-20, 400, rows) / 20, rng.normal(0, 1e5, rows))
    texts = rng.choice(["3", "0.25", "1e1", "", "49.75"], rows)
    named = employers(kind)
    return pa.table(
        {
            "a": pa.array(rng.choice([1, 2, 7], rows), mask=rng.random(rows) < 0.1),
            "b": rng.choice(["u", "w", "é"], rows),
            "c": pa.array(rng.choice([0, 17, 18, 64, 65, 400], rows) + 0.0, mask=rng.random(rows) < 0.1),
            "v": pa.array(value, mask=rng.random(rows) < 0.1),
            "t": texts,
            "id": pa.array([named[one] for one in units], kind),
            "person": pa.array([f"p{one:04}" for one in rng.integers(0, 300, rows)]),
            "key": rng.permutation(rows),
        }
    )


def written(folder, rows, files=1):
    """Some rows in so many files."""
    places, cut = [folder / f"part{one}.parquet" for one in range(files)], len(rows) // files
    for one, place in enumerate(places):
        pq.write_table(rows.slice(one * cut, cut if one < files - 1 else None), place)
    return places


NAMED = [pa.int64(), pa.string(), pa.float64(), pa.float32(), pa.decimal128(38, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMED, ids=str)
def test_crowded_units_keep_the_same_rows_in_a_cluster(spark, tmp_path, kind):
    most, files = (2, 3) if pa.types.is_string(kind) else (5, 1)
    schema = Schema((A, B, C), key="key", repeated_rows=True)
    reading = Reading(schema, (A, B, C), (*V, TEXT, Units("person")), "id", Truncate("id", most))
    rows = records(kind)
    assert agree(spark, written(tmp_path, rows, files), reading, BOX)
    kept = np.minimum(np.unique(np.array(rows["id"].to_pylist(), dtype=object), return_counts=True)[1], most).sum()
    far = engine(spark, written(tmp_path, rows), reading)
    assert cells(far, reading)[Rows()].sum() == kept < len(rows)
    assert far.rows == len(rows)
    far.close()


@pytest.mark.slow
def test_another_salt_keeps_other_rows_and_no_query_holds_it(spark, tmp_path):
    """The arm that fails: were rows kept by anything but the digest, the salt would make no difference."""
    reading = Reading(Schema((A, B, C)), (A, B, C), V, "id", Truncate("id", 3))
    places, other = written(tmp_path, records(pa.int64())), bytes(reversed(SALT))
    near, far = DuckDB(places, reading, other), engine(spark, places, reading)
    one, two = cells(near, reading), cells(far, reading)
    assert any((one[name] != two[name]).any() for name in one)
    plan = far._units.records._explain_string(extended=True)
    assert "sha2" in plan
    assert SALT.hex() not in plan, "as queries and their plans are logged"
    literal = far._units.records.selectExpr(dialect.digest(f"'{SALT.hex()}'", ["leaf0"]))
    assert SALT.hex() in literal._explain_string(extended=True), "a literal would stand there"
    near.close()
    far.close()


@pytest.mark.slow
def test_names_and_keys_that_break_rules_are_refused_in_the_same_words(spark, tmp_path):
    rules = (Rule.of({"a": "7", "b": "y"}),)
    reading = Reading(Schema((A, B, C), key="key", impossible=rules), (A, B, C), V, "id", Truncate("id", 2))
    odd = {
        "units without a name in every way": table(id=["", " \u2003", None, "x"]),
        "numbers that name nobody": table(id=[1.5, 2.0**53, float("nan"), 3.0]),
        "zeros in front": table(id=["7", "0007", "00", "0"]),
        "a name spelt here beside one spelt there": table(id=["100000", "1e5", "8", "8"]),
        "unseen letters and spaces": table(id=["A", "A\u200b", " A", "A\n"]),
        "a key that lacks and one that is spelt twice": table(key=["1", "01", None, ""]),
    }
    for rows in (BROKEN | odd).values():
        assert not agree(spark, written(tmp_path, rows), reading)
    for rows in TWICE.values():
        for files in (1, 2):
            reading = Reading(Schema((A, B, C), key=("id", "year")), (A, B, C), V)
            assert not agree(spark, written(tmp_path, rows, files), reading)
    assert agree(spark, written(tmp_path, table(year=[1, 2, 1, 2]), 2), reading), "the rule alone makes the difference"


@pytest.mark.slow
def test_without_spelling_two_names_of_one_unit_would_be_two_units(spark, tmp_path, monkeypatch):
    reading = Reading(Schema((A, B, C)), (A, B, C), V, "id", Truncate("id", 2))
    places = written(tmp_path, table(id=["7", "07", "8", "8"]))
    monkeypatch.setattr(dialect, "spelling", lambda name: name)
    with pytest.raises(AssertionError):
        agree(spark, places, reading)


@pytest.mark.slow
def test_a_row_that_stands_in_two_sources_is_named_as_here(spark, tmp_path):
    reading = Reading(Schema((A, B, C)), (A, B, C), V, "id", Truncate("id", 2))
    rows = table(
        a=["1", "1", None, "7"], c=[20.0, 30.0, np.nan, 30.0], v=[0.5, -0.0, 1.0, 2.0], id=["x", "y", "z", "y"]
    )
    again = table(a=["1", "7", "", "1"], c=[20.0, 30.0, None, 30.0], v=[0.5, 3.0, 1.0, 0.0], id=["x", "y", "z", "y"])
    assert not agree(spark, written(tmp_path, pa.concat_tables([rows, again]), 2), reading)
    other = again.set_column(again.column_names.index("id"), "id", pa.array(["p", "q", "r", "s"]))
    assert agree(spark, written(tmp_path, pa.concat_tables([rows, other]), 2), reading)
    assert agree(spark, written(tmp_path, pa.concat_tables([rows, again])), reading), "within one source all count"
    places = written(tmp_path, pa.concat_tables([rows, again]), 2)
    pq.write_table(pq.read_table(places[1]).set_column(2, "c", pa.array([1, 2, 3, 4])), places[1])
    with pytest.raises(DataError, match="'c' is of several types in the sources, and rows may stand in two"):
        engine(spark, places, reading)


NUMERAL = st.from_regex(r"[ +-]?0{0,3}[0-9]{0,5}[._]?[0-9]{0,3}([eE][+-]?[0-9]{1,2})?\n?", fullmatch=True)
ODD = st.text(st.sampled_from("A a07.é\u0301\u200b\u00a0\u3000\t\n-+eE_Åß①Ａ"), max_size=6)


@pytest.mark.slow
def test_a_name_is_spelt_in_a_cluster_as_here_or_is_left_to_be_spelt_here(spark, tmp_path):
    found = set()

    @given(st.lists(NUMERAL | ODD | st.text(max_size=5), min_size=300, max_size=300))
    @settings(max_examples=5, deadline=None)
    def drawn(names):
        found.update(names)

    drawn()
    names = sorted(found - {""})
    pq.write_table(pa.table({"name": names}), tmp_path / "names.parquet")
    session = ClusterSession([ClusterTable(Address.parse(spark), str(tmp_path / "names.parquet"))])
    told = session.rows(session.frames[0].selectExpr("name", dialect.spelling("name")))
    session.close()
    expected = dict(zip(names, spelled(pa.array(names)).to_pylist(), strict=True))
    assert len(told) == len(names) > 500
    there = {name: own for name, own in told if own is not None}
    assert {name: own for name, own in there.items() if own != expected[name]} == {}
    assert len(there) > 50, "plain names and digits are not fetched"
    assert all(len(expected[name]) and re.fullmatch("[ -~]+", name) for name in there)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [None, Truncate("id", 4)])
def test_units_of_a_cell_are_told_apart_in_a_cluster(spark, tmp_path, kept):
    value, text = V[0].of, TEXT.of
    apart = (Units(), Units("person"), Largest(), Largest(value, 3), Largest(text, 2, "person"), UnitSums(value))
    reading = Reading(Schema((A, B, C), repeated_rows=True), (A, B, C), (*V, TEXT, *apart), "id", kept)
    places = written(tmp_path, records(pa.string()), 2)
    near, far = DuckDB(places, reading, SALT), engine(spark, places, reading)
    for table_of, box in ((Table((C, A)), BOX), (Table(()), Box()))[: 1 if kept else 2]:
        one, other = (each.aggregate(table_of, (Rows(), *apart), box) for each in (near, far))
        assert one.keys() == other.keys()
        for name, column in one.items():
            whole = [(own.offsets, own.values) if isinstance(own, Ragged) else (own,) for own in (column, other[name])]
            assert all(np.array_equal(mine, yours) for mine, yours in zip(*whole, strict=True)), name
    assert far.crowds("person", 2) == near.crowds("person", 2) != (0, [])
    near.close()
    far.close()


@pytest.mark.slow
def test_totals_without_a_clip_are_of_reports_that_keep_their_rules(spark, tmp_path):
    """Whole multiples of a step, 0 or more, as doubles, integers and decimals; else the same words, by unit."""
    rng = np.random.default_rng(5)
    rows = records(pa.string(), 200).drop_columns(["v"]).append_column("v", pa.array(rng.integers(0, 10**7, 200) / 20))
    one = Reported("v", Fraction(1, 20), Fraction(3))
    asked = (Sum(one), Extremes(one), Largest(one, 2), UnitSums(one))
    reading = Reading(Schema((A, B, C)), (A, B, C), asked[:2], "id")
    apart = replace(reading, aggregates=asked)
    whole = rows.set_column(rows.column_names.index("v"), "v", rows["v"].cast(pa.float64()).cast(pa.decimal128(20, 2)))
    for sound in (rows, whole):
        assert agree(spark, written(tmp_path, sound), reading, BOX)
    unclean = [None, 1.0, -0.05, 0.051, 1e300, np.inf, -np.inf, np.nan, -1e-9, 2.0**60, 0.05 + 1e-9, 3.0]
    many = pa.table({"a": ["1"] * 12, "b": ["u"] * 12, "c": [5] * 12, "v": unclean, "id": [f"e{i}" for i in range(12)]})
    strict = replace(one, missing=None)
    for of in (reading, apart, replace(apart, aggregates=(Sum(strict), Units()))):
        assert not agree(spark, written(tmp_path, many), of)
    near, far = DuckDB(written(tmp_path, rows), apart, SALT), engine(spark, written(tmp_path, rows), apart)
    here, there = (each.aggregate(Table((A,)), asked, Box()) for each in (near, far))
    assert all((here[own] == there[own]).all() for own in asked[:3])
    assert (here[asked[3]].values == there[asked[3]].values).all()
    near.close()
    far.close()
    texts = rows.set_column(rows.column_names.index("v"), "v", pa.array(["1"] * 200))
    with pytest.raises(DataError, match="of the type string in the cluster, and is totalled as it stands"):
        engine(spark, written(tmp_path, texts), reading)


@pytest.mark.slow
def test_a_rehearsal_with_suppressed_cells_is_the_same_here_and_in_a_cluster(spark, tmp_path):
    (tmp_path / "plan.toml").write_text(test_suppressed_run.TABLES, encoding="utf-8")
    places = written(tmp_path, pa.Table.from_pylist(test_suppressed_run.shops()))
    asked = ["run", tmp_path / "plan.toml", "--data", *places, "--rehearsal", 7, "--out"]
    sfumato(*asked, tmp_path / "here")
    sfumato(*asked, tmp_path / "there", "--spark", spark)
    same_release(tmp_path / "here", tmp_path / "there")


EMPLOYERS = """
name = "workforce"
[data]
unit = "job"
key = ["employer", "person"]
[attributes.place]
levels = ["north", "south"]
of = "establishment"
[attributes.sex]
levels = ["f", "m"]
of = "worker"
[hidden]
neighbours = "size-within"
unit = "establishment"
id = "employer"
alpha = "0.1"
weak = ["sex"]
worker = "person"
at_most = 3
[limit]
epsilon = "9"
delta = "1e-6"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "smooth-gamma", epsilon = "1" }
[[measure]]
name = "by_sex"
of = "count"
by = ["place", "sex"]
with = { mechanism = "log-laplace", epsilon = "1" }
"""
WORKERS = """
name = "workers"
[data]
unit = "job"
key = ["employer", "person"]
[attributes.place]
levels = ["up", { code = "north", parent = "up" }, { code = "east", parent = "up" }, "south"]
[attributes.sex]
levels = ["f", "m"]
[hidden]
neighbours = "add-remove"
unit = "worker"
id = "person"
at_most = 2
[limit]
epsilon = "4"
[[measure]]
name = "jobs"
of = "count"
by = ["place", "sex"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "9000"], step = "0.5", unit = "dollars" }
by = ["place@0"]
with = { mechanism = "geometric", epsilon = "1" }
"""

INFUSED = (
    WORKERS.replace(
        'unit = "worker"\nid = "person"\nat_most = 2', 'unit = "establishment"\nid = "employer"\nat_most = 9'
    )
    .replace('epsilon = "4"', 'unbounded = "to compare"')
    .replace('mechanism = "geometric", epsilon = "1"', 'mechanism = "noise-infusion", low = "0.05", high = "0.15"')
)


def jobs_of_workers():
    """Jobs of 300 workers, up to three each, none of them twice with one employer."""
    rng = np.random.default_rng(4)
    person = np.repeat(np.arange(300), rng.integers(1, 4, 300))
    turn = np.arange(len(person)) - np.searchsorted(person, person)
    employer = (person * 7 + turn * 31) % 90
    return {
        "employer": [f"E-{one:03}" for one in employer],
        "person": person,
        "place": np.where(employer % 3 == 0, "north", "south"),
        "sex": np.where(person % 2, "f", "m"),
        "pay": np.round(rng.gamma(2, 1500, len(person)), 2),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "broken", "said"),
    [
        (EMPLOYERS, "person", "stand in more rows than"),
        (WORKERS, "employer", "have the same employer and person"),
        (INFUSED, "employer", "have the same employer and person"),
    ],
    ids=["employers", "workers", "infused"],
)
def test_a_rehearsal_of_named_units_is_the_same_here_and_in_a_cluster(spark, tmp_path, plan, broken, said):
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    rows = jobs_of_workers()
    places = written(tmp_path, pa.table(rows), 2)
    given_data = [word for place in places for word in ("--data", place)]
    asked = ["run", tmp_path / "plan.toml", *given_data, "--rehearsal", 7, "--out"]
    sfumato(*asked, tmp_path / "here")
    assert "read by the engine spark" in sfumato(*asked, tmp_path / "there", "--spark", spark)
    same_release(tmp_path / "here", tmp_path / "there")
    crowd = np.where(rows["person"] < 3, rows[broken][0], rows[broken])
    places = written(tmp_path, pa.table(rows | {broken: crowd}), 2)
    near, far = (command("check", tmp_path / "plan.toml", *given_data, *told) for told in ([], ["--spark", spark]))
    assert near == far
    assert said in near.stdout + near.stderr
