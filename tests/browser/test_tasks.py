"""Eight things that readers come for, each in at most four steps from the first page, by keyboard and by pointer.

A step is what a reader decides: to type words and send them, to press a link, a button or a number, to choose from a
list.
"""

import re

import pytest
from tests.browser.tab import PHONE

KEYS = ["keyboard", pytest.param("pointer", marks=pytest.mark.slow)]
VERDICT = ("a real change.", "No sign of a change since 2026-Q1")


class Steps:
    """A reader who counts the steps, and takes each by keyboard or by pointer."""

    def __init__(self, tab, by):
        self.tab, self.page, self.by, self.count = tab, tab.open("/"), by, 0
        self.page.wait_for_selector("sf-find:defined")

    def find(self, words, place=0):
        """Type words into the large box and take what is found at a place: two steps."""
        self.count += 2
        if self.by == "keyboard":
            self.tab.tab_to("#find")
        else:
            self.page.click("#find")
        self.page.keyboard.type(words)
        self.page.wait_for_selector("#find-list li")
        if self.by == "keyboard":
            for _ in range(place + 1):
                self.tab.press("ArrowDown")
            self.tab.press("Enter")
        else:
            self.page.locator("#find-list li").nth(place).click()
        self.page.wait_for_selector("sf-builder:defined")

    def press(self, selector):
        """Press one link, button or number."""
        self.count += 1
        if self.by == "keyboard":
            self.page.locator(selector).first.focus()
            self.tab.press("Enter")
        else:
            self.page.locator(selector).first.click()

    def take(self, selector, file):
        """Give a file to a field, which the browser opens by keyboard as by pointer."""
        self.count += 1
        field = self.page.locator(selector)
        field.scroll_into_view_if_needed()
        assert field.is_visible()
        with self.page.expect_file_chooser() as asked:
            if self.by == "keyboard":
                field.focus()
                self.tab.press("Enter")
            else:
                field.click()
        asked.value.set_files(file)

    def choose(self, selector, value):
        """Choose from a list, or tick a circle."""
        self.count += 1
        field = self.page.locator(selector)
        field.focus()
        self.tab.after(lambda: field.select_option(value) if value else field.press("Space"))


@pytest.fixture(params=KEYS)
def steps(request, open_tab):
    made = Steps(open_tab(permissions=["clipboard-read", "clipboard-write"]), request.param)
    yield made
    assert 0 < made.count <= 4


def test_software_developers_and_their_change_with_its_verdict(steps):
    steps.find("software developers")
    said = steps.page.inner_text("#detail")
    assert "Software Developers" in said
    assert any(verdict in said for verdict in VERDICT)


def test_which_occupation_needs_most_lifting(steps):
    steps.find("which occupation needs most lifting")
    page = steps.page
    assert "Heavy" in page.inner_text("th[aria-sort=descending]")
    assert "Percentages of the row" in page.inner_text("h1")
    assert page.locator("tbody td.rank").first.inner_text().startswith("1"), "the first may truly be the first"


def test_mean_wages_by_state_on_a_map_with_a_readers_own_numbers(steps, tmp_path):
    (tmp_path / "own.csv").write_text("IL,5\nTX,7.5\n", encoding="utf-8")
    steps.find("mean wage by state")
    steps.press("nav.views a:text('Map')")
    page = steps.page
    assert "Wages per job by state" in page.inner_text("h1")
    steps.take("#f-own-file", tmp_path / "own.csv")
    page.get_by_text("your numbers, without errors: own").first.wait_for()
    # The areas are still those of means, each with its own number and error; the reader's numbers stand beside them.
    told = page.locator("svg.pic").first.locator("a[data-name=Texas]").get_attribute("aria-label")
    assert re.fullmatch(r"Texas: \S+ ± \S+, 90% interval \S+ to \S+, grade [ABC]", told), told
    assert page.locator("svg.pic").first.get_by_text("dollars per job").count()
    assert page.locator("svg.pic title", has_text="Your own, TX: 7.5, without error").count()


def test_percentages_of_rows_to_excel(steps):
    steps.press("a[href='/employment~jobs']")
    steps.page.wait_for_selector("sf-builder:defined")
    steps.choose("input[name=share][value=row]", "")
    with steps.page.expect_download() as awaited:
        steps.press("a[href*='outputFormat=xlsx']")
    assert awaited.value.suggested_filename.endswith(".xlsx")
    assert "share=row" in awaited.value.url


def test_what_is_seen_is_cited(steps):
    steps.find("nurses in Texas")
    steps.press("sf-copy:has(.cited) button.copy")
    steps.page.wait_for_function("() => document.getElementById('said').textContent === 'Copied'")
    copied = steps.page.evaluate("navigator.clipboard.readText()")
    assert "SHA-256" in copied
    assert "employment." in copied, "the lasting link names this very release"


def test_the_same_in_german(steps):
    steps.press(".tongues a[lang=de]")
    steps.page.wait_for_selector("html[lang=de] sf-find:defined")
    steps.find("software developers")
    assert steps.page.get_attribute("html", "lang") == "de"
    said = steps.page.inner_text("#detail")
    assert any(one in said for one in ("eine echte Veränderung", "Kein Anzeichen"))


@pytest.mark.parametrize("by", KEYS)
def test_on_a_phone(open_tab, by):
    tab = open_tab(viewport=PHONE)
    steps = Steps(tab, by)
    steps.find("software developers")
    assert any(verdict in steps.page.inner_text("#detail") for verdict in VERDICT)
    assert tab.overflow <= 0
    assert steps.count <= 4


def test_on_paper(steps):
    """What is printed has the number, its error, the release and how to cite it, and none of the controls."""
    steps.find("nurses in Texas")
    steps.page.emulate_media(media="print")
    assert not steps.page.locator("sf-find, nav.views").first.is_visible()
    paper = steps.page.inner_text("body")
    assert "Registered Nurses" in paper
    assert "±" in paper
    assert "SHA-256" in paper
