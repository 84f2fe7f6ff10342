"""A year ago: five quarters of six cells, each 40 more in the last than in the first, on pages, as text and in files.

Noise is stated as two-sided geometric at epsilon 1 and drawn nowhere, so that every number is known beforehand.
"""

import csv
import io
import json
import re

import numpy as np
import openpyxl
import pytest
from tests.serve.small import seen, small

import sfumato as sf
from sfumato.cli.table import series as series_command
from sfumato.query.wording import words

MORE = {"2025-Q1": 0, "2025-Q2": 7, "2025-Q3": 8, "2025-Q4": 9, "2026-Q1": 40}
DATA = "/api/v2/tables/firms~number/data"
WORDS = "80 more than in 2025-Q1; noise would give ± {margin} at 90%: a real change."
"""What is said of each size, which has two cells."""


def margin(cells):
    """The least m that the noise of so many cells, in two quarters each, stays within in 90 of 100 draws."""
    steps = np.arange(-60, 61)
    one = np.exp(-np.abs(steps)) * np.tanh(0.5)
    law = one
    for _ in range(2 * cells - 1):
        law = np.convolve(law, one)
    middle = len(law) // 2
    return next(m for m in range(200) if law[middle - m : middle + m + 1].sum() >= 0.90)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    whole = tmp_path_factory.mktemp("year")
    return [small(whole / period, period=period, more=more) for period, more in MORE.items()]


@pytest.fixture(scope="module")
def pages(folders, browse):
    return browse(folders)


def test_the_page_answers_in_the_cell_and_in_words(pages):
    page = seen(pages, "/firms~number?rows=size&cols=sex&change=year")
    text = page.text.replace("\u2009", " ")
    assert "change from 2025-Q1 to 2026-Q1" in text
    assert f"In all: 240 more than in 2025-Q1; noise would give ± {margin(6)} at 90%: a real change." in text
    assert "Of 12 changes shown, 12 are called real; about 1.2 would be if nothing had changed at all." in text
    assert f"+80 ± {margin(2)} ● +195% ±" in text  # small ones were 20 and 21
    assert "change since a year ago" in text


@pytest.mark.parametrize("query", ["rows=period", "rows=size&cols=period", "rows=period&view=chart"])
def test_a_table_over_periods_says_whether_its_whole_rose(pages, query):
    text = seen(pages, f"/firms~number?{query}").text.replace("\u2009", " ").replace("\u00a0", " ")
    assert "“Number of firms” rose from 2025-Q4 to 2026-Q1" in text
    assert f"186 more than in 2025-Q4; noise would give ± {margin(6)} at 90%: a real change." in text  # 6 (40 - 9)


@pytest.mark.parametrize("query", ["rows=period", "rows=size&cols=period"])
def test_the_file_of_a_picture_over_periods_begins_with_that(pages, query):
    drawn = pages.get(f"/firms~number/picture.svg?{query}&view=chart").text
    assert "“Number of firms” rose from 2025-Q4 to 2026-Q1" in drawn


def test_a_series_says_where_nothing_is_a_sign_of_a_change(folders):
    table = sf.series(folders[:3]).table("size")
    claim = "“Number of firms”: no sign of a change from 2025-Q2 to 2025-Q3"
    numbers = f"the difference is 6, and noise would give ± {margin(6)} at 90%."  # 6 (8 - 7)
    assert table.headline().said(words("en")).replace("\u2009", " ") == f"{claim}: {numbers}"
    assert claim in table._repr_html_()
    assert sf.series(folders[:3]).compare("size").headline() is None, "changes say themselves what changed"
    assert table.shares().headline() is None, "the whole of percentages is 100% in every period"


def test_lines_in_a_notebook_are_dashed_where_nothing_tells_a_change_as_on_the_page(folders, pages):
    """Between quarters sizes have 14, 2, 2 and 62 more in two cells of 20 and more: two of four are within margins."""
    assert 2 * (8 - 7) <= margin(2) < 2 * 7
    drawn = sf.series(folders).plot("size").svg
    page = pages.get("/firms~number/picture.svg?rows=size&view=chart&chart=line").text
    dashed = re.compile(r'<polyline[^>]*class="[^"]*unmoved[^"]*"[^>]*points="([^"]*)"|points="([^"]*)"[^>]*unmoved')
    for svg in (drawn, page):
        found = [one or other for one, other in dashed.findall(svg)]
        assert [len(points.split()) for points in found] == [3, 3, 3], "each size over three quarters"
        assert "dashed: no sign of a change" in svg
    assert "unmoved" not in re.sub("<style.*?</style>", "", sf.series(folders).table("size").shares().plot().svg)
    german = sf.series([sf.open(one, language="de") for one in folders]).plot("size").svg
    assert "gestrichelt: kein Zeichen einer Veränderung" in german


def test_a_cell_says_the_change_and_both_numbers(pages):
    text = seen(pages, "/firms~number?rows=size&change=year&cell=s").text.replace("\u2009", " ")
    assert WORDS.format(margin=margin(2)) in text
    assert f"+80 ± {margin(2)} firms ● +195" in text, "the unit stands with the number and not with the percentage"
    assert "121" in text
    assert "41" in text


