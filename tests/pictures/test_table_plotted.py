"""A table of a release as a picture: its cells, its errors, its warnings."""

import json

import numpy as np
import pytest
from tests.pictures.conftest import Drawn
from tests.query.worlds import TABLE, manifest_of, subject_of

from sfumato.errors import QueryError
from sfumato.query import QueryEngine
from sfumato.query.plot import plot_of
from sfumato.release import Cube, Independent, Product, Release, Withheld


def engine(values: int = 7, error: object = None, **rest) -> QueryEngine:
    cube: Product = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, values), error or Independent(2.0))
    return QueryEngine(Release(manifest_of(cube, **rest), "0" * 64, {"jobs": cube}))


@pytest.mark.parametrize("kind", ["dot", "bar", "line"])
def test_every_cell_of_a_table_is_in_its_picture_with_its_own_interval(kind):
    table = engine().table("age", "sex")
    picture = table.plot(kind)
    values = json.loads(picture.to_vega())["data"]["values"]
    assert len(values) == 12
    for value in values:
        estimate = table[value["label"], value["series"]]
        assert value["value"] == estimate.value
        assert [value["low"], value["high"]] == pytest.approx(estimate.interval(0.90))
        assert {"moe90", "se_noise", "se_sampling", "cv", "cells"} <= set(value)
    assert len(picture.told) == 12


def test_the_level_asked_for_is_drawn_and_said():
    table = engine().table("age")
    low = plot_of(table, 0.99).marks[0].low
    assert low == pytest.approx(table["young"].interval(0.99)[0])
    assert "99% interval" in Drawn(table.plot(level=0.99)).texts()


def test_a_census_is_all_noise_and_an_error_that_is_withheld_has_no_share():
    assert {mark.noise_share for mark in plot_of(engine().table("age")).marks} == {1.0}
    silent = plot_of(engine(error=Withheld("the scale is secret")).table("age"))
    assert {(mark.low, mark.noise_share, mark.withheld) for mark in silent.marks} == {
        (None, None, "the scale is secret")
    }


def test_a_release_that_is_not_to_be_published_says_so_across_the_picture_and_in_its_data():
    picture = engine().table("age").plot()
    assert {one.text for one in Drawn(picture).all("text", "banner")} == {"NOT FOR PUBLICATION"}
    assert "a test" in json.loads(picture.to_vega())["usermeta"]["banner"]


def test_shares_are_drawn_in_percent_and_those_refused_are_told():
    shares = engine().table("age", "sex").shares("row")
    assert "33.33% ± 0.59, 90% interval 32.74% to 33.92%" in Drawn(shares.plot()).picture.told[0]
    empty = engine(values=0).table("age", "sex").shares("row")
    assert len(plot_of(empty).left_out) == 12
    with pytest.raises(QueryError, match="no numbers"):
        empty.plot()


def test_an_unknown_kind_of_picture_is_refused_with_the_nearest():
    with pytest.raises(QueryError, match="did you mean 'bar'"):
        engine().table("age").plot("bars")
