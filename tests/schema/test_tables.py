"""Tables and boxes: cells counted one by one agree with the masks, and what cannot fit is refused before it is made."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.schema import LARGEST, Attribute, Box, Grid, Levels, Rule, Schema, Table

NAMES = ("a", "b", "c")


@st.composite
def attributes(draw):
    """One to three attributes of two groups of one to three leaves."""
    made = []
    for name in NAMES[: draw(st.integers(1, 3))]:
        sizes = [draw(st.integers(1, 3)) for _ in range(2)]
        leaves = [
            {"code": f"{name}{g}{i}", "parent": f"{name}{g}"} for g, size in enumerate(sizes) for i in range(size)
        ]
        made.append(Attribute(name, Levels.of([{"code": f"{name}0"}, {"code": f"{name}1"}, *leaves])))
    return tuple(made)


@st.composite
def wheres(draw, made, least=0):
    """Some levels, inner or lowest, of some of the attributes."""
    chosen = draw(st.lists(st.sampled_from(made), unique_by=lambda one: one.name, min_size=least))
    return {one.name: draw(st.lists(st.sampled_from(one.levels.codes), min_size=1, max_size=3)) for one in chosen}


def holds(made, where, cell):
    """Whether the record with these leaves lies in all the named levels, told by the codes alone."""
    for one, leaf in zip(made, cell, strict=True):
        if one.name in where and not any(leaf == code or leaf.startswith(code) for code in where[one.name]):
            return False
    return True


def cells(made):
    return list(product(*(one.levels.leaves for one in made)))


@st.composite
def tables(draw):
    made = draw(attributes())
    rules = draw(st.lists(wheres(made, least=1), max_size=3))
    return made, rules, Table(made, tuple(Rule.of(rule) for rule in rules))


@settings(deadline=None)
@given(tables())
def test_possible_cells_are_those_that_no_rule_forbids(case):
    made, rules, table = case
    expected = [not any(holds(made, rule, cell) for rule in rules) for cell in cells(made)]
    assert table.possible.ravel().tolist() == expected
    assert table.size == len(expected)


@settings(deadline=None)
@given(tables(), st.data())
def test_a_box_counts_its_possible_cells(case, data):
    made, rules, table = case
    where = data.draw(wheres(made))
    expected = sum(
        holds(made, where, cell) and not any(holds(made, rule, cell) for rule in rules) for cell in cells(made)
    )
    assert table.count(table.box(where)) == expected


@settings(deadline=None)
@given(attributes(), st.data())
def test_boxes_meet_where_their_records_do(made, data):
    one, other = data.draw(wheres(made)), data.draw(wheres(made))
    table = Table(made)
    both = [holds(made, one, cell) and holds(made, other, cell) for cell in cells(made)]
    first, second = table.box(one), table.box(other)
    assert table.count(first.within(second)) == table.count(second.within(first)) == sum(both)
    assert first.disjoint(second) is second.disjoint(first) is not any(both)


def test_a_box_of_no_levels_holds_nothing_and_one_of_no_attributes_holds_all():
    table = Table((Attribute("a", Levels.of("xyz")),))
    assert table.count(table.box({"a": []})) == 0
    assert table.count(Box()) == 3
    assert not Box().disjoint(Box())


def test_a_table_by_nothing_is_one_cell():
    table = Table(())
    assert (table.size, table.shape, table.count(Box())) == (1, (), 1)
    assert table.possible.all()


def test_a_margin_keeps_the_order_asked_for():
    made = (Attribute("a", Levels.of("xy")), Attribute("b", Levels.of("pqr")))
    assert Table(made).margin(["b", "a"]).shape == (3, 2)
    with pytest.raises(KeyError, match="'bb' is not an attribute of this table; did you mean 'b'"):
        Table(made).margin(["bb"])


def test_a_grid_lays_out_boxes_with_the_last_axis_fastest():
    made = (Attribute("a", Levels.of("xy")), Attribute("b", Levels.of("pqr")))
    table = Table(made)
    grid = Grid((("a", np.eye(2, dtype=bool)), ("b", np.array([[1, 1, 0], [0, 0, 1]], dtype=bool))))
    assert grid.shape == (2, 2)
    assert [table.count(box) for box in grid.boxes()] == [2, 1, 2, 1]
    within = Grid(grid.axes, table.box({"b": ["p"]}))
    assert [table.count(box) for box in within.boxes()] == [1, 0, 1, 0]


def test_a_table_of_a_trillion_cells_is_refused_at_once_and_by_name():
    made = tuple(Attribute(name, Levels.of(range(10_000))) for name in ("block", "industry", "occupation"))
    table = Schema(made, impossible=(Rule.of({"block": "1", "industry": "2"}),)).table(
        ["block", "industry", "occupation"]
    )
    tracemalloc.start()
    with pytest.raises(PlanError) as refused:
        table.refuse_if_too_large()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
    for said in (
        "block (10,000)",
        "industry (10,000)",
        "occupation (10,000)",
        "1,000,000,000,000 cells",
        f"{LARGEST:,}",
    ):
        assert said in str(refused.value)


def test_the_largest_table_that_fits_is_not_refused():
    fits = Table((Attribute("a", Levels.of(range(20_000))), Attribute("b", Levels.of(range(LARGEST // 20_000)))))
    fits.refuse_if_too_large()
    over = Table((Attribute("a", Levels.of(range(20_000))), Attribute("b", Levels.of(range(LARGEST // 20_000 + 1)))))
    with pytest.raises(PlanError, match="200,020,000 cells"):
        over.refuse_if_too_large()