def test_periods_beside_each_other_have_only_the_one_that_has_a_year_before(pages):
    text = seen(pages, "/firms~number?rows=size&cols=period&change=year").text
    assert "2025-Q1 → 2026-Q1" in text
    assert "2025-Q1 → 2025-Q2" not in text


def test_python_compares_with_a_year_ago(folders):
    table = sf.Series(folders).compare("size", since="year")
    assert table.axes[-1].codes == ("2026-Q1",)
    one = table["s", "2026-Q1"]
    assert (one.value, one.moe(0.90), one.verdict()) == (80, margin(2), "real")
    assert one.sentence().english() == WORDS.format(margin=margin(2))
    assert one.percent.value == pytest.approx(80 / 41)


def test_the_command_line_prints_it(folders, capsys):
    series_command(folders, rows="size", change=True, since="year")
    told = capsys.readouterr().out
    assert "2025-Q1 → 2026-Q1" in told
    assert f"+80 ± {margin(2)} (+195.1% ±" in told
    assert told.count(WORDS.format(margin=margin(2))) == 3


def test_the_command_line_prints_it_in_german(folders, capsys):
    series_command(folders, rows="size", change=True, since="year", language="de")
    told = re.sub(r"\s", " ", capsys.readouterr().out)
    assert f"80 mehr als 2025-Q1; das Rauschen gäbe bei 90 % ± {margin(2)}: eine echte Veränderung." in told
    assert "Insgesamt: 240 mehr als 2025-Q1" in told
    assert "more than" not in told
    series_command(folders[:2], sum=True, language="de")
    told = re.sub(r"\s", " ", capsys.readouterr().out)
    assert "Jede Veröffentlichung hat ihr eigenes Rauschen" in told
    assert "Each release" not in told


@pytest.mark.parametrize("form", ["csv", "json-stat2", "xlsx", "sdmx-csv"])
def test_files_have_the_change_its_error_and_its_verdict(pages, form):
    reply = pages.get(f"{DATA}?valueCodes[size]=s&change=year&outputFormat={form}")
    assert reply.status_code == 200
    assert _told(reply, form) == (80, margin(2), "real", "2025-Q1")


def _told(reply, form):
    """The change of the one cell of a file: its number, its margin, its verdict, and what it is counted from."""
    if form == "json-stat2":
        dataset = json.loads(reply.text)
        place = dataset["dimension"]["ContentsCode"]["category"]["index"]
        number, reach = (dataset["value"][place[name]] for name in ("estimate", "moe90"))
        since = dataset["label"].partition("change ")[2].partition(" →")[0]
        return number, reach, dataset["status"][str(place["estimate"])], since
    if form == "xlsx":
        head, row = openpyxl.load_workbook(io.BytesIO(reply.content))["Tidy"].iter_rows(max_row=2, values_only=True)
        record = dict(zip(head, row, strict=True))
    else:
        (record,) = csv.DictReader(io.StringIO(reply.text))
    named = (
        ("OBS_VALUE", "MOE90", "VERDICT", "SINCE") if form == "sdmx-csv" else ("estimate", "moe90", "verdict", "since")
    )
    number, reach, verdict, since = (record[name] for name in named)
    return float(number), float(reach), verdict, since


@pytest.mark.parametrize(("more", "said"), [((0, 0), "none is"), ((0, 40), "4 are"), ((0, 2), "one is")])
def test_how_many_changes_are_real_is_said_of_none_one_and_many_with_the_total(tmp_path, browse, more, said):
    """Of 2 more in each cell every size has 4 more, within its margin, and all have 12, beyond theirs."""
    assert margin(2) >= 2 * 2
    assert margin(6) < 6 * 2
    made = [small(tmp_path / str(place), period=f"2026-Q{place + 1}", more=one) for place, one in enumerate(more)]
    page = seen(browse(made), "/firms~number?rows=size&change=last")
    text = page.text
    assert f"Of 4 changes shown, {said} called real; about 0.4 would be if nothing had changed at all." in text


@pytest.mark.parametrize("language", ["en", "de"])
def test_of_one_it_is_said_as_of_one(language):
    said = words(language, "sfumato.serve")
    keys = [key for key in said.texts if key.endswith("_one") and key.removesuffix("_one") in said.texts]
    assert {"area.count_one", "table.real_one", "shake.found_one", "chart.some_one", "site.changed_one"} <= {*keys}
    places = {"all": 9, "chance": 1, "cut": 2, "title": "x", "unit": "y", "mechanism": "z", "loss": "l", "name": "n"}
    for key in ("area.count", "table.real", "shake.found", "chart.some", "site.changed", "area.whole", "area.some"):
        one, two = (said.counted(key, count, **places) for count in (1, 2))
        assert one == said(f"{key}_one", count=1, **places)
        assert one.replace("1", "2") != two
