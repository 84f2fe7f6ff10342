"""Spilled or not, the same: cells, faults in the same words, examples, kept rows, and a rehearsal to the byte."""

import tempfile
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.confidential.test_engines_agree import BROKEN, SALT, TWICE, A, B, C, V, kinds, readings, sound, table, tables

from sfumato.confidential.engines.choose import opened
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.spill import judges, parted
from sfumato.confidential.engines.spill.engine import Spilled
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import (
    Box,
    Clipped,
    Extremes,
    Frame,
    Influence,
    Largest,
    Partner,
    Ragged,
    Reported,
    Rows,
    Rule,
    Schema,
    Sorted,
    Sum,
    Table,
    Units,
    UnitSums,
)

QUICK = settings(max_examples=8, deadline=None, suppress_health_check=[*HealthCheck])
PAY = V[0].of
TOLD = (*V, Units(), Largest(PAY, 2), Largest(), UnitSums(PAY), Extremes(PAY))
BOX = Box({"a": np.array([True, False, True, True]), "c": np.array([True, True, False, True])})


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Several parts of few records, chunks of fewer, and values that are counted a few at a time."""
    monkeypatch.setattr(parted, "IN_A_PART", 6)
    monkeypatch.setattr(parted, "GATHERED", 5)
    monkeypatch.setattr(judges, "AT_ONCE", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spill")


def both(sources, reading, folder):
    """One reading in memory and one in parts."""
    held, _ = opened(sources, reading, SALT)
    spilled, _ = opened(sources, reading, SALT, spill=folder)
    assert isinstance(spilled, Spilled)
    return held, spilled


def same_columns(one, other):
    assert one.keys() == other.keys()
    for name, column in one.items():
        if isinstance(column, Ragged):
            assert column.offsets.tolist() == other[name].offsets.tolist(), name
            assert column.values.tolist() == other[name].values.tolist(), name
        else:
            assert column.shape == other[name].shape, name
            assert (column == other[name]).all(), name


def compared(sources, reading, folder, *boxes):
    """That both tell the same of the data; whether they fit."""
    held, spilled = both(sources, reading, folder)
    with closing(held), closing(spilled):
        assert [str(one) for one in spilled.faults()] == [str(one) for one in held.faults()]
        for one, other in zip(held.faults(), spilled.faults(), strict=True):
            assert bool(one.query) == bool(other.query)
            assert not one.query or spilled.examples(other) == held.examples(one)
            assert not one.query or spilled.broken(other) == held.broken(one)
        if not held.faults():
            assert spilled.rows == held.rows
            for box in (Box(), *boxes):
                asked = (Rows(), *reading.aggregates)
                same_columns(*(one.aggregate(Table(reading.attributes[::-1]), asked, box) for one in (held, spilled)))
                (places, listed), (others, told) = (one.occupied(Table((reading.attributes[0],)), asked, box) for one in (held, spilled))  # fmt: skip  # noqa: E501
                assert places.tolist() == others.tolist()
                same_columns(listed, told)
    assert not list(folder.iterdir()), "nothing is left"
    return not held.faults()


@given(tables(), readings(), st.booleans())
@QUICK
def test_whatever_the_data_parts_tell_what_all_records_tell(folder, rows, reading, as_file):
    with tempfile.TemporaryDirectory() as elsewhere:
        place = Path(elsewhere) / "data.parquet"
        if as_file:
            pq.write_table(rows, place, row_group_size=3)
        compared([place if as_file else rows], reading, folder)


@given(st.data(), readings())
@settings(QUICK, max_examples=4)
def test_of_several_sources_of_whatever_types_rows_that_stand_twice_are_found(folder, data, reading):
    sources = [data.draw(tables(data.draw(kinds()))) for _ in range(data.draw(st.integers(2, 3)))]
    reading = replace(reading, schema=replace(reading.schema, repeated_rows=False))
    compared(sources, reading, folder)


@given(sound(), st.integers(1, 3), st.sampled_from(["id", "name"]), st.sampled_from([None, 1, 2]), st.booleans())
@QUICK
def test_units_that_are_told_apart_have_the_same_cells_and_the_same_rows_are_kept(
    folder, rows, files, unit, most, keyed
):
    files = min(files, len(rows))
    rows = rows.append_column("name", pa.array([f"unit {one}" for one in rows["id"].to_pylist()]))
    schema = Schema((A, B, C), key="key" if keyed else None, repeated_rows=not keyed)
    reading = Reading(schema, (A, B, C), TOLD, unit, Truncate(unit, most) if most else None)
    cuts = [place * len(rows) // files for place in range(files + 1)]
    parts = [rows.slice(start, end - start) for start, end in pairwise(cuts)]
    assert compared(parts, reading, folder, BOX), "sound data are taken"


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("aggregates", [V, TOLD], ids=["counted", "told apart"])
def test_data_that_break_a_rule_are_refused_in_the_same_words(broken, aggregates, folder):
    rules = (Rule.of({"a": "7", "b": "y"}),)
    reading = Reading(Schema((A, B, C), key="key", impossible=rules), (A, B, C), aggregates, "id", Truncate("id", 2))
    assert not compared([broken], reading, folder)


@pytest.mark.parametrize("broken", TWICE.values(), ids=TWICE)
def test_a_key_of_several_columns_stands_once_in_all_parts(broken, folder):
    reading = Reading(Schema((A, B, C), key=("id", "year")), (A, B, C), V)
    assert not compared([broken], reading, folder)


def test_spellings_of_one_name_are_found_whichever_part_they_are_in(folder):
    names = [f"{one}" for one in range(1, 20)] + ["007", " 12", "Ａ", "A", "b  c", "b c", "5.0", "+6"]
    rows = pa.table({"a": ["1"] * len(names), "b": ["u"] * len(names), "c": [20] * len(names), "v": [1.0] * len(names), "id": names, "year": [*range(len(names))]})  # fmt: skip  # noqa: E501
    reading = Reading(Schema((A, B, C), repeated_rows=True), (A, B, C), TOLD, "id")
    assert not compared([rows], reading, folder)
    held, spilled = both([rows], reading, folder)
    assert {value for value, _ in spilled.examples(spilled.faults()[0])} == {value for value, _ in held.examples(held.faults()[0])} != set()  # fmt: skip  # noqa: E501
    spilled.close()
    keyed = Reading(Schema((A, B, C), key=("year", "id")), (A, B, C), V)
    assert not compared([rows], keyed, folder), "parts by both columns hold no spellings of one together"


def test_units_of_two_columns_are_told_apart_by_each(folder):
    draw = np.random.default_rng(3)
    rows = pa.table({"a": draw.choice(["1", "2"], 90), "b": ["u"] * 90, "c": draw.integers(0, 90, 90), "v": draw.normal(9, 9, 90), "id": draw.integers(0, 9, 90), "worker": [f"w{one}" for one in draw.integers(0, 40, 90)]})  # fmt: skip  # noqa: E501
    told = (*TOLD, Largest(per="worker"), Units("worker"))
    reading = Reading(Schema((A, B, C), repeated_rows=True), (A, B, C), told, "id")
    assert compared([rows], reading, folder, BOX)
    held, spilled = both([rows], reading, folder)
    with closing(held), closing(spilled):
        for column in ("worker", "id"):
            assert spilled.crowds(column, 2) == held.crowds(column, 2)
            assert spilled.crowds(column, 2)[0] > 0


@pytest.mark.parametrize("broken", ["", "unfound", "twice"])
def test_joined_tables_are_looked_up_before_records_are_spilled(broken, folder, tmp_path):
    draw = np.random.default_rng(4)
    jobs = pa.table({"id": draw.integers(0, 9, 60), "a": draw.choice(["1", "2"], 60), "c": draw.integers(0, 90, 60), "v": draw.normal(9, 9, 60)})  # fmt: skip  # noqa: E501
    shops = pa.table({"id": [*range(9 - (broken == "unfound")), *([3] if broken == "twice" else [])], "b": (["u", "w"] * 5)[: 9 + (broken == "twice") - (broken == "unfound")]})  # fmt: skip  # noqa: E501
    pq.write_table(jobs, tmp_path / "jobs.parquet")
    pq.write_table(shops, tmp_path / "shops.parquet")
    schema = Schema((A, B, C), repeated_rows=True, base="jobs", joined=(Partner("shops", "id"),))
    reading = Reading(schema, (A, B, C), TOLD, "id")
    sources = {"jobs": [tmp_path / "jobs.parquet"], "shops": [tmp_path / "shops.parquet"]}
    assert compared(sources, reading, folder, BOX) == (not broken)


def test_text_files_are_spilled_as_they_are_read(folder, tmp_path):
    rows = [
        "a,b,c,v,id,key",
        *(f"{1 + place % 2},u,{place},{place / 4},firm {place % 5},{place}" for place in range(40)),
    ]
    (tmp_path / "jobs.csv").write_text("\n".join(rows), encoding="utf-8")
    reading = Reading(Schema((A, B, C), key="key"), (A, B, C), TOLD, "id", Truncate("id", 3))
    assert compared([tmp_path / "jobs.csv"], reading, folder, BOX)


@pytest.mark.parametrize("broken", [{}, {"id": ["a", "b", "x"]}, {"id": ["a", "a", "b"]}, {"v": [1.0, -1.0, 2.5]}])
def test_reports_to_a_register_are_those_of_one_reading(broken, folder):
    register = Frame("shop", (A,), {"a": np.array([0, 1, 2, 0], dtype=np.int32)}, ["a", "b", "c", "d"])
    rows = pa.table({"id": ["c", "a", "b"], "v": [3.0, 1.0, 2.0], **broken})
    reading = Reading(Schema((A,), repeated_rows=True), (), (Rows(), Sum(Reported("v", Fraction(1)))), "id", register=register)  # fmt: skip  # noqa: E501
    held, spilled = both([rows], reading, folder)
    with closing(held), closing(spilled):
        assert [str(one) for one in spilled.faults()] == [str(one) for one in held.faults()]
        assert [spilled.examples(one) for one in spilled.faults()] == [held.examples(one) for one in held.faults()]
        assert bool(held.faults()) == bool(broken)
        if not broken:
            same_columns(*(one.reports(reading.aggregates) for one in (held, spilled)))


def test_a_source_without_rows_is_named(folder):
    reading = Reading(Schema((A, B, C), key="key"), (A, B, C), V)
    assert not compared([table(), table().slice(0, 0)], reading, folder)


def test_sums_that_pass_64_bits_in_all_parts_together_are_refused(folder):
    high = Fraction(2**61)
    reading = Reading(Schema((A,), repeated_rows=True), (A,), (Sum(Clipped("v", Fraction(0), high, Fraction(1))), Units()), "id")  # fmt: skip  # noqa: E501
    rows = pa.table({"a": ["1"] * 8, "v": [2.0**61] * 8, "id": [*range(8)]})
    _, spilled = both([rows], reading, folder)
    with closing(spilled), pytest.raises(DataError, match="64 bits"):
        spilled.aggregate(Table((A,)), reading.aggregates, Box())


@pytest.mark.parametrize(
    ("aggregate", "why"), [(Sorted(PAY), "percentiles"), (Influence(PAY, PAY), "regressions")], ids=["sorted", "pairs"]
)
def test_what_cannot_be_made_of_parts_is_refused_and_says_why(aggregate, why, folder):
    reading = Reading(Schema((A, B, C)), (A, B, C), (aggregate,))
    with pytest.raises(DataError, match=f"{why}.*cannot be spilled. Leave --spill out"):
        opened([table()], reading, SALT, spill=folder)


def test_rows_of_one_unit_are_not_kept_where_others_are_told_apart_too(folder):
    reading = Reading(Schema((A, B, C)), (A, B, C), (Units("key"),), "id", Truncate("id", 1))
    with pytest.raises(DataError, match="at most 1 rows of each 'id' and tells apart key"):
        opened([table()], reading, SALT, spill=folder)
