"""The search box as a reader uses it: a list while typing, by keyboard and by pointer, and a page without a script."""

import pytest
from tests.browser.pages import JOBS, SURVEY
from tests.browser.tab import PHONE

LIST = "#find-list li"


def typed(tab, words, box="#find"):
    page = tab.page
    page.wait_for_selector("sf-find:defined")
    page.focus(box)
    page.keyboard.type(words)
    page.wait_for_selector(f"{box}-list li")
    return page


def active(page, box="#find"):
    """The option that a screen reader is at."""
    return page.evaluate("box => document.getElementById(box.getAttribute('aria-activedescendant'))?.innerText ?? ''",
                         page.query_selector(box))  # fmt: skip


def test_words_are_answered_while_they_are_typed_and_keys_choose(open_tab):
    tab = open_tab()
    tab.open("/")
    page = typed(tab, "programmer")
    box = page.locator("#find")
    assert (box.get_attribute("role"), box.get_attribute("aria-expanded")) == ("combobox", "true")
    assert box.get_attribute("aria-controls") == "find-list"
    first = page.locator(LIST).first.inner_text()
    assert "Software Developers" in first
    assert "±" in first
    assert active(page) == ""
    tab.press("ArrowUp")
    assert page.locator(LIST).last.get_attribute("aria-selected") == "true", "up from the box is the last"
    tab.press("ArrowDown")
    assert active(page) == first
    assert tab.violations() == []
    tab.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"
    assert box.input_value() == "programmer", "the first Escape closes the list alone"
    tab.press("ArrowDown")
    tab.press("Enter")
    page.wait_for_url(f"**{JOBS}?rows=occupation*cell=15-1252")
    assert "Software Developers" in page.inner_text("#detail")


def test_the_head_of_a_table_has_the_same_search(open_tab):
    tab = open_tab()
    tab.open(f"{SURVEY}?rows=education&cols=strength&cell=none|light")
    page = typed(tab, "wages in texas", "#find-head")
    assert "dollars" in page.inner_text("#find-head-list li")
    tab.press("Escape")
    assert "cell=" in page.url, "the card below stays"
    tab.press("ArrowDown")
    page.locator("#find-head-list li").first.click()
    page.wait_for_url("**/employment~wages?rows=state*cell=TX")


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["wide", "phone"])
def test_without_a_script_a_form_leads_to_what_was_found(open_tab, viewport):
    tab = open_tab(java_script_enabled=False, **({"viewport": viewport} if viewport else {}))
    page = tab.open("/")
    page.fill("#find", "sofware develoopers")
    page.click(".large button")
    assert "software developers" in page.inner_text(".lead")
    assert tab.overflow <= 0
    page.click(".finds h2 a >> nth=0")
    assert "Software Developers" in page.inner_text("#detail")


def test_on_a_phone_the_list_fits_and_nothing_found_is_said(open_tab):
    tab = open_tab(viewport=PHONE, color_scheme="dark")
    tab.open("/")
    page = typed(tab, "nurse")
    assert tab.overflow == 0
    assert tab.violations() == []
    page.fill("#find", "qqqqqq zzzzzz")
    page.wait_for_function("() => document.getElementById('said').textContent.includes('Nothing is called that')")
    assert not page.locator("#find-list").is_visible()
