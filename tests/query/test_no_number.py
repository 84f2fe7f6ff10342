"""A cell that holds no number says why wherever it is seen, and nothing counts it as 0."""

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest
from odd_products import FEW, UNFIT, Holey
from worlds import engine_of, manifest_of, subject_of

from sfumato.errors import QueryError
from sfumato.query import Estimate
from sfumato.query.answer import Answer, Placement
from sfumato.query.downloads.formats import BY_NAME
from sfumato.query.plot import plot_of
from sfumato.query.series_table import ReleasePeriod, SeriesTable
from sfumato.release import Cube, Independent, NoNumber
from sfumato.schema import Attribute, Levels, Rule, Table

TABLE = Table(
    (Attribute("place", Levels.of(["N", "S", "E"]), label="Place"), Attribute("sex", Levels.of("fm"), label="Sex"))
)
VALUES = np.array([[900, 500], [777, 400], [600, 300]])
NONE = "there is no such combination"
HOLES = np.array([[0, 0], [1, 0], [0, 2]])


def engine(step=1, **said):
    cube = Holey(subject_of("jobs", step=step), TABLE, VALUES, Independent(4.0), HOLES)
    return engine_of(cube, manifest=manifest_of(cube, **said))


@pytest.fixture
def table():
    return engine().table("place", "sex")


def test_a_figure_is_an_estimate_or_the_reason(table):
    figures = dict(table.items())
    assert figures["S", "f"] == FEW
    assert figures["E", "m"] == UNFIT
    assert isinstance(figures["N", "f"], Estimate)
    with pytest.raises(QueryError, match="fewer than 3 firms"):
        table["S", "f"]
    assert table.missing == (FEW, UNFIT)


def test_a_total_over_a_hole_is_no_number_and_never_counts_it_as_0():
    asked = engine()
    with pytest.raises(QueryError, match="fewer than 3 firms"):
        asked.total({"place": "S"})
    with pytest.raises(QueryError, match="no solution"):
        asked.total()
    assert asked.total({"place": "N"}).value == 1400
    assert asked.table("place").figure(1) == FEW


def test_the_text_marks_it_and_explains_the_mark(table):
    lines = str(table).splitlines()
    assert next(line for line in lines if line.startswith("S")).split()[1] == "s"
    assert "s  fewer than 3 firms stand behind it" in lines
    assert "⊥  the regression has no solution" in lines
    assert "777" not in str(table)


def test_html_says_the_reason_to_who_hears_it(table):
    shown = table._repr_html_()
    assert 'aria-label="fewer than 3 firms stand behind it"' in shown
    assert "<p>⊥ the regression has no solution</p>" in shown


@pytest.mark.parametrize("step", [1, 5])
def test_arrays_hold_nothing_there(step):
    columns = engine(step).table("place", "sex").columns()
    assert columns.empty.tolist() == [False, False, True, False, False, True]
    assert columns.estimate[2] is None
    for name in ("moe90", "se_noise", "se_sampling", "cv"):
        assert np.isnan(getattr(columns, name))[columns.empty].all(), name
        assert not np.isnan(getattr(columns, name))[~columns.empty].any(), name


def test_records_and_frames_have_its_status_and_reason(table):
    record = table.records()[2]
    assert (record["estimate"], record["moe90"], record["status"]) == (None, None, "s")
    assert record["reason"] == FEW.reason
    assert table.to_arrow().to_pylist()[2]["estimate"] is None
    assert table.to_arrow()["status"].to_pylist() == ["", "", "s", "", "", "⊥"]
    assert "status" not in engine().table("sex", where={"place": "N"}).records()[0]


def taken(table, form):
    return BY_NAME[form].write(Answer(table, Placement(("place",), ("sex",))))


def test_csv_and_sdmx_leave_the_value_empty(table):
    line = list(csv.DictReader(io.StringIO(taken(table, "csv").decode())))[2]
    assert (line["estimate"], line["moe90"], line["se_noise"], line["status"]) == ("", "", "", "s")
    assert line["reason"] == FEW.reason
    lines = list(csv.DictReader(io.StringIO(taken(table, "sdmx-csv").decode())))
    assert [one["OBS_STATUS"] for one in lines] == ["A", "A", "Q", "A", "A", "M"]
    assert (lines[2]["OBS_VALUE"], lines[2]["REASON"]) == ("", FEW.reason)


def test_what_cannot_exist_is_said_in_every_file_as_it_is_on_the_page():
    ruled = Table(TABLE.attributes, (Rule.of({"place": "S", "sex": "f"}),))
    cube = Cube(subject_of("jobs"), ruled, np.where(ruled.possible, VALUES, 0), Independent(4.0))
    table = engine_of(cube).table("place", "sex")
    assert "–" in str(table)
    line = list(csv.DictReader(io.StringIO(taken(table, "csv").decode())))[2]
    said = {name: line[name] for name in ("estimate", "moe90", "cv", "grade", "cells", "status", "reason")}
    assert said == {"estimate": "", "moe90": "", "cv": "", "grade": "-", "cells": "0", "status": "–", "reason": NONE}
    sdmx = list(csv.DictReader(io.StringIO(taken(table, "sdmx-csv").decode())))[2]
    assert [sdmx[name] for name in ("OBS_VALUE", "MOE90", "OBS_STATUS", "REASON")] == ["", "", "M", NONE]
    stat = json.loads(taken(table, "json-stat2"))
    many = len(stat["dimension"]["ContentsCode"]["category"]["index"])
    assert stat["value"][2 * many : 3 * many] == [None] * many
    assert stat["status"][str(2 * many)] == "–"
    sheets = openpyxl.load_workbook(io.BytesIO(taken(table, "xlsx")))
    assert any("–" in row for row in sheets.worksheets[0].iter_rows(values_only=True))
    assert NONE in stat["extension"]["status"]["label"]["–"]
    assert [one.said for one in plot_of(table).left_out] == ["S, f: there is no such combination"]
    assert table.columns().estimate.tolist()[2] == 0, "sums over periods count it as the 0 that it is"


