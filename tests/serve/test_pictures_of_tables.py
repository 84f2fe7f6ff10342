"""What a picture of a table leaves out is said, and what it shows is marked."""

import re
from dataclasses import replace
from html import unescape

import pytest
from tests.serve.conftest import plan
from tests.serve.small import mapped, small

from sfumato.serve.pages.picture import MOST_LINES

LINES = "/jobs-survey~jobs?rows=hours&view=chart&chart=line"
ALL = 20


@pytest.fixture(scope="module")
def quarters(bench, browse):
    made = [bench.release(f"lines-{one}", of=replace(plan(), period=one)) for one in ("2025-Q3", "2025-Q4")]
    return browse(made)


def asked(client, address, status=200):
    reply = client.get(address)
    assert reply.status_code == status, reply.text[:500]
    return unescape(reply.text)


def ticked(page):
    return re.findall(r'name="line" value="([^"]*)" form="build" checked', page)


def ends_of(page):
    """The names at the ends of the lines, of both widths."""
    return set(re.findall(r"<title>(h\d\d)</title>", page))


def test_lines_of_some_rows_say_how_many_there_are_and_the_reader_chooses(quarters):
    page = asked(quarters, LINES)
    assert f"{MOST_LINES} of {ALL} rows are drawn." in page
    assert ticked(page) == [f"h{place:02}" for place in range(MOST_LINES)] == sorted(ends_of(page))
    chosen = asked(quarters, f"{LINES}&line=h07&line=h19")
    assert f"2 of {ALL} rows are drawn." in chosen
    assert ticked(chosen) == ["h07", "h19"] == sorted(ends_of(chosen))
    assert 'name="line" type="hidden"' not in chosen
    link = re.search(r'rel="canonical" href="([^"]*)"', chosen)[1]
    assert ticked(asked(quarters, link)) == ["h07", "h19"]


def test_a_file_of_some_lines_says_so_too(quarters):
    drawn = asked(quarters, LINES.replace("?", "/picture.svg?"))
    assert f"{MOST_LINES} of {ALL} rows are drawn." in drawn
    assert "rows are drawn" not in asked(quarters, LINES.replace("hours", "sex"))


TABLE = "/jobs-survey~jobs?{}&view=chart"


def chosen_kind(page):
    """The kind of chart that is marked as the one shown."""
    return re.search(r'class="kinds">.*?aria-current="true">([^<]*)<', page, re.DOTALL)[1]


@pytest.mark.parametrize(
    ("laid", "lines"),
    [
        ("rows=sex&cols=period", {"female", "male"}),
        ("rows=period&cols=sex", {"female", "male"}),
        ("rows=sex&rows=period", {"female", "male"}),
        ("rows=period", {"Number of jobs"}),
    ],
)
def test_a_chart_of_periods_opens_as_lines_whose_marks_lead_to_their_cells(quarters, laid, lines):
    page = asked(quarters, TABLE.format(laid))
    assert chosen_kind(page) == "Lines over periods"
    assert set(re.findall(r"2025-Q3, ([^:<]*): ", page)) == lines
    href = re.search(r'<a [^>]*href="(\?[^"]*#detail)"', page)[1]
    opened = asked(quarters, "/jobs-survey~jobs" + href.partition("#")[0])
    assert 'id="detail"' in opened
    assert chosen_kind(opened) == "Lines over periods"


@pytest.mark.parametrize(
    "laid", ["rows=sex", "rows=sex&cols=age", "rows=sex&wrap=period", "rows=sex&cols=period&valueCodes[period]=2025-Q4"]
)
def test_a_chart_without_several_periods_side_by_side_opens_as_dots(quarters, laid):
    assert chosen_kind(asked(quarters, TABLE.format(laid))) == "Dots"


def test_a_kind_of_chart_that_is_asked_for_is_given(quarters):
    assert chosen_kind(asked(quarters, f"{TABLE.format('rows=sex&cols=period')}&chart=dot")) == "Dots"
    shown = asked(quarters, f"{TABLE.format('rows=period&rows=sex&cols=age')}&chart=line")
    assert "Lines are of one row variable" in shown
    assert '<svg class="pic"' not in shown
    assert "<sf-grid" in shown


