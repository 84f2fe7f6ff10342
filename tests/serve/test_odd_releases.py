"""Releases unlike the common one: numbers that may not be summed, errors withheld, impossible cells, broken steps."""

import csv
import io
import re
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.query.downloads.jsonstat import metric_name
from sfumato.release import Cube, Independent, Subject, open_release, seal, write_levels, write_products

SIZES = sf.Attribute("size", sf.Levels.of(["s", {"code": "m", "label": "medium"}, "l"]), label="Size class")
METRIC = sf.Attribute(
    "metric", sf.Levels.of([{"code": "x"}, {"code": "x1", "parent": "x"}, {"code": "x2", "parent": "x"}])
)


@pytest.fixture
def made(release, tmp_path, browse):
    """A release of one cube, otherwise like the common one, and its application."""

    def make(sampling=None, uncertainty=None, impossible=(), promise=None, **subject):
        table = sf.Table((SIZES, METRIC), impossible)
        values = np.where(table.possible, np.arange(-2, 4).reshape(table.shape), 0)
        about = {
            "name": "odd",
            "statistic": "count",
            "title": "Number of SOC firms",
            "unit": "firms",
            "step": Fraction(1),
        }
        cube = Cube(Subject(**{**about, **subject}), table, values, uncertainty or Independent(0.25))
        folder = tmp_path / "odd"
        folder.mkdir()
        lines = {"products": write_products(folder, [cube]), "attributes": write_levels(folder, [SIZES, METRIC])}
        manifest = open_release(release).manifest
        said = {"name": "odd one/two", "sampling": sampling or manifest.sampling, "files": {}}
        said["promise"] = manifest.promise.model_copy(update=promise or {})
        seal(folder, manifest.model_copy(update={**said, **lines}))
        return browse([folder])

    return make


DATA = "/api/v2/tables/odd-one-two~odd/data"


def test_numbers_that_may_not_be_summed_are_not(made):
    page = made(additive=False)
    said = page.get(f"{DATA}?valueCodes[size]=*").json()["detail"]
    assert "Number of SOC firms may not be summed over metric" in said
    assert page.get(f"{DATA}?valueCodes[size]=*&codelist[metric]=all").status_code == 400
    whole = page.get(f"{DATA}?valueCodes[size]=*&codelist[metric]=leaves").json()
    assert whole["value"][::5] == [-2, -1, 0, 1, 2, 3]
    assert page.get(f"{DATA}?valueCodes[size]=s,m&sum[metric]=x2").json()["value"][::5] == [-1, 1]
    assert whole["dimension"]["size"]["extension"]["elimination"] is False
    assert page.get("/").status_code == 200


def test_a_page_of_numbers_that_may_not_be_summed_offers_only_what_was_measured(made):
    page = made(additive=False)
    for address in ("/odd-one-two~odd", "/odd-one-two~odd?rows=size&cols=metric", "/odd-one-two~odd?rows=metric"):
        shown = page.get(address)
        assert (shown.status_code, "<tfoot>" in shown.text) == (200, False)
        assert 'name="share"' not in shown.text
        assert 'value="level0"' not in shown.text
        assert 'name="sum[metric]" value="x"' not in shown.text
        assert "No. Each number is of its cell alone" in shown.text
    held = page.get("/odd-one-two~odd?rows=metric").text
    assert "Size class: <b>s</b>" in held
    assert 'name="sum[size]" value="s" checked' in held
    assert "pick-name" not in page.get("/odd-one-two~odd/pick?pick=valueCodes[size]").text


@pytest.mark.parametrize(
    "asked",
    [
        "rows=size&cols=metric&codelist[metric]=all",
        "rows=size&cols=metric&valueCodes[metric]=x",
        "rows=size&sum[metric]=x1,x2",
        "rows=size&cols=metric&group[size]=Both:s,m",
        "rows=size&cols=metric&share=row",
    ],
)
def test_a_page_refuses_in_words_to_sum_what_may_not_be_summed(made, asked):
    shown = made(additive=False).get(f"/odd-one-two~odd?{asked}")
    assert (shown.status_code, "may not be summed" in shown.text) == (400, True)
    assert "<td" not in shown.text


