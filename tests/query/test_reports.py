"""Reports of universities: one page each from a release alone, with means that are those of the release."""

import re
import shutil

import pyarrow as pa
import pytest
from tests.cli.test_cli import sfumato

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import DataError, QueryError
from sfumato.plan import Plan
from sfumato.query.report import report
from sfumato.studies import mose, umetrics
from sfumato.synth.umetrics import LONGEST, write_umetrics
from sfumato.synth.umetrics import umetrics as people_of


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("umetrics")
    plan = Plan.read(write_umetrics(folder, rows=6_000))
    data = Microdata.open(folder / "umetrics.parquet", plan.schema)
    run(plan, data, None, folder / "release", Options(rehearsal=1))
    return folder / "release"


def test_every_university_has_a_page_of_its_own_that_needs_nothing_else(released, tmp_path):
    sfumato("report", released, "--by", "university", "--out", tmp_path / "pages")
    pages = sorted((tmp_path / "pages").iterdir())
    assert [one.name for one in pages] == ["U1.html", "U2.html", "U3.html"]
    text = pages[0].read_text(encoding="utf-8")
    assert "<h1>Harbour University</h1>" in text
    assert text.count("<svg") == 2
    assert not re.search(r'(src|href)="(?!#)', text), "nothing is loaded from anywhere"
    assert "Whether any one person is in the data at all, with its rows, at most 10." in text
    assert "Not for publication" in text


def test_means_are_totals_over_counts_of_the_same_release(released):
    engine = sf.open(released)
    mean = engine.mean("earnings", {"university": "U1", "title": "staff", "years": "1"}, "employed")
    assert 45_000 < mean.value < 70_000
    shown = report(engine, "university", "U1")
    assert f"{mean.value:,.0f}" in shown


def test_a_report_by_nothing_of_the_release_is_refused_with_the_nearest(released, tmp_path):
    wrong = sfumato("report", released, "--by", "universty", "--out", tmp_path, good=False)
    assert "did you mean 'university'?" in wrong.stderr
    with pytest.raises(QueryError, match="no variable of this release"):
        report(sf.open(released), "college", "U1")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no Chromium to print with")
def test_a_page_is_printed_as_pdf_where_there_is_a_browser(released, tmp_path):
    sfumato("report", released, "--by", "university", "--out", tmp_path, "--only", "U3", "--pdf")
    assert (tmp_path / "U3.pdf").read_bytes().startswith(b"%PDF")


def test_a_second_row_of_a_person_in_a_year_is_found_before_anything_is_charged(tmp_path):
    plan = Plan.read(write_umetrics(tmp_path, rows=50))
    rows = people_of(50)
    twice = pa.concat_tables([rows, rows.slice(0, 1)])
    with pytest.raises(DataError, match="record_id"):
        run(plan, Microdata.open(twice, plan.schema), None, tmp_path / "release", Options(rehearsal=1))


def test_the_price_is_the_sum_over_years_and_statistics():
    plan, released, true = umetrics.rehearsed(2_000)
    assert plan.price().total == sf.Approximate(10)
    assert LONGEST == plan.hidden.at_most == 10
    assert abs(released["employed"].sum() / true["employed"].sum() - 1) < 0.05
    told = umetrics.lines(1, 4_000)
    assert (told[0].published, told[0].ours) == ("10", "10")


def test_suppression_bends_a_slope_that_noise_leaves():
    told = {line.what: (float(line.ours), line.remark) for line in mose.against_suppression(1, 200_000)}
    (true, _), (noisy, _), (kept, cells) = told.values()
    assert abs(noisy - true) < abs(kept - true)
    assert cells < "1,500"
