"""The contract of the engines on Spark over generated tables: the same cells, or the same faults in the same words.

A query costs Spark half a second whatever it reads, so that many tables of one reading are one relation: those that
break no rule are told apart by a column of their own, and those that break the same rules are refused together.
"""

from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.confidential.test_engines_agree import SALT, A, B, C, V, cells, columns, kinds, readings, same, sound, tables

from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.confidential.engines.spark import Spark
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, Clipped, Extremes, Levels, Rows, Schema, Sum, SumOfProducts, Table, Weighted

MANY = 40
"""Tables in one relation."""
EXAMPLE = Attribute("example", Levels.of([str(one) for one in range(MANY)]))


def lengthy(batches):
    """A property that is tried on so many relations, which are not made smaller where it fails: each takes seconds."""
    return settings(
        max_examples=batches,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[*HealthCheck],
    )


@st.composite
def batches(draw):
    """One reading, and many tables of the same types for it."""
    reading, types = draw(readings()), draw(kinds())
    extremes = tuple(Extremes(one.of) for one in reading.aggregates if isinstance(one, Sum))
    return replace(reading, aggregates=reading.aggregates + extremes), [draw(tables(types)) for _ in range(MANY)]


def written(folder, examples):
    """Tables as one file, in which a column says which of them a row is of."""
    numbered = [rows.append_column("example", pa.array([place] * len(rows), pa.int32())) for place, rows in examples]
    pq.write_table(pa.concat_tables(numbered), folder / "examples.parquet", row_group_size=7)
    return folder / "examples.parquet"


def opened_both(spark, place, reading):
    return DuckDB([place], reading, SALT), Spark([ClusterTable(Address.parse(spark), str(place))], reading, SALT)


def same_cells(spark, folder, reading, sound):
    """Every table has the cells in the cluster that DuckDB finds of it alone."""
    example = replace(EXAMPLE, levels=Levels.of([str(one) for one, _ in sound]))
    numbered = replace(reading, attributes=(*reading.attributes, example))
    with closing(Spark([ClusterTable(Address.parse(spark), str(written(folder, sound)))], numbered, SALT)) as far:
        assert far.faults() == []
        assert far.rows == sum(len(rows) for _, rows in sound)
        found = cells(far, numbered)
    for place, (_, rows) in enumerate(sound):
        near = DuckDB([rows], reading, SALT)
        same({one: cube[place] for one, cube in found.items()}, cells(near, reading))
        near.close()


def same_faults(spark, folder, reading, broken):
    """Tables that break the same rules break them in the cluster: the words, the values and how many records."""
    near, far = opened_both(spark, written(folder, broken), reading)
    with closing(near), closing(far):
        assert [str(one) for one in far.faults()] == [str(one) for one in near.faults()] != []
        for one, other in zip(far.faults(), near.faults(), strict=True):
            assert far.examples(one) == near.examples(other)
            assert far.broken(one) == near.broken(other)


def contract(spark, folder, reading, examples):
    """How many of the tables break no rule and how many do, all the same here and in the cluster."""
    by_rules = defaultdict(list)
    for place, rows in enumerate(examples):
        near = DuckDB([rows], reading, SALT)
        by_rules[tuple(map(str, near.faults()))].append((place, rows))
        near.close()
    if sound := by_rules.pop((), []):
        same_cells(spark, folder, reading, sound)
    for broken in by_rules.values():
        same_faults(spark, folder, reading, broken)
    return Counter(sound=len(sound), broken=len(examples) - len(sound))


@pytest.mark.slow
def test_generated_tables_have_the_cells_or_the_faults_of_the_other_engines(spark, tmp_path):
    seen = Counter()

    @given(batches())
    @lengthy(10)
    def compared(batch):
        seen.update(contract(spark, tmp_path, *batch))

    compared()
    assert min(seen["sound"], seen["broken"]) > MANY, f"both kinds of tables were compared: {seen}"