def test_json_stat_has_null_with_a_status_and_its_meaning(table):
    said = json.loads(taken(table, "json-stat2"))
    assert said["value"][10:15] == [None] * 5
    assert [said["status"][str(place)] for place in range(10, 15)] == ["s"] * 5
    assert said["extension"]["status"]["label"]["s"] == FEW.reason
    assert UNFIT.reason in said["note"]


def test_sheets_and_parquet_too(table):
    book = openpyxl.load_workbook(io.BytesIO(taken(table, "xlsx")))
    rows = list(book["Table"].iter_rows(values_only=True))
    assert next(row for row in rows if row[0] == "S")[4:7] == (None, None, "s")
    assert any("s: fewer than 3 firms stand behind it" in row for row in rows)
    total = next(row for row in rows if row[0] == "Total")
    assert total[1:10] == (None, None, "⊥", None, None, "s", None, None, "⊥")
    record = pq.read_table(io.BytesIO(taken(table, "parquet"))).to_pylist()[2]
    assert (record["estimate"], record["cv"], record["status"], record["reason"]) == (None, None, "s", FEW.reason)


def test_a_share_without_its_part_or_its_whole_is_none(table):
    shares = dict(table.shares("row").items())
    assert shares["N", "f"].value == pytest.approx(900 / 1400)
    assert (shares["S", "f"], shares["S", "m"], shares["E", "f"]) == (FEW, FEW, UNFIT)
    columns = table.shares("row").columns()
    assert [columns.statuses.at(flat) for flat in range(6)] == [None, None, FEW, FEW, UNFIT, UNFIT]
    assert np.isnan(columns.estimate).tolist() == [False, False, True, True, True, True]
    assert set(table.shares("whole").columns().kinds) == {FEW, UNFIT}


def test_differences_refuse_with_the_reason_and_ranks_let_it_stand_anywhere(table):
    """900 is surely more than 600 at a variance of 4 each; what is not told may be first, second or last."""
    assert table.compare(("N", "f"), ("N", "m")).value == 400
    with pytest.raises(QueryError, match="fewer than 3 firms"):
        table.compare(("N", "f"), ("S", "f"))
    assert table.ranks("f") == {"N": (1, 2), "E": (2, 3)}
    everywhere = replace(table.product, holes=np.ones((3, 2), dtype=int))
    with pytest.raises(QueryError, match="no row holds a number: fewer than 3"):
        engine_of(everywhere, manifest=manifest_of(everywhere)).table("place", "sex").ranks("f")


def test_rows_without_a_number_stand_last_however_they_are_sorted(table):
    falling, rising = (table.sorted("f", rising=rising) for rising in (False, True))
    assert [one.code for one in falling] == ["N", "E", "S"]
    assert [one.code for one in rising] == ["E", "N", "S"]
    assert math.isnan(falling[-1].value)
    assert [one.ranks for one in falling] == [(1, 2), (2, 3), None]


def test_the_detail_of_a_hole_is_its_reason(table):
    detail = table.detail(("S", "f"))
    assert detail.estimate == FEW
    assert repr(detail) == "S, f\ns\nThere is no number here: fewer than 3 firms stand behind it."


def test_a_picture_draws_nothing_there_and_says_so(table):
    plot = plot_of(table)
    assert len(plot.marks) == 4
    assert [(one.code, one.series) for one in plot.left_out] == [("S", "f"), ("E", "m")]
    assert "2 not drawn. S, f: fewer than 3 firms" in " ".join(table.plot("dot").to_svg().split())


def test_a_year_needs_all_of_its_periods():
    whole = engine_of(Holey(subject_of("jobs"), TABLE, VALUES, Independent(4.0), np.zeros((3, 2), dtype=int)))
    for together, scale in (("sum", 1), ("mean", 2)):
        pair = engine().table("place", "sex"), whole.table("place", "sex")
        table = SeriesTable(pair, [ReleasePeriod("2026-Q1"), ReleasePeriod("2026-Q2")], together)
        figures = dict(table.items())
        (year,) = table.axes[-1].codes[2:]
        assert figures["S", "f", year] == FEW
        assert figures["S", "f", "2026-Q2"].value == 777
        assert figures["N", "f", year].value == 2 * 900 / scale
        assert table.columns().status("code")[6:9] == ["s", "", "s"]
        assert table.records()[8]["estimate"] is None
        assert table.to_arrow().num_rows == 18


def test_a_withheld_error_and_a_missing_number_are_two_things():
    table = engine(sampling={"kind": "withheld", "reason": "the design is not public"}).table("place", "sex")
    assert table.reasons() == ("the design is not public",)
    assert table.records()[0]["reason"].endswith("no sampling error is stated: the design is not public")
    assert table.records()[2]["reason"] == FEW.reason
    assert isinstance(table.figure(2), NoNumber)
