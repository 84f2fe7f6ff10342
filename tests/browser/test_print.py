"""On paper nothing is lost that a reader needs: every dot of the risk picture, and the colours that keys name."""

import pytest
from tests.browser.pages import JOBS

HUNDRED = """() => [...document.querySelectorAll("svg.hundred circle")].map((one) => {
    const style = getComputedStyle(one);
    return [one.getAttribute("class"), style.display, style.fill];
})"""


@pytest.mark.parametrize("address", ["/privacy/ors", JOBS])
def test_the_hundred_dots_of_the_risk_picture_are_all_printed_in_their_colours(open_tab, address):
    tab = open_tab()
    tab.open(address)
    on_screen = tab.page.evaluate(HUNDRED)
    tab.page.emulate_media(media="print")
    printed = tab.page.evaluate(HUNDRED)
    assert len(printed) == 100
    assert {display for _, display, _ in printed} == {"inline"}
    assert {kind for kind, _, _ in printed} == {"by-guess", "by-release", "by-none"}
    assert printed == on_screen


def test_words_to_a_picture_and_fields_are_not_printed(open_tab):
    tab = open_tab()
    tab.open(f"{JOBS}?rows=state&codelist[state]=leaves&view=map&own=IL,5")
    tab.page.emulate_media(media="print")
    assert not tab.page.locator("details.told").is_visible()
    assert not tab.page.locator("details.own:has(sf-own)").is_visible()


def test_a_reader_takes_their_numbers_for_a_map_from_a_file(open_tab, tmp_path):
    tab = open_tab()
    (tmp_path / "unemployment.csv").write_text("IL,5\nTX,7.5\n", encoding="utf-8")
    tab.open(f"{JOBS}?rows=state&codelist[state]=leaves&view=map")
    tab.page.locator("details.own:has(sf-own) > summary").click()
    tab.page.locator("#f-own-file").set_input_files(tmp_path / "unemployment.csv")
    tab.page.get_by_text("your numbers, without errors: unemployment").first.wait_for()
    assert tab.page.locator(".wide .pic-map-mine").all_text_contents() == ["5", "7.5"]
    (tmp_path / "long.csv").write_text("IL,5\n" * 5_000, encoding="utf-8")
    tab.page.locator("#f-own-file").set_input_files(tmp_path / "long.csv")
    tab.page.locator("#f-own-file:invalid").wait_for()


@pytest.mark.parametrize("width", [390, 720, 1280])
@pytest.mark.parametrize(
    "address",
    [
        "/ors~employment?rows=occupation&cols=education",
        f"{JOBS}?rows=occupation&cols=state",
        "/privacy/ors",
        f"{JOBS}?rows=state&codelist[state]=leaves&view=map",
    ],
)
def test_nothing_that_is_printed_runs_off_the_paper_however_narrow(open_tab, address, width):
    tab = open_tab(viewport={"width": width, "height": 900})
    tab.open(address)
    tab.page.emulate_media(media="print")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    small = """() => [...document.querySelectorAll(".picture .pic-map-name")]
        .filter((one) => one.getClientRects().length).map((one) => one.getBoundingClientRect().height)"""
    assert all(height > 7 for height in tab.page.evaluate(small))


def test_a_cell_pressed_before_the_answer_came_is_compared_with_the_one_that_was_held(open_tab):
    """The server takes a second for the page that holds the cell; the next cell is pressed long before."""
    tab = open_tab()
    tab.open(f"{JOBS}?rows=state&cols=sex&cell=west|female")
    tab.page.route("**/employment~jobs?*hold=*", lambda route: (tab.page.wait_for_timeout(600), route.continue_()))
    tab.page.locator("#detail .act a").first.click()
    tab.page.locator('button[value="south|female"]').click()
    tab.page.locator("#detail .compared").wait_for()
    assert "hold=west" in tab.page.url
    assert "cell=south" in tab.page.url


def test_beside_an_open_cell_the_last_column_stays_in_sight(open_tab):
    tab = open_tab(viewport={"width": 1280, "height": 900})
    tab.open("/ors~employment?rows=occupation&cols=strength&share=row&cell=11-0000|light")
    within = "() => { const one = document.querySelector('.scroll'); return one.scrollWidth <= one.clientWidth + 1 }"
    assert tab.page.evaluate(within)
