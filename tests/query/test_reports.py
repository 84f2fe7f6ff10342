"""Reports of universities: one page each from a release alone, with means that are those of the release."""

import re
import shutil
from decimal import ROUND_CEILING, Context

import pyarrow as pa
import pytest
from tests.cli.test_cli import sfumato

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.errors import DataError, QueryError
from sfumato.plan import Plan
from sfumato.query.report import report
from sfumato.query.wording import words
from sfumato.studies import mose, umetrics
from sfumato.synth.earnings import write_pseo
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
    assert text.count("<svg") == 3
    assert not re.search(r'(src|href)="(?!#)', text), "nothing is loaded from anywhere"
    assert "Whether any one person is in the data at all, with its rows, at most 10." in text
    assert "Not for publication" in text


def test_means_are_totals_over_counts_of_the_same_release(released):
    engine = sf.open(released)
    mean = engine.mean("earnings", {"university": "U1", "title": "staff", "years": "1"}, "employed")
    assert 45_000 < mean.value < 70_000
    shown = report(engine, "university", "U1")
    assert seen(mean) in shown


def test_a_table_and_its_picture_write_the_same_margins(released):
    """Of every row of the first table: two digits of the margin, rounded up, and the number to the last of them."""
    engine = sf.open(released)
    table = engine.table("title", of="employed")
    html, picture = table._repr_html_(), table.plot().to_svg()
    for one in (table.figure(place) for place in range(table.size)):
        assert f"{seen(one)} ± {two_digits(one):,f}" in picture
        assert f'<span class="n">{seen(one)}</span> <span class="moe">± {two_digits(one):,f}</span>' in html


def two_digits(one):
    """The margin in two digits, rounded up."""
    return Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(one.moe(0.9))))


def seen(one):
    """A number to the second digit of its margin; whole numbers have no decimals."""
    least = 0 if one.value == round(one.value) else -9
    place = max(two_digits(one).as_tuple().exponent, least)
    return f"{round(one.value, -place):,.{max(-place, 0)}f}"


def test_clips_are_stated_beside_every_number_that_they_bend(released):
    """Totals and means alike; the bounds are those of the plan, 0 to 200,000."""
    shown = report(sf.open(released), "university", "U1")
    (said,) = {one for one in re.findall(r"<p>([^<]*)</p>", shown) if "counts from" in one}
    assert "earnings" in said
    assert shown.count(said) == 2
    assert shown.count("eans low: values of earnings above 200,000 are cut") >= 1


def test_what_is_no_sum_is_shown_cell_by_cell(tmp_path):
    """Means by MOSE by title, sector and years: each of the 150 cells of a university, as the release has them."""
    write_umetrics(tmp_path, rows=4_000)
    plan = Plan.read(tmp_path / "umetrics-mose.toml")
    data = Microdata.open(tmp_path / "umetrics.parquet", plan.schema)
    run(plan, data, None, tmp_path / "release", Options(rehearsal=1))
    engine = sf.open(tmp_path / "release")
    shown = report(engine, "university", "U2")
    assert re.findall("<h2>(.*?)</h2>", shown)[:2] == ["Employed", "Mean earnings"]
    part = shown[shown.index("<h2>Mean earnings") : shown.index("<h2>What is promised")]
    cells = re.findall(r"<td[ >]", part)
    assert len(cells) == 5 * 3 * 10
    assert "200,000" in part, "and its clip is stated"
    told = engine.table(["title", "sector"], "years", {"university": "U2"}, "mean_earnings")
    numbers = [told.figure(place) for place in range(told.size)]
    values = [seen(one) for one in numbers if hasattr(one, "value")]
    assert len(values) > 20
    assert sum(one in part for one in values) == len(values), "each rounded to its error"

    assert part.count("<svg") == 5, "a picture a title"
    assert re.findall("<h3>(.*?)</h3>", part)[0] == "faculty"


def test_pictures_of_lines_say_which_line_is_the_largest_and_a_number_is_named_by_its_variable(released):
    """Along years the first has the most people, which is no finding of lines by title."""
    engine, held = sf.open(released), {"university": "U1"}
    said = engine.table("title", None, held, "employed").headline().said(words("en"))
    assert f'aria-label="{said} ' in engine.table("years", "title", held, "employed").plot("line").to_svg()
    years = engine.table("years", None, held, "employed")
    assert years.headline().said(words("en")).startswith("The largest of 10 is Years since leaving 1:")
    assert "is Years since leaving 1:" in years.plot().to_svg()
    shown = report(engine, "university", "U1")
    assert shown.count(said) >= 2
    assert "Years since leaving 1:" not in shown


@pytest.fixture(scope="module")
def graduates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pseo")
    plan = Plan.read(write_pseo(folder, rows=20_000))
    run(plan, Microdata.open(folder / "pseo.parquet", plan.schema), None, folder / "release", Options(rehearsal=1))
    return sf.open(folder / "release")


