"""A product that holds only two-way tables is never asked for more, however the question is put."""

from dataclasses import replace

import numpy as np
import pytest
from odd_products import TwoWay
from worlds import TABLE, engine_of, manifest_of, subject_of

from sfumato.errors import QueryError
from sfumato.query import Group
from sfumato.release import Cube, Independent
from sfumato.schema import Table

SAMPLED = {"kind": "variance-function", "functions": {"jobs": {"a": 0.0, "b": 600.0}}}
VALUES = np.arange(TABLE.size).reshape(TABLE.shape) * TABLE.possible
PRODUCT = TwoWay(subject_of("jobs"), TABLE, VALUES, Independent(4.0))
ENGINE = engine_of(PRODUCT)
WHY = "Only tables of two variables were published"


def test_two_variables_are_answered():
    assert ENGINE.total({"sex": "f", "age": "old"}).value == VALUES[:, :, 2, 0].sum()
    assert ENGINE.table("age", "sex")["old", "f"].value == VALUES[:, :, 2, 0].sum()
    assert ENGINE.table("age", "sex").shares("row")["old", "f"].value == pytest.approx(
        VALUES[:, :, 2, 0].sum() / VALUES[:, :, 2].sum()
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ENGINE.table(["trade", "age"], "sex"),
        lambda: ENGINE.table("age", "sex", where={"place": "place0"}),
        lambda: ENGINE.table("age", "sex", at={"age": [Group("Mine", ("old",))]}, where={"trade": "trade1"}),
        lambda: ENGINE.total({"sex": "f", "age": "old", "trade": "trade1"}),
        lambda: ENGINE.share({"sex": "f", "age": "old"}, within={"trade": "trade1"}),
        lambda: ENGINE.ratio({"sex": "f"}, {"sex": "m", "age": "old", "trade": "trade1"}),
        lambda: ENGINE.mean("jobs", {"sex": "f", "age": "old", "trade": "trade1"}, per="jobs"),
        lambda: ENGINE.compare({"sex": "f"}, {"sex": "m", "age": "old", "trade": "trade1"}),
    ],
    ids=["table", "filter", "group", "total", "share", "ratio", "mean", "compare"],
)
def test_three_variables_are_refused_with_the_reason(ask):
    with pytest.raises(QueryError, match=WHY):
        ask()


def test_it_is_asked_before_anything_else(monkeypatch):
    for name in ("totals", "total", "variances", "missing"):
        monkeypatch.setattr(TwoWay, name, None)
    with pytest.raises(QueryError, match=WHY):
        ENGINE.table(["trade", "age"], "sex", at={"trade": "no such level"})


def test_a_difference_whose_overlap_would_need_more_is_stated_as_if_there_were_none():
    one, other = {"age": "old", "sex": "f"}, {"trade": "trade1", "place": "place0"}
    assert ENGINE.compare(one, other).se > 0
    engine = engine_of(PRODUCT, manifest=manifest_of(PRODUCT, sampling=SAMPLED))
    sampled = engine.compare(one, other)
    assert sampled.sampling_variance == sum(engine.total(where).sampling_variance for where in (one, other))
    assert "as if no record were in both" in sampled.words()


def test_totals_of_a_sheet_are_those_of_tables_that_it_has():
    from sfumato.query.answer import Placement
    from sfumato.query.layout import shown

    laid = shown(ENGINE.table("age", "sex"), Placement(("age",), ("sex",)), total="Total")
    assert laid.rows[-1] == ("Total",)
    assert [one.value for one in laid.columns[0].figures] == [*VALUES.sum(axis=(0, 1, 3)), VALUES.sum()]


def test_without_a_name_the_first_statistic_that_has_the_variables_answers():
    small = Table(TABLE.attributes[:1])
    name, other = TABLE.names[0], TABLE.names[1]
    first = Cube(replace(subject_of("jobs"), name="few"), small, np.full(small.shape, 7), Independent(2.0))
    second = Cube(replace(subject_of("jobs"), name="many"), TABLE, np.full(TABLE.shape, 3), Independent(2.0))
    engine = engine_of(first, second)
    assert engine.table(name).product is first
    assert engine.table(other).product is second
    assert engine.total({other: TABLE.attributes[1].levels.leaves[0]}).unit == second.subject.unit
    with pytest.raises(QueryError, match="is not a variable of"):
        engine.table(other, of="few")
