"""Means: sums over counts with the error of both, refused where the count may be 0; the same on page and by program."""

import csv
import io
import math
import re
from html import unescape

import numpy as np
import openpyxl
import pytest

from sfumato.errors import QueryError
from sfumato.query import Estimate, Means
from sfumato.query.finder import find
from sfumato.release import NoNumber


@pytest.fixture(scope="module")
def means(engine):
    return engine.means("pay", "sex", "age", per="jobs")


def test_a_table_of_means_has_the_mean_of_every_cell(engine, means):
    for codes, figure in means.items():
        one = engine.mean("pay", dict(zip(("sex", "age"), codes, strict=True)), "jobs")
        assert isinstance(figure, Estimate)
        assert (figure.value, figure.noise_variance) == (one.value, pytest.approx(one.noise_variance))
        assert figure.interval(0.9) == one.interval(0.9)
        assert figure.unit == "dollars per job"


def test_arrays_say_what_cells_say(means):
    columns = means.columns()
    figures = [means.figure(flat) for flat in range(means.size)]
    assert columns.estimate.tolist() == pytest.approx([one.value for one in figures])
    assert columns.moe(0.9).tolist() == pytest.approx([one.moe(0.9) for one in figures])
    assert columns.se.tolist() == pytest.approx([float(one.se) for one in figures])


def test_both_ends_of_an_interval_solve_the_equation_of_fieller(engine, means):
    """At an end R of the interval, (x - R y)² is as many variances of x - R y as at the other: z² (v_x + R² v_y)."""
    figure = means.figure(0)
    where = dict(zip(("sex", "age"), (axis.codes[0] for axis in means.axes), strict=True))
    over, under = engine.total(where, "pay"), engine.total(where, "jobs")
    reached = [
        abs(over.value - end * under.value) / math.sqrt(over.noise_variance + end**2 * under.noise_variance)
        for end in figure.interval(0.9)
    ]
    assert reached[0] == pytest.approx(reached[1], rel=1e-6)
    assert 1.64 < reached[0] < 1.8  # the normal quantile, or a little more where few cells are summed


def test_a_mean_over_a_count_that_may_be_0_is_no_number_and_says_so(engine):
    fine = engine.means("pay", ["place", "trade", "hours"], "age", {"sex": "female"}, "jobs")
    figures = [fine.figure(flat) for flat in range(fine.size)]
    refused = [flat for flat, one in enumerate(figures) if isinstance(one, NoNumber)]
    assert refused
    assert all(re.search("within its own noise of 0|came out below 0", figures[one].reason) for one in refused)
    assert np.flatnonzero(np.isnan(fine.columns().estimate.astype(float))).tolist() == refused


def test_the_mean_of_all_is_sums_divided_and_not_the_mean_of_means(engine, means):
    whole = means.margin([])
    assert isinstance(whole, Means)
    assert whole.figure(0).value == engine.total(of="pay").value / engine.total(of="jobs").value
    with pytest.raises(QueryError, match="not parts of a whole"):
        means.shares()
    with pytest.raises(QueryError, match="per itself"):
        engine.means("pay", "sex", per="pay")


def test_the_page_shows_means_with_all_together_and_says_what_a_mean_is_made_of(page, means):
    shown = unescape(page.get("/jobs-survey~pay?rows=sex&cols=age&per=jobs&cell=female|").text)
    assert " per job by sex and age" in re.search(r"<h1>([^<]*)", shown)[1].lower()
    assert "All together" in shown
    assert ">Total<" not in shown
    assert "dollars over" in shown.partition('id="detail"')[2]
    assert "Means do not add up" in shown
    assert 'name="share"' not in shown
    heard = re.findall(r'aria-label="[\d,.]+ dollars per job, ', shown)
    assert len(heard) == means.size + sum(means.shape) + 1  # the cells, both margins and all together


