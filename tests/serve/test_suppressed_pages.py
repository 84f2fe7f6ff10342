"""A suppressed release in the query tool: a banner on every page, the reason in every missing cell, no noise."""

import html

import pytest
from tests.serve.conftest import Browser
from tests.serve.small import SIZES, Seen, small
from tests.suppressed import WHY, release

import sfumato as sf
from sfumato.query.wording import words
from sfumato.release.products.suppressed import NEEDS, WITHHELD
from sfumato.serve import app

TABLE = "/pay~pay?rows=trade&cols=size&codelist[trade]=all"
PAGES = {
    "home": "/",
    "table": TABLE,
    "withheld": f"{TABLE}&cell=1a|s",
    "published": f"{TABLE}&cell=1c|s",
    "chart": f"{TABLE}&view=chart",
    "shares": f"{TABLE}&share=row",
    "card": "/privacy/pay",
    "budget": "/budget",
    "help": "/help?table=pay~pay",
    "series": "/series/pay",
}
NOISY = (
    "Noise was added",
    "privacy noise alone",
    "a little wrong on purpose",
    "average the noise",
    "which of the two it was made from",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return Browser(app([release(tmp_path_factory.mktemp("served") / "pay")]))


@pytest.mark.parametrize("address", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_page_says_that_it_is_not_formally_private_and_speaks_of_no_noise(site, address, language):
    reply = site.get(f"{address}{'&' if '?' in address else '?'}lang={language}")
    assert reply.status_code == 200
    assert words(language)("notices.not_formally_private") in Seen(reply.text).text
    assert [one for one in NOISY if one in html.unescape(reply.text)] == []


def test_a_cell_that_is_withheld_has_a_mark_and_says_why(site):
    shown = html.unescape(site.get(TABLE).text)
    assert shown.count(WITHHELD.reason.rstrip(".")) >= 5  # in each of the four cells, and below the table
    opened = Seen(site.get(PAGES["withheld"]).text).text
    assert f"There is no number here: {WITHHELD.reason}" in opened


def test_a_group_that_needs_a_withheld_number_says_so(site):
    shown = Seen(site.get("/pay~pay?rows=trade&cols=size&group[trade]=Both:1a,2").text).text
    assert "D+" in shown
    assert NEEDS.reason in shown


def test_the_card_names_its_tables_and_the_reason(site):
    shown = Seen(site.get("/privacy/pay").text).text
    assert "by Trade × Size" in shown
    assert f"It promises nothing to anybody in its data: unbounded: {WHY}." in shown


def test_a_file_has_the_status_of_sdmx_and_no_number(site):
    written = site.get("/api/v2/tables/pay~pay/data?valueCodes[trade]=1a,1c&valueCodes[size]=s&outputFormat=sdmx-csv")
    rows = [line.split(",") for line in written.content.decode().splitlines()[1:]]
    told = {row[3]: (row[6], row[13]) for row in rows}
    assert told == {"1a": ("", "Q"), "1c": ("9", "A")}


def test_a_release_without_noise_has_no_switch_that_shows_it(site):
    switches = [one for one in ("zero", "noise") if f'name="{one}"' in site.get(TABLE).text]
    assert switches == ["zero"]


def test_a_table_opens_where_there_are_several_columns_to_read(tmp_path):
    """All counties lie in one state: the table opened with that state as its only column."""
    levels = sf.Levels.of([
        {"code": "44", "label": "State"},
        {"code": "44001", "label": "Bristol", "parent": "44"},
        {"code": "44003", "label": "Kent", "parent": "44"},
    ])  # fmt: skip
    county = sf.Attribute("county", levels, label="County")
    browser = Browser(app([small(tmp_path / "firms", by=(SIZES, county))]))
    text = Seen(browser.get("/firms~number").text).text
    assert "Size Total 44001 Bristol 44003 Kent" in text or "Size Total Bristol Kent" in text
    above = Seen(browser.get("/firms~number?rows=size&cols=county&codelist[county]=level0").text).text
    assert "Bristol" not in above.partition("Only firms with")[0]
