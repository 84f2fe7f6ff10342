"""Of areas that are all alike a map has one shade, in nine releases of ten or more."""

import json
import re

import pytest

import sfumato
from sfumato import Plan
from sfumato.confidential import Microdata, Options, run
from sfumato.pictures.classes import classes_of
from sfumato.query.map import told_jointly
from sfumato.query.plot import plot_of
from sfumato.query.report import report

AREAS = 40
PLAN = """
name = "alike"
title = "Areas that are all alike"
[data]
unit = "person"
[attributes.area]
levels = [{areas}]
[attributes.work]
levels = ["no", "yes"]
[geography.area]
file = "areas.geojson"
id = "code"
projection = "planar"
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "1"
[[measure]]
name = "people"
of = "count"
by = ["area", "work"]
with = {{ mechanism = "geometric", epsilon = "1" }}
"""


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """A release of 100 people in each area, 40 of whom do not work, for any seed."""
    folder = tmp_path_factory.mktemp("alike")
    codes = [f"a{place:02}" for place in range(AREAS)]
    rings = [[[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]] for x in range(AREAS)]
    shapes = [
        {"type": "Feature", "properties": {"code": code}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
        for code, ring in zip(codes, rings, strict=True)
    ]
    (folder / "areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": shapes}))
    (folder / "plan.toml").write_text(PLAN.format(areas=", ".join(f'"{code}"' for code in codes)))
    rows = [f"{code},{'no' if one < 40 else 'yes'}" for code in codes for one in range(100)]
    (folder / "people.csv").write_text("area,work\n" + "\n".join(rows) + "\n")
    plan = Plan.read(folder / "plan.toml")

    def released(seed):
        data = Microdata.open([str(folder / "people.csv")], plan.schema, "")
        run(plan, data, None, folder / f"{seed}", Options(seed))
        return sfumato.open(folder / f"{seed}")

    return released


def shares(release):
    return release.table("area", "work").shares("row")


def test_every_joint_interval_is_that_of_its_number_at_a_level_shared_by_all(alike):
    table = shares(alike(1))
    marks = told_jointly(table, plot_of(table, only="no").marks, "no")
    assert len(marks) == AREAS
    for place, mark in enumerate(marks):
        assert mark.joint == pytest.approx(table.figure(2 * place).interval(1 - 0.10 / AREAS), rel=1e-12)
        assert mark.joint[0] < mark.low < mark.high < mark.joint[1]


def test_a_report_has_its_map_on_paper_with_every_number_where_areas_are_not_too_many(alike, monkeypatch):
    engine = alike(2)
    page = report(engine, "work", "no")
    told = re.findall(r'<p class="paper">(.*?)</p>', page)
    assert len(told) == 1
    assert re.findall(r"\ba\d\d(?=: )", told[0]) == [f"a{place:02}" for place in range(AREAS)]
    monkeypatch.setattr("sfumato.query.report.MOST_ON_PAPER", AREAS - 1)
    assert '<p class="paper">' not in report(engine, "work", "no")


@pytest.mark.slow
def test_of_areas_that_are_all_alike_a_map_seldom_parts_any(alike):
    """At most one release in ten: over 20 of 100 is a false alarm in 1 of 1,000. One by one, most part some."""
    tables = [shares(alike(seed)) for seed in range(100, 200)]
    plots = [told_jointly(table, plot_of(table, only="no").marks, "no") for table in tables]
    jointly, alone = (
        sum(len(classes_of([ends(mark) for mark in marks])) > 1 for marks in plots)
        for ends in (lambda mark: mark.joint_ends, lambda mark: mark.ends)
    )
    assert jointly <= 20
    assert alone >= 60, "shades by intervals that hold one by one would be found here"
