"""Every aggregate, in every engine, is what its sentence says, cell by cell."""

from collections import Counter
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.row_aggregates import FOLDS, Runs
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import (
    Attribute,
    Box,
    Clipped,
    Influence,
    Largest,
    Levels,
    Ragged,
    Rows,
    Schema,
    Sorted,
    Sum,
    SumOfProducts,
    Table,
    Units,
    UnitSums,
)

A = Attribute("a", Levels.of("xyz"))
B = Attribute("b", Levels.of("pq"))
PAY = Clipped("pay", Fraction(-5), Fraction(20), Fraction(5))
AGE = Clipped("age", Fraction(0), Fraction(9), Fraction(1))
ASKED = (
    Rows(), Units(), Units("shop"), Sum(PAY), SumOfProducts(PAY, AGE), Largest(k=2), Largest(PAY, 1, "shop"),
    Sorted(PAY), Influence(PAY, AGE), UnitSums(per="shop"), UnitSums(PAY),
)  # fmt: skip


def clipped(value, one):
    low, high = one.low / one.step, one.high / one.step
    return int(max(low, min(high, np.floor(value / float(one.step) + 0.5))))


def digest(name):
    """The first 60 bits of the SHA-256 of a name."""
    return int.from_bytes(sha256(str(name).encode()).digest()[:8]) >> 4


def truth(rows, aggregate):  # noqa: PLR0911, C901 - one sentence, one line
    """The sentence of each aggregate, over a list of rows in plain Python."""
    pay, age = [clipped(row["pay"], PAY) for row in rows], [clipped(row["age"], AGE) for row in rows]
    match aggregate:
        case Rows():
            return len(rows)
        case Units():
            return len({row[aggregate.per or "id"] for row in rows})
        case Sum():
            return sum(pay)
        case SumOfProducts():
            return sum(y * x for y, x in zip(pay, age, strict=True))
        case Largest():
            by_unit = Counter()
            for row, value in zip(rows, pay, strict=True):
                by_unit[row[aggregate.per or "id"]] += value if aggregate.of else 1
            top = sorted((abs(one) for one in by_unit.values()), reverse=True)[: aggregate.k]
            return top + [0] * (aggregate.k - len(top))
        case UnitSums():
            by_unit = Counter()
            for row, value in zip(rows, pay, strict=True):
                by_unit[digest(row[aggregate.per or "id"])] += value if aggregate.of else 1
            return [list(one) for one in sorted(by_unit.items())]
        case Sorted():
            return sorted(pay)
        case Influence():
            return sorted([y, x] for y, x in zip(pay, age, strict=True))
    raise AssertionError(aggregate)


ROWS = st.lists(
    st.fixed_dictionaries({
        "a": st.sampled_from("xyz"), "b": st.sampled_from("pq"), "pay": st.integers(-9, 40), "age": st.integers(-3, 12),
        "id": st.integers(1, 4), "shop": st.sampled_from(["north", "south", "s3"]),
    }),
    min_size=1, max_size=25,
)  # fmt: skip


@given(ROWS, st.booleans(), st.sampled_from([Arrays, DuckDB]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_aggregate_is_what_its_sentence_says(rows, within, make):
    reading = Reading(Schema((A, B)), (A, B), ASKED, "id", Truncate("id", 1000))
    engine = make([pa.Table.from_pylist(rows)], reading, b"salt")
    box = Box({"b": np.array([True, False])}) if within else Box()
    kept = [row for row in rows if not within or row["b"] == "p"]
    table = Table((B, A))
    cells = [[row for row in kept if (row["b"], row["a"]) == (b, a)] for b in "pq" for a in "xyz"]
    found, (places, occupied) = engine.aggregate(table, ASKED, box), engine.occupied(table, ASKED, box)
    assert found.keys() == occupied.keys() == set(ASKED)
    assert places.tolist() == [place for place, own in enumerate(cells) if own]
    for one in ASKED:
        for place, own in enumerate(cells):
            assert _at(found[one], place, table) == truth(own, one), one
        for place, cell in enumerate(places):
            assert _at(occupied[one], place, None) == truth(cells[cell], one), one


def _at(column, place, table):
    if isinstance(column, Ragged):
        return column.at(place).tolist()
    flat = column if table is None else column.reshape(table.size, *column.shape[2:])
    return flat[place].tolist()


@pytest.mark.parametrize("make", [Arrays, DuckDB])
def test_of_a_crowded_unit_only_the_rows_that_are_kept_are_seen_by_any_aggregate(make):
    rows = [{"a": "x", "b": "p", "pay": 5, "age": 1, "id": place % 2, "shop": f"s{place}"} for place in range(10)]
    reading = Reading(Schema((A, B)), (A, B), ASKED, "id", Truncate("id", 3))
    found = make([pa.Table.from_pylist(rows)], reading, b"salt").aggregate(Table(()), ASKED, Box())
    assert found[Units("shop")].item() == 6
    assert found[Largest(k=2)].tolist() == [3, 3]
    assert found[Sorted(PAY)].at(0).tolist() == [1] * 6


def test_units_that_no_column_names_cannot_be_told_apart():
    with pytest.raises(DataError, match="no column names them; give \\[hidden\\] id"):
        _ = Reading(Schema((A,)), (A,), (Units(),)).columns
    assert Reading(Schema((A,)), (A,), (Units("shop"),)).columns == ["a", "shop"]


def test_what_the_rows_of_cells_have_is_neither_shown_nor_pickled():
    import pickle

    column = Ragged(np.array([0, 1]), np.array([7_654_321]))
    assert repr(column) == "<Ragged: rows of 1 cells>"
    with pytest.raises(TypeError, match="confidential"):
        pickle.dumps(column)


@pytest.mark.parametrize("wide", [40, 2**20, 2**45])
def test_rows_are_in_the_order_of_sorted_pairs_whether_or_not_they_fit_into_one_number(wide):
    """Against Python's own sorting of tuples; the widest values do not fit beside their cells into 63 bits."""
    rng = np.random.default_rng(wide)
    lengths = np.array([3, 0, 500, 1])
    y, x = (rng.integers(-wide, wide, lengths.sum()) for _ in range(2))
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    runs = Runs(first, lengths, lambda one: y if one.column == "y" else x, None, None)
    of = [Clipped(name, Fraction(-wide), Fraction(wide), Fraction(1)) for name in "yx"]
    found, alone = FOLDS[Influence](runs, Influence(*of)), FOLDS[Sorted](runs, Sorted(of[0]))
    for cell, (start, length) in enumerate(zip(first, lengths, strict=True)):
        pairs = sorted(zip(y[start : start + length].tolist(), x[start : start + length].tolist(), strict=True))
        assert [tuple(one) for one in found.at(cell).tolist()] == pairs
        assert alone.at(cell).tolist() == [one for one, _ in pairs]