def test_the_same_questions_are_answered_where_numbers_may_be_summed(made):
    page = made()
    for asked in ("rows=size&cols=metric&codelist[metric]=all", "rows=size&cols=metric&group[size]=Both:s,m"):
        assert page.get(f"/odd-one-two~odd?{asked}").status_code == 200


def test_an_error_that_is_withheld_says_why(made):
    page = made(uncertainty=sf.Withheld("its scale is the largest employer"))
    dataset = page.get(f"{DATA}?valueCodes[size]=*").json()
    assert dataset["value"][:5] == [-3, None, None, 0.0, None]
    assert [dataset["status"][str(place)] for place in (0, 1, 2, 4)] == ["-", "withheld", "withheld", "withheld"]
    assert dataset["note"] == ["An error is withheld: its scale is the largest employer"]
    shown = page.get("/odd-one-two~odd?error=interval95").text
    assert "An error is withheld: its scale is the largest employer" in shown
    assert "± withheld" in shown
    lines = list(csv.DictReader(io.StringIO(page.get(f"{DATA}?valueCodes[size]=*&outputFormat=csv").text)))
    assert {(one["moe90"], one["se_noise"], one["cv"]) for one in lines} == {("", "", "")}
    assert {one["reason"] for one in lines} == {"An error is withheld: its scale is the largest employer"}


def test_sampling_error_that_is_withheld_says_why(made):
    page = made(sampling={"kind": "withheld", "reason": "no variance was published"})
    dataset = page.get(DATA).json()
    assert dataset["value"][2] is not None
    assert dataset["value"][3] is None
    assert "no variance was published" in page.get("/odd-one-two~odd").text
    assert "as everybody was counted" not in page.get("/odd-one-two~odd").text


def test_a_combination_that_cannot_be_is_not_a_number(made):
    page = made(impossible=(sf.Rule.of({"size": "s", "metric": "x1"}),))
    shown = page.get("/odd-one-two~odd?rows=size&cols=metric&codelist[metric]=leaves").text
    assert shown.count('title="no such combination"') == 1


def test_an_infinite_cv_is_no_number(made):
    page = made()
    dataset = page.get(f"{DATA}?valueCodes[size]=m&valueCodes[ContentsCode]=*&sum[metric]=x1").json()
    assert (dataset["value"][0], dataset["value"][4], dataset["status"]["4"]) == (0, None, "infinite")
    assert "CV over 999%" in page.get("/odd-one-two~odd?rows=size&sum[metric]=x1&error=cv").text


def test_a_variable_may_be_called_metric(made):
    page = made()
    dataset = page.get(f"{DATA}?valueCodes[metric]=x1,x2").json()
    assert dataset["id"] == ["metric", "period", "ContentsCode"]
    assert dataset["role"] == {"metric": ["ContentsCode"], "time": ["period"]}
    assert metric_name(["ContentsCode", "sex"]) == "ContentsCode_"


def test_steps_need_not_be_whole(made):
    values = made(step=Fraction(1, 4)).get(f"{DATA}?valueCodes[size]=*").json()["value"][::5]
    assert values == [-0.75, 0.25, 1.25]


def test_the_tables_own_universe_may_be_repeated(made):
    page = made(universe={"sector": ("private", "public")})
    assert page.get(f"{DATA}?sum[sector]=public,private").json()["value"] == page.get(DATA).json()["value"]
    assert page.get(f"{DATA}?sum[sector]=public").status_code == 400
    assert "sector: <b>private, public</b>" in page.get("/odd-one-two~odd").text


def test_a_release_without_a_guarantee_says_so_everywhere(made):
    page = made(
        promise={"loss": {"unbounded": "x"}, "loss_words": "unbounded: cells were suppressed", "words": "Nothing."}
    )
    for address in ("/", "/odd-one-two~odd"):
        assert "Not formally private" in page.get(address).text
    assert "Not formally private: unbounded" in page.get(DATA).json()["note"][0]


def test_titles_keep_abbreviations(made):
    assert "Number of SOC firms by size class and metric" in re.sub("<[^>]*>", "", made().get("/").text)