def test_percentiles_are_on_the_page_and_drawn_by_the_variable_of_fewer_levels(graduates):
    """Ten fields are above the table; a picture tells six series apart, so that degrees are these."""
    shown = report(graduates, "college", "NY03")
    part = shown[shown.index("<h2>Median earnings") : shown.index("<h2>Earnings, 25th percentile")]
    table = graduates.table("degree", "field", {"college": "NY03"}, "p50")
    values = [seen(one) for _, one in table.items() if hasattr(one, "value")]
    assert len(values) > 3
    assert all(f'<span class="n">{one}</span>' in part for one in values)
    assert part.count("<svg") == 1
    assert "Median earnings by field and degree" in part


def test_what_a_page_has_nothing_of_is_said(released, graduates):
    assert "It is not by Earnings, so that" in report(graduates, "earnings", "0-11799")
    shown = report(sf.open(released), "years", "1")
    assert "It is not by" not in shown
    assert "<h2>Employed</h2>" in shown


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


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no Chromium to print with")
def test_no_table_is_cut_on_paper_and_a_screen_scrolls_only_the_table(released, tmp_path):
    """Letter across, less margins of 10 mm, is 980 pixels wide; ten years of earnings on one line each were 2,474."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "U1.html").write_text(report(sf.open(released), "university", "U1"), encoding="utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 980, "height": 700})
        tab.goto((tmp_path / "U1.html").as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == 980
        tab.emulate_media(media="print")
        wide = tab.evaluate("[...document.querySelectorAll('table')].map(one => one.scrollWidth)")
        broken = tab.evaluate("[...document.querySelectorAll('td .n')].filter(one => one.offsetHeight > 24).length")
        browser.close()
    assert len(wide) == 3
    assert max(wide) <= 980
    assert not broken, "a number is on one line"


def test_a_second_row_of_a_person_in_a_year_is_found_before_anything_is_charged(tmp_path):
    """The same person and year with other earnings and in another sector: no column repeats but these two."""
    plan = Plan.read(write_umetrics(tmp_path, rows=50))
    assert plan.schema.key == ("person_id", "years")
    assert Plan.parse(plan.to_toml(), tmp_path / "again.toml").schema == plan.schema
    rows = people_of(50)
    other = rows.slice(0, 1).set_column(rows.schema.get_field_index("earnings"), "earnings", pa.array([12_345]))
    twice = pa.concat_tables([rows, other])
    Account.create(tmp_path / "ledger", "people", plan.hidden, plan.limit)
    with pytest.raises(DataError, match="some records have the same person_id and years as others"):
        run(plan, Microdata.open(twice, plan.schema), tmp_path / "ledger", tmp_path / "release")
    assert len(Account(tmp_path / "ledger").entries) == 1, "the ledger was opened, and nothing else"


def test_as_published_it_is_priced_as_on_the_slides(tmp_path):
    """Sum over ten years of employment 0.4 and earnings 0.6; in earnest nothing bounds it."""
    write_umetrics(tmp_path, rows=50)
    bill = Plan.read(tmp_path / "umetrics-mose.toml").price()
    assert bill.total.kind == "unbounded"
    assert [(one.measure, one.loss) for one in bill.argued] == [
        ("employed", sf.Approximate(4)),
        ("mean_earnings", sf.Approximate(6)),
        ("all together", sf.Approximate(10)),
    ]
    said = sfumato("price", tmp_path / "umetrics-mose.toml").stdout
    assert "NOT FORMALLY PRIVATE" in said
    assert "As published it would be priced at epsilon 10" in said
    assert "an argument, and no bound" in said
    assert Plan.read(tmp_path / "umetrics.toml").price().argued == ()
    sfumato("run", tmp_path / "umetrics-mose.toml", "--data", tmp_path / "umetrics.parquet", "--mode", "as_published", "--out", tmp_path / "r")  # fmt: skip # noqa: E501
    assert sf.open(tmp_path / "r").release.manifest.why == (
        "as published, for study alone, at epsilon 10 by its authors' argument"
    )


def test_the_price_is_the_sum_over_years_and_statistics():
    plan, released, true = umetrics.rehearsed(2_000)
    assert plan.price().total == sf.Approximate(10)
    assert LONGEST == plan.hidden.at_most == 10
    assert abs(released["employed"].sum() / true["employed"].sum() - 1) < 0.05
    told = umetrics.lines(1, 4_000)
    assert (told[0].published, told[0].ours) == ("10", "10")


def test_suppression_bends_a_slope_that_noise_leaves():
    """Twenty draws that lie 0.012 apart have a mean within 0.011, four errors, of the true slope."""
    told = {line.what: (float(line.ours), line.remark) for line in mose.against_suppression(1, 200_000)}
    (true, _), (noisy, _), (kept, cells) = told.values()
    assert abs(noisy - true) < 0.011
    assert abs(kept - true) > 0.02
    assert cells < "1,500"
