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
    assert not tab.page.locator("details.own").is_visible()


def test_a_reader_takes_their_numbers_for_a_map_from_a_file(open_tab, tmp_path):
    tab = open_tab()
    (tmp_path / "unemployment.csv").write_text("IL,5\nTX,7.5\n", encoding="utf-8")
    tab.open(f"{JOBS}?rows=state&codelist[state]=leaves&view=map")
    tab.page.locator("details.own > summary").click()
    tab.page.locator("#f-own-file").set_input_files(tmp_path / "unemployment.csv")
    tab.page.get_by_text("your numbers, without errors: unemployment").first.wait_for()
    assert tab.page.locator(".wide .pic-map-mine").all_text_contents() == ["5", "7.5"]
    (tmp_path / "long.csv").write_text("IL,5\n" * 5_000, encoding="utf-8")
    tab.page.locator("#f-own-file").set_input_files(tmp_path / "long.csv")
    tab.page.locator("#f-own-file:invalid").wait_for()