@pytest.mark.parametrize("view", ["chart", "chart&chart=bar"])
def test_means_are_drawn(page, view):
    shown = unescape(page.get(f"/jobs-survey~pay?rows=sex&per=jobs&view={view}").text)
    assert ">dollars per job<" in shown.partition("<svg")[2]


def test_means_by_program_are_those_of_the_table(page, engine):
    asked = "/api/v2/tables/jobs-survey~pay/data?valueCodes[sex]=*&per=jobs"
    given = page.get(asked).json()
    metrics = given["dimension"]["ContentsCode"]["category"]["index"]
    order = metrics if isinstance(metrics, list) else sorted(metrics, key=metrics.get)
    table = np.array(given["value"]).reshape(given["size"])
    means = engine.means("pay", "sex", per="jobs")
    axis = given["id"].index("ContentsCode")
    values = np.take(table, order.index("estimate"), axis).ravel()
    assert values.tolist() == pytest.approx([one.value for _, one in means.items()])
    assert "per job" in str(given)


def test_means_have_one_name_on_the_page_in_files_and_in_notebooks(page, engine, means):
    name, title = "total pay in dollars per job", "total pay in dollars per job by sex and age"
    data = "/api/v2/tables/jobs-survey~pay/data?valueCodes[sex]=*&valueCodes[age]=*&per=jobs"
    shown = unescape(page.get("/jobs-survey~pay?rows=sex&cols=age&per=jobs").text)
    assert re.search(r"<h1[^>]*>([^<]*)", shown)[1].lower().startswith(title)
    dataset = page.get(data).json()
    assert dataset["label"].lower() == title
    assert dataset["extension"]["px"]["contents"].lower() == name
    record = next(csv.DictReader(io.StringIO(page.get(f"{data}&outputFormat=csv").text)))
    assert record["statistic"].lower() == name
    book = openpyxl.load_workbook(io.BytesIO(page.get(f"{data}&outputFormat=xlsx").content))
    assert book.worksheets[0]["A1"].value.lower() == title
    assert means.title.lower() == title
    heads = [str(engine.means("pay", "sex", per="jobs")).splitlines()[2], means._repr_html_()]
    assert all(name in one.lower() for one in heads)
    assert ", per" not in str(means).lower()


@pytest.mark.parametrize("more", ["share=row", "change=last"])
def test_means_have_neither_percentages_nor_changes(page, more):
    reply = page.get(f"/api/v2/tables/jobs-survey~pay/data?valueCodes[sex]=*&per=jobs&{more}")
    assert reply.status_code == 400
    assert "one of the two" in reply.json()["detail"]
    assert page.get("/jobs-survey~pay?rows=sex&per=nothing").status_code == 400


def test_percentages_that_cannot_be_beside_means_are_left_out_and_the_page_says_so(page):
    shown = unescape(page.get("/jobs-survey~pay?rows=sex&per=jobs&share=row").text)
    assert "Percentages of the sums</a>" in shown
    assert "Means are not parts of a whole" in shown


@pytest.mark.parametrize("asked", ["mean pay by sex", "average pay sex", "durchschnittliche pay sex"])
def test_words_for_a_mean_find_it_before_the_sum(engine, asked):
    (mean, *others) = find([engine], asked)
    assert (mean.table.name, mean.per, mean.variable, mean.unit) == ("pay", "jobs", "sex", "dollars per job")
    assert "" in {one.per for one in others if one.table.name == "pay"}, "the sum is found too"
    (one, *_) = find([engine], "mean pay female")
    assert one.figure == engine.mean("pay", {"sex": "female"}, "jobs")
    assert not any(one.per for one in find([engine], "pay sex")), "who asks for no mean gets none"
    assert [(one.table.name, one.per) for one in find([engine], "average")] == [("pay", "jobs")], "all that there are"
    mistyped = find([engine], "mean feamle pay")
    assert mistyped.mistyped
    assert (mistyped.finds[0].per, mistyped.finds[0].codes) == ("jobs", (("sex", "female"),))