@st.composite
def weighed(draw):
    """Tables with a weight and a replicate, whole or not, and a value to be weighed."""
    number = st.floats(-1e6, 1e6) if draw(st.booleans()) else st.integers(-(10**6), 10**6)
    length = draw(st.integers(1, 300))
    rows = {"a": draw(columns(length, st.sampled_from(["1", "2"])))}
    rows |= {name: pa.array(draw(columns(length, number)), pa.float64()) for name in ("v", "w0", "w1")}
    return pa.table(rows)


@pytest.mark.slow
def test_generated_weights_are_summed_to_the_last_bit(spark, tmp_path):
    a = Attribute("a", Levels.of(["1", "2"]))
    schema = Schema((a,), weight="w0", replicates=("w1",), repeated_rows=True)
    reading = Reading(schema, (a,), (Weighted(), Weighted("v"), Weighted("v", power=2)))

    @given(weighed())
    @lengthy(10)
    def compared(rows):
        pq.write_table(rows, tmp_path / "weighed.parquet")
        near, far = opened_both(spark, tmp_path / "weighed.parquet", reading)
        with closing(near), closing(far):
            one, other = (each.aggregate(Table((a,)), reading.aggregates, Box()) for each in (near, far))
            for own in reading.aggregates:
                assert one[own].dtype == other[own].dtype
                assert one[own].tobytes() == other[own].tobytes(), own

    compared()


@pytest.mark.slow
def test_of_generated_crowded_units_the_same_rows_are_kept(spark, tmp_path):
    kept = Counter()

    @given(sound(40, 80), st.sampled_from(["id", "name"]), st.integers(1, 12), st.booleans())
    @lengthy(8)
    def compared(rows, unit, most, keyed):
        names = pa.array([f"unit {one}" for one in rows["id"].to_pylist()])
        pq.write_table(rows.append_column("name", names), tmp_path / "units.parquet")
        schema = Schema((A, B, C), key="key" if keyed else None, repeated_rows=not keyed)
        reading = Reading(schema, (A, B, C), V, unit, Truncate(unit, most))
        near, far = opened_both(spark, tmp_path / "units.parquet", reading)
        with closing(near), closing(far):
            assert near.faults() == far.faults() == []
            found = cells(far, reading)
            same(found, cells(near, reading))
            kept.update(left_out=len(rows) - int(found[Rows()].sum()), kept=int(found[Rows()].sum()))

    compared()
    assert min(kept["left_out"], kept["kept"]) > 50, f"some rows were kept and some left out: {kept}"


@pytest.mark.slow
def test_weighted_totals_are_the_same_to_the_integer_whatever_holds_the_values(spark, tmp_path):
    """Values and weights as numbers, multiplied in the cluster, and as texts, by which records are grouped."""
    a = Attribute("a", Levels.of("xy"))
    pay, weight = Clipped("pay", 0, 900, 10), Clipped("w", 0, 40, Fraction(1, 2))
    wide = Clipped("pay", 0, 10**6, Fraction(1, 1000))
    asked = (SumOfProducts(pay, weight), SumOfProducts(wide, weight), Sum(weight), Sum(pay))
    numbers = {"pay": [12.5, 899.9, 1e6, 33.3, 0.0, 77.7], "w": [0.3, 61.0, 7.25, 12.0, 3.5, 0.75]}
    for texts in ((), ("pay",), ("w",), ("pay", "w")):
        columns = {name: list(map(str, own)) if name in texts else own for name, own in numbers.items()}
        rows = pa.table({"a": list("xyxyxx"), **columns, "id": ["p", "q", "p", "q", "r", "p"]})
        pq.write_table(rows, tmp_path / "rows.parquet")
        for kept in (None, Truncate("id", 2)):
            reading = Reading(Schema((a,), repeated_rows=True), (a,), asked, "id" if kept else None, kept)
            near, far = opened_both(spark, tmp_path / "rows.parquet", reading)
            with closing(near), closing(far):
                assert near.faults() == far.faults() == []
                same(*(one.aggregate(Table((a,)), asked, Box()) for one in (near, far)))