def test_lines_are_called_what_they_are_and_cite_all_their_releases(quarters):
    """Columns that lines are not of stood in their title, as did percentages that lines do not show."""
    drawn = asked(quarters, "/jobs-survey~jobs/picture.svg?rows=sex&cols=age&share=row&view=chart&chart=line")
    told = " ".join(re.findall(r">([^<]+)<", drawn))
    assert "Number of jobs by sex · Percentages of the whole (jobs) · 2025-Q3 to 2025-Q4" in told
    assert "and age" not in told
    assert re.search(r"2 releases: 2025-Q3 \w{12}, 2025-Q4 \w{12}\. Each epsilon 2", told)


def test_one_row_of_many_that_is_drawn_is_said_to_be_one(quarters):
    assert f"One of {ALL} rows is drawn." in asked(quarters, f"{LINES}&line=h07")


def test_rows_that_were_chosen_in_another_table_are_no_matter(quarters):
    assert ticked(asked(quarters, f"{LINES}&line=female")) == [f"h{place:02}" for place in range(MOST_LINES)]


def test_lines_of_percentages_are_percentages(quarters):
    page = asked(quarters, f"{LINES.replace('hours', 'sex')}&share=whole")
    assert re.search(r"female: \d\d(\.\d+)?% ± |2025-Q4, female: \d\d(\.\d+)?% ± ", page)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory, browse):
    folder = tmp_path_factory.mktemp("mapped")
    return browse([mapped(small(folder / "mapped", name="mapped"))])


@pytest.mark.parametrize(
    ("look", "marked"),
    [("", "Total"), ("&of=f", "f"), ("&of=gone", "Total"), ("&share=row", "f"), ("&share=row&of=m", "m")],
)
def test_the_column_that_a_map_shows_is_marked(drawn, look, marked):
    page = asked(drawn, f"/mapped~number?rows=size&cols=sex&view=map{look}")
    kinds = page.partition('<span class="label">')[2].partition("</p>")[0]
    assert re.findall(r'aria-current="true">([^<]*)<', kinds) == [marked]
    title = re.search(r'<svg class="pic"[^>]*aria-label="([^"]*)"', page)[1]
    assert title.endswith(f": Sex {marked}") == (marked != "Total")


def test_a_code_without_a_shape_leaves_out_its_line_alone(drawn):
    page = asked(drawn, "/mapped~number?rows=size&view=map&own=s,3%0Axx,4%0Am,5%0Ayy,6")
    told = page.partition('role="alert"')[2].partition("</p>")[0]
    assert "Lines that are left out: 2. The others are drawn. Line 2 of your numbers: 'xx' has no shape" in told
    assert "s,3\nxx,4\nm,5\nyy,6</textarea>" in page
    drawn_marks = page.partition('<svg class="pic"')[2].partition("</svg>")[0].count("pic-map-own")
    alone = asked(drawn, "/mapped~number?rows=size&view=map&own=s,3%0Am,5")
    assert drawn_marks == alone.partition('<svg class="pic"')[2].partition("</svg>")[0].count("pic-map-own") > 1


def test_a_line_of_a_readers_numbers_that_cannot_be_read_costs_neither_the_map_nor_the_numbers(drawn):
    page = asked(drawn, "/mapped~number?rows=size&view=map&own=s,3%0Am,four")
    assert '<svg class="pic"' in page
    assert "This table cannot be shown" not in page
    assert "Line 2 of your numbers: 'four' is no number" in page.partition('role="alert"')[2]
    assert "s,3\nm,four</textarea>" in page
    assert "pic-map-own" not in page
    mended = asked(drawn, "/mapped~number?rows=size&view=map&own=s,3")
    assert "pic-map-own" in mended
    assert 'aria-invalid="true"' not in mended
    assert "your numbers, without errors<" in mended


def test_a_map_of_percentages_says_of_what_in_the_words_of_its_page(drawn):
    page = asked(drawn, "/mapped~number?rows=size&cols=sex&view=map&share=row&of=f")
    title = re.search(r'<svg class="pic"[^>]*aria-label="([^"]*)"', page)[1]
    assert "Percentages of the row" in title
    assert "shares of" not in title
    assert ">Percentages of the row (" in page.partition("<svg")[2].partition("</svg>")[0]
