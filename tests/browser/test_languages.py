"""A German browser gets German: labels, headline and pictures with German numbers; by its address, English."""

import re

from tests.browser.pages import JOBS


def test_a_german_browser_opens_the_first_page_in_german(open_tab):
    tab = open_tab(locale="de-DE")
    tab.open("/")
    page = tab.page
    assert page.get_attribute("html", "lang") == "de"
    assert "Arbeitsplätze und Löhne nach Beruf" in page.inner_text("main")
    assert "Jobs and wages" not in page.inner_text("main")
    page.click("ul.tables a >> nth=0")
    page.wait_for_selector("table")
    assert "lang=de" in page.url, "what is seen has an address that says its language"
    tab.open(f"{JOBS}?rows=state&view=chart")
    assert page.inner_text(".headline").startswith(("Am größten von", "Was von"))
    assert "Süden" in page.inner_text("table")
    shown = " ".join(page.locator("figure .wide svg text").all_text_contents())
    assert re.search(r"\d\.\d{3}\b", shown), "thousands have a point"
    assert not re.search(r"\d,\d{3}\b", shown)
    assert "Arbeitsplätze" in shown


def test_the_same_browser_gets_english_where_the_address_says_so_and_stays_in_it(open_tab):
    tab = open_tab(locale="de-DE")
    tab.open("/?lang=en")
    page = tab.page
    assert page.get_attribute("html", "lang") == "en"
    page.click("ul.tables a >> nth=0")
    page.wait_for_selector("table")
    assert page.get_attribute("html", "lang") == "en"
    page.click(".tongues a[lang=de]")
    page.wait_for_selector("html[lang=de]")


def test_suggestions_are_in_the_language_of_the_page_and_lead_to_it(open_tab):
    tab = open_tab(locale="de-DE")
    tab.open("/")
    page = tab.page
    page.wait_for_selector("sf-find:defined")
    page.fill("#find", "softwareentwickler")
    page.wait_for_selector("#find-list [role=option]")
    assert "Softwareentwickler/innen" in page.inner_text("#find-list")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail")
    assert page.get_attribute("html", "lang") == "de"
    assert "Softwareentwickler/innen" in page.inner_text("#detail")
